"""What may be let through without a person, once, and for how long (reference runtime, section 10.5)."""

from __future__ import annotations

import hashlib

from patrol.actions.planning import Capability
from patrol.actions.records import Actor, Approval, Audit, Lease
from patrol.clock import NS, from_rfc3339, rfc3339
from patrol.settings import Autonomy

LEASE_S = 60
POLICY_ACTOR = Actor(subject_id="auto-authorization", kind="policy")


def may_authorize(autonomy: Autonomy, chosen: Capability) -> bool:
    """Monitor and approval never; assisted low risk; full also elevated; class `never` never."""
    level = autonomy.effective
    if level == "assisted":
        return chosen.auto_authorization == "low_risk"
    return level == "full" and chosen.auto_authorization in ("low_risk", "elevated")


def lease(audit: Audit, level: str, now_ns: int) -> Lease:
    """A permission for this plan alone, for a minute at most and never beyond the plan."""
    ends = min(now_ns + LEASE_S * NS, from_rfc3339(audit.plan.expires_at))
    members: dict[str, object] = {
        "org_id": audit.request.actor.org_id,
        "action_id": audit.id,
        "resource_id": audit.request.resource_id,
        "capability_name": audit.request.capability_name,
        "plan_hash": audit.plan.plan_hash,
        "resource_version": audit.plan.resource_version,
        "policy_version": audit.plan.policy_version,
        "level": level,
        "issued_at": rfc3339(now_ns),
        "expires_at": rfc3339(ends),
    }
    digest = hashlib.sha256(
        "\0".join(f"{name}={value}" for name, value in members.items()).encode()
    ).hexdigest()
    return Lease.model_validate({**members, "digest": digest})


def holds(given: Lease, audit: Audit, autonomy: Autonomy, now_ns: int) -> bool:
    """Whether a lease still permits this plan: same plan, same level, not expired, not altered."""
    fresh = lease(audit, given.level, from_rfc3339(given.issued_at))
    return fresh == given and autonomy.effective == given.level and now_ns < from_rfc3339(given.expires_at)


def policy_approval(given: Lease) -> Approval:
    """The approval that a lease stands for."""
    return Approval(
        outcome="approved",
        actor=POLICY_ACTOR,
        reason=f"auto-authorised at level {given.level}",
        plan_hash=given.plan_hash,
        decided_at=given.issued_at,
        policy_lease=given,
    )
