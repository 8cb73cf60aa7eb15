"""Which models of one table can be told apart, and which ranks the evidence leaves open."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import combinations

from generator.exact import ALPHA, Stratum, exact_p, holm, smallest_p
from generator.pool import Pool, PoolKey


class Verdict(Enum):
    """What the shared scenarios say about two models."""

    FIRST = "better"
    SECOND = "worse"
    ALIKE = "no difference shown"
    TOO_FEW = "not enough evidence"


@dataclass(frozen=True, slots=True)
class Pairing:
    """Two pools over the scenarios that both ran: runs passed of runs, and the adjusted exact p (0..1)."""

    first: Pool
    second: Pool
    scenarios: int
    first_passed: int
    first_runs: int
    second_passed: int
    second_runs: int
    p: float
    verdict: Verdict


def pairings(pools: Sequence[Pool]) -> tuple[Pairing, ...]:
    """Every pair of the pools of one table, in their order; the p values are Holm's for this family."""
    counts = [(_counts(pool), pool) for pool in pools]
    strata = [_strata(a, b) for (a, _), (b, _) in combinations(counts, 2)]
    raw = [exact_p(one) if one else 1.0 for one in strata]
    pairs = combinations(pools, 2)
    return tuple(
        _pairing(first, second, one, p)
        for (first, second), one, p in zip(pairs, strata, holm(raw), strict=True)
    )


def _counts(pool: Pool) -> dict[str, tuple[int, int]]:
    runs = Counter(run.scenario_id for run in pool.runs)
    passed = Counter(run.scenario_id for run in pool.runs if run.passed)
    return {scenario: (passed[scenario], runs[scenario]) for scenario in sorted(runs)}


def _strata(first: dict[str, tuple[int, int]], second: dict[str, tuple[int, int]]) -> list[Stratum]:
    return [Stratum(*first[scenario], *second[scenario]) for scenario in first if scenario in second]


def _pairing(first: Pool, second: Pool, strata: Sequence[Stratum], p: float) -> Pairing:
    passed = sum(one.first_hits for one in strata), sum(one.second_hits for one in strata)
    runs = sum(one.first_trials for one in strata), sum(one.second_trials for one in strata)
    return Pairing(
        first, second, len(strata), passed[0], runs[0], passed[1], runs[1], p, _verdict(strata, p)
    )  # fmt: skip


def _verdict(strata: Sequence[Stratum], p: float) -> Verdict:
    if not strata or smallest_p(strata) > ALPHA:
        return Verdict.TOO_FEW
    if p > ALPHA:
        return Verdict.ALIKE
    ahead = sum(_lead(one) for one in strata)
    return Verdict.FIRST if ahead > 0 else Verdict.SECOND


def _lead(stratum: Stratum) -> float:
    """How far the first side is ahead of its expectation under equal odds, in hits."""
    trials = stratum.first_trials + stratum.second_trials
    hits = stratum.first_hits + stratum.second_hits
    return stratum.first_hits - hits * stratum.first_trials / trials


def rank_ranges(pools: Sequence[Pool], pairs: Sequence[Pairing]) -> dict[PoolKey, tuple[int, int]]:
    """The best and the worst rank that each pool may truly have: only shown differences order anything."""
    above: Counter[PoolKey] = Counter()
    below: Counter[PoolKey] = Counter()
    for pair in pairs:
        if pair.verdict in (Verdict.FIRST, Verdict.SECOND):
            better, worse = (
                (pair.first, pair.second) if pair.verdict is Verdict.FIRST else (pair.second, pair.first)
            )
            above[worse.key] += 1
            below[better.key] += 1
    return {pool.key: (1 + above[pool.key], len(pools) - below[pool.key]) for pool in pools}
