"""Borrows a server's model route for a campaign and gives it back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Final, Protocol

from contract.errors import PatrolQualificationError
from harness.client.deadline import Deadline
from harness.client.errors import DeadlineError, RouteError
from harness.client.records import PatrolStatus, PreflightEvidence, Settings
from harness.client.routes import SUBSCRIPTION_FLAGS, Route, effective_route, lease_seconds
from harness.clock import CancelledRunError, Clock

ACQUIRE_SECONDS: Final = 45.0
POLL_SECONDS: Final = 0.25
TICK_SECONDS: Final = 0.05
RESTORE_NS: Final = 30 * 10**9

Remember = Callable[[Mapping[str, object]], None]


class LeaseEndpoints(Protocol):
    """The part of a client that a lease needs."""

    clock: Clock

    def settings(self) -> Settings:
        """The model settings."""

    def update_settings(self, changes: Mapping[str, object], *, seconds: float = ...) -> Settings:
        """Change settings."""

    def preflight(self) -> PreflightEvidence:
        """Prove the route now."""

    def status(self) -> PatrolStatus:
        """What Patrol is doing."""


class RouteLease:
    """A pinned model route: acquired once, given back once (Pulse API, section 3.5)."""

    def __init__(self, pulse: LeaseEndpoints, route: Route) -> None:
        self._pulse = pulse
        self.route = route
        self._previous: dict[str, object] = {}

    @classmethod
    def acquire(
        cls,
        pulse: LeaseEndpoints,
        model: str = "",
        *,
        seconds: float = ACQUIRE_SECONDS,
        remember: Remember = lambda _: None,
        shield: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> RouteLease:
        """Pin a route (blank: the one in force) and have it prove that it can call tools.

        `remember` gets the settings to be restored before anything is changed. Raises RouteError; after a
        change, whatever goes wrong, the previous settings are restored first.
        """
        settings = pulse.settings()
        route = Route.parse(model or effective_route(settings))
        if not route.is_complete:
            raise RouteError(
                f"{str(route)!r} is no model route",
                where="--model",
                hint="name provider and model, like openai:gpt-4o",
            )
        lease = cls(pulse, route)
        try:
            lease._pin(settings, lease_seconds(route, settings, seconds), remember)
        except (PatrolQualificationError, CancelledRunError) as exc:
            with shield():
                lease._undo(exc)
            raise
        return lease

    def close(self) -> None:
        """Restore the previous settings, once; raises what the server refuses with."""
        previous, self._previous = self._previous, {}
        if not previous:
            return
        deadline = Deadline(self._pulse.clock, RESTORE_NS, "restoring the model settings")
        while True:
            try:
                self._pulse.update_settings(previous, seconds=RESTORE_NS / 1e9)
            except PatrolQualificationError as exc:
                deadline.pause(1.0, str(exc))
            else:
                return

    def _undo(self, cause: PatrolQualificationError) -> None:
        try:
            self.close()
        except PatrolQualificationError as exc:
            raise RouteError(f"{cause}; and restoring the settings failed: {exc}") from cause

    def _pin(self, settings: Settings, seconds: float, remember: Remember) -> None:
        deadline = Deadline(self._pulse.clock, int(seconds * 1e9), f"the preflight of {self.route}")
        changes = _changes(settings, self.route)
        if changes:
            newer_than = self._age(settings.patrol_preflight, deadline)
            previous = {name: getattr(settings, name) for name in changes}
            remember(previous)
            self._previous = previous
            self._pulse.update_settings(changes)
            evidence = self._await_evidence(newer_than, deadline)
        else:
            evidence = self._pulse.preflight()
        self._judge(evidence)
        self._confirm()

    def _age(self, evidence: PreflightEvidence | None, deadline: Deadline) -> int:
        """Let the clock pass the second of older evidence for the route, which fresh evidence must exceed."""
        if evidence is None or not self.route.matches(evidence.provider, evidence.model):
            return 0
        while self._pulse.clock.now().instant_ns // 10**9 <= evidence.recorded_at_unix:
            deadline.pause(TICK_SECONDS, "the server's clock is ahead of this machine's")
        return evidence.recorded_at_unix

    def _await_evidence(self, newer_than: int, deadline: Deadline) -> PreflightEvidence:
        last = "no evidence yet"
        while True:
            try:
                evidence = self._pulse.settings().patrol_preflight
            except CancelledRunError:
                raise
            except PatrolQualificationError as exc:
                evidence, last = None, str(exc)
            if (
                evidence is not None
                and self.route.matches(evidence.provider, evidence.model)
                and (evidence.recorded_at_unix > newer_than or not newer_than)
            ):
                return evidence
            deadline.pause(POLL_SECONDS, last)

    def _judge(self, evidence: PreflightEvidence) -> None:
        if not self.route.matches(evidence.provider, evidence.model):
            raise RouteError(
                f"the server proved {evidence.provider}:{evidence.model} instead of {self.route}"
            )
        if not (evidence.success and evidence.tool_call_observed):
            said = evidence.message or evidence.summary or "the model made no tool call"
            cause = f" [{evidence.cause}]" if evidence.cause else ""
            raise RouteError(
                f"{self.route} failed its preflight{cause}: {said}",
                where="--model",
                hint="Patrol needs a model that calls tools",
            )

    def _confirm(self) -> None:
        settings, status = self._pulse.settings(), self._pulse.status()
        check_route(self.route, settings, status)


def check_route(route: Route, settings: Settings, status: PatrolStatus) -> None:
    """RouteError unless the server would use exactly this route now, and could (Pulse API, section 3.5)."""
    ready = status.readiness
    if str(Route.parse(effective_route(settings))) != str(route):
        raise RouteError(f"Patrol uses {effective_route(settings)!r} instead of {str(route)!r}")
    if not route.matches(ready.provider, ready.model):
        raise RouteError(f"Patrol is ready for {ready.provider}:{ready.model} instead of {route}")
    if not ready.ready or ready.provider == "demo":
        raise RouteError(f"Patrol is not ready: {ready.summary or ready.status or 'no reason given'}")


def _changes(settings: Settings, route: Route) -> dict[str, object]:
    changes: dict[str, object] = {}
    if not settings.enabled:
        changes["enabled"] = True
    if str(Route.parse(effective_route(settings))) != str(route):
        changes["patrol_model"] = str(route)
    flag = SUBSCRIPTION_FLAGS.get(route.provider)
    if flag and not getattr(settings, flag):
        changes[flag] = True
    return changes


__all__ = ["DeadlineError", "RouteLease", "check_route"]
