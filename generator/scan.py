"""Walks all texts of a bundle: names must be plain, texts visible, and nothing may give anything private
away.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from contract.contribution import ContributionBundle
from contract.contribution_consistency import is_unscored
from contract.record import Record
from generator.findings import Findings
from generator.layout import CONTRIBUTION, README, SUBMISSION
from generator.load import Blob
from generator.parse import ParsedBundle
from generator.texts import invisible, is_plain_name, private

NAMES = ("scenario_id", "track", "model", "provider", "harness_git_sha", "pulse_version")
_STRING = re.compile(rb'"([^"]*)"')
_DIGEST = re.compile(rb"[0-9a-f]{64}")
MAY_BE_EMPTY = frozenset({"provider", "pulse_version"})


def scan(parsed: ParsedBundle, files: Mapping[str, Blob], findings: Findings) -> None:
    """Note every name and text of a bundle that must not be published as it is."""
    place = parsed.place.path
    _check_names(parsed.contribution, place / CONTRIBUTION, findings)
    for name, record in ((CONTRIBUTION, parsed.contribution), (SUBMISSION, parsed.submission)):
        if not _is_harmless(files[name].data):
            for pointer, text in _texts(record, ""):
                _check_text(text, place / name, pointer, findings)
    _check_text(parsed.readme, place / README, "", findings, lines=True)


def _is_harmless(document: bytes) -> bool:
    """Whether a document as a whole holds nothing that any of its texts could be refused for.

    Nearly every document does, and one search over its distinct texts is many times quicker.
    """
    if not document.isascii() or b"\\" in document:
        return False
    distinct = {text for text in _STRING.findall(document) if not _DIGEST.fullmatch(text)}
    return not private(b"\n".join(sorted(distinct)).decode("ascii"))


def _check_names(contribution: ContributionBundle, path: PurePosixPath, findings: Findings) -> None:
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
    text: str, path: PurePosixPath, pointer: str, findings: Findings, *, lines: bool = False
) -> None:
    if wrong := invisible(text, lines=lines):
        findings.add("PQ081", path, wrong, pointer)
    if leak := private(text):
        findings.add("PQ082", path, f"holds what looks like {leak}", pointer)
