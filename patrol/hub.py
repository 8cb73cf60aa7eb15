"""Events of runs for whoever watches the stream; the newest are kept for a reader that comes back."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass

from patrol.clock import Clock

KEPT = 512


@dataclass(frozen=True, slots=True)
class Event:
    """One event; `seq` counts from 1 over the life of the process."""

    seq: int
    members: Mapping[str, object]


class Hub:
    """Published from the run's thread, read from the server's."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._events: deque[Event] = deque(maxlen=KEPT)
        self._lock = threading.Lock()
        self._seq = 0

    @property
    def last_seq(self) -> int:
        return self._seq

    def publish(self, run_id: str, kind: str, **members: object) -> None:
        with self._lock:
            self._seq += 1
            moment = self._clock.now_ns() // 1_000_000
            event = {"run_id": run_id, "seq": self._seq, "ts_ms": moment, "type": kind, **members}
            self._events.append(Event(self._seq, event))

    def since(self, seq: int) -> list[Event]:
        """Events after `seq`, oldest first; fewer than there were where too much happened in between."""
        with self._lock:
            return [event for event in self._events if event.seq > seq]

    def lost_after(self, seq: int) -> bool:
        """Whether something after `seq` is no longer kept, or `seq` is not of this process."""
        with self._lock:
            oldest = self._events[0].seq if self._events else self._seq + 1
            return seq > self._seq or seq < oldest - 1
