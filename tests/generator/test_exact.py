"""Exact comparisons: equal to scipy where scipy has the case, whole and symmetric everywhere."""

from __future__ import annotations

import pytest
from campaigns import NOW, Campaign, Tree
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import fisher_exact

from generator.check import check_tree
from generator.classes import QualificationClass
from generator.cohort import Track
from generator.comparing import Verdict, pairings, rank_ranges
from generator.exact import Stratum, exact_p, holm, smallest_p
from generator.view import SiteView

PULSE = Campaign(pulse_version="6.2.0")


def view_of(tree: Tree) -> SiteView:
    verdict = check_tree(tree.root, NOW)
    assert verdict.registry is not None, verdict.findings
    return SiteView(verdict.registry, NOW)


@st.composite
def strata(draw: st.DrawFn) -> Stratum:
    first, second = draw(st.integers(1, 12)), draw(st.integers(1, 12))
    return Stratum(draw(st.integers(0, first)), first, draw(st.integers(0, second)), second)


@settings(deadline=None, max_examples=200)
@given(strata())
def test_one_stratum_is_fishers_exact_test(one: Stratum) -> None:
    table = [
        [one.first_hits, one.first_trials - one.first_hits],
        [one.second_hits, one.second_trials - one.second_hits],
    ]
    assert exact_p([one]) == pytest.approx(fisher_exact(table).pvalue, rel=1e-6)


@settings(deadline=None, max_examples=200)
@given(st.lists(strata(), min_size=1, max_size=5))
def test_swapping_the_sides_changes_nothing(several: list[Stratum]) -> None:
    swapped = [
        Stratum(one.second_hits, one.second_trials, one.first_hits, one.first_trials) for one in several
    ]
    assert exact_p(several) == exact_p(swapped)
    assert 0 < exact_p(several) <= 1
    assert smallest_p(several) <= exact_p(several) or exact_p(several) == 1


def test_a_difference_within_strata_is_seen_where_the_totals_hide_it() -> None:
    # The totals are 10 of 20 on both sides; within each scenario the first side is far ahead or absent.
    apart = [Stratum(9, 10, 1, 10), Stratum(9, 10, 1, 10)]
    assert exact_p(apart) < 1e-5
    assert exact_p([Stratum(10, 20, 10, 20)]) == 1


def test_nothing_shared_cannot_be_compared() -> None:
    with pytest.raises(ValueError, match="nothing is shared"):
        exact_p([])


@pytest.mark.parametrize("bad", [(3, 2, 0, 1), (-1, 2, 0, 1), (0, 0, 0, 1), (0, 1, 2, 1)])
def test_an_impossible_stratum_is_refused(bad: tuple[int, int, int, int]) -> None:
    with pytest.raises(ValueError, match="0 <= hits <= trials"):
        Stratum(*bad)


def test_holm_orders_and_never_lowers() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx((0.03, 0.06, 0.06))
    assert holm([]) == ()
    assert holm([0.9, 0.8]) == (1.0, 1.0)


def test_a_better_model_is_told_apart_and_the_ranks_say_so(tree: Tree) -> None:
    every = tuple(manifest.id for manifest in tree.catalogue.track("watch"))
    tree.add(PULSE, scenarios=every, model="a:good", repeats=5, seed="1")
    tree.add(PULSE, scenarios=every, model="b:bad", repeats=5, seed="2", passes=lambda _, index: index < 1)
    tree.add(PULSE, scenarios=every, model="c:good", repeats=5, seed="3")
    (board,) = view_of(tree).tables(Track.WATCH, QualificationClass.TESTED, reference=False)
    rows = board.rows
    pools = [row.pool for row in rows]
    pairs = pairings(pools)
    verdicts = {(pair.first.model.name, pair.second.model.name): pair.verdict for pair in pairs}
    assert verdicts[("a:good", "c:good")] is Verdict.ALIKE
    assert {verdict for names, verdict in verdicts.items() if "b:bad" in names} == {Verdict.FIRST}
    ranges = {key.model: span for key, span in rank_ranges(pools, pairs).items()}
    assert sorted(ranges.values()) == [(1, 2), (1, 2), (3, 3)]
    assert [(row.best, row.worst) for row in rows] == [(1, 2), (1, 2), (3, 3)]


def test_too_small_a_sample_tells_nothing(tree: Tree) -> None:
    tree.add(PULSE, scenarios=("watch.docker-unhealthy",), model="a:one", repeats=2, seed="1")
    tree.add(PULSE, scenarios=("watch.docker-unhealthy",), model="b:two", repeats=2, seed="2")
    tree.add(PULSE, scenarios=("watch.healthy-mixed",), model="c:other", repeats=2, seed="3")
    pools = view_of(tree).pools
    assert {pair.verdict for pair in pairings(pools)} == {Verdict.TOO_FEW}
    assert set(rank_ranges(pools, pairings(pools)).values()) == {(1, 3)}
