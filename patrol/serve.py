"""Puts the runtime together, serves it until it is told to end, and takes it apart again."""

from __future__ import annotations

import json
import os
import secrets
import signal
import socket
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path

import uvicorn

from patrol import PRODUCT
from patrol.api.app import build_app
from patrol.api.auth import Credentials
from patrol.clock import SystemClock
from patrol.collect.engine import DockerEngine
from patrol.collect.target import LOOPBACK, resolve_context
from patrol.config import provider_settings, turn_limits, verify_seconds
from patrol.errors import UsageError
from patrol.runtime import RuntimePlan, running

DEFAULT_PORT = 7655
GRACE_S = 3


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """What the command line says."""

    listen: str
    docker_context: str
    model: str
    mode: str
    data: Path
    interval_s: float
    enable_commands: bool = False
    allow_remote_listen: bool = False
    allow_shared_host: bool = False
    as_json: bool = False
    exit_with_stdin: bool = False


def credentials(environ: Mapping[str, str], say: Callable[[str], None]) -> Credentials:
    """User `admin` with the password of the environment, or one that is made up and said once."""
    password = environ.get("PATROL_RUNTIME_PASSWORD", "")
    if not password:
        password = secrets.token_urlsafe(18)
        say(f"generated password for user admin: {password}")
    return Credentials("admin", password, token=environ.get("PATROL_RUNTIME_TOKEN", ""))


def listening_socket(listen: str, environ: Mapping[str, str], *, allow_remote: bool) -> socket.socket:
    """A bound socket. Raises UsageError for an address that others could reach, unless asked for."""
    host, colon, port = listen.rpartition(":")
    host = host.strip("[]")
    if not colon or not host or not port.isdigit() or int(port) > 65535:
        raise UsageError(
            f"{listen!r} is not HOST:PORT", where="--listen", hint=f"for example 127.0.0.1:{DEFAULT_PORT}"
        )
    if host not in LOOPBACK:
        if not allow_remote:
            hint = "other machines could reach it; pass --allow-remote-listen if they shall"
            raise UsageError(f"{host} is not a loopback address", where="--listen", hint=hint)
        if not environ.get("PATROL_RUNTIME_PASSWORD"):
            hint = "set PATROL_RUNTIME_PASSWORD"
            raise UsageError(
                "listening beyond loopback needs a password of yours", where="--listen", hint=hint
            )
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((host, int(port)))
    except OSError as exc:
        bound.close()
        raise UsageError(f"cannot listen on {listen} ({exc.strerror})", where="--listen") from exc
    return bound


class Server(uvicorn.Server):
    """uvicorn without its signal handling: an asked-for end is a success, not death by signal."""

    def capture_signals(self) -> AbstractContextManager[None]:  # type: ignore[override]
        return nullcontext()


def serve(options: ServeOptions, environ: Mapping[str, str]) -> None:
    """Serve until SIGTERM, SIGINT or, when asked for, the end of standard input. Raises its parts' errors."""
    say = _say_json if options.as_json else _say
    endpoint = resolve_context(options.docker_context, environ, allow_shared_host=options.allow_shared_host)
    bound = listening_socket(options.listen, environ, allow_remote=options.allow_remote_listen)
    plan = RuntimePlan(
        data=options.data,
        model=options.model,
        mode=options.mode,
        interval_s=options.interval_s,
        provider=provider_settings(environ),
        limits=turn_limits(environ),
        commands=options.enable_commands,
        verify_bound_s=verify_seconds(environ),
    )
    with bound:
        engine = DockerEngine(endpoint)
        with running(plan, engine, SystemClock()) as runtime:
            app = build_app(runtime, credentials(environ, say))
            config = uvicorn.Config(
                app, log_level="warning", access_log=False, timeout_graceful_shutdown=GRACE_S, lifespan="off"
            )
            server = Server(config)
            _end_on_request(server, runtime.service.stop, with_stdin=options.exit_with_stdin)
            threading.Thread(target=_announce, args=(server, bound, options.as_json), daemon=True).start()
            server.run(sockets=[bound])


def _announce(server: Server, bound: socket.socket, as_json: bool) -> None:
    """Say where the server is once it answers; the one line that goes to standard output."""
    pause = threading.Event()
    while not server.started and not server.should_exit:
        pause.wait(0.01)
    host, port = bound.getsockname()[:2]
    url = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
    ready = json.dumps({"event": "ready", "url": url, "version": PRODUCT})
    sys.stdout.write(f"{ready if as_json else f'{PRODUCT} is ready at {url}'}\n")
    sys.stdout.flush()


def _end_on_request(server: Server, stop: threading.Event, *, with_stdin: bool) -> None:
    def end(*_: object) -> None:
        stop.set()
        server.should_exit = True

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, end)
    if with_stdin:

        def drain() -> None:
            while os.read(sys.stdin.fileno(), 4096):
                pass
            end()

        threading.Thread(target=drain, name="stdin", daemon=True).start()


def _say(text: str) -> None:
    sys.stderr.write(f"patrol-runtime: {text}\n")
    sys.stderr.flush()


def _say_json(text: str) -> None:
    sys.stderr.write(json.dumps({"event": "note", "message": text}) + "\n")
    sys.stderr.flush()
