"""Each injector and revert makes exactly its calls, on the recorded container only (L10, L11)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from contract.manifest import FaultSpec, InjectorSpec, Manifest
from harness.lab.engine import ContainerSpec
from harness.lab.errors import EngineError, LabError, OwnershipError
from harness.lab.injectors import STOP_HEALTH_PROCESS
from harness.lab.lab import DockerLab
from tests.harness.lab.fakes import IMAGE, FakeEngine

ACTS = (
    *("start", "stop", "kill", "restart", "wait", "execute", "connect", "disconnect"),
    *("create_container", "remove_container"),
)


def fault(manifest: Manifest, kind: str, resource: str = "api") -> FaultSpec:
    """The manifest's fault with another injector."""
    first = (manifest.faults or ())[0]
    return first.model_copy(update={"injector": InjectorSpec(kind=kind, resource=resource)})


def ident(lab: DockerLab, alias: str = "api") -> str:
    assert lab.prepared is not None
    return (lab.prepared.resource_ids or {})[alias]


def acts_of(engine: FakeEngine, act: Callable[[], None]) -> list[tuple[object, ...]]:
    """What an act does to the engine, apart from looking at it."""
    engine.calls.clear()
    act()
    return engine.called(*ACTS)


def test_a_marker_is_set_and_removed_by_a_helper_of_its_own(
    lab: DockerLab, engine: FakeEngine, manifest: Manifest, run_id: str
) -> None:
    volume = f"pulse-qual-{run_id}-api-fault"
    broken = fault(manifest, "marker_enable")
    (_, spec), *others = acts_of(engine, lambda: lab.inject(broken))
    assert isinstance(spec, ContainerSpec)
    assert (spec.name, spec.image, spec.network) == (f"pulse-qual-{run_id}-marker-api", IMAGE, "")
    assert spec.command == ("/bin/sh", "-c", "touch /pulse-qual-fault/enabled")
    assert spec.volumes == {volume: "/pulse-qual-fault"}
    assert spec.labels["com.pulse.intelligence-lab.run"] == run_id
    assert [name for name, *_ in others] == ["start", "wait", "remove_container"]
    assert engine.markers == {volume}
    (_, spec), *others = acts_of(engine, lambda: lab.revert(broken))
    assert isinstance(spec, ContainerSpec)
    assert spec.command[-1] == "rm -f /pulse-qual-fault/enabled"
    assert others[-1] == ("start", ident(lab))
    assert engine.markers == set()


def test_a_start_that_fails_after_the_marker_is_gone_is_ignored(
    lab: DockerLab, engine: FakeEngine, manifest: Manifest
) -> None:
    broken = fault(manifest, "marker_enable")
    lab.inject(broken)

    def refuse_the_target(arguments: tuple[object, ...]) -> None:
        if arguments == (ident(lab),):
            raise EngineError("is restarting")

    engine.failures["start"] = refuse_the_target
    lab.revert(broken)
    assert engine.markers == set()


def test_a_helper_that_fails_is_an_error_and_is_removed(
    lab: DockerLab, engine: FakeEngine, manifest: Manifest
) -> None:
    def fail(arguments: tuple[object, ...]) -> None:
        engine.boxes[str(arguments[0])].exit_code = 1

    engine.failures["wait"] = fail
    with pytest.raises(LabError, match="ended with 1"):
        lab.inject(fault(manifest, "marker_enable"))
    assert len(engine.boxes) == 2
    assert lab.prepared is not None
    assert lab.prepared.applied_faults == ()


def test_a_marker_needs_a_fault_volume_in_the_manifest(
    make_lab: Callable[..., DockerLab], scenario: Callable[[str], Manifest]
) -> None:
    manifest = scenario("watch.correlated-dependency")
    lab = make_lab(manifest)
    lab.prepare()
    with pytest.raises(LabError, match="no marker volume"):
        lab.inject(fault(manifest, "marker_enable"))


def test_the_health_process_is_ended_in_the_container_and_comes_back_by_a_restart(
    lab: DockerLab, engine: FakeEngine, manifest: Manifest
) -> None:
    broken = fault(manifest, "health_process_stop")
    argv = ("/bin/sh", "-c", 'kill "$(cat /tmp/pulse-qual-health.pid)"')
    assert argv == STOP_HEALTH_PROCESS
    assert acts_of(engine, lambda: lab.inject(broken)) == [("execute", ident(lab), argv)]
    assert acts_of(engine, lambda: lab.revert(broken)) == [("restart", ident(lab), 5)]


def test_a_health_process_that_was_not_ended_is_an_error(
    lab: DockerLab, engine: FakeEngine, manifest: Manifest
) -> None:
    engine.boxes[ident(lab)].health_process = False
    with pytest.raises(LabError, match="was not ended"):
        lab.inject(fault(manifest, "health_process_stop"))


@pytest.mark.parametrize(("kind", "arguments"), [("stop", (5,)), ("kill", ())])
def test_stop_and_kill_are_mended_by_a_start(
    lab: DockerLab, engine: FakeEngine, manifest: Manifest, kind: str, arguments: tuple[object, ...]
) -> None:
    broken = fault(manifest, kind)
    assert acts_of(engine, lambda: lab.inject(broken)) == [(kind, ident(lab), *arguments)]
    assert acts_of(engine, lambda: lab.revert(broken)) == [("start", ident(lab))]


def test_a_network_is_left_and_joined_again_under_the_same_aliases(
    lab: DockerLab, engine: FakeEngine, manifest: Manifest, run_id: str
) -> None:
    broken, network = fault(manifest, "disconnect_network"), f"pulse-qual-{run_id}-net"
    assert acts_of(engine, lambda: lab.inject(broken)) == [("disconnect", network, ident(lab))]
    joined = [("connect", network, ident(lab), ("inventory",))]
    assert acts_of(engine, lambda: lab.revert(broken)) == joined
    assert acts_of(engine, lambda: lab.revert(broken)) == []


@pytest.mark.parametrize(
    "kind", ["marker_enable", "health_process_stop", "stop", "kill", "disconnect_network"]
)
def test_a_fault_is_applied_once(lab: DockerLab, engine: FakeEngine, manifest: Manifest, kind: str) -> None:
    broken = fault(manifest, kind)
    lab.inject(broken)
    assert lab.prepared is not None
    assert lab.prepared.applied_faults == (broken.id,)
    with pytest.raises(LabError, match="already applied"):
        lab.inject(broken)


def test_the_subject_of_a_fault_is_the_injectors_resource(
    lab: DockerLab, engine: FakeEngine, manifest: Manifest
) -> None:
    broken = fault(manifest, "stop", "worker")
    assert broken.target == "api"
    assert acts_of(engine, lambda: lab.inject(broken)) == [("stop", ident(lab, "worker"), 5)]


@pytest.mark.parametrize(("kind", "resource"), [("reboot", "api"), ("stop", "nobody"), ("", "api")])
def test_an_unknown_injector_or_resource_is_an_error(
    lab: DockerLab, engine: FakeEngine, manifest: Manifest, kind: str, resource: str
) -> None:
    with pytest.raises(LabError):
        lab.inject(fault(manifest, kind, resource))


def test_nothing_is_broken_before_the_lab_is_prepared(
    make_lab: Callable[..., DockerLab], manifest: Manifest
) -> None:
    with pytest.raises(LabError, match="not been prepared"):
        make_lab(manifest).inject(fault(manifest, "stop"))


ALL_KINDS = [
    *("health_process_stop", "stop", "kill", "disconnect_network", "fill_scratch_storage"),
]


@pytest.mark.parametrize("label", ["run", "scenario", "alias"])
@pytest.mark.parametrize("kind", ALL_KINDS)
def test_a_container_that_does_not_carry_the_labs_labels_is_left_alone(
    lab: DockerLab, engine: FakeEngine, manifest: Manifest, kind: str, label: str
) -> None:
    labels = dict(engine.boxes[ident(lab)].spec.labels)
    labels[f"com.pulse.intelligence-lab.{label}"] = "another"
    engine.relabel(ident(lab), labels)
    engine.calls.clear()
    for act in (lab.inject, lab.revert):
        with pytest.raises(OwnershipError, match="is not the container"):
            act(fault(manifest, kind))
    assert engine.called(*ACTS) == []


def test_a_marker_volume_that_is_not_the_labs_is_left_alone(
    lab: DockerLab, engine: FakeEngine, manifest: Manifest, run_id: str
) -> None:
    name = f"pulse-qual-{run_id}-api-fault"
    del engine.drives[name]
    engine.create_volume(name, {})
    engine.calls.clear()
    with pytest.raises(OwnershipError, match="volume"):
        lab.inject(fault(manifest, "marker_enable"))
    assert engine.called(*ACTS) == []


def test_nothing_is_run_in_a_container_that_does_not_run(
    lab: DockerLab, engine: FakeEngine, manifest: Manifest
) -> None:
    lab.inject(fault(manifest, "stop"))
    engine.calls.clear()
    with pytest.raises(LabError, match="is exited"):
        lab.revert(fault(manifest, "fill_scratch_storage"))
    assert engine.called("execute") == []
