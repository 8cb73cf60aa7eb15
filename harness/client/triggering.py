"""Trigger a Patrol run and come back with exactly that run's record."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

from contract.report import PatrolRun
from contract.timestamps import Timestamp
from harness.client.deadline import Deadline
from harness.client.errors import BusyError, HTTPError, LostRunError, ReplyError, ScopeError
from harness.client.records import PatrolStatus, RunAccepted
from harness.clock import Clock

POLL_SECONDS: Final = 2.0
LOST_AFTER_NS: Final = 15 * 10**9
SKEW_NS: Final = 2 * 10**9
_CONFLICT: Final = 409
_BUSY: Final = ("patrol_already_running", "")


class RunEndpoints(Protocol):
    """The part of a client that triggering needs."""

    clock: Clock

    def start_run(self, resource_ids: Sequence[str]) -> RunAccepted:
        """Trigger a run."""

    def run(self, run_id: str) -> PatrolRun | None:
        """A completed run, or `None`."""

    def runs(self) -> tuple[PatrolRun, ...]:
        """The newest completed runs."""

    def status(self) -> PatrolStatus:
        """What Patrol is doing."""


def poll_delays(longest: float) -> list[float]:
    """Pauses that begin short, so that a quick answer is not waited for, and end at the regular interval."""
    delays = [0.1]
    while delays[-1] * 2 < longest:
        delays.append(delays[-1] * 2)
    return [*delays, longest]


class Pace:
    """Hands out the pauses of `poll_delays`, the last one for ever."""

    def __init__(self, longest: float) -> None:
        self._delays = poll_delays(longest)

    def next(self) -> float:
        """The next pause in seconds."""
        return self._delays.pop(0) if len(self._delays) > 1 else self._delays[0]


def trigger_and_wait(pulse: RunEndpoints, resource_ids: Sequence[str], timeout_ns: int) -> PatrolRun:
    """Trigger a run over these resources (none: all of them) and wait for its record.

    Raises DeadlineError, BusyError, LostRunError, ScopeError or what the server refuses with (Pulse API,
    section 3.2).
    """
    known = frozenset(run.id for run in pulse.runs())
    triggered_at = pulse.clock.now()
    deadline = Deadline(pulse.clock, timeout_ns, "the end of the Patrol run")
    accepted = _start(pulse, resource_ids, deadline)
    if accepted.run_id:
        run = _await_bound(pulse, accepted.run_id, deadline)
    else:
        run = _await_unbound(pulse, known, triggered_at, resource_ids, deadline)
    _check_scope(run, resource_ids)
    return run


def _start(pulse: RunEndpoints, resource_ids: Sequence[str], deadline: Deadline) -> RunAccepted:
    while True:
        try:
            return pulse.start_run(resource_ids)
        except HTTPError as exc:
            if exc.status != _CONFLICT or exc.code not in _BUSY:
                raise
            if deadline.passed:
                raise BusyError("another run was under way all the time", where=exc.path) from exc
            deadline.pause(POLL_SECONDS)


def _await_bound(pulse: RunEndpoints, run_id: str, deadline: Deadline) -> PatrolRun:
    pace = Pace(POLL_SECONDS)
    idle_since: int | None = None
    while True:
        run = pulse.run(run_id)
        if run is not None:
            if run.id != run_id:
                raise ReplyError(f"asked for run {run_id}, answered with {run.id}")
            return run
        status = pulse.status()
        if status.running or status.current_run_id == run_id:
            idle_since = None
        else:
            now = pulse.clock.monotonic_ns()
            idle_since = now if idle_since is None else idle_since
            if now - idle_since > LOST_AFTER_NS:
                raise LostRunError(f"accepted run {run_id} left no durable record")
        deadline.pause(pace.next(), f"run {run_id} has no record yet")


def _await_unbound(
    pulse: RunEndpoints,
    known: frozenset[str],
    triggered_at: Timestamp,
    resource_ids: Sequence[str],
    deadline: Deadline,
) -> PatrolRun:
    """Find the run by time and scope: all that a server without run ids in its answer leaves."""
    pace = Pace(POLL_SECONDS)
    earliest = triggered_at.instant_ns - SKEW_NS
    while True:
        fresh = [
            run
            for run in pulse.runs()
            if run.id not in known and run.started_at.instant_ns >= earliest and _touches(run, resource_ids)
        ]
        if len(fresh) > 1:
            raise LostRunError(f"{len(fresh)} new runs could be the one that was triggered")
        if fresh:
            return fresh[0]
        deadline.pause(pace.next(), "no new run has ended")


def _touches(run: PatrolRun, resource_ids: Sequence[str]) -> bool:
    scope = run.effective_scope_resource_ids or run.scope_resource_ids
    return not resource_ids or bool(set(scope) & set(resource_ids))


def _check_scope(run: PatrolRun, resource_ids: Sequence[str]) -> None:
    if not resource_ids:
        return
    missing = sorted(set(resource_ids) - set(run.scope_resource_ids))
    if missing:
        raise ScopeError(f"run {run.id} was not asked about {', '.join(missing)}")
    if not run.effective_scope_resource_ids:
        raise ScopeError(f"run {run.id} looked at none of the requested resources")
