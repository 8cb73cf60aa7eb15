"""The durable form of an action (Pulse API, section 2.13)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from patrol.records import CamelRecord, Resource

State = Literal[
    "planned", "pending_approval", "approved", "rejected", "expired", "executing", "completed", "failed"
]
PENDING: tuple[State, ...] = ("planned", "pending_approval", "approved", "executing")
SETTLED: tuple[State, ...] = ("rejected", "expired", "completed", "failed")


class Actor(CamelRecord):
    """Who did something."""

    subject_id: str
    kind: Literal["user", "api_token", "service", "policy"]
    credential_id: str = ""
    org_id: str = "default"


class ActionRequest(CamelRecord):
    """What is asked for, of which resource, and why."""

    request_id: str
    resource_id: str
    capability_name: str
    params: dict[str, str] = Field(default_factory=dict)
    reason: str
    requested_by: str
    actor: Actor


class Snapshot(CamelRecord):
    """A container at one moment, as far as an operation can change it."""

    container_id: str
    state: str
    started_at: str
    restart_count: int
    health: str

    @classmethod
    def of(cls, resource: Resource) -> Snapshot | None:
        """None for what is no container."""
        facts = resource.docker
        if facts is None:
            return None
        return cls(
            container_id=facts.container_id,
            state=facts.container_state,
            started_at=facts.started_at,
            restart_count=facts.restart_count,
            health=facts.health,
        )


class Plan(CamelRecord):
    """What exactly would be done, bound by its hash; times and preflight are not part of the hash."""

    action_id: str
    request_id: str
    allowed: bool
    requires_approval: bool
    approval_policy: str
    approval_requirement: str
    predicted_blast_radius: str
    rollback_available: bool
    planned_at: str
    expires_at: str
    resource_version: str
    policy_version: str
    policy_decision: str
    plan_hash: str
    preflight: Snapshot | None = None


class Origin(CamelRecord):
    """Where an action came from."""

    surface: str
    finding_id: str
    investigation_id: str
    proposal_id: str
    evidence_ids: tuple[str, ...]


class Lease(CamelRecord):
    """A policy's permission for one execution of exactly one plan."""

    org_id: str
    action_id: str
    resource_id: str
    capability_name: str
    plan_hash: str
    resource_version: str
    policy_version: str
    level: str
    issued_at: str
    expires_at: str
    digest: str


class Approval(CamelRecord):
    """One decision; by policy only with a lease."""

    outcome: Literal["approved", "rejected"]
    actor: Actor
    reason: str
    plan_hash: str
    decided_at: str
    policy_lease: Lease | None = None


class Result(CamelRecord):
    """What became of the command itself; its success says nothing about the effect."""

    success: bool
    output: str | None = None
    error_message: str | None = None


class Outcome(CamelRecord):
    """What a fresh look says about the effect."""

    status: Literal["unknown", "verified", "unverified", "failed"] = "unknown"
    evidence_summary: str | None = None


class Attempt(CamelRecord):
    """The one dispatch: the container before it, and when it was received."""

    before: Snapshot
    received_at: str


class Audit(CamelRecord):
    """An action and everything that is settled about it."""

    id: str
    created_at: str
    updated_at: str
    state: State
    decision_revision: int = 0
    request: ActionRequest
    plan: Plan
    origin: Origin
    approvals: tuple[Approval, ...] = ()
    attempt: Attempt | None = None
    result: Result | None = None
    verification: Snapshot | None = None
    verification_outcome: Outcome = Outcome()


class Event(CamelRecord):
    """One entry of the append-only history."""

    action_id: str
    timestamp: str
    state: State
    kind: str
    actor: str
    message: str = ""
