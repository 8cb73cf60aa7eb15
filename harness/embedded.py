"""Starts the reference runtime as a process of its own, reached by HTTP alone, and always stops it."""

from __future__ import annotations

import json
import os
import secrets
import selectors
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import httpx

from contract.errors import EnvironmentMissingError
from contract.redaction import sanitize
from harness.clock import Clock

READY_SECONDS: Final = 60.0
STOP_SECONDS: Final = 20.0
USER: Final = "admin"
_MODES: Final = {"monitor": "monitor", "approval": "approval", "autonomous": "full"}
_LINE_BYTES: Final = 64 * 1024
# The runtime must not learn from its environment what the harness is about to break.
_WITHHELD: Final = ("PULSE_QUALIFY_", "DOCKER_HOST", "DOCKER_CONTEXT")


class EmbeddedError(EnvironmentMissingError):
    """The reference runtime did not start."""


@dataclass(frozen=True, slots=True)
class RuntimePlan:
    """How to start a runtime: engine, model route, the manifest's mode, whether it may execute actions."""

    docker_context: str
    model: str
    mode: str
    enable_commands: bool
    log: Path
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RunningRuntime:
    """Where a started runtime is reached."""

    url: str
    user: str
    password: str


@contextmanager
def embedded_runtime(plan: RuntimePlan, clock: Clock) -> Iterator[RunningRuntime]:
    """Start a runtime on a free loopback port, wait until it is ready, and stop it at the end.

    Its log goes to a file, its state to a folder that is removed with it. Raises EmbeddedError.
    """
    password = secrets.token_urlsafe(24)
    plan.log.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory(prefix="patrol-runtime-") as state,
        _private_log(plan.log) as log,
        _process(_command(plan, state), _environment(plan, password), log) as process,
    ):
        try:
            url = _await_ready(process, clock, plan.log)
            _await_health(url, clock, plan.log)
            yield RunningRuntime(url, USER, password)
        finally:
            _stop(process)


def _command(plan: RuntimePlan, state: str) -> list[str]:
    command = [
        _executable(),
        "serve",
        *("--listen", "127.0.0.1:0"),
        *("--docker-context", plan.docker_context),
        *("--model", plan.model),
        *("--mode", _MODES[plan.mode]),
        *("--data", state),
        *("--interval", "1s"),
        "--json",
        "--exit-with-stdin",
    ]
    return [*command, "--enable-commands"] if plan.enable_commands else command


def _executable() -> str:
    """The console script beside this interpreter, or else the one on the path."""
    beside = Path(sys.executable).parent / "patrol-runtime"
    found = str(beside) if beside.exists() else shutil.which("patrol-runtime")
    if found is None:
        raise EmbeddedError(
            "the reference runtime is not installed", where="--embedded", hint="pip install '.[runtime]'"
        )
    return found


def _environment(plan: RuntimePlan, password: str) -> dict[str, str]:
    inherited = plan.environment or os.environ
    kept = {name: value for name, value in inherited.items() if not name.startswith(_WITHHELD)}
    return {**kept, "PATROL_RUNTIME_PASSWORD": password}


@contextmanager
def _private_log(path: Path) -> Iterator[int]:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def _process(command: list[str], environment: dict[str, str], log: int) -> Iterator[subprocess.Popen[bytes]]:
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            env=environment,
            # A terminal's Ctrl-C is for the harness, which stops the runtime when it has cleaned up.
            start_new_session=True,
        )
    except OSError as exc:
        raise EmbeddedError(f"the reference runtime cannot be started: {exc}", where="--embedded") from exc
    with process:
        yield process


def _await_ready(process: subprocess.Popen[bytes], clock: Clock, log: Path) -> str:
    """The URL from the runtime's one line on standard output."""
    try:
        ready = json.loads(_first_line(process, clock))
        return str(ready["url"])
    except (ValueError, KeyError, TypeError) as exc:
        raise EmbeddedError(
            f"the reference runtime did not become ready: {_last_line(log)}",
            where="--embedded",
            hint=f"its log is {log}",
        ) from exc


def _first_line(process: subprocess.Popen[bytes], clock: Clock) -> bytes:
    """What the runtime says first; nothing when it ends or keeps silent."""
    assert process.stdout is not None  # noqa: S101 - it was asked for
    end = clock.monotonic_ns() + int(READY_SECONDS * 1e9)
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while clock.monotonic_ns() < end:
            if selector.select(0.1):
                return process.stdout.readline(_LINE_BYTES)
            clock.sleep(0)  # a signal ends it here
    return b""


def _await_health(url: str, clock: Clock, log: Path) -> None:
    end = clock.monotonic_ns() + int(READY_SECONDS * 1e9)
    with httpx.Client(trust_env=False, timeout=5.0) as http:
        while clock.monotonic_ns() < end:
            try:
                if http.get(f"{url}/api/health").status_code == 200:
                    return
            except httpx.HTTPError:
                pass
            clock.sleep(0.05)
    raise EmbeddedError(
        f"the reference runtime is not healthy: {_last_line(log)}",
        where="--embedded",
        hint=f"its log is {log}",
    )


def _stop(process: subprocess.Popen[bytes]) -> None:
    """End the runtime: first by closing its input, then by SIGTERM, at last by SIGKILL."""
    if process.stdin is not None:
        process.stdin.close()
    for end in (process.terminate, process.kill):
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            end()
        else:
            return
    process.wait()


def _last_line(log: Path) -> str:
    try:
        lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    except OSError:
        return "no log"
    return sanitize(lines[-1])[:400] if lines else "its log is empty"
