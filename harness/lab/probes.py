"""What the oracle can measure, from the engine alone and never from a monitor (lab format, section 7)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from contract.manifest import Predicate
from contract.predicates import Observed
from contract.truth import DockerState
from harness.lab.engine import ContainerView
from harness.lab.errors import MissingObjectError, ProbeError
from harness.lab.inventory import take_inventory
from harness.lab.recorded import Recorded, docker_state
from harness.lab.scratch import measure


@dataclass(frozen=True, slots=True)
class Reading:
    """A measured value, and the container's state where there is a container."""

    observed: Observed
    state: DockerState | None = None


_FROM_INSPECT: Final[dict[str, Callable[[ContainerView, str], Observed]]] = {
    "docker.exists": lambda view, network: True,
    "docker.status": lambda view, network: view.status,
    "docker.running": lambda view, network: view.running,
    "docker.health": lambda view, network: view.health,
    "docker.restart_count": lambda view, network: view.restart_count,
    "docker.exit_code": lambda view, network: view.exit_code,
    "docker.network_attached": lambda view, network: network in view.networks,
}


def probe(recorded: Recorded, predicate: Predicate) -> Reading:
    """Measure once; ProbeError or EngineError for what cannot be measured, which is never a value."""
    if predicate.probe == "inventory.same_as_pre":
        return Reading(take_inventory(recorded.engine) == recorded.lab.pre_inventory)
    if predicate.probe == "docker.exists":
        return _exists(recorded, predicate.target)
    if predicate.probe == "docker.scratch_available_bytes":
        available = measure(recorded, predicate.target).available
        return Reading(available, recorded.state(predicate.target))
    return _inspected(recorded, predicate.probe, predicate.target)


def _exists(recorded: Recorded, alias: str) -> Reading:
    """Only an engine that answers "not found" proves that something does not exist."""
    if alias in (recorded.lab.resource_names or {}) and alias not in (recorded.lab.resource_ids or {}):
        return Reading(False)
    try:
        return _inspected(recorded, "docker.exists", alias)
    except MissingObjectError:
        return Reading(False)


def _inspected(recorded: Recorded, name: str, alias: str) -> Reading:
    read = _FROM_INSPECT.get(name)
    if read is None:
        raise ProbeError(f"this driver has no probe {name!r}")
    view = recorded.inspect(alias)
    return Reading(read(view, recorded.lab.network_name), docker_state(alias, view))
