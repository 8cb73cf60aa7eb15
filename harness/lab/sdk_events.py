"""The engine's event stream as a bell: it rings, and nobody relies on it alone."""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import Any, Final

import docker.errors

_CLOSE_S: Final = 10


class SdkEvents:
    """Reads the engine's event stream in a thread; commands that probes run are no events."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._flag = threading.Event()
        self._thread = threading.Thread(target=self._read, name="lab-events", daemon=True)
        self._thread.start()

    def clear(self) -> None:
        """Forget what has happened."""
        self._flag.clear()

    def happened(self) -> bool:
        """Whether anything has happened."""
        return self._flag.is_set()

    def close(self) -> None:
        """Stop listening; a stream that has already ended cannot be closed again."""
        with suppress(OSError, AttributeError, docker.errors.DockerException):
            self._stream.close()
        self._thread.join(_CLOSE_S)
        self._stream._response.close()

    def _read(self) -> None:
        # A stream that breaks off is no failure: the lab polls as well.
        with suppress(Exception):
            for event in self._stream:
                if not str(event.get("Action", "")).startswith("exec_"):
                    self._flag.set()
