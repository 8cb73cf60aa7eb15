"""What is stored and served, as closed and frozen records."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

Severity = Literal["critical", "warning"]
Verdict = Literal["present", "resolved", "uncertain"]
RunStatus = Literal["healthy", "issues_found", "critical", "error"]


class Record(BaseModel):
    """A closed, frozen, finite record; members that are None are left out when it is served."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)

    def as_json(self) -> dict[str, object]:
        """The JSON object of this record, without the members that are None."""
        return self.model_dump(mode="json", exclude_none=True)


class CamelRecord(Record):
    """A record whose members are spelled in camel case wherever it is stored or served."""

    model_config = ConfigDict(
        alias_generator=to_camel, validate_by_name=True, validate_by_alias=True, serialize_by_alias=True
    )


class DockerFacts(CamelRecord):
    """What Docker itself says about a container (Pulse API, section 2.7)."""

    container_id: str
    container_state: str
    health: str
    restart_count: int
    exit_code: int
    oom_killed: bool
    image: str
    hostname: str
    healthcheck_targets: tuple[str, ...]
    started_at: str


class Resource(CamelRecord):
    """One watched thing; `labels` are strangers' words."""

    id: str
    type: str
    technology: str
    name: str
    status: str
    last_seen: str
    source_status: str = "current"
    docker: DockerFacts | None = None
    labels: dict[str, str] = {}
    capabilities: tuple[str, ...] = ()


class Finding(Record):
    """A fault that Patrol holds to be real until it is assessed as resolved (reference runtime, 6)."""

    id: str
    key: str
    severity: Severity
    category: str
    resource_id: str
    resource_name: str
    resource_type: str
    title: str
    description: str
    impact: str | None = None
    recommendation: str
    evidence: str
    source: str = "patrol"
    detected_at: str
    last_seen_at: str
    resolved_at: str | None = None
    resolve_reason: str | None = None
    times_raised: int = 1
    regressions: int = 0
    last_run_id: str
    investigation_status: str | None = None
    investigation_outcome: str | None = None
    investigation_attempts: int = 0
    last_investigated_at: str | None = None
    loop_state: str = "detected"

    @property
    def active(self) -> bool:
        return self.resolved_at is None


class Assessment(Record):
    """An accepted verdict about a finding that existed before."""

    finding_id: str
    verdict: Verdict
    evidence: str
    reason: str
    assessed_at: str


class ToolCall(Record):
    """One attempted call; times are milliseconds since 1970, `input` is the model's own text."""

    id: str
    tool_name: str
    input: str
    output: str
    success: bool
    start_time: int
    end_time: int
    duration_ms: int


class RunRecord(Record):
    """The one terminal record of an accepted run (Pulse API, section 2.10)."""

    id: str
    source: str = "reference-patrol"
    started_at: str
    completed_at: str
    duration_ms: int
    type: Literal["patrol", "scoped"]
    trigger_reason: str
    scope_resource_ids: tuple[str, ...] | None = None
    effective_scope_resource_ids: tuple[str, ...] | None = None
    scope_resource_types: tuple[str, ...] | None = None
    alert_identifier: str | None = None
    resources_checked: int = 0
    docker_checked: int = 0
    hosts_checked: int = 0
    new_findings: int = 0
    existing_findings: int = 0
    rejected_findings: int = 0
    resolved_findings: int = 0
    findings_summary: str
    finding_ids: tuple[str, ...] = ()
    finding_assessments: tuple[Assessment, ...] | None = None
    error_count: int = 0
    status: RunStatus
    error_summary: str | None = None
    error_detail: str | None = None
    error_cause: str | None = None
    triage_flags: int = 0
    ai_analysis: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_count: int = 0
    tool_calls_truncated: bool | None = None
    untrusted_metadata_ignored: bool | None = None
    model: str = ""
