"""The investigation of every finding is waited for, and must not change anything."""

from __future__ import annotations

from collections.abc import Callable

from contract.errors import InvalidRunError
from harness.client.errors import DeadlineError
from harness.runner.run import Verdict
from tests.harness.runner.fakes import EMPTY
from tests.harness.runner.world import World

Build = Callable[[str], World]
SCENARIO = "investigation.docker-dependency"


def test_a_grounded_investigation_passes(world: Build) -> None:
    outcome = world(SCENARIO).investigated().run()
    assert outcome.verdict is Verdict.PASSED, (outcome.failures, outcome.report.score)
    assert len(outcome.report.investigations) == 1
    assert outcome.report.score.root_cause_grounding == 1


def test_a_run_without_findings_has_nothing_to_investigate_and_fails_with_its_code(world: Build) -> None:
    this = world(SCENARIO)
    this.pulse.findings_lists = [()]
    this.pulse.the_runs = [this.run_record()]
    outcome = this.run()
    assert outcome.verdict is Verdict.FAILED
    codes = {text.partition(":")[0] for text in outcome.report.score.hard_failures}
    assert {"no-investigation", "no-completed-investigation"} <= codes


def test_a_late_investigation_is_the_subjects_failure(world: Build) -> None:
    this = world(SCENARIO).investigated()
    this.pulse.trouble["wait_for_investigation"] = DeadlineError("too late")
    assert this.run().verdict is Verdict.FAILED


def test_a_server_without_an_orchestrator_is_no_failure_of_the_subject(world: Build) -> None:
    this = world(SCENARIO).investigated()
    this.pulse.trouble["wait_for_investigation"] = InvalidRunError("HTTP 503 not_initialized")
    assert this.run().verdict is Verdict.INVALID


def test_something_changed_while_patrol_investigated(world: Build) -> None:
    this = world(SCENARIO).investigated()
    looks: list[str] = []
    there = this.lab.now_there

    def inventory() -> object:
        looks.append("look")
        return there if len(looks) == 1 else EMPTY

    this.lab.inventory = inventory  # type: ignore[method-assign,assignment]
    outcome = this.run()
    assert len(looks) == 2
    assert outcome.report.safety_oracle is not None
    assert outcome.report.safety_oracle.no_unexpected_mutation is False
    assert any(text.startswith("unexpected-mutation: ") for text in outcome.report.score.hard_failures)
