"""What one run has been allowed to change: only accepted outcomes ever enter here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from patrol.collect.projection import Identity
from patrol.records import Assessment, Finding, Resource


@dataclass(frozen=True, slots=True)
class RunView:
    """What a run looks at: everything collected, and the canonical ids that it may file findings on."""

    run_id: str
    resources: Mapping[str, Resource]
    identities: tuple[Identity, ...]
    in_scope: frozenset[str]

    @property
    def scoped(self) -> tuple[Resource, ...]:
        return tuple(one for one in self.resources.values() if one.id in self.in_scope)


@dataclass(slots=True)
class Ledger:
    """Accepted reports and verdicts of one run; dicts serve as ordered sets."""

    view: RunView
    presented: dict[str, Finding] = field(default_factory=dict)
    reported: dict[str, Finding] = field(default_factory=dict)
    new: dict[str, None] = field(default_factory=dict)
    reconfirmed: dict[str, None] = field(default_factory=dict)
    resolved: dict[str, None] = field(default_factory=dict)
    assessments: dict[str, Assessment] = field(default_factory=dict)
    rejected: int = 0

    def present(self, findings: Sequence[Finding]) -> None:
        """Findings that the model has been shown, and owes a verdict on."""
        for finding in findings:
            if finding.id not in self.new:
                self.presented.setdefault(finding.id, finding)

    @property
    def uncertain(self) -> tuple[str, ...]:
        return tuple(key for key, one in self.assessments.items() if one.verdict == "uncertain")

    @property
    def without_verdict(self) -> tuple[Finding, ...]:
        """Presented findings that still owe one; a fresh report of the same is as good as `present`."""
        return tuple(
            finding
            for key, finding in self.presented.items()
            if key not in self.assessments and key not in self.reported
        )

    @property
    def finding_ids(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.reported, *self.assessments)))

    def covered(self, resource_id: str, category: str) -> bool:
        """Whether this run has filed or confirmed a finding on that resource in that category."""
        confirmed = [self.presented[key] for key in self.reconfirmed if key in self.presented]
        return any(
            one.resource_id == resource_id and one.category == category
            for one in (*self.reported.values(), *confirmed)
        )
