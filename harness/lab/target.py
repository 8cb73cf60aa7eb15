"""Which engine is meant: one that was named, never what the environment says (lab format, section 1)."""

from __future__ import annotations

import hashlib
import ipaddress
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from contract.errors import UsageError
from contract.text import trim

DEFAULT_CONTEXT: Final = "default"
DEFAULT_ENDPOINT: Final = "unix:///var/run/docker.sock"
_LIST_CONTEXTS: Final = "`docker context ls` shows what there is"


@dataclass(frozen=True, slots=True)
class TlsFiles:
    """What a context keeps to trust its engine and to be trusted by it."""

    ca: Path | None
    cert: Path | None
    key: Path | None
    skip_verify: bool


@dataclass(frozen=True, slots=True)
class Target:
    """A checked target: how reports name it, and where its engine is."""

    label: str
    endpoint: str
    tls: TlsFiles | None = None

    @property
    def is_ssh(self) -> bool:
        """Whether the engine is reached through SSH."""
        return urlsplit(self.endpoint).scheme == "ssh"


def resolve_target(
    *,
    context: str = "",
    ssh_host: str = "",
    allow_shared_host: bool = False,
    manifest_allows_shared_host: bool = False,
    environ: Mapping[str, str] = os.environ,
) -> Target:
    """Check which engine is meant, without a word to any engine.

    Another machine, by SSH or by a context that leads to one, needs both gates: the operator's and the
    manifest's. Raises UsageError. Lab format, section 1.
    """
    name, host = trim(context), trim(ssh_host)
    both_gates = allow_shared_host and manifest_allows_shared_host
    if name and host:
        raise UsageError(
            "a Docker context and an SSH host exclude each other",
            where="--docker-context",
            hint="give one of --docker-context and --docker-ssh-host",
        )
    if host and not both_gates:
        raise _not_shared(f"the SSH host {host!r}", "--docker-ssh-host")
    if not name and not host:
        raise UsageError(
            "which Docker engine may be used? The implicit one never is",
            where="--docker-context",
            hint=f"name a context of a disposable engine; {_LIST_CONTEXTS}",
        )
    if host:
        return Target(f"ssh:{host}", f"ssh://{_ssh_host(host)}")
    target = _default(environ) if name == DEFAULT_CONTEXT else _stored(name, environ)
    if not is_local(target.endpoint) and not both_gates:
        raise _not_shared(f"the context {name!r} ({target.endpoint})", "--docker-context")
    return target


def is_local(endpoint: str) -> bool:
    """Whether an endpoint is on this machine: a socket, a pipe, a loopback address."""
    parts = urlsplit(endpoint)
    if parts.scheme in ("unix", "npipe"):
        return True
    if parts.scheme not in ("tcp", "http", "https"):
        return False
    host = parts.hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _not_shared(what: str, where: str) -> UsageError:
    return UsageError(
        f"{what} is another machine, which others may use",
        where=where,
        hint="it takes --allow-shared-host and a scenario with lab.shared_host_ok",
    )


def _ssh_host(host: str) -> str:
    """The host, refused where `ssh` would take it for an option or a command line."""
    if host.startswith("-") or any(char.isspace() or not char.isprintable() for char in host):
        raise UsageError(f"{host!r} is no SSH host", where="--docker-ssh-host", hint="write it as user@host")
    return host


def _default(environ: Mapping[str, str]) -> Target:
    if environ.get("DOCKER_HOST"):
        raise UsageError(
            "with DOCKER_HOST set, the context `default` means whatever that variable says",
            where="--docker-context",
            hint="unset DOCKER_HOST, or name a context of your own",
        )
    return Target(f"context:{DEFAULT_CONTEXT}", DEFAULT_ENDPOINT)


def _stored(name: str, environ: Mapping[str, str]) -> Target:
    """A context of the client's store; read directly, since libraries see none without a config.json."""
    folder = Path(environ.get("DOCKER_CONFIG") or Path(environ.get("HOME") or Path.home()) / ".docker")
    digest = hashlib.sha256(name.encode(errors="surrogateescape")).hexdigest()
    endpoint = _docker_endpoint(name, folder / "contexts" / "meta" / digest / "meta.json")
    host = endpoint.get("Host")
    if not isinstance(host, str) or not urlsplit(host).scheme:
        raise _unreadable(name, "it names no engine")
    tls = _tls(folder / "contexts" / "tls" / digest / "docker", endpoint.get("SkipTLSVerify") is True)
    return Target(f"context:{name}", host, tls)


def _docker_endpoint(name: str, file: Path) -> dict[str, Any]:
    try:
        meta = json.loads(file.read_bytes())
        if meta["Name"] != name:
            raise _unreadable(name, f"its file says {meta['Name']!r}")
        return dict(meta["Endpoints"]["docker"])
    except FileNotFoundError:
        raise UsageError(
            f"there is no Docker context {name!r}", where="--docker-context", hint=_LIST_CONTEXTS
        ) from None
    except (OSError, ValueError, KeyError, TypeError) as exc:
        raise _unreadable(name, type(exc).__name__) from exc


def _unreadable(name: str, why: str) -> UsageError:
    return UsageError(
        f"the Docker context {name!r} cannot be read: {why}",
        where="--docker-context",
        hint="make it again with `docker context create`",
    )


def _tls(folder: Path, skip_verify: bool) -> TlsFiles | None:
    ca, cert, key = (
        path if (path := folder / f"{part}.pem").is_file() else None for part in ("ca", "cert", "key")
    )
    return TlsFiles(ca, cert, key, skip_verify) if ca or cert else None
