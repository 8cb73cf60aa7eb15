"""The sentences that say what the evidence allows to say; pages take their claims from here and nowhere
else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from generator.board import LeaderboardRow
from generator.classes import QualificationClass
from generator.cohort import Track
from generator.wording import plural

REFERENCE_NOTE = (
    "Reference runtime: these runs show how the measurement works. They say nothing about Pulse, and can "
    "never be "
    "validated or certified."
)

SCOPE = {
    Track.WATCH: "detects faults and hands over; it does not own a diagnosis",
    Track.INVESTIGATION: "diagnoses read-only and proposes; it does not repair",
    Track.REMEDIATION: "carries a governed action through, and something else than the model verifies it",
}
"""How far a track reaches: what a model that holds it may be trusted with."""


class Standing(Enum):
    """How good the best evidence of a track is."""

    CERTIFIED = "certified"
    CANDIDATES = "candidates"
    TESTED = "tested"
    REFERENCE_ONLY = "reference-only"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class TrackAnswer:
    """What one track's card says: its standing, one line, one sentence of detail, and the models named."""

    track: Track
    standing: Standing
    headline: str
    detail: str
    named: tuple[LeaderboardRow, ...]


def answer(track: Track, rows: Sequence[LeaderboardRow]) -> TrackAnswer:
    """The claim that a track's rows allow; expired rows and custom campaigns support none."""
    pulse = [row for row in rows if not row.pool.cohort.is_reference]
    current = [row for row in pulse if not row.expired and not row.pool.is_custom]
    certified = tuple(row for row in current if row.qualification is QualificationClass.CERTIFIED)
    validated = tuple(row for row in current if row.qualification is QualificationClass.VALIDATED)
    if certified:
        return TrackAnswer(
            track, Standing.CERTIFIED, "Certified", "Recommended, within what was tested.", certified
        )
    if validated:
        return TrackAnswer(
            track, Standing.CANDIDATES, "Candidates", "Validated by the community; not certified.", validated
        )
    return _unqualified(track, rows, pulse)


def _unqualified(
    track: Track, rows: Sequence[LeaderboardRow], pulse: Sequence[LeaderboardRow]
) -> TrackAnswer:
    if pulse:
        count = plural(len({row.pool.model.id for row in pulse}), "model")
        detail = f"{count} tested; tested means measured, not found good."
        return TrackAnswer(track, Standing.TESTED, "No model qualifies yet", detail, ())
    if rows:
        count = plural(len({row.pool.model.id for row in rows}), "model")
        detail = f"{count} tried against the reference runtime only, which is not Pulse."
        return TrackAnswer(track, Standing.REFERENCE_ONLY, "No model qualifies yet", detail, ())
    return TrackAnswer(track, Standing.NOTHING, "Nothing measured yet", "No campaign has been submitted.", ())


def headline(answers: Sequence[TrackAnswer]) -> str:
    """The front page's answer to: which model can I point Patrol at?"""
    standings = {one.standing for one in answers}
    if Standing.CERTIFIED in standings:
        return "There are certified models: take one, for the track that it holds."
    if Standing.CANDIDATES in standings:
        return "None is certified yet. There are candidates that the community has validated."
    return "None yet that this site could recommend."


def explanation(answers: Sequence[TrackAnswer]) -> str:
    """One sentence below the headline: why the answer is what it is."""
    standings = {one.standing for one in answers}
    if standings & {Standing.CERTIFIED, Standing.CANDIDATES}:
        return "A claim reaches as far as the track and the platform that were tested, and no further."
    if Standing.TESTED in standings:
        return (
            "Models have been tested against Pulse, but no sample is yet large, clean and independent enough."
        )
    if Standing.REFERENCE_ONLY in standings:
        return (
            "So far models have only been tried against the reference runtime, a stand-in for Pulse. "
            "That shows that the measurement works, not how a model does with Pulse."
        )
    return "Nothing has been measured yet. The measurement stands ready."
