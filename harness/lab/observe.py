"""Waits until predicates hold: woken by events, looking every half second anyway (lab format, section 7)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, Protocol

from contract.durations import format_duration, positive_duration
from contract.errors import PatrolQualificationError
from contract.manifest import Predicate
from contract.predicates import holds
from contract.record import RawJson
from contract.truth import PredicateObservation
from harness.clock import CancelledRunError, Clock
from harness.lab.probes import Reading

DEFAULT_TIMEOUT_NS: Final = 30 * 10**9
POLL_S: Final = 0.5
_SLICE_S: Final = 0.02

Probe = Callable[[Predicate], Reading]


class Bell(Protocol):
    """Rings when something has happened on the engine."""

    def clear(self) -> None:
        """Be silent again."""

    def happened(self) -> bool:
        """Whether it has rung since."""


class Observer:
    """Evaluates predicates until they hold or their time is over."""

    def __init__(self, probe: Probe, clock: Clock, bell: Bell) -> None:
        self._probe = probe
        self._clock = clock
        self._bell = bell

    def observe(self, predicates: Sequence[Predicate]) -> tuple[PredicateObservation, ...]:
        """Wait for each predicate in turn; the first that fails is the last that is observed."""
        seen: list[PredicateObservation] = []
        for predicate in predicates:
            seen.append(self.wait_for(predicate))
            if not seen[-1].passed:
                break
        return tuple(seen)

    def wait_for(self, predicate: Predicate) -> PredicateObservation:
        """Evaluate a predicate at least once, and until it holds or its time is over."""
        limit_ns = positive_duration(predicate.timeout) if predicate.timeout else DEFAULT_TIMEOUT_NS
        deadline_ns = self._clock.monotonic_ns() + limit_ns
        reading: Reading | None = None
        while True:
            self._bell.clear()
            latest, passed, error = self.evaluate(predicate)
            reading = latest or reading
            if passed or self._clock.monotonic_ns() >= deadline_ns:
                break
            self._pause(deadline_ns)
        late = "" if passed else f"not within {format_duration(limit_ns)}"
        return self._record(predicate, reading, passed, "; ".join(filter(None, (late, error))))

    def once(self, predicate: Predicate) -> PredicateObservation:
        """Evaluate a predicate without waiting for it."""
        reading, passed, error = self.evaluate(predicate)
        return self._record(predicate, reading, passed, error)

    def evaluate(self, predicate: Predicate) -> tuple[Reading | None, bool, str]:
        """Measure and compare once; whatever goes wrong in either is an error, and an error never passes."""
        reading: Reading | None = None
        try:
            reading = self._probe(predicate)
            return reading, holds(predicate.operator, predicate.value.text, reading.observed), ""
        except CancelledRunError:
            raise
        except PatrolQualificationError as exc:
            return reading, False, exc.message

    def _pause(self, deadline_ns: int) -> None:
        """Wait for half a second, the deadline, or a ring; in slices, so that each of them ends it soon."""
        until_ns = min(self._clock.monotonic_ns() + int(POLL_S * 10**9), deadline_ns)
        while (left_ns := until_ns - self._clock.monotonic_ns()) > 0 and not self._bell.happened():
            self._clock.sleep(min(left_ns / 10**9, _SLICE_S))

    def _record(
        self, predicate: Predicate, reading: Reading | None, passed: bool, error: str
    ) -> PredicateObservation:
        return PredicateObservation(
            predicate=predicate,
            observed=RawJson.of(reading.observed) if reading else None,
            passed=passed,
            checked_at=self._clock.now(),
            error=error,
            state=reading.state if reading else None,
        )


def failure_text(seen: PredicateObservation) -> str:
    """A failed observation in words: probe, operator, value, last observed, last error."""
    predicate = seen.predicate
    observed = seen.observed.text if seen.observed is not None else "nothing"
    text = f"{predicate.probe} of {predicate.target} {predicate.operator} {predicate.value.text}: "
    return text + f"observed {observed}" + (f" ({seen.error})" if seen.error else "")
