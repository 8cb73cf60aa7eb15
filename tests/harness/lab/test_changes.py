"""What an inventory cannot show is written down as data (lab format, section 9)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from contract.manifest import Manifest
from harness.lab.changes import ContainerChange
from harness.lab.lab import DockerLab
from tests.harness.lab.fakes import FakeEngine


@pytest.fixture
def broken(lab: DockerLab, manifest: Manifest) -> DockerLab:
    """A lab whose fault has been confirmed."""
    (fault,) = manifest.faults or ()
    lab.inject(fault)
    assert all(one.passed for one in lab.observe(fault.oracle or ()))
    return lab


def ident(lab: DockerLab, alias: str) -> str:
    assert lab.prepared is not None
    return (lab.prepared.resource_ids or {})[alias]


def test_nothing_changes_by_itself(broken: DockerLab) -> None:
    assert broken.changes() == ()


def test_a_restart_that_no_inventory_shows_is_a_change(broken: DockerLab, engine: FakeEngine) -> None:
    before = broken.inventory()
    engine.restart(ident(broken, "worker"), 5)
    assert broken.inventory() == before
    assert broken.changes() == (ContainerChange("worker", "started_at", "start 1", "start 2"),)


def test_another_health_and_another_restart_count_are_changes(broken: DockerLab, engine: FakeEngine) -> None:
    engine.markers.clear()
    engine.boxes[ident(broken, "worker")].restarts = 1
    assert broken.changes() == (
        ContainerChange("api", "health", "unhealthy", "healthy"),
        ContainerChange("worker", "restart_count", "0", "1"),
    )


def test_a_container_that_is_gone_is_a_change_in_everything(broken: DockerLab, engine: FakeEngine) -> None:
    engine.remove_container(ident(broken, "worker"))
    assert [(one.alias, one.after) for one in broken.changes()] == [("worker", "")] * 3


def test_a_restart_loop_is_no_change(
    make_lab: Callable[..., DockerLab], scenario: Callable[[str], Manifest], engine: FakeEngine
) -> None:
    lab = make_lab(scenario("watch.docker-restart-loop"))
    lab.prepare()
    engine.boxes[ident(lab, "worker")].restarts = 9
    assert lab.changes() == ()


def test_without_faults_the_baseline_is_what_is_compared_with(
    make_lab: Callable[..., DockerLab], scenario: Callable[[str], Manifest], engine: FakeEngine
) -> None:
    lab = make_lab(scenario("watch.healthy-mixed"))
    lab.prepare()
    engine.restart(ident(lab, "api"), 5)
    assert [one.alias for one in lab.changes()] == ["api"]
