"""Fakes for the runtime's edges: a Docker engine, a clock, a model that says what it is told to."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from patrol.clock import NS
from patrol.collect.collector import Collector
from patrol.collect.projection import Daemon, Inspected
from patrol.errors import EngineError
from patrol.loop.watch import RunRequest, Watcher, WatchRun
from patrol.providers.base import Call, Reply, Request
from patrol.providers.scripts import CONTROLS, control
from patrol.records import RunRecord
from patrol.runtime import Runtime
from patrol.store import Store

START_NS = 1_796_000_000 * NS


class FakeClock:
    """Stands still until told otherwise; waiting passes the time at once."""

    def __init__(self) -> None:
        self.ns = START_NS

    def now_ns(self) -> int:
        self.ns += 1000
        return self.ns

    def monotonic(self) -> float:
        return self.ns / NS

    def wait(self, event: threading.Event, seconds: float) -> bool:
        self.advance(seconds)
        return event.wait(0.001)

    def advance(self, seconds: float) -> None:
        self.ns += round(seconds * NS)


class FakeEngine:
    """Containers by name, each an inspection as Docker writes it."""

    def __init__(self) -> None:
        self.inspected: dict[str, dict[str, Any]] = {}
        self.samples: dict[str, Inspected] = {}
        self.broken = False
        self.closed = False
        self.written: dict[str, list[str]] = {}
        self.executed: list[tuple[str, tuple[str, ...]]] = []
        self.outputs: dict[str, tuple[int, str]] = {}
        self.operated: list[tuple[str, str]] = []
        self.effect: Callable[[FakeEngine, str, str], None] = heal

    def add(self, name: str, *, state: str = "running", health: str = "healthy", **more: Any) -> str:
        """One more container, or its new state; gives its full id."""
        ident = f"{len(self.inspected):02d}{name.encode().hex():0<62}"[:64]
        ident = self.inspected[name]["Id"] if name in self.inspected else ident
        self.inspected[name] = {
            "Id": ident,
            "Name": f"/{name}",
            "RestartCount": more.get("restarts", 0),
            "State": {
                "Status": state,
                "Health": {"Status": health} if health else None,
                "ExitCode": more.get("exit_code", 0),
                "OOMKilled": False,
                "StartedAt": more.get("started", "2026-11-30T12:00:00Z"),
            },
            "Config": {
                "Image": "lab:1",
                "Labels": more.get("labels", {}),
                "Healthcheck": {"Test": more.get("test", ["CMD-SHELL", "true"])},
                "Env": ["SECRET=hidden-value"],
            },
            "Mounts": [{"Name": "hidden-volume"}],
        }
        return str(ident)

    def daemon(self) -> Daemon:
        self._answer()
        return Daemon("daemon-1", "machine")

    def containers(self) -> list[Inspected]:
        self._answer()
        return list(self.inspected.values())

    def container(self, container_id: str) -> Inspected | None:
        self._answer()
        return next((one for one in self.inspected.values() if one["Id"] == container_id), None)

    def usage(self, container_id: str) -> Inspected | None:
        self._answer()
        return self.samples.get(container_id)

    def logs(self, container_id: str, *, lines: int, since_ns: int | None) -> str:
        self._answer()
        return "\n".join(self.written.get(container_id, [])[-lines:])

    def run(self, container_id: str, argv: Sequence[str]) -> tuple[int, str]:
        self._answer()
        self.executed.append((container_id, tuple(argv)))
        return self.outputs.get(argv[0], (0, f"output of {argv[0]}"))

    def operate(self, container_id: str, operation: str) -> None:
        self._answer()
        self.operated.append((container_id, operation))
        self.effect(self, container_id, operation)

    def close(self) -> None:
        self.closed = True

    def _answer(self) -> None:
        if self.broken:
            raise EngineError("the engine is down")


def heal(engine: FakeEngine, container_id: str, operation: str) -> None:
    """A restart that helps."""
    for one in engine.inspected.values():
        if one["Id"] == container_id:
            running = operation != "stop"
            one["State"]["Status"] = "running" if running else "exited"
            one["State"]["StartedAt"] = "2026-12-24T12:00:00Z"
            if one["State"]["Health"]:
                one["State"]["Health"]["Status"] = "healthy"


def no_help(engine: FakeEngine, container_id: str, operation: str) -> None:
    """A restart after which the health check fails as before."""
    for one in engine.inspected.values():
        if one["Id"] == container_id:
            one["State"]["StartedAt"] = "2026-12-24T12:00:00Z"


Turn = Reply | Exception | Callable[[Request], Reply]


class FakeModel:
    """Answers the listed turns, then concludes for ever; remembers what it was asked."""

    route = "openai:fake"

    def __init__(self, *turns: Turn) -> None:
        self.turns = list(turns)
        self.requests: list[Request] = []
        self.closed = False

    def complete(self, request: Request, stop: threading.Event) -> Reply:
        self.requests.append(Request(tuple(request.messages), request.tools, request.max_tokens))
        turn = self.turns.pop(0) if self.turns else Reply("Nothing more to do.", (), 1, 1)
        if isinstance(turn, Exception):
            raise turn
        return turn if isinstance(turn, Reply) else turn(request)

    def close(self) -> None:
        self.closed = True

    def told(self, tool: str = "") -> list[dict[str, Any]]:
        """Every tool result that the model was given, as JSON; of one tool, or of all."""
        messages = [message for request in self.requests for message in request.messages]
        names = {call.id: call.name for message in messages for call in message.calls}
        results = {one.call_id: one.content for one in messages if one.role == "tool"}
        return [json.loads(text) for ident, text in results.items() if tool in ("", names[ident])]


_numbers = iter(range(1, 1_000_000))


def call(tool: str, raw: str | None = None, **arguments: object) -> Call:
    """One call; `raw` sends a text that need not be JSON."""
    return Call(f"c{next(_numbers)}", tool, raw if raw is not None else json.dumps(arguments))


def calls(*wanted: Call) -> Reply:
    """A turn of calls that cost ten tokens in and five out."""
    return Reply("", wanted, 10, 5)


@dataclass
class Bench:
    """A runtime without HTTP: fake engine and clock, a real store."""

    engine: FakeEngine
    clock: FakeClock
    store: Store
    runtime: Runtime

    @property
    def watcher(self) -> Watcher:
        return self.runtime.service.watcher

    @property
    def collector(self) -> Collector:
        return self.watcher.collector

    def resource_id(self, name: str) -> str:
        self.collector.collect()
        return next(one.id for one in self.collector.snapshot.resources.values() if one.name == name)

    def run(self, model: Any, *names: str, types: Sequence[str] = (), ids: Sequence[str] = ()) -> RunRecord:
        """One run of `model` over the containers of these names, or over everything."""
        wanted = RunRequest(tuple(ids) or tuple(self.resource_id(name) for name in names), tuple(types))
        started = self.clock.now_ns()
        draft = RunRecord(
            id=str(started),
            started_at="",
            completed_at="",
            duration_ms=0,
            type="scoped" if wanted.scoped else "patrol",
            trigger_reason="manual",
            findings_summary="",
            status="error",
        )
        self.store.reserve_run(started, draft)
        run = WatchRun(self.watcher, lambda: model, wanted, draft, started, threading.Event())
        record = run.execute()
        self.store.finish_run(record)
        return record

    def control(self, name: str, *names: str) -> RunRecord:
        assert name in CONTROLS
        return self.run(control(name, f"control:{name}"), *names)

    def claim(self, name: str, **changed: str) -> dict[str, str]:
        """The arguments of a good report about the container `name`."""
        return {
            "key": "health-check-failed",
            "severity": "warning",
            "category": "reliability",
            "resource_id": self.resource_id(name),
            "resource_name": name,
            "resource_type": "app-container",
            "title": f"{name} is unhealthy",
            "description": "The health check fails.",
            "recommendation": "Read the logs.",
            "evidence": "health unhealthy",
            **changed,
        }

    def report(self, name: str, **changed: str) -> Call:
        return call("patrol_report_finding", raw=json.dumps(self.claim(name, **changed)))
