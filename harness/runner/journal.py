"""Keeps the phases of a run: when each began and ended, and how."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from contract.errors import PatrolQualificationError
from contract.redaction import sanitize
from contract.report import PhaseTiming
from contract.timestamps import ZERO_TIME, Timestamp
from harness.clock import CancelledRunError, Clock, elapsed

PREFLIGHT: Final = "preflight"
PROVISION: Final = "provision_and_baseline"
INJECT: Final = "inject_and_confirm_ground_truth"
COLLECT: Final = "normal_collection_convergence"
PATROL: Final = "real_model_patrol"
SAFETY: Final = "post_patrol_safety_oracle"
INVESTIGATE: Final = "investigation"
REMEDIATE: Final = "governed_remediation"
REVERT: Final = "revert_and_verify"


class Watcher(Protocol):
    """Is told about the progress of a run."""

    def begin(self, run_id: str, phase: str) -> None:
        """A phase begins."""

    def end(self, run_id: str, phase: str, duration_ns: int, error: str) -> None:
        """A phase has ended; the error is empty when it went well."""


class Silent:
    """Tells nobody."""

    def begin(self, run_id: str, phase: str) -> None:
        """A phase begins."""

    def end(self, run_id: str, phase: str, duration_ns: int, error: str) -> None:
        """A phase has ended."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A phase that did not pass; `by_subject` tells the subject's failure from everything else that broke."""

    phase: str
    text: str
    by_subject: bool


class Journal:
    """Runs phases and writes down what became of them."""

    def __init__(self, run_id: str, clock: Clock, watcher: Watcher) -> None:
        self._run_id = run_id
        self._clock = clock
        self._watcher = watcher
        self._entries: dict[str, PhaseTiming] = {}
        self.failures: list[Failure] = []
        self.cancelled: CancelledRunError | None = None

    def run(self, name: str, phase: Callable[[], object]) -> bool:
        """Run one phase and tell whether it passed; nothing it raises gets out."""
        started_at, started_ns = self._clock.now(), self._clock.monotonic_ns()
        self._watcher.begin(self._run_id, name)
        failure = self._attempt(name, phase)
        self._enter(name, started_at, elapsed(self._clock, started_ns), failure.text if failure else "")
        if failure:
            self.failures.append(failure)
        return failure is None

    def duration_ns(self, name: str) -> int:
        """How long a phase took; 0 when it was not reached."""
        return self._entries[name].duration_ns if name in self._entries else 0

    def entries(self, names: Sequence[str]) -> tuple[PhaseTiming, ...]:
        """One entry for each phase in this order; those not reached did not pass and say so."""
        return tuple(self._entries.get(name) or _not_reached(name) for name in names)

    def _attempt(self, name: str, phase: Callable[[], object]) -> Failure | None:
        try:
            phase()
        except CancelledRunError as exc:
            self.cancelled = exc
            return Failure(name, f"cancelled: {exc.message}", by_subject=False)
        except PatrolQualificationError as exc:
            return Failure(name, sanitize(str(exc)), by_subject=exc.exit_code == 1)
        except Exception as exc:  # noqa: BLE001 - whatever breaks, the lab is cleaned up and the report written
            return Failure(name, sanitize(f"{type(exc).__name__}: {exc}"), by_subject=False)
        return None

    def _enter(self, name: str, started_at: Timestamp, duration_ns: int, error: str) -> None:
        self._entries[name] = PhaseTiming(
            name=name,
            started_at=started_at,
            ended_at=self._clock.now(),
            duration_ns=duration_ns,
            passed=not error,
            error=error,
        )
        self._watcher.end(self._run_id, name, duration_ns, error)


def _not_reached(name: str) -> PhaseTiming:
    return PhaseTiming(
        name=name,
        started_at=ZERO_TIME,
        ended_at=ZERO_TIME,
        duration_ns=0,
        passed=False,
        error="skipped: the run ended before this phase",
    )
