"""Everything that has to hold before a decision and again before an execution (reference runtime, 10.4)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from patrol.actions.planning import capabilities, capability, plan_hash, policy_version, resource_version
from patrol.actions.records import Audit, Snapshot
from patrol.clock import Clock, from_rfc3339
from patrol.collect.collector import Collector
from patrol.errors import ApiError, EngineError
from patrol.store import Store

LOCKS = "never_auto_remediate"
EMERGENCY_STOP = "emergency_stop"


class Code(StrEnum):
    """Stable codes of the action endpoints (Pulse API, section 2.13)."""

    NOT_FOUND = "action_not_found"
    NOT_PENDING = "action_not_pending"
    EXPIRED = "action_plan_expired"
    CONFLICT = "action_decision_conflict"
    REPLAN = "action_replan_required"
    NOT_APPROVED = "action_not_approved"
    EXECUTING = "action_already_executing"
    FINAL = "action_execution_final"
    DRIFT = "action_plan_drift"
    IDENTITY = "action_plan_identity_mismatch"
    UNAVAILABLE = "action_execution_unavailable"
    LOCKED = "resource_remediation_locked"
    APPROVER = "action_approval_forbidden"
    EXECUTOR = "action_execution_forbidden"


def refuse(code: Code, message: str, *, status: int = 409) -> ApiError:
    """A refusal that has had no effect."""
    return ApiError(status, code.value, message, agent_style=True)


@dataclass(frozen=True, slots=True)
class Guard:
    """Looks at the world as it is now; nothing here changes anything."""

    store: Store
    collector: Collector
    clock: Clock
    commands: bool

    def require_hash(self, audit: Audit, sent: str | None) -> None:
        """The plan is whole, and is the one that the caller has seen (when it says which)."""
        if audit.plan.plan_hash != plan_hash(audit.plan, audit.request):
            raise refuse(Code.DRIFT, "the stored plan does not match its own hash")
        if sent is not None and sent != audit.plan.plan_hash:
            raise refuse(Code.IDENTITY, "the plan hash is not the one of this action")

    def expired(self, audit: Audit) -> bool:
        return self.clock.now_ns() >= from_rfc3339(audit.plan.expires_at)

    def require_target(self, audit: Audit, drift: Code) -> Snapshot:
        """The target offers the capability and is what the plan relied on; gives its present state."""
        request = audit.request
        if not self.commands:
            raise refuse(Code.UNAVAILABLE, "the command channel is closed")
        if self.store.setting(EMERGENCY_STOP) is True:
            raise refuse(Code.UNAVAILABLE, "the emergency stop is on")
        locks = self.store.setting(LOCKS)
        if isinstance(locks, list) and request.resource_id in locks:
            raise refuse(Code.LOCKED, "an operator has locked this resource")
        if self.store.finding(audit.origin.finding_id) is None:
            raise refuse(drift, "the finding that the action came from is gone")
        try:
            resource = self.collector.live(request.resource_id)
        except EngineError as exc:
            raise refuse(Code.UNAVAILABLE, exc.message) from exc
        snapshot = Snapshot.of(resource) if resource is not None else None
        chosen = (
            capability(resource, request.capability_name, commands=True) if resource is not None else None
        )
        if resource is None or snapshot is None or chosen is None:
            raise refuse(drift, "the target is gone or no longer offers this")
        offered = capabilities(resource, commands=True)
        if resource_version(resource, offered) != audit.plan.resource_version:
            raise refuse(drift, "the target is no longer what the plan relied on")
        if policy_version(chosen) != audit.plan.policy_version:
            raise refuse(drift, "the policy of this operation has changed")
        planned = audit.plan.preflight
        if planned is None or (planned.container_id, planned.started_at) != (
            snapshot.container_id,
            snapshot.started_at,
        ):
            raise refuse(drift, "the container has been started anew since the plan was made")
        return snapshot
