"""Replays: what is recorded, what is refused, and how a session is followed."""

from __future__ import annotations

from typing import Any

import pytest
from runs import GOLDEN, WHEN

from contract.faults import DecodeError
from contract.record import decode_strict, encode_indented, zero
from contract.replay import (
    SCHEMA_VERSION,
    ReplayBundle,
    ReplayError,
    ReplaySession,
    ToolExchange,
    build_replay,
    load_replay,
    verify_replay,
)
from contract.report import RunReport, ToolCall


def exchange(sequence: int, canonical_input: str, output: str, tool_name: str = "look") -> ToolExchange:
    return ToolExchange(
        sequence=sequence,
        tool_name=tool_name,
        canonical_input=canonical_input,
        output=output,
        success=True,
    )


def bundle(*exchanges: ToolExchange, **changes: Any) -> ReplayBundle:
    blank = zero(ReplayBundle)
    fixed = {"schema_version": SCHEMA_VERSION, "tool_exchanges": exchanges, "replayable": True}
    return blank.model_copy(update={**fixed, **changes})


TWO = bundle(exchange(1, '{"a":1,"b":2}', "one"), exchange(2, "{}", "two"))


def attempt(session: ReplaySession, tool: str, tool_input: str) -> str:
    try:
        return session.call(tool, tool_input).output
    except ReplayError:
        return "error"


@pytest.mark.parametrize("case", GOLDEN["replay_sessions"], ids=lambda case: case["name"])
def test_a_session_answers_as_published(case: dict[str, Any]) -> None:
    session = ReplaySession(TWO)
    for call in case["calls"]:
        wanted = "error" if call["error"] else call["output"]
        assert attempt(session, call["tool"], call["input"]) == wanted
    if case["complete_error"]:
        with pytest.raises(ReplayError, match="not made"):
            session.complete()
    else:
        session.complete()


def test_arguments_that_are_not_json_are_refused() -> None:
    with pytest.raises(ReplayError, match="not JSON"):
        ReplaySession(TWO).call("look", '{"cut')


def test_a_written_replay_is_read_back_and_verified() -> None:
    loaded = load_replay(encode_indented(TWO))
    assert loaded == TWO
    verify_replay(loaded)


def test_a_replay_without_calls_is_complete() -> None:
    verify_replay(bundle())
    verify_replay(bundle().model_copy(update={"tool_exchanges": None}))


def test_an_input_that_is_not_canonical_fails_verification() -> None:
    with pytest.raises(ReplayError, match="call 1 was look"):
        verify_replay(bundle(exchange(1, '{ "a": 1 }', "one")))


@pytest.mark.parametrize(
    ("broken", "where"),
    [
        (TWO.model_copy(update={"schema_version": "v0"}), "/schema_version"),
        (TWO.model_copy(update={"replay_issues": ("cut",)}), "/replay_issues"),
        (bundle(exchange(2, "{}", "")), "/tool_exchanges/0/sequence"),
        (bundle(exchange(1, "{}", "", tool_name="")), "/tool_exchanges/0/tool_name"),
        (bundle(exchange(1, "", "")), "/tool_exchanges/0/canonical_input"),
    ],
    ids=["other version", "incomplete capture", "gap in the sequence", "no tool name", "no input"],
)
def test_a_replay_that_cannot_be_followed_is_refused(broken: ReplayBundle, where: str) -> None:
    with pytest.raises(DecodeError) as caught:
        load_replay(encode_indented(broken), "r/replay.json")
    assert [fault.where for fault in caught.value.faults] == [where]
    assert "r/replay.json" in str(caught.value)
    with pytest.raises(DecodeError):
        ReplaySession(broken)


def test_an_unknown_member_is_refused() -> None:
    document = encode_indented(TWO).replace(b'"run_id"', b'"run_name"')
    with pytest.raises(DecodeError, match="no such member"):
        load_replay(document, "replay.json")


def test_the_replayable_flag_is_not_consulted() -> None:
    flagged = TWO.model_copy(update={"replayable": False})
    assert load_replay(encode_indented(flagged)) == flagged


def captured(*calls: ToolCall) -> RunReport:
    blank = zero(RunReport)
    truth = blank.ground_truth.model_copy(update={"manifest_id": "watch.tin-loom", "manifest_digest": "d"})
    return blank.model_copy(
        update={
            "run_id": "q-1",
            "environment": blank.environment.model_copy(update={"model": "acme:m1"}),
            "ground_truth": truth,
            "patrol_run": blank.patrol_run.model_copy(update={"tool_calls": calls, "ai_analysis": "said"}),
        }
    )


def call(tool_input: str) -> ToolCall:
    changes = {"id": "c1", "tool_name": "look", "input": tool_input, "output": "seen", "success": True}
    return zero(ToolCall).model_copy(update=changes)


def test_calls_are_recorded_in_order_with_canonical_arguments() -> None:
    replay = build_replay(captured(call('{ "b": 1, "a": 2 }'), call("")), WHEN)
    assert [(one.sequence, one.canonical_input) for one in replay.tool_exchanges or ()] == [
        (1, '{"a":2,"b":1}'),
        (2, "{}"),
    ]
    assert (replay.run_id, replay.manifest_id, replay.model) == ("q-1", "watch.tin-loom", "acme:m1")
    assert (replay.ai_analysis, replay.replayable, replay.replay_issues) == ("said", True, ())
    verify_replay(load_replay(encode_indented(replay)))


def test_arguments_that_were_cut_off_make_a_capture_incomplete() -> None:
    replay = build_replay(captured(call('{"a":"<')), WHEN)
    assert not replay.replayable
    assert replay.replay_issues[0].startswith("tool call c1 input is not complete JSON: ")
    recorded = (replay.tool_exchanges or ())[0].canonical_input
    assert recorded == '{"captured_raw_input":"{\\"a\\":\\"\\u003c"}'
    assert decode_strict(ReplayBundle, encode_indented(replay)) == replay
