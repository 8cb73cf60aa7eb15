"""What only shows when bundles are laid beside each other: runs used twice, corrections of nothing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from contract.contribution import ContributionBundle
from contract.submission import Submission
from generator.findings import Findings
from generator.layout import CONTRIBUTION, SUBMISSION, Place


class Readable(Protocol):
    """A bundle whose documents could be read, verified or not."""

    @property
    def place(self) -> Place: ...
    @property
    def contribution(self) -> ContributionBundle: ...
    @property
    def submission(self) -> Submission: ...


def check_across(bundles: Sequence[Readable], findings: Findings) -> None:
    """Note every digest that stands twice, and every correction that does not name an own earlier bundle."""
    _check_reuse(bundles, findings)
    known = {bundle.place.id: bundle for bundle in bundles}
    for bundle in bundles:
        corrected = bundle.submission.supersedes
        if not corrected:
            continue
        earlier = known.get(corrected)
        path = bundle.place.path / SUBMISSION
        if earlier is None:
            findings.add("PQ061", path, f"there is no bundle {corrected}", "/supersedes")
        elif earlier.place.contributor != bundle.place.contributor or earlier is bundle:
            findings.add(
                "PQ061", path, f"{corrected} is no earlier bundle of the same contributor", "/supersedes"
            )


def _check_reuse(bundles: Iterable[Readable], findings: Findings) -> None:
    seen: dict[str, list[tuple[Readable, str]]] = defaultdict(list)
    for bundle in bundles:
        for digest, pointer in _digests(bundle):
            seen[digest].append((bundle, pointer))
    for digest, uses in seen.items():
        for bundle, pointer in uses if len(uses) > 1 else ():
            others = sorted(
                {str(other.place.path) for other, place in uses if (other, place) != (bundle, pointer)}
            )
            what = f"{digest[:16]} also stands in {', '.join(others)}"
            findings.add("PQ060", bundle.place.path / CONTRIBUTION, what, pointer)


def _digests(bundle: Readable) -> Iterator[tuple[str, str]]:
    for index, run in enumerate(bundle.contribution.runs):
        yield run.evidence_digest_sha256, f"/runs/{index}/evidence_digest_sha256"
        yield run.source_report_sha256, f"/runs/{index}/source_report_sha256"
        if run.source_replay_sha256:
            yield run.source_replay_sha256, f"/runs/{index}/source_replay_sha256"
