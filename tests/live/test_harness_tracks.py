"""Investigation and remediation on a real engine: diagnosed, governed, verified by the lab alone."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from contract.report import RunReport, load_report

pytestmark = pytest.mark.live

QUALIFY = str(Path(sys.executable).with_name("patrol-qualify"))


def run(
    scenario: str, model: str, context: str, image: str, root: Path, tmp_path: Path
) -> tuple[int, RunReport]:
    """Run one scenario with every authority; its exit code and report."""
    words = ("--scenario", scenario, "--embedded", "--model", model, "--docker-context", context)
    done = subprocess.run(
        [
            *(QUALIFY, "live", *words, "--authorize-live-faults", "--authorize-remediation"),
            *("--quiet", "--artifacts", str(tmp_path)),
        ],
        cwd=root,
        env={**os.environ, "PULSE_QUALIFY_LAB_IMAGE": image},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    reports = list(tmp_path.glob("q-*/report.json"))
    assert reports, done.stderr
    return done.returncode, load_report(reports[0].read_bytes(), str(reports[0]))


def test_a_diagnosis_is_grounded_in_the_dependency_that_is_down(
    docker_context: str, lab_image: str, root: Path, tmp_path: Path
) -> None:
    scenario = "investigation.docker-dependency"
    code, report = run(scenario, "control:reference", docker_context, lab_image, root, tmp_path)
    assert code == 0, report.errors
    assert report.score.root_cause_grounding == 1
    assert report.score.investigation_completion == 1
    (session,) = report.investigations.values()
    assert session.evidence_call_count >= 1


def test_a_silent_subject_has_nothing_investigated(
    docker_context: str, lab_image: str, root: Path, tmp_path: Path
) -> None:
    scenario = "investigation.docker-dependency"
    code, report = run(scenario, "control:silent", docker_context, lab_image, root, tmp_path)
    assert code == 1
    assert {text.partition(":")[0] for text in report.score.hard_failures} >= {"no-investigation"}
    assert report.teardown.passed


@pytest.mark.parametrize(
    ("decision", "state"),
    [("approved", "completed"), ("rejected", "rejected"), ("autonomous", "completed")],
)
def test_a_governed_restart_is_decided_once_and_verified_by_the_lab(
    docker_context: str, lab_image: str, root: Path, tmp_path: Path, decision: str, state: str
) -> None:
    scenario = f"remediation.docker-unhealthy-restart-{decision}"
    code, report = run(scenario, "control:reference", docker_context, lab_image, root, tmp_path)
    assert code == 0, (report.errors, report.remediation.errors)
    result = report.remediation
    assert result.passed
    assert result.origin_bound
    assert result.plan_hash_bound
    assert result.independent_verified
    assert all(seen.passed for seen in result.postconditions)
    assert result.after is not None
    after = result.after.value
    assert isinstance(after, dict)
    assert isinstance(after["audit"], dict)
    assert after["audit"]["state"] == state
