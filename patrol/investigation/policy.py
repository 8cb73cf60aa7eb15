"""Which findings are investigated, and when again (reference runtime, section 6)."""

from __future__ import annotations

from patrol.clock import NS, from_rfc3339
from patrol.records import Finding

LEVELS = frozenset({"approval", "assisted", "full"})
SETTLED = frozenset(
    ("fix_queued", "fix_verified", "resolved", "fix_rejected", "cannot_fix", "needs_attention")
) | {"fix_verification_unknown"}
ATTEMPTS = 3
COOLDOWN_S = 3600
COOLDOWN_TIMED_OUT_S = 600
BUSY = ("pending", "running")


def should_investigate(finding: Finding, level: str, now_ns: int) -> bool:
    """Whether an active finding is due: the mode permits it, it is not settled, nor tried too often."""
    if level not in LEVELS or not finding.active:
        return False
    if finding.investigation_outcome in SETTLED or finding.investigation_status in BUSY:
        return False
    if finding.investigation_attempts >= ATTEMPTS:
        return False
    if finding.last_investigated_at is None:
        return True
    timed_out = finding.investigation_outcome == "timed_out"
    pause_s = COOLDOWN_TIMED_OUT_S if timed_out else COOLDOWN_S
    return now_ns - from_rfc3339(finding.last_investigated_at) >= pause_s * NS
