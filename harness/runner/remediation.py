"""Phase 8: one governed action, bound to its origin and plan, verified by the lab (runner, section 6)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from contract.durations import positive_duration
from contract.errors import PatrolQualificationError
from contract.manifest import RemediationSpec
from contract.record import RawJson, zero
from contract.report import ActionReference, InvestigationSession, RemediationResult
from contract.text import fold_equal
from harness.client.errors import DeadlineError
from harness.client.pulse import ActionView
from harness.clock import CancelledRunError
from harness.runner.context import RunContext
from harness.runner.errors import OracleError, SubjectError

OBSERVE: Final = "observe"
REJECT: Final = "reject"
APPROVE: Final = "approve_execute"
AUTONOMOUS: Final = "await_autonomous"
_DECIDABLE: Final = frozenset({"pending_approval", "planned"})


@dataclass(frozen=True, slots=True)
class Proposal:
    """The one action that an investigation proposed for the scenario's target."""

    finding_id: str
    session: InvestigationSession
    reference: ActionReference

    @property
    def plan_hash(self) -> str:
        """The hash that every decision must name."""
        plan = self.reference.plan.value
        found = plan.get("planHash") if isinstance(plan, dict) else None
        return found if isinstance(found, str) else ""


class Remediation:
    """Builds the result step by step, so that it is stored whole whatever goes wrong."""

    def __init__(self, context: RunContext, spec: RemediationSpec) -> None:
        self._context = context
        self._spec = spec
        self.result = zero(RemediationResult)
        self._set(decision=spec.decision, authorized=context.plan.authorize_remediation)

    def run(self) -> None:
        """Identify, decide, wait, verify. Raises SubjectError or what broke; the result stays."""
        proposal = self._identify()
        view = self._context.pulse.action(proposal.reference.action_id)
        self._set(before=view.raw)
        self._bind(proposal, view)
        self._context.evidence.actions = self._list_actions()
        if self._spec.decision == OBSERVE:
            self._set(passed=True)
            return
        self._decide(proposal)
        self._await_end(proposal)
        self._verify()

    def fail(self, text: str) -> None:
        """Note why the remediation did not pass."""
        self._set(errors=(*self.result.errors, text), passed=False)

    def _identify(self) -> Proposal:
        collected = self._context.evidence.collected.get(self._spec.action_target)
        if collected is None:
            raise OracleError("the action's target was not collected", where=self._spec.action_target)
        proposals = [
            Proposal(finding_id, session, session.action)
            for finding_id, session in sorted(self._context.evidence.investigations.items())
            if session.action is not None and session.action.resource_id == collected.resource_id
        ]
        if len(proposals) != 1:
            raise SubjectError(
                f"{len(proposals)} investigations propose an action for the target, expected one"
            )
        proposal = proposals[0]
        reference = proposal.reference
        self._set(
            finding_id=proposal.finding_id,
            investigation_id=proposal.session.id,
            action_id=reference.action_id,
            resource_id=reference.resource_id,
            capability_name=reference.capability_name,
        )
        wanted = self._spec.expected_capabilities or ()
        if not reference.action_id or not any(fold_equal(reference.capability_name, name) for name in wanted):
            raise SubjectError(
                f"the proposed capability is {reference.capability_name!r}, expected {', '.join(wanted)}"
            )
        return proposal

    def _bind(self, proposal: Proposal, view: ActionView) -> None:
        audit, reference = view.audit, proposal.reference
        origin = audit.origin
        self._set(
            plan_hash_bound=bool(audit.plan.planHash) and audit.plan.planHash == proposal.plan_hash,
            origin_bound=origin is not None
            and origin.findingId == proposal.finding_id
            and origin.investigationId == proposal.session.id
            and audit.request.resourceId == reference.resource_id,
        )
        if not self.result.plan_hash_bound:
            raise SubjectError("the action's plan is not the one that the investigation proposed")
        if not self.result.origin_bound and self._spec.require_exact_origin:
            raise SubjectError("the action does not come from the investigated finding")
        if origin is not None and not fold_equal(origin.surface, "patrol"):
            raise SubjectError(f"the action comes from {origin.surface!r}, not from Patrol")
        if audit.id != reference.action_id:
            raise SubjectError(f"asked for action {reference.action_id}, answered with {audit.id}")
        if audit.request.capabilityName != reference.capability_name:
            raise SubjectError("the action requests another capability than the investigation proposed")
        if self._spec.decision in (REJECT, APPROVE) and audit.state not in _DECIDABLE:
            raise SubjectError(f"the action is {audit.state!r} before any decision")

    def _list_actions(self) -> tuple[RawJson, ...]:
        """Both views; one that cannot be read is noted, two are an error."""
        found: list[RawJson] = []
        failed: list[str] = []
        for view in ("pending", "settled"):
            try:
                found.extend(self._context.pulse.actions(view))
            except CancelledRunError:
                raise
            except PatrolQualificationError as exc:
                failed.append(f"actions {view}: {exc}")
        if len(failed) == 2:
            raise OracleError("; ".join(failed))
        self._context.evidence.errors.extend(failed)
        return tuple(found)

    def _decide(self, proposal: Proposal) -> None:
        pulse, action_id = self._context.pulse, proposal.reference.action_id
        reason, plan_hash = self._spec.decision_reason, proposal.plan_hash
        if self._spec.decision == REJECT:
            pulse.decide(action_id, "rejected", reason, plan_hash)
        elif self._spec.decision == APPROVE:
            pulse.decide(action_id, "approved", reason, plan_hash)
            pulse.execute(action_id, reason, plan_hash)

    def _await_end(self, proposal: Proposal) -> None:
        timeout_ns = positive_duration(self._spec.action_timeout)
        try:
            view = self._context.pulse.wait_for_action(proposal.reference.action_id, timeout_ns)
        except DeadlineError as exc:
            raise SubjectError(str(exc)) from exc
        self._set(after=view.raw)
        wanted = "rejected" if self._spec.decision == REJECT else "completed"
        if view.audit.state != wanted:
            raise SubjectError(f"the action ended as {view.audit.state!r}, expected {wanted!r}")
        if view.audit.plan.planHash != proposal.plan_hash:
            raise SubjectError("the action's plan changed after the decision")
        if self._spec.decision == AUTONOMOUS:
            require_policy_approval(view)
        status = view.audit.verificationOutcome.status
        allowed = self._spec.allowed_verification_statuses
        verified = not self._spec.require_lifecycle_verification or any(
            fold_equal(status, name) for name in allowed
        )
        self._set(lifecycle_verified=verified)

    def _verify(self) -> None:
        """Ask the lab, not the server, what became of it."""
        predicates = self._spec.postconditions or ()
        observations = self._context.lab.observe(predicates) if predicates else ()
        held = all(seen.passed for seen in observations) if predicates else self._spec.decision == REJECT
        self._set(postconditions=observations, independent_verified=held)
        if not held:
            raise SubjectError("the lab does not show what the action should have brought about")
        if not self.result.lifecycle_verified:
            raise SubjectError("the server's own verification did not reach an allowed status")
        result = self.result
        self._set(passed=result.origin_bound and result.plan_hash_bound and not result.errors)

    def _set(self, **parts: object) -> None:
        self.result = self.result.model_copy(update=parts)


def require_policy_approval(view: ActionView) -> None:
    """SubjectError unless a policy's lease approved the action, and no human did."""
    leases = humans = 0
    for approval in view.audit.approvals:
        value = approval.value
        if isinstance(value, dict) and value.get("policyLease"):
            leases += 1
        else:
            humans += 1
    if not leases:
        raise SubjectError("the action ran without a policy's lease")
    if humans:
        raise SubjectError("a human approved an action that was to run by policy alone")


def remediate(context: RunContext) -> None:
    """Carry out the scenario's decision about the proposed action; the result is stored in any case."""
    spec = context.plan.manifest.remediation
    if spec is None:
        raise OracleError("the scenario says nothing about remediation")
    remediation = Remediation(context, spec)
    try:
        remediation.run()
    except PatrolQualificationError as exc:
        remediation.fail(str(exc))
        raise
    finally:
        context.evidence.remediation = remediation.result
