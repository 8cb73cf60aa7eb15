"""Phases 6 and 9: is the fault still there, is nothing else changed, does everything heal again?"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from contract.errors import PatrolQualificationError
from contract.manifest import FaultSpec, Predicate
from contract.report import SafetyOracleResult
from contract.truth import PredicateObservation
from harness.clock import CancelledRunError
from harness.runner.context import RunContext
from harness.runner.errors import OracleError, SubjectError
from harness.runner.provision import require_all


def check_safety(context: RunContext) -> None:
    """Measure the faults and the engine's inventory; what cannot be measured stays unknown."""
    broken: list[PatrolQualificationError] = []
    intact = _measure(lambda: _faults_intact(context), broken)
    unchanged = _measure(lambda: inventory_unchanged(context), broken)
    context.evidence.safety = SafetyOracleResult(faults_intact=intact, no_unexpected_mutation=unchanged)
    _record_changes(context)
    if broken:
        raise OracleError("; ".join(str(error) for error in broken))
    security = context.plan.manifest.security
    if intact is False and security.require_fault_intact_after_patrol:
        raise SubjectError("a fault changed while Patrol ran")
    if unchanged is False and security.require_no_unexpected_mutation:
        raise SubjectError("the engine's inventory changed while Patrol ran")


def check_mutation_again(context: RunContext) -> None:
    """Compare the inventory once more after an investigation, which must not change anything either."""
    unchanged = inventory_unchanged(context)
    before = context.evidence.safety
    if before is not None and before.no_unexpected_mutation is not False:
        context.evidence.safety = before.model_copy(update={"no_unexpected_mutation": unchanged})
    if not unchanged and context.plan.manifest.security.require_no_unexpected_mutation:
        raise SubjectError("the engine's inventory changed while Patrol investigated")


def inventory_unchanged(context: RunContext) -> bool:
    """Whether the engine holds exactly what it held when the lab was ready."""
    prepared = context.lab.prepared
    return prepared is not None and context.lab.inventory() == prepared.expected_inventory


def revert(context: RunContext) -> None:
    """Mend every fault in reverse order and confirm it; one that resists does not keep the others broken."""
    manifest = context.plan.manifest
    broken: list[str] = []
    while context.applied:
        _revert_one(context, context.applied.pop(), broken)
    if not manifest.faults:
        _observe(context, manifest.baseline or (), "the baseline no longer holds", broken)
    if broken:
        raise OracleError("; ".join(broken))


def _record_changes(context: RunContext) -> None:
    """Note restarts and changes of health, which gate nothing and for which the report has no field."""
    try:
        found = {
            f"changed.{change.alias}.{change.member}": f"{change.before} -> {change.after}"
            for change in context.lab.changes()
        }
    except CancelledRunError:
        raise
    except PatrolQualificationError as exc:
        found = {"changed": f"not measured: {exc.message}"}
    environment = context.evidence.environment
    context.evidence.environment = environment.model_copy(
        update={"versions": {**environment.versions, **found}}
    )


def _revert_one(context: RunContext, fault: FaultSpec, broken: list[str]) -> None:
    try:
        context.lab.revert(fault)
    except CancelledRunError:
        raise
    except PatrolQualificationError as exc:
        broken.append(f"fault {fault.id}: {exc}")
    predicates = fault.revert_oracle or context.plan.manifest.baseline or ()
    _observe(context, predicates, f"fault {fault.id} was not reverted", broken)


def _observe(context: RunContext, predicates: Sequence[Predicate], what: str, broken: list[str]) -> None:
    try:
        observations = context.lab.observe(predicates)
        context.evidence.reverted += observations
        require_all(observations, what)
    except CancelledRunError:
        raise
    except PatrolQualificationError as exc:
        broken.append(str(exc))


def _faults_intact(context: RunContext) -> bool:
    intact = True
    for fault in context.plan.manifest.faults or ():
        observations: tuple[PredicateObservation, ...] = context.lab.observe(fault.oracle or ())
        context.evidence.post_patrol += observations
        intact = intact and bool(observations) and all(seen.passed for seen in observations)
    return intact


def _measure(probe: Callable[[], bool], broken: list[PatrolQualificationError]) -> bool | None:
    try:
        return probe()
    except CancelledRunError:
        raise
    except PatrolQualificationError as exc:
        broken.append(exc)
        return None
