"""The lab on a real engine: real containers are broken, and nothing of them is left."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from contract.manifest import FaultSpec, InjectorSpec, Manifest, Predicate, load_manifest
from contract.names import default_run_id
from contract.record import RawJson
from contract.truth import PredicateObservation
from harness.clock import Cancellation, CancelledRunError, SystemClock
from harness.lab.docker_engine import DockerEngine, connect
from harness.lab.engine import ContainerSpec
from harness.lab.errors import LabError
from harness.lab.inventory import take_inventory
from harness.lab.lab import DockerLab, open_lab
from harness.lab.scratch import FILL_FILE
from harness.lab.target import Target, resolve_target

pytestmark = pytest.mark.live
RUN_LABEL = "com.pulse.intelligence-lab.run"


@pytest.fixture
def run_id() -> str:
    return default_run_id(datetime.now(UTC), secrets.token_bytes(4))


@pytest.fixture
def target(docker_context: str) -> Target:
    return resolve_target(context=docker_context)


@pytest.fixture
def engine(target: Target) -> Iterator[DockerEngine]:
    """The engine beside the lab: it must hold afterwards exactly what it held before."""
    opened = connect(target)
    before = take_inventory(opened)
    yield opened
    after = take_inventory(opened)
    opened.close()
    assert after == before


@pytest.fixture
def scenario(root: Path) -> Callable[[str], Manifest]:
    return lambda name: load_manifest((root / "scenarios" / f"{name}.json").read_bytes())


@pytest.fixture
def start(
    engine: DockerEngine, target: Target, lab_image: str, run_id: str
) -> Iterator[Callable[[Manifest], DockerLab]]:
    """Prepare a lab; it is cleaned up whatever the test does."""
    opened = []

    def prepare(manifest: Manifest) -> DockerLab:
        context = open_lab(target, manifest, run_id, clock=SystemClock(), image_override=lab_image)
        lab = context.__enter__()
        opened.append(context)
        lab.prepare()
        return lab

    yield prepare
    for context in opened:
        context.__exit__(None, None, None)


def ident(lab: DockerLab, alias: str) -> str:
    assert lab.prepared is not None
    return (lab.prepared.resource_ids or {})[alias]


def confirm(lab: DockerLab, predicates: tuple[Predicate, ...] | None) -> tuple[PredicateObservation, ...]:
    seen = lab.observe(predicates or ())
    assert seen
    assert all(one.passed for one in seen), [(one.predicate.probe, one.observed, one.error) for one in seen]
    return seen


def expects(probe: str, value: str, target: str = "api") -> tuple[Predicate, ...]:
    return (Predicate(probe=probe, target=target, operator="eq", value=RawJson(value), timeout="20s"),)


SCENARIOS = [
    "watch.healthy-mixed",
    "watch.docker-unhealthy",
    "watch.docker-restart-loop",
    "watch.correlated-dependency",
    "investigation.docker-storage-pressure",
    "remediation.docker-unhealthy-restart-approved",
]


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_scenario_breaks_heals_and_leaves_nothing(
    start: Callable[[Manifest], DockerLab], scenario: Callable[[str], Manifest], name: str
) -> None:
    manifest = scenario(name)
    lab = start(manifest)
    prepared = lab.prepared
    assert prepared is not None
    for fault in manifest.faults or ():
        lab.inject(fault)
        confirm(lab, fault.oracle)
    assert lab.inventory() == prepared.expected_inventory
    assert lab.changes() == ()
    for fault in reversed(manifest.faults or ()):
        lab.revert(fault)
        confirm(lab, fault.revert_oracle or manifest.baseline)
    result = lab.cleanup()
    assert result.passed, result.errors
    assert result.first_removed.containers == tuple(sorted((prepared.resource_ids or {}).values()))
    assert result.post_inventory == prepared.pre_inventory


@pytest.mark.parametrize(
    ("kind", "broken", "mended"),
    [
        ("kill", ("docker.exit_code", "137"), ("docker.running", "true")),
        ("stop", ("docker.status", '"exited"'), ("docker.running", "true")),
        ("disconnect_network", ("docker.network_attached", "false"), ("docker.network_attached", "true")),
    ],
)
def test_an_injector_and_its_revert_are_seen_by_the_oracle(
    start: Callable[[Manifest], DockerLab],
    scenario: Callable[[str], Manifest],
    kind: str,
    broken: tuple[str, str],
    mended: tuple[str, str],
) -> None:
    manifest = scenario("watch.docker-unhealthy")
    lab = start(manifest)
    first = (manifest.faults or ())[0]
    fault: FaultSpec = first.model_copy(update={"injector": InjectorSpec(kind=kind, resource="api")})
    lab.inject(fault)
    confirm(lab, expects(*broken))
    lab.revert(fault)
    confirm(lab, expects(*mended))
    lab.revert(fault)
    assert lab.cleanup().passed


def test_a_health_check_of_the_catalogue_follows_the_network(
    start: Callable[[Manifest], DockerLab], scenario: Callable[[str], Manifest]
) -> None:
    manifest = scenario("watch.correlated-dependency")
    lab = start(manifest)
    first = (manifest.faults or ())[0]
    fault = first.model_copy(update={"injector": InjectorSpec(kind="disconnect_network", resource="store")})
    lab.inject(fault)
    confirm(lab, expects("docker.health", '"unhealthy"', "api"))
    lab.revert(fault)
    confirm(lab, expects("docker.health", '"healthy"', "api"))
    assert lab.cleanup().passed


def test_a_restart_empties_the_scratch_storage_and_the_revert_agrees(
    start: Callable[[Manifest], DockerLab], scenario: Callable[[str], Manifest], engine: DockerEngine
) -> None:
    manifest = scenario("investigation.docker-storage-pressure")
    lab = start(manifest)
    (fault,) = manifest.faults or ()
    lab.inject(fault)
    confirm(lab, fault.oracle)
    engine.restart(ident(lab, "store"), 2)
    confirm(lab, fault.revert_oracle)
    assert [one.member for one in lab.changes() if one.alias == "store"] == ["started_at", "health"]
    lab.revert(fault)
    assert lab.cleanup().passed


@pytest.mark.parametrize(
    "plant", ["touch {}", "ln -s /etc/passwd {}", "ln -s /nowhere {}"], ids=["file", "link", "dangling_link"]
)
def test_a_planted_fill_file_is_refused_and_survives(
    start: Callable[[Manifest], DockerLab],
    scenario: Callable[[str], Manifest],
    engine: DockerEngine,
    plant: str,
) -> None:
    manifest = scenario("investigation.docker-storage-pressure")
    lab = start(manifest)
    (fault,) = manifest.faults or ()
    engine.execute(ident(lab, "store"), ("sh", "-c", plant.format(FILL_FILE)))
    with pytest.raises(LabError, match="there already"):
        lab.inject(fault)
    look = engine.execute(ident(lab, "store"), ("sh", "-c", f"ls -ld {FILL_FILE}"))
    assert look.exit_code == 0
    if "ln" in plant:
        with pytest.raises(LabError, match="no regular file"):
            lab.revert(fault)
    assert lab.cleanup().passed


def test_decoys_survive_cleanup_and_are_reported(
    start: Callable[[Manifest], DockerLab],
    scenario: Callable[[str], Manifest],
    engine: DockerEngine,
    lab_image: str,
    run_id: str,
) -> None:
    lab = start(scenario("watch.healthy-mixed"))
    idle = ("sh", "-c", "sleep 60")
    containers = [
        engine.create_container(ContainerSpec(name, lab_image, idle, labels))
        for name, labels in (
            (f"pulse-qual-{run_id}-decoy", {}),
            (f"pulse-qual-{run_id}-longer", {RUN_LABEL: run_id + "0"}),
            ("somebody-elses", {RUN_LABEL: run_id}),
        )
    ]
    engine.create_volume("somebody-elses", {RUN_LABEL: run_id})
    network = engine.create_network("somebody-elses", {RUN_LABEL: run_id})
    try:
        result = lab.cleanup()
        assert set(containers) <= set(engine.containers())
        assert "somebody-elses" in engine.volumes()
        assert network in engine.networks()
        assert not result.passed
        assert sum("left alone" in text for text in result.errors) == 6
        assert len(result.first_removed.containers or ()) == 3
        assert result.second_cleanup_noop
    finally:
        for container in containers:
            engine.remove_container(container)
        engine.remove_volume("somebody-elses")
        engine.remove_network(network)


def test_a_signal_ends_the_baseline_at_once_and_cleanup_is_whole(
    engine: DockerEngine,
    target: Target,
    lab_image: str,
    run_id: str,
    scenario: Callable[[str], Manifest],
) -> None:
    cancellation = Cancellation()
    manifest = scenario("watch.docker-unhealthy")
    never = manifest.model_copy(update={"baseline": expects("docker.health", '"never"')})
    with open_lab(target, never, run_id, clock=SystemClock(cancellation), image_override=lab_image) as lab:
        timer = threading.Timer(1.5, cancellation.request)
        timer.start()
        with pytest.raises(CancelledRunError):
            lab.prepare()
        timer.join()
        result = lab.cleanup()
    assert result.passed, result.errors
    assert len(result.first_removed.networks or ()) == 1


def test_a_command_that_writes_to_both_streams_is_read_whole(
    start: Callable[[Manifest], DockerLab], scenario: Callable[[str], Manifest], engine: DockerEngine
) -> None:
    lab = start(scenario("watch.healthy-mixed"))
    script = "head -c 100000 /dev/zero | tr '\\0' x; echo e >&2; exit 7"
    result = engine.execute(ident(lab, "api"), ("sh", "-c", script))
    assert (result.exit_code, result.output.count("x"), "e\n" in result.output) == (7, 100_000, True)


def test_the_engine_is_told_exactly_what_was_meant(
    start: Callable[[Manifest], DockerLab], scenario: Callable[[str], Manifest], engine: DockerEngine
) -> None:
    lab = start(scenario("investigation.docker-storage-pressure"))
    said = engine.api.inspect_container(ident(lab, "store"))
    assert said["Config"]["Healthcheck"]["Test"][0] == "CMD-SHELL"
    assert said["Config"]["Healthcheck"]["Interval"] == 2 * 10**9
    host = said["HostConfig"]
    assert host["Privileged"] is False
    assert not host["Binds"]
    assert not host["PortBindings"]
    assert host["NetworkMode"] == lab.prepared.network_name if lab.prepared else False
    assert list(host["Tmpfs"]) == ["/var/lib/service-cache"]


def test_versions_name_the_engine_and_the_image_in_place(
    start: Callable[[Manifest], DockerLab], scenario: Callable[[str], Manifest], lab_image: str
) -> None:
    versions = start(scenario("watch.healthy-mixed")).versions()
    assert versions["lab_image"] == lab_image
    assert versions["lab_image_id"].startswith("sha256:")
    assert {"docker_engine", "docker_api", "os", "architecture"} < set(versions)
