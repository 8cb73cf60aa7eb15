"""Whether a fault is really gone, asked of Docker and not of the model (reference runtime, section 6)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Protocol

from patrol.clock import NS, from_rfc3339
from patrol.collect.metrics import Thresholds, usage
from patrol.collect.projection import BAD_HEALTH, Inspected
from patrol.errors import EngineError
from patrol.findings.keys import HEALTH, RESTARTS
from patrol.records import DockerFacts, Finding, Resource

SETTLED_S = 60
LOOP_RESTARTS = 3


class Outcome(StrEnum):
    """What an independent look says about a fault."""

    GONE = "gone"
    FAILING = "still failing"
    UNKNOWN = "inconclusive"
    NO_VERIFIER = "no verifier"


class Live(Protocol):
    """A fresh look at one resource."""

    def live(self, resource_id: str) -> Resource | None:
        """The resource read now; None when it is gone. Raises EngineError."""

    def usage(self, resource_id: str) -> Inspected | None:
        """A fresh sample of its counters; None where there is none. Raises EngineError."""


def verify(finding: Finding, source: Live, now_ns: int, thresholds: Thresholds) -> Outcome:
    """Look at the resource of `finding` now; a source that does not answer is inconclusive, never gone."""
    try:
        if finding.key in ("cpu-high", "memory-high"):
            return _by_usage(finding, source, thresholds)
        if finding.key in BLIND:
            return Outcome.UNKNOWN
        verifier = VERIFIERS.get(finding.key)
        if verifier is None and "health" not in finding.key:
            return Outcome.NO_VERIFIER
        resource = source.live(finding.resource_id)
    except EngineError:
        return Outcome.UNKNOWN
    if resource is None or resource.docker is None:
        return Outcome.GONE
    return (verifier or _health)(resource.docker, now_ns)


def _health(facts: DockerFacts, _now_ns: int) -> Outcome:
    if facts.health == "healthy" and facts.container_state == "running":
        return Outcome.GONE
    return Outcome.FAILING if facts.health in BAD_HEALTH else Outcome.UNKNOWN


def _restarts(facts: DockerFacts, now_ns: int) -> Outcome:
    if facts.container_state == "restarting":
        return Outcome.FAILING
    if facts.container_state != "running":
        return Outcome.UNKNOWN
    settled = now_ns - from_rfc3339(facts.started_at) >= SETTLED_S * NS
    return Outcome.GONE if settled or facts.restart_count < LOOP_RESTARTS else Outcome.UNKNOWN


def _by_usage(finding: Finding, source: Live, thresholds: Thresholds) -> Outcome:
    seen = usage(source.usage(finding.resource_id))
    value, limit = (
        (seen.cpu, thresholds.cpu) if finding.key == "cpu-high" else (seen.memory, thresholds.memory)
    )
    if value is None:
        return Outcome.UNKNOWN
    return Outcome.FAILING if value > limit else Outcome.GONE


VERIFIERS: Mapping[str, Callable[[DockerFacts, int], Outcome]] = {
    HEALTH: _health,
    RESTARTS: _restarts,
    "storage-write-failed": _health,
}
# Faults that a plain Docker engine says nothing about.
BLIND = frozenset({"disk-high", "backup-stale", "backup-failed", "smart-failure", "guest-unreachable"})
