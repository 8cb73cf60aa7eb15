"""Turns what the Docker SDK and the layers below it raise into the lab's own errors, once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import docker.errors
import requests.exceptions
import urllib3.exceptions

from harness.lab.errors import BusyObjectError, EngineError, EngineTimeoutError, MissingObjectError

_BUSY: Final = (403, 409)


@contextmanager
def calling(what: str) -> Iterator[None]:
    """Turn everything that the SDK and its HTTP layers raise into the lab's own errors."""
    try:
        yield
    except docker.errors.NotFound as exc:
        raise MissingObjectError(f"{what}: {exc.explanation or 'not found'}") from exc
    except docker.errors.APIError as exc:
        kind = BusyObjectError if exc.status_code in _BUSY else EngineError
        raise kind(f"{what}: {exc.explanation or exc}") from exc
    except (requests.exceptions.Timeout, urllib3.exceptions.TimeoutError, TimeoutError) as exc:
        raise EngineTimeoutError(f"{what}: no answer from the engine", hint="is the engine healthy?") from exc
    except (
        docker.errors.DockerException,
        requests.exceptions.RequestException,
        urllib3.exceptions.HTTPError,
        OSError,
    ) as exc:
        raise EngineError(f"{what}: {exc}", hint="is the engine still running?") from exc
