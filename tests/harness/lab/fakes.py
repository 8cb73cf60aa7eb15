"""An engine in memory that keeps the rules of a real one, a clock that only tests move."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from contract.timestamps import Timestamp
from harness.lab import scratch
from harness.lab.engine import (
    ContainerSpec,
    ContainerView,
    EngineVersion,
    ExecResult,
    ObjectView,
)
from harness.lab.errors import BusyObjectError, EngineError, MissingObjectError
from harness.lab.injectors import MARKER, STOP_HEALTH_PROCESS

T = TypeVar("T")

IMAGE = "pulse-qual-lab:1"
BLOCK = 4096


class FakeClock:
    """Time that passes by being waited for; `at` calls something when a moment has come."""

    def __init__(self) -> None:
        self.ns = 0
        self.slept: list[float] = []
        self.alarms: list[tuple[float, Callable[[], None]]] = []

    def now(self) -> Timestamp:
        seconds, fraction = divmod(self.ns, 10**9)
        minutes, seconds = divmod(seconds, 60)
        return Timestamp(f"2026-12-01T00:{minutes:02}:{seconds:02}.{fraction:09}Z")

    def monotonic_ns(self) -> int:
        return self.ns

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.ns += int(seconds * 10**9)
        due = [one for one in self.alarms if one[0] * 10**9 <= self.ns]
        for one in due:
            self.alarms.remove(one)
            one[1]()

    def at(self, seconds: float, act: Callable[[], None]) -> None:
        self.alarms.append((seconds, act))


class FakeFeed:
    def __init__(self) -> None:
        self.rung = False
        self.closed = False

    def clear(self) -> None:
        self.rung = False

    def happened(self) -> bool:
        return self.rung

    def close(self) -> None:
        self.closed = True


@dataclass
class FakeContainer:
    """A container: how it was asked for, and how it is."""

    spec: ContainerSpec
    id: str
    status: str = "created"
    exit_code: int = 0
    restarts: int = 0
    starts: int = 0
    health_process: bool = True
    fill: str = ""  # what is at the place of the fill file: nothing, file, link
    networks: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def running(self) -> bool:
        return self.status == "running"


class FakeEngine:
    """Satisfies `Engine`; notes every call, and raises what `failures` holds for its name."""

    def __init__(self) -> None:
        self.calls: list[tuple[object, ...]] = []
        self.failures: dict[str, Exception | Callable[[tuple[object, ...]], None]] = {}
        self.boxes: dict[str, FakeContainer] = {}
        self.drives: dict[str, ObjectView] = {}
        self.nets: dict[str, ObjectView] = {"0" * 64: ObjectView("none", {})}
        self.pictures: dict[str, str] = {IMAGE: "sha256:" + "1" * 64}
        self.markers: set[str] = set()
        self.feed = FakeFeed()
        self.filesystem = "tmpfs"
        self.blocks = scratch.SCRATCH_BYTES // BLOCK
        self.fill_result = ExecResult(1, f"dd: error writing '{scratch.FILL_FILE}': {scratch.NO_SPACE}\n")
        self.closed = False

    def called(self, *names: str) -> list[tuple[object, ...]]:
        return [call for call in self.calls if call[0] in names]

    def version(self) -> EngineVersion:
        self._note("version")
        return EngineVersion("20.10.24", "1.41", "linux", "amd64")

    def close(self) -> None:
        self.closed = True

    def events(self, label: str) -> FakeFeed:
        self._note("events", label)
        return self.feed

    def image_id(self, name: str) -> str:
        self._note("image_id", name)
        return self._there(self.pictures, name)

    def pull(self, name: str) -> None:
        self._note("pull", name)
        self.pictures[name] = "sha256:" + hashlib.sha256(name.encode()).hexdigest()

    def create_network(self, name: str, labels: Mapping[str, str]) -> str:
        self._note("create_network", name)
        if any(view.name == name for view in self.nets.values()):
            raise BusyObjectError(f"network {name} exists")
        ident = hashlib.sha256(name.encode()).hexdigest()
        self.nets[ident] = ObjectView(name, dict(labels))
        return ident

    def create_volume(self, name: str, labels: Mapping[str, str]) -> None:
        self._note("create_volume", name)
        self.drives.setdefault(name, ObjectView(name, dict(labels)))

    def create_container(self, spec: ContainerSpec) -> str:
        self._note("create_container", spec)
        if any(box.spec.name == spec.name for box in self.boxes.values()):
            raise BusyObjectError(f"container {spec.name} exists")
        self._there(self.pictures, spec.image)
        box = FakeContainer(spec, hashlib.sha256(spec.name.encode()).hexdigest())
        if spec.network:
            box.networks[spec.network] = ("inventory",)
        self.boxes[box.id] = box
        return box.id

    def inspect_container(self, ident: str) -> ContainerView:
        self._note("inspect_container", ident)
        box = self._box(ident)
        return ContainerView(
            id=box.id,
            name=box.spec.name,
            labels=box.spec.labels,
            status=box.status,
            running=box.running,
            health=self._health(box),
            restart_count=box.restarts,
            exit_code=box.exit_code,
            started_at=f"start {box.starts}",
            networks=dict(box.networks),
        )

    def inspect_volume(self, name: str) -> ObjectView:
        self._note("inspect_volume", name)
        return self._there(self.drives, name)

    def inspect_network(self, ident: str) -> ObjectView:
        self._note("inspect_network", ident)
        return self._there(self.nets, ident)

    def start(self, ident: str) -> None:
        self._note("start", ident)
        box = self._box(ident)
        if not box.running:
            box.status, box.starts, box.health_process = "running", box.starts + 1, True
        if box.spec.name.rpartition("-marker-")[1]:
            self._run_helper(box)

    def stop(self, ident: str, grace_s: int) -> None:
        self._note("stop", ident, grace_s)
        self._end(self._box(ident), 0)

    def kill(self, ident: str) -> None:
        self._note("kill", ident)
        self._end(self._box(ident), 137)

    def restart(self, ident: str, grace_s: int) -> None:
        self._note("restart", ident, grace_s)
        box = self._box(ident)
        box.status, box.starts, box.health_process, box.fill = "running", box.starts + 1, True, ""

    def wait(self, ident: str) -> int:
        self._note("wait", ident)
        return self._box(ident).exit_code

    def execute(self, ident: str, argv: tuple[str, ...]) -> ExecResult:
        self._note("execute", ident, argv)
        box = self._box(ident)
        if not box.running:
            raise BusyObjectError("container is not running")
        if argv == STOP_HEALTH_PROCESS:
            code = 0 if box.health_process else 1
            box.health_process = False
            return ExecResult(code, "")
        return self._scratch(box, argv)

    def connect(self, network: str, ident: str, aliases: tuple[str, ...]) -> None:
        self._note("connect", network, ident, aliases)
        box = self._box(ident)
        if network in box.networks:
            raise BusyObjectError("endpoint exists")
        box.networks[network] = aliases

    def disconnect(self, network: str, ident: str) -> None:
        self._note("disconnect", network, ident)
        del self._box(ident).networks[network]

    def containers(self, label: str = "") -> tuple[str, ...]:
        self._note("containers", label)
        return tuple(ident for ident, box in self.boxes.items() if _carries(box.spec.labels, label))

    def volumes(self, label: str = "") -> tuple[str, ...]:
        self._note("volumes", label)
        return tuple(name for name, view in self.drives.items() if _carries(view.labels, label))

    def networks(self, label: str = "") -> tuple[str, ...]:
        self._note("networks", label)
        return tuple(ident for ident, view in self.nets.items() if _carries(view.labels, label))

    def images(self) -> tuple[str, ...]:
        self._note("images")
        return tuple(self.pictures.values())

    def remove_container(self, ident: str) -> None:
        self._note("remove_container", ident)
        del self.boxes[self._box(ident).id]

    def remove_volume(self, name: str) -> None:
        self._note("remove_volume", name)
        self._there(self.drives, name)
        if any(name in box.spec.volumes for box in self.boxes.values()):
            raise BusyObjectError(f"volume {name} is in use")
        del self.drives[name]

    def remove_network(self, ident: str) -> None:
        self._note("remove_network", ident)
        name = self._there(self.nets, ident).name
        if any(name in box.networks for box in self.boxes.values()):
            raise BusyObjectError(f"network {name} has active endpoints")
        del self.nets[ident]

    def relabel(self, ident: str, labels: Mapping[str, str]) -> None:
        """Make a container look like somebody else's."""
        box = self.boxes[ident]
        box.spec = replace(box.spec, labels=dict(labels))

    def add_foreign(self, name: str, labels: Mapping[str, str]) -> str:
        """A container that no lab made."""
        box = FakeContainer(
            ContainerSpec(name, IMAGE, (), dict(labels)), hashlib.sha256(name.encode()).hexdigest()
        )
        box.status = "running"
        self.boxes[box.id] = box
        return box.id

    def _note(self, name: str, *arguments: object) -> None:
        self.calls.append((name, *arguments))
        failure = self.failures.get(name)
        if isinstance(failure, Exception):
            raise failure
        if failure is not None:
            failure(arguments)

    def _box(self, ident: str) -> FakeContainer:
        return self._there(self.boxes, ident)

    def _there(self, objects: Mapping[str, T], name: str) -> T:
        if name not in objects:
            raise MissingObjectError(f"no such object: {name}")
        return objects[name]

    def _health(self, box: FakeContainer) -> str:
        if box.spec.healthcheck is None:
            return ""
        marked = any(volume in self.markers for volume in box.spec.volumes)
        well = box.running and box.health_process and not marked and not box.fill and bool(box.networks)
        return "healthy" if well else "unhealthy"

    def _run_helper(self, box: FakeContainer) -> None:
        script = box.spec.command[-1]
        (volume,) = box.spec.volumes
        if script == f"touch {MARKER}":
            self.markers.add(volume)
        elif script == f"rm -f {MARKER}":
            self.markers.discard(volume)
        else:
            raise EngineError(f"a helper with another script: {script}")
        box.status = "exited"

    def _end(self, box: FakeContainer, code: int) -> None:
        box.status, box.exit_code, box.fill = "exited", code, ""

    def _scratch(self, box: FakeContainer, argv: tuple[str, ...]) -> ExecResult:
        free = 0 if box.fill == "file" else self.blocks - 1
        if argv == scratch.MEASURE:
            return ExecResult(0, f"{BLOCK} {self.blocks} {free} {self.filesystem}\n")
        if argv == scratch.CREATE:
            if box.fill:
                return ExecResult(scratch.REFUSED, "")
            box.fill = "empty file"
            return ExecResult(0, "")
        if argv == scratch.FILL:
            box.fill = "file"
            return self.fill_result
        if argv == scratch.EMPTY and box.fill == "link":
            return ExecResult(scratch.REFUSED, "")
        if argv in (scratch.EMPTY, scratch.ROLLBACK):
            box.fill = ""
            return ExecResult(0, "")
        raise EngineError(f"unknown command {argv}")


def _carries(labels: Mapping[str, str], label: str) -> bool:
    if not label:
        return True
    key, _, value = label.partition("=")
    return labels.get(key) == value
