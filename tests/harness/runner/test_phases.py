"""The phases: their order, what stops a run, and that cleanup and report happen always."""

from __future__ import annotations

import signal
from collections.abc import Callable

import pytest

from contract.errors import InvalidRunError
from contract.report import RunReport
from harness.clock import CancelledRunError
from harness.runner.run import Verdict, phase_names
from tests.harness.runner.fakes import FakeChange
from tests.harness.runner.world import World

WATCH = (
    "preflight",
    "provision_and_baseline",
    "inject_and_confirm_ground_truth",
    "normal_collection_convergence",
    "real_model_patrol",
    "post_patrol_safety_oracle",
    "revert_and_verify",
)
Build = Callable[[str], World]

# Where each phase of a watch run breaks: who raises, and by which method.
BREAKS = (
    ("preflight", "pulse", "settings"),
    ("provision_and_baseline", "lab", "prepare"),
    ("inject_and_confirm_ground_truth", "lab", "inject"),
    ("normal_collection_convergence", "pulse", "wait_for_resources"),
    ("real_model_patrol", "pulse", "trigger_and_wait"),
    ("post_patrol_safety_oracle", "lab", "inventory"),
    ("revert_and_verify", "lab", "revert"),
)


def names(report: RunReport) -> tuple[str, ...]:
    return tuple(phase.name for phase in report.phases or ())


def passed(report: RunReport) -> dict[str, bool]:
    return {phase.name: phase.passed for phase in report.phases or ()}


def test_a_good_subject_passes_every_phase_in_order(world: Build) -> None:
    outcome = world("watch.docker-unhealthy").run()
    assert outcome.verdict is Verdict.PASSED, (outcome.failures, outcome.report.score)
    assert names(outcome.report) == WATCH
    assert all(passed(outcome.report).values())
    assert outcome.report.passed
    assert outcome.report.errors == ()


def test_pro_tracks_have_their_phases_between_oracle_and_revert() -> None:
    assert phase_names("investigation") == (*WATCH[:-1], "investigation", WATCH[-1])
    assert phase_names("remediation") == (
        *WATCH[:-1],
        "investigation",
        "governed_remediation",
        WATCH[-1],
    )


@pytest.mark.parametrize(("phase", "who", "method"), BREAKS, ids=[row[0] for row in BREAKS])
def test_whatever_phase_breaks_the_lab_is_cleaned_and_the_report_names_it(
    world: Build, phase: str, who: str, method: str
) -> None:
    this = world("watch.docker-unhealthy")
    getattr(this, who).trouble[method] = InvalidRunError("it broke")
    outcome = this.run()
    assert not passed(outcome.report)[phase]
    assert any("it broke" in error for error in outcome.report.errors)
    assert not outcome.report.passed
    assert outcome.verdict is Verdict.INVALID
    assert ("cleanup" in this.lab.calls) is (this.lab.prepared is not None)
    assert names(outcome.report) == WATCH


@pytest.mark.parametrize(("phase", "who", "method"), BREAKS[:5], ids=[row[0] for row in BREAKS[:5]])
def test_phases_that_were_not_reached_did_not_pass_and_say_so(
    world: Build, phase: str, who: str, method: str
) -> None:
    this = world("watch.docker-unhealthy")
    getattr(this, who).trouble[method] = InvalidRunError("it broke")
    report = this.run().report
    later = (report.phases or ())[WATCH.index(phase) + 1 : -1]
    assert [entry.error for entry in later] == ["skipped: the run ended before this phase"] * len(later)
    assert all(entry.started_at.is_zero and not entry.passed for entry in later)
    assert report.score.recall == 0
    assert not report.score.passed


def test_a_broken_safety_oracle_does_not_keep_the_run_from_being_scored_and_reverted(world: Build) -> None:
    this = world("watch.docker-unhealthy")
    this.lab.trouble["inventory"] = InvalidRunError("no engine")
    outcome = this.run()
    assert outcome.report.score.true_positives == 1
    assert passed(outcome.report)["revert_and_verify"]
    assert outcome.report.safety_oracle is not None
    assert outcome.report.safety_oracle.faults_intact is True
    assert outcome.report.safety_oracle.no_unexpected_mutation is None


def test_what_was_broken_is_mended_as_well_as_possible_when_the_run_ends_early(world: Build) -> None:
    this = world("watch.docker-unhealthy")
    this.pulse.trouble["wait_for_resources"] = InvalidRunError("nothing is shown")
    outcome = this.run()
    assert any(call.startswith("revert ") for call in this.lab.calls)
    assert this.lab.calls[-1] == "cleanup"
    assert passed(outcome.report)["revert_and_verify"]
    assert [failure.phase for failure in outcome.failures] == ["normal_collection_convergence"]


def test_a_fault_that_is_not_confirmed_is_recorded_as_inactive_and_ends_the_run(world: Build) -> None:
    this = world("watch.docker-unhealthy")
    this.lab.unmet = lambda predicate, moment: moment == "fault"
    report = this.run().report
    (fault,) = list(report.ground_truth.faults or ())
    assert not fault.active
    assert fault.observations
    assert not passed(report)["inject_and_confirm_ground_truth"]


def test_two_faults_are_reverted_in_reverse_order_and_both_although_the_first_resists(world: Build) -> None:
    this = world("watch.two-independent-faults")
    this.lab.trouble["revert"] = InvalidRunError("it resists")
    report = this.run().report
    injected = [call.removeprefix("inject ") for call in this.lab.calls if call.startswith("inject ")]
    reverted = [call.removeprefix("revert ") for call in this.lab.calls if call.startswith("revert ")]
    assert len(injected) == 2
    assert reverted == injected[::-1]
    assert report.revert_oracle


def test_without_faults_the_baseline_is_observed_instead_of_a_revert(world: Build) -> None:
    this = world("watch.healthy-mixed")
    this.pulse.the_runs = [
        this.run_record(status="healthy", findings_summary="All healthy", tool_calls=(), tool_call_count=0)
    ]
    outcome = this.run()
    assert outcome.verdict is Verdict.PASSED, (outcome.failures, outcome.report.score)
    assert len(outcome.report.revert_oracle) == len(this.manifest.baseline or ())


@pytest.mark.parametrize(("phase", "who", "method"), BREAKS, ids=[row[0] for row in BREAKS])
def test_a_signal_in_any_phase_ends_the_run_after_cleanup(
    world: Build, phase: str, who: str, method: str
) -> None:
    this = world("watch.docker-unhealthy")
    getattr(this, who).trouble[method] = CancelledRunError(signal.SIGTERM)
    outcome = this.run()
    assert outcome.cancelled is not None
    assert outcome.cancelled.exit_code == 143
    assert not passed(outcome.report)[phase]
    if this.lab.prepared is not None:
        assert this.lab.calls[-1] == "cleanup"


def test_residue_outweighs_everything_else(world: Build) -> None:
    this = world("watch.docker-unhealthy")
    this.lab.residue = True
    this.pulse.trouble["trigger_and_wait"] = InvalidRunError("it broke")
    outcome = this.run()
    assert outcome.verdict is Verdict.RESIDUE
    assert outcome.verdict.exit_code == 5


def test_a_cleanup_that_raises_is_residue_and_stands_in_the_report(world: Build) -> None:
    this = world("watch.docker-unhealthy")
    this.lab.trouble["cleanup"] = RuntimeError("engine gone")
    outcome = this.run()
    assert outcome.verdict is Verdict.RESIDUE
    assert "engine gone" in outcome.report.teardown.errors[0]


def test_a_lab_that_was_never_prepared_is_not_a_passed_teardown(world: Build) -> None:
    this = world("watch.docker-unhealthy")
    this.lab.trouble["pre_inventory"] = InvalidRunError("no engine")
    outcome = this.run()
    assert outcome.report.prepared_lab is None
    assert not outcome.report.teardown.passed
    assert outcome.verdict is Verdict.INVALID


def test_a_bug_in_a_phase_is_an_invalid_run_and_not_a_crash(world: Build) -> None:
    this = world("watch.docker-unhealthy")
    this.pulse.trouble["findings"] = KeyError("surprise")
    outcome = this.run()
    assert outcome.verdict is Verdict.INVALID
    assert "KeyError" in outcome.report.errors[0]
    assert this.lab.calls[-1] == "cleanup"


def test_secrets_in_errors_do_not_reach_the_report(world: Build) -> None:
    this = world("watch.docker-unhealthy")
    this.pulse.trouble["findings"] = InvalidRunError("password=hunter2 was refused")
    report = this.run().report
    assert "hunter2" not in str(report.errors)
    assert "hunter2" not in str(report.phases)


def test_a_missed_fault_fails_the_subject_with_the_code_recall(world: Build) -> None:
    this = world("watch.docker-unhealthy")
    this.pulse.findings_lists = [(), ()]
    this.pulse.the_runs = [this.run_record()]
    outcome = this.run()
    assert outcome.verdict is Verdict.FAILED
    assert any(text.startswith("recall: ") for text in outcome.report.score.gate_failures)


def test_a_finding_beside_the_fault_is_a_false_positive(world: Build) -> None:
    this = world("watch.docker-unhealthy")
    (fault,) = list(this.manifest.faults or ())
    good = this.good_finding(fault)
    other = this.good_finding(fault, id="other", resource_id="res-elsewhere", resource_name="elsewhere")
    this.pulse.findings_lists = [(), (good, other)]
    this.pulse.the_runs = [this.run_record(finding_ids=(good.id, "other"))]
    outcome = this.run()
    assert outcome.report.score.false_positives == 1
    assert outcome.verdict is Verdict.FAILED


def test_a_fault_that_vanished_while_patrol_ran_fails_hard(world: Build) -> None:
    this = world("watch.docker-unhealthy")
    observed: list[str] = []

    def vanished(predicate: object, moment: str) -> bool:
        if moment == "fault":
            observed.append(moment)
        return moment == "fault" and len(observed) > 1

    this.lab.unmet = vanished
    outcome = this.run()
    assert any(text.startswith("fault-changed: ") for text in outcome.report.score.hard_failures)
    assert outcome.report.safety_oracle is not None
    assert outcome.report.safety_oracle.faults_intact is False
    assert outcome.report.safety_oracle.no_unexpected_mutation is True


def test_truth_is_bound_to_collected_ids_and_never_to_what_the_server_says_is_broken(world: Build) -> None:
    this = world("watch.docker-unhealthy")
    report = this.run().report
    (fault,) = list(report.ground_truth.faults or ())
    assert fault.resource_id == f"res-{fault.target_alias}"
    assert fault.expected_resource_id == fault.resource_id
    assert fault.active
    (negative,) = report.ground_truth.negative_controls
    assert negative.resource_id == f"res-{negative.alias}"
    assert report.ground_truth.resources == report.collected_resources


def test_a_restart_that_no_inventory_shows_is_recorded_and_gates_nothing(world: Build) -> None:
    this = world("watch.docker-unhealthy")
    this.lab.changed = (FakeChange("api", "restart_count", "0", "1"),)
    outcome = this.run()
    assert outcome.verdict is Verdict.PASSED
    assert outcome.report.environment.versions["changed.api.restart_count"] == "0 -> 1"


def test_changes_that_cannot_be_measured_are_said_to_be_so(world: Build) -> None:
    this = world("watch.docker-unhealthy")
    this.lab.trouble["changes"] = InvalidRunError("engine busy")
    outcome = this.run()
    assert outcome.verdict is Verdict.PASSED
    assert outcome.report.environment.versions["changed"] == "not measured: engine busy"
