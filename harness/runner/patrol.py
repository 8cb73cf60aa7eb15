"""Phase 5: let Patrol run, and take down what it made of it (runner, section 2.5)."""

from __future__ import annotations

from collections.abc import Sequence

from contract.durations import positive_duration
from contract.report import Finding, PatrolRun
from harness.client.errors import DeadlineError
from harness.runner.association import owned_findings
from harness.runner.collection import scope_ids
from harness.runner.context import RunContext
from harness.runner.errors import SubjectError
from harness.runner.model_evidence import require_model_evidence, run_complaints
from harness.runner.reconfirmation import require_prerequisite, require_reconfirmed, required_resource_ids


def patrol(context: RunContext) -> None:
    """Trigger the scored run, after a warm-up where the scenario asks for one, and bind its findings."""
    manifest, evidence = context.plan.manifest, context.evidence
    warm_up: tuple[Finding, ...] = ()
    required = required_resource_ids(evidence.ground_truth)
    before = context.pulse.findings()
    if manifest.patrol.require_existing_reconfirmation:
        prerequisite, before, warm_up = _run(context, before)
        evidence.prerequisite_run = prerequisite
        require_prerequisite(prerequisite, warm_up, required)
    run, _, findings = _run(context, before)
    evidence.patrol_run, evidence.findings = run, findings
    evidence.errors.extend(run_complaints(run))
    require_model_evidence(manifest, run)
    if manifest.patrol.require_existing_reconfirmation:
        require_reconfirmed(run, warm_up, required)


def _run(
    context: RunContext, before: Sequence[Finding]
) -> tuple[PatrolRun, tuple[Finding, ...], tuple[Finding, ...]]:
    """The run's record, the findings after it, and those of them that are its own."""
    timeout_ns = positive_duration(context.plan.manifest.patrol.run_timeout)
    triggered_at = context.clock.now()
    try:
        run = context.pulse.trigger_and_wait(scope_ids(context), timeout_ns)
    except DeadlineError as exc:
        raise SubjectError(str(exc), hint="the scenario's run_timeout is part of what is measured") from exc
    after = context.pulse.findings()
    ids = [truth.resource_id for truth in context.evidence.collected.values()]
    return run, after, owned_findings(before, after, run, ids, triggered_at)
