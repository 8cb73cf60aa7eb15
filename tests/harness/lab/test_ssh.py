"""An engine behind SSH is reached by a private socket; the client never asks and always ends (L3)."""

from __future__ import annotations

import os
import socket
import stat
import sys
import threading
from pathlib import Path

import pytest

from contract.errors import EnvironmentMissingError, UsageError
from harness.lab.ssh import reachable, ssh_arguments
from harness.lab.target import Target

# Stands in for ssh: forwards the one socket that `-L` names to the one that it holds.
FORWARDING = """#!{python}
import os, signal, socket, sys, threading
local, _, remote = sys.argv[sys.argv.index("-L") + 1].partition(":")
open({note!r}, "w").write(" ".join(sys.argv[1:]))
def copy(source, sink):
    while data := source.recv(65536):
        sink.sendall(data)
    sink.shutdown(socket.SHUT_WR)
listening = socket.socket(socket.AF_UNIX)
listening.bind(local)
listening.listen()
while True:
    here, _ = listening.accept()
    there = socket.socket(socket.AF_UNIX)
    there.connect({to!r})
    for pair in ((here, there), (there, here)):
        threading.Thread(target=copy, args=pair, daemon=True).start()
"""


def install(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """Put a program named ssh first on the path."""
    file = folder / "bin" / "ssh"
    file.parent.mkdir()
    file.write_text(script)
    file.chmod(file.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{file.parent}{os.pathsep}{os.environ['PATH']}")


def test_the_client_is_told_to_ask_nothing_and_to_share_nothing() -> None:
    arguments = ssh_arguments("ssh://ops@host:2222", Path("/x/docker.sock"))
    assert arguments[:3] == ["ssh", "-N", "-T"]
    for option in ("BatchMode=yes", "ConnectTimeout=15", "ExitOnForwardFailure=yes", "ControlPath=none"):
        assert arguments[arguments.index(option) - 1] == "-o"
    assert arguments[-5:] == ["-p", "2222", "-L", "/x/docker.sock:/var/run/docker.sock", "ops@host"]


def test_a_context_may_name_another_socket() -> None:
    arguments = ssh_arguments("ssh://host/run/user/1000/docker.sock", Path("/x"))
    assert arguments[-2:] == ["/x:/run/user/1000/docker.sock", "host"]


@pytest.mark.parametrize("endpoint", ["ssh://", "ssh://-oProxyCommand=x", "ssh://-l@host", "ssh://%2Dl@host"])
def test_an_endpoint_that_would_be_an_option_is_refused(endpoint: str) -> None:
    with pytest.raises(UsageError):
        ssh_arguments(endpoint, Path("/x"))


def test_what_is_not_behind_ssh_stays_as_it_is() -> None:
    target = Target("context:x", "unix:///x")
    with reachable(target) as near:
        assert near is target


def test_a_socket_of_this_machine_leads_to_the_engine_until_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    far = tmp_path / "far.sock"
    with socket.socket(socket.AF_UNIX) as engine:
        engine.bind(str(far))
        engine.listen()
        threading.Thread(target=answer_for_ever, args=(engine,), daemon=True).start()
        script = FORWARDING.format(python=sys.executable, to=str(far), note=str(tmp_path / "note"))
        install(tmp_path, monkeypatch, script)
        with reachable(Target("ssh:host", "ssh://host")) as near:
            door = Path(near.endpoint.removeprefix("unix://"))
            with socket.socket(socket.AF_UNIX) as client:
                client.connect(str(door))
                assert client.recv(5) == b"hello"
        assert near.label == "ssh:host"
        assert not door.parent.exists()
    assert "BatchMode=yes" in (tmp_path / "note").read_text()


def answer_for_ever(engine: socket.socket) -> None:
    while True:
        try:
            here, _ = engine.accept()
        except OSError:
            return
        with here:
            here.sendall(b"hello")


def test_a_host_that_refuses_is_a_missing_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, monkeypatch, "#!/bin/sh\necho 'host: Permission denied (publickey).' >&2\nexit 255\n")
    with (
        pytest.raises(EnvironmentMissingError, match="Permission denied") as caught,
        reachable(Target("ssh:host", "ssh://host")),
    ):
        pass
    assert caught.value.exit_code == 3


def test_a_machine_without_ssh_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with (
        pytest.raises(EnvironmentMissingError, match="no SSH client"),
        reachable(Target("ssh:host", "ssh://host")),
    ):
        pass
