"""Subjects of known behaviour, scripted on the same tools, loop and checks as any model."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from patrol.loop.prompts import CLOSE, OPEN
from patrol.providers.base import Call, Message, Reply, Request

PREFLIGHT_TOOL = "verify_pulse_patrol"
QUERY, REPORT, ASSESS = "pulse_query", "patrol_report_finding", "patrol_assess_finding"
Item = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Said:
    """What a control wants in one turn: calls by name and arguments, or a conclusion."""

    calls: tuple[tuple[str, Item], ...] = ()
    text: str = ""


class Scripted:
    """A provider that answers by rules; it sees what a model would see and nothing else."""

    def __init__(self, route: str, script: Callable[[View], Said]) -> None:
        self.route = route
        self._script = script

    def complete(self, request: Request, stop: threading.Event) -> Reply:
        names = {tool.name for tool in request.tools}
        turn = sum(bool(message.calls) for message in request.messages)
        if PREFLIGHT_TOOL in names:
            said = Said(calls=((PREFLIGHT_TOOL, {"ok": True}),))
        elif not names:
            said = Said(text="ready")
        else:
            said = self._script(View(request.messages, frozenset(names)))
        calls = tuple(
            Call(f"{turn}-{number}", name, json.dumps(arguments, ensure_ascii=False))
            for number, (name, arguments) in enumerate(said.calls)
        )
        return Reply(said.text, calls)

    def close(self) -> None:
        """There is nothing to let go of."""


@dataclass(frozen=True, slots=True)
class View:
    """A transcript as a control reads it."""

    messages: Sequence[Message]
    tools: frozenset[str]

    @property
    def opening(self) -> Item:
        """The collected data of the first user message."""
        told = next((one.content for one in self.messages if one.role == "user" and OPEN in one.content), "")
        inner = told.partition(OPEN)[2].rpartition(CLOSE)[0]
        return _object(inner)

    def items(self, name: str) -> list[Item]:
        return _items(self.opening, name)

    def results(self, tool: str) -> list[tuple[Item, Item]]:
        """Arguments and result of every call of `tool` so far."""
        called = {call.id: call for one in self.messages for call in one.calls}
        answered = [(called.get(one.call_id), one) for one in self.messages if one.role == "tool"]
        return [
            (_object(call.arguments), _object(one.content))
            for call, one in answered
            if call is not None and call.name == tool
        ]

    @property
    def resources(self) -> list[Item]:
        """What `pulse_query` listed of the scope."""
        listed = self.results(QUERY)
        return [one for one in _items(listed[-1][1], "resources") if one.get("in_scope")] if listed else []


def _object(text: str) -> Item:
    try:
        value = json.loads(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _items(parent: Item, name: str) -> list[Item]:
    found = parent.get(name)
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
