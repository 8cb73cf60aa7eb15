"""One run from manifest to report: phases in order, cleanup and report always (runner, section 2)."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from contract.errors import PatrolQualificationError
from contract.pricing import PriceTable
from contract.record import zero
from contract.redaction import sanitize
from contract.report import RunReport
from contract.truth import GroundTruth
from harness.clock import CancelledRunError, elapsed
from harness.runner import journal as names
from harness.runner.collection import collect
from harness.runner.context import Evidence, RunContext
from harness.runner.investigation import investigate
from harness.runner.journal import Failure, Journal, Silent, Watcher
from harness.runner.patrol import patrol
from harness.runner.plan import RunPlan
from harness.runner.ports import Clock, Lab, Pulse
from harness.runner.preflight import attributed_environment, preflight
from harness.runner.provision import inject, provision
from harness.runner.remediation import remediate
from harness.runner.safety import check_safety, revert
from harness.runner.scoring import score

REPORT_SCHEMA: Final = "patrol.qualification.report/v1"
TEARDOWN: Final = "teardown"
TRUTH_SCHEMA: Final = "patrol.qualification.ground-truth/v2"

Phase = Callable[[RunContext], None]

# The run ends with the first of these that does not pass.
STOPPING: Final[tuple[tuple[str, Phase], ...]] = (
    (names.PREFLIGHT, preflight),
    (names.PROVISION, provision),
    (names.INJECT, inject),
    (names.COLLECT, collect),
    (names.PATROL, patrol),
)
# Of these every one is run.
CONTINUING: Final[dict[str, tuple[tuple[str, Phase], ...]]] = {
    "watch": ((names.SAFETY, check_safety),),
    "investigation": ((names.SAFETY, check_safety), (names.INVESTIGATE, investigate)),
    "remediation": (
        (names.SAFETY, check_safety),
        (names.INVESTIGATE, investigate),
        (names.REMEDIATE, remediate),
    ),
}


class Verdict(StrEnum):
    """How a run ended; only the first two say something about the subject."""

    PASSED = "passed"
    FAILED = "failed"
    INVALID = "invalid"
    RESIDUE = "residue"

    @property
    def exit_code(self) -> int:
        """What a command that saw this verdict ends with."""
        return {"passed": 0, "failed": 1, "invalid": 4, "residue": 5}[self.value]


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """A report, what is to be thought of it, and the signal that ended it, if one did."""

    report: RunReport
    verdict: Verdict
    failures: tuple[Failure, ...]
    cancelled: CancelledRunError | None = None


def phase_names(track: str) -> tuple[str, ...]:
    """The phases of a track in order."""
    return (*(name for name, _ in (*STOPPING, *CONTINUING[track])), names.REVERT)


class Runner:
    """Runs one scenario once against one lab and one server."""

    def __init__(
        self,
        plan: RunPlan,
        lab: Lab,
        pulse: Pulse,
        *,
        clock: Clock,
        prices: PriceTable,
        watcher: Watcher | None = None,
        shield: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        self._plan = plan
        self._shield = shield
        self._watcher = watcher or Silent()
        self._journal = Journal(plan.run_id, clock, self._watcher)
        truth = zero(GroundTruth).model_copy(
            update={
                "schema_version": TRUTH_SCHEMA,
                "manifest_id": plan.manifest.id,
                "manifest_digest": plan.digest,
                "run_id": plan.run_id,
                "created_at": clock.now(),
                "baseline": (),
                "faults": (),
                "resources": {},
            }
        )
        environment = attributed_environment(plan, lab, pulse, clock)
        self._context = RunContext(plan, lab, pulse, clock, prices, Evidence(environment, truth))

    def run(self) -> RunOutcome:
        """Go through the phases, clean up, report. Nothing but a bug in the report itself gets out."""
        if self._stopping_phases():
            self._remaining_phases()
        elif self._context.applied and self._journal.cancelled is None:
            self._mend_what_was_broken()
        with self._shield():
            self._clean_up()
        return self._outcome()

    def _stopping_phases(self) -> bool:
        for name, phase in STOPPING:
            if not self._run(name, phase):
                return False
            if name == names.COLLECT:
                self._context.collection_ns = self._journal.duration_ns(name)
        return True

    def _remaining_phases(self) -> None:
        for name, phase in CONTINUING[self._plan.manifest.track]:
            self._run(name, phase)
            if self._journal.cancelled is not None:
                return
        self._score()
        self._run(names.REVERT, revert)

    def _mend_what_was_broken(self) -> None:
        """Best effort: the run has already ended, and cleanup does not depend on it."""
        known = list(self._journal.failures)
        self._run(names.REVERT, revert)
        self._journal.failures[:] = known

    def _run(self, name: str, phase: Phase) -> bool:
        return self._journal.run(name, lambda: phase(self._context))

    def _score(self) -> None:
        try:
            score(self._context)
        except Exception as exc:  # noqa: BLE001 - the lab is cleaned up and the report written all the same
            text = sanitize(f"{type(exc).__name__}: {exc}")
            self._journal.failures.append(Failure("scoring", text, by_subject=False))

    def _clean_up(self) -> None:
        lab, evidence = self._context.lab, self._context.evidence
        if lab.prepared is None:
            return
        evidence.prepared_lab = lab.prepared
        started_ns = self._context.clock.monotonic_ns()
        self._watcher.begin(self._plan.run_id, TEARDOWN)
        self._remove_everything()
        duration_ns = elapsed(self._context.clock, started_ns)
        self._watcher.end(self._plan.run_id, TEARDOWN, duration_ns, "; ".join(evidence.teardown.errors))

    def _remove_everything(self) -> None:
        lab, evidence = self._context.lab, self._context.evidence
        try:
            evidence.teardown = lab.cleanup()
        except Exception as exc:  # noqa: BLE001 - a cleanup that broke is residue, and the report says so
            text = sanitize(f"cleanup: {exc if isinstance(exc, PatrolQualificationError) else repr(exc)}")
            evidence.teardown = evidence.teardown.model_copy(update={"errors": (text,), "passed": False})

    def _outcome(self) -> RunOutcome:
        report = self._report()
        failures = tuple(self._journal.failures)
        verdict = judge(report, failures)
        return RunOutcome(report, verdict, failures, self._journal.cancelled)

    def _report(self) -> RunReport:
        evidence, manifest = self._context.evidence, self._plan.manifest
        failed = [f"{failure.phase}: {failure.text}" for failure in self._journal.failures]
        errors = (*failed, *(sanitize(text) for text in evidence.errors))
        return RunReport(
            schema_version=REPORT_SCHEMA,
            run_id=self._plan.run_id,
            generated_at=self._context.clock.now(),
            manifest=manifest,
            environment=evidence.environment,
            ground_truth=evidence.ground_truth,
            prepared_lab=evidence.prepared_lab,
            collected_resources=evidence.collected,
            patrol_run=evidence.patrol_run,
            prerequisite_patrol_run=evidence.prerequisite_run,
            findings=evidence.findings,
            investigations=evidence.investigations,
            actions=evidence.actions,
            remediation=evidence.remediation,
            score=evidence.score,
            safety_oracle=evidence.safety,
            post_patrol_oracle=evidence.post_patrol,
            revert_oracle=evidence.reverted,
            teardown=evidence.teardown,
            phases=self._journal.entries(phase_names(manifest.track)),
            errors=errors,
            passed=evidence.score.passed and evidence.teardown.passed and not errors,
        )


def judge(report: RunReport, failures: tuple[Failure, ...]) -> Verdict:
    """Residue outweighs a broken harness or lab, which outweighs the subject's failure."""
    if report.prepared_lab is not None and not report.teardown.passed:
        return Verdict.RESIDUE
    if any(not failure.by_subject for failure in failures):
        return Verdict.INVALID
    return Verdict.PASSED if report.passed else Verdict.FAILED
