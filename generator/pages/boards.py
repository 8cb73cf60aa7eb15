"""One board per track: three classes, and the reference runtime apart from them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from generator import claims
from generator.board import Board
from generator.classes import BOARD_ORDER, QualificationClass
from generator.cohort import Track
from generator.render import Page, Renderer
from generator.view import SiteView


@dataclass(frozen=True, slots=True)
class Table:
    """A board with the name that assistive technology reads."""

    board: Board
    label: str


@dataclass(frozen=True, slots=True)
class Section:
    """One section of a board page: its tables, or why there are none."""

    title: str
    note: str
    prefix: str
    headline: str
    reason: str
    tables: tuple[Table, ...]


def board_pages(view: SiteView, renderer: Renderer) -> Iterator[Page]:
    """Render the three boards."""
    for track in Track:
        sections = [_class_section(view, track, one) for one in BOARD_ORDER]
        reference = _tables(view, track, QualificationClass.TESTED, reference=True)
        if reference:
            sections.append(
                Section("Reference runtime: tested", claims.REFERENCE_NOTE, "", "", "", reference)
            )
        yield renderer.page(
            track.page,
            "board.md.j2",
            track.title,
            wide=True,
            description=f"Leaderboard of the track {track.title}: models, intervals, failures, cost.",
            track=track,
            scope=claims.SCOPE[track],
            manifests=[
                s.manifest for s in view.registry.catalogues.present if s.manifest.track == track.value
            ],
            sections=sections,
        )


def _class_section(view: SiteView, track: Track, one: QualificationClass) -> Section:
    subject = "" if one is QualificationClass.CERTIFIED else " against Pulse"
    return Section(
        title=one.title,
        note="",
        prefix="",
        headline=f"No model is {one.title.lower().replace('pulse', 'Pulse')}{subject} on this track.",
        reason=_why_empty(view, track, one),
        tables=_tables(view, track, one, reference=False),
    )


def _tables(view: SiteView, track: Track, one: QualificationClass, *, reference: bool) -> tuple[Table, ...]:
    return tuple(
        Table(board, f"{one.title}, {track.title}, {board.cohort.title}{', custom' if board.custom else ''}")
        for board in view.tables(track, one, reference=reference)
    )


def _why_empty(view: SiteView, track: Track, one: QualificationClass) -> str:
    if one is QualificationClass.CERTIFIED:
        return f"{one.needs} No certifier key has been made yet, so no certificate can exist."
    if one is QualificationClass.VALIDATED:
        return f"{one.needs} No challenge has been issued yet."
    if view.rows[track]:
        return (
            "All runs so far went against the reference runtime, which is not Pulse. They stand below, apart."
        )
    return "Nobody has submitted a campaign of this track against a Pulse server yet."
