"""Runs one after the other, a line for each, the worst verdict as exit code."""

from __future__ import annotations

import json
import os
import re
import signal
import stat
from pathlib import Path

import pytest

from contract.errors import EnvironmentMissingError, InvalidRunError
from contract.report import PatrolRun
from harness.cli.live import only_one
from harness.clock import CancelledRunError, SystemClock
from tests.harness.cli.conftest import Stage
from tests.harness.runner.world import World


def misses(world: World) -> None:
    world.pulse.findings_lists = [()]
    world.pulse.the_runs = [world.run_record()]


def breaks(world: World) -> None:
    world.lab.trouble["inject"] = InvalidRunError("no engine")


def leaves(world: World) -> None:
    world.lab.residue = True


def test_the_line_of_a_run_is_as_documented(stage: Stage, capsys: pytest.CaptureFixture[str]) -> None:
    assert stage.live() == 0
    line = capsys.readouterr().out
    assert re.fullmatch(
        r"\[PASS\] (q-\d{8}-\d{6}-[0-9a-f]{8}) scenario=watch\.docker-unhealthy model=openai:gpt-4o "
        rf"recall=100\.0% fp=0 artifacts={re.escape(str(stage.artifacts))}/\1\n",
        line,
    )


def test_five_files_are_written_for_their_owner_alone(stage: Stage) -> None:
    stage.live()
    (folder,) = stage.artifacts.glob("q-*")
    assert sorted(path.name for path in folder.iterdir()) == [
        "SHA256SUMS",
        "ground-truth.json",
        "replay.json",
        "report.json",
        "report.md",
    ]
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


@pytest.mark.parametrize(
    ("prepare", "code", "says"),
    [
        (lambda world: None, 0, ""),
        (misses, 1, "  recall: "),
        (breaks, 4, "  invalid: inject_and_confirm_ground_truth: no engine"),
        (leaves, 5, "  residue: teardown: inventory differs"),
    ],
    ids=["passed", "failed", "invalid", "residue"],
)
def test_each_verdict_has_its_exit_code_and_its_reason_on_standard_error(
    stage: Stage, capsys: pytest.CaptureFixture[str], prepare: object, code: int, says: str
) -> None:
    stage.prepare = prepare  # type: ignore[assignment]
    assert stage.live() == code
    told = capsys.readouterr()
    assert says in told.err
    assert told.out.startswith("[PASS]" if code == 0 else "[FAIL]")
    assert len(list(stage.artifacts.glob("q-*/report.json"))) == 1


def test_a_failed_run_does_not_end_the_suite_and_the_worst_verdict_counts(stage: Stage) -> None:
    stage.level = "monitor"

    def prepare(world: World) -> None:
        number = len(stage.worlds)
        {2: misses, 3: leaves, 4: breaks}.get(number, lambda _: None)(world)

    stage.prepare = prepare
    words = ("live-suite", "--qualification-track", "watch", "--docker-context", "lab")
    assert stage.command(*words, "--authorize-live-faults") == 5
    assert stage.entered.count("lab") == 7


def test_repeats_are_the_inner_loop_and_labs_never_overlap(
    stage: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    stage.level = "monitor"
    words = ("live-suite", "--qualification-track", "watch", "--docker-context", "lab", "--repeats", "2")
    stage.command(*words, "--authorize-live-faults")
    scenarios = re.findall(r"scenario=(\S+)", capsys.readouterr().out)
    assert scenarios == sorted(scenarios)
    assert len(scenarios) == 14
    assert stage.entered == ["subjects", *["lab", "lab closed"] * 14, "given back"]


def test_scenarios_of_another_mode_are_named_and_count_as_failure(
    stage: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    stage.level = "approval"
    stage.prepare = lambda world: world.investigated() and None
    words = ("live-suite", "--qualification-track", "remediation", "--docker-context", "lab")
    assert stage.command(*words, "--authorize-live-faults", "--authorize-remediation") == 1
    out = capsys.readouterr().out
    assert "[SKIP] scenario=remediation.docker-unhealthy-restart-autonomous needs autonomy autonomous" in out
    assert out.count("[PASS]") == 2


def test_a_signal_ends_the_campaign_after_cleanup_with_its_own_code(
    stage: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    def prepare(world: World) -> None:
        def trigger(*_: object) -> PatrolRun:
            os.kill(os.getpid(), signal.SIGTERM)
            SystemClock(stage.cancellations[-1]).sleep(60)
            raise AssertionError("the wait outlived the signal")

        world.pulse.trigger_and_wait = trigger  # type: ignore[method-assign,assignment]

    stage.prepare = prepare
    before = signal.getsignal(signal.SIGTERM)
    assert stage.live("watch.docker-unhealthy", "--repeats", "3") == 143
    assert stage.entered.count("lab") == 1
    assert "cleanup" in stage.worlds[0].lab.calls
    assert len(list(stage.artifacts.glob("q-*/report.json"))) == 1
    assert "SIGTERM: ending the run" in capsys.readouterr().err
    assert signal.getsignal(signal.SIGTERM) is before


def test_residue_is_told_even_when_a_signal_ended_the_run(
    stage: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    def prepare(world: World) -> None:
        leaves(world)
        world.pulse.trouble["findings"] = CancelledRunError(signal.SIGINT)

    stage.prepare = prepare
    assert stage.live("watch.docker-unhealthy", "--repeats", "2") == 5
    assert len(stage.worlds) == 1
    assert "SIGINT" in capsys.readouterr().err


def test_a_report_that_cannot_be_written_is_an_invalid_run(
    stage: Stage, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(folder: Path, files: object) -> None:
        raise InvalidRunError("disk full", where=str(folder))

    monkeypatch.setattr("harness.cli.live.write_folder", refuse)
    assert stage.live() == 4
    told = capsys.readouterr()
    assert "disk full" in told.err
    assert told.out.startswith("[FAIL]")


def test_json_gives_one_object_for_each_run(stage: Stage, capsys: pytest.CaptureFixture[str]) -> None:
    stage.prepare = misses
    assert stage.live("watch.docker-unhealthy", "--json", "--repeats", "2") == 1
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["verdict"] for line in lines] == ["failed", "failed"]
    assert any(entry.startswith("recall: ") for entry in lines[0]["failures"])


def test_a_pipe_sees_one_line_for_each_phase_and_quiet_none(
    stage: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    stage.live()
    assert len(capsys.readouterr().err.splitlines()) == 8
    stage.live("watch.docker-unhealthy", "--quiet")
    told = capsys.readouterr()
    assert (told.out, told.err) == ("", "")


def test_two_campaigns_of_one_folder_exclude_each_other(tmp_path: Path) -> None:
    with (
        only_one(tmp_path),
        pytest.raises(EnvironmentMissingError, match="another campaign"),
        only_one(tmp_path),
    ):
        pass


def test_names_of_a_hostile_server_cannot_write_to_the_terminal(
    stage: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    def hostile(world: World) -> None:
        settings = world.pulse.the_settings
        model = "openai:\x1b[2J\u202egpt\n::error::x\n[PASS] forged"
        world.pulse.the_settings = settings.model_copy(update={"model": model})

    stage.prepare = hostile
    stage.live()
    out = capsys.readouterr()
    assert "\x1b" not in out.out + out.err
    assert "\u202e" not in out.out + out.err
    assert "\n::" not in out.out + out.err
    assert len(out.out.splitlines()) == 1
