"""Which engine is meant is settled before a word is said to any (lab format, section 1; L1 to L4)."""

from __future__ import annotations

import hashlib
import json
import socket
from pathlib import Path

import pytest

from contract.errors import UsageError
from harness.lab.target import DEFAULT_ENDPOINT, is_local, resolve_target


@pytest.fixture(autouse=True)
def _no_daemon_call(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)


def store(folder: Path, name: str, host: object, *, said: str | None = None) -> dict[str, str]:
    """A context store that holds one context and, as on a fresh machine, no config.json."""
    digest = hashlib.sha256(name.encode()).hexdigest()
    meta = folder / "contexts" / "meta" / digest
    meta.mkdir(parents=True)
    endpoints = {"docker": {"Host": host, "SkipTLSVerify": False}}
    (meta / "meta.json").write_text(
        json.dumps({"Name": said or name, "Metadata": {}, "Endpoints": endpoints})
    )
    return {"DOCKER_CONFIG": str(folder)}


def test_no_context_and_no_host_is_refused() -> None:
    with pytest.raises(UsageError, match="implicit one never"):
        resolve_target(environ={})


def test_a_docker_host_in_the_environment_stands_in_for_nothing() -> None:
    environ = {"DOCKER_HOST": "unix:///run/other.sock", "DOCKER_CONTEXT": "other"}
    with pytest.raises(UsageError, match="implicit one never"):
        resolve_target(context=" \t", environ=environ)


def test_a_context_and_a_host_exclude_each_other() -> None:
    with pytest.raises(UsageError, match="exclude"):
        resolve_target(context="lab", ssh_host="host", environ={})


@pytest.mark.parametrize(("operator", "manifest"), [(False, False), (True, False), (False, True)])
def test_an_ssh_host_needs_both_gates(operator: bool, manifest: bool) -> None:
    with pytest.raises(UsageError, match="another machine"):
        resolve_target(
            ssh_host="host", allow_shared_host=operator, manifest_allows_shared_host=manifest, environ={}
        )


def test_an_ssh_host_with_both_gates_is_accepted() -> None:
    target = resolve_target(
        ssh_host=" ops@host ", allow_shared_host=True, manifest_allows_shared_host=True, environ={}
    )
    assert (target.label, target.endpoint, target.is_ssh) == ("ssh:ops@host", "ssh://ops@host", True)


@pytest.mark.parametrize("host", ["-oProxyCommand=true", "a b", "a\x00b", "a\nb"])
def test_a_host_that_ssh_would_take_for_something_else_is_refused(host: str) -> None:
    with pytest.raises(UsageError, match="no SSH host"):
        resolve_target(ssh_host=host, allow_shared_host=True, manifest_allows_shared_host=True, environ={})


def test_default_is_an_explicit_name() -> None:
    target = resolve_target(context="default", environ={})
    assert (target.label, target.endpoint) == ("context:default", DEFAULT_ENDPOINT)


def test_default_is_refused_where_the_environment_redefines_it() -> None:
    with pytest.raises(UsageError, match="DOCKER_HOST"):
        resolve_target(context="default", environ={"DOCKER_HOST": "unix:///run/other.sock"})


def test_a_named_context_is_read_from_the_store_whatever_the_environment_says(tmp_path: Path) -> None:
    environ = {**store(tmp_path, "lab", "unix:///run/lab.sock"), "DOCKER_HOST": "unix:///run/other.sock"}
    target = resolve_target(context=" lab ", environ=environ)
    assert (target.label, target.endpoint, target.tls) == ("context:lab", "unix:///run/lab.sock", None)


def test_the_store_lies_in_the_home_folder_unless_named(tmp_path: Path) -> None:
    store(tmp_path / ".docker", "lab", "unix:///run/lab.sock")
    assert resolve_target(context="lab", environ={"HOME": str(tmp_path)}).endpoint == "unix:///run/lab.sock"


def test_an_unknown_context_is_no_other_engine(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no Docker context 'lab'"):
        resolve_target(context="lab", environ={"DOCKER_CONFIG": str(tmp_path)})


@pytest.mark.parametrize("host", [None, 3, "", "no-scheme"])
def test_a_context_without_an_engine_is_refused(tmp_path: Path, host: object) -> None:
    with pytest.raises(UsageError, match="names no engine"):
        resolve_target(context="lab", environ=store(tmp_path, "lab", host))


def test_a_context_file_that_speaks_of_another_context_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="says 'other'"):
        resolve_target(context="lab", environ=store(tmp_path, "lab", "unix:///x", said="other"))


def test_a_context_file_that_is_no_json_is_refused(tmp_path: Path) -> None:
    environ = store(tmp_path, "lab", "unix:///x")
    next(tmp_path.rglob("meta.json")).write_text("{")
    with pytest.raises(UsageError, match="cannot be read"):
        resolve_target(context="lab", environ=environ)


@pytest.mark.parametrize(
    "endpoint", ["tcp://10.0.0.1:2376", "ssh://ops@host", "tcp://example.org:2376", "x://y"]
)
def test_a_context_that_leads_elsewhere_needs_both_gates(tmp_path: Path, endpoint: str) -> None:
    environ = store(tmp_path, "lab", endpoint)
    with pytest.raises(UsageError, match="another machine"):
        resolve_target(context="lab", allow_shared_host=True, environ=environ)
    target = resolve_target(
        context="lab", allow_shared_host=True, manifest_allows_shared_host=True, environ=environ
    )
    assert (target.label, target.endpoint) == ("context:lab", endpoint)


@pytest.mark.parametrize(
    "endpoint", ["unix:///run/x.sock", "npipe:////./pipe/docker_engine", "tcp://127.9.9.9:1", "tcp://[::1]:1"]
)
def test_sockets_pipes_and_loopback_are_local(endpoint: str) -> None:
    assert is_local(endpoint)


def test_the_key_material_of_a_context_is_found(tmp_path: Path) -> None:
    environ = store(tmp_path, "lab", "tcp://localhost:2376")
    digest = hashlib.sha256(b"lab").hexdigest()
    folder = tmp_path / "contexts" / "tls" / digest / "docker"
    folder.mkdir(parents=True)
    for part in ("ca", "cert", "key"):
        (folder / f"{part}.pem").write_text("")
    tls = resolve_target(context="lab", environ=environ).tls
    assert tls is not None
    assert (tls.ca, tls.cert, tls.key, tls.skip_verify) == (
        folder / "ca.pem",
        folder / "cert.pem",
        folder / "key.pem",
        False,
    )
