"""The few statistics of the site, against what is known of them."""

from __future__ import annotations

import subprocess
import sys

import pytest

from generator.gates import clean_runs_needed
from generator.statistics import percentile95, upper_bound
from generator.wording import bound, interval, percent, seconds


@pytest.mark.parametrize(
    ("events", "trials", "expected"), [(0, 210, 0.0174), (0, 22, 0.1544), (0, 1, 0.975), (1, 22, 0.2284)]
)
def test_the_upper_bound_beside_a_zero_is_that_of_clopper_and_pearson(
    events: int, trials: int, expected: float
) -> None:
    assert upper_bound(events, trials) == pytest.approx(expected, abs=5e-5)


def test_the_closed_form_is_what_scipy_gives() -> None:
    from scipy.stats import beta

    for trials in (1, 2, 5, 22, 100, 999):
        assert upper_bound(0, trials) == pytest.approx(float(beta.ppf(0.975, 1, trials)), rel=1e-9)


def test_everything_failing_bounds_nothing() -> None:
    assert upper_bound(7, 7) == 1.0


@pytest.mark.parametrize(("events", "trials"), [(0, 0), (-1, 5), (6, 5)])
def test_no_sample_has_no_bound(events: int, trials: int) -> None:
    with pytest.raises(ValueError, match="a rate needs"):
        upper_bound(events, trials)


def test_no_zero_needs_scipy() -> None:
    code = "import sys, generator.statistics as s; s.upper_bound(0, 9); assert 'scipy' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    ("n", "index"), [(1, 0), (19, 18), (20, 18), (21, 19), (22, 20), (60, 56), (100, 94)]
)
def test_the_percentile_is_the_nearest_rank_of_the_format(n: int, index: int) -> None:
    assert percentile95([float(value) for value in reversed(range(n))]) == index


def test_nothing_has_no_percentile() -> None:
    assert percentile95([]) == 0


@pytest.mark.parametrize(("failures", "total"), [(0, 22), (1, 34), (2, 45), (3, 55), (4, 64)])
def test_failures_cost_clean_runs(failures: int, total: int) -> None:
    assert clean_runs_needed(failures, failures, 0.85) == total - failures
    assert clean_runs_needed(failures, total, 0.85) == 0
    assert clean_runs_needed(failures, total - 1, 0.85) == 1


def test_two_faults_a_run_need_half_the_runs() -> None:
    assert clean_runs_needed(0, 0, 0.85, per_run=2) == 11


def test_words_never_flatter() -> None:
    assert percent(1.0) == "100 %"
    assert percent(0.9999) == "99 %"
    assert percent(0.99999, 1) == "99.9 %"
    assert bound(0.01741) == "≤ 1.8 %"
    assert interval(0.0316, 0.5634) == "3–56 %"  # noqa: RUF001


@pytest.mark.parametrize(
    ("milliseconds", "text"),
    [
        (0, "0 ms"),
        (999, "999 ms"),
        (1000, "1.0 s"),
        (45_800, "45.8 s"),
        (119_999, "120.0 s"),
        (125_000, "2 min 05 s"),
    ],
)
def test_durations_read_well(milliseconds: int, text: str) -> None:
    assert seconds(milliseconds) == text
