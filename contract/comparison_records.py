"""The records of a comparison, and what it needs of one run (evidence format, section 4.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from contract.manifest import manifest_digest
from contract.record import OMIT, Record
from contract.report import RunReport
from contract.score import CostEstimate
from contract.timestamps import Timestamp
from contract.wilson import ConfidenceInterval


class ModelSummary(Record):
    """All runs of one model; latencies in milliseconds, cost in USD of the runs whose cost is known."""

    model: str
    runs: int
    passed: int
    pass_rate: ConfidenceInterval
    fault_recall: ConfidenceInterval
    false_positives: int
    p95_collection_latency_ms: int
    p95_latency_ms: int
    p95_input_tokens: int
    p95_output_tokens: int
    p95_cost_usd: float
    known_cost_runs: int
    hard_failure_runs: int
    dirty_runs: int
    git_shas: Annotated[tuple[str, ...], OMIT] = ()
    pulse_versions: Annotated[tuple[str, ...], OMIT] = ()


class ScenarioSummary(ModelSummary):
    """All runs of one model in one scenario, and whether they qualify."""

    scenario_id: str
    track: str
    qualified: bool
    failures: Annotated[tuple[str, ...], OMIT] = ()
    manifest_digests: Annotated[tuple[str, ...], OMIT] = ()


class ModelQualification(Record):
    """The verdict on one model in one track."""

    model: str
    track: str
    qualified: bool
    failures: Annotated[tuple[str, ...], OMIT] = ()


class ComparisonReport(Record):
    """Models in ranking order, scenarios by model and id, and verdicts once the gates were applied."""

    schema_version: str
    generated_at: Timestamp
    models: tuple[ModelSummary, ...]
    scenarios: tuple[ScenarioSummary, ...]
    qualification: Annotated[tuple[ModelQualification, ...], OMIT] = ()
    git_shas: Annotated[tuple[str, ...], OMIT] = ()
    dirty_runs: int
    pulse_versions: Annotated[tuple[str, ...], OMIT] = ()


@dataclass(frozen=True, slots=True)
class Trial:
    """What a comparison needs of one run, whether it comes from a report or from a contribution."""

    model: str
    scenario_id: str
    track: str
    manifest_digest: str
    passed: bool
    faults: int
    true_positives: int
    false_positives: int
    hard_failed: bool
    collection_ms: int
    latency_ms: int
    input_tokens: int
    output_tokens: int
    cost: CostEstimate
    git_sha: str
    dirty: bool
    pulse_version: str

    @classmethod
    def of_report(cls, report: RunReport) -> Trial:
        """Take over the stored verdict and score of a report."""
        environment, score, manifest = report.environment, report.score, report.manifest
        return cls(
            model=environment.model,
            scenario_id=manifest.id,
            track=manifest.track,
            manifest_digest=manifest_digest(manifest),
            passed=report.passed,
            faults=score.faults,
            true_positives=score.true_positives,
            false_positives=score.false_positives,
            hard_failed=bool(score.hard_failures),
            collection_ms=milliseconds(score.collection_latency_ns),
            latency_ms=milliseconds(score.end_to_end_latency_ns),
            input_tokens=score.input_tokens,
            output_tokens=score.output_tokens,
            cost=score.cost,
            git_sha=environment.git_sha,
            dirty=environment.git_dirty,
            pulse_version=environment.pulse_version,
        )


def milliseconds(nanoseconds: int) -> int:
    """Whole milliseconds, truncated toward zero."""
    whole = abs(nanoseconds) // 1_000_000
    return whole if nanoseconds >= 0 else -whole
