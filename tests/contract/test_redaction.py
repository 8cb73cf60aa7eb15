"""Secrets leave captured texts, and nothing else changes."""

from __future__ import annotations

import time
from typing import Any

import pytest
from runs import GOLDEN, finding, having, made, manifest, report, tool_call

from contract.manifest import manifest_digest
from contract.record import RawJson, encode_indented
from contract.redaction import (
    MAX_BYTES,
    TRUNCATED,
    redact,
    sanitize,
    sanitize_canonical_input,
    sanitize_tool_input,
)
from contract.replay import ToolExchange
from contract.report import ActionReference, RunReport, load_report
from contract.truth import PredicateObservation


@pytest.mark.parametrize("case", GOLDEN["sanitize"], ids=lambda case: case["in"])
def test_a_text_is_redacted_as_published(case: dict[str, str]) -> None:
    assert sanitize(case["in"]) == case["out"]


def test_a_long_text_is_cut_as_published() -> None:
    cut = sanitize("a" * 524288 + "b")
    assert len(cut.encode()) == GOLDEN["sanitize_big"]["out_len_bytes"]
    assert cut.endswith(GOLDEN["sanitize_big"]["out_tail"])


def test_a_cut_never_splits_a_character() -> None:
    cut = sanitize("a" + "\u00e9" * (MAX_BYTES // 2))
    assert cut == "a" + "\u00e9" * (MAX_BYTES // 2 - 1) + TRUNCATED


def test_a_text_of_just_the_limit_stays() -> None:
    text = "\u00e9" * (MAX_BYTES // 2)
    assert sanitize(text) == text


def test_a_dotless_i_makes_another_word() -> None:
    assert sanitize("author\u0131zation: bearer abc") == "author\u0131zation: bearer abc"


def test_the_kelvin_sign_is_a_k() -> None:
    assert sanitize("api_\u212aey=abc") == "api_\u212aey=[REDACTED]"


def test_no_break_space_is_no_white_space_here() -> None:
    assert sanitize("password\u00a0=x") == "password\u00a0=x"
    assert sanitize("password=\u00a0x") == "password=[REDACTED]"


def test_every_private_key_is_removed_up_to_its_own_end() -> None:
    key = "-----BEGIN EC PRIVATE KEY-----\nA\n-----END EC PRIVATE KEY-----"
    redacted = "[REDACTED PRIVATE KEY]"
    assert sanitize(f"{key} and {key}.") == f"{redacted} and {redacted}."


def test_beginnings_without_an_end_take_no_quadratic_time() -> None:
    text = "-----BEGIN PRIVATE KEY-----" * 19_000
    began = time.process_time()
    assert sanitize(text) == text
    assert time.process_time() - began < 2


def test_tool_arguments_stay_json() -> None:
    assert sanitize_tool_input('{ "cmd" : "password=x y" }') == '{ "cmd" : "password=[REDACTED] y" }'
    assert sanitize_canonical_input('{"cmd":"password=x<"}') == '{"cmd":"password=[REDACTED]"}'


def test_a_quoted_secret_inside_arguments_stays_as_it_is_in_a_text() -> None:
    quoted = r'{"cmd":"password=\"x\""}'
    assert sanitize_canonical_input(quoted) == quoted


def test_member_names_are_no_values() -> None:
    named = '{"secret=abc" : 1}'
    assert sanitize_tool_input(named) == named


def test_arguments_that_are_no_json_are_redacted_as_one_text() -> None:
    assert sanitize_tool_input('{"cmd": "password=x') == '{"cmd": "password=[REDACTED]'


def test_blank_arguments_stay() -> None:
    assert sanitize_tool_input("  ") == "  "


def test_a_record_without_secrets_is_itself() -> None:
    plain = report()
    assert redact(plain) is plain


def spoiled() -> RunReport:
    plain = report()
    run = having(
        plain.patrol_run, ai_analysis="api_key=abc", tool_calls=(tool_call("look", '{"p":"password=x"}'),)
    )
    return having(
        plain,
        patrol_run=run,
        findings=(finding(evidence="halted; secret=abc"),),
        errors=("Authorization: Bearer abc",),
        actions=(RawJson('{"note":"password=x","n":1.0}'),),
    )


def test_every_string_of_a_report_is_redacted_and_the_report_stays_readable() -> None:
    written = encode_indented(redact(spoiled()))
    assert b"abc" not in written
    again = load_report(written)
    assert again.patrol_run.tool_calls[0].input == '{"p":"password=[REDACTED]"}'
    assert again.actions[0].text == '{"note":"password=[REDACTED]","n":1.0}'
    assert (again.findings or ())[0].evidence == "halted; secret=[REDACTED]"


def test_redacting_again_changes_nothing() -> None:
    once = redact(spoiled())
    assert redact(once) is once


def test_the_embedded_manifest_keeps_its_digest() -> None:
    named = manifest(description="password: hunter2")
    kept = redact(report(manifest=named)).manifest
    assert manifest_digest(kept) == manifest_digest(named)


@pytest.mark.parametrize(
    ("record", "member", "clean"),
    [
        (made(PredicateObservation, observed=RawJson('"secret=x"')), "observed", '"secret=[REDACTED]"'),
        (made(ActionReference, plan=RawJson('{"a":"secret=x"}')), "plan", '{"a":"secret=[REDACTED]"}'),
    ],
)
def test_raw_values_are_redacted_inside(record: Any, member: str, clean: str) -> None:
    assert getattr(redact(record), member).text == clean


def test_a_recorded_input_is_canonical_after_redaction() -> None:
    recorded = made(ToolExchange, sequence=1, tool_name="t", canonical_input='{"a":"secret=x>"}')
    assert redact(recorded).canonical_input == '{"a":"secret=[REDACTED]"}'
