"""The command: it teaches, refuses what is unsafe, and tells failures apart."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from patrol.cli import main
from patrol.config import ProviderSettings
from patrol.errors import UsageError
from patrol.serve import credentials, listening_socket


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [one for one in os.environ if one.startswith("PATROL_")]:
        monkeypatch.delenv(name)


@pytest.mark.parametrize("arguments", [["--help"], ["serve", "--help"], ["check-model", "--help"]])
def test_help_teaches(arguments: list[str]) -> None:
    told = CliRunner().invoke(main, arguments)
    assert told.exit_code == 0
    assert "--docker-context" in told.output or "check-model" in told.output
    assert "Traceback" not in told.output


def test_help_names_every_variable_that_is_read(root: Path) -> None:
    told = CliRunner().invoke(main, ["--help"]).output
    sources = "\n".join(path.read_text() for path in (root / "patrol").rglob("*.py"))
    names = {
        word for word in sources.replace('"', " ").replace("*", " ").split() if word.startswith("PATROL_")
    }
    read = {word.strip("`,;:()=") for word in names if word.strip("`,;:()=").isupper()}
    assert read
    assert not [name for name in read if not name.endswith("_") and name.split("=")[0] not in told]


def test_help_starts_without_loading_docker_http_or_pydantic(root: Path) -> None:
    code = (
        "import sys, patrol.cli; "
        "print([m for m in ('docker', 'httpx', 'uvicorn', 'starlette', 'pydantic') if m in sys.modules])"
    )
    told = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, check=True, text=True)
    assert told.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("arguments", "said", "status"),
    [
        (["serve", "--model", "control:silent"], "--docker-context", 2),
        (["serve", "--docker-context", "x"], "--model", 2),
        (
            ["serve", "--docker-context", "no-such-context", "--model", "control:silent"],
            "no Docker context",
            2,
        ),
        (["serve", "--docker-context", "x", "--model", "m", "--mode", "root"], "root", 2),
        (["serve", "--docker-context", "x", "--model", "m", "--interval", "soon"], "duration", 2),
        (["serve", "--docker-context", "x", "--model", "m", "--interval", "2h"], "duration", 2),
        (["serve", "--docker-context", "x", "--model", "m", "--interval", "1ms"], "outside", 2),
        (["fly"], "fly", 2),
    ],
)
def test_a_wrong_command_line_ends_with_2_and_a_reason(
    arguments: list[str], said: str, status: int, tmp_path: Path
) -> None:
    told = CliRunner().invoke(main, arguments, env={"DOCKER_CONFIG": str(tmp_path)})
    assert told.exit_code == status
    assert said in told.output
    assert list(tmp_path.iterdir()) == []


def test_check_model_on_a_control_needs_no_server() -> None:
    told = CliRunner().invoke(main, ["check-model", "--model", "control:reference", "--json"])
    assert told.exit_code == 0
    probes = json.loads(told.output)["probes"]
    assert [one["name"] for one in probes] == ["connection", "tool calling", "streaming"]


@pytest.mark.parametrize(
    ("route", "environ", "status", "said"),
    [
        ("control:good", {}, 3, "known: reference"),
        ("openai:x", {}, 3, "PATROL_OPENAI_BASE_URL"),
        ("openai:x", {"PATROL_OPENAI_BASE_URL": "http://127.0.0.1:1/v1"}, 3, "cannot be reached"),
        ("openai:x", {"PATROL_REQUEST_TIMEOUT": "soon"}, 2, "PATROL_REQUEST_TIMEOUT"),
    ],
)
def test_check_model_says_what_fails(route: str, environ: dict[str, str], status: int, said: str) -> None:
    told = CliRunner().invoke(main, ["check-model", "--model", route], env=environ)
    assert told.exit_code == status
    assert said in told.output


def test_quiet_leaves_only_the_exit_code() -> None:
    told = CliRunner().invoke(main, ["check-model", "--model", "control:bad", "--quiet"])
    assert (told.exit_code, told.output) == (3, "")


@pytest.mark.parametrize("listen", ["0.0.0.0:0", "[::]:0", "192.0.2.1:0"])
def test_only_loopback_is_listened_on_unless_asked_for_with_a_password(listen: str) -> None:
    with pytest.raises(UsageError, match="loopback"):
        listening_socket(listen, {"PATROL_RUNTIME_PASSWORD": "x"}, allow_remote=False)
    with pytest.raises(UsageError, match="password"):
        listening_socket(listen, {}, allow_remote=True)


def test_a_wider_address_is_possible_on_demand() -> None:
    bound = listening_socket("0.0.0.0:0", {"PATROL_RUNTIME_PASSWORD": "x"}, allow_remote=True)
    bound.close()


@pytest.mark.parametrize("listen", ["127.0.0.1", ":80", "127.0.0.1:x", "127.0.0.1:70000", ""])
def test_an_address_is_host_and_port(listen: str) -> None:
    with pytest.raises(UsageError, match="HOST:PORT"):
        listening_socket(listen, {}, allow_remote=False)


def test_a_port_in_use_is_refused_with_a_reason() -> None:
    bound = listening_socket("127.0.0.1:0", {}, allow_remote=False)
    bound.listen()
    with bound, pytest.raises(UsageError, match="cannot listen"):
        listening_socket(f"127.0.0.1:{bound.getsockname()[1]}", {}, allow_remote=False)


def test_a_password_comes_from_the_environment_or_is_said_once() -> None:
    said: list[str] = []
    given = credentials({"PATROL_RUNTIME_PASSWORD": "secret-1"}, said.append)
    assert (given.password, said) == ("secret-1", [])
    made = credentials({}, said.append)
    assert len(said) == 1
    assert made.password in said[0]
    assert made.password not in repr(made)


def test_a_key_is_in_no_repr() -> None:
    assert "sk-1" not in repr(ProviderSettings(api_key="sk-1"))
