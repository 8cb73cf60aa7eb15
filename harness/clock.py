"""Time and the wish to stop, as they come in from outside."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

from contract.errors import PatrolQualificationError
from contract.timestamps import Timestamp


class Clock(Protocol):
    """What a run needs to know of time."""

    def now(self) -> Timestamp:
        """The present, in UTC."""

    def monotonic_ns(self) -> int:
        """Nanoseconds that never go backwards."""

    def sleep(self, seconds: float) -> None:
        """Wait; CancelledRunError as soon as the run is to end."""


class CancelledRunError(PatrolQualificationError):
    """A signal asked for the end; the exit code is that of the signal."""

    def __init__(self, signum: int) -> None:
        super().__init__(f"ended by {signal.Signals(signum).name}", hint="the lab was cleaned up first")
        self.exit_code = 128 + signum


class Cancellation:
    """The wish to stop: set once, by a signal or by a test, and seen by every wait."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self._breakable = False
        self._shielded = False
        self._signum = signal.SIGINT

    @property
    def requested(self) -> bool:
        """Whether the run is to end."""
        return self._event.is_set()

    def request(self, signum: int = signal.SIGINT) -> None:
        """Ask for the end; only the first time counts."""
        if not self.requested:
            self._signum = signal.Signals(signum)
            self._event.set()
            if self._breakable and not self._shielded:
                raise CancelledRunError(signum)

    def check(self) -> None:
        """Raise CancelledRunError if the run is to end."""
        if self.requested and not self._shielded:
            raise CancelledRunError(self._signum)

    def sleep(self, seconds: float) -> None:
        """Wait, or raise CancelledRunError at once when the run is to end."""
        if self._shielded:
            time.sleep(max(seconds, 0))
        else:
            self._event.wait(max(seconds, 0))
        self.check()

    @contextmanager
    def shielded(self) -> Iterator[None]:
        """Mark a stretch that goes on in spite of the wish to stop: cleanup, giving back what was lent."""
        outer, self._shielded = self._shielded, True
        try:
            yield
        finally:
            self._shielded = outer

    @contextmanager
    def breakable(self) -> Iterator[None]:
        """Mark a stretch that a signal may break off in the middle: waiting for an HTTP answer."""
        self.check()
        outer, self._breakable = self._breakable, True
        try:
            yield
        finally:
            self._breakable = outer

    @contextmanager
    def on_signals(self, notice: Callable[[str], None]) -> Iterator[None]:
        """Take SIGINT and SIGTERM as the wish to stop; a second one is answered with a notice and ignored."""

        def handle(signum: int, _frame: object) -> None:
            again = self.requested
            name = signal.Signals(signum).name
            notice(f"{name}: " + ("cleanup is already under way; please wait" if again else "ending the run"))
            self.request(signum)

        before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


class SystemClock:
    """The machine's clock; its waits end early when the run is cancelled."""

    def __init__(self, cancellation: Cancellation | None = None) -> None:
        self._cancellation = cancellation

    def now(self) -> Timestamp:
        """The present, in UTC, to the nanosecond."""
        seconds, nanoseconds = divmod(time.time_ns(), 10**9)
        stem = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))
        return Timestamp(f"{stem}.{nanoseconds:09}Z")

    def monotonic_ns(self) -> int:
        """Nanoseconds that never go backwards."""
        return time.monotonic_ns()

    def sleep(self, seconds: float) -> None:
        """Wait; CancelledRunError as soon as the run is to end."""
        if self._cancellation is None:
            time.sleep(max(seconds, 0))
        else:
            self._cancellation.sleep(seconds)


def elapsed(clock: Clock, since_ns: int) -> int:
    """Nanoseconds of the monotonic clock since an earlier reading."""
    return clock.monotonic_ns() - since_ns
