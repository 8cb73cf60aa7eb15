"""Many runs side by side: counts, intervals, percentiles, ranking (evidence format, section 4).

Stored scores are trusted here; nothing is scored again. Controls are no models and are left out.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple, TypeVar

from pydantic import ValidationError

from contract.comparison_records import (
    ComparisonReport,
    ModelQualification,
    ModelSummary,
    ScenarioSummary,
    Trial,
    milliseconds,
)
from contract.errors import PatrolQualificationError
from contract.pricing import CONTROL
from contract.report import RunReport
from contract.text import lower, trim
from contract.timestamps import Timestamp
from contract.wilson import ConfidenceInterval, wilson

__all__ = [
    "SCHEMA_VERSION",
    "Comparison",
    "ComparisonError",
    "ComparisonReport",
    "ConfidenceInterval",
    "ModelQualification",
    "ModelSummary",
    "ScenarioSummary",
    "Trial",
    "compare",
    "compare_trials",
    "is_control",
    "milliseconds",
    "percentile95",
    "ranking_key",
]

SCHEMA_VERSION: Final = "patrol.qualification.comparison/v1"

N = TypeVar("N", int, float)


class ComparisonError(PatrolQualificationError):
    """There is nothing to compare."""


class Comparison(NamedTuple):
    """A comparison, how many controls were left out of it, and run ids that stand in several reports."""

    report: ComparisonReport
    dropped_controls: int
    repeated_run_ids: tuple[str, ...]


def compare(
    reports: Iterable[RunReport], generated_at: Timestamp, *, calibration: bool = False
) -> Comparison:
    """Compare reports, given in the order of their paths; controls only count in a calibration.

    Raises ComparisonError when no report is left.
    """
    everything = tuple(reports)
    kept = [one for one in everything if calibration or not is_control(one.environment.provider)]
    dropped = len(everything) - len(kept)
    if not kept:
        what = f"all {dropped} reports are of controls" if dropped else "there is no report"
        raise ComparisonError(what, hint="name a folder that holds reports of a model")
    seen: dict[str, int] = defaultdict(int)
    for report in kept:
        seen[report.run_id] += 1
    repeated = tuple(sorted(run_id for run_id, count in seen.items() if run_id and count > 1))
    return Comparison(compare_trials(map(Trial.of_report, kept), generated_at), dropped, repeated)


def compare_trials(trials: Iterable[Trial], generated_at: Timestamp) -> ComparisonReport:
    """Compare at least one trial.

    Raises ComparisonError for none and for sums beyond 64 bits, IntervalError for impossible counts.
    """
    everything = tuple(trials)
    if not everything:
        raise ComparisonError("there is no run to compare")
    try:
        return _compared(everything, generated_at)
    except ValidationError as exc:
        raise ComparisonError("the sums of the runs do not fit into 64 bits") from exc


def is_control(provider: str) -> bool:
    """Whether a provider's name marks a subject of known behaviour instead of a model."""
    return lower(trim(provider)) == CONTROL


def ranking_key(summary: ModelSummary) -> tuple[float, float, bool, float]:
    """What models are ranked by, best first; equals are in the order of their names."""
    cost_unknown = summary.known_cost_runs != summary.runs
    return -summary.pass_rate.estimate, -summary.fault_recall.estimate, cost_unknown, summary.p95_cost_usd


def percentile95(values: Iterable[N], nothing: N) -> N:
    """The 95th percentile by nearest rank; `nothing` for no values."""
    ordered = sorted(values)
    if not ordered:
        return nothing
    index = int(len(ordered) * 0.95 + 0.999999) - 1
    return ordered[min(max(index, 0), len(ordered) - 1)]


def _compared(everything: Sequence[Trial], generated_at: Timestamp) -> ComparisonReport:
    models: dict[str, list[Trial]] = defaultdict(list)
    scenarios: dict[tuple[str, str], list[Trial]] = defaultdict(list)
    for trial in everything:
        models[trial.model].append(trial)
        scenarios[trial.model, trial.scenario_id].append(trial)
    summaries = [ModelSummary(**_summary(group)) for group in models.values()]
    return ComparisonReport(
        schema_version=SCHEMA_VERSION,
        generated_at=generated_at,
        models=tuple(sorted(summaries, key=lambda summary: (ranking_key(summary), summary.model))),
        scenarios=tuple(_scenario(scenarios[key]) for key in sorted(scenarios)),
        git_shas=_distinct(trial.git_sha for trial in everything),
        dirty_runs=sum(trial.dirty for trial in everything),
        pulse_versions=_distinct(trial.pulse_version for trial in everything),
    )


def _summary(trials: Sequence[Trial]) -> dict[str, Any]:
    known = [trial.cost.usd for trial in trials if trial.cost.known]
    passed = sum(trial.passed for trial in trials)
    found = sum(trial.true_positives for trial in trials)
    return {
        "model": trials[0].model,
        "runs": len(trials),
        "passed": passed,
        "pass_rate": wilson(passed, len(trials)),
        "fault_recall": wilson(found, sum(trial.faults for trial in trials)),
        "false_positives": sum(trial.false_positives for trial in trials),
        "p95_collection_latency_ms": percentile95((trial.collection_ms for trial in trials), 0),
        "p95_latency_ms": percentile95((trial.latency_ms for trial in trials), 0),
        "p95_input_tokens": percentile95((trial.input_tokens for trial in trials), 0),
        "p95_output_tokens": percentile95((trial.output_tokens for trial in trials), 0),
        "p95_cost_usd": percentile95(known, 0.0),
        "known_cost_runs": len(known),
        "hard_failure_runs": sum(trial.hard_failed for trial in trials),
        "dirty_runs": sum(trial.dirty for trial in trials),
        "git_shas": _distinct(trial.git_sha for trial in trials),
        "pulse_versions": _distinct(trial.pulse_version for trial in trials),
    }


def _scenario(trials: Sequence[Trial]) -> ScenarioSummary:
    return ScenarioSummary(
        **_summary(trials),
        scenario_id=trials[0].scenario_id,
        track=trials[0].track,
        qualified=False,
        manifest_digests=tuple(sorted({trial.manifest_digest for trial in trials})),
    )


def _distinct(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted({trim(value) for value in values} - {""}))
