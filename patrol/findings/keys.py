"""The identity of a finding (reference runtime, section 6)."""

from __future__ import annotations

import hashlib
import re

HEALTH = "health-check-failed"
RESTARTS = "restart-loop"
_ALIASES = {
    HEALTH: (
        "container-unhealthy unhealthy-container healthcheck-failed health-check-failure healthcheck-failure "
        "health-check-failing healthcheck-failing container-health unhealthy container-health-check-failed"
    ),
    RESTARTS: "restart-looping container-restart-loop crash-loop crashloop crash-looping restarting",
    "cpu-high": "high-cpu high-cpu-usage cpu-usage-high",
    "memory-high": "high-memory high-memory-usage memory-usage-high",
    "disk-high": "high-disk high-disk-usage disk-usage-high disk-full",
    "backup-stale": "stale-backup backup-old",
    "backup-failed": "failed-backup backup-failure",
    "storage-write-failed": "write-failed no-space storage-full",
}
CANONICAL = {alias: key for key, aliases in _ALIASES.items() for alias in aliases.split()}


def normalise_key(key: str) -> str:
    """Lower case, words joined by hyphens, known synonyms made one."""
    plain = re.sub(r"[^a-z0-9]+", "-", key.lower()).strip("-")
    return CANONICAL.get(plain, plain)


def finding_id(resource_id: str, category: str, key: str) -> str:
    """16 hex digits: the first 8 bytes of SHA-256 over `<resource>:<category>:<normalised key>`."""
    text = f"{resource_id}:{category}:{normalise_key(key)}"
    return hashlib.sha256(text.encode()).hexdigest()[:16]
