"""Tools by name, closed per profile: what was not registered for a profile cannot run in it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from patrol.errors import UsageError
from patrol.safety.classifier import Mutation, ToolClass, check_coverage, classify
from patrol.schema import Schema, enums_of, faults

Arguments = Mapping[str, object]


class Profile(StrEnum):
    """What a session is for (reference runtime, section 7.1)."""

    DETECTION = "patrol-detection"
    INVESTIGATION = "patrol-investigation"


class Code(StrEnum):
    """Stable codes of tool results (assistant safety, section 10)."""

    ROUTING_MISMATCH = "ROUTING_MISMATCH"
    NOT_FOUND = "NOT_FOUND"
    ACTION_NOT_ALLOWED = "ACTION_NOT_ALLOWED"
    POLICY_BLOCKED = "POLICY_BLOCKED"
    INVALID_INPUT = "INVALID_INPUT"
    EXECUTION_FAILED = "EXECUTION_FAILED"
    SENSITIVE = "SENSITIVE_COMMAND"
    AMBIGUOUS = "PROPOSAL_AMBIGUOUS"
    INTEGRITY = "PROPOSAL_INTEGRITY"
    NOT_ADVERTISED = "TOOL_NOT_ADVERTISED"
    LOOP_DETECTED = "LOOP_DETECTED"
    BUDGET_EXHAUSTED = "BUDGET_EXHAUSTED"
    NO_USER = "NO_USER"


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a call gave: JSON text for the model, and whether it counts as success."""

    text: str
    ok: bool = True
    code: str = ""


def success(**members: object) -> ToolResult:
    """A successful result `{"ok": true, ...}`."""
    return ToolResult(json.dumps({"ok": True, **members}, ensure_ascii=False))


def failure(code: Code, message: str, *, blocked: bool = False, **details: object) -> ToolResult:
    """A failed result; clients and models branch on `code`."""
    error = {
        "code": code.value,
        "message": message,
        "blocked": blocked,
        "retryable": True,
        "details": details,
    }
    return ToolResult(json.dumps({"ok": False, "error": error}, ensure_ascii=False), ok=False, code=code)


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool as the model sees it, and what runs it."""

    name: str
    description: str
    parameters: Schema
    run: Callable[[Arguments], ToolResult]
    run_call: Callable[[str, Arguments], ToolResult] | None = (
        None  # for a tool that has to know which call it is
    )

    def as_openai(self) -> dict[str, object]:
        function = {"name": self.name, "description": self.description, "parameters": dict(self.parameters)}
        return {"type": "function", "function": function}


class Registry:
    """The tools of one session; registration refuses what the classifier and the profile do not both know."""

    def __init__(self, profile: Profile, tools: Sequence[Tool]) -> None:
        self.profile = profile
        self._tools: dict[str, Tool] = {}
        for tool in tools:
            self._register(tool)

    def _register(self, tool: Tool) -> None:
        check_coverage(tool.name, enums_of(tool.parameters))
        if tool.name in self._tools:
            raise UsageError(f"the tool {tool.name} is registered twice")
        self._tools[tool.name] = tool

    def offered(self, names: Sequence[str] | None = None) -> tuple[Tool, ...]:
        """The tools of this session, or those of them that are named, in order of registration."""
        return tuple(tool for tool in self._tools.values() if names is None or tool.name in names)

    def permits(self, tool_class: ToolClass) -> bool:
        """Whether this profile lets a call of that class happen at all."""
        allowed = {Mutation.NONE}
        if self.profile is Profile.DETECTION:
            allowed.add(Mutation.PULSE_STATE)
        return tool_class.mutation in allowed

    def execute(self, name: str, arguments: Arguments, call_id: str = "") -> ToolResult:
        """Run one call that was admitted; the profile is enforced here once more, whatever was admitted."""
        tool = self._tools.get(name)
        if tool is None:
            return failure(Code.NOT_ADVERTISED, f"there is no tool {name} in this session", blocked=True)
        if not self.permits(classify(name, arguments)):
            return failure(Code.POLICY_BLOCKED, f"{name} may not change that in this session", blocked=True)
        wrong = faults(arguments, tool.parameters)
        if wrong:
            return failure(Code.INVALID_INPUT, "; ".join(wrong))
        try:
            return tool.run_call(call_id, arguments) if tool.run_call else tool.run(arguments)
        except Exception as exc:  # noqa: BLE001 - a tool that breaks is its own call's error; its siblings go on
            return failure(Code.EXECUTION_FAILED, f"{name} failed ({type(exc).__name__})")
