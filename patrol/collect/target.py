"""Which Docker engine is meant: always one that was named, never what the environment happens to say."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from patrol.errors import EndpointError

DEFAULT_SOCKET = "unix:///var/run/docker.sock"
LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})


@dataclass(frozen=True, slots=True)
class TlsFiles:
    """The key material that a context keeps for its endpoint; None where there is none."""

    ca: Path | None = None
    cert: Path | None = None
    key: Path | None = None

    @property
    def present(self) -> bool:
        return self.ca is not None or self.cert is not None


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A resolved Docker context: its name, the address of its engine, and how to trust it."""

    name: str
    host: str
    tls: TlsFiles = TlsFiles()
    skip_verify: bool = False

    @property
    def label(self) -> str:
        return f"context:{self.name}"

    @property
    def local(self) -> bool:
        parts = urlsplit(self.host)
        return parts.scheme in ("unix", "npipe") or (parts.hostname or "") in LOOPBACK


def resolve_context(name: str, environ: Mapping[str, str], *, allow_shared_host: bool = False) -> Endpoint:
    """The endpoint of the Docker context `name`, read from the context store (lab, section 1).

    `DOCKER_HOST` and `DOCKER_CONTEXT` never choose the engine. Raises EndpointError, naming what is missing.
    """
    name = name.strip()
    if not name:
        raise EndpointError(
            "no Docker context was named",
            where="--docker-context",
            hint="list them with `docker context ls`; the implicit daemon is never used",
        )
    endpoint = _default(environ) if name == "default" else _stored(name, environ)
    if urlsplit(endpoint.host).scheme == "ssh":
        raise EndpointError(
            f"the context {name!r} reaches its engine over ssh, which this runtime does not do",
            where="--docker-context",
            hint="run the runtime on that machine and name a local context there",
        )
    if not endpoint.local and not allow_shared_host:
        raise EndpointError(
            f"the context {name!r} leads to another machine ({endpoint.host})",
            where="--docker-context",
            hint="pass --allow-shared-host if that machine may be watched",
        )
    return endpoint


def _default(environ: Mapping[str, str]) -> Endpoint:
    if environ.get("DOCKER_HOST"):
        raise EndpointError(
            "with DOCKER_HOST set, `default` means whatever that variable says",
            where="--docker-context",
            hint="unset DOCKER_HOST, or name a context of your own",
        )
    return Endpoint("default", DEFAULT_SOCKET)


def _stored(name: str, environ: Mapping[str, str]) -> Endpoint:
    root = _config_dir(environ) / "contexts"
    digest = hashlib.sha256(name.encode()).hexdigest()
    try:
        meta = json.loads((root / "meta" / digest / "meta.json").read_bytes())
        docker = meta["Endpoints"]["docker"]
        host = str(docker["Host"])
    except FileNotFoundError:
        raise EndpointError(
            f"there is no Docker context {name!r}",
            where="--docker-context",
            hint="list them with `docker context ls`",
        ) from None
    except (OSError, ValueError, KeyError, TypeError) as exc:
        raise EndpointError(
            f"the Docker context {name!r} cannot be read ({type(exc).__name__})",
            where="--docker-context",
            hint="recreate it with `docker context create`",
        ) from exc
    return Endpoint(name, host, _tls(root / "tls" / digest / "docker"), bool(docker.get("SkipTLSVerify")))


def _config_dir(environ: Mapping[str, str]) -> Path:
    named = environ.get("DOCKER_CONFIG")
    return Path(named) if named else Path(environ.get("HOME") or Path.home()) / ".docker"


def _tls(folder: Path) -> TlsFiles:
    found = {part: folder / f"{part}.pem" for part in ("ca", "cert", "key")}
    return TlsFiles(**{part: path if path.is_file() else None for part, path in found.items()})
