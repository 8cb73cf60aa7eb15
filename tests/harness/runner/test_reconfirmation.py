"""An existing finding must be found once, and then looked at again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from contract.record import zero
from contract.report import PatrolFindingAssessment
from contract.timestamps import Timestamp
from harness.runner.run import Verdict
from tests.harness.runner.world import World

Build = Callable[[str], World]
SCENARIO = "watch.existing-finding-reconfirmation"


def assessment(finding_id: str, verdict: str) -> PatrolFindingAssessment:
    return zero(PatrolFindingAssessment).model_copy(
        update={
            "finding_id": finding_id,
            "verdict": verdict,
            "assessed_at": Timestamp("2026-07-14T15:04:40Z"),
        }
    )


def reconfirming(world: Build, *, warm_up: dict[str, Any], scored: dict[str, Any]) -> World:
    this = world(SCENARIO)
    (fault,) = list(this.manifest.faults or ())
    good = this.good_finding(fault)
    renewed = good.model_copy(update={"last_seen_at": Timestamp("2026-07-14T15:04:41Z")})
    this.pulse.findings_lists = [(), (good,), (renewed,)]
    this.pulse.the_runs = [
        this.run_record(id="1", finding_ids=(good.id,), new_findings=1).model_copy(update=warm_up),
        this.run_record(
            id="2",
            finding_ids=(good.id,),
            existing_findings=1,
            finding_assessments=(assessment(good.id, "present"),),
        ).model_copy(update=scored),
    ]
    return this


def test_a_finding_that_is_found_and_then_reconfirmed_passes(world: Build) -> None:
    outcome = reconfirming(world, warm_up={}, scored={}).run()
    assert outcome.verdict is Verdict.PASSED, (outcome.failures, outcome.report.score)
    assert outcome.report.prerequisite_patrol_run is not None
    assert outcome.report.prerequisite_patrol_run.id == "1"
    assert outcome.report.patrol_run.id == "2"


def test_budgets_count_the_scored_run_only(world: Build) -> None:
    this = reconfirming(world, warm_up={"input_tokens": 50_000}, scored={"input_tokens": 7})
    assert this.run().report.score.input_tokens == 7


@pytest.mark.parametrize(
    ("warm_up", "reason"),
    [
        ({"status": "error"}, "ended with errors"),
        ({"error_count": 2}, "ended with errors"),
    ],
)
def test_a_prerequisite_run_with_errors_is_refused(
    world: Build, warm_up: dict[str, Any], reason: str
) -> None:
    outcome = reconfirming(world, warm_up=warm_up, scored={}).run()
    assert outcome.verdict is Verdict.FAILED
    assert reason in outcome.failures[0].text


def test_a_prerequisite_run_that_found_something_else_is_refused(world: Build) -> None:
    this = reconfirming(world, warm_up={}, scored={})
    (fault,) = list(this.manifest.faults or ())
    other = this.good_finding(fault, resource_id="res-elsewhere")
    this.pulse.findings_lists = [(), (other,)]
    outcome = this.run()
    assert "found nothing on" in outcome.failures[0].text


@pytest.mark.parametrize(
    ("scored", "reason"),
    [
        ({"existing_findings": 0}, "no existing finding was assessed"),
        ({"finding_assessments": ()}, "no existing finding was assessed"),
        ({"finding_assessments": (assessment("another", "present"),)}, "not assessed as present"),
        ({"status": "healthy", "findings_summary": "All healthy"}, "all clear beside"),
    ],
    ids=["none counted", "none kept", "another one", "all clear"],
)
def test_a_scored_run_that_does_not_reconfirm_fails(
    world: Build, scored: dict[str, Any], reason: str
) -> None:
    outcome = reconfirming(world, warm_up={}, scored=scored).run()
    assert outcome.verdict is Verdict.FAILED
    assert reason in outcome.failures[0].text
