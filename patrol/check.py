"""Tries a route for what a Patrol run needs of it, and tells connection, tool calling and streaming apart."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import asdict, dataclass

from patrol.clock import Clock
from patrol.config import ProviderSettings
from patrol.errors import ProviderError
from patrol.preflight import ASK, check_route
from patrol.providers.base import Message, Request, UnparsableReplyError, split_route
from patrol.providers.factory import fault_of_route, make_provider
from patrol.providers.openai import OpenAIProvider


@dataclass(frozen=True, slots=True)
class Probe:
    """One thing that was tried. `needed` ones decide whether a run can be had."""

    name: str
    held: bool
    needed: bool
    duration_ms: int
    message: str
    cause: str = ""
    hint: str = ""

    def as_json(self) -> dict[str, object]:
        return asdict(self)


def check_model(route: str, settings: ProviderSettings, clock: Clock) -> tuple[Probe, ...]:
    """Connection first; what depends on it is tried only when it holds."""
    fault = fault_of_route(route, settings)
    if fault is not None:
        return (Probe("connection", False, True, 0, fault.message, fault.cause, fault.hint),)
    if split_route(route)[0] == "control":
        return (*_free("connection"), _tools(route, settings, clock), *_free("streaming", needed=False))
    provider = OpenAIProvider(route, settings, clock)
    try:
        connection = _timed("connection", clock, lambda: _listed(provider, route))
        if not connection.held:
            return (connection,)
        tools = _tools(route, settings, clock)
        streaming = _timed("streaming", clock, lambda: _streamed(provider), needed=False)
    finally:
        provider.close()
    return (connection, tools, streaming)


def _free(name: str, *, needed: bool = True) -> tuple[Probe]:
    return (Probe(name, True, needed, 0, "a control needs none"),)


def _tools(route: str, settings: ProviderSettings, clock: Clock) -> Probe:
    outcome = check_route(
        route, lambda asked: make_provider(asked, settings, clock), clock, threading.Event()
    )
    hint, cause = outcome.recommendation, outcome.cause
    return Probe("tool calling", outcome.success, True, outcome.duration_ms, outcome.message, cause, hint)


def _listed(provider: OpenAIProvider, route: str) -> str:
    known = provider.models()
    wanted = split_route(route)[1]
    if known and wanted not in known:
        return f"the server answers, but lists no {wanted}; it lists {', '.join(known[:5])}"
    return "the server answers"


def _streamed(provider: OpenAIProvider) -> str:
    chunks = provider.stream(Request((Message("user", ASK),), max_tokens=16))
    return f"{chunks} chunks arrived"


def _timed(name: str, clock: Clock, attempt: Callable[[], str], *, needed: bool = True) -> Probe:
    started = clock.monotonic()
    try:
        message, cause, hint, held = attempt(), "", "", True
    except ProviderError as exc:
        message, cause, hint, held = exc.message, exc.cause.value, exc.hint, False
    except UnparsableReplyError as exc:
        message, cause, hint, held = exc.message, "", "", False
    return Probe(name, held, needed, round((clock.monotonic() - started) * 1000), message, cause, hint)
