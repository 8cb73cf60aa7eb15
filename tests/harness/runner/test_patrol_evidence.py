"""Which findings are a run's own, and what counts as proof that a model was asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from contract.record import zero
from contract.report import Finding
from contract.timestamps import Timestamp
from harness.runner.association import owned_findings
from harness.runner.errors import SubjectError
from harness.runner.model_evidence import require_model_evidence
from tests.harness.runner.world import World

Build = Callable[[str], World]

TRIGGERED = Timestamp("2026-07-14T15:04:05Z")
LONG_AGO = Timestamp("2026-07-01T00:00:00Z")
LATER = Timestamp("2026-07-14T15:04:06Z")
JUST_BEFORE = Timestamp("2026-07-14T15:04:03.5Z")

TOOL_FREE = {
    "tool_calls": (),
    "tool_call_count": 0,
    "status": "healthy",
    "findings_summary": " all HEALTHY ",
    "finding_ids": (),
}


def finding(**changes: Any) -> Finding:
    base = {"id": "f", "resource_id": "ours", "detected_at": LONG_AGO, "last_seen_at": LONG_AGO}
    return zero(Finding).model_copy(update={**base, **changes})


@pytest.mark.parametrize(
    ("before", "after", "listed", "owned"),
    [
        ((), finding(), ("f",), True),
        ((), finding(resource_id="theirs"), ("f",), True),
        ((), finding(), (), False),
        ((), finding(last_seen_at=LATER), (), True),
        ((), finding(detected_at=LATER), (), True),
        ((), finding(last_seen_at=JUST_BEFORE), (), True),
        ((), finding(resource_id="theirs", last_seen_at=LATER), (), False),
        ((finding(),), finding(), (), False),
        ((finding(),), finding(last_seen_at=LATER), (), True),
        ((finding(last_seen_at=LATER),), finding(last_seen_at=LATER), (), False),
        ((), finding(resource_name="pulse-qual", title="res-ours"), (), False),
    ],
    ids=[
        "listed by the run",
        "listed, on a foreign resource",
        "old and never seen before",
        "new, seen after the trigger",
        "new, detected after the trigger",
        "new, within two seconds of clock skew",
        "new, on a foreign resource",
        "known and unchanged",
        "known and renewed",
        "known, renewed before",
        "similar by name only",
    ],
)
def test_a_finding_belongs_to_a_run_by_list_or_by_time_on_lab_resources(
    world: Build, before: tuple[Finding, ...], after: Finding, listed: tuple[str, ...], owned: bool
) -> None:
    run = world("watch.docker-unhealthy").run_record(finding_ids=listed)
    assert bool(owned_findings(before, [after], run, ["ours"], TRIGGERED)) is owned


def test_owned_findings_are_sorted_by_id(world: Build) -> None:
    run = world("watch.docker-unhealthy").run_record(finding_ids=("b", "a"))
    found = owned_findings([], [finding(id="b"), finding(id="a")], run, [], TRIGGERED)
    assert [one.id for one in found] == ["a", "b"]


def test_one_tool_call_is_evidence_enough(world: Build) -> None:
    this = world("watch.docker-unhealthy")
    require_model_evidence(this.manifest, this.run_record(ai_analysis="", input_tokens=0))


def test_no_tool_call_is_no_evidence_where_the_scenario_demands_one(world: Build) -> None:
    this = world("watch.docker-unhealthy")
    with pytest.raises(SubjectError, match="tool-call evidence"):
        require_model_evidence(this.manifest, this.run_record(**TOOL_FREE))


def test_a_tool_free_all_clear_is_valid_only_in_the_shape_made_for_it(world: Build) -> None:
    this = world("watch.docker-unhealthy").with_manifest(patrol={"require_tool_call_evidence": False})
    with pytest.raises(SubjectError, match="tool-call evidence"):
        require_model_evidence(this.manifest, this.run_record(**TOOL_FREE))


def test_a_tool_free_all_clear_with_tokens_and_analysis_is_valid(world: Build) -> None:
    this = world("watch.healthy-mixed")
    require_model_evidence(this.manifest, this.run_record(**TOOL_FREE))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"input_tokens": 0}, "no persisted evidence"),
        ({"output_tokens": 0}, "no persisted evidence"),
        ({"ai_analysis": " \n"}, "no persisted evidence"),
        ({"status": "issues_found"}, "contradicts"),
        ({"findings_summary": "1 finding"}, "contradicts"),
        ({"new_findings": 1}, "contradicts"),
        ({"existing_findings": 1}, "contradicts"),
        ({"rejected_findings": 1}, "contradicts"),
        ({"resolved_findings": 1}, "contradicts"),
        ({"finding_ids": ("f",)}, "contradicts"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else "",
)
def test_a_tool_free_all_clear_must_agree_with_the_rest_of_the_record(
    world: Build, change: dict[str, Any], reason: str
) -> None:
    this = world("watch.healthy-mixed")
    with pytest.raises(SubjectError, match=reason):
        require_model_evidence(this.manifest, this.run_record(**{**TOOL_FREE, **change}))


@pytest.mark.parametrize("change", [{"status": "error"}, {"error_count": 1}], ids=["status", "count"])
def test_a_run_with_errors_is_recorded_and_does_not_pass(world: Build, change: dict[str, Any]) -> None:
    this = world("watch.docker-unhealthy")
    this.pulse.the_runs = [this.pulse.the_runs[0].model_copy(update=change)]
    report = this.run().report
    assert not report.passed
    assert any("Patrol run 1796" in error for error in report.errors)
    assert any(text.startswith("patrol-run-error: ") for text in report.score.hard_failures)


@pytest.mark.parametrize(
    ("patrol", "scope"),
    [
        ({"scoped": False}, 0),
        ({"scoped": True, "scope_resources": ()}, 2),
    ],
    ids=["unscoped", "scoped to all"],
)
def test_a_run_is_scoped_to_sorted_ids_or_to_nothing(
    world: Build, patrol: dict[str, Any], scope: int
) -> None:
    this = world("watch.docker-unhealthy").with_manifest(patrol=patrol)
    this.run()
    (ids,) = this.pulse.scopes
    assert len(ids) == scope
    assert list(ids) == sorted(ids)


def test_a_run_is_scoped_to_the_named_resources_only(world: Build) -> None:
    this = world("watch.docker-unhealthy")
    alias = (this.manifest.resources or ())[1].alias
    this = this.with_manifest(patrol={"scoped": True, "scope_resources": (alias,)})
    this.run()
    assert this.pulse.scopes == [(f"res-{alias}",)]
