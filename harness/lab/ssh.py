"""Reaches an engine on another machine through the system's own SSH client, which never asks anything."""

from __future__ import annotations

import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from contract.errors import EnvironmentMissingError, UsageError
from harness.lab.target import Target

CONNECT_S: Final = 15
REMOTE_SOCKET: Final = "/var/run/docker.sock"
_PAUSE_S: Final = 0.05
_ATTEMPTS: Final = int((CONNECT_S + 5) / _PAUSE_S)
_END_S: Final = 5
_OPTIONS: Final = (
    "BatchMode=yes",
    f"ConnectTimeout={CONNECT_S}",
    "ExitOnForwardFailure=yes",
    "ServerAliveInterval=15",
    # A shared connection would outlive the lab, and end at somebody else's wish.
    "ControlMaster=no",
    "ControlPath=none",
)


@contextmanager
def reachable(target: Target) -> Iterator[Target]:
    """The target as a client can reach it: an SSH host's engine becomes a private socket of this machine.

    Raises EnvironmentMissingError when the host cannot be reached without a question. Lab format, section 1.
    """
    if not target.is_ssh:
        yield target
        return
    with tempfile.TemporaryDirectory(prefix="pulse-qual-", ignore_cleanup_errors=True) as folder:
        door = Path(folder) / "docker.sock"
        with _tunnel(target, door, Path(folder) / "log"):
            yield replace(target, endpoint=f"unix://{door}")


def ssh_arguments(endpoint: str, door: Path) -> list[str]:
    """The command that forwards a local socket to the engine of `ssh://[user@]host[:port][/socket]`."""
    parts = urlsplit(endpoint)
    host, user = parts.hostname or "", unquote(parts.username or "")
    if not host or host.startswith("-") or user.startswith("-"):
        raise UsageError(f"{endpoint!r} names no SSH host", where="--docker-ssh-host", hint="write user@host")
    options = [part for option in _OPTIONS for part in ("-o", option)]
    port = ["-p", str(parts.port)] if parts.port else []
    forward = f"{door}:{parts.path.rstrip('/') or REMOTE_SOCKET}"
    return ["ssh", "-N", "-T", *options, *port, "-L", forward, f"{user}@{host}" if user else host]


@contextmanager
def _tunnel(target: Target, door: Path, log: Path) -> Iterator[None]:
    arguments = ssh_arguments(target.endpoint, door)
    if shutil.which(arguments[0]) is None:
        raise EnvironmentMissingError("there is no SSH client on this machine", where=target.label)
    with log.open("wb") as written:
        # A session of its own: the signal that ends the run must not end cleanup's way to the engine.
        client = subprocess.Popen(
            arguments,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=written,
            start_new_session=True,
        )
    try:
        _await_door(client, target, door, log)
        yield
    finally:
        _end(client)


def _await_door(client: subprocess.Popen[bytes], target: Target, door: Path, log: Path) -> None:
    for _ in range(_ATTEMPTS):
        if _opens(door):
            return
        with suppress(subprocess.TimeoutExpired):
            client.wait(_PAUSE_S)
            break
    said = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    raise EnvironmentMissingError(
        f"SSH does not reach the engine: {said[-1][:200] if said else 'no answer'}",
        where=target.label,
        hint="it must work without a question: ssh -o BatchMode=yes HOST docker version",
    )


def _opens(door: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as knock:
        try:
            knock.connect(str(door))
        except OSError:
            return False
    return True


def _end(client: subprocess.Popen[bytes]) -> None:
    client.terminate()
    try:
        client.wait(_END_S)
    except subprocess.TimeoutExpired:
        client.kill()
        client.wait()
