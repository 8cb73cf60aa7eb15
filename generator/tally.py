"""Counts and intervals over a set of runs; the same sums as the comparison format's, plus what boards
show.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from contract.contribution import ContributionRun
from contract.contribution_consistency import is_unscored
from contract.wilson import ConfidenceInterval, wilson
from generator.statistics import percentile95, upper_bound

METERED = "metered_api"
"""The only billing basis whose cost is money per call; elsewhere a stored 0 means nothing."""


@dataclass(frozen=True, slots=True)
class Tally:
    """What a set of runs gives: counts, Wilson intervals, 95th percentiles (ms, tokens, US dollars)."""

    runs: int
    passed: int
    unscored: int
    pass_rate: ConfidenceInterval
    fault_recall: ConfidenceInterval
    false_positives: int
    false_positive_runs: int
    false_positive_bound: float
    hard_failure_runs: int
    p95_latency_ms: int
    p95_patrol_ms: int
    p95_input_tokens: int
    p95_output_tokens: int
    p95_cost_usd: float | None
    first_run: str
    last_run: str

    @property
    def has_faults(self) -> bool:
        return self.fault_recall.total > 0


def tally(runs: Sequence[ContributionRun]) -> Tally:
    """Sum up at least one run; cost is known only where every run was metered and priced.

    Raises ValueError for no runs: an empty sample has no rate.
    """
    if not runs:
        raise ValueError("no runs to sum up; refusing to call that a rate")
    passed = sum(run.passed for run in runs)
    noisy = sum(run.score.false_positives > 0 for run in runs)
    times = sorted(runs, key=lambda run: run.captured_at.instant_ns)
    found = sum(run.score.true_positives for run in runs)
    return Tally(
        runs=len(runs),
        passed=passed,
        unscored=sum(is_unscored(run.score) for run in runs),
        pass_rate=wilson(passed, len(runs)),
        fault_recall=wilson(found, sum(run.score.faults for run in runs)),
        false_positives=sum(run.score.false_positives for run in runs),
        false_positive_runs=noisy,
        false_positive_bound=upper_bound(noisy, len(runs)),
        hard_failure_runs=sum(run.failure_counts.hard_failures > 0 for run in runs),
        p95_latency_ms=int(percentile95([run.score.end_to_end_latency_ms for run in runs])),
        p95_patrol_ms=int(percentile95([run.score.patrol_latency_ms for run in runs])),
        p95_input_tokens=int(percentile95([run.score.input_tokens for run in runs])),
        p95_output_tokens=int(percentile95([run.score.output_tokens for run in runs])),
        p95_cost_usd=_cost(runs),
        first_run=str(times[0].captured_at),
        last_run=str(times[-1].captured_at),
    )


def _cost(runs: Sequence[ContributionRun]) -> float | None:
    costs = [run.score.cost for run in runs]
    if not all(cost.known and cost.billing_basis == METERED for cost in costs):
        return None
    return percentile95([cost.usd for cost in costs])
