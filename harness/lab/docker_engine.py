"""The edge to a real engine: low-level calls of the Docker SDK, each bounded in time."""

from __future__ import annotations

import socket
import threading
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from docker import APIClient

from contract.errors import EnvironmentMissingError
from harness.lab.engine import ContainerSpec, ContainerView, EngineVersion, EventFeed, ExecResult, ObjectView
from harness.lab.errors import EngineError
from harness.lab.sdk_errors import calling
from harness.lab.sdk_events import SdkEvents
from harness.lab.sdk_forms import (
    container_arguments,
    container_view,
    image_reference,
    label_filter,
    object_view,
    tls_settings,
    unframed,
)
from harness.lab.target import Target

CALL_TIMEOUT_S: Final = 30
PULL_TIMEOUT_S: Final = 600


def connect(target: Target) -> DockerEngine:
    """Reach the engine of a target; EnvironmentMissingError when none answers there."""
    try:
        with calling(f"engine of {target.label}"):
            _knock(target.endpoint)
            api = APIClient(
                base_url=target.endpoint, version="auto", timeout=CALL_TIMEOUT_S, tls=tls_settings(target)
            )
    except EngineError as exc:
        raise EnvironmentMissingError(
            f"no Docker engine answers at {target.endpoint} ({exc.message})",
            where=target.label,
            hint="start it, or name another context with --docker-context",
        ) from exc
    return DockerEngine(api)


def _knock(endpoint: str) -> None:
    """Try a socket first: the SDK would leave its own open when nobody listens."""
    parts = urlsplit(endpoint)
    if parts.scheme == "unix":
        with socket.socket(socket.AF_UNIX) as door:
            door.settimeout(CALL_TIMEOUT_S)
            door.connect(parts.path)


class DockerEngine:
    """A Docker engine behind the SDK's low-level client; satisfies `Engine`."""

    def __init__(self, api: APIClient) -> None:
        self.api = api

    def version(self) -> EngineVersion:
        """Who the engine is."""
        with calling("version"):
            said = self.api.version()
        return EngineVersion(said["Version"], said["ApiVersion"], said["Os"], said["Arch"])

    def close(self) -> None:
        """Let go of all connections."""
        self.api.close()

    def events(self, label: str) -> EventFeed:
        """Listen to the containers with this label."""
        with calling("events"):
            filters = {"type": "container", "label": label}
            return SdkEvents(self.api.events(filters=filters, decode=True))

    def image_id(self, name: str) -> str:
        """The id of an image that is there."""
        with calling(f"image {name}"):
            api: Any = self.api
            return str(api.inspect_image(name)["Id"])

    def pull(self, name: str) -> None:
        """Fetch an image, which may take minutes."""
        before = self.api.timeout
        self.api.timeout = PULL_TIMEOUT_S
        try:
            with calling(f"pull {name}"):
                self.api.pull(*image_reference(name))
        finally:
            self.api.timeout = before

    def create_network(self, name: str, labels: Mapping[str, str]) -> str:
        """Make a bridge network; without the check, older engines make a second one of the same name."""
        with calling(f"create network {name}"):
            made = self.api.create_network(name, driver="bridge", check_duplicate=True, labels=dict(labels))
        return str(made["Id"])

    def create_volume(self, name: str, labels: Mapping[str, str]) -> None:
        """Make a local volume."""
        with calling(f"create volume {name}"):
            self.api.create_volume(name, labels=dict(labels))

    def create_container(self, spec: ContainerSpec) -> str:
        """Make a container."""
        with calling(f"create container {spec.name}"):
            made = self.api.create_container(**container_arguments(self.api, spec))
        return str(made["Id"])

    def inspect_container(self, ident: str) -> ContainerView:
        """The state of a container."""
        with calling(f"inspect container {ident}"):
            return container_view(self.api.inspect_container(ident))

    def inspect_volume(self, name: str) -> ObjectView:
        """Name and labels of a volume."""
        with calling(f"inspect volume {name}"):
            return object_view(self.api.inspect_volume(name))

    def inspect_network(self, ident: str) -> ObjectView:
        """Name and labels of a network."""
        with calling(f"inspect network {ident}"):
            return object_view(self.api.inspect_network(ident))

    def start(self, ident: str) -> None:
        """Start a container."""
        with calling(f"start {ident}"):
            self.api.start(ident)

    def stop(self, ident: str, grace_s: int) -> None:
        """Stop a container."""
        with calling(f"stop {ident}"):
            self.api.stop(ident, timeout=grace_s)

    def kill(self, ident: str) -> None:
        """End a container at once."""
        with calling(f"kill {ident}"):
            self.api.kill(ident, signal="SIGKILL")

    def restart(self, ident: str, grace_s: int) -> None:
        """Stop a container and start it again."""
        with calling(f"restart {ident}"):
            self.api.restart(ident, timeout=grace_s)

    def wait(self, ident: str) -> int:
        """Wait for the end of a container."""
        with calling(f"wait for {ident}"):
            return int(self.api.wait(ident, timeout=CALL_TIMEOUT_S)["StatusCode"])

    def execute(self, ident: str, argv: tuple[str, ...]) -> ExecResult:
        """Run a command in a container.

        The SDK's own `exec_start` waits for the answer without any limit, and may lose output that arrives
        with the answer's head; this plain request does neither.
        """
        with calling(f"exec in {ident}"):
            exec_id = self.api.exec_create(ident, list(argv))["Id"]
            raw: Any = self.api
            url = raw._url("/exec/{0}/start", exec_id)
            response = raw._post_json(url, data={"Detach": False, "Tty": False})
            raw._raise_for_status(response)
            code = self._exit_code(exec_id)
        return ExecResult(code, unframed(response.content).decode(errors="replace"))

    def _exit_code(self, exec_id: str) -> int:
        """The stream ends a moment before the engine has noted the exit code."""
        pause = threading.Event()
        for _ in range(100):
            said = self.api.exec_inspect(exec_id)
            if not said["Running"] and said["ExitCode"] is not None:
                return int(said["ExitCode"])
            pause.wait(0.05)
        raise TimeoutError

    def connect(self, network: str, ident: str, aliases: tuple[str, ...]) -> None:
        """Attach a container to a network."""
        with calling(f"connect {ident}"):
            self.api.connect_container_to_network(ident, network, aliases=list(aliases))

    def disconnect(self, network: str, ident: str) -> None:
        """Detach a container from a network."""
        with calling(f"disconnect {ident}"):
            self.api.disconnect_container_from_network(ident, network)

    def containers(self, label: str = "") -> tuple[str, ...]:
        """Full ids of containers, without an inspect of each."""
        with calling("list containers"):
            found = self.api.containers(all=True, quiet=True, filters=label_filter(label))
        return tuple(str(one["Id"]) for one in found)

    def volumes(self, label: str = "") -> tuple[str, ...]:
        """Names of volumes."""
        with calling("list volumes"):
            found = self.api.volumes(filters=label_filter(label))["Volumes"] or []
        return tuple(str(one["Name"]) for one in found)

    def networks(self, label: str = "") -> tuple[str, ...]:
        """Full ids of networks."""
        with calling("list networks"):
            found = self.api.networks(filters=label_filter(label))
        return tuple(str(one["Id"]) for one in found)

    def images(self) -> tuple[str, ...]:
        """Ids of top-level images."""
        with calling("list images"):
            return tuple(str(one) for one in self.api.images(quiet=True))

    def remove_container(self, ident: str) -> None:
        """Remove a container and its anonymous volumes."""
        with calling(f"remove container {ident}"):
            self.api.remove_container(ident, v=True, force=True)

    def remove_volume(self, name: str) -> None:
        """Remove a volume."""
        with calling(f"remove volume {name}"):
            self.api.remove_volume(name)

    def remove_network(self, ident: str) -> None:
        """Remove a network."""
        with calling(f"remove network {ident}"):
            self.api.remove_network(ident)
