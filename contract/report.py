"""The report of one run (evidence format, section 2)."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import Field

from contract.faults import DecodeError, Fault
from contract.manifest_records import Manifest
from contract.record import OMIT, RawJson, Record, decode_lenient
from contract.score import Score
from contract.timestamps import Timestamp
from contract.truth import CleanupResult, CollectedTruth, GroundTruth, PredicateObservation, PreparedLab

SCHEMA_VERSION: Final = "patrol.qualification.report/v1"


class Environment(Record):
    """Who was measured, by which revision, against which server."""

    git_sha: str
    git_dirty: bool
    pulse_version: str
    pulse_base_url: str
    docker_target: str
    model: str
    provider: str
    inference_route: str
    community_challenge_nonce: Annotated[str, OMIT] = ""
    captured_at: Timestamp
    versions: Annotated[dict[str, str], OMIT] = Field(default_factory=dict)


class ToolCall(Record):
    """One tool call of a model as the product kept it; times in milliseconds of the epoch."""

    id: str
    tool_name: str
    input: str
    output: str
    success: bool
    start_time: int
    end_time: int
    duration_ms: int


class PatrolFindingAssessment(Record):
    """The verdict of a run on a finding that existed before."""

    finding_id: str
    verdict: str
    evidence: str
    reason: str
    assessed_at: Timestamp


class PatrolRun(Record):
    """The durable record of one Patrol run."""

    id: str
    started_at: Timestamp
    completed_at: Timestamp
    duration_ms: int
    type: str
    trigger_reason: str
    scope_resource_ids: Annotated[tuple[str, ...], OMIT] = ()
    effective_scope_resource_ids: Annotated[tuple[str, ...], OMIT] = ()
    resources_checked: int
    new_findings: int
    existing_findings: int
    rejected_findings: int
    resolved_findings: int
    findings_summary: str
    finding_ids: tuple[str, ...] | None
    finding_assessments: Annotated[tuple[PatrolFindingAssessment, ...], OMIT] = ()
    error_count: int
    status: str
    error_summary: Annotated[str, OMIT] = ""
    ai_analysis: Annotated[str, OMIT] = ""
    input_tokens: int
    output_tokens: int
    tool_calls: Annotated[tuple[ToolCall, ...], OMIT] = ()
    tool_call_count: int


class Finding(Record):
    """One finding of the product."""

    id: str
    key: str
    severity: str
    category: str
    resource_id: str
    resource_name: str
    resource_type: str
    title: str
    description: str
    impact: Annotated[str, OMIT] = ""
    recommendation: str
    evidence: str
    source: Annotated[str, OMIT] = ""
    detected_at: Timestamp
    last_seen_at: Timestamp
    resolved_at: Timestamp | None = None


class ActionReference(Record):
    """The governed action that an investigation proposed."""

    action_id: str
    proposal_id: Annotated[str, OMIT] = ""
    resource_id: str
    capability_name: str
    state: str
    plan: RawJson


class InvestigationSession(Record):
    """One read-only investigation of a finding."""

    id: str
    finding_id: str
    session_id: str
    status: str
    started_at: Timestamp
    completed_at: Timestamp | None = None
    turn_count: int
    evidence_call_count: int
    tool_call_count: int
    outcome: Annotated[str, OMIT] = ""
    proposed_fix: RawJson | None = None
    approval_id: Annotated[str, OMIT] = ""
    action: ActionReference | None = None
    tools_available: tuple[str, ...] | None
    tools_used: tuple[str, ...] | None
    evidence_ids: tuple[str, ...] | None
    summary: Annotated[str, OMIT] = ""
    error: Annotated[str, OMIT] = ""


class RemediationResult(Record):
    """How the governed action of a run went, judged outside of the product."""

    finding_id: Annotated[str, OMIT] = ""
    investigation_id: Annotated[str, OMIT] = ""
    action_id: Annotated[str, OMIT] = ""
    resource_id: Annotated[str, OMIT] = ""
    capability_name: Annotated[str, OMIT] = ""
    decision: Annotated[str, OMIT] = ""
    authorized: bool
    origin_bound: bool
    plan_hash_bound: bool
    before: RawJson | None = None
    after: RawJson | None = None
    postconditions: Annotated[tuple[PredicateObservation, ...], OMIT] = ()
    independent_verified: bool
    lifecycle_verified: bool
    passed: bool
    errors: Annotated[tuple[str, ...], OMIT] = ()


class SafetyOracleResult(Record):
    """Whether the lab was as the harness left it when Patrol had run; None is unknown."""

    faults_intact: bool | None = None
    no_unexpected_mutation: bool | None = None


class PhaseTiming(Record):
    """One phase of the runner; durations in nanoseconds."""

    name: str
    started_at: Timestamp
    ended_at: Timestamp
    duration_ns: int
    passed: bool
    error: Annotated[str, OMIT] = ""


class RunReport(Record):
    """Everything that one run produced; schema `patrol.qualification.report/v1`."""

    schema_version: str
    run_id: str
    generated_at: Timestamp
    manifest: Manifest
    environment: Environment
    ground_truth: GroundTruth
    prepared_lab: PreparedLab | None = None
    collected_resources: Annotated[dict[str, CollectedTruth], OMIT] = Field(default_factory=dict)
    patrol_run: PatrolRun
    prerequisite_patrol_run: PatrolRun | None = None
    findings: tuple[Finding, ...] | None
    investigations: Annotated[dict[str, InvestigationSession], OMIT] = Field(default_factory=dict)
    actions: Annotated[tuple[RawJson, ...], OMIT] = ()
    remediation: RemediationResult
    score: Score
    safety_oracle: SafetyOracleResult | None = None
    post_patrol_oracle: Annotated[tuple[PredicateObservation, ...], OMIT] = ()
    revert_oracle: Annotated[tuple[PredicateObservation, ...], OMIT] = ()
    teardown: CleanupResult
    phases: tuple[PhaseTiming, ...] | None
    errors: Annotated[tuple[str, ...], OMIT] = ()
    passed: bool


def load_report(document: bytes, where: str = "") -> RunReport:
    """Read report.json, of any tool that writes the format; `where` names it in errors.

    Unknown members are ignored, and the manifest inside is not validated. Raises DecodeError.
    """
    try:
        report = decode_lenient(RunReport, document)
    except DecodeError as exc:
        raise DecodeError(exc.faults, where=where) from exc
    if report.schema_version != SCHEMA_VERSION:
        found = f"is {report.schema_version!r}, expected {SCHEMA_VERSION!r}"
        raise DecodeError([Fault("/schema_version", found)], where=where)
    return report
