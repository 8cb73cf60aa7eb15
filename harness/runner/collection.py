"""Phase 4: wait until the server's own collector shows the lab, and learn its ids (runner, section 2.4)."""

from __future__ import annotations

from collections.abc import Mapping

from contract.durations import positive_duration
from contract.manifest import FaultSpec
from contract.truth import CollectedTruth, FaultTruth, GroundTruth, NegativeTruth
from harness.client.records import Resource
from harness.runner.context import RunContext
from harness.runner.errors import CollectionError
from harness.runner.projection import objection


def collect(context: RunContext) -> None:
    """Wait for convergence and bind the truth to the ids under which the server knows the lab."""
    manifest, prepared = context.plan.manifest, context.lab.prepared
    if prepared is None:
        raise CollectionError("there is no lab to wait for")
    resources = context.pulse.wait_for_resources(
        prepared.resource_names or {},
        positive_duration(manifest.collection.convergence_timeout),
        positive_duration(manifest.collection.poll_interval),
        lambda collected: objection(manifest, collected),
    )
    collected = {alias: _collected(context, alias, resource) for alias, resource in resources.items()}
    _require_distinct(collected)
    context.evidence.collected = collected
    context.evidence.ground_truth = bind_truth(
        context.evidence.ground_truth, manifest.faults or (), collected
    )


def scope_ids(context: RunContext) -> tuple[str, ...]:
    """The ids a run is scoped to, sorted; none for a run over everything (runner, section 2.5)."""
    patrol = context.plan.manifest.patrol
    if not patrol.scoped:
        return ()
    aliases = patrol.scope_resources or tuple(context.evidence.collected)
    return tuple(sorted(context.evidence.collected[alias].resource_id for alias in aliases))


def bind_truth(
    truth: GroundTruth, faults: tuple[FaultSpec, ...], collected: Mapping[str, CollectedTruth]
) -> GroundTruth:
    """Ground truth with the collected ids and types of every resource that it names."""
    specs = {fault.id: fault for fault in faults}
    return truth.model_copy(
        update={
            "resources": dict(collected),
            "faults": tuple(_bind_fault(fault, specs[fault.id], collected) for fault in truth.faults or ()),
            "negative_controls": tuple(
                _bind_negative(control, collected) for control in truth.negative_controls
            ),
        }
    )


def _bind_fault(fault: FaultTruth, spec: FaultSpec, collected: Mapping[str, CollectedTruth]) -> FaultTruth:
    target = collected[spec.target]
    expected = collected[spec.expected_finding.resource or spec.target]
    return fault.model_copy(
        update={
            "resource_id": target.resource_id,
            "resource_type": target.resource_type,
            "expected_resource_alias": expected.alias,
            "expected_resource_name": expected.name,
            "expected_resource_id": expected.resource_id,
            "expected_resource_type": expected.resource_type,
            "related_resource_ids": tuple(collected[alias].resource_id for alias in spec.related_resources),
        }
    )


def _bind_negative(control: NegativeTruth, collected: Mapping[str, CollectedTruth]) -> NegativeTruth:
    return control.model_copy(update={"resource_id": collected[control.alias].resource_id})


def _collected(context: RunContext, alias: str, resource: Resource) -> CollectedTruth:
    return CollectedTruth(
        alias=alias,
        name=resource.name,
        resource_id=resource.id,
        resource_type=resource.type,
        status=resource.status,
        observed_at=context.clock.now(),
    )


def _require_distinct(collected: Mapping[str, CollectedTruth]) -> None:
    ids = [truth.resource_id for truth in collected.values()]
    if not all(ids) or len(set(ids)) != len(ids):
        raise CollectionError(f"the server gives the lab's resources no distinct ids: {sorted(ids)}")
