"""Leaderboards: the rows of one cohort in one class, ranked by what is certain rather than by what was
seen.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from contract.timestamps import Timestamp
from generator.classes import QualificationClass
from generator.cohort import Cohort
from generator.comparing import pairings, rank_ranges
from generator.pool import Pool
from generator.tally import Tally
from generator.wording import NS, day

DAY_NS = 86_400 * NS


@dataclass(frozen=True, slots=True)
class LeaderboardRow:
    """One model on one route: its pooled numbers, its coverage of the track, its expiry, and its rank (0: not
    ranked) with the best and the worst one that the exact comparisons leave open.
    """

    pool: Pool
    qualification: QualificationClass
    total: Tally
    covered: int
    scenarios: int
    last_run: str
    expires: str
    expired: bool
    rank: int = 0
    tied: bool = False
    best: int = 0
    worst: int = 0

    @property
    def complete(self) -> bool:
        """Whether every scenario of the track has runs."""
        return self.covered == self.scenarios


@dataclass(frozen=True, slots=True)
class Board:
    """One table: a class in a cohort, as pinned or with overrides; `rows` are sorted and never empty."""

    cohort: Cohort
    qualification: QualificationClass
    custom: bool
    rows: tuple[LeaderboardRow, ...]


def row_of(pool: Pool, scenarios: Sequence[str], as_of_ns: int, valid_days: int) -> LeaderboardRow:
    """The unranked row of a pool in its track's scenarios; it is out of date `valid_days` after its last
    run.
    """
    total = pool.total
    last = Timestamp(total.last_run).instant_ns
    until = last + valid_days * DAY_NS
    seen = {run.scenario_id for run in pool.runs}
    return LeaderboardRow(
        pool=pool,
        qualification=QualificationClass.TESTED,
        total=total,
        covered=len(seen & set(scenarios)),
        scenarios=len(scenarios),
        last_run=day(last),
        expires=day(until),
        expired=until < as_of_ns,
    )


def ranked(rows: Iterable[LeaderboardRow]) -> tuple[LeaderboardRow, ...]:
    """Sort by the lower bound of the pass rate; equal bounds share a rank; incomplete coverage has none."""
    ordered = sorted(rows, key=_order)
    result: list[LeaderboardRow] = []
    for complete, group in groupby(ordered, key=lambda row: row.complete):
        for _, tied in groupby(group, key=lambda row: row.total.pass_rate.lower):
            rank = len(result) + 1 if complete else 0
            equals = list(tied)
            result.extend(replace(row, rank=rank, tied=len(equals) > 1 and complete) for row in equals)
    return _with_ranges(result)


def _with_ranges(rows: Sequence[LeaderboardRow]) -> tuple[LeaderboardRow, ...]:
    pools = [row.pool for row in rows if row.rank]
    spans = rank_ranges(pools, pairings(pools))
    return tuple(
        replace(row, best=spans[row.pool.key][0], worst=spans[row.pool.key][1]) if row.rank else row
        for row in rows
    )


def _order(row: LeaderboardRow) -> tuple[object, ...]:
    total = row.total
    tokens = total.p95_input_tokens + total.p95_output_tokens
    cost = (total.p95_cost_usd is None, total.p95_cost_usd or 0.0)
    return (
        not row.complete,
        -total.pass_rate.lower,
        total.p95_latency_ms,
        tokens,
        cost,
        row.pool.model.name,
        row.pool.key,
    )


def boards(rows: Iterable[LeaderboardRow]) -> tuple[Board, ...]:
    """Every table that is not empty, newest cohort first, as pinned before custom."""
    tables: dict[tuple[Cohort, QualificationClass, bool], list[LeaderboardRow]] = {}
    for row in rows:
        key = (row.pool.cohort, row.qualification, row.pool.is_custom)
        tables.setdefault(key, []).append(row)
    found = [Board(*key, rows=ranked(members)) for key, members in tables.items()]
    found.sort(key=lambda board: (board.cohort, board.custom))
    found.sort(key=lambda board: max(row.last_run for row in board.rows), reverse=True)
    return tuple(found)
