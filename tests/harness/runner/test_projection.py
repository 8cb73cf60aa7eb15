"""What the server collected must agree with what the oracle saw, as far as a collector can see it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from contract.manifest import Predicate
from contract.record import RawJson
from harness.client.records import DockerProjection, Resource
from harness.runner.projection import objection
from tests.harness.runner.world import World

Build = Callable[[str], World]


def collected(world: World, **projections: DockerProjection | None) -> Mapping[str, Resource]:
    found = {}
    for one in world.manifest.resources or ():
        honest = world.pulse._truth(one.alias)
        found[one.alias] = Resource(id=one.alias, docker=projections.get(one.alias, honest))
    return found


def with_oracle(world: World, probe: str, operator: str, value: Any) -> World:
    (fault,) = list(world.manifest.faults or ())
    predicate = Predicate(probe=probe, target=fault.target, operator=operator, value=RawJson.of(value))
    changed = fault.model_copy(update={"oracle": (predicate,)})
    return World(world.manifest.model_copy(update={"faults": (changed,)}), world.prices)


def test_an_honest_projection_of_every_catalogue_scenario_is_accepted(world: Build) -> None:
    for name in (
        "watch.docker-unhealthy",
        "watch.healthy-mixed",
        "watch.docker-restart-loop",
        "watch.correlated-dependency",
        "watch.two-independent-faults",
        "investigation.docker-storage-pressure",
    ):
        this = world(name)
        assert objection(this.manifest, collected(this)) == "", name


def test_a_resource_without_container_state_is_not_converged(world: Build) -> None:
    this = world("watch.docker-unhealthy")
    alias = (this.manifest.faults or ())[0].target
    assert "without its container's state" in objection(this.manifest, collected(this, **{alias: None}))


def test_a_missing_resource_is_not_converged(world: Build) -> None:
    assert "is not collected" in objection(world("watch.docker-unhealthy").manifest, {})


def test_an_unhealthy_negative_control_is_not_converged(world: Build) -> None:
    this = world("watch.docker-unhealthy")
    alias = this.manifest.negative_controls[0].resource
    sick = DockerProjection(containerState="running", health="starting")
    assert objection(this.manifest, collected(this, **{alias: sick})).startswith(f"{alias}: health")


@pytest.mark.parametrize(
    ("probe", "operator", "value", "docker", "agrees"),
    [
        ("docker.health", "eq", "unhealthy", {"health": "UNHEALTHY"}, True),
        ("docker.health", "eq", "unhealthy", {"health": "healthy"}, False),
        ("docker.health", "eq", 1, {"health": "1"}, False),
        ("docker.running", "eq", True, {"containerState": "Running"}, True),
        ("docker.running", "eq", False, {"containerState": "exited"}, True),
        ("docker.running", "eq", True, {"containerState": "exited"}, False),
        ("docker.running", "eq", "true", {"containerState": "running"}, False),
        ("docker.restart_count", "gte", 4, {"restartCount": 5}, True),
        ("docker.restart_count", "gte", 4, {"restartCount": 3}, False),
        ("docker.restart_count", "eq", 4, {"restartCount": 4}, True),
        ("docker.restart_count", "lte", 4, {"restartCount": 4}, False),
        ("docker.restart_count", "gte", True, {"restartCount": 4}, False),
        ("docker.scratch_available_bytes", "eq", 0, {}, True),
        ("docker.exit_code", "eq", 3, {}, True),
        ("docker.network_attached", "eq", False, {}, True),
    ],
)
def test_a_probe_is_compared_as_far_as_the_collector_exposes_it(
    world: Build, probe: str, operator: str, value: Any, docker: dict[str, Any], agrees: bool
) -> None:
    this = with_oracle(world("watch.docker-unhealthy"), probe, operator, value)
    alias = (this.manifest.faults or ())[0].target
    projections = {alias: DockerProjection(**docker)}
    assert (objection(this.manifest, collected(this, **projections)) == "") is agrees
