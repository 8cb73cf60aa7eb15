"""Scratch storage is filled only where everything is as expected, and emptied of our file only (L19, L20)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from contract.manifest import FaultSpec, Manifest
from harness.lab import scratch
from harness.lab.engine import ExecResult
from harness.lab.errors import EngineTimeoutError, LabError, ProbeError
from harness.lab.lab import DockerLab
from harness.lab.recorded import Recorded
from tests.harness.lab.fakes import FakeContainer, FakeEngine


@pytest.fixture
def manifest(scenario: Callable[[str], Manifest]) -> Manifest:
    return scenario("investigation.docker-storage-pressure")


@pytest.fixture
def fault(manifest: Manifest) -> FaultSpec:
    return (manifest.faults or ())[0]


@pytest.fixture
def box(lab: DockerLab, engine: FakeEngine) -> FakeContainer:
    assert lab.prepared is not None
    return engine.boxes[(lab.prepared.resource_ids or {})["store"]]


def commands(engine: FakeEngine) -> list[object]:
    return [call[2] for call in engine.called("execute")]


def test_the_chain_holds_from_baseline_to_revert(
    lab: DockerLab, engine: FakeEngine, fault: FaultSpec, box: FakeContainer
) -> None:
    lab.inject(fault)
    seen = lab.observe(fault.oracle or ())
    assert [one.passed for one in seen] == [True, True, True]
    assert seen[0].observed is not None
    assert seen[0].observed.text == "0"
    lab.revert(fault)
    assert all(one.passed for one in lab.observe(fault.revert_oracle))
    assert box.fill == ""


def test_each_command_comes_right_after_a_look_at_the_container(
    lab: DockerLab, engine: FakeEngine, fault: FaultSpec, box: FakeContainer
) -> None:
    engine.calls.clear()
    lab.inject(fault)
    names = [call[0] for call in engine.calls]
    assert names == ["inspect_container", "execute"] * 3
    assert commands(engine) == [scratch.MEASURE, scratch.CREATE, scratch.FILL]
    assert {call[1] for call in engine.calls} == {box.id}


def test_the_one_write_is_bounded_by_the_capacity_and_one_block() -> None:
    assert scratch.FILL == (
        "dd",
        "if=/dev/zero",
        "of=/var/lib/service-cache/.pulse-qual-fill",
        "bs=65536",
        "count=129",
    )


@pytest.mark.parametrize("there", ["file", "link"])
def test_a_fill_path_that_is_taken_is_refused_and_left(
    lab: DockerLab, engine: FakeEngine, fault: FaultSpec, box: FakeContainer, there: str
) -> None:
    box.fill = there
    with pytest.raises(LabError, match="something is there already"):
        lab.inject(fault)
    assert box.fill == there
    assert scratch.FILL not in commands(engine)


@pytest.mark.parametrize("blocks", [2047, 2049, 1])
def test_another_capacity_is_not_filled(
    lab: DockerLab, engine: FakeEngine, fault: FaultSpec, box: FakeContainer, blocks: int
) -> None:
    engine.blocks = blocks
    with pytest.raises(LabError, match="not a tmpfs of 8388608"):
        lab.inject(fault)
    assert scratch.CREATE not in commands(engine)


def test_another_file_system_is_not_filled(
    lab: DockerLab, engine: FakeEngine, fault: FaultSpec, box: FakeContainer
) -> None:
    engine.filesystem = "ext2/ext3"
    with pytest.raises(LabError, match="ext2/ext3"):
        lab.inject(fault)
    assert scratch.CREATE not in commands(engine)


@pytest.mark.parametrize(
    "result",
    [
        ExecResult(0, "129+0 records in\n"),
        ExecResult(1, "dd: error writing: Input/output error\n"),
        ExecResult(137, ""),
        ExecResult(0, scratch.NO_SPACE),
    ],
    ids=["write_succeeded", "other_errno", "killed", "exit_zero_with_the_words"],
)
def test_only_a_write_that_runs_out_of_space_fills(
    lab: DockerLab, engine: FakeEngine, fault: FaultSpec, box: FakeContainer, result: ExecResult
) -> None:
    engine.fill_result = result
    with pytest.raises(LabError, match="did not run out of space"):
        lab.inject(fault)
    assert box.fill == ""
    assert lab.prepared is not None
    assert lab.prepared.applied_faults == ()


def test_a_write_without_an_answer_leaves_no_file(
    lab: DockerLab, engine: FakeEngine, fault: FaultSpec, box: FakeContainer
) -> None:
    def hang(arguments: tuple[object, ...]) -> None:
        if arguments[1] == scratch.FILL:
            raise EngineTimeoutError("no answer")

    engine.failures["execute"] = hang
    with pytest.raises(EngineTimeoutError):
        lab.inject(fault)
    assert box.fill == ""


def test_a_fill_file_that_is_gone_counts_as_removed(
    lab: DockerLab, fault: FaultSpec, engine: FakeEngine, box: FakeContainer
) -> None:
    lab.inject(fault)
    engine.restart(box.id, 5)
    lab.revert(fault)
    lab.revert(fault)
    assert box.fill == ""


def test_a_link_in_place_of_the_fill_file_is_left_alone(
    lab: DockerLab, fault: FaultSpec, box: FakeContainer
) -> None:
    box.fill = "link"
    with pytest.raises(LabError, match="no regular file"):
        lab.revert(fault)
    assert box.fill == "link"


@pytest.mark.parametrize(
    "result",
    [
        ExecResult(0, ""),
        ExecResult(0, "4096 2048 tmpfs\n"),
        ExecResult(0, "4096 2048 -1 tmpfs\n"),
        ExecResult(0, "4096 2048 12 tmpfs\nmore\n"),
        ExecResult(0, "4096 2048 1e3 tmpfs\n"),
        ExecResult(1, "4096 2048 12 tmpfs\n"),
    ],
    ids=["nothing", "three_fields", "negative", "second_line", "exponent", "exit_one"],
)
def test_an_answer_that_is_not_exactly_understood_is_no_measurement(
    lab: DockerLab,
    engine: FakeEngine,
    box: FakeContainer,
    monkeypatch: pytest.MonkeyPatch,
    fault: FaultSpec,
    result: ExecResult,
) -> None:
    monkeypatch.setattr(engine, "execute", lambda ident, argv: result)
    recorded = Recorded(engine, lab._identity)
    recorded.prepared = lab.prepared
    with pytest.raises(ProbeError, match="cannot be measured"):
        scratch.measure(recorded, "store")
    # And a predicate that would hold for 0 does not pass.
    (seen,) = lab.observe((fault.oracle or ())[:1])
    assert (seen.passed, seen.observed) == (False, None)
    assert "cannot be measured" in seen.error
