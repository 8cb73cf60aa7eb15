"""Cleanup removes what is the run's and nothing else, and goes on whatever breaks (L15 to L18, L21)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from contract.errors import ResidueError
from contract.manifest import Manifest, Predicate
from contract.record import RawJson
from harness.clock import CancelledRunError
from harness.lab.engine import ObjectView
from harness.lab.errors import BusyObjectError, EngineError, MissingObjectError
from harness.lab.lab import DockerLab
from tests.harness.lab.fakes import FakeClock, FakeEngine

MakeLab = Callable[..., DockerLab]
RUN_LABEL = "com.pulse.intelligence-lab.run"


def with_teardown(manifest: Manifest, *predicates: Predicate) -> Manifest:
    teardown = manifest.teardown.model_copy(update={"predicates": predicates})
    return manifest.model_copy(update={"teardown": teardown})


def test_exactly_six_lists_all_by_the_exact_label(lab: DockerLab, engine: FakeEngine, run_id: str) -> None:
    engine.calls.clear()
    assert lab.cleanup().passed
    labelled = [call for call in engine.called("containers", "volumes", "networks") if call[1]]
    assert [call[0] for call in labelled] == ["containers", "volumes", "networks"] * 2
    assert {call[1] for call in labelled} == {f"{RUN_LABEL}={run_id}"}


def test_everything_is_removed_and_the_second_pass_finds_nothing(lab: DockerLab, engine: FakeEngine) -> None:
    before = lab.prepared
    assert before is not None
    result = lab.cleanup()
    assert result.passed
    assert result.errors == ()
    assert result.first_removed.containers == before.expected_inventory.containers
    assert result.first_removed.volumes == before.expected_inventory.volumes
    assert len(result.first_removed.networks or ()) == 1
    assert result.second_cleanup_noop
    assert result.inventory_unchanged
    assert result.post_inventory == before.pre_inventory
    assert (engine.boxes, engine.drives) == ({}, {})


def test_each_removal_follows_a_look_at_the_very_object(lab: DockerLab, engine: FakeEngine) -> None:
    engine.calls.clear()
    lab.cleanup()
    calls = [call for call in engine.calls if call[0].startswith(("inspect_", "remove_"))]  # type: ignore[attr-defined]
    looks, removals = calls[::2], calls[1::2]
    assert [(str(name).removeprefix("inspect_"), ident) for name, ident in looks] == [
        (str(name).removeprefix("remove_"), ident) for name, ident in removals
    ]


def test_no_image_is_ever_removed_and_nothing_is_pruned(lab: DockerLab, engine: FakeEngine) -> None:
    pictures = dict(engine.pictures)
    lab.cleanup()
    assert engine.pictures == pictures
    assert not [name for name, *_ in engine.calls if "prune" in str(name)]


def test_a_foreign_object_with_a_matching_name_is_untouched(
    lab: DockerLab, engine: FakeEngine, run_id: str
) -> None:
    decoys = [
        engine.add_foreign(f"pulse-qual-{run_id}-decoy", {}),
        engine.add_foreign(f"pulse-qual-{run_id}-other", {RUN_LABEL: run_id + "0"}),
    ]
    engine.calls.clear()
    result = lab.cleanup()
    assert set(decoys) <= set(engine.boxes)
    assert not [call for call in engine.calls if call[-1] in decoys]
    assert not result.passed
    assert "+containers" in result.errors[0]


@pytest.mark.parametrize("name", ["somebody-elses", "pulse-qual-another-run"])
def test_an_object_with_the_label_but_another_name_is_left_and_reported(
    lab: DockerLab, engine: FakeEngine, run_id: str, name: str
) -> None:
    decoy = engine.add_foreign(name, {RUN_LABEL: run_id})
    result = lab.cleanup()
    assert decoy in engine.boxes
    assert not result.passed
    assert sum("left alone" in text for text in result.errors) == 2
    assert decoy not in (result.first_removed.containers or ())


def test_an_object_whose_label_changed_since_it_was_listed_is_left(
    lab: DockerLab, engine: FakeEngine, run_id: str
) -> None:
    assert lab.prepared is not None
    ident = (lab.prepared.resource_ids or {})["api"]

    def relabel(arguments: tuple[object, ...]) -> None:
        if arguments == (ident,):
            engine.relabel(ident, {RUN_LABEL: "another"})

    engine.failures["inspect_container"] = relabel
    result = lab.cleanup()
    assert ident in engine.boxes
    assert not result.passed


def test_a_failed_removal_is_reported_and_the_rest_is_removed(lab: DockerLab, engine: FakeEngine) -> None:
    assert lab.prepared is not None
    stuck = (lab.prepared.resource_ids or {})["api"]

    def refuse(arguments: tuple[object, ...]) -> None:
        if arguments == (stuck,):
            raise EngineError("device or resource busy")

    engine.failures["remove_container"] = refuse
    result = lab.cleanup()
    assert set(engine.boxes) == {stuck}
    assert not result.passed
    assert any("device or resource busy" in text for text in result.errors)


def test_a_failed_list_is_reported_and_the_rest_is_removed(lab: DockerLab, engine: FakeEngine) -> None:
    engine.failures["volumes"] = RuntimeError("unreadable answer")
    result = lab.cleanup()
    assert engine.boxes == {}
    assert len(engine.nets) == 1
    assert not result.passed
    assert any("list volumes: RuntimeError" in text for text in result.errors)
    assert any(text.startswith("inventory:") for text in result.errors)


def test_an_endpoint_that_outlives_its_container_is_waited_for(lab: DockerLab, engine: FakeEngine) -> None:
    left = [1, 1, 1]

    def busy(_: tuple[object, ...]) -> None:
        if left:
            left.pop()
            raise BusyObjectError("has active endpoints")

    engine.failures["remove_network"] = busy
    assert lab.cleanup().passed


def test_a_foreign_container_in_the_labs_network_is_untouched(lab: DockerLab, engine: FakeEngine) -> None:
    guest = engine.add_foreign("guest", {})
    assert lab.prepared is not None
    engine.boxes[guest].networks[lab.prepared.network_name] = ()
    result = lab.cleanup()
    assert engine.boxes[guest].networks
    assert not result.passed
    assert any("active endpoints" in text for text in result.errors)


def test_what_vanished_between_list_and_removal_is_neither_removed_nor_an_error(
    lab: DockerLab, engine: FakeEngine
) -> None:
    def vanish(arguments: tuple[object, ...]) -> None:
        engine.boxes.pop(str(arguments[0]), None)
        raise MissingObjectError("no such container")

    engine.failures["remove_container"] = vanish
    result = lab.cleanup()
    assert result.passed
    assert result.first_removed.containers == ()


def test_a_second_pass_that_finds_something_fails_the_cleanup(
    lab: DockerLab, engine: FakeEngine, run_id: str
) -> None:
    late = [1]

    def reappear(_: tuple[object, ...]) -> None:
        if late:
            late.pop()
            engine.drives[f"pulse-qual-{run_id}-late"] = ObjectView(
                f"pulse-qual-{run_id}-late", {RUN_LABEL: run_id}
            )

    engine.failures["remove_network"] = reappear
    result = lab.cleanup()
    assert result.second_removed.volumes == (f"pulse-qual-{run_id}-late",)
    assert not result.second_cleanup_noop
    assert not result.passed
    assert any("second cleanup pass" in text for text in result.errors)


def test_an_image_that_came_meanwhile_fails_the_cleanup(lab: DockerLab, engine: FakeEngine) -> None:
    engine.pictures["new:1"] = "sha256:" + "2" * 64
    result = lab.cleanup()
    assert not result.inventory_unchanged
    assert any("+images sha256:2222" in text for text in result.errors)


def test_what_the_manifest_does_not_require_does_not_fail(
    make_lab: MakeLab, manifest: Manifest, engine: FakeEngine
) -> None:
    teardown = manifest.teardown.model_copy(update={"require_inventory_unchanged": False, "predicates": ()})
    lab = make_lab(manifest.model_copy(update={"teardown": teardown}))
    lab.prepare()
    engine.pictures["new:1"] = "sha256:" + "2" * 64
    result = lab.cleanup()
    assert (result.passed, result.inventory_unchanged) == (True, False)


def test_teardown_predicates_are_evaluated_when_everything_is_gone(
    make_lab: MakeLab, manifest: Manifest
) -> None:
    gone = Predicate(probe="docker.exists", target="api", operator="eq", value=RawJson("false"))
    lab = make_lab(with_teardown(manifest, gone))
    lab.prepare()
    assert lab.cleanup().passed


@pytest.mark.parametrize(
    ("probe", "value"), [("docker.exists", "true"), ("docker.running", "false"), ("docker.health", '""')]
)
def test_a_teardown_predicate_that_does_not_hold_fails_the_cleanup(
    make_lab: MakeLab, manifest: Manifest, probe: str, value: str
) -> None:
    asked = Predicate(probe=probe, target="api", operator="eq", value=RawJson(value))
    lab = make_lab(with_teardown(manifest, asked))
    lab.prepare()
    result = lab.cleanup()
    assert not result.passed
    assert result.errors[0].startswith(f"teardown: {probe} of api")


def test_every_teardown_predicate_is_evaluated(make_lab: MakeLab, manifest: Manifest) -> None:
    asked = Predicate(probe="docker.exists", target="api", operator="eq", value=RawJson("true"))
    lab = make_lab(with_teardown(manifest, asked, asked))
    lab.prepare()
    assert len(lab.cleanup().errors) == 2


def test_cleanup_gives_up_after_two_minutes_and_says_so(
    lab: DockerLab, engine: FakeEngine, clock: FakeClock
) -> None:
    def slow(_: tuple[object, ...]) -> None:
        clock.ns += 50 * 10**9
        raise EngineError("slow")

    engine.failures["remove_container"] = slow
    engine.failures["remove_volume"] = slow
    result = lab.cleanup()
    assert not result.passed
    assert any("not tried, the 2m0s of cleanup are over" in text for text in result.errors)
    assert clock.ns < 160 * 10**9


def test_a_cancelled_baseline_is_followed_by_a_whole_cleanup(
    make_lab: MakeLab, manifest: Manifest, engine: FakeEngine, clock: FakeClock
) -> None:
    def cancelled(*_: object) -> None:
        raise CancelledRunError(15)

    never = Predicate(probe="docker.health", target="api", operator="eq", value=RawJson('"x"'))
    lab = make_lab(manifest.model_copy(update={"baseline": (never,)}))
    clock.at(1, cancelled)
    with pytest.raises(CancelledRunError):
        lab.prepare()
    # From here on every wait of the run's own clock raises; cleanup has a wait of its own.
    clock.sleep = cancelled  # type: ignore[method-assign,assignment]
    waits: list[float] = []
    lab._wait = waits.append
    left = [1]

    def busy(_: tuple[object, ...]) -> None:
        if left:
            left.pop()
            raise BusyObjectError("has active endpoints")

    engine.failures["remove_network"] = busy
    result = lab.cleanup()
    assert result.passed, result.errors
    assert len(waits) == 1


def fail_in_session(lab: DockerLab) -> None:
    with lab:
        lab.prepare()
        raise ZeroDivisionError


def test_a_session_that_ends_without_cleanup_is_cleaned_up(
    make_lab: MakeLab, manifest: Manifest, engine: FakeEngine
) -> None:
    with pytest.raises(ZeroDivisionError):
        fail_in_session(make_lab(manifest))
    assert (engine.boxes, engine.drives, len(engine.nets)) == ({}, {}, 1)
    assert engine.feed.closed


def test_a_session_that_leaves_residue_says_so(
    make_lab: MakeLab, manifest: Manifest, engine: FakeEngine
) -> None:
    engine.failures["remove_volume"] = EngineError("busy")
    with pytest.raises(ResidueError, match="busy") as caught, make_lab(manifest) as lab:
        lab.prepare()
    assert caught.value.exit_code == 5


def test_residue_does_not_hide_what_ended_the_session(
    make_lab: MakeLab, manifest: Manifest, engine: FakeEngine
) -> None:
    engine.failures["remove_volume"] = EngineError("busy")
    with pytest.raises(ZeroDivisionError) as caught:
        fail_in_session(make_lab(manifest))
    assert "was not cleaned up" in caught.value.__notes__[0]


def test_a_session_that_was_cleaned_up_is_not_cleaned_up_again(
    make_lab: MakeLab, manifest: Manifest, engine: FakeEngine
) -> None:
    with make_lab(manifest) as lab:
        lab.prepare()
        lab.cleanup()
        engine.calls.clear()
    assert engine.calls == []


def test_a_session_in_which_nothing_was_prepared_touches_nothing(
    make_lab: MakeLab, manifest: Manifest, engine: FakeEngine
) -> None:
    with make_lab(manifest):
        pass
    assert engine.calls == []
