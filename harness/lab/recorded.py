"""What a run has made so far, and the proof that an object still is what was recorded (lab format, 12)."""

from __future__ import annotations

from typing import Any

from contract.truth import DockerState, PreparedLab
from harness.lab.engine import ContainerView, Engine
from harness.lab.errors import LabError, OwnershipError
from harness.lab.identity import Identity


class Recorded:
    """The objects of one run on one engine; filled while they are made."""

    def __init__(self, engine: Engine, identity: Identity) -> None:
        self.engine = engine
        self.identity = identity
        self.prepared: PreparedLab | None = None

    @property
    def lab(self) -> PreparedLab:
        """The record; LabError before there is one."""
        if self.prepared is None:
            raise LabError("the lab has not been prepared")
        return self.prepared

    def note(self, **members: Any) -> None:
        """Write something down."""
        self.prepared = self.lab.model_copy(update=members)

    def ident(self, alias: str) -> str:
        """The full id of a resource's container; LabError when none was made."""
        ident = (self.lab.resource_ids or {}).get(alias)
        if not ident:
            raise LabError(f"the lab has no container {alias!r}")
        return ident

    def inspect(self, alias: str) -> ContainerView:
        """What the engine says about a resource's container."""
        return self.engine.inspect_container(self.ident(alias))

    def state(self, alias: str) -> DockerState:
        """The same as a record."""
        return docker_state(alias, self.inspect(alias))

    def owned(self, alias: str) -> ContainerView:
        """Inspect, and prove that this is the container that the lab made; OwnershipError otherwise."""
        view = self.inspect(alias)
        if view.id != self.ident(alias) or not self.identity.owns_as(alias, view.labels):
            raise OwnershipError(
                f"{view.name} ({view.id[:12]}) is not the container that the lab made as {alias!r}",
                hint="nothing was done to it",
            )
        return view

    def owned_running(self, alias: str) -> ContainerView:
        """The same for a container in which a command is to run."""
        view = self.owned(alias)
        if not view.running:
            raise LabError(f"{view.name} is {view.status}, so nothing can be run in it")
        return view

    def owned_volume(self, alias: str) -> str:
        """The marker volume of a resource, after the same proof."""
        name = self.lab.fault_volumes.get(alias)
        if not name:
            raise LabError(f"{alias!r} has no marker volume")
        view = self.engine.inspect_volume(name)
        if view.name != name or not self.identity.owns_as(alias, view.labels):
            raise OwnershipError(f"the volume {name} is not the lab's", hint="nothing was done to it")
        return name


def docker_state(alias: str, view: ContainerView) -> DockerState:
    """What an inspect says, as reports keep it."""
    return DockerState(
        alias=alias,
        name=view.name,
        id=view.id,
        status=view.status,
        running=view.running,
        health=view.health,
        restart_count=view.restart_count,
        exit_code=view.exit_code,
        labels=dict(view.labels),
        networks=tuple(sorted(view.networks)),
    )
