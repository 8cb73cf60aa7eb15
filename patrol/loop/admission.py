"""Which calls of a turn may run, decided in order before any of them does (assistant safety, section 8)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from patrol.providers.base import Call
from patrol.safety.classifier import EXEMPT_TOOLS, ToolClass, classify
from patrol.safety.machine import REASONS, Blocked, Kind, SafetyMachine, State
from patrol.tools.registry import Code, Profile, Registry, ToolResult, failure

IDENTICAL_CALLS = 3
QUESTION = "pulse_question"
EVIDENCE_TOOLS = frozenset(
    ("pulse_query", "pulse_discovery", "pulse_metrics", "pulse_storage", "pulse_docker", "pulse_kubernetes")
) | {"pulse_read", "pulse_pmg"}
REPORT = "patrol_report_finding"


@dataclass(frozen=True, slots=True)
class Admitted:
    """A call that may run, with its parsed arguments and its class."""

    call: Call
    arguments: Mapping[str, object]
    tool_class: ToolClass


@dataclass(frozen=True, slots=True)
class Refused:
    """A call that may not run, and what the model is told instead."""

    call: Call
    result: ToolResult


@dataclass(slots=True)
class Admission:
    """The gate of one session; it remembers identical calls over all of the session's turns."""

    machine: SafetyMachine
    registry: Registry
    report_budget: int | None = None
    evidence_budget: int | None = None
    _seen: Counter[str] = field(default_factory=Counter)
    _wrote_this_turn: bool = False

    def turn(self, calls: Sequence[Call], offered: Sequence[str]) -> list[Admitted | Refused]:
        """Judge every call of one turn, in the order in which the model made them."""
        self._wrote_this_turn = False
        return [self._judge(call, offered) for call in calls]

    def _judge(self, call: Call, offered: Sequence[str]) -> Admitted | Refused:
        if call.name == QUESTION:
            return Refused(call, failure(Code.NO_USER, "nobody can answer a question in this session"))
        if call.name not in offered:
            message = f"{call.name or 'a tool without a name'} is not among the tools of this turn"
            return Refused(call, failure(Code.NOT_ADVERTISED, message, blocked=True))
        arguments = parse_arguments(call.arguments)
        if arguments is None:
            return Refused(call, failure(Code.INVALID_INPUT, "the arguments are not one JSON object"))
        admitted = Admitted(call, arguments, classify(call.name, arguments))
        gates = (self._evidence_gate, self._state_gate, self._loop_gate, self._budget_gate)
        refusal = next((found for gate in gates if (found := gate(admitted)) is not None), None)
        if refusal is not None:
            return Refused(call, refusal)
        if admitted.tool_class.kind is Kind.WRITE and call.name not in EXEMPT_TOOLS:
            self._wrote_this_turn = True
        if call.name in EVIDENCE_TOOLS and self.evidence_budget is not None:
            self.evidence_budget -= 1
        return admitted

    def _evidence_gate(self, wanted: Admitted) -> ToolResult | None:
        if wanted.call.name not in EVIDENCE_TOOLS or self.evidence_budget is None or self.evidence_budget > 0:
            return None
        return failure(
            Code.BUDGET_EXHAUSTED, "the evidence budget is used up; conclude from what is known", blocked=True
        )

    def _state_gate(self, wanted: Admitted) -> ToolResult | None:
        name, kind = wanted.call.name, wanted.tool_class.kind
        exempt = name in EXEMPT_TOOLS and self.registry.profile is Profile.DETECTION
        if exempt and self.machine.state is State.RESOLVING:
            return None
        blocked = self.machine.can_execute(kind, name)
        if blocked is None and self._wrote_this_turn and kind is Kind.WRITE:
            blocked = Blocked(State.VERIFYING, REASONS[State.VERIFYING], name, kind)
        if blocked is None:
            return None
        recovery = self.machine.track_pending_recovery(blocked.code, name)
        return ToolResult(json.dumps(blocked.payload(recovery)), ok=False, code=blocked.code)

    def _loop_gate(self, wanted: Admitted) -> ToolResult | None:
        key = f"{wanted.call.name} {json.dumps(wanted.arguments, sort_keys=True)}"
        self._seen[key] += 1
        if self._seen[key] <= IDENTICAL_CALLS:
            return None
        return failure(Code.LOOP_DETECTED, "this very call was made before; its answer stands", blocked=True)

    def _budget_gate(self, wanted: Admitted) -> ToolResult | None:
        if wanted.call.name != REPORT or self.report_budget is None:
            return None
        if self.report_budget == 0:
            return failure(Code.BUDGET_EXHAUSTED, "no further report is expected in this pass", blocked=True)
        self.report_budget -= 1
        return None


def parse_arguments(text: str) -> dict[str, object] | None:
    """The JSON object that a model sent, blank meaning an empty one; None where it is anything else."""
    if not text.strip():
        return {}
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
