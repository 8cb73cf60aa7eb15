"""What stands out before any model is asked: evidence, not findings (reference runtime, section 5.1)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass

from patrol.collect.projection import BAD_HEALTH
from patrol.records import DockerFacts, Resource

RESTARTS = 3


@dataclass(frozen=True, slots=True)
class Flag:
    """Something conspicuous about one resource."""

    resource_id: str
    resource_name: str
    category: str
    reason: str
    severity: str = "warning"

    def as_json(self) -> dict[str, str]:
        return asdict(self)


def triage(resources: Iterable[Resource]) -> tuple[Flag, ...]:
    """Flags of running containers; what is down belongs to the alerts and raises none."""
    return tuple(
        Flag(one.id, one.name, category, reason)
        for one in resources
        if one.docker is not None
        for category, reason in _reasons(one.docker)
    )


def _reasons(facts: DockerFacts) -> list[tuple[str, str]]:
    found = []
    if facts.container_state == "running" and facts.health in BAD_HEALTH:
        found.append(("health", f"health check says {facts.health}"))
    if facts.container_state in ("running", "restarting") and facts.restart_count >= RESTARTS:
        looping = facts.container_state == "restarting"
        proof = "restart loop confirmed" if looping else "repeated exits, loop unproved"
        found.append(("reliability", f"restart count {facts.restart_count}: {proof}"))
    return found
