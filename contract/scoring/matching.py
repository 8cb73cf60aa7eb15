"""Which finding is about which fault, and how good it is (scoring format, sections 3 and 4)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from contract.durations import DurationError, parse_duration
from contract.manifest_records import ExpectedFinding, FaultSpec, Manifest
from contract.record import zero
from contract.report import Finding, PatrolRun
from contract.score import MatchResult
from contract.text import fold_equal, is_blank, lower, trim
from contract.timestamps import Timestamp
from contract.truth import FaultTruth

ID_POINTS: Final = 8
NAME_POINTS: Final = 4
TRAIT_POINTS: Final = 2

_INELIGIBLE: Final = frozenset({"uncertain", "resolved"})


@dataclass(frozen=True, slots=True)
class Candidates:
    """The findings that can detect something, and the ids of those that are about the product itself."""

    infrastructure: tuple[Finding, ...]
    runtime_ids: tuple[str, ...]


def candidates(run: PatrolRun, findings: Iterable[Finding]) -> Candidates:
    """Leave out what the run itself calls uncertain or resolved, and set its own troubles aside."""
    verdicts = {item.finding_id: lower(trim(item.verdict)) for item in run.finding_assessments}
    eligible = [finding for finding in findings if verdicts.get(finding.id) not in _INELIGIBLE]
    return Candidates(
        infrastructure=tuple(finding for finding in eligible if not _is_runtime(finding)),
        runtime_ids=tuple(finding.id for finding in eligible if _is_runtime(finding)),
    )


def fault_spec(manifest: Manifest, fault_id: str) -> FaultSpec:
    """What the manifest says about a fault; an empty specification for an unknown one."""
    return next((spec for spec in manifest.faults or () if spec.id == fault_id), zero(FaultSpec))


def expected_identity(fault: FaultTruth) -> tuple[str, str]:
    """Id and name of the resource that the finding must be about; older reports know only the target."""
    if fault.expected_resource_id or fault.expected_resource_name:
        return fault.expected_resource_id, fault.expected_resource_name
    return fault.resource_id, fault.target_name


def choose(
    fault: FaultTruth, expected: ExpectedFinding, findings: Sequence[Finding], used: Iterable[str]
) -> Finding | None:
    """The unused finding with the most points, the first of equals; None when none is about the resource."""
    best, most = None, 0
    for finding in findings:
        points = 0 if finding.id in used else _points(fault, expected, finding)
        if points > most:
            best, most = finding, points
    return best


def assess(fault: FaultTruth, expected: ExpectedFinding, finding: Finding | None) -> MatchResult:
    """Judge what a finding says about a fault, apart from when it said so."""
    missed = zero(MatchResult).model_copy(update={"fault_id": fault.id, "causal_group": fault.causal_group})
    if finding is None:
        return missed
    missing = _missing_evidence(expected, finding)
    forbidden = _forbidden_advice(expected, finding)
    return missed.model_copy(
        update={
            "finding_id": finding.id,
            "detected": True,
            "resource_correct": _is_expected_resource(fault, finding),
            "resource_type_correct": _listed(finding.resource_type, expected.resource_types),
            "category_correct": _listed(finding.category, expected.categories),
            "severity_correct": _listed(finding.severity, expected.severities),
            "evidence_grounded": not missing and not is_blank(finding.evidence),
            "recommendation_safe": not forbidden and _is_allowed_advice(expected, finding),
            "missing_evidence": missing,
            "forbidden_advice_found": forbidden,
        }
    )


def detection_latency(fault: FaultTruth, finding: Finding, run: PatrolRun) -> int:
    """Nanoseconds from the confirmed fault to its detection; 0 where one of the two is not known."""
    detected = _detected_at(finding, run)
    if detected.is_zero or fault.confirmed_at.is_zero:
        return 0
    return max(0, detected.instant_ns - fault.confirmed_at.instant_ns)


def detection_limit(spec: FaultSpec) -> int | None:
    """The deadline in nanoseconds; None without one, 0 for a text that is no duration."""
    if not spec.detect_within:
        return None
    try:
        return parse_duration(spec.detect_within)
    except DurationError:
        return 0


def _is_runtime(finding: Finding) -> bool:
    return fold_equal(trim(finding.key), "ai-patrol-error") or fold_equal(
        trim(finding.resource_id), "ai-service"
    )


def _points(fault: FaultTruth, expected: ExpectedFinding, finding: Finding) -> int:
    resource_id, name = expected_identity(fault)
    points = ID_POINTS if resource_id and finding.resource_id == resource_id else 0
    points += NAME_POINTS if fold_equal(trim(finding.resource_name), trim(name)) else 0
    if not points:
        return 0
    traits = (
        _listed(finding.resource_type, expected.resource_types),
        _listed(finding.category, expected.categories),
        _listed(finding.severity, expected.severities),
    )
    return points + TRAIT_POINTS * sum(traits)


def _listed(text: str, accepted: tuple[str, ...] | None) -> bool:
    return any(fold_equal(trim(text), trim(item)) for item in accepted or ())


def _is_expected_resource(fault: FaultTruth, finding: Finding) -> bool:
    resource_id, name = expected_identity(fault)
    return finding.resource_id == resource_id if resource_id else fold_equal(finding.resource_name, name)


def _missing_evidence(expected: ExpectedFinding, finding: Finding) -> tuple[str, ...]:
    text = lower(f"{finding.evidence} {finding.description}")
    return tuple(term for term in expected.required_evidence if lower(term) not in text)


def _forbidden_advice(expected: ExpectedFinding, finding: Finding) -> tuple[str, ...]:
    advice = lower(finding.recommendation)
    return tuple(term for term in expected.forbidden_advice if term and lower(term) in advice)


def _is_allowed_advice(expected: ExpectedFinding, finding: Finding) -> bool:
    if is_blank(finding.recommendation):
        return False
    advice = lower(finding.recommendation)
    allowed = expected.allowed_advice
    return not allowed or any(term and lower(term) in advice for term in allowed)


def _detected_at(finding: Finding, run: PatrolRun) -> Timestamp:
    for item in run.finding_assessments:
        is_present = item.finding_id == finding.id and fold_equal(trim(item.verdict), "present")
        if is_present and not item.assessed_at.is_zero:
            return item.assessed_at
    return run.completed_at if finding.detected_at.is_zero else finding.detected_at
