"""The durable form of an investigation (Pulse API, section 2.12)."""

from __future__ import annotations

from typing import Literal

from patrol.actions.records import Plan
from patrol.records import Record, ToolCall

Status = Literal["pending", "running", "completed", "failed", "needs_attention"]


class ActionRef(Record):
    """The one action that an investigation has led to; `state` is the one at the time of asking."""

    action_id: str
    proposal_id: str
    resource_id: str
    capability_name: str
    state: str
    plan: Plan


class Investigation(Record):
    """One attempt to understand one finding; `evidence_ids` counts the successful evidence calls."""

    id: str
    finding_id: str
    session_id: str
    status: Status
    started_at: str
    completed_at: str | None = None
    turn_count: int = 0
    evidence_call_count: int = 0
    tool_call_count: int = 0
    outcome: str | None = None
    action: ActionRef | None = None
    tools_available: tuple[str, ...] = ()
    tools_used: tuple[str, ...] = ()
    evidence_ids: tuple[str, ...] = ()
    summary: str | None = None
    error: str | None = None
    input_tokens: int = 0
    output_tokens: int = 0
    calls: tuple[ToolCall, ...] = ()

    def as_json(self) -> dict[str, object]:
        """What is served of it; the calls have an endpoint of their own."""
        return self.model_dump(mode="json", exclude_none=True, exclude={"calls"})
