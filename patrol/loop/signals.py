"""What successful tool outputs say by themselves, whatever a model made of them (reference runtime, 5.2)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from patrol.clock import NS, from_rfc3339
from patrol.collect.metrics import Thresholds
from patrol.loop.triage import Flag
from patrol.records import ToolCall

MOST_FLAGS = 20
FLAG_CATEGORIES = {
    "health": "reliability",
    "connectivity": "reliability",
    "reliability": "reliability",
    "backup": "backup",
    "anomaly": "general",
}
GOOD_DISKS = ("", "UNKNOWN", "PASSED", "OK")
GOOD_TASKS = ("ok", "success", "running")
Item = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Signal:
    """A fault that follows from data: where, of what category, how bad at least."""

    type: str
    resource_id: str
    resource_name: str
    category: str
    severity: str
    detail: str

    def as_json(self) -> dict[str, str]:
        return {name: getattr(self, name) for name in self.__slots__}


def detect(calls: Iterable[ToolCall], thresholds: Thresholds, now_ns: int) -> tuple[Signal, ...]:
    """Signals of the successful calls, one for each type and resource."""
    found: dict[tuple[str, str], Signal] = {}
    for call in calls:
        for signal in _of_call(call, thresholds, now_ns):
            found.setdefault((signal.type, signal.resource_id), signal)
    return tuple(found.values())


def from_flags(flags: Sequence[Flag]) -> tuple[Signal, ...]:
    """Triage flags of containers as signals, at most twenty."""
    return tuple(
        Signal("triage", flag.resource_id, flag.resource_name, category, flag.severity, flag.reason)
        for flag in flags[:MOST_FLAGS]
        if (category := FLAG_CATEGORIES.get(flag.category))
    )


def _of_call(call: ToolCall, thresholds: Thresholds, now_ns: int) -> list[Signal]:
    output = call.output.strip()
    if not call.success or not output or output.lower().startswith(("no ", "unavailable")):
        return []
    try:
        told, asked = json.loads(output), json.loads(call.input or "{}")
    except ValueError:
        return []
    if not isinstance(told, dict) or not isinstance(asked, dict):
        return []
    rule = RULES.get((call.tool_name, str(asked.get("type", "")).strip().lower()))
    return rule(told, thresholds, now_ns) if rule else []


def _performance(told: Item, thresholds: Thresholds, _now_ns: int) -> list[Signal]:
    found = []
    for item in _items(told, "resources"):
        for name, limit in (("cpu", thresholds.cpu), ("memory", thresholds.memory)):
            value = _average(item.get(name))
            if value > limit:
                found.append(_signal(f"high_{name}", item, "performance", "warning", f"{name} {value} %"))
    return found


def _average(numbers: object) -> float:
    if not isinstance(numbers, Mapping):
        return 0.0
    return _number(numbers.get("avg")) or _number(numbers.get("current"))


def _pools(told: Item, thresholds: Thresholds, _now_ns: int) -> list[Signal]:
    found = []
    for item in _items(told, "pools"):
        used = _number(item.get("usage"))
        if used > thresholds.disk:
            severity = "critical" if used > thresholds.disk_critical else "warning"
            found.append(_signal("high_disk", item, "capacity", severity, f"usage {used} %"))
    return found


def _disks(told: Item, _thresholds: Thresholds, _now_ns: int) -> list[Signal]:
    found = []
    for item in _items(told, "disks"):
        bad_health = str(item.get("health", "")).strip().upper() not in GOOD_DISKS
        critical = _number(item.get("uncorrectable")) > 0 or _number(item.get("pending")) > 0
        worn = critical or _number(item.get("reallocated")) > 0
        if bad_health or worn:
            severity = "critical" if bad_health or critical else "warning"
            found.append(
                _signal("smart_failure", item, "reliability", severity, f"health {item.get('health')}")
            )
    return found


def _backups(told: Item, thresholds: Thresholds, now_ns: int) -> list[Signal]:
    newest: dict[str, tuple[int, Item]] = {}
    for item in (*_items(told, "tasks"), *_items(told, "backups")):
        at = _moment(item.get("time"))
        key = str(item.get("resource_id", ""))
        if at is not None and (key not in newest or at > newest[key][0]):
            newest[key] = (at, item)
    return [signal for at, item in newest.values() if (signal := _backup(at, item, thresholds, now_ns))]


def _backup(at: int, item: Item, thresholds: Thresholds, now_ns: int) -> Signal | None:
    if now_ns - at > thresholds.backup_hours * 3600 * NS:
        return _signal("backup_stale", item, "backup", "warning", f"newest backup {item.get('time')}")
    status = str(item.get("status", "ok")).strip().lower()
    if status not in GOOD_TASKS:
        return _signal("backup_failed", item, "backup", "warning", f"task status {status}")
    return None


RULES: Mapping[tuple[str, str], Callable[[Item, Thresholds, int], list[Signal]]] = {
    ("pulse_metrics", "performance"): _performance,
    ("pulse_metrics", "disks"): _disks,
    ("pulse_storage", "disk_health"): _disks,
    ("pulse_storage", "pools"): _pools,
    ("pulse_storage", "backup_tasks"): _backups,
    ("pulse_storage", "backups"): _backups,
}


def _signal(kind: str, item: Item, category: str, severity: str, detail: str) -> Signal:
    resource_id = str(item.get("resource_id", item.get("id", "")))
    return Signal(kind, resource_id, str(item.get("name", "")), category, severity, detail)


def _items(told: Item, name: str) -> list[Item]:
    found = told.get(name)
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else 0.0


def _moment(value: object) -> int | None:
    try:
        return from_rfc3339(str(value))
    except ValueError:
        return None
