"""The three classes, what each means, and why one may stand empty."""

from __future__ import annotations

from enum import Enum


class QualificationClass(Enum):
    """A class is derived from verified evidence, never declared."""

    TESTED = "community-tested"
    VALIDATED = "community-validated"
    CERTIFIED = "pulse-certified"

    @property
    def title(self) -> str:
        return _TITLES[self]

    @property
    def meaning(self) -> str:
        return _MEANINGS[self]

    @property
    def needs(self) -> str:
        return _NEEDS[self]


BOARD_ORDER = (QualificationClass.CERTIFIED, QualificationClass.VALIDATED, QualificationClass.TESTED)

_TITLES = {
    QualificationClass.TESTED: "Community tested",
    QualificationClass.VALIDATED: "Community validated",
    QualificationClass.CERTIFIED: "Pulse certified",
}
_MEANINGS = {
    QualificationClass.TESTED: (
        "Somebody ran it and the evidence is consistent. It says nothing about how good it is."
    ),
    QualificationClass.VALIDATED: (
        "Unrelated people on different machines found it reliable, with enough runs to be sure."
    ),
    QualificationClass.CERTIFIED: (
        "Every single run of a complete campaign in Pulse's own lab passed, and certifiers signed it."
    ),
}
_NEEDS = {
    QualificationClass.TESTED: "Needs one bundle that the checker accepts.",
    QualificationClass.VALIDATED: (
        "Needs, on every scenario of the track, Wilson lower bounds of at least 85 % for pass rate and "
        "fault recall, "
        "no false positive and no hard failure, from at least three unrelated contributors in two kinds of "
        "environment, each with a challenge issued beforehand."
    ),
    QualificationClass.CERTIFIED: (
        "Needs a complete pinned campaign in Pulse's own lab in which every run passes, and a certificate "
        "signed by "
        "the required certifiers."
    ),
}
