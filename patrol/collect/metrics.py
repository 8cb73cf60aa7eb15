"""Percentages from Docker's own counters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from patrol.collect.projection import Inspected


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Above which a number is worth a word: percent, and hours for backups (reference runtime, 5.2)."""

    cpu: float = 70.0
    memory: float = 80.0
    disk: float = 75.0
    disk_critical: float = 95.0
    backup_hours: float = 48.0

    @classmethod
    def from_config(cls, **configured: float | None) -> Thresholds:
        """Each unset or zero field falls back to its default by itself."""
        return cls(**{name: value for name, value in configured.items() if value})


@dataclass(frozen=True, slots=True)
class Usage:
    """Percent of one container's share; None where Docker gave no number."""

    cpu: float | None
    memory: float | None


def usage(sample: Inspected | None) -> Usage:
    """CPU since the previous sample over all processors, and memory without reclaimable cache."""
    if sample is None:
        return Usage(None, None)
    return Usage(_cpu(sample), _memory(sample))


def _cpu(sample: Inspected) -> float | None:
    now, before = sample.get("cpu_stats"), sample.get("precpu_stats")
    total = _delta(now, before, "cpu_usage", "total_usage")
    system = _delta(now, before, "system_cpu_usage")
    if total is None or not system:
        return None
    processors = _at(now, "online_cpus") or 1
    return round(100.0 * total / system * processors, 1)


def _memory(sample: Inspected) -> float | None:
    memory = sample.get("memory_stats")
    used, limit = _at(memory, "usage"), _at(memory, "limit")
    if used is None or not limit:
        return None
    cache = _at(memory, "stats", "total_inactive_file") or _at(memory, "stats", "inactive_file") or 0
    return round(100.0 * max(used - cache, 0) / limit, 1)


def _delta(now: object, before: object, *path: str) -> float | None:
    later, earlier = _at(now, *path), _at(before, *path)
    return None if later is None or earlier is None else later - earlier


def _at(value: object, *path: str) -> float | None:
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
