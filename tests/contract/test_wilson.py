"""Wilson intervals against the worked examples and against scipy."""

from __future__ import annotations

from typing import Any

import pytest
from runs import GOLDEN
from scipy.stats._result_classes import BinomTestResult

from contract.record import encode_compact
from contract.wilson import IntervalError, runs_needed, wilson, wilson_bounds


@pytest.mark.parametrize("case", GOLDEN["wilson"], ids=lambda case: f"{case['k']} of {case['n']}")
def test_an_interval_is_written_as_published(case: dict[str, Any]) -> None:
    assert encode_compact(wilson(case["k"], case["n"])).decode() == case["json"]


def test_intervals_equal_scipys_for_every_sample_up_to_400() -> None:
    for n in range(1, 401):
        for k in range(n + 1):
            theirs = BinomTestResult(k, n, "two-sided", k / n, 1.0).proportion_ci(0.95, "wilson")
            assert wilson_bounds(k, n) == pytest.approx((theirs.low, theirs.high), abs=1e-12), (k, n)


def test_22_is_the_smallest_perfect_sample_at_the_floor() -> None:
    assert runs_needed(0) == GOLDEN["min_perfect_runs"] == 22
    assert wilson(21, 21).lower < 0.85 <= wilson(22, 22).lower


def test_each_failed_run_costs_clean_runs() -> None:
    assert [runs_needed(failures) for failures in (1, 2, 3, 4)] == [34, 45, 55, 64]


@pytest.mark.parametrize("failures", range(8))
def test_runs_needed_is_the_least_that_holds(failures: int) -> None:
    least = runs_needed(failures)
    assert wilson_bounds(least - failures, least)[0] >= 0.85
    assert wilson_bounds(least - 1 - failures, least - 1)[0] < 0.85


def test_a_floor_of_nothing_needs_one_run() -> None:
    assert runs_needed(0, 0.0) == 1


@pytest.mark.parametrize(("successes", "trials"), [(2, 1), (-1, 3), (0, 0), (0, -1), (1, 0)])
def test_impossible_counts_have_no_bounds(successes: int, trials: int) -> None:
    with pytest.raises(IntervalError, match="no sample"):
        wilson_bounds(successes, trials)


def test_more_successes_than_trials_have_no_interval() -> None:
    with pytest.raises(IntervalError, match="3 of 2"):
        wilson(3, 2)


@pytest.mark.parametrize(("failures", "floor"), [(-1, 0.85), (0, 1.0), (0, -0.1), (0, 0.9999999)])
def test_a_bound_that_no_sample_reaches_is_refused(failures: int, floor: float) -> None:
    with pytest.raises(IntervalError, match="no sample"):
        runs_needed(failures, floor)
