"""Between the lab's forms and the SDK's: what is sent, how answers and errors are read."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import docker.errors
import pytest
import requests.exceptions
import urllib3.exceptions
from docker import APIClient

from contract.errors import EnvironmentMissingError
from harness.lab.docker_engine import DockerEngine, connect
from harness.lab.engine import ContainerSpec, Healthcheck
from harness.lab.errors import BusyObjectError, EngineError, EngineTimeoutError, MissingObjectError
from harness.lab.sdk_errors import calling
from harness.lab.sdk_events import SdkEvents
from harness.lab.sdk_forms import (
    container_arguments,
    container_view,
    image_reference,
    tls_settings,
    unframed,
)
from harness.lab.target import Target, TlsFiles


@pytest.fixture
def api() -> Iterator[APIClient]:
    """A client that knows its version, so that it asks no engine for it."""
    client = APIClient(base_url="unix:///nowhere/docker.sock", version="1.41")
    yield client
    client.close()


SPEC = ContainerSpec(
    name="pulse-qual-q-1-api",
    image="pulse-qual-lab:1",
    command=("sh", "-c", "sleep 1"),
    labels={"a": "b"},
    network="pulse-qual-q-1-net",
    restart="always",
    volumes={"pulse-qual-q-1-api-fault": "/pulse-qual-fault"},
    tmpfs={"/var/lib/service-cache": "size=8388608,mode=1777,nosuid,nodev,noexec"},
    healthcheck=Healthcheck('test "$(id -u)" -eq 0 && true', 2 * 10**9, 2 * 10**9, 2, 10**9),
)


def test_a_health_check_is_sent_as_one_line_for_a_shell_with_times_in_nanoseconds(api: APIClient) -> None:
    assert dict(container_arguments(api, SPEC)["healthcheck"]) == {
        "Test": ["CMD-SHELL", 'test "$(id -u)" -eq 0 && true'],
        "Interval": 2_000_000_000,
        "Timeout": 2_000_000_000,
        "Retries": 2,
        "StartPeriod": 1_000_000_000,
    }


def test_nothing_of_the_host_is_given_to_a_container(api: APIClient) -> None:
    arguments = container_arguments(api, SPEC)
    host = arguments["host_config"]
    assert host["NetworkMode"] == SPEC.network
    assert host["RestartPolicy"] == {"Name": "always"}
    assert host["Tmpfs"] == dict(SPEC.tmpfs)
    assert [dict(mount) for mount in host["Mounts"]] == [
        {
            "Target": "/pulse-qual-fault",
            "Source": "pulse-qual-q-1-api-fault",
            "Type": "volume",
            "ReadOnly": False,
        }
    ]
    assert set(host) == {"NetworkMode", "RestartPolicy", "Tmpfs", "Mounts"}
    assert arguments["use_config_proxy"] is False
    assert set(arguments) == {
        *("image", "command", "name", "labels", "host_config", "healthcheck", "use_config_proxy")
    }


def test_what_was_not_asked_for_is_not_sent(api: APIClient) -> None:
    bare = container_arguments(api, ContainerSpec("n", "i", (), {}))
    assert (bare["command"], bare["healthcheck"]) == (None, None)
    assert bare["host_config"] == {"NetworkMode": "none"}


def test_an_inspect_is_read_with_the_top_level_restart_count_and_without_the_short_id() -> None:
    ident = "ab" * 32
    view = container_view(
        {
            "Id": ident,
            "Name": "/name",
            "RestartCount": 4,
            "Config": {"Labels": None},
            "State": {
                "Status": "running",
                "Running": True,
                "ExitCode": 3,
                "StartedAt": "2026-12-01T00:00:00Z",
                "RestartCount": 99,
                "Health": {"Status": "healthy"},
            },
            "NetworkSettings": {
                "Networks": {"net": {"Aliases": [ident[:12], "db"]}, "other": {"Aliases": None}}
            },
        }
    )
    assert (view.id, view.name, view.restart_count, view.exit_code) == (ident, "name", 4, 3)
    assert (view.health, view.labels) == ("healthy", {})
    assert view.networks == {"net": ("db",), "other": ()}


def test_a_container_without_health_check_has_no_health() -> None:
    state = {"Status": "exited", "Running": False, "ExitCode": 0, "StartedAt": ""}
    said = {
        "Id": "x",
        "Name": "/n",
        "RestartCount": 0,
        "Config": {"Labels": {}},
        "State": state,
        "NetworkSettings": {"Networks": None},
    }
    assert container_view(said).health == ""


def test_output_is_read_without_its_frames() -> None:
    framed = b"".join(
        struct.pack(">BxxxL", kind, len(text)) + text for kind, text in ((1, b"out"), (2, b"err"))
    )
    assert unframed(framed) == b"outerr"
    assert unframed(b"") == b""
    assert unframed(framed[:9]) == b"o"


@pytest.mark.parametrize(
    ("name", "reference"),
    [
        ("alpine:3.20", ("alpine", "3.20")),
        ("alpine", ("alpine", "latest")),
        ("host:5000/alpine", ("host:5000/alpine", "latest")),
        ("host:5000/alpine:3", ("host:5000/alpine", "3")),
        ("alpine@sha256:00", ("alpine@sha256:00", None)),
    ],
)
def test_one_tag_is_pulled_never_all(name: str, reference: tuple[str, str | None]) -> None:
    assert image_reference(name) == reference


def answer(status: int) -> Any:
    return SimpleNamespace(status_code=status, url="u", reason="r")


@pytest.mark.parametrize(
    ("raised", "kind"),
    [
        (docker.errors.NotFound("x", answer(404), "no such container"), MissingObjectError),
        (docker.errors.ImageNotFound("x", answer(404), "no such image"), MissingObjectError),
        (docker.errors.APIError("x", answer(409), "in use"), BusyObjectError),
        (docker.errors.APIError("x", answer(403), "has active endpoints"), BusyObjectError),
        (docker.errors.APIError("x", answer(500), "broken"), EngineError),
        (docker.errors.DockerException("x"), EngineError),
        (requests.exceptions.ReadTimeout("x"), EngineTimeoutError),
        (requests.exceptions.ConnectTimeout("x"), EngineTimeoutError),
        (requests.exceptions.ConnectionError("x"), EngineError),
        (urllib3.exceptions.ProtocolError("x"), EngineError),
        (TimeoutError("x"), EngineTimeoutError),
        (ConnectionResetError("x"), EngineError),
    ],
)
def test_every_error_of_the_layers_below_has_a_name_of_ours(
    raised: Exception, kind: type[EngineError]
) -> None:
    with pytest.raises(EngineError, match=r"^do it: ") as caught, calling("do it"):
        raise raised
    assert type(caught.value) is kind
    assert caught.value.__cause__ is raised
    assert caught.value.exit_code == 4


def test_where_no_engine_answers_the_environment_is_missing() -> None:
    with pytest.raises(EnvironmentMissingError, match="no Docker engine answers") as caught:
        connect(Target("context:gone", "unix:///nowhere/docker.sock"))
    assert caught.value.exit_code == 3


def test_the_key_material_of_a_context_is_used(tmp_path: Any) -> None:
    for part in ("ca", "cert", "key"):
        (tmp_path / part).write_text("")
    files = TlsFiles(tmp_path / "ca", tmp_path / "cert", tmp_path / "key", skip_verify=False)
    made: Any = tls_settings(Target("context:x", "tcp://localhost:2376", files))
    assert made.cert == (str(tmp_path / "cert"), str(tmp_path / "key"))
    assert (made.ca_cert, made.verify) == (str(tmp_path / "ca"), True)
    assert tls_settings(Target("context:x", "unix:///x")) is False


class Stream:
    """An event stream that ends when it is closed, or in the middle of an event."""

    def __init__(self, *events: Any) -> None:
        self.events = iter(events)
        self._response = SimpleNamespace(close=lambda: None)

    def __iter__(self) -> Iterator[Any]:
        return self.events

    def close(self) -> None:
        raise AttributeError("already closed")


@pytest.mark.parametrize(
    ("events", "happened"),
    [
        ([{"Action": "health_status: unhealthy"}], True),
        ([{"Action": "die"}], True),
        ([{"Action": "exec_create: stat"}, {"Action": "exec_die"}], False),
        (["broken"], False),
        ([], False),
    ],
)
def test_transitions_ring_and_commands_do_not(events: list[Any], happened: bool) -> None:
    feed = SdkEvents(Stream(*events))
    feed.close()
    assert feed.happened() is happened
    feed.clear()
    assert not feed.happened()


def test_an_exec_that_never_ends_is_a_timeout(api: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "harness.lab.docker_engine.threading.Event", lambda: SimpleNamespace(wait=lambda s: None)
    )
    monkeypatch.setattr(api, "exec_create", lambda *a: {"Id": "1"})
    monkeypatch.setattr(api, "_post_json", lambda *a, **k: SimpleNamespace(content=b""))
    monkeypatch.setattr(api, "_raise_for_status", lambda response: None)
    monkeypatch.setattr(api, "exec_inspect", lambda exec_id: {"Running": True, "ExitCode": None})
    with pytest.raises(EngineTimeoutError):
        DockerEngine(api).execute("x", ("true",))
