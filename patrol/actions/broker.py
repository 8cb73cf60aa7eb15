"""The one way to an effect: submit, decide, execute once, verify, record (reference runtime, section 10)."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

from patrol.actions.aftermath import OUTCOMES, tell_finding
from patrol.actions.checks import Code, Guard, refuse
from patrol.actions.planning import Capability, make_plan
from patrol.actions.policy import holds, lease, may_authorize, policy_approval
from patrol.actions.records import (
    ActionRequest,
    Actor,
    Approval,
    Attempt,
    Audit,
    Event,
    Origin,
    Outcome,
    Result,
    Snapshot,
    State,
)
from patrol.actions.store import ActionStore
from patrol.actions.verification import verify
from patrol.clock import rfc3339
from patrol.collect.engine import Engine
from patrol.config import VERIFY_S
from patrol.errors import EngineError
from patrol.records import Resource
from patrol.settings import SettingsDesk

SERVICE = Actor(subject_id="patrol", kind="service")
OPEN: tuple[State, ...] = ("planned", "pending_approval", "approved")


@dataclass(slots=True)
class Broker:
    """Holds every transition of every action."""

    actions: ActionStore
    guard: Guard
    engine: Engine
    desk: SettingsDesk
    stop: threading.Event
    verify_bound_s: float = VERIFY_S
    _lock: threading.RLock = field(default_factory=threading.RLock)

    def submit(self, request: ActionRequest, origin: Origin, resource: Resource, chosen: Capability) -> Audit:
        """Plan an action and put it up for approval; the same request id gives the same action again."""
        now_ns = self.guard.clock.now_ns()
        plan = make_plan(request, resource, chosen, now_ns=now_ns)
        now = rfc3339(now_ns)
        audit = Audit(
            id=plan.action_id,
            created_at=now,
            updated_at=now,
            state="pending_approval",
            request=request,
            plan=plan,
            origin=origin,
        )
        return self.actions.insert(audit, self._event(audit, "planned", SERVICE))

    def view(self, action_id: str) -> Audit:
        """An action as it stands, expired if its time is over. Raises ApiError 404."""
        audit = self.actions.get(action_id)
        if audit is None:
            raise refuse(Code.NOT_FOUND, f"there is no action {action_id}", status=404)
        return self._expire(audit)

    def listed(self, states: tuple[State, ...], limit: int) -> list[Audit]:
        """Actions in one of these states, newest first, expired ones settled before."""
        for audit in self.actions.listed(OPEN, 10**6):
            self._expire(audit)
        return self.actions.listed(states, limit)

    def decide(
        self, action_id: str, approved: bool, reason: str, sent_hash: str | None, actor: Actor
    ) -> Audit:
        """Approve or reject a pending action; only a person may. After an ApiError nothing has changed."""
        with self._lock:
            audit = self.view(action_id)
            if actor.kind != "user":
                raise refuse(Code.APPROVER, "a decision needs a person", status=403)
            self.guard.require_hash(audit, sent_hash)
            self._require_pending(audit, approved)
            if approved:
                self.guard.require_target(audit, Code.REPLAN)
            approval = Approval(
                outcome="approved" if approved else "rejected",
                actor=actor,
                reason=reason,
                plan_hash=audit.plan.plan_hash,
                decided_at=self._now(),
            )
            decided = self._move(
                audit, approval.outcome, "decision", actor, approvals=(*audit.approvals, approval)
            )
        if not approved:
            tell_finding(self.guard, decided, "fix_rejected")
        return decided

    def execute(self, action_id: str, sent_hash: str | None, actor: Actor) -> Audit:
        """Carry out an approved action once and follow it to its end. After an ApiError nothing has run."""
        with self._lock:
            running, before = self._admit(self.view(action_id), sent_hash, actor)
        return self._dispatch(running, before)

    def authorize(self, action_id: str, chosen: Capability) -> Audit | None:
        """Let a policy approve and run an action, if the mode permits it; None when it does not."""
        autonomy = self.desk.autonomy()
        if not may_authorize(autonomy, chosen):
            return None
        with self._lock:
            audit = self.view(action_id)
            self._require_pending(audit, approved=True)
            self.guard.require_target(audit, Code.REPLAN)
            given = lease(audit, autonomy.effective, self.guard.clock.now_ns())
            approval = policy_approval(given)
            approvals = (*audit.approvals, approval)
            approved = self._move(audit, "approved", "policy", approval.actor, approvals=approvals)
            running, before = self._admit(approved, given.plan_hash, approval.actor)
        return self._dispatch(running, before)

    def recover(self) -> int:
        """After a restart: read back what was executing, never send it again; gives how many there were."""
        open_ones = self.actions.listed(("executing",), 10**6)
        for audit in open_ones:
            before = audit.attempt.before if audit.attempt else None
            self._settle_interrupted(audit, before)
        return len(open_ones)

    def _admit(self, audit: Audit, sent_hash: str | None, actor: Actor) -> tuple[Audit, Snapshot]:
        """The last look before the one dispatch; whoever comes second finds the action executing."""
        if actor.kind not in ("user", "policy"):
            raise refuse(Code.EXECUTOR, "an execution needs a person or a policy", status=403)
        self.guard.require_hash(audit, sent_hash)
        self._require_approved(audit)
        before = self.guard.require_target(audit, Code.DRIFT)
        attempt = Attempt(before=before, received_at=self._now())
        return self._move(audit, "executing", "dispatch", actor, attempt=attempt), before

    def _dispatch(self, audit: Audit, before: Snapshot) -> Audit:
        """The only place that changes a container; its arguments come from plan and fresh look alone."""
        operation = audit.request.capability_name
        try:
            self.engine.operate(before.container_id, operation)
        except EngineError as exc:
            failed = Result(success=False, error_message=exc.message)
            unknown = Outcome(
                status="unknown", evidence_summary="the command failed, so nothing was verified"
            )
            return self._end(audit, "failed", failed, unknown, None)
        done = Result(success=True, output=f"{operation} was carried out")
        outcome, seen = self._verify(audit, before, self.verify_bound_s)
        return self._end(audit, "completed", done, outcome, seen)

    def _verify(self, audit: Audit, before: Snapshot, bound_s: float) -> tuple[Outcome, Snapshot | None]:
        request, guard = audit.request, self.guard
        name = request.capability_name
        return verify(guard.collector, request.resource_id, name, before, guard.clock, self.stop, bound_s)

    def _settle_interrupted(self, audit: Audit, before: Snapshot | None) -> None:
        outcome, seen = Outcome(status="unverified"), None
        if before is not None:
            outcome, seen = self._verify(audit, before, 0.0)
        effective = outcome.status == "verified"
        told = "the runtime ended during the execution; the effect was read back"
        result = Result(success=effective, **({"output": told} if effective else {"error_message": told}))
        self._end(audit, "completed" if effective else "failed", result, outcome, seen)

    def _end(
        self, audit: Audit, state: State, result: Result, outcome: Outcome, seen: Snapshot | None
    ) -> Audit:
        more = {"result": result, "verification_outcome": outcome, "verification": seen}
        ended = self._move(audit, state, "verification", SERVICE, outcome.evidence_summary or "", **more)
        told = OUTCOMES.get(outcome.status, "fix_verification_unknown")
        tell_finding(self.guard, ended, told)
        return ended

    def _require_pending(self, audit: Audit, approved: bool) -> None:
        if audit.state == "expired":
            raise refuse(Code.EXPIRED, "the plan has expired")
        if audit.state in ("approved", "rejected"):
            same = audit.state == ("approved" if approved else "rejected")
            code = Code.NOT_PENDING if same else Code.CONFLICT
            raise refuse(code, f"the action is {audit.state} already")
        if audit.state not in ("planned", "pending_approval"):
            raise refuse(Code.NOT_PENDING, f"the action is {audit.state}")

    def _require_approved(self, audit: Audit) -> None:
        code = {
            "executing": Code.EXECUTING,
            "completed": Code.FINAL,
            "failed": Code.FINAL,
            "rejected": Code.NOT_APPROVED,
            "expired": Code.EXPIRED,
        }.get(audit.state, Code.NOT_APPROVED)
        if audit.state != "approved" or not audit.approvals:
            raise refuse(code, f"the action is {audit.state}")
        given = audit.approvals[-1].policy_lease
        if given is not None and not holds(given, audit, self.desk.autonomy(), self.guard.clock.now_ns()):
            raise refuse(Code.NOT_APPROVED, "the policy's permission no longer holds")

    def _expire(self, audit: Audit) -> Audit:
        if audit.state not in OPEN or not self.guard.expired(audit):
            return audit
        event = self._event(audit.model_copy(update={"state": "expired"}), "expired", SERVICE)
        after = audit.model_copy(update={"state": "expired", "updated_at": self._now()})
        moved = self.actions.transition(audit, after, event)
        return moved or self.view(audit.id)

    def _move(
        self, audit: Audit, state: State, kind: str, actor: Actor, message: str = "", **changes: object
    ) -> Audit:
        after = Audit.model_validate({**dict(audit), **changes, "state": state, "updated_at": self._now()})
        moved = self.actions.transition(audit, after, self._event(after, kind, actor, message))
        if moved is None:
            raise refuse(Code.CONFLICT, "the action was changed by somebody else at the same time")
        return moved

    def _event(self, audit: Audit, kind: str, actor: Actor, message: str = "") -> Event:
        return Event(
            action_id=audit.id,
            timestamp=self._now(),
            state=audit.state,
            kind=kind,
            actor=actor.subject_id,
            message=message,
        )

    def _now(self) -> str:
        return rfc3339(self.guard.clock.now_ns())
