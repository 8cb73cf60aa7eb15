"""From a bundle's bytes to a `VerifiedBundle`, or to every finding that speaks against it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TypeVar

from contract.checksums import ChecksumError, parse_sums
from contract.contribution import SCHEMA_VERSION as CONTRIBUTION_VERSION
from contract.contribution import ContributionBundle
from contract.contribution_check import check_contribution
from contract.faults import DocumentError, Fault
from contract.qualification import qualify
from contract.record import Record, decode_strict
from contract.submission import SCHEMA_VERSION as SUBMISSION_VERSION
from contract.submission import Submission
from generator import verified
from generator.cohort import Cohort
from generator.declaration import check_declaration
from generator.findings import Findings
from generator.frame import check_frame
from generator.layout import CONTRIBUTION, README, SEALED, SUBMISSION, SUMS, Place
from generator.load import Blob, LoadedBundle
from generator.registry import Grounds
from generator.scan import scan
from generator.verified import VerifiedBundle

R = TypeVar("R", bound=Record)
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
CLASS_MEMBERS = ("/class", "/qualification_class", "/badge")

RULE_OF_CODE = {
    "format-constant": "PQ034",
    "challenge": "PQ034",
    "run-incomplete": "PQ034",
    "identity": "PQ080",
    "run-digest": "PQ050",
    "run-consistency": "PQ051",
    "run-order": "PQ054",
    "comparison-numbers": "PQ052",
    "comparison-verdict": "PQ053",
}
"""Which rule of the checker a breach of the contract's own rules falls under."""
FRAMED = frozenset({"mixed-tracks", "unknown-manifest"})
"""What `generator.frame` has already judged, against every known catalogue instead of one."""


@dataclass(frozen=True, slots=True)
class ParsedBundle:
    """A bundle whose three documents could be read; nothing they say has been verified."""

    place: Place
    contribution: ContributionBundle
    submission: Submission
    readme: str


def verify(
    loaded: LoadedBundle, grounds: Grounds, now_ns: int, findings: Findings
) -> tuple[ParsedBundle | None, VerifiedBundle | None]:
    """Check one bundle against every rule that concerns it alone; what could be read, and what held.

    The second is None, with findings, when any rule is broken; the first when a document cannot be read.
    """
    before = len(findings)
    _check_sums(loaded, findings)
    parsed = _parse(loaded, findings)
    if parsed is None:
        return None, None
    cohort = _check_content(loaded, parsed, grounds, now_ns, findings)
    if cohort is None or len(findings) > before:
        return parsed, None
    comparison = parsed.contribution.comparison
    judged = qualify(comparison, cohort.track, grounds.catalogues.whole(cohort))
    return parsed, verified.seal(
        place=loaded.place,
        digests={name: blob.sha256 for name, blob in loaded.files.items()},
        contribution=parsed.contribution,
        submission=parsed.submission,
        readme=parsed.readme,
        cohort=cohort,
        verdicts=judged.qualification,
    )


def _check_sums(loaded: LoadedBundle, findings: Findings) -> None:
    sums = loaded.files.get(SUMS)
    if sums is None:
        return
    path = loaded.place.path / SUMS
    try:
        listed = parse_sums(sums.data)
    except ChecksumError as error:
        findings.add("PQ020", path, error.message)
        return
    for name in sorted(listed.keys() ^ set(SEALED)):
        what = "is listed, but is none of the three" if name in listed else "is not listed"
        findings.add("PQ021", path, f"{name} {what}")
    for name in SEALED:
        blob = loaded.files.get(name)
        if blob is not None and name in listed and listed[name] != blob.sha256:
            what = f"has the digest {blob.sha256[:16]}, {path} says {listed[name][:16]}"
            findings.add("PQ022", loaded.place.path / name, what)


def _parse(loaded: LoadedBundle, findings: Findings) -> ParsedBundle | None:
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


def _check_content(
    loaded: LoadedBundle, parsed: ParsedBundle, grounds: Grounds, now_ns: int, findings: Findings
) -> Cohort | None:
    place, contribution = loaded.place, parsed.contribution
    path = place.path / CONTRIBUTION
    digest = loaded.files[CONTRIBUTION].sha256
    if digest[:16] != place.id:
        findings.add("PQ009", place.path, f"the digest of contribution.json begins with {digest[:16]}")
    scan(contribution, parsed.submission, parsed.readme, place, findings)
    if not contribution.runs:
        findings.add("PQ034", path, "holds no run", "/runs")
        return None
    check_declaration(parsed.submission, contribution, digest, place, place.path / SUBMISSION, findings)
    cohort = check_frame(contribution, grounds.catalogues, place.kind, now_ns, path, findings)
    catalogue = grounds.catalogues.whole(cohort) if cohort else grounds.catalogues.known[0]
    unjudged = set() if cohort else {"comparison-verdict"}
    for fault in check_contribution(contribution, catalogue):
        if fault.code not in FRAMED | unjudged:
            findings.add(RULE_OF_CODE[fault.code], path, fault.message, fault.pointer)
    return cohort
