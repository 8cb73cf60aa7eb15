"""What an inventory cannot show of containers: restarts, and another health (lab format, section 9)."""

from __future__ import annotations

from dataclasses import dataclass

from contract.manifest import Manifest
from harness.lab.engine import ContainerView
from harness.lab.errors import MissingObjectError
from harness.lab.recorded import Recorded


@dataclass(frozen=True, slots=True)
class ContainerChange:
    """One member of a container's state that is no longer what it was when the faults were confirmed."""

    alias: str
    member: str
    before: str
    after: str


class Changes:
    """Remembers the containers' states and compares."""

    def __init__(self, recorded: Recorded, manifest: Manifest) -> None:
        self._recorded = recorded
        # These change by themselves, because that is their fault.
        self._restless = {
            predicate.target
            for fault in manifest.faults or ()
            for predicate in fault.oracle or ()
            if predicate.probe == "docker.restart_count"
        }
        self._before: dict[str, dict[str, str]] = {}

    def remember(self) -> None:
        """Take the present states as what later ones are compared with."""
        self._before = self._now()

    def since(self) -> tuple[ContainerChange, ...]:
        """Every difference between then and now, by alias; restart loops are left out."""
        now = self._now()
        return tuple(
            ContainerChange(alias, member, before, now[alias].get(member, ""))
            for alias, members in sorted(self._before.items())
            for member, before in members.items()
            if now[alias].get(member, "") != before
        )

    def _now(self) -> dict[str, dict[str, str]]:
        aliases = set(self._recorded.lab.resource_ids or {}) - self._restless
        return {alias: self._members(alias) for alias in sorted(aliases)}

    def _members(self, alias: str) -> dict[str, str]:
        try:
            return _members(self._recorded.inspect(alias))
        except MissingObjectError:
            return {}


def _members(view: ContainerView) -> dict[str, str]:
    return {
        "started_at": view.started_at,
        "restart_count": str(view.restart_count),
        "health": view.health,
    }
