"""Whether an operation had its effect, read afresh and apart from who did it (reference runtime, 10.7)."""

from __future__ import annotations

import threading
from typing import Protocol

from patrol.actions.records import Outcome, Snapshot
from patrol.clock import Clock, from_rfc3339
from patrol.config import VERIFY_S
from patrol.errors import EngineError
from patrol.records import Resource

POLL_S = 0.5


class Reads(Protocol):
    """A fresh look at one resource."""

    def live(self, resource_id: str) -> Resource | None:
        """The resource read now; None when it is gone. Raises EngineError."""


def verify(
    source: Reads,
    resource_id: str,
    operation: str,
    before: Snapshot,
    clock: Clock,
    stop: threading.Event,
    bound_s: float = VERIFY_S,
) -> tuple[Outcome, Snapshot | None]:
    """Look until the effect is there or the bound is reached; gives the verdict and what was seen last."""
    deadline = clock.monotonic() + bound_s
    while True:
        seen = _look(source, resource_id)
        verdict = _judge(operation, before, seen)
        if verdict.status == "verified" or clock.monotonic() >= deadline:
            return verdict, seen
        if clock.wait(stop, POLL_S):
            return Outcome(status="unverified", evidence_summary="the runtime ended while it looked"), seen


def _look(source: Reads, resource_id: str) -> Snapshot | None:
    try:
        resource = source.live(resource_id)
    except EngineError:
        return None
    return None if resource is None else Snapshot.of(resource)


def _judge(operation: str, before: Snapshot, seen: Snapshot | None) -> Outcome:
    if seen is None:
        return Outcome(status="unverified", evidence_summary="the container could not be read")
    told = f"state {seen.state}, health {seen.health or 'none'}, started {seen.started_at}"
    if operation == "stop":
        return Outcome(status="verified" if seen.state == "exited" else "failed", evidence_summary=told)
    newer = _started(seen) > _started(before)
    if seen.state != "running" or not newer:
        return Outcome(status="failed", evidence_summary=f"still failing: {told}")
    if seen.health in ("", "healthy"):
        return Outcome(status="verified", evidence_summary=told)
    if seen.health == "starting":
        return Outcome(status="unverified", evidence_summary=f"inconclusive: {told}")
    return Outcome(status="failed", evidence_summary=f"still failing: {told}")


def _started(snapshot: Snapshot) -> int:
    try:
        return from_rfc3339(snapshot.started_at)
    except ValueError:
        return 0
