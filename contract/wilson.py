"""Wilson score intervals: how sure a rate of runs is (evidence format, section 4.1)."""

from __future__ import annotations

from functools import lru_cache
from math import sqrt
from typing import Final

from contract.errors import PatrolQualificationError
from contract.record import Record

Z95: Final = 1.959963984540054  # two-sided 95 %
FLOOR: Final = 0.85  # what every qualification gate demands of a lower bound
_Z2: Final = Z95 * Z95
_FURTHEST: Final = 1 << 20


class IntervalError(PatrolQualificationError, ValueError):
    """Counts are no sample: more successes than trials, or fewer than none."""


class ConfidenceInterval(Record):
    """A rate of `success` in `total` with its two-sided 95 % limits, all in 0..1."""

    estimate: float
    lower: float
    upper: float
    success: int
    total: int


def wilson_bounds(successes: int, trials: int) -> tuple[float, float]:
    """Lower and upper limit of a rate, bit for bit as the format defines them.

    Raises IntervalError unless 0 <= successes <= trials and trials > 0.
    """
    if not 0 <= successes <= trials or not trials:
        raise IntervalError(f"{successes} of {trials} is no sample", hint="count each trial once")
    rate = successes / trials
    scale = 1 + _Z2 / trials
    centre = (rate + _Z2 / (2 * trials)) / scale
    margin = Z95 * sqrt((rate * (1 - rate) + _Z2 / (4 * trials)) / trials) / scale
    lower, upper = centre - margin, centre + margin
    return (lower if lower > 0.0 else 0.0, upper if upper < 1.0 else 1.0)


@lru_cache(maxsize=4096)
def wilson(successes: int, trials: int) -> ConfidenceInterval:
    """The interval as it is exchanged; without trials it is 0..1 around 1, and both counts are 0.

    Raises IntervalError unless 0 <= successes <= trials.
    """
    if trials <= 0:
        return ConfidenceInterval(estimate=1.0, lower=0.0, upper=1.0, success=0, total=0)
    lower, upper = wilson_bounds(successes, trials)
    return ConfidenceInterval(
        estimate=successes / trials, lower=lower, upper=upper, success=successes, total=trials
    )


def runs_needed(failures: int, floor: float = FLOOR) -> int:
    """The smallest sample that may hold `failures` failed runs and still has its lower bound at `floor`.

    Raises IntervalError for negative failures and for a floor that no sample reaches.
    """
    if failures < 0 or not 0 <= floor < 1:
        raise IntervalError(f"no sample with {failures} failures is bounded by {floor}")
    low, high = max(failures, 1), 2 * max(failures, 1)
    while wilson_bounds(high - failures, high)[0] < floor:
        low, high = high, high * 2
        if high > _FURTHEST:
            raise IntervalError(f"no sample with {failures} failures is bounded by {floor}")
    while low < high:
        middle = (low + high) // 2
        if wilson_bounds(middle - failures, middle)[0] >= floor:
            high = middle
        else:
            low = middle + 1
    return low
