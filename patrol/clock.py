"""Time comes in from outside, as nanoseconds since 1970; texts are RFC 3339 in UTC."""

from __future__ import annotations

import threading
import time
from datetime import UTC, datetime
from typing import Protocol

NS = 1_000_000_000


class Clock(Protocol):
    """What the runtime needs of time."""

    def now_ns(self) -> int:
        """Nanoseconds since 1970."""

    def monotonic(self) -> float:
        """Seconds that never run backwards, for durations and deadlines."""

    def wait(self, event: threading.Event, seconds: float) -> bool:
        """Wait for `event` at most `seconds`; true if it was set."""


class SystemClock:
    """The machine's own time."""

    def now_ns(self) -> int:
        return time.time_ns()

    def monotonic(self) -> float:
        return time.monotonic()

    def wait(self, event: threading.Event, seconds: float) -> bool:
        return event.wait(seconds)


def rfc3339(moment_ns: int) -> str:
    """The text of a moment in UTC with as many fractional digits as it has, e.g. `2026-11-30T12:00:00.5Z`."""
    seconds, rest = divmod(moment_ns, NS)
    text = datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    fraction = f"{rest:09d}".rstrip("0")
    return f"{text}.{fraction}Z" if fraction else f"{text}Z"


def from_rfc3339(text: str) -> int:
    """Nanoseconds since 1970 of a text in UTC as Docker and `rfc3339` write it; ValueError otherwise."""
    head, _, tail = text.removesuffix("Z").partition(".")
    moment = datetime.strptime(head, "%Y-%m-%dT%H:%M:%S").replace(tzinfo=UTC)
    return int(moment.timestamp()) * NS + int((tail or "0").ljust(9, "0")[:9])
