"""The engine is the one that was named, whatever the environment says."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from patrol.collect.target import resolve_context
from patrol.errors import EndpointError


@pytest.fixture
def config(tmp_path: Path) -> dict[str, str]:
    """A Docker configuration folder without config.json, holding a few contexts."""
    hosts = {
        "lab": "unix:///lab.sock",
        "far": "tcp://10.1.2.3:2376",
        "ssh": "ssh://me@there",
        "near": "tcp://127.0.0.1:1",
    }
    for name, host in hosts.items():
        folder = tmp_path / "contexts" / "meta" / hashlib.sha256(name.encode()).hexdigest()
        folder.mkdir(parents=True)
        meta = {"Name": name, "Endpoints": {"docker": {"Host": host, "SkipTLSVerify": False}}}
        (folder / "meta.json").write_text(json.dumps(meta))
    return {"DOCKER_CONFIG": str(tmp_path), "DOCKER_HOST": "unix:///wrong.sock", "DOCKER_CONTEXT": "far"}


def test_a_named_context_is_read_and_the_environment_is_not(config: dict[str, str]) -> None:
    endpoint = resolve_context(" lab ", config)
    assert (endpoint.host, endpoint.label, endpoint.tls.present) == ("unix:///lab.sock", "context:lab", False)


def test_tls_files_of_a_context_are_found(config: dict[str, str], tmp_path: Path) -> None:
    folder = tmp_path / "contexts" / "tls" / hashlib.sha256(b"near").hexdigest() / "docker"
    folder.mkdir(parents=True)
    (folder / "ca.pem").write_text("x")
    endpoint = resolve_context("near", config)
    assert endpoint.tls.ca == folder / "ca.pem"
    assert endpoint.tls.cert is None


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("", "no Docker context"),
        ("  ", "no Docker context"),
        ("none", "no Docker context 'none'"),
        ("ssh", "over ssh"),
    ],
)
def test_what_cannot_be_used_is_refused_with_a_reason(config: dict[str, str], name: str, said: str) -> None:
    with pytest.raises(EndpointError, match=said) as refused:
        resolve_context(name, config)
    assert refused.value.hint
    assert refused.value.exit_code == 2


def test_default_is_refused_where_the_environment_would_decide_it(config: dict[str, str]) -> None:
    with pytest.raises(EndpointError, match="DOCKER_HOST"):
        resolve_context("default", config)
    assert resolve_context("default", {}).host == "unix:///var/run/docker.sock"


def test_another_machine_needs_consent(config: dict[str, str]) -> None:
    with pytest.raises(EndpointError, match=r"another machine.*10\.1\.2\.3"):
        resolve_context("far", config)
    assert resolve_context("far", config, allow_shared_host=True).host == "tcp://10.1.2.3:2376"


@pytest.mark.parametrize("content", ["", "[]", "{", '{"Endpoints": {}}', '{"Endpoints": {"docker": 3}}'])
def test_a_broken_context_is_an_error_and_no_crash(
    config: dict[str, str], tmp_path: Path, content: str
) -> None:
    meta = tmp_path / "contexts" / "meta" / hashlib.sha256(b"lab").hexdigest() / "meta.json"
    meta.write_text(content)
    with pytest.raises(EndpointError, match="cannot be read"):
        resolve_context("lab", config)
