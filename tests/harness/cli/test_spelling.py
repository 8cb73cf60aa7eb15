"""Both spellings mean the same."""

from __future__ import annotations

import pytest

from harness.cli.spelling import normalise, speaks_in_flags
from tests.harness.cli.conftest import Stage


@pytest.mark.parametrize(
    ("given", "normal"),
    [
        (["-mode", "live"], ["--mode", "live"]),
        (["-scenario=a=b"], ["--scenario=a=b"]),
        (["--scenario", "x"], ["--scenario", "x"]),
        (["-h"], ["-h"]),
        (["-allow-shared-host=true"], ["--allow-shared-host"]),
        (["--authorize-live-faults=false"], []),
        (["-authorize-remediation=maybe"], ["--authorize-remediation=maybe"]),
        (["x", "--", "-mode"], ["x", "--", "-mode"]),
        (["--repeats", "-1"], ["--repeats", "-1"]),
    ],
)
def test_flags_are_normalised(given: list[str], normal: list[str]) -> None:
    assert normalise(given) == normal


@pytest.mark.parametrize(
    ("words", "flags"),
    [([], True), (["--mode", "live"], True), (["live"], False), (["--help"], False), (["--version"], False)],
)
def test_a_command_line_without_a_subcommand_speaks_in_flags(words: list[str], flags: bool) -> None:
    assert speaks_in_flags(words) is flags


@pytest.mark.parametrize(
    "words",
    [
        ["-mode", "live", "-scenario", "watch.docker-unhealthy", "-docker-context", "lab"],
        ["--mode", " LIVE ", "--scenario", "watch.docker-unhealthy", "--docker-context", "lab"],
        ["live", "-scenario", "watch.docker-unhealthy", "-docker-context=lab"],
    ],
    ids=["single dash", "double dash, spaces and capitals", "subcommand with single dashes"],
)
def test_a_run_in_any_spelling_passes(
    stage: Stage, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    assert stage.command(*words, "-authorize-live-faults") == 0
    assert capsys.readouterr().out.startswith("[PASS] ")


def test_no_words_at_all_validate_the_catalogue(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, stage: Stage
) -> None:
    from harness.cli import run

    monkeypatch.chdir(stage.root)
    assert run([]) == 0
    assert "12 scenarios are valid" in capsys.readouterr().out


def test_help_of_every_command_teaches_and_needs_no_catalogue(capsys: pytest.CaptureFixture[str]) -> None:
    from harness.cli import run
    from harness.cli.commands import patrol_qualify

    for name in ("", *patrol_qualify.commands):
        assert run([*([name] if name else []), "--help"]) == 0
        assert "Usage: patrol-qualify" in capsys.readouterr().out
