"""A finding that exists already must be looked at again (runner, section 4)."""

from __future__ import annotations

from collections.abc import Sequence

from contract.report import Finding, PatrolRun
from contract.text import fold_equal, lower, trim
from contract.truth import GroundTruth
from harness.runner.errors import SubjectError
from harness.runner.model_evidence import is_all_clear


def required_resource_ids(truth: GroundTruth) -> tuple[str, ...]:
    """The id on which the finding of each fault is expected."""
    return tuple(fault.expected_resource_id or fault.resource_id for fault in truth.faults or ())


def require_prerequisite(run: PatrolRun, findings: Sequence[Finding], required: Sequence[str]) -> None:
    """SubjectError unless the warm-up run found every fault and ended well."""
    if lower(trim(run.status)) == "error" or run.error_count:
        raise SubjectError("the prerequisite run ended with errors", where=f"run {run.id}")
    if not findings:
        raise SubjectError("the prerequisite run found nothing", where=f"run {run.id}")
    found = {finding.resource_id for finding in findings}
    missing = sorted(set(required) - found)
    if missing:
        raise SubjectError(
            f"the prerequisite run found nothing on {', '.join(missing)}", where=f"run {run.id}"
        )


def require_reconfirmed(run: PatrolRun, warm_up: Sequence[Finding], required: Sequence[str]) -> None:
    """SubjectError unless the scored run judged every required finding to be present."""
    if run.existing_findings <= 0 or not run.finding_assessments:
        raise SubjectError("no existing finding was assessed", where=f"run {run.id}")
    present = {
        assessment.finding_id
        for assessment in run.finding_assessments
        if fold_equal(trim(assessment.verdict), "present")
    }
    open_ids = sorted(
        finding.id for finding in warm_up if finding.resource_id in required and finding.id not in present
    )
    if open_ids:
        raise SubjectError(f"not assessed as present: {', '.join(open_ids)}", where=f"run {run.id}")
    if is_all_clear(run):
        raise SubjectError("an all clear beside findings that are present", where=f"run {run.id}")
