"""Captured runs: written whole for their owner alone, read back only as sealed, exported as an allow-list."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from contract.challenge import identity_problem
from contract.checksums import ChecksumError
from contract.contribution import decode_contribution
from contract.errors import PatrolQualificationError, UsageError
from contract.record import RawJson
from contract.report import RunReport, load_report
from contract.submission import decode_submission
from harness.artifacts import capture, sealed, write_folder
from harness.captures import CaptureError, find_reports, read_listed, read_sealed
from harness.cli import run as qualify
from tests.harness.runner.world import World

Build = Callable[[str], World]
FILES = ["SHA256SUMS", "ground-truth.json", "replay.json", "report.json", "report.md"]


@pytest.fixture
def world(root: Path) -> Build:
    from contract.manifest import load_manifest
    from harness.resources import load_prices

    return lambda name: World(
        load_manifest((root / "scenarios" / f"{name}.json").read_bytes(), name), load_prices()
    )


def run_of(world: World) -> RunReport:
    return world.run().report


def store(report: RunReport, world: World, folder: Path) -> Path:
    write_folder(folder, capture(report, world.clock.now()).files)
    return folder


@pytest.fixture
def captured(world: Build, tmp_path: Path) -> Path:
    """One captured run in a folder of runs."""
    this = world("watch.docker-unhealthy")
    return store(run_of(this), this, tmp_path / "runs" / "q-one")


def test_files_are_written_for_their_owner_alone(captured: Path) -> None:
    assert sorted(path.name for path in captured.iterdir()) == FILES
    assert {stat.S_IMODE(path.stat().st_mode) for path in captured.iterdir()} == {0o600}
    assert stat.S_IMODE(captured.stat().st_mode) == 0o700


def test_nothing_is_left_when_a_file_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(PatrolQualificationError):
        write_folder(tmp_path / "run", {"a": b"1", "missing/b": b"2"})
    assert list(tmp_path.iterdir()) == []


def test_a_folder_with_content_is_never_written_over(captured: Path) -> None:
    with pytest.raises(UsageError, match="not empty"):
        write_folder(captured, {"a": b""})
    assert sorted(path.name for path in captured.iterdir()) == FILES


def test_a_report_read_back_is_the_one_that_was_written(world: Build, tmp_path: Path) -> None:
    this = world("watch.docker-unhealthy")
    report = run_of(this)
    folder = store(report, this, tmp_path / "run")
    assert load_report((folder / "report.json").read_bytes()) == capture(report, this.clock.now()).report
    truth = json.loads((folder / "ground-truth.json").read_text())
    assert truth == json.loads((folder / "report.json").read_text())["ground_truth"]


def test_a_run_that_cannot_be_replayed_did_not_pass_and_says_so(world: Build, tmp_path: Path) -> None:
    this = world("watch.docker-unhealthy")
    record = this.pulse.the_runs[0]
    broken = record.tool_calls[0].model_copy(update={"input": '{"cut": "of'})
    this.pulse.the_runs = [record.model_copy(update={"tool_calls": (broken,)})]
    stored = capture(run_of(this), this.clock.now())
    assert not stored.report.passed
    assert "deterministic replay capture incomplete" in stored.report.errors[-1]
    assert b'"replayable": false' in stored.files["replay.json"]


def test_secrets_do_not_reach_any_file(world: Build) -> None:
    this = world("watch.docker-unhealthy")
    record = this.pulse.the_runs[0]
    leak = record.tool_calls[0].model_copy(update={"output": "password=hunter2, secret: hunter2"})
    this.pulse.the_runs = [
        record.model_copy(update={"tool_calls": (leak,), "ai_analysis": "Authorization: Bearer hunter2"})
    ]
    files = capture(run_of(this), this.clock.now()).files
    assert not any(b"hunter2" in content for content in files.values())
    assert json.loads(files["report.json"])


@pytest.mark.parametrize("name", ["report.json", "replay.json", "ground-truth.json", "report.md"])
def test_one_changed_byte_in_any_file_is_refused_and_named(captured: Path, name: str) -> None:
    path = captured / name
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(CaptureError, match=name):
        read_sealed(captured)


def test_a_missing_file_is_refused_and_an_unlisted_one_named(captured: Path) -> None:
    (captured / "notes.txt").write_text("mine")
    assert read_sealed(captured).unlisted == ("notes.txt",)
    (captured / "report.md").unlink()
    with pytest.raises(CaptureError, match=r"report\.md: listed, but absent"):
        read_sealed(captured)


def test_a_folder_without_sums_is_refused(captured: Path) -> None:
    (captured / "SHA256SUMS").unlink()
    with pytest.raises(CaptureError, match="SHA256SUMS"):
        read_sealed(captured)


@pytest.mark.parametrize("kind", ["symlink", "fifo", "folder"])
def test_anything_but_a_regular_file_is_refused(captured: Path, kind: str, tmp_path: Path) -> None:
    path = captured / "report.json"
    content = path.read_bytes()
    path.unlink()
    if kind == "symlink":
        (tmp_path / "elsewhere").write_bytes(content)
        path.symlink_to(tmp_path / "elsewhere")
    elif kind == "fifo":
        os.mkfifo(path)
    else:
        path.mkdir()
    with pytest.raises((CaptureError, ChecksumError)):
        read_sealed(captured)


def test_a_file_that_the_sums_do_not_list_is_not_read(captured: Path) -> None:
    (captured / "other.json").write_text("{}")
    with pytest.raises(CaptureError, match="does not list it"):
        read_listed(captured / "other.json")


def test_reports_are_found_at_any_depth_in_order_and_links_are_not_followed(tmp_path: Path) -> None:
    for name in ("b/report.json", "a/c/report.json", "a/xreport.json"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "z").symlink_to(tmp_path / "b")
    assert [str(path.relative_to(tmp_path)) for path in find_reports(tmp_path)] == [
        "a/c/report.json",
        "b/report.json",
    ]


def test_a_folder_without_reports_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no report\.json"):
        find_reports(tmp_path)


def export(captured: Path, target: Path, *more: str, catalog: Path) -> int:
    words = ("--reports", str(captured.parent), "--contribution-dir", str(target), "--catalog", str(catalog))
    return qualify(["export-contribution", "--qualification-track", "watch", *words, *more])


def test_an_export_holds_counts_and_digests_and_nothing_private(
    captured: Path, tmp_path: Path, root: Path
) -> None:
    target = tmp_path / "contribution"
    assert export(captured, target, catalog=root / "scenarios") == 0
    assert sorted(path.name for path in target.iterdir()) == [
        "README.md",
        "SHA256SUMS",
        "contribution.json",
        "submission.json",
    ]
    text = "".join(path.read_text() for path in target.iterdir())
    report = load_report((captured / "report.json").read_bytes())
    private = [report.run_id, "127.0.0.1", "context:lab", "health check fails", "pulse_query", "One thing is"]
    private += [finding.id for finding in report.findings or ()]
    assert report.prepared_lab is not None
    private += (report.prepared_lab.resource_names or {}).values()
    assert [secret for secret in private if secret in text] == []


def test_a_draft_declares_what_the_reports_know_and_leaves_the_person_open(
    captured: Path, tmp_path: Path, root: Path
) -> None:
    target = tmp_path / "contribution"
    export(captured, target, catalog=root / "scenarios")
    draft = decode_submission((target / "submission.json").read_bytes())
    assert (draft.contributor.login, draft.consent) == ("", False)
    assert draft.environment.docker_engine == "20.10.24"
    assert draft.campaign.runs_per_scenario == {"watch.docker-unhealthy": 1}
    assert draft.overrides == {"lab_image": "image"}
    bundle = decode_contribution((target / "contribution.json").read_bytes())
    assert [identity_problem(run.model) for run in bundle.runs] == [""]
    assert bundle.runs[0].passed


def test_a_tampered_run_is_not_exported(
    captured: Path, tmp_path: Path, root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = captured / "report.json"
    report.write_bytes(report.read_bytes().replace(b'"passed": true', b'"passed":  true', 1))
    assert export(captured, tmp_path / "contribution", catalog=root / "scenarios") == 1
    assert "report.json" in capsys.readouterr().err
    assert not (tmp_path / "contribution").exists()


def as_control(report: RunReport) -> RunReport:
    environment = report.environment.model_copy(
        update={"model": "control:reference", "provider": "control", "inference_route": "control"}
    )
    return report.model_copy(update={"environment": environment})


@pytest.mark.parametrize("command", ["compare", "export-contribution"])
def test_a_verdict_that_its_own_report_contradicts_is_refused(
    command: str, world: Build, root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    play = world("watch.docker-unhealthy")
    report = run_of(play)
    errors = ("the lab broke",)
    store(report.model_copy(update={"passed": True, "errors": errors}), play, tmp_path / "runs" / "one")
    arguments = [command, "--reports", str(tmp_path / "runs"), "--qualification-track", "watch"]
    arguments += ["--catalog", str(root / "scenarios")]
    if command == "export-contribution":
        arguments += ["--contribution-dir", str(tmp_path / "out")]
    assert qualify(arguments) == 1
    assert "says that it passed" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_controls_are_exported_for_a_calibration_only_and_then_alone(
    world: Build, captured: Path, tmp_path: Path, root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    this = world("watch.docker-unhealthy")
    control = store(as_control(run_of(this)), this, tmp_path / "controls" / "q-two")
    target, catalog = tmp_path / "contribution", root / "scenarios"
    assert export(control, target, catalog=catalog) == 1
    assert "--calibration" in capsys.readouterr().err
    assert export(captured, target, "--calibration", catalog=catalog) == 1
    assert not target.exists()
    assert export(control, target, "--calibration", catalog=catalog) == 0


def test_runs_of_different_machines_are_not_exported_as_one(
    world: Build, captured: Path, tmp_path: Path, root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    this = world("watch.docker-unhealthy")
    this.lab.versions = lambda: {"docker_engine": "28.0.0"}  # type: ignore[method-assign]
    store(run_of(this), this, captured.parent / "q-two")
    assert export(captured, tmp_path / "contribution", catalog=root / "scenarios") == 1
    assert "differ in docker_engine: 20.10.24, 28.0.0" in capsys.readouterr().err


def test_scoring_again_gives_the_stored_score_and_the_verdict_as_exit_code(
    captured: Path, root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--catalog", str(root / "scenarios")]
    assert qualify(["replay", str(captured / "report.json"), *words]) == 0
    stored = json.loads((captured / "report.json").read_text())["score"]
    assert json.loads(capsys.readouterr().out) == stored
    assert qualify(["-mode", "replay", "-replay-report", str(captured / "report.json"), *words]) == 0


def test_a_replay_is_followed_to_its_end(
    captured: Path, root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--catalog", str(root / "scenarios")]
    assert qualify(["verify-replay", str(captured / "replay.json"), *words]) == 0
    assert "1 tool calls replayed in order" in capsys.readouterr().out


@pytest.mark.parametrize("mode", ["replay", "verify-replay"])
def test_a_malformed_capture_does_not_hold(captured: Path, root: Path, mode: str) -> None:
    name = {"replay": "report.json", "verify-replay": "replay.json"}[mode]
    folder = captured.parent / "broken"
    write_folder(folder, sealed({name: b'{"schema_version": 3}'}))
    assert qualify([mode, str(folder / name), "--catalog", str(root / "scenarios")]) == 1
    assert qualify([mode, "--catalog", str(root / "scenarios")]) == 2


def test_comparing_without_a_track_holds_and_with_one_run_does_not_qualify(
    captured: Path, root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["compare", "--reports", str(captured.parent), "--catalog", str(root / "scenarios")]
    assert qualify(words) == 0
    assert json.loads(capsys.readouterr().out)["models"][0]["runs"] == 1
    target = tmp_path / "publication"
    assert qualify([*words, "--qualification-track", "watch", "--publication-dir", str(target)]) == 1
    assert sorted(path.name for path in target.iterdir()) == [
        "SHA256SUMS",
        "comparison.json",
        "comparison.md",
    ]


def test_a_failed_run_is_explained_code_by_code(
    world: Build, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    this = world("watch.docker-unhealthy")
    this.pulse.findings_lists = [()]
    this.pulse.the_runs = [this.run_record()]
    folder = store(run_of(this), this, tmp_path / "run")
    assert qualify(["explain", str(folder)]) == 0
    told = capsys.readouterr().out
    assert "recall: " in told
    assert "Fewer faults were found than demanded." in told


def test_a_code_is_explained_and_an_unknown_word_is_not(capsys: pytest.CaptureFixture[str]) -> None:
    assert qualify(["explain", "false-positives"]) == 0
    assert "weighs most" in capsys.readouterr().out
    assert qualify(["explain", "no-such-thing"]) == 2


def test_opaque_records_keep_the_servers_spelling(world: Build) -> None:
    this = world("remediation.docker-unhealthy-restart-rejected").investigated()
    raw = RawJson('{"z":1.50,"a":1e3}')
    this.pulse.actions = lambda view: (raw,)  # type: ignore[method-assign]
    files = capture(run_of(this), this.clock.now()).files
    assert b'"z": 1.50' in files["report.json"]
    assert b'"a": 1e3' in files["report.json"]
