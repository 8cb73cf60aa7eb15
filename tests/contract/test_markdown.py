"""Reports and comparisons for people: what stands in them, and that foreign text stays text."""

from __future__ import annotations

from typing import Any

import pytest
from runs import WHEN, catalogue, failed, having, investigating, made, manifest, report, session

from contract.comparison import compare
from contract.comparison_markdown import movable_alias, render_comparison
from contract.markdown import cell, code, table
from contract.qualification import qualify
from contract.report import RunReport
from contract.report_markdown import render_report
from contract.score import MatchResult


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a|b\r\nc", "a\\|b  c"),
        ("<script>", "&lt;script&gt;"),
        ("secret=x", "secret=[REDACTED]"),
        ("a\u2028b", "a b"),
    ],
)
def test_a_cell_holds_foreign_text_on_one_line(text: str, shown: str) -> None:
    assert cell(text) == shown


def test_a_code_span_cannot_be_ended_from_inside() -> None:
    assert code("a`b|c\nd") == "`a'b\\|c d`"


def test_a_table_has_one_line_per_row() -> None:
    assert table(("a", "b"), [("1", "2")]) == "| a | b |\n| --- | --- |\n| 1 | 2 |\n"


def lines(one: RunReport) -> list[str]:
    return render_report(one).splitlines()


def test_a_passing_report_says_so_and_lists_no_failures() -> None:
    text = render_report(report())
    assert "- Verdict: **PASS**" in text
    assert "- Model: `acme:m1`\n" in text
    assert "| recall | 100.0% |" in text
    assert "| estimated cost | unknown |" in text
    assert "- `loom-stopped`: found by `f1` after 30s\n" in text
    assert "## Failures" not in text


def test_a_failing_report_lists_hard_failures_then_gates_then_errors() -> None:
    spoiled = failed(errors=("the lab|broke",), environment={"git_dirty": True})
    spoiled = having(spoiled, score=having(spoiled.score, hard_failures=("patrol-run-error: x",)))
    found = lines(spoiled)
    start = found.index("## Failures")
    assert found[start + 2] == "- patrol-run-error: x"
    assert found[start + 3].startswith("- category-accuracy: ")
    assert "- the lab\\|broke" in found
    assert "- Verdict: **FAIL**" in found
    assert "- Harness revision: `s1` (dirty)" in found
    assert "- `loom-stopped`: missed" in found


def test_the_title_is_text_and_no_markup() -> None:
    assert lines(report(manifest=manifest(title="<b>Loom & co")))[0] == "# &lt;b&gt;Loom &amp; co"


def test_every_flaw_of_a_match_is_named() -> None:
    plain = report()
    poor = made(MatchResult, fault_id="f", finding_id="g", detected=True)
    text = render_report(having(plain, score=having(plain.score, matches=(poor,))))
    assert (
        "- `f`: found by `g` after 0s; late, other resource, other resource type, other category, other "
        "severity, evidence not grounded, recommendation not safe\n"
    ) in text


def test_without_an_active_fault_the_report_says_so() -> None:
    plain = report()
    assert "No fault was active.\n" in render_report(having(plain, score=having(plain.score, matches=None)))


@pytest.mark.parametrize(
    ("cost", "shown"),
    [
        ({"known": True, "usd": 0.01155}, "$0.0115"),
        ({"known": True, "billing_basis": "local_model_server", "budget_applicable": False},
         "unknown (local_model_server)"),
        ({"billing_basis": "", "budget_applicable": False}, "unknown"),
    ],
)  # fmt: skip
def test_a_cost_is_shown_only_where_it_is_money(cost: dict[str, Any], shown: str) -> None:
    plain = report()
    priced = having(plain, score=having(plain.score, cost=having(plain.score.cost, **cost)))
    assert f"| estimated cost | {shown} |" in lines(priced)


def test_a_control_is_called_one() -> None:
    one = report(environment={"model": "control:noisy", "provider": "control", "inference_route": "control"})
    assert "- Model: `control:noisy` (a control: " in render_report(one)


def test_an_investigation_shows_its_effort_with_older_counters() -> None:
    old = session(evidence_call_count=0, tool_call_count=0, evidence_ids=("a", "b", "c"), turn_count=4)
    spec = {
        "require_completed_status": True,
        "min_evidence_calls": 1,
        "max_evidence_calls": 9,
        "required_summary_terms": ["loom"],
        "root_cause_resources": ["loom"],
        "affected_resources": ["shed"],
    }
    found = lines(report(manifest=investigating(investigation=spec), investigations={"f1": old}))
    assert "| model turns | 4 |" in found
    assert "| evidence calls | 3 |" in found
    assert "| investigation tool calls | 3 |" in found
    assert "| distinct tools | 1 |" in found
    assert "| evidence-call ceiling (a safety limit) | 9 |" in found
    assert "| root-cause grounding | 0.0% |" in found


def test_expectations_that_are_not_listed_are_not_shown() -> None:
    spec = {"require_completed_status": True, "min_evidence_calls": 1, "required_summary_terms": ["loom"]}
    text = render_report(report(manifest=investigating(investigation=spec)))
    assert "root-cause grounding" not in text
    assert "ceiling" not in text


def compared(*reports: RunReport, track: str = "watch") -> str:
    comparison = compare(reports, WHEN).report
    return render_comparison(qualify(comparison, track, catalogue()) if track else comparison)


def clean() -> list[RunReport]:
    return [report(number) for number in range(1, 23)]


def test_the_best_qualified_model_is_recommended_within_its_track() -> None:
    text = compared(*clean())
    assert "`acme:m1` qualifies for the track watch" in text
    assert "does not own a diagnosis" in text
    assert "no certification" in text
    assert "## Failures" not in text


def test_without_a_qualified_model_none_is_recommended() -> None:
    text = compared(report())
    assert "No model qualifies, so none is recommended." in text
    assert "### `acme:m1`\n\n- watch.tin-loom: " in text


def test_without_gates_none_is_recommended() -> None:
    assert "No qualification gates were applied" in compared(*clean(), track="")


def test_a_cost_is_shown_only_if_it_is_known_for_all_runs() -> None:
    plain = report()
    known = having(plain, score=having(plain.score, cost=having(plain.score.cost, known=True, usd=0.25)))
    assert "| $0.2500 |" in compared(known)
    assert "| unknown |" in compared(known, report(2))


def test_what_was_not_measured_is_no_rate() -> None:
    plain = report()
    assert "not measured" in compared(having(plain, score=having(plain.score, faults=0, true_positives=0)))
    assert "- harness revisions: not recorded" in compared(report(environment={"git_sha": ""}))


@pytest.mark.parametrize(
    ("model", "movable"),
    [
        ("openai:gpt-4o", True),
        ("openai:gpt-4o-2024-08-06", False),
        ("anthropic:claude-sonnet-4-20250514", False),
        ("hf:org/model@sha256:0123", False),
        ("hf:org/model@0123456789ab", False),
        ("ollama:qwen3:8b", True),
    ],
)
def test_a_route_without_a_revision_is_a_movable_alias(model: str, movable: bool) -> None:
    assert movable_alias(model) is movable
    assert ("movable alias |" in compared(report(environment={"model": model}))) is movable
