"""The front page: the answer in one screen, and how sure it is."""

from __future__ import annotations

from collections.abc import Sequence

from generator import claims
from generator.board import LeaderboardRow
from generator.claims import Standing, TrackAnswer
from generator.classes import BOARD_ORDER
from generator.cohort import Track
from generator.render import Page, Renderer
from generator.view import SiteView

NEWEST = 10
"""How many rows the front page shows; the boards hold all."""


def front_page(view: SiteView, renderer: Renderer) -> Page:
    """Render the front page."""
    answers = [claims.answer(track, view.rows[track]) for track in Track]
    rows = [row for track in Track for row in view.rows[track]]
    rows.sort(key=lambda row: row.pool.key)
    rows.sort(key=lambda row: (not row.pool.cohort.is_reference, row.last_run), reverse=True)
    present = view.registry.catalogues.present
    return renderer.page(
        "index.md",
        "front.md.j2",
        "Which model can I point Patrol at?",
        wide=True,
        description="Which language models are fit for Pulse Patrol, and how sure that is.",
        headline=claims.headline(answers),
        explanation=claims.explanation(answers),
        answers=answers,
        rows=rows[:NEWEST],
        titles={track.value: track.title for track in Track},
        scenario_counts={track: sum(s.manifest.track == track.value for s in present) for track in Track},
        missing=missing(view, answers, rows),
        classes=BOARD_ORDER,
    )


def missing(view: SiteView, answers: Sequence[TrackAnswer], rows: Sequence[LeaderboardRow]) -> list[str]:
    """What stands between the present evidence and a recommendation, the largest gap first."""
    lines = []
    if all(row.pool.cohort.is_reference for row in rows):
        lines.append(
            "Runs against a released Pulse server. Until there are some, no model can be more than a trial."
        )
    if not view.registry.policy.campaign.complete:
        lines.append("A pinned campaign: one Pulse release, one harness revision and one catalogue for all.")
    for one in answers:
        if one.standing is Standing.NOTHING:
            lines.append(f"Any verified run of the track {one.track.title}.")
    if not view.control_pools:
        lines.append("Calibration: no control of known behaviour has been run through the benchmark.")
    lines.append("Certifier keys. None has been made, so nothing can be certified.")
    return lines
