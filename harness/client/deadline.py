"""Waiting with an end."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from harness.client.errors import DeadlineError, HTTPError
from harness.clock import Clock

T = TypeVar("T")


class Deadline:
    """A point in time until which something is waited for."""

    def __init__(self, clock: Clock, timeout_ns: int, what: str) -> None:
        self._clock = clock
        self._end = clock.monotonic_ns() + timeout_ns
        self._timeout_ns = timeout_ns
        self._what = what

    @property
    def passed(self) -> bool:
        """Whether there is no time left."""
        return self._clock.monotonic_ns() >= self._end

    def pause(self, seconds: float, last: str = "") -> None:
        """Wait within the deadline; DeadlineError, with the last thing seen, when none of it is left."""
        left = (self._end - self._clock.monotonic_ns()) / 1e9
        if left <= 0:
            seen = f"; last: {last}" if last else ""
            raise DeadlineError(f"{self._what} did not happen within {self._timeout_ns / 1e9:g} s{seen}")
        self._clock.sleep(min(seconds, left))

    def ask(self, request: Callable[[], T]) -> T:
        """Send a request, and again after `Retry-After` while a server limits the rate (HTTP 429).

        When none of the time is left, the refusal itself is raised.
        """
        while True:
            try:
                return request()
            except HTTPError as exc:
                after = exc.details.get("retry_after", "")
                if exc.status != 429 or not after.isdecimal() or exc.code == "patrol_rate_limited":
                    raise
                if self.passed:
                    raise
                self.pause(max(1, int(after[:6])))
