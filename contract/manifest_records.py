"""The records of a scenario manifest, member by member in canonical order (manifest format, section 3)."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from contract.record import OMIT, RawJson, Record


class LabSpec(Record):
    """Where the scenario plays (3.2)."""

    driver: str
    profile: str
    image: str
    allow_pull: Annotated[bool, OMIT] = False
    shared_host_ok: Annotated[bool, OMIT] = False


class ResourceSpec(Record):
    """One container of the lab; `name`, `command`, `healthcheck` and label values are templates (3.3)."""

    alias: str
    kind: str
    name: str
    image: Annotated[str, OMIT] = ""
    command: Annotated[tuple[str, ...], OMIT] = ()
    restart: Annotated[str, OMIT] = ""
    healthcheck: Annotated[tuple[str, ...], OMIT] = ()
    health_every: Annotated[str, OMIT] = ""
    fault_volume: Annotated[bool, OMIT] = False
    scratch_storage: Annotated[bool, OMIT] = False
    labels: Annotated[dict[str, str], OMIT] = Field(default_factory=dict)


class Predicate(Record):
    """A statement about the lab that a probe can confirm (3.6)."""

    probe: str
    target: str
    operator: str
    value: RawJson
    timeout: Annotated[str, OMIT] = ""


class InjectorSpec(Record):
    """How a driver breaks a resource; it never holds a command (3.5)."""

    kind: str
    resource: str
    value: Annotated[str, OMIT] = ""


class ExpectedFinding(Record):
    """What a good finding about a fault says (3.7)."""

    resource: str
    resource_types: tuple[str, ...] | None
    categories: tuple[str, ...] | None
    severities: tuple[str, ...] | None
    required_evidence: Annotated[tuple[str, ...], OMIT] = ()
    allowed_advice: Annotated[tuple[str, ...], OMIT] = ()
    forbidden_advice: Annotated[tuple[str, ...], OMIT] = ()
    max_primary_findings: int


class FaultSpec(Record):
    """One fault: who is broken, how, how the oracle knows, and what Patrol should say (3.4)."""

    id: str
    causal_group: str
    target: str
    injector: InjectorSpec
    oracle: tuple[Predicate, ...] | None
    expected_finding: ExpectedFinding
    revert_oracle: Annotated[tuple[Predicate, ...], OMIT] = ()
    detect_within: Annotated[str, OMIT] = ""
    required: bool
    related_resources: Annotated[tuple[str, ...], OMIT] = ()
    allowed_cofinding_tags: Annotated[tuple[str, ...], OMIT] = ()


class NegativeControl(Record):
    """A resource about which every finding is a false positive (3.8)."""

    resource: str
    reason: str


class CollectionSpec(Record):
    """How the monitor must come to see the lab (3.9)."""

    sources: tuple[str, ...] | None
    convergence_timeout: str
    poll_interval: str
    require_exact_name: bool


class PatrolSpec(Record):
    """The Patrol run that is scored (3.10)."""

    mode: str
    scoped: bool
    scope_resources: Annotated[tuple[str, ...], OMIT] = ()
    run_timeout: str
    investigation_timeout: Annotated[str, OMIT] = ""
    require_real_model: bool
    require_tool_call_evidence: bool
    require_existing_reconfirmation: Annotated[bool, OMIT] = False


class InvestigationSpec(Record):
    """What a completed investigation must show (3.11)."""

    min_evidence_calls: Annotated[int, OMIT] = 0
    min_evidence_ids: Annotated[int, OMIT] = 0
    required_summary_terms: Annotated[tuple[str, ...], OMIT] = ()
    required_summary_term_groups: Annotated[tuple[tuple[str, ...] | None, ...], OMIT] = ()
    forbidden_summary_terms: Annotated[tuple[str, ...], OMIT] = ()
    root_cause_resources: Annotated[tuple[str, ...], OMIT] = ()
    affected_resources: Annotated[tuple[str, ...], OMIT] = ()
    max_tools_used: Annotated[int, OMIT] = 0
    max_evidence_calls: Annotated[int, OMIT] = 0
    require_completed_status: bool

    @property
    def min_evidence(self) -> int:
        """The least number of evidence calls; the legacy member counts only without the newer one."""
        return self.min_evidence_calls if self.min_evidence_calls > 0 else self.min_evidence_ids


class RemediationSpec(Record):
    """The governed action, who decides on it, and what must hold afterwards (3.12)."""

    action_target: str
    expected_capabilities: tuple[str, ...] | None
    decision: str
    decision_reason: str
    action_timeout: str
    require_exact_origin: bool
    require_lifecycle_verification: bool
    allowed_verification_statuses: Annotated[tuple[str, ...], OMIT] = ()
    postconditions: tuple[Predicate, ...] | None


class SecuritySpec(Record):
    """What no run may do (3.13)."""

    forbidden_tool_names: Annotated[tuple[str, ...], OMIT] = ()
    forbidden_output_markers: Annotated[tuple[str, ...], OMIT] = ()
    require_fault_intact_after_patrol: bool
    require_no_unexpected_mutation: bool


class BudgetSpec(Record):
    """What a run may take; durations as text, money in US dollars (3.14)."""

    collection_latency_p95: str
    patrol_latency_p95: str
    end_to_end_latency_p95: str
    input_tokens_p95: int
    output_tokens_p95: int
    cost_usd_p95: float
    max_tool_calls: int
    max_duplicate_calls: int


class RepeatSpec(Record):
    """How often a scenario is run, by profile (3.15)."""

    development: int
    nightly: int
    qualification: int


class GateSpec(Record):
    """Ratios and counts that a run must reach (3.16)."""

    min_recall: float
    max_false_positives: int
    min_resource_accuracy: float
    min_category_accuracy: float
    min_severity_accuracy: float
    min_evidence_grounding: float
    max_findings_per_causal_group: float


class TeardownSpec(Record):
    """What must hold when everything has been removed (3.17)."""

    predicates: tuple[Predicate, ...] | None
    require_second_cleanup_noop: bool
    require_inventory_unchanged: bool


class Manifest(Record):
    """A scenario: lab, faults, oracles, expectations, budgets and gates (3.1)."""

    schema_version: str
    id: str
    version: int
    title: str
    description: str
    owner: str
    track: str
    risk: str
    tags: Annotated[tuple[str, ...], OMIT] = ()
    lab: LabSpec
    resources: tuple[ResourceSpec, ...] | None
    baseline: tuple[Predicate, ...] | None
    faults: tuple[FaultSpec, ...] | None
    negative_controls: Annotated[tuple[NegativeControl, ...], OMIT] = ()
    collection: CollectionSpec
    patrol: PatrolSpec
    investigation: InvestigationSpec | None = None
    remediation: RemediationSpec | None = None
    security: SecuritySpec
    budgets: BudgetSpec
    repeat: RepeatSpec
    gates: GateSpec
    teardown: TeardownSpec
    metadata: Annotated[dict[str, str], OMIT] = Field(default_factory=dict)
