"""Phase 7: wait for the investigation of every finding of the run (runner, section 2.7)."""

from __future__ import annotations

from typing import Final

from contract.durations import positive_duration
from contract.errors import PatrolQualificationError
from harness.client.errors import DeadlineError
from harness.clock import CancelledRunError
from harness.runner.context import RunContext
from harness.runner.errors import OracleError, SubjectError
from harness.runner.safety import check_mutation_again

DEFAULT_TIMEOUT_NS: Final = 10 * 60 * 10**9


def investigate(context: RunContext) -> None:
    """Collect the sessions one after the other; one that fails does not keep the others from being seen."""
    evidence, manifest = context.evidence, context.plan.manifest
    if not evidence.findings:
        raise SubjectError("the run has no finding that could have been investigated")
    text = manifest.patrol.investigation_timeout
    timeout_ns = positive_duration(text) if text else DEFAULT_TIMEOUT_NS
    late: list[str] = []
    broken: list[str] = []
    for finding in evidence.findings:
        try:
            session = context.pulse.wait_for_investigation(finding.id, timeout_ns)
        except CancelledRunError:
            raise
        except DeadlineError as exc:
            late.append(str(exc))
        except PatrolQualificationError as exc:
            broken.append(str(exc))
        else:
            evidence.investigations[finding.id] = session
    if broken:
        raise OracleError("; ".join([*broken, *late]))
    if late:
        raise SubjectError("; ".join(late))
    if manifest.track == "investigation":
        check_mutation_again(context)
