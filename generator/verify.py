"""From a bundle's bytes to a `VerifiedBundle`, or to every finding that speaks against it."""

from __future__ import annotations

from contract.checksums import ChecksumError, parse_sums
from contract.contribution_check import check_contribution
from contract.qualification import qualify
from generator import verified
from generator.cohort import Cohort
from generator.declaration import check_declaration
from generator.findings import Findings
from generator.frame import check_frame
from generator.layout import CONTRIBUTION, SEALED, SUBMISSION, SUMS
from generator.load import LoadedBundle
from generator.parse import ParsedBundle, parse
from generator.registry import Grounds
from generator.scan import scan
from generator.verified import VerifiedBundle

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


def verify(
    loaded: LoadedBundle, grounds: Grounds, now_ns: int, findings: Findings
) -> tuple[ParsedBundle | None, VerifiedBundle | None]:
    """Check one bundle against every rule that concerns it alone; what could be read, and what held.

    The second is None, with findings, when any rule is broken; the first when a document cannot be read.
    """
    before = len(findings)
    _check_sums(loaded, findings)
    parsed = parse(loaded, findings)
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
            what = f"has the digest {blob.sha256}, {path} says {listed[name]}"
            findings.add("PQ022", loaded.place.path / name, what)


def _check_content(
    loaded: LoadedBundle, parsed: ParsedBundle, grounds: Grounds, now_ns: int, findings: Findings
) -> Cohort | None:
    place, contribution = loaded.place, parsed.contribution
    path = place.path / CONTRIBUTION
    digest = loaded.files[CONTRIBUTION].sha256
    if digest[:16] != place.id:
        findings.add("PQ009", place.path, f"the digest of contribution.json begins with {digest[:16]}")
    scan(parsed, loaded.files, findings)
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
