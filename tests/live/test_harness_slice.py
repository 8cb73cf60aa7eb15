"""The whole way on a real engine: broken, confirmed, asked over HTTP, scored, sealed, cleaned up."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from contract.contribution import decode_contribution
from contract.report import RunReport, load_report
from harness.captures import read_sealed

pytestmark = pytest.mark.live

QUALIFY = str(Path(sys.executable).with_name("patrol-qualify"))
Qualify = Callable[..., subprocess.CompletedProcess[str]]


def everything(context: str) -> dict[str, list[str]]:
    """All containers, networks, volumes and images of the engine."""
    kinds = {
        "containers": ("ps", "-aq", "--no-trunc"),
        "networks": ("network", "ls", "-q", "--no-trunc"),
        "volumes": ("volume", "ls", "-q"),
        "images": ("image", "ls", "-q", "--no-trunc"),
    }
    return {
        kind: sorted(
            subprocess.run(
                ["docker", "--context", context, *words], capture_output=True, text=True, check=True
            ).stdout.split()
        )
        for kind, words in kinds.items()
    }


@pytest.fixture
def environment(lab_image: str) -> dict[str, str]:
    return {**os.environ, "PULSE_QUALIFY_LAB_IMAGE": lab_image}


@pytest.fixture
def qualify(docker_context: str, environment: dict[str, str], root: Path, tmp_path: Path) -> Qualify:
    """Run the command as a user does."""

    def command(*words: str) -> subprocess.CompletedProcess[str]:
        where = ("--docker-context", docker_context, "--artifacts", str(tmp_path / "runs"))
        return subprocess.run(
            [QUALIFY, *words, *where],
            cwd=root,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )

    return command


def live(scenario: str, model: str) -> tuple[str, ...]:
    return (
        *("live", "--scenario", scenario, "--embedded", "--model", model),
        "--authorize-live-faults",
    )


def the_report(tmp_path: Path) -> RunReport:
    (path,) = (tmp_path / "runs").glob("q-*/report.json")
    return load_report(path.read_bytes(), str(path))


def test_the_reference_control_finds_a_broken_container_and_leaves_nothing_behind(
    qualify: Qualify, docker_context: str, tmp_path: Path
) -> None:
    before = everything(docker_context)
    done = qualify(*live("watch.docker-unhealthy", "control:reference"))
    assert done.returncode == 0, done.stderr
    assert everything(docker_context) == before
    assert re.fullmatch(
        r"\[PASS\] (\S+) scenario=watch\.docker-unhealthy model=control:reference recall=100\.0% fp=0 "
        r"artifacts=\S+/\1\n",
        done.stdout,
    )
    report = the_report(tmp_path)
    folder = tmp_path / "runs" / report.run_id
    assert len(read_sealed(folder).files) == 4
    assert {oct(path.stat().st_mode & 0o777) for path in folder.iterdir()} == {"0o600"}
    assert all(phase.passed for phase in report.phases or ())
    assert report.environment.pulse_version.startswith("reference-patrol/")
    assert report.environment.inference_route == "control"
    checked = subprocess.run(["sha256sum", "-c", "SHA256SUMS"], cwd=folder, capture_output=True, check=False)
    assert checked.returncode == 0


def test_the_silent_control_fails_with_the_code_recall_and_leaves_nothing_behind(
    qualify: Qualify, docker_context: str, tmp_path: Path
) -> None:
    before = everything(docker_context)
    done = qualify(*live("watch.docker-unhealthy", "control:silent"))
    assert done.returncode == 1, done.stderr
    assert everything(docker_context) == before
    report = the_report(tmp_path)
    assert any(text.startswith("recall: ") for text in report.score.gate_failures)
    assert report.score.hard_failures == ()
    assert report.teardown.passed


@pytest.mark.parametrize("model", ["control:reference", "control:silent"])
def test_where_nothing_is_broken_both_controls_pass(qualify: Qualify, model: str) -> None:
    done = qualify(*live("watch.healthy-mixed", model))
    assert done.returncode == 0, done.stderr


def test_the_flag_spelling_does_the_same(qualify: Qualify) -> None:
    done = qualify(
        *("-mode", "live", "-scenario", "watch.docker-unhealthy", "-authorize-live-faults"),
        *("--embedded", "-model", "control:reference"),
    )
    assert done.returncode == 0, done.stderr


def test_without_the_lab_image_the_run_is_invalid_and_leaves_nothing_behind(
    qualify: Qualify, docker_context: str, environment: dict[str, str], tmp_path: Path
) -> None:
    environment["PULSE_QUALIFY_LAB_IMAGE"] = "nobody/has-this:1"
    before = everything(docker_context)
    done = qualify(*live("watch.docker-unhealthy", "control:reference"))
    assert done.returncode == 4, done.stderr
    assert "nobody/has-this:1" in done.stderr
    assert everything(docker_context) == before
    assert not the_report(tmp_path).passed


@pytest.mark.parametrize(
    ("moment", "number"),
    [("preflight", signal.SIGTERM), ("provision_and_baseline", signal.SIGINT)],
)
def test_a_signal_in_the_middle_cleans_up_writes_the_report_and_has_its_own_exit_code(
    docker_context: str,
    environment: dict[str, str],
    root: Path,
    tmp_path: Path,
    moment: str,
    number: signal.Signals,
) -> None:
    before = everything(docker_context)
    words = (*live("watch.docker-unhealthy", "control:reference"), "--docker-context", docker_context)
    process = subprocess.Popen(
        [QUALIFY, *words, "--artifacts", str(tmp_path / "runs")],
        cwd=root,
        env=environment,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    for line in process.stderr:
        if f" {moment} " in line:
            time.sleep(1.0)  # into the next phase
            process.send_signal(number)
            break
    _, rest = process.communicate(timeout=180)
    assert process.returncode == 128 + number, rest
    assert everything(docker_context) == before
    assert not the_report(tmp_path).passed


def test_captured_runs_are_exported_without_anything_private(
    qualify: Qualify, environment: dict[str, str], root: Path, tmp_path: Path
) -> None:
    qualify(*live("watch.healthy-mixed", "control:reference"), "--repeats", "2")
    target = tmp_path / "contribution"
    export = [QUALIFY, "export-contribution", "--qualification-track", "watch", "--calibration", "--json"]
    done = subprocess.run(
        [*export, "--reports", str(tmp_path / "runs"), "--contribution-dir", str(target)],
        cwd=root,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["runs"] == 2
    bundle = decode_contribution((target / "contribution.json").read_bytes())
    assert all(run.passed for run in bundle.runs)
    assert "pulse-qual-" not in (target / "contribution.json").read_text()


@pytest.mark.model
def test_a_real_small_model_is_asked_and_its_run_is_a_result_and_not_a_breakdown(
    qualify: Qualify, environment: dict[str, str], model_server: str, tmp_path: Path
) -> None:
    environment |= {
        "PATROL_OPENAI_BASE_URL": model_server,
        "PATROL_OPENAI_TOOL_CHOICE": "required",
        "PATROL_OPENAI_PREFILL": "<tool_call>\n",
        "PATROL_OPENAI_MAX_TOKENS": "128",
        "PATROL_RUN_TOKEN_LIMIT": "2500",
    }
    done = qualify(*live("watch.docker-unhealthy", "openai:smollm2-135m-instruct"))
    assert done.returncode in (0, 1), done.stderr
    report = the_report(tmp_path)
    assert report.environment.inference_route == "local_model_server"
    assert not report.score.cost.known
    assert report.patrol_run.tool_calls
    assert report.teardown.passed
