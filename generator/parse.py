"""From a bundle's bytes to its typed documents, without judging what they say."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TypeVar

from contract.contribution import SCHEMA_VERSION as CONTRIBUTION_VERSION
from contract.contribution import ContributionBundle
from contract.faults import DocumentError, Fault
from contract.record import Record, decode_strict
from contract.submission import SCHEMA_VERSION as SUBMISSION_VERSION
from contract.submission import Submission
from generator.findings import Findings
from generator.layout import CONTRIBUTION, README, SUBMISSION, Place
from generator.load import Blob, LoadedBundle

R = TypeVar("R", bound=Record)
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
CLASS_MEMBERS = ("/class", "/qualification_class", "/badge")


@dataclass(frozen=True, slots=True)
class ParsedBundle:
    """A bundle whose three documents could be read; nothing they say has been verified."""

    place: Place
    contribution: ContributionBundle
    submission: Submission
    readme: str


def parse(loaded: LoadedBundle, findings: Findings) -> ParsedBundle | None:
    """Read the three documents of a bundle; None, with findings, when any cannot be read."""
    place = loaded.place
    contribution = _record(loaded, CONTRIBUTION, ContributionBundle, CONTRIBUTION_VERSION, findings)
    submission = _record(loaded, SUBMISSION, Submission, SUBMISSION_VERSION, findings)
    readme = loaded.files.get(README)
    text = None if readme is None else _text(readme, place.path / README, findings)
    if contribution is None or submission is None or text is None:
        return None
    return ParsedBundle(place, contribution, submission, text)


def _text(blob: Blob, path: PurePosixPath, findings: Findings) -> str | None:
    if blob.data.startswith(BYTE_ORDER_MARK):
        findings.add("PQ030", path, "begins with a byte-order mark")
        return None
    try:
        return blob.data.decode()
    except UnicodeDecodeError as error:
        findings.add("PQ030", path, f"byte {error.start} is not valid UTF-8")
        return None


def _record(loaded: LoadedBundle, name: str, record: type[R], version: str, findings: Findings) -> R | None:
    blob = loaded.files.get(name)
    path = loaded.place.path / name
    if blob is None or _text(blob, path, findings) is None:
        return None
    try:
        value = decode_strict(record, blob.data)
    except DocumentError as error:
        for fault in error.faults:
            findings.add(_rule_of(fault), path, fault.message, fault.where)
        return None
    except RecursionError:
        findings.add("PQ030", path, "is nested too deeply")
        return None
    stated = getattr(value, "schema_version", "")
    if stated != version:
        findings.add(
            "PQ032", path, f"is of version {stated!r}, this rule set knows {version!r}", "/schema_version"
        )
        return None
    return value


def _rule_of(fault: Fault) -> str:
    if not fault.where:
        return "PQ030"
    return "PQ033" if fault.where in CLASS_MEMBERS else "PQ031"
