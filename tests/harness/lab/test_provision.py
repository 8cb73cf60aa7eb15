"""What is made, how it is named and labelled, and what happens when it cannot be made (L5 to L9)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from contract.errors import UsageError
from contract.manifest import Manifest, ResourceSpec
from contract.names import alias_token, scenario_token
from harness.lab.engine import ContainerSpec, Healthcheck
from harness.lab.errors import BusyObjectError, EngineError, LabError
from harness.lab.identity import Identity
from harness.lab.lab import DockerLab
from tests.harness.lab.fakes import IMAGE, FakeClock, FakeEngine

MakeLab = Callable[..., DockerLab]


def specs(engine: FakeEngine) -> list[ContainerSpec]:
    return [call[1] for call in engine.called("create_container") if isinstance(call[1], ContainerSpec)]


def changed(manifest: Manifest, **members: object) -> Manifest:
    """The manifest with another first resource."""
    first, *others = manifest.resources or ()
    return manifest.model_copy(update={"resources": (first.model_copy(update=members), *others)})


@pytest.mark.parametrize("run_id", ["", "q", "Q-1", "../x", "q x", "-q1", "q" * 97, "q-1\n"])
def test_an_unsafe_run_id_is_refused_before_the_engine_is_touched(
    engine: FakeEngine, clock: FakeClock, manifest: Manifest, run_id: str
) -> None:
    with pytest.raises(UsageError, match="cannot be a run id"):
        DockerLab(engine, manifest, run_id, label="context:fake", clock=clock)
    assert engine.calls == []


@pytest.mark.parametrize("name", ["watch.docker-unhealthy", "investigation.docker-storage-pressure"])
def test_every_object_carries_the_run_and_tells_nothing_else(
    make_lab: MakeLab, engine: FakeEngine, scenario: Callable[[str], Manifest], run_id: str, name: str
) -> None:
    lab = make_lab(scenario(name))
    prepared = lab.prepare()
    objects = {spec.name: spec.labels for spec in specs(engine)}
    objects |= {view.name: view.labels for view in engine.nets.values() if view.name != "none"}
    objects |= {view.name: view.labels for view in engine.drives.values()}
    for made, labels in objects.items():
        assert made.startswith("pulse-qual-")
        assert run_id in made
        assert labels["com.pulse.intelligence-lab.run"] == run_id
        assert labels["com.pulse.intelligence-lab.scenario"] == scenario_token(name)
        assert name not in str(labels)
    for alias, made in (prepared.resource_names or {}).items():
        assert objects[made]["com.pulse.intelligence-lab.alias"] == alias_token(run_id, alias)


def test_the_marker_volume_is_the_same_on_every_resource(lab: DockerLab, engine: FakeEngine) -> None:
    assert lab.prepared is not None
    assert set(lab.prepared.fault_volumes) == {"api", "worker"}
    mounts = {spec.name: dict(spec.volumes) for spec in specs(engine)}
    assert mounts == {name: {f"{name}-fault": "/pulse-qual-fault"} for name in mounts}


def test_a_scenario_without_markers_has_no_volume(
    make_lab: MakeLab, engine: FakeEngine, scenario: Callable[[str], Manifest]
) -> None:
    make_lab(scenario("watch.correlated-dependency")).prepare()
    assert engine.drives == {}


def test_the_health_check_is_run_by_a_shell_with_the_agreed_times(lab: DockerLab, engine: FakeEngine) -> None:
    assert specs(engine)[0].healthcheck == Healthcheck(
        "test ! -e /pulse-qual-fault/enabled", 2 * 10**9, 2 * 10**9, 2, 10**9
    )


def test_the_interval_of_the_health_check_may_be_given(
    make_lab: MakeLab, engine: FakeEngine, manifest: Manifest
) -> None:
    make_lab(changed(manifest, health_every="500ms")).prepare()
    check = specs(engine)[0].healthcheck
    assert check is not None
    assert check.interval_ns == 500 * 10**6


def test_templates_are_filled_in_commands_and_labels_and_commands_are_not_split(
    make_lab: MakeLab, engine: FakeEngine, manifest: Manifest, run_id: str
) -> None:
    special = changed(
        manifest, command=("echo", "a b ${alias}"), labels={"at-${alias}": "${run_id} ${other}"}
    )
    make_lab(special).prepare()
    spec = specs(engine)[0]
    assert spec.command == ("echo", "a b api")
    assert spec.labels["at-${alias}"] == f"{run_id} ${{other}}"


def test_scratch_storage_is_a_tmpfs_of_exactly_eight_mebibytes(
    make_lab: MakeLab, engine: FakeEngine, scenario: Callable[[str], Manifest]
) -> None:
    make_lab(scenario("investigation.docker-storage-pressure")).prepare()
    assert specs(engine)[0].tmpfs == {"/var/lib/service-cache": "size=8388608,mode=1777,nosuid,nodev,noexec"}


def test_a_manifest_label_cannot_replace_one_of_the_lab(
    make_lab: MakeLab, engine: FakeEngine, manifest: Manifest, run_id: str
) -> None:
    make_lab(changed(manifest, labels={"com.pulse.intelligence-lab.run": "other"})).prepare()
    assert specs(engine)[0].labels["com.pulse.intelligence-lab.run"] == run_id


def test_an_empty_name_template_gives_the_default_name(run_id: str, manifest: Manifest) -> None:
    resource = (manifest.resources or ())[0].model_copy(update={"name": ""})
    assert Identity(run_id, manifest.id).container(resource) == f"pulse-qual-{run_id}-api"


@pytest.mark.parametrize(
    "name", ["inventory-${run_id}", "pulse-qual-api", "pulse-qual-${run_token}", "pulse-qual-${run_id}-API"]
)
def test_nothing_is_made_under_a_name_that_is_not_the_labs(
    make_lab: MakeLab, engine: FakeEngine, manifest: Manifest, name: str
) -> None:
    with pytest.raises(LabError, match="no name for an object"):
        make_lab(changed(manifest, name=name)).prepare()
    assert specs(engine) == []


def test_a_missing_image_is_an_error_after_which_cleanup_removes_the_network(
    make_lab: MakeLab, engine: FakeEngine, manifest: Manifest
) -> None:
    lab = make_lab(manifest, image_override="")
    with pytest.raises(LabError, match=r"alpine:3\.20 is not there, and lab\.allow_pull is false"):
        lab.prepare()
    assert engine.called("pull") == []
    assert len(engine.nets) == 2
    result = lab.cleanup()
    assert result.passed, result.errors
    assert len(engine.nets) == 1


def test_an_image_that_may_be_pulled_is_pulled_before_the_first_inventory(
    make_lab: MakeLab, engine: FakeEngine, manifest: Manifest
) -> None:
    allowed = manifest.model_copy(update={"lab": manifest.lab.model_copy(update={"allow_pull": True})})
    lab = make_lab(allowed, image_override="")
    prepared = lab.prepare()
    assert engine.called("pull") == [("pull", "alpine:3.20")]
    assert engine.pictures["alpine:3.20"] in (prepared.pre_inventory.images or ())
    assert lab.cleanup().passed


def test_an_override_runs_in_place_of_every_image(
    make_lab: MakeLab, engine: FakeEngine, manifest: Manifest
) -> None:
    lab = make_lab(changed(manifest, image="other:1"))
    lab.prepare()
    assert {spec.image for spec in specs(engine)} == {IMAGE}
    assert lab.versions() == {
        "docker_engine": "20.10.24",
        "docker_api": "1.41",
        "os": "linux",
        "architecture": "amd64",
        "lab_image": IMAGE,
        "lab_image_id": engine.pictures[IMAGE],
    }


def test_the_versions_name_an_image_that_is_not_there(make_lab: MakeLab, manifest: Manifest) -> None:
    versions = make_lab(manifest, image_override="").versions()
    assert versions["lab_image"] == "alpine:3.20"
    assert "lab_image_id" not in versions


def test_a_second_resource_that_fails_leaves_nothing_behind(
    make_lab: MakeLab, engine: FakeEngine, manifest: Manifest
) -> None:
    def refuse_the_second(arguments: tuple[object, ...]) -> None:
        (spec,) = arguments
        assert isinstance(spec, ContainerSpec)
        if spec.name.endswith("-worker"):
            raise EngineError("no space left")

    engine.failures["create_container"] = refuse_the_second
    lab = make_lab(manifest)
    with pytest.raises(EngineError, match="no space left"):
        lab.prepare()
    assert lab.prepared is not None
    assert set(lab.prepared.resource_ids or {}) == {"api"}
    result = lab.cleanup()
    assert result.passed, result.errors
    removed = result.first_removed
    assert [len(names or ()) for names in (removed.containers, removed.volumes, removed.networks)] == [
        1,
        2,
        1,
    ]


def test_without_a_first_inventory_there_is_nothing_to_clean_up(
    make_lab: MakeLab, engine: FakeEngine, manifest: Manifest
) -> None:
    engine.failures["volumes"] = EngineError("broken")
    lab = make_lab(manifest)
    with pytest.raises(EngineError):
        lab.prepare()
    assert lab.prepared is None
    assert engine.called("create_network", "create_volume", "create_container") == []
    with pytest.raises(LabError, match="has not been prepared"):
        lab.cleanup()


def test_a_network_of_that_name_is_not_taken_over(
    make_lab: MakeLab, engine: FakeEngine, manifest: Manifest, run_id: str
) -> None:
    foreign = engine.create_network(f"pulse-qual-{run_id}-net", {})
    lab = make_lab(manifest)
    with pytest.raises(BusyObjectError):
        lab.prepare()
    assert lab.cleanup().passed
    assert foreign in engine.nets


def test_a_volume_of_that_name_is_not_taken_over(
    make_lab: MakeLab, engine: FakeEngine, manifest: Manifest, run_id: str
) -> None:
    name = f"pulse-qual-{run_id}-api-fault"
    engine.create_volume(name, {})
    lab = make_lab(manifest)
    with pytest.raises(LabError, match="exists already"):
        lab.prepare()
    assert lab.cleanup().passed
    assert name in engine.drives


def test_a_baseline_that_does_not_come_is_an_error_that_names_the_probe(
    make_lab: MakeLab, manifest: Manifest, engine: FakeEngine
) -> None:
    lab = make_lab(changed(manifest, healthcheck=()))
    with pytest.raises(LabError, match=r'did not converge: docker\.health of api eq "healthy": observed ""'):
        lab.prepare()
    assert lab.prepared is not None
    assert lab.cleanup().passed


def test_the_prepared_lab_holds_states_and_both_inventories(lab: DockerLab, engine: FakeEngine) -> None:
    prepared = lab.prepared
    assert prepared is not None
    states = prepared.baseline_states or {}
    assert {alias: (state.health, state.networks) for alias, state in states.items()} == {
        "api": ("healthy", (prepared.network_name,)),
        "worker": ("healthy", (prepared.network_name,)),
    }
    assert set((prepared.resource_ids or {}).values()) == set(prepared.expected_inventory.containers or ())
    assert prepared.pre_inventory.containers == ()
    assert lab.inventory() == prepared.expected_inventory


def test_a_lab_is_prepared_once(lab: DockerLab) -> None:
    with pytest.raises(LabError, match="already"):
        lab.prepare()


def test_a_resource_without_command_runs_what_the_image_says(
    make_lab: MakeLab, engine: FakeEngine, manifest: Manifest
) -> None:
    resource: ResourceSpec = changed(manifest, command=()).resources[0]  # type: ignore[index]
    assert resource.command == ()
    make_lab(changed(manifest, command=())).prepare()
    assert specs(engine)[0].command == ()
