"""Walks all texts of a bundle: names must be plain, texts visible, and nothing may give anything private
away.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from contract.contribution import ContributionBundle
from contract.contribution_consistency import is_unscored
from contract.record import Record
from contract.submission import Submission
from generator.findings import Findings
from generator.layout import CONTRIBUTION, README, SUBMISSION, Place
from generator.texts import invisible, is_plain_name, private

NAMES = ("scenario_id", "track", "model", "provider", "harness_git_sha", "pulse_version")
MAY_BE_EMPTY = frozenset({"provider", "pulse_version"})


def scan(
    contribution: ContributionBundle, submission: Submission, readme: str, place: Place, findings: Findings
) -> None:
    """Note every name and text of a bundle that must not be published as it is."""
    _check_names(contribution, place, findings)
    for name, record in ((CONTRIBUTION, contribution), (SUBMISSION, submission)):
        for pointer, text in _texts(record, ""):
            _check_text(text, place, name, pointer, findings)
    _check_text(readme, place, README, "", findings, lines=True)


def _check_names(contribution: ContributionBundle, place: Place, findings: Findings) -> None:
    path = place.path / CONTRIBUTION
    for index, run in enumerate(contribution.runs):
        named = [(f"/runs/{index}/{member}", getattr(run, member)) for member in NAMES]
        cost = run.score.cost
        for member in ("provider", "model", "billing_basis") if not is_unscored(run.score) else ():
            named.append((f"/runs/{index}/score/cost/{member}", getattr(cost, member)))
        for pointer, text in named:
            empty_allowed = pointer.rpartition("/")[2] in MAY_BE_EMPTY
            if not is_plain_name(text) and not (empty_allowed and not text):
                findings.add("PQ080", path, f"{text!r} is no plain name", pointer)


def _texts(value: Any, pointer: str) -> Iterator[tuple[str, str]]:
    """Yield every string below a value with its JSON pointer; the keys of maps count as texts too."""
    if isinstance(value, str):
        yield pointer, value
    elif isinstance(value, Record):
        for name in type(value).model_fields:
            yield from _texts(getattr(value, name), f"{pointer}/{name}")
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield pointer, name
            yield from _texts(inner, f"{pointer}/{name}")
    elif isinstance(value, tuple):
        for index, inner in enumerate(value):
            yield from _texts(inner, f"{pointer}/{index}")


def _check_text(
    text: str, place: Place, name: str, pointer: str, findings: Findings, *, lines: bool = False
) -> None:
    path = place.path / name
    if wrong := invisible(text, lines=lines):
        findings.add("PQ081", path, wrong, pointer)
    if leak := private(text):
        findings.add("PQ082", path, f"holds what looks like {leak}", pointer)
