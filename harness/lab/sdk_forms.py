"""What is told to the Docker SDK, and what it answers, between its forms and the lab's own."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any, Final

from docker import APIClient
from docker.tls import TLSConfig
from docker.types import Healthcheck as SdkHealthcheck
from docker.types import Mount

from harness.lab.engine import ContainerSpec, ContainerView, ObjectView
from harness.lab.target import Target

_FRAME: Final = struct.Struct(">BxxxL")


def tls_settings(target: Target) -> TLSConfig | bool:
    files = target.tls
    if files is None:
        return False
    pair = (str(files.cert), str(files.key)) if files.cert and files.key else None
    return TLSConfig(
        client_cert=pair, ca_cert=str(files.ca) if files.ca else None, verify=not files.skip_verify
    )


def container_arguments(api: APIClient, spec: ContainerSpec) -> dict[str, Any]:
    """What the SDK is told to make: nothing privileged, no port, no path of the host, no proxy settings."""
    mounts = [Mount(path, name, type="volume") for name, path in spec.volumes.items()]
    host = api.create_host_config(
        network_mode=spec.network or "none",
        restart_policy={"Name": spec.restart} if spec.restart else None,
        mounts=mounts or None,
        tmpfs=dict(spec.tmpfs) or None,
    )
    check = spec.healthcheck and SdkHealthcheck(
        test=["CMD-SHELL", spec.healthcheck.command],
        interval=spec.healthcheck.interval_ns,
        timeout=spec.healthcheck.timeout_ns,
        retries=spec.healthcheck.retries,
        start_period=spec.healthcheck.start_period_ns,
    )
    return {
        "image": spec.image,
        "command": list(spec.command) or None,
        "name": spec.name,
        "labels": dict(spec.labels),
        "host_config": host,
        "healthcheck": check,
        "use_config_proxy": False,
    }


def container_view(said: Mapping[str, Any]) -> ContainerView:
    """Read the answer of an inspect."""
    state, ident = said["State"], str(said["Id"])
    networks = {
        name: tuple(alias for alias in (entry.get("Aliases") or ()) if alias != ident[:12])
        for name, entry in (said["NetworkSettings"]["Networks"] or {}).items()
    }
    return ContainerView(
        id=ident,
        name=str(said["Name"]).removeprefix("/"),
        labels=dict(said["Config"]["Labels"] or {}),
        status=str(state["Status"]),
        running=bool(state["Running"]),
        health=str((state.get("Health") or {}).get("Status", "")),
        restart_count=int(said["RestartCount"]),
        exit_code=int(state["ExitCode"]),
        started_at=str(state["StartedAt"]),
        networks=networks,
    )


def unframed(stream: bytes) -> bytes:
    """The output without the eight bytes that the engine puts before each piece."""
    pieces, at = [], 0
    while at + _FRAME.size <= len(stream):
        _, length = _FRAME.unpack_from(stream, at)
        at += _FRAME.size
        pieces.append(stream[at : at + length])
        at += length
    return b"".join(pieces)


def object_view(said: Mapping[str, Any]) -> ObjectView:
    return ObjectView(str(said["Name"]), dict(said["Labels"] or {}))


def label_filter(label: str) -> dict[str, str] | None:
    return {"label": label} if label else None


def image_reference(name: str) -> tuple[str, str | None]:
    """Repository and tag; without a tag the SDK would fetch all of them."""
    if "@" in name:
        return name, None
    stem, colon, tag = name.rpartition(":")
    return (stem, tag) if colon and "/" not in tag else (name, "latest")
