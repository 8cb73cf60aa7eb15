"""Which findings belong to a run: by its own list, by time on the lab's resources, never by text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from contract.report import Finding, PatrolRun
from contract.timestamps import Timestamp

SKEW_NS: Final = 2 * 10**9


def owned_findings(
    before: Sequence[Finding],
    after: Sequence[Finding],
    run: PatrolRun,
    resource_ids: Iterable[str],
    triggered_at: Timestamp,
) -> tuple[Finding, ...]:
    """The findings of `after` that the run made or renewed, sorted by id (runner, section 5).

    A finding that the run lists counts wherever it lies; an old one on the lab's resources does not.
    """
    listed = set(run.finding_ids or ())
    ours = set(resource_ids)
    earlier = {finding.id: finding for finding in before}
    owned = [
        finding
        for finding in after
        if finding.id in listed
        or (finding.resource_id in ours and _is_updated(finding, earlier.get(finding.id), triggered_at))
    ]
    return tuple(sorted(owned, key=lambda finding: finding.id))


def _is_updated(finding: Finding, earlier: Finding | None, triggered_at: Timestamp) -> bool:
    if earlier is not None:
        return finding.last_seen_at.instant_ns > earlier.last_seen_at.instant_ns
    newest = max(finding.last_seen_at.instant_ns, finding.detected_at.instant_ns)
    return newest > triggered_at.instant_ns - SKEW_NS
