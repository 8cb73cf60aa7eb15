"""Whether the numbers of one exported run agree with each other and with its scenario.

A digest around an invented number is still an invented number, so whatever follows from other members or
from the manifest is computed again (scoring format, sections 6, 10 and 11).
"""

from __future__ import annotations

from collections.abc import Iterator
from math import isclose
from typing import Final

from contract.contribution_records import ContributionRun, ContributionScore
from contract.contribution_rules import ContributionFault, broken
from contract.manifest import Manifest
from contract.pricing import METERED, split_model
from contract.record import zero
from contract.score import Score
from contract.scoring.failures import gate_failures
from contract.text import is_blank, lower, trim

_COUNTS: Final = (
    "faults",
    "true_positives",
    "missed_faults",
    "false_positives",
    "tool_calls",
    "failed_tool_calls",
    "duplicate_tool_calls",
    "input_tokens",
    "output_tokens",
    "collection_latency_ms",
    "patrol_latency_ms",
    "end_to_end_latency_ms",
)
_FAULT_SHARES: Final = (
    "resource_accuracy",
    "resource_type_accuracy",
    "category_accuracy",
    "severity_accuracy",
    "evidence_grounding",
    "recommendation_safety",
)
_OTHER_SHARES: Final = (
    "recall",
    "investigation_completion",
    "investigation_grounding",
    "root_cause_grounding",
    "affected_resource_grounding",
)
_CLOCK_SLACK_MS: Final = 1000  # the server measures the patrol with a clock of its own
_SHARED: Final = tuple(ContributionScore.model_fields.keys() & Score.model_fields.keys())
_BLANK: Final = zero(Score)


def consistency_faults(
    where: str, run: ContributionRun, manifest: Manifest | None
) -> Iterator[ContributionFault]:
    """Every contradiction inside a run, and with its scenario where that is known."""
    for name, message in (
        *_count_faults(run),
        *_share_faults(run.score),
        *_verdict_faults(run),
        *_safety_faults(run),
        *(() if is_unscored(run.score) else (*_cost_faults(run), *_latency_faults(run.score))),
        *(_scenario_faults(run, manifest) if manifest else ()),
    ):
        yield broken("run-consistency", f"{where}/{name}", message)


def is_unscored(score: ContributionScore) -> bool:
    """Whether the run ended before it could be scored: with no faults a computed recall is 1, never 0."""
    return score.faults == 0 and score.recall == 0


def _count_faults(run: ContributionRun) -> Iterator[tuple[str, str]]:
    score, safety, counts = run.score, run.safety, run.failure_counts
    for name in _COUNTS:
        if getattr(score, name) < 0:
            yield f"score/{name}", "is negative"
    for name in ("hard_failures", "gate_failures", "run_errors"):
        if getattr(counts, name) < 0:
            yield f"failure_counts/{name}", "is negative"
    for name in ("post_patrol_oracle_count", "revert_oracle_count"):
        if getattr(safety, name) < 0:
            yield f"safety/{name}", "is negative"
    if score.true_positives + score.missed_faults != score.faults:
        yield "score/faults", "is not the sum of found and missed faults"
    for name in ("failed_tool_calls", "duplicate_tool_calls"):
        if getattr(score, name) > score.tool_calls:
            yield f"score/{name}", "is more than all tool calls"


def _share_faults(score: ContributionScore) -> Iterator[tuple[str, str]]:
    for name in (*_FAULT_SHARES, *_OTHER_SHARES):
        if not 0 <= getattr(score, name) <= 1:
            yield f"score/{name}", "is not between 0 and 1"
    if score.findings_per_causal_group < 0:
        yield "score/findings_per_causal_group", "is negative"
    if is_unscored(score):
        return
    if score.recall != _ratio(score.true_positives, score.faults):
        yield "score/recall", f"is not {score.true_positives} of {score.faults}"
    for name in _FAULT_SHARES:
        share = getattr(score, name)
        good = round(share * score.faults) if 0 <= share <= 1 else -1
        if share != _ratio(good, score.faults) or good > max(score.true_positives, 0):
            yield (
                f"score/{name}",
                f"is no share of {score.faults} faults of which {score.true_positives} were found",
            )


def _verdict_faults(run: ContributionRun) -> Iterator[tuple[str, str]]:
    counts, execution = run.failure_counts, run.execution
    failures = counts.hard_failures + counts.gate_failures + counts.run_errors
    if run.passed is not (failures == 0 and run.safety.teardown_passed):
        yield "passed", f"is {str(run.passed).lower()}, with {failures} failures"
    if is_unscored(run.score) and counts.run_errors == 0:
        yield "failure_counts/run_errors", "is 0, but the run was never scored"
    phases = (execution.preflight_passed, execution.collection_passed, execution.model_patrol_passed)
    if run.passed and not all(phases):
        yield "execution", "a run that passed went through every phase"


def _safety_faults(run: ContributionRun) -> Iterator[tuple[str, str]]:
    for name in ("post_patrol_oracle", "revert_oracle"):
        if not getattr(run.safety, f"{name}_count") and not getattr(run.safety, f"{name}_passed"):
            yield f"safety/{name}_passed", "is false without an observation"


def _cost_faults(run: ContributionRun) -> Iterator[tuple[str, str]]:
    score, cost = run.score, run.score.cost
    named, model = split_model(run.model)
    provider = named if is_blank(run.provider) else lower(trim(run.provider))
    if (cost.provider, cost.model) != (provider, model):
        yield "score/cost", "is that of another provider or model than the run's"
    if cost.budget_applicable is not (cost.billing_basis == METERED):
        yield "score/cost/budget_applicable", "does not follow from the billing basis"
    into = (score.input_tokens / 1e6) * cost.input_usd_per_mtok
    usd = into + (score.output_tokens / 1e6) * cost.output_usd_per_mtok if cost.known else 0.0
    if not isclose(cost.usd, usd, rel_tol=1e-12, abs_tol=1e-12):
        yield "score/cost/usd", "is not what the tokens and the prices give"


def _latency_faults(score: ContributionScore) -> Iterator[tuple[str, str]]:
    parts = score.collection_latency_ms + score.patrol_latency_ms
    if score.end_to_end_latency_ms + _CLOCK_SLACK_MS < parts:
        yield "score/end_to_end_latency_ms", f"is shorter than collection and patrol together, {parts} ms"


def _scenario_faults(run: ContributionRun, manifest: Manifest) -> Iterator[tuple[str, str]]:
    declared = len(manifest.faults or ())
    if run.score.faults > declared or (run.passed and run.score.faults != declared):
        yield "score/faults", f"is {run.score.faults}, the scenario has {declared}"
    if is_unscored(run.score):
        return
    seen = gate_failures(manifest, _as_score(run.score))
    if run.failure_counts.gate_failures < len(seen):
        broken_gates = ", ".join(sorted(entry.partition(": ")[0] for entry in seen))
        stored = run.failure_counts.gate_failures
        yield (
            "failure_counts/gate_failures",
            f"is {stored}, but the numbers break these gates: {broken_gates}",
        )
    yield from _teardown_faults(run, manifest)


def _teardown_faults(run: ContributionRun, manifest: Manifest) -> Iterator[tuple[str, str]]:
    safety, wanted = run.safety, manifest.teardown
    if not safety.teardown_passed:
        return
    if wanted.require_second_cleanup_noop and not safety.second_cleanup_noop:
        yield "safety/teardown_passed", "is true, although the second cleanup still removed something"
    if wanted.require_inventory_unchanged and not safety.inventory_unchanged:
        yield "safety/teardown_passed", "is true, although the inventory changed"


def _as_score(score: ContributionScore) -> Score:
    """The part of a score that was exported; latencies lose what is below a millisecond."""
    known = {name: getattr(score, name) for name in _SHARED}
    return _BLANK.model_copy(
        update={
            **known,
            "collection_latency_ns": score.collection_latency_ms * 1_000_000,
            "patrol_latency_ns": score.patrol_latency_ms * 1_000_000,
            "end_to_end_latency_ns": score.end_to_end_latency_ms * 1_000_000,
        }
    )


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole > 0 else 1.0
