"""How the controls investigate: look, read the disks, propose a restart if that is all there is, conclude."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from patrol.collect.projection import BAD_HEALTH, DOWN_STATES
from patrol.findings.keys import HEALTH
from patrol.investigation.narrative import SECTIONS
from patrol.loop.trace import PROPOSE
from patrol.providers.controls import QUERY, Item, Said, View

READ, CAPABILITIES = "pulse_read", "patrol_action_capabilities"
FULL_PERCENT = 95
SYSTEM_MOUNTS = ("/dev", "/sys", "/proc")


@dataclass(frozen=True, slots=True)
class Case:
    """What has been seen of one finding so far."""

    finding: Item
    mine: Item
    down: tuple[Item, ...]
    full: tuple[str, ...]
    offered: frozenset[str]

    @property
    def ident(self) -> str:
        return str(self.finding.get("resource_id", ""))

    @property
    def name(self) -> str:
        return str(self.finding.get("resource_name", ""))

    @property
    def restart_helps(self) -> bool:
        """A running, unhealthy container whose surroundings give no other reason."""
        unhealthy = self.mine.get("state") == "running" and self.mine.get("health") in BAD_HEALTH
        reasons = self.down or self.full or self.finding.get("key") != HEALTH
        return unhealthy and not reasons and "restart" in self.offered


def investigate(view: View) -> Said:
    """One step of an investigation, decided from the transcript alone."""
    case = _case(view)
    if not view.results(QUERY):
        get = {"action": "get", "resource_id": case.ident}
        return Said(calls=((QUERY, get), (QUERY, {"action": "topology"})))
    if not view.results(CAPABILITIES):
        ask = (CAPABILITIES, {"resource_id": case.ident})
        disks = {"action": "exec", "resource_id": case.ident, "command": "df"}
        running = case.mine.get("state") == "running" and not case.down
        return Said(calls=((READ, disks), ask) if running else (ask,))
    if case.restart_helps and not view.results(PROPOSE):
        return Said(calls=((PROPOSE, _proposal(case)),))
    return Said(text=_narrative(case))


def _case(view: View) -> Case:
    finding = view.opening.get("finding")
    known = finding if isinstance(finding, dict) else {}
    seen = view.items("resources")
    for _, answer in view.results(QUERY):
        listed = answer.get("resources")
        seen = [*(listed if isinstance(listed, list) else []), *seen]
    mine = next((one for one in seen if one.get("id") == known.get("resource_id")), {})
    targets = mine.get("healthcheck_targets")
    called = targets if isinstance(targets, list) else []
    down = {
        str(one["id"]): one for one in seen if one.get("name") in called and one.get("state") in DOWN_STATES
    }
    full = tuple(
        mount for _, answer in view.results(READ) for mount in full_mounts(str(answer.get("output", "")))
    )
    return Case(known, mine, tuple(down.values()), full, _offered(view))


def _offered(view: View) -> frozenset[str]:
    found = [answer.get("capabilities") for _, answer in view.results(CAPABILITIES)]
    return frozenset(str(one["name"]) for listed in found if isinstance(listed, list) for one in listed)


def full_mounts(table: str) -> Sequence[str]:
    """The mounts of its own memory that `df` shows as full, each with its numbers."""
    rows = [line.split() for line in table.splitlines()]
    return [
        f"{row[5]} ({row[2]} of {row[1]} KiB used)"
        for row in rows
        if len(row) == 6
        and row[0] == "tmpfs"
        and not row[5].startswith(SYSTEM_MOUNTS)
        and row[4].rstrip("%").isdigit()
        and int(row[4].rstrip("%")) >= FULL_PERCENT
    ]


def _proposal(case: Case) -> Item:
    return {
        "resource_id": case.ident,
        "causal_resource_id": case.ident,
        "capability_name": "restart",
        "reason": f"{case.name} runs, its health check fails, and nothing outside of it explains that",
    }


def _narrative(case: Case) -> str:
    health = str(case.mine.get("health") or "unknown")
    seen = f"{case.name} is {case.mine.get('state')} and its health check says {health}."
    if case.down:
        told = _dependency(case, seen)
    elif case.full:
        told = _storage(case, seen)
    else:
        told = _alone(case, seen)
    affected = f"{case.name} ({case.ident})"
    parts = (
        told[0],
        told[1],
        affected,
        told[2],
        "What was not observed is not claimed; a fresh look has to confirm.",
    )
    return "\n\n".join(f"### {name}\n{text}" for name, text in zip(SECTIONS, parts, strict=True))


def _dependency(case: Case, seen: str) -> tuple[str, str, str]:
    names = ", ".join(f"{one['name']} ({one['id']})" for one in case.down)
    states = ", ".join(str(one["state"]) for one in case.down)
    summary = f"{seen} It is unhealthy because a dependency that its check calls is not running ({states})."
    cause = f"The dependency {names} is stopped ({states}), and the health check calls it."
    return summary, cause, "Inspect the dependency and its logs, find out why it stopped, and start it again."


def _storage(case: Case, seen: str) -> tuple[str, str, str]:
    mounts = ", ".join(case.full)
    summary = f"{seen} Its own storage is full: no space is left on {mounts}."
    cause = f"In {case.name} ({case.ident}) the storage at {mounts} is exhausted, so writes fail there."
    return (
        summary,
        cause,
        "Inspect what fills that storage, make room in it or enlarge it, then check health again.",
    )


def _alone(case: Case, seen: str) -> tuple[str, str, str]:
    cause = f"Something inside of {case.name} ({case.ident}): its check fails and no dependency is down."
    return seen, cause, "Read its logs, inspect its health check, and restart it under approval."
