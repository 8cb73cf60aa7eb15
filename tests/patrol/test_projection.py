"""What of a container may be shown, and what it is called."""

from __future__ import annotations

import hashlib
import json

import pytest

from patrol.collect.projection import Daemon, container_resource_id, healthcheck_targets, identity, project
from tests.patrol.fakes import FakeEngine

DAEMON = Daemon("daemon-1", "Machine")
SEEN = "2026-11-30T12:00:00Z"


def test_the_id_of_a_container_follows_from_engine_and_container() -> None:
    digest = hashlib.sha256(b"docker:daemon-1:abc").hexdigest()[:16]
    assert container_resource_id("daemon-1", "abc") == f"app-container:{digest}"


def test_labels_of_the_lab_mounts_environment_and_commands_never_pass(engine: FakeEngine) -> None:
    labels = {
        "com.pulse.intelligence-lab.run": "q-1",
        "COM.Pulse.Intelligence-Lab.alias": "secret-alias",
        "app": "api",
    }
    engine.add("api", labels=labels, test=["CMD-SHELL", "grep secret-word /x && wget -q http://store:80/x"])
    shown = project(DAEMON, engine.inspected["api"], SEEN)
    assert shown.labels == {"app": "api"}
    assert shown.docker is not None
    assert shown.docker.healthcheck_targets == ("store",)
    text = json.dumps(shown.as_json()).lower()
    assert not [word for word in ("intelligence-lab", "secret", "hidden", "q-1") if word in text]


@pytest.mark.parametrize(
    ("command", "hosts"),
    [
        ("wget -q -O /dev/null http://store/", ("store",)),
        ("curl -fsS https://user:pw@a.b.c:8443/x && nc -z -w 2 cache 6379", ("a.b.c", "cache")),
        ("timeout 1 wget http://127.0.0.1:80/ || ping -c 1 peer", ("127.0.0.1", "peer")),
        ("wget 'http://[::1]:80/'", ("[::1]",)),
        ("getent hosts store-1 && nslookup other", ("other", "store-1")),
        ("test ! -e /run/enabled", ()),
        ("ping", ()),
    ],
)
def test_of_a_health_command_only_the_hosts_it_calls_are_kept(command: str, hosts: tuple[str, ...]) -> None:
    assert healthcheck_targets(["CMD-SHELL", command]) == hosts


@pytest.mark.parametrize("test", [None, "NONE", [], 3])
def test_no_health_command_calls_no_host(test: object) -> None:
    assert healthcheck_targets(test) == ()


@pytest.mark.parametrize(
    ("state", "health", "status"),
    [
        ("running", "healthy", "online"),
        ("running", "", "online"),
        ("running", "starting", "online"),
        ("running", "unhealthy", "warning"),
        ("restarting", "", "warning"),
        ("paused", "", "warning"),
        ("exited", "unhealthy", "offline"),
        ("dead", "", "offline"),
        ("created", "", "offline"),
    ],
)
def test_status_follows_state_and_health(engine: FakeEngine, state: str, health: str, status: str) -> None:
    engine.add("api", state=state, health=health)
    assert project(DAEMON, engine.inspected["api"], SEEN).status == status


def test_every_exact_spelling_of_a_container_is_known(engine: FakeEngine) -> None:
    full = engine.add("Api")
    shown = project(DAEMON, engine.inspected["Api"], SEEN)
    known = identity(DAEMON, shown)
    assert known.ids == {shown.id, full, f"docker:machine/{full}"}
    assert known.aliases == {"api", full[:12]}


def test_a_bare_inspection_is_no_crash() -> None:
    shown = project(DAEMON, {"Id": "x"}, SEEN)
    assert (shown.name, shown.status, shown.labels) == ("", "warning", {})
