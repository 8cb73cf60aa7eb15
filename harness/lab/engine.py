"""What the lab needs of a Docker engine, as a small interface that a test can stand in for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, slots=True)
class EngineVersion:
    """Who the engine says it is."""

    engine: str
    api: str
    os: str
    architecture: str


@dataclass(frozen=True, slots=True)
class Healthcheck:
    """A health check that a shell runs; times in nanoseconds."""

    command: str
    interval_ns: int
    timeout_ns: int
    retries: int
    start_period_ns: int


@dataclass(frozen=True, slots=True)
class ContainerSpec:
    """A container to be made; `network` empty for none, `volumes` by name and `tmpfs` by path."""

    name: str
    image: str
    command: tuple[str, ...]
    labels: Mapping[str, str]
    network: str = ""
    restart: str = ""
    volumes: Mapping[str, str] = field(default_factory=dict)
    tmpfs: Mapping[str, str] = field(default_factory=dict)
    healthcheck: Healthcheck | None = None


@dataclass(frozen=True, slots=True)
class ContainerView:
    """What an inspect says; `networks` maps names to the aliases of the container there."""

    id: str
    name: str
    labels: Mapping[str, str]
    status: str
    running: bool
    health: str
    restart_count: int
    exit_code: int
    started_at: str
    networks: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class ObjectView:
    """A volume or a network: its name and its labels."""

    name: str
    labels: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class ExecResult:
    """How a command in a container ended, and what it wrote to both streams."""

    exit_code: int
    output: str


class EventFeed(Protocol):
    """Tells that something may have changed; it may miss things, so nobody relies on it alone."""

    def clear(self) -> None:
        """Forget what has happened so far."""

    def happened(self) -> bool:
        """Whether anything has happened since `clear`."""

    def close(self) -> None:
        """Stop listening."""


class Engine(Protocol):
    """A Docker engine. Every call may raise EngineError, MissingObjectError for what is not there."""

    def version(self) -> EngineVersion:
        """Who the engine is."""

    def close(self) -> None:
        """Let go of all connections."""

    def events(self, label: str) -> EventFeed:
        """Listen to what happens to containers with a label `key=value`."""

    def image_id(self, name: str) -> str:
        """The id of an image that is there; nothing is pulled."""

    def pull(self, name: str) -> None:
        """Fetch an image."""

    def create_network(self, name: str, labels: Mapping[str, str]) -> str:
        """Make a bridge network and return its id; BusyObjectError when the name is taken."""

    def create_volume(self, name: str, labels: Mapping[str, str]) -> None:
        """Make a volume; engines return an existing one silently."""

    def create_container(self, spec: ContainerSpec) -> str:
        """Make a container and return its id; BusyObjectError when the name is taken."""

    def inspect_container(self, ident: str) -> ContainerView:
        """The state of a container."""

    def inspect_volume(self, name: str) -> ObjectView:
        """Name and labels of a volume."""

    def inspect_network(self, ident: str) -> ObjectView:
        """Name and labels of a network."""

    def start(self, ident: str) -> None:
        """Start a container."""

    def stop(self, ident: str, grace_s: int) -> None:
        """Ask a container to end, and end it after some seconds."""

    def kill(self, ident: str) -> None:
        """End a container at once (SIGKILL)."""

    def restart(self, ident: str, grace_s: int) -> None:
        """Stop a container and start it again."""

    def wait(self, ident: str) -> int:
        """Wait until a container has ended; its exit code."""

    def execute(self, ident: str, argv: tuple[str, ...]) -> ExecResult:
        """Run a command in a running container."""

    def connect(self, network: str, ident: str, aliases: tuple[str, ...]) -> None:
        """Attach a container to a network."""

    def disconnect(self, network: str, ident: str) -> None:
        """Detach a container from a network."""

    def containers(self, label: str = "") -> tuple[str, ...]:
        """Full ids of all containers, running or not; with a label `key=value`, of those only."""

    def volumes(self, label: str = "") -> tuple[str, ...]:
        """Names of all volumes, or of those with a label."""

    def networks(self, label: str = "") -> tuple[str, ...]:
        """Full ids of all networks, or of those with a label."""

    def images(self) -> tuple[str, ...]:
        """Ids of all top-level images."""

    def remove_container(self, ident: str) -> None:
        """Remove a container by force, its anonymous volumes with it."""

    def remove_volume(self, name: str) -> None:
        """Remove a volume."""

    def remove_network(self, ident: str) -> None:
        """Remove a network."""
