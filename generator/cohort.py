"""What may share a table: runs of one track, catalogue, Pulse version and harness revision."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from enum import Enum

REFERENCE_RUNTIME = "reference-patrol/"
"""Prefix of every version that the reference runtime gives in place of a Pulse version."""


class Track(Enum):
    """The three things that Patrol may be trusted with, in the order of the boards."""

    WATCH = "watch"
    INVESTIGATION = "investigation"
    REMEDIATION = "remediation"

    @property
    def title(self) -> str:
        return _TITLES[self]

    @property
    def page(self) -> str:
        return f"boards/{self.value}.md"


_TITLES = {Track.WATCH: "Watch", Track.INVESTIGATION: "Investigate", Track.REMEDIATION: "Act & verify"}


@dataclass(frozen=True, slots=True, order=True)
class Cohort:
    """A sample's frame: numbers of different cohorts are never compared."""

    track: str
    catalogue: str
    pulse_version: str
    harness_git_sha: str

    @property
    def is_reference(self) -> bool:
        """Whether Patrol was played by the reference runtime, which says nothing about Pulse."""
        return self.pulse_version.startswith(REFERENCE_RUNTIME)

    @property
    def id(self) -> str:
        """Twelve hexadecimal digits that name the cohort in links."""
        text = "\n".join((self.track, self.catalogue, self.pulse_version, self.harness_git_sha))
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    @property
    def title(self) -> str:
        what = "Reference runtime" if self.is_reference else "Pulse"
        version = self.pulse_version.removeprefix(REFERENCE_RUNTIME) or "of unknown version"
        return f"{what} {version}, harness {self.harness_git_sha[:7]}"
