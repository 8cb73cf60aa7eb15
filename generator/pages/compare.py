"""Which models can be told apart: every pair of a table, tested exactly on the scenarios that both ran."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from generator.board import LeaderboardRow
from generator.cohort import Cohort, Track
from generator.comparing import Pairing, Verdict, pairings
from generator.exact import ALPHA
from generator.render import Page, Renderer
from generator.view import SiteView

COMPARED = 10
"""How many models of a table are compared with each other; more would bury the reader in pairs."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """The pairs of one cohort under the same overrides; `left_out` models stand further down the table."""

    track: Track
    cohort: Cohort
    custom: str
    pairs: tuple[Pairing, ...]
    left_out: int

    @property
    def told_apart(self) -> int:
        """How many pairs show a difference."""
        return sum(pair.verdict in (Verdict.FIRST, Verdict.SECOND) for pair in self.pairs)


def compare_page(view: SiteView, renderer: Renderer) -> Page:
    """Render the comparison of every table with at least two models."""
    return renderer.page(
        "compare.md",
        "compare.md.j2",
        "Compare models",
        wide=True,
        description="Pairs of models, tested exactly on the scenarios that both ran.",
        comparisons=list(_comparisons(view)),
        alpha=ALPHA,
        compared=COMPARED,
    )


def _comparisons(view: SiteView) -> Iterator[Comparison]:
    for track in Track:
        for rows in _families(view, track).values():
            if len(rows) > 1:
                first = rows[0].pool
                pairs = pairings([row.pool for row in rows[:COMPARED]])
                custom = ", ".join(f"{name}={value}" for name, value in first.key.overrides)
                yield Comparison(track, first.cohort, custom, pairs, max(0, len(rows) - COMPARED))


def _families(view: SiteView, track: Track) -> dict[object, list[LeaderboardRow]]:
    """The rows that may be compared: of one cohort under the same overrides, over all classes."""
    found: dict[object, list[LeaderboardRow]] = {}
    for board in view.boards[track]:
        for row in board.rows:
            found.setdefault((row.pool.cohort, row.pool.key.overrides), []).append(row)
    return found
