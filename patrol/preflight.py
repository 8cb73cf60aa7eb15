"""Whether a route answers and calls tools, asked before anything depends on it (Pulse API, section 2.4)."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

from contract.errors import PatrolQualificationError
from patrol.clock import NS, Clock, rfc3339
from patrol.errors import Cause, ProviderError
from patrol.providers.base import Message, Provider, Request, UnparsableReplyError, split_route
from patrol.providers.controls import PREFLIGHT_TOOL
from patrol.schema import obj
from patrol.tools.registry import Tool, success

MAX_TOKENS = 256
ASK = f"Call the tool {PREFLIGHT_TOOL} with ok set to true. Do nothing else."
TOOL = Tool(
    PREFLIGHT_TOOL,
    "Confirms that tools can be called.",
    obj({"ok": {"type": "boolean", "description": "always true"}}, required=("ok",)),
    lambda _: success(),
)


@dataclass(frozen=True, slots=True)
class Preflight:
    """The outcome for one route; `success` means accepted and a tool call observed."""

    route: str
    success: bool
    tool_call_observed: bool
    duration_ms: int
    recorded_ns: int
    cause: str = ""
    message: str = ""
    recommendation: str = ""

    def as_json(self) -> dict[str, object]:
        """The answer to a request for it."""
        provider, model = split_route(self.route)
        told: dict[str, object] = {
            "success": self.success,
            "provider": provider,
            "model": model,
            "tool_call_observed": self.tool_call_observed,
            "duration_ms": self.duration_ms,
            "message": self.message,
        }
        if self.cause:
            told |= {"cause": self.cause, "summary": self.message, "recommendation": self.recommendation}
        return told

    def as_cached(self) -> dict[str, object]:
        """The same as the settings show it, with the time of it."""
        told = {name: value for name, value in self.as_json().items() if name != "message"}
        moment = {"recorded_at": rfc3339(self.recorded_ns), "recorded_at_unix": self.recorded_ns // NS}
        return {**told, "summary": self.message, **moment}


def check_route(
    route: str, make: Callable[[str], Provider], clock: Clock, stop: threading.Event
) -> Preflight:
    """Ask once for one tool call; every failure is an outcome, never an exception."""
    started = clock.monotonic()
    cause, message, hint, observed = "", "The model called the tool.", "", False
    try:
        observed = _ask(make(route), stop)
        if not observed:
            cause, message = Cause.NO_TOOLS, "The model answered, but called no tool."
            hint = "try PATROL_OPENAI_TOOL_CHOICE=required, or another model"
    except ProviderError as exc:
        cause, message, hint = exc.cause, exc.message, exc.hint
    except UnparsableReplyError as exc:
        cause, message = Cause.NO_TOOLS, exc.message
    except PatrolQualificationError as exc:
        cause, message, hint = Cause.INTERNAL, exc.message, exc.hint
    spent = round((clock.monotonic() - started) * 1000)
    return Preflight(route, observed, observed, spent, clock.now_ns(), cause, message, hint)


def _ask(provider: Provider, stop: threading.Event) -> bool:
    try:
        reply = provider.complete(Request((Message("user", ASK),), (TOOL,), max_tokens=MAX_TOKENS), stop)
    finally:
        provider.close()
    return any(call.name == PREFLIGHT_TOOL for call in reply.calls)
