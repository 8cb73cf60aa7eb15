"""Was a model really asked? (runner, section 3)"""

from __future__ import annotations

from typing import Final

from contract.manifest import Manifest
from contract.report import PatrolRun
from contract.text import fold_equal, is_blank, lower, trim
from harness.runner.errors import SubjectError

ALL_CLEAR: Final = "All healthy"


def require_model_evidence(manifest: Manifest, run: PatrolRun) -> None:
    """SubjectError unless the record shows that a model worked on it, or plausibly had nothing to do."""
    if run.tool_calls:
        return
    if manifest.patrol.require_tool_call_evidence or not _is_tool_free_shape(manifest):
        raise SubjectError("no persisted tool-call evidence", where=f"run {run.id}")
    if run.input_tokens <= 0 or run.output_tokens <= 0 or is_blank(run.ai_analysis):
        raise SubjectError(
            "no persisted evidence of a model: no tool calls, and no tokens or no analysis",
            where=f"run {run.id}",
        )
    if not is_all_clear(run) or _counts(run):
        raise SubjectError(
            "an all clear without tool calls contradicts the persisted run outcome", where=f"run {run.id}"
        )


def is_all_clear(run: PatrolRun) -> bool:
    """Whether a run says that nothing is wrong."""
    return lower(trim(run.status)) == "healthy" and fold_equal(trim(run.findings_summary), ALL_CLEAR)


def run_complaints(run: PatrolRun) -> list[str]:
    """What a passing run's record must not hold: recorded as errors, not raised."""
    complaints = []
    if lower(trim(run.status)) == "error":
        complaints.append(f"Patrol run {run.id} ended with status error: {run.error_summary or 'no summary'}")
    elif run.error_count:
        complaints.append(f"Patrol run {run.id} recorded {run.error_count} errors")
    return complaints


def _is_tool_free_shape(manifest: Manifest) -> bool:
    return (
        manifest.track == "watch"
        and not manifest.faults
        and bool(manifest.negative_controls)
        and not manifest.patrol.require_existing_reconfirmation
    )


def _counts(run: PatrolRun) -> int:
    counted = (run.new_findings, run.existing_findings, run.rejected_findings, run.resolved_findings)
    return sum(counted) + len(run.finding_ids or ())
