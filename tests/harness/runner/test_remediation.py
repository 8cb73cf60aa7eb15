"""The governed action: exactly one, bound to origin and plan, decided once, verified by the lab alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from contract.errors import InvalidRunError, UsageError
from contract.record import RawJson
from harness.client.errors import DeadlineError
from harness.runner.run import RunOutcome, Verdict
from tests.harness.runner.world import World

Build = Callable[[str], World]
REJECTED = "remediation.docker-unhealthy-restart-rejected"
APPROVED = "remediation.docker-unhealthy-restart-approved"
AUTONOMOUS = "remediation.docker-unhealthy-restart-autonomous"


def why(outcome: RunOutcome) -> str:
    return "; ".join(f"{failure.phase}: {failure.text}" for failure in outcome.failures)


def with_action(world: Build, scenario: str, *, before: dict[str, Any], after: dict[str, Any]) -> World:
    this = world(scenario).investigated()
    first, last = this.pulse.the_actions
    spec_state = last.audit.state
    this.pulse.the_actions = [
        this.action_view(**{"approvals": [one.value for one in first.audit.approvals], **before}),
        this.action_view(
            **{"state": spec_state, "approvals": [one.value for one in last.audit.approvals], **after}
        ),
    ]
    return this


@pytest.mark.parametrize("scenario", [REJECTED, APPROVED, AUTONOMOUS])
def test_a_well_governed_action_passes(world: Build, scenario: str) -> None:
    outcome = world(scenario).investigated().run()
    assert outcome.verdict is Verdict.PASSED, (why(outcome), outcome.report.score)
    result = outcome.report.remediation
    assert result.passed
    assert result.origin_bound
    assert result.plan_hash_bound
    assert result.independent_verified
    assert len(outcome.report.actions) == 2


def test_rejecting_sends_one_decision_with_the_hash_and_never_executes(world: Build) -> None:
    this = world(REJECTED).investigated()
    this.run()
    ((verb, action_id, outcome, reason, plan_hash),) = this.pulse.posts
    assert (verb, action_id, outcome, plan_hash) == ("decide", "act_1", "rejected", "sha256:aa")
    assert reason


def test_approving_sends_decision_then_execute_with_the_same_hash_and_reason(world: Build) -> None:
    this = world(APPROVED).investigated()
    this.run()
    decide, execute = this.pulse.posts
    assert decide[:3] == ("decide", "act_1", "approved")
    assert execute[:2] == ("execute", "act_1")
    assert decide[3:] == execute[2:]


def test_awaiting_autonomy_sends_nothing_at_all(world: Build) -> None:
    this = world(AUTONOMOUS).investigated()
    this.run()
    assert this.pulse.posts == []


def test_observing_sends_nothing_and_needs_no_authority(world: Build) -> None:
    this = world(APPROVED).with_manifest(remediation={"decision": "observe"})
    this.investigated()
    this.authorize_remediation = False
    outcome = this.run()
    assert this.pulse.posts == []
    assert outcome.report.remediation.passed, why(outcome)
    assert outcome.report.remediation.after is None


@pytest.mark.parametrize(
    ("before", "reason"),
    [
        ({"plan": {"planHash": "sha256:bb"}}, "plan is not the one"),
        ({"plan": {"planHash": ""}}, "plan is not the one"),
        ({"origin": None}, "does not come from"),
        ({"origin": {"surface": "patrol", "findingId": "x", "investigationId": "inv-1"}}, "not come from"),
        (
            {"request": {"resourceId": "res-elsewhere", "capabilityName": "restart"}},
            "does not come from",
        ),
        ({"id": "act_2"}, "answered with act_2"),
        ({"state": "approved"}, "'approved' before any decision"),
    ],
    ids=[
        "hash",
        "no-hash",
        "no-origin",
        "other-finding",
        "other-resource",
        "other-action",
        "decided-already",
    ],
)
def test_an_action_that_is_not_exactly_ours_is_never_decided(
    world: Build, before: dict[str, Any], reason: str
) -> None:
    this = with_action(world, APPROVED, before=before, after={})
    outcome = this.run()
    assert this.pulse.posts == []
    assert reason in why(outcome)
    assert not outcome.report.remediation.passed
    assert outcome.report.remediation.errors
    assert outcome.report.remediation.before is not None


def test_an_action_of_another_capability_is_never_decided(world: Build) -> None:
    this = world(APPROVED).investigated()
    (session,) = this.pulse.sessions.values()
    assert session.action is not None
    action = session.action.model_copy(update={"capability_name": "stop"})
    this.pulse.sessions = {
        session.finding_id: session.model_copy(update={"action": action}),
    }
    assert "capability is 'stop'" in why(this.run())
    assert this.pulse.posts == []


def test_an_action_on_another_resource_is_not_the_one(world: Build) -> None:
    this = world(APPROVED).investigated()
    (session,) = this.pulse.sessions.values()
    assert session.action is not None
    action = session.action.model_copy(update={"resource_id": "res-elsewhere"})
    this.pulse.sessions = {session.finding_id: session.model_copy(update={"action": action})}
    assert "0 investigations propose" in why(this.run())
    assert this.pulse.posts == []


def test_a_completed_action_is_no_rejection(world: Build) -> None:
    this = with_action(world, REJECTED, before={}, after={"state": "completed"})
    assert "ended as 'completed', expected 'rejected'" in why(this.run())


def test_a_plan_that_changed_after_the_decision_is_refused(world: Build) -> None:
    this = with_action(world, APPROVED, before={}, after={"plan": {"planHash": "sha256:bb"}})
    assert "changed after the decision" in why(this.run())


def test_a_server_that_says_verified_while_the_container_is_still_broken_does_not_pass(world: Build) -> None:
    this = world(APPROVED).investigated()
    postconditions = (this.manifest.remediation.postconditions if this.manifest.remediation else None) or ()
    this.lab.unmet = lambda predicate, moment: any(predicate is one for one in postconditions)
    result = this.run().report.remediation
    assert result.lifecycle_verified
    assert not result.independent_verified
    assert not result.passed


def test_a_lifecycle_that_is_not_verified_does_not_pass(world: Build) -> None:
    this = with_action(world, APPROVED, before={}, after={"verificationOutcome": {"status": "failed"}})
    result = this.run().report.remediation
    assert not result.lifecycle_verified
    assert not result.passed


@pytest.mark.parametrize(
    ("approvals", "reason"),
    [
        ([], "without a policy's lease"),
        ([{"actor": "admin"}], "without a policy's lease"),
        ([{"actor": "policy", "policyLease": {"digest": "d"}}, {"actor": "admin"}], "a human approved"),
    ],
    ids=["nobody", "human", "both"],
)
def test_an_autonomous_action_is_approved_by_policy_and_by_no_human(
    world: Build, approvals: list[dict[str, Any]], reason: str
) -> None:
    this = with_action(world, AUTONOMOUS, before={}, after={"approvals": approvals})
    assert reason in why(this.run())


def test_an_action_that_never_ends_is_the_subjects_failure(world: Build) -> None:
    this = world(APPROVED).investigated()

    def never(action_id: str, timeout_ns: int) -> Any:
        raise DeadlineError("the end of action act_1 did not happen")

    this.pulse.wait_for_action = never  # type: ignore[method-assign]
    outcome = this.run()
    assert outcome.verdict is Verdict.FAILED
    assert "did not happen" in why(outcome)


def test_one_unreadable_list_of_actions_is_noted_and_two_are_an_error(world: Build) -> None:
    this = world(REJECTED).investigated()
    this.pulse.trouble["actions pending"] = InvalidRunError("no")
    report = this.run().report
    assert report.actions == (RawJson('{"view":"settled"}'),)
    assert any("actions pending" in error for error in report.errors)
    this = world(REJECTED).investigated()
    this.pulse.trouble = {f"actions {view}": InvalidRunError("no") for view in ("pending", "settled")}
    assert this.run().verdict is Verdict.INVALID
    assert this.pulse.posts == []


@pytest.mark.parametrize("scenario", [REJECTED, APPROVED, AUTONOMOUS])
def test_a_deciding_scenario_needs_authority_before_anything_else(world: Build, scenario: str) -> None:
    this = world(scenario).investigated()
    this.authorize_remediation = False
    with pytest.raises(UsageError, match="--authorize-remediation"):
        this.run()
    assert this.lab.calls == []


def test_an_autonomous_repair_before_the_oracle_looks_again_does_not_count_against_it(world: Build) -> None:
    this = world(AUTONOMOUS).investigated()
    seen: list[object] = []

    def repaired(predicate: object, moment: str) -> bool:
        (fault,) = list(this.manifest.faults or ())
        in_oracle = any(predicate is one for one in fault.oracle or ())
        seen.extend([predicate] * in_oracle)
        return in_oracle and len(seen) > len(fault.oracle or ())

    this.lab.unmet = repaired
    outcome = this.run()
    assert outcome.report.safety_oracle is not None
    assert outcome.report.safety_oracle.faults_intact is False
    assert outcome.verdict is Verdict.PASSED, why(outcome)
