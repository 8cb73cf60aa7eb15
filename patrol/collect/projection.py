"""From what Docker says about a container to what may be shown of it (reference runtime, section 3).

Mounts, environment and commands never pass; of a health command only the hosts that it calls do. Labels of
the lab are stripped here, where containers come in, so that nothing behind it can show them to a model.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from patrol.records import DockerFacts, Resource

LAB_LABELS = "com.pulse.intelligence-lab."
DOWN_STATES = frozenset({"exited", "dead", "stopped", "created", "removing"})
BAD_HEALTH = frozenset({"unhealthy", "failed", "failing", "error", "critical", "degraded"})
_URL = re.compile(r"\b[a-z][a-z0-9+.-]*://(?:[^\s/'\"@]*@)?(\[[0-9A-Fa-f:]+\]|[A-Za-z0-9._-]+)")
_CALL = re.compile(
    r"\b(?:nc|ping|nslookup|telnet|getent\s+hosts)((?:\s+-\S+(?:\s+\d+)?)*)\s+([A-Za-z][A-Za-z0-9._-]*)"
)

Inspected = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Daemon:
    """The engine behind the endpoint: its id and the name of its machine."""

    id: str
    hostname: str


@dataclass(frozen=True, slots=True)
class Identity:
    """Every exact spelling of one resource: `ids` first, `aliases` only where no id matches (section 4)."""

    resource_id: str
    ids: frozenset[str]
    aliases: frozenset[str]


def container_resource_id(daemon_id: str, container_id: str) -> str:
    """`app-container:` and the first 16 hex digits of SHA-256 over `docker:<daemon>:<container>`."""
    text = f"docker:{daemon_id}:{container_id}"
    return f"app-container:{hashlib.sha256(text.encode()).hexdigest()[:16]}"


def host_resource(daemon: Daemon, seen: str) -> Resource:
    """The machine that the engine runs on."""
    digest = hashlib.sha256(f"docker:{daemon.id}".encode()).hexdigest()[:16]
    return Resource(
        id=f"agent:{digest}",
        type="agent",
        technology="docker",
        name=daemon.hostname,
        status="online",
        last_seen=seen,
    )


def project(daemon: Daemon, inspected: Inspected, seen: str) -> Resource:
    """The resource of one inspected container; `seen` is the RFC 3339 time of the inspection."""
    config, state = _object(inspected, "Config"), _object(inspected, "State")
    container_id = _text(inspected, "Id")
    facts = DockerFacts(
        container_id=container_id,
        container_state=_text(state, "Status").lower(),
        health=_text(_object(state, "Health"), "Status").lower(),
        restart_count=_number(inspected, "RestartCount"),
        exit_code=_number(state, "ExitCode"),
        oom_killed=state.get("OOMKilled") is True,
        image=_text(config, "Image"),
        hostname=daemon.hostname,
        healthcheck_targets=healthcheck_targets(_object(config, "Healthcheck").get("Test")),
        started_at=_text(state, "StartedAt"),
    )
    return Resource(
        id=container_resource_id(daemon.id, container_id),
        type="app-container",
        technology="docker",
        name=_text(inspected, "Name").removeprefix("/"),
        status=_status(facts),
        last_seen=seen,
        docker=facts,
        labels=_labels(_object(config, "Labels")),
    )


def identity(daemon: Daemon, resource: Resource) -> Identity:
    """The exact spellings under which a trigger may name `resource`."""
    if resource.docker is None:
        return Identity(resource.id, frozenset({resource.id}), frozenset({resource.name.lower()}))
    full = resource.docker.container_id
    ids = {resource.id, full, f"docker:{daemon.hostname.lower()}/{full}"}
    return Identity(resource.id, frozenset(ids), frozenset({resource.name.lower(), full[:12]}))


def healthcheck_targets(test: object) -> tuple[str, ...]:
    """The hosts that a health command calls, sorted; nothing else of the command is kept."""
    words = " ".join(map(str, test)) if isinstance(test, Sequence) and not isinstance(test, str) else ""
    hosts: Iterable[str] = (*_URL.findall(words), *(found[1] for found in _CALL.findall(words)))
    return tuple(sorted({host.lower() for host in hosts}))


def _status(facts: DockerFacts) -> str:
    if facts.container_state in DOWN_STATES:
        return "offline"
    healthy = facts.container_state == "running" and facts.health not in BAD_HEALTH
    return "online" if healthy else "warning"


def _labels(labels: Mapping[str, object]) -> dict[str, str]:
    return {key: str(labels[key]) for key in sorted(labels) if not key.lower().startswith(LAB_LABELS)}


def _object(parent: Mapping[str, object], name: str) -> Mapping[str, object]:
    value = parent.get(name)
    return value if isinstance(value, Mapping) else {}


def _text(parent: Mapping[str, object], name: str) -> str:
    value = parent.get(name)
    return value if isinstance(value, str) else ""


def _number(parent: Mapping[str, object], name: str) -> int:
    value = parent.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else 0
