"""Nothing is touched before every gate has passed, and each says what is missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from contract.errors import UsageError
from contract.manifest import Manifest
from harness.cli.gates import LiveOptions, find_password, repeat_count
from tests.harness.cli.conftest import Stage

SCENARIO = ("--scenario", "watch.docker-unhealthy")
CONTEXT = ("--docker-context", "lab")
YES = ("--authorize-live-faults",)
TRACK = ("--qualification-track", "remediation")

REFUSED = {
    "no authorization": (("live", *SCENARIO, *CONTEXT), "--authorize-live-faults"),
    "no authorization for a suite": (("live-suite", *TRACK, *CONTEXT), "--authorize-live-faults"),
    "no scenario": (("live", *CONTEXT, *YES), "--scenario"),
    "an unknown scenario": (("live", "--scenario", "watch.nothing", *CONTEXT, *YES), "no scenario"),
    "no track": (("live-suite", *CONTEXT, *YES), "--qualification-track"),
    "a challenge too short": (
        ("live", *SCENARIO, *CONTEXT, *YES, "--community-challenge", "short"),
        "challenge",
    ),
    "no context": (("live", *SCENARIO, *YES), "--docker-context"),
    "an unknown context": (("live", *SCENARIO, *YES, "--docker-context", "nope"), "'nope'"),
    "context and ssh": (("live", *SCENARIO, *CONTEXT, *YES, "--docker-ssh-host", "host"), "exclude"),
    "a context on another machine": (
        ("live", *SCENARIO, *YES, "--docker-context", "far"),
        "--allow-shared-host",
    ),
    "an ssh host without the gate": (
        ("live", *SCENARIO, *YES, "--docker-ssh-host", "host"),
        "--allow-shared-host",
    ),
    "an address with a password": (
        ("live", *SCENARIO, *CONTEXT, *YES, "--url", "http://admin:hunter2@host"),
        "credentials",
    ),
    "embedded without a model": (("live", *SCENARIO, *CONTEXT, *YES, "--embedded"), "--model"),
    "embedded by ssh": (
        (
            *("live", *SCENARIO, *YES, "--embedded", "--model", "control:silent"),
            *("--docker-ssh-host", "host", "--allow-shared-host"),
        ),
        "--docker-ssh-host",
    ),
    "remediation without authority": (
        ("live-suite", *TRACK, *CONTEXT, *YES),
        "--authorize-remediation",
    ),
    "too many repeats": (("live", *SCENARIO, *CONTEXT, *YES, "--repeats", "101"), "--repeats"),
    "no repeats": (("live", *SCENARIO, *CONTEXT, *YES, "--repeats", "0"), "--repeats"),
    "an unknown profile": (("live", *SCENARIO, *CONTEXT, *YES, "--repeat-profile", "daily"), "daily"),
    "an unknown flag": (("live", *SCENARIO, *CONTEXT, *YES, "--forse"), "--forse"),
    "an unknown mode": (("-mode", "lively"), "lively"),
    "an unknown flag in the flag spelling": (("-mode", "live", "-forse"), "forse"),
}


@pytest.mark.parametrize(("words", "says"), REFUSED.values(), ids=REFUSED)
def test_a_gate_that_is_not_passed_touches_nothing_and_says_what_is_missing(
    stage: Stage, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], says: str
) -> None:
    assert stage.command(*words) == 2
    told = capsys.readouterr().err
    assert says in told
    assert "hunter2" not in told
    assert stage.entered == []
    assert not stage.artifacts.exists()


def test_a_missing_password_names_the_variable(
    stage: Stage, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PULSE_QUALIFY_PASSWORD", "  ")
    assert stage.live() == 2
    assert "PULSE_QUALIFY_PASSWORD" in capsys.readouterr().err
    assert stage.entered == []


def test_a_bad_catalogue_is_fatal_in_every_mode(stage: Stage, tmp_path: Path) -> None:
    from harness.cli import run

    bad = tmp_path / "bad"
    bad.mkdir()
    (bad / "x.json").write_text("{}")
    for mode in ("list", "live", "live-suite", "replay", "verify-replay", "compare", "export-contribution"):
        assert run(["-mode", mode, "-catalog", str(bad)]) == 2, mode
    assert run(["validate", "--catalog", str(bad)]) == 1
    assert run(["validate", "--catalog", str(tmp_path / "absent")]) == 2


def options(**changes: object) -> LiveOptions:
    given: dict[str, object] = dict.fromkeys(LiveOptions.__dataclass_fields__, "")
    given |= {"repeats": 1, "password_env": "THE_PASSWORD", **changes}
    return LiveOptions(**given)  # type: ignore[arg-type]


def test_the_password_of_the_environment_wins(capsys: pytest.CaptureFixture[str]) -> None:
    given = options(password="from the command line")
    assert find_password(given, {"THE_PASSWORD": " from the environment "}) == "from the environment"
    assert capsys.readouterr().err == ""


def test_a_password_on_the_command_line_works_with_a_warning(capsys: pytest.CaptureFixture[str]) -> None:
    given = options(password="from the command line")
    assert find_password(given, {"THE_PASSWORD": "  "}) == "from the command line"
    warning = capsys.readouterr().err
    assert "THE_PASSWORD" in warning
    assert "from the command line" not in warning


@pytest.mark.parametrize(("profile", "count"), [("development", 3), ("nightly", 5), ("qualification", 30)])
def test_a_profile_gives_the_manifests_repeats_and_overrides_the_count(
    manifest: Manifest, profile: str, count: int
) -> None:
    assert repeat_count(options(repeats=7, repeat_profile=profile), manifest) == count


def test_without_a_profile_the_count_is_taken(manifest: Manifest) -> None:
    assert repeat_count(options(repeats=7), manifest) == 7


@pytest.mark.parametrize("count", [-1, 0, 101])
def test_counts_beyond_one_to_a_hundred_are_refused(manifest: Manifest, count: int) -> None:
    with pytest.raises(UsageError, match="1 to 100"):
        repeat_count(options(repeats=count), manifest)
