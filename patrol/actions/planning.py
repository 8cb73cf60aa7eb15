"""What could be done to a resource, and a plan bound to exactly that (reference runtime, 10.1, 10.2)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Literal

from patrol.actions.records import ActionRequest, Plan, Snapshot
from patrol.clock import NS, rfc3339
from patrol.records import Resource

TTL_S = 300
APPROVER = "admin"
POLICY = "human_or_policy"
Risk = Literal["never", "low_risk", "elevated"]


@dataclass(frozen=True, slots=True)
class Capability:
    """One typed operation on a resource; `auto_authorization` is the class that a policy may let through."""

    name: str
    description: str
    auto_authorization: Risk
    minimum_approval_level: str = APPROVER

    def as_json(self) -> dict[str, object]:
        return {**asdict(self), "params": []}


RESTART = Capability("restart", "Restart the container.", "low_risk")
STOP = Capability("stop", "Stop the container.", "never")
START = Capability("start", "Start the container.", "never")


def capabilities(resource: Resource, *, commands: bool) -> tuple[Capability, ...]:
    """What this resource offers now; nothing while the command channel is closed or the source is stale."""
    if not commands or resource.docker is None or resource.source_status != "current":
        return ()
    if resource.docker.container_state == "running":
        return (STOP, RESTART)
    return (START,) if resource.docker.container_state in ("created", "exited", "dead") else ()


def capability(resource: Resource, name: str, *, commands: bool) -> Capability | None:
    """The offered capability of that name, or None."""
    return next((one for one in capabilities(resource, commands=commands) if one.name == name), None)


def resource_version(resource: Resource, offered: tuple[Capability, ...]) -> str:
    """A digest of what a plan relies on; volatile numbers such as health are left out on purpose."""
    facts = resource.docker
    relied = {
        "id": resource.id,
        "type": resource.type,
        "name": resource.name,
        "container": facts.container_id if facts else "",
        "up": facts.container_state == "running" if facts else True,
        "capabilities": [one.name for one in offered],
        "relationships": list(facts.healthcheck_targets) if facts else [],
        "source": resource.source_status,
    }
    return _digest(relied)


def policy_version(chosen: Capability) -> str:
    """A digest of the capability and its risk class."""
    return _digest(asdict(chosen))


def make_plan(request: ActionRequest, resource: Resource, chosen: Capability, *, now_ns: int) -> Plan:
    """The plan of `request` on `resource` as it is now; it expires after five minutes."""
    versions = {
        "resourceVersion": resource_version(resource, capabilities(resource, commands=True)),
        "policyVersion": policy_version(chosen),
    }
    asked = request.as_json()
    identity = {
        name: asked[name]
        for name in ("requestId", "resourceId", "capabilityName", "params", "reason", "actor")
    }
    approval = chosen.minimum_approval_level
    action_id = "act_" + _digest({**identity, "approvalRequirement": approval, **versions})[:32]
    hashed = {
        "actionId": action_id,
        "request": asked,
        "allowed": True,
        "requiresApproval": True,
        "approvalPolicy": POLICY,
        "approvalRequirement": approval,
        "predictedBlastRadius": f"one container, {resource.name}",
        "rollbackAvailable": False,
        "policyDecision": f"auto_authorization:{chosen.auto_authorization}",
        **versions,
    }
    bound = {name: value for name, value in hashed.items() if name != "request"}
    return Plan.model_validate(
        {
            **bound,
            "requestId": request.request_id,
            "plannedAt": rfc3339(now_ns),
            "expiresAt": rfc3339(now_ns + TTL_S * NS),
            "planHash": f"sha256:{_digest(hashed)}",
            "preflight": Snapshot.of(resource),
        }
    )


def plan_hash(plan: Plan, request: ActionRequest) -> str:
    """The hash that a stored plan ought to have."""
    told = plan.as_json()
    unbound = ("requestId", "plannedAt", "expiresAt", "planHash", "preflight")
    bound = {name: value for name, value in told.items() if name not in unbound}
    return f"sha256:{_digest({**bound, 'request': request.as_json()})}"


def _digest(value: Mapping[str, object]) -> str:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()
