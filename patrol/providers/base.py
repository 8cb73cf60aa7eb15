"""What the loop says to a model and what comes back, independent of any wire format."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from contract.errors import PatrolQualificationError
from patrol.tools.registry import Tool


@dataclass(frozen=True, slots=True)
class Call:
    """A call that the model wants; `arguments` is its own text, which may be broken JSON."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Message:
    """One entry of the transcript."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str
    calls: tuple[Call, ...] = ()
    call_id: str = ""


@dataclass(frozen=True, slots=True)
class Request:
    """One turn: the transcript so far and the tools that may be called, none for a closing answer."""

    messages: Sequence[Message]
    tools: Sequence[Tool] = ()
    max_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """What the model answered, and what it cost in tokens."""

    text: str
    calls: tuple[Call, ...] = ()
    input_tokens: int = 0
    output_tokens: int = 0


class UnparsableReplyError(PatrolQualificationError):
    """The model wrote something that its own server could not read as text or call; another turn may help."""


class Provider(Protocol):
    """Answers turns. `route` is `<provider>:<model>`."""

    route: str

    def complete(self, request: Request, stop: threading.Event) -> Reply:
        """Answer one turn. Raises ProviderError, UnparsableReplyError."""

    def close(self) -> None:
        """Let go of connections."""


def split_route(route: str) -> tuple[str, str]:
    """Provider in lower case and model, parted at the first colon; no colon, no provider (Pulse API, 2.2)."""
    provider, colon, model = route.strip().partition(":")
    return (provider.strip().lower(), model.strip()) if colon else ("", route.strip())
