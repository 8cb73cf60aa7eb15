"""What a rule of the checker is, and the groups that rules stand in."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

TREE = "Files and folders"
SUMS = "Checksums"
PARSING = "Parsing"
CATALOGUE = "Catalogue and cohort"
NUMBERS = "Derived numbers"
ACROSS = "Across bundles"
SUBMISSION = "Submission"
TEXT = "Names and texts"
REGISTRY = "The registry's own files"


class Severity(Enum):
    """Whether a finding refuses the evidence or only tells something."""

    REFUSED = "refused"
    NOTICE = "notice"


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: stable id, name, what it demands, why, how to mend a breach, and a good and a bad example."""

    id: str
    name: str
    group: str
    demand: str
    why: str
    mend: str
    good: str
    bad: str
    severity: Severity = Severity.REFUSED

    @property
    def concerns_bundles(self) -> bool:
        """Whether a bundle can break it; the others are about the registry and the command line."""
        return self.group != REGISTRY and self.id != "PQ001"
