"""What an action means for the finding that it came from (reference runtime, section 10.7)."""

from __future__ import annotations

from patrol.actions.checks import Guard
from patrol.actions.records import Audit
from patrol.clock import rfc3339
from patrol.collect.metrics import Thresholds
from patrol.findings.verifiers import Outcome, verify

OUTCOMES = {"verified": "fix_verified", "failed": "fix_verification_failed"}


def tell_finding(guard: Guard, audit: Audit, outcome: str) -> None:
    """Note the outcome; resolve only what was verified and what its own verifier holds to be gone."""
    finding = guard.store.finding(audit.origin.finding_id)
    if finding is None:
        return
    now_ns = guard.clock.now_ns()
    changes: dict[str, object] = {"investigation_outcome": outcome, "loop_state": outcome}
    repaired = outcome == "fix_verified" and finding.active
    if repaired and verify(finding, guard.collector, now_ns, Thresholds()) is Outcome.GONE:
        changes |= {"resolved_at": rfc3339(now_ns), "resolve_reason": f"repaired by action {audit.id}"}
    guard.store.amend_finding(finding.id, **changes)
