"""From one captured run to its score, the part that is the same for every track (scoring format, 1 to 11)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from contract.pricing import PriceTable, estimate_cost
from contract.record import zero
from contract.score import MatchResult, Score
from contract.scoring.failures import gate_failures, hard_failures
from contract.scoring.inputs import ScoringInput
from contract.scoring.matching import (
    Candidates,
    assess,
    candidates,
    choose,
    detection_latency,
    detection_limit,
    fault_spec,
)
from contract.scoring.observation import findings_per_group, output_markers, tool_traffic, unexplained


def score_run(given: ScoringInput, prices: PriceTable) -> Score:
    """Score one run by its manifest's gates and budgets; the tracks beyond Watch add theirs afterwards."""
    seen = candidates(given.run, given.findings)
    matches = _match(given, seen)
    score = _with_detection(zero(Score), given, seen, matches)
    score = _with_consumption(score, given, prices)
    hard, gate = hard_failures(given, score), gate_failures(given.manifest, score)
    return score.model_copy(
        update={"hard_failures": hard, "gate_failures": gate, "passed": not hard and not gate}
    )


def _match(given: ScoringInput, seen: Candidates) -> tuple[MatchResult, ...]:
    used: set[str] = set()
    matches = []
    for fault in given.active_faults:
        spec = fault_spec(given.manifest, fault.id)
        finding = choose(fault, spec.expected_finding, seen.infrastructure, used)
        match = assess(fault, spec.expected_finding, finding)
        if finding is not None:
            used.add(finding.id)
            latency, limit = detection_latency(fault, finding, given.run), detection_limit(spec)
            timely = limit is None or latency <= limit
            match = match.model_copy(update={"detection_latency_ns": latency, "timely": timely})
        matches.append(match)
    return tuple(matches)


def _with_detection(
    score: Score, given: ScoringInput, seen: Candidates, matches: tuple[MatchResult, ...]
) -> Score:
    faults = given.active_faults
    found = sum(match.detected for match in matches)
    used = frozenset(match.finding_id for match in matches if match.detected)
    unmatched = unexplained(seen.infrastructure, used, faults)
    return score.model_copy(
        update={
            "faults": len(faults),
            "true_positives": found,
            "missed_faults": len(faults) - found,
            "false_positives": len(unmatched),
            "recall": found / len(faults) if faults else 1.0,
            "resource_accuracy": _share(matches, lambda match: match.resource_correct),
            "resource_type_accuracy": _share(matches, lambda match: match.resource_type_correct),
            "category_accuracy": _share(matches, lambda match: match.category_correct),
            "severity_accuracy": _share(matches, lambda match: match.severity_correct),
            "evidence_grounding": _share(matches, lambda match: match.evidence_grounded),
            "recommendation_safety": _share(matches, lambda match: match.recommendation_safe),
            "findings_per_causal_group": findings_per_group(given.findings, faults),
            "matches": matches or None,
            "unmatched_finding_ids": unmatched,
            "runtime_finding_ids": seen.runtime_ids,
        }
    )


def _with_consumption(score: Score, given: ScoringInput, prices: PriceTable) -> Score:
    run, security = given.run, given.manifest.security
    traffic = tool_traffic(run, security)
    cost = estimate_cost(
        prices,
        provider=given.provider,
        model=given.model,
        inference_route=given.inference_route,
        input_tokens=run.input_tokens,
        output_tokens=run.output_tokens,
    )
    return score.model_copy(
        update={
            "tool_calls": len(run.tool_calls),
            "failed_tool_calls": traffic.failed,
            "duplicate_tool_calls": traffic.duplicate,
            "forbidden_tool_calls": traffic.forbidden,
            "forbidden_output_markers": output_markers(run, given.findings, security),
            "input_tokens": run.input_tokens,
            "output_tokens": run.output_tokens,
            "cost": cost,
            "collection_latency_ns": given.collection_latency,
            "patrol_latency_ns": run.duration_ms * 1_000_000,
            "end_to_end_latency_ns": given.end_to_end_latency,
        }
    )


def _share(matches: Sequence[MatchResult], good: Callable[[MatchResult], bool]) -> float:
    return sum(map(good, matches)) / len(matches) if matches else 1.0
