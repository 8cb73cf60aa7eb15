"""Keeps the newest state of the engine's containers, and says when it has become stale."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace

from patrol.clock import Clock, rfc3339
from patrol.collect.engine import Engine
from patrol.collect.projection import Daemon, Identity, Inspected, host_resource, identity, project
from patrol.errors import EngineError
from patrol.records import Resource

STALE_AFTER = 3


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What was seen at one moment; `resources` by canonical id."""

    resources: Mapping[str, Resource]
    identities: tuple[Identity, ...]
    collected: bool = False
    failures: int = 0

    @property
    def stale(self) -> bool:
        return not self.collected or self.failures >= STALE_AFTER


class Collector:
    """Polls an engine every `interval_s` seconds in a thread of its own, and on demand."""

    def __init__(self, engine: Engine, clock: Clock, *, interval_s: float) -> None:
        self._engine = engine
        self._clock = clock
        self._interval_s = interval_s
        self._lock = threading.Lock()
        self._snapshot = Snapshot({}, ())
        self._daemon: Daemon | None = None
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def snapshot(self) -> Snapshot:
        return self._snapshot

    def collect(self) -> Snapshot:
        """Read everything now; on EngineError the last good state stays, stale after three failures."""
        with self._lock:
            try:
                self._snapshot = self._read()
            except EngineError:
                self._snapshot = _failed(self._snapshot)
                raise
            return self._snapshot

    def live(self, resource_id: str) -> Resource | None:
        """One container read this moment; None when it is gone or no container. Raises EngineError."""
        known = self._snapshot.resources.get(resource_id)
        if known is None or known.docker is None or self._daemon is None:
            return None
        inspected = self._engine.container(known.docker.container_id)
        return None if inspected is None else project(self._daemon, inspected, rfc3339(self._clock.now_ns()))

    def usage(self, resource_id: str) -> Inspected | None:
        """One sample of a running container's counters; None where there is none. Raises EngineError."""
        known = self._snapshot.resources.get(resource_id)
        if known is None or known.docker is None or known.docker.container_state != "running":
            return None
        return self._engine.usage(known.docker.container_id)

    def start(self) -> None:
        self._thread = threading.Thread(target=self._poll, name="collector", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        if self._thread is not None:
            self._thread.join(timeout=30)

    def _poll(self) -> None:
        while not self._clock.wait(self._stop, self._interval_s):
            try:
                self.collect()
            except EngineError:
                continue  # counted in the snapshot, and shown as the source's status

    def _read(self) -> Snapshot:
        daemon = self._daemon = self._engine.daemon()
        seen = rfc3339(self._clock.now_ns())
        found = [project(daemon, inspected, seen) for inspected in self._engine.containers()]
        found.append(host_resource(daemon, seen))
        return Snapshot(
            resources={resource.id: resource for resource in sorted(found, key=lambda one: one.name)},
            identities=tuple(identity(daemon, resource) for resource in found),
            collected=True,
        )


def _failed(last: Snapshot) -> Snapshot:
    failures = last.failures + 1
    if failures < STALE_AFTER:
        return replace(last, failures=failures)
    stale = {
        key: one.model_copy(update={"source_status": "stale", "capabilities": ()})
        for key, one in last.resources.items()
    }
    return replace(last, failures=failures, resources=stale)
