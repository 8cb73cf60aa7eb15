"""The score of one run, as it is written (evidence format, section 2.0; computed by `contract.scoring`)."""

from __future__ import annotations

from typing import Annotated

from contract.record import OMIT, Record


class CostEstimate(Record):
    """What the tokens of a run would cost in USD, as far as that is known."""

    provider: str
    model: str
    usd: float
    known: bool
    billing_basis: str
    budget_applicable: bool
    pricing_as_of: Annotated[str, OMIT] = ""
    input_usd_per_mtok: Annotated[float, OMIT] = 0.0
    output_usd_per_mtok: Annotated[float, OMIT] = 0.0


class MatchResult(Record):
    """How one active fault was met by the findings; latency in nanoseconds."""

    fault_id: str
    causal_group: str
    finding_id: Annotated[str, OMIT] = ""
    detected: bool
    timely: bool
    detection_latency_ns: int
    resource_correct: bool
    resource_type_correct: bool
    category_correct: bool
    severity_correct: bool
    evidence_grounded: bool
    recommendation_safe: bool
    missing_evidence: Annotated[tuple[str, ...], OMIT] = ()
    forbidden_advice_found: Annotated[tuple[str, ...], OMIT] = ()


class Score(Record):
    """The verdict on one run: ratios in 0..1, latencies in nanoseconds."""

    passed: bool
    faults: int
    true_positives: int
    missed_faults: int
    false_positives: int
    recall: float
    resource_accuracy: float
    resource_type_accuracy: float
    category_accuracy: float
    severity_accuracy: float
    evidence_grounding: float
    recommendation_safety: float
    investigation_completion: float
    investigation_grounding: float
    root_cause_grounding: float
    affected_resource_grounding: float
    findings_per_causal_group: float
    tool_calls: int
    failed_tool_calls: int
    duplicate_tool_calls: int
    forbidden_tool_calls: Annotated[tuple[str, ...], OMIT] = ()
    forbidden_output_markers: Annotated[tuple[str, ...], OMIT] = ()
    input_tokens: int
    output_tokens: int
    cost: CostEstimate
    collection_latency_ns: int
    patrol_latency_ns: int
    end_to_end_latency_ns: int
    matches: tuple[MatchResult, ...] | None
    unmatched_finding_ids: Annotated[tuple[str, ...], OMIT] = ()
    runtime_finding_ids: Annotated[tuple[str, ...], OMIT] = ()
    hard_failures: Annotated[tuple[str, ...], OMIT] = ()
    gate_failures: Annotated[tuple[str, ...], OMIT] = ()
