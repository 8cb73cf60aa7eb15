"""The edge to the Docker engine's own client: bounded reads, three typed operations, errors of one kind."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

import docker
import docker.errors
import docker.tls
import requests

from patrol.clock import NS
from patrol.collect.projection import Daemon, Inspected
from patrol.collect.target import Endpoint
from patrol.errors import EngineError

TIMEOUT_S = 30
GRACE_S = 10
READ_LIMIT = 16 * 1024
OPERATIONS = {"start": "start", "stop": "stop", "restart": "restart"}


class Engine(Protocol):
    """What the collector reads of an engine."""

    def daemon(self) -> Daemon:
        """Which engine answers. Raises EngineError."""

    def containers(self) -> list[Inspected]:
        """Every container, running or not, inspected. Raises EngineError."""

    def container(self, container_id: str) -> Inspected | None:
        """One container inspected now; None when it is gone. Raises EngineError."""

    def usage(self, container_id: str) -> Inspected | None:
        """One sample of a running container's counters, Docker's own shape. Raises EngineError."""

    def logs(self, container_id: str, *, lines: int, since_ns: int | None) -> str:
        """The last lines that a container wrote, at most READ_LIMIT bytes. Raises EngineError."""

    def run(self, container_id: str, argv: Sequence[str]) -> tuple[int, str]:
        """Exit code and output (at most READ_LIMIT bytes) of a program run inside. Raises EngineError."""

    def operate(self, container_id: str, operation: str) -> None:
        """Start, stop or restart a container. Raises EngineError."""

    def close(self) -> None:
        """Let go of the connection."""


class DockerEngine:
    """An engine at a resolved endpoint, spoken to through the Docker client's low-level API."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        try:
            self._api = docker.APIClient(
                base_url=endpoint.host, tls=_tls(endpoint), timeout=TIMEOUT_S, version="auto"
            )
        except (docker.errors.DockerException, requests.RequestException, OSError) as exc:
            raise self._failure(exc) from exc

    def daemon(self) -> Daemon:
        facts = self._call("info")
        return Daemon(id=str(facts.get("ID", "")), hostname=str(facts.get("Name", "")))

    def containers(self) -> list[Inspected]:
        listed = self._call("containers", all=True)
        found = (self.container(str(one["Id"])) for one in listed)
        return [one for one in found if one is not None]

    def container(self, container_id: str) -> Inspected | None:
        return self._unless_gone("inspect_container", container_id)

    def usage(self, container_id: str) -> Inspected | None:
        return self._unless_gone("stats", container_id, stream=False)

    def logs(self, container_id: str, *, lines: int, since_ns: int | None) -> str:
        since = {} if since_ns is None else {"since": since_ns // NS}
        chunks = self._call("logs", container=container_id, stream=True, tail=lines, timestamps=True, **since)
        return self._bounded(chunks)

    def run(self, container_id: str, argv: Sequence[str]) -> tuple[int, str]:
        made = self._call("exec_create", container=container_id, cmd=list(argv), stdin=False, tty=False)
        output = self._bounded(self._call("exec_start", exec_id=made["Id"], stream=True))
        code = self._call("exec_inspect", exec_id=made["Id"]).get("ExitCode")
        return (code if isinstance(code, int) else -1), output

    def operate(self, container_id: str, operation: str) -> None:
        grace = {} if operation == "start" else {"timeout": GRACE_S}
        self._call(OPERATIONS[operation], container=container_id, **grace)

    def close(self) -> None:
        self._api.close()

    def _bounded(self, chunks: Iterable[bytes]) -> str:
        """What arrives, up to the limit; then the rest is left where it is."""
        data = bytearray()
        try:
            for chunk in chunks:
                data += chunk
                if len(data) >= READ_LIMIT:
                    break
        except (docker.errors.DockerException, requests.RequestException, OSError, ValueError) as exc:
            raise self._failure(exc) from exc
        finally:
            close = getattr(chunks, "close", None)
            if close is not None:
                close()
        return bytes(data[:READ_LIMIT]).decode(errors="replace")

    def _unless_gone(self, call: str, container_id: str, **options: object) -> Inspected | None:
        try:
            answer: Inspected = getattr(self._api, call)(container_id, **options)
        except docker.errors.NotFound:
            return None
        except (docker.errors.DockerException, requests.RequestException, OSError, ValueError) as exc:
            raise self._failure(exc) from exc
        return answer

    def _call(self, call: str, **options: object) -> Any:
        try:
            return getattr(self._api, call)(**options)
        except (docker.errors.DockerException, requests.RequestException, OSError, ValueError) as exc:
            raise self._failure(exc) from exc

    def _failure(self, exc: Exception) -> EngineError:
        return EngineError(
            f"no usable answer from the Docker engine ({type(exc).__name__})",
            where=self._endpoint.label,
            hint=f"does `docker --context {self._endpoint.name} info` answer?",
        )


def _tls(endpoint: Endpoint) -> docker.tls.TLSConfig | bool:
    files = endpoint.tls
    if not files.present:
        return False
    pair = (str(files.cert), str(files.key)) if files.cert and files.key else None
    return docker.tls.TLSConfig(
        client_cert=pair, ca_cert=str(files.ca) if files.ca else None, verify=not endpoint.skip_verify
    )
