"""The one type that says: every byte and every derived number of this bundle has been checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from contract.comparison import ModelQualification
from contract.contribution import ContributionBundle, ContributionRun
from contract.submission import Submission
from generator.cohort import Cohort
from generator.layout import Place

_SEAL: Final = object()


@dataclass(frozen=True, slots=True)
class VerifiedBundle:
    """A bundle that broke no rule. Only `generator.verify` makes one; gates and boards take nothing else.

    `digests` are those of its files by name, `verdicts` the recomputed ones of the certification gates.
    """

    place: Place
    digests: dict[str, str]
    contribution: ContributionBundle
    submission: Submission
    readme: str
    cohort: Cohort
    verdicts: tuple[ModelQualification, ...]
    sealed_by: object

    def __post_init__(self) -> None:
        if self.sealed_by is not _SEAL:
            raise TypeError("only verification makes a VerifiedBundle")

    @property
    def id(self) -> str:
        return self.place.id

    @property
    def page(self) -> str:
        return f"bundles/{self.id}.md"

    @property
    def runs(self) -> tuple[ContributionRun, ...]:
        return self.contribution.runs

    @property
    def overrides(self) -> tuple[tuple[str, str], ...]:
        """What differs from the pinned campaign, sorted; empty where nothing does."""
        return tuple(sorted(self.submission.overrides.items()))

    @property
    def environment_class(self) -> str:
        """Operating system, virtualisation and architecture; the accelerator's memory too where there is
        one.
        """
        seen = self.submission.environment
        parts = (seen.os, seen.virtualisation, seen.architecture, seen.accelerator_memory)
        return ", ".join(part for part in parts if part) or "not reported"


def seal(
    *,
    place: Place,
    digests: dict[str, str],
    contribution: ContributionBundle,
    submission: Submission,
    readme: str,
    cohort: Cohort,
    verdicts: tuple[ModelQualification, ...],
) -> VerifiedBundle:
    """Make a VerifiedBundle; for `generator.verify` alone, which has checked every rule before."""
    return VerifiedBundle(place, digests, contribution, submission, readme, cohort, verdicts, _SEAL)
