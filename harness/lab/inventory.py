"""What an engine holds: ids and names only, of everything, not just of the lab (lab format, section 8)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from contract.truth import DockerInventory
from harness.lab.engine import Engine

EMPTY_INVENTORY: Final = DockerInventory(containers=(), volumes=(), networks=(), images=())


def take_inventory(engine: Engine) -> DockerInventory:
    """Everything that is there now. A restart or a write inside a container does not show."""
    return inventory_of(engine.containers(), engine.volumes(), engine.networks(), engine.images())


def inventory_of(
    containers: Iterable[str] = (),
    volumes: Iterable[str] = (),
    networks: Iterable[str] = (),
    images: Iterable[str] = (),
) -> DockerInventory:
    """An inventory of these objects, each list sorted and free of repetitions."""
    containers, volumes, networks, images = (
        tuple(sorted(set(names))) for names in (containers, volumes, networks, images)
    )
    return DockerInventory(containers=containers, volumes=volumes, networks=networks, images=images)


def inventory_difference(before: DockerInventory, after: DockerInventory) -> str:
    """What came and what went, in words; empty when nothing did."""
    parts = []
    for kind in type(before).model_fields:
        old, new = set(getattr(before, kind) or ()), set(getattr(after, kind) or ())
        parts += [f"+{kind} {name}" for name in sorted(new - old)]
        parts += [f"-{kind} {name}" for name in sorted(old - new)]
    return ", ".join(parts)
