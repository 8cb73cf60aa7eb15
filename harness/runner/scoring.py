"""From what was seen to a score, by the contract's rules alone (runner, section 2.8)."""

from __future__ import annotations

from contract.scoring import ScoringInput, apply_pro_gates, score_run, with_hard_failure
from harness.runner.context import RunContext


def score(context: RunContext) -> None:
    """Score the run; what the oracle could not measure counts as not held."""
    evidence, plan = context.evidence, context.plan
    environment, safety = evidence.environment, evidence.safety
    scored = score_run(
        ScoringInput(
            manifest=plan.manifest,
            ground=evidence.ground_truth,
            run=evidence.patrol_run,
            findings=evidence.findings,
            provider=environment.provider,
            model=environment.model,
            inference_route=environment.inference_route,
            collection_latency=context.collection_ns,
            end_to_end_latency=context.clock.monotonic_ns() - context.fault_clock_ns,
            faults_intact=safety is not None and safety.faults_intact is True,
            no_mutation=safety is not None and safety.no_unexpected_mutation is True,
        ),
        context.prices,
    )
    judged = apply_pro_gates(
        scored, plan.manifest, evidence.ground_truth, evidence.investigations, evidence.remediation
    )
    if plan.manifest.track != "watch" and not evidence.investigations:
        # Only a live run knows that it waited in vain; scoring the report again does not add this one.
        judged = with_hard_failure(judged, "no-completed-investigation", "no investigation was completed")
    evidence.score = judged
