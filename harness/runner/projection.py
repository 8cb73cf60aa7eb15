"""Does what the server collected agree with what the oracle saw? (runner, section 2.4)"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from contract.manifest import Manifest, Predicate
from contract.text import fold_equal
from harness.client.records import DockerProjection, Resource

RUNNING = "running"


def projected_predicates(manifest: Manifest) -> Iterator[Predicate]:
    """Every predicate of a fault's oracle, and every baseline predicate about a negative control."""
    for fault in manifest.faults or ():
        yield from fault.oracle or ()
    controls = {control.resource for control in manifest.negative_controls}
    yield from (predicate for predicate in manifest.baseline or () if predicate.target in controls)


def objection(manifest: Manifest, collected: Mapping[str, Resource]) -> str:
    """Why the collected state is not yet the one that the oracle confirmed; empty when it is."""
    for predicate in projected_predicates(manifest):
        resource = collected.get(predicate.target)
        if resource is None:
            return f"{predicate.target} is not collected"
        if resource.docker is None:
            return f"{predicate.target} is collected without its container's state"
        reason = _contradiction(predicate, resource.docker)
        if reason:
            return f"{predicate.target}: {reason}"
    return ""


def _contradiction(predicate: Predicate, docker: DockerProjection) -> str:
    wanted = predicate.value.value
    if predicate.probe == "docker.health":
        if isinstance(wanted, str) and fold_equal(docker.health, wanted):
            return ""
        return f"health is {docker.health!r}, expected {predicate.value.text}"
    if predicate.probe == "docker.running":
        if isinstance(wanted, bool) and fold_equal(docker.containerState, RUNNING) is wanted:
            return ""
        return f"state is {docker.containerState!r}, expected running {predicate.value.text}"
    if predicate.probe == "docker.restart_count":
        return _restart_contradiction(predicate, docker.restartCount, wanted)
    return ""  # the collector exposes nothing else that a probe sees


def _restart_contradiction(predicate: Predicate, count: int, wanted: object) -> str:
    if isinstance(wanted, int) and not isinstance(wanted, bool):
        if predicate.operator == "eq" and count == wanted:
            return ""
        if predicate.operator == "gte" and count >= wanted:
            return ""
    return f"restart count is {count}, expected {predicate.operator} {predicate.value.text}"
