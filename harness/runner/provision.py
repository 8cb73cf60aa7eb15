"""Phases 2 and 3: a healthy lab, then the faults, both confirmed by the oracle (runner, section 2)."""

from __future__ import annotations

from collections.abc import Sequence

from contract.manifest import FaultSpec, Manifest
from contract.truth import FaultTruth, NegativeTruth, PredicateObservation
from harness.runner.context import RunContext
from harness.runner.errors import OracleError


def provision(context: RunContext) -> None:
    """Prepare the lab and observe the baseline a second time, for the record."""
    lab, evidence = context.lab, context.evidence
    environment = evidence.environment
    evidence.environment = environment.model_copy(
        update={"versions": {**environment.versions, **lab.versions()}}
    )
    try:
        lab.prepare()
    finally:
        evidence.prepared_lab = lab.prepared
    baseline = lab.observe(context.plan.manifest.baseline or ())
    evidence.ground_truth = evidence.ground_truth.model_copy(
        update={"created_at": context.clock.now(), "baseline": baseline}
    )
    require_all(baseline, "the baseline does not hold")


def inject(context: RunContext) -> None:
    """Break one thing after the other and confirm each; what was not confirmed is recorded as inactive."""
    manifest = context.plan.manifest
    context.fault_clock_ns = context.clock.monotonic_ns()
    _add_truth(context, negative_controls=_negatives(context, manifest))
    for fault in manifest.faults or ():
        context.applied.append(fault)
        context.lab.inject(fault)
        observations = context.lab.observe(fault.oracle or ())
        truth = _fault_truth(context, fault, observations)
        _add_truth(context, faults=(*(context.evidence.ground_truth.faults or ()), truth))
        require_all(observations, f"fault {fault.id} was not confirmed")
    if context.lab.prepared is not None:
        context.evidence.prepared_lab = context.lab.prepared


def require_all(observations: Sequence[PredicateObservation], what: str) -> None:
    """OracleError unless every observation passed and there is at least one."""
    if not observations:
        raise OracleError(f"{what}: nothing was observed")
    for seen in observations:
        if not seen.passed:
            predicate = seen.predicate
            raise OracleError(
                f"{what}: {predicate.probe} {predicate.operator} {predicate.value.text}, "
                f"observed {observed_text(seen)}",
                where=predicate.target,
            )


def observed_text(seen: PredicateObservation) -> str:
    """What an observation saw, in words."""
    text = "nothing" if seen.observed is None else seen.observed.text
    return f"{text} ({seen.error})" if seen.error else text


def _fault_truth(
    context: RunContext, fault: FaultSpec, observations: tuple[PredicateObservation, ...]
) -> FaultTruth:
    return FaultTruth(
        id=fault.id,
        causal_group=fault.causal_group,
        target_alias=fault.target,
        target_name=_names(context).get(fault.target, ""),
        active=bool(observations) and all(seen.passed for seen in observations),
        confirmed_at=context.clock.now(),
        observations=observations,
    )


def _negatives(context: RunContext, manifest: Manifest) -> tuple[NegativeTruth, ...]:
    return tuple(
        NegativeTruth(
            alias=control.resource,
            name=_names(context).get(control.resource, ""),
            reason=control.reason,
        )
        for control in manifest.negative_controls
    )


def _names(context: RunContext) -> dict[str, str]:
    prepared = context.lab.prepared
    return dict(prepared.resource_names or {}) if prepared else {}


def _add_truth(context: RunContext, **parts: object) -> None:
    context.evidence.ground_truth = context.evidence.ground_truth.model_copy(update=parts)
