"""One pass over a tree of evidence: load, verify, compare with each other; all findings at once."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from generator.across import check_across
from generator.findings import Finding, Findings
from generator.layout import EVIDENCE, Place
from generator.load import discover, read_bundle
from generator.parse import ParsedBundle
from generator.registry import Registry, load_grounds
from generator.verified import VerifiedBundle
from generator.verify import verify


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a check gave: the verified registry, or what was found wrong; and every place that was looked
    at.
    """

    registry: Registry | None
    findings: tuple[Finding, ...]
    places: tuple[Place, ...]


def check_tree(root: Path, now_ns: int) -> Verdict:
    """Check everything below `root`/evidence as of `now_ns`; nothing is raised for bad evidence."""
    findings = Findings()
    if not (root / EVIDENCE).is_dir():
        findings.add("PQ001", EVIDENCE, f"there is no folder {EVIDENCE} below the root")
        return Verdict(None, findings.sorted(), ())
    grounds = load_grounds(root, findings)
    places = tuple(discover(root, findings))
    if grounds is None:
        return Verdict(None, findings.sorted(), places)
    read: list[ParsedBundle] = []
    bundles: list[VerifiedBundle] = []
    for place in places:
        # Also what is refused for another reason is compared, so that all findings are told at once.
        parsed, bundle = verify(read_bundle(root, place, findings), grounds, now_ns, findings)
        read += [parsed] if parsed else []
        bundles += [bundle] if bundle else []
    check_across(read, findings)
    registry = Registry(grounds.policy, grounds.models, grounds.catalogues, tuple(bundles))
    found = findings.sorted()
    return Verdict(None if found else registry, found, places)
