"""What can go wrong between the harness and a Pulse server."""

from __future__ import annotations

from collections.abc import Mapping

from contract.errors import EnvironmentMissingError, InvalidRunError, UsageError


class BaseUrlError(UsageError):
    """The server's address is not one that may stand in a report."""


class UnreachableError(EnvironmentMissingError):
    """The server gave no HTTP answer."""


class HTTPError(InvalidRunError):
    """The server refused: status, path, stable code (or empty), sanitised body, details of the envelope."""

    def __init__(
        self, status: int, path: str, body: str, *, code: str = "", details: Mapping[str, str] | None = None
    ) -> None:
        named = f" {code}" if code else ""
        super().__init__(f"HTTP {status}{named}: {body[:400]}", where=path, hint=_HINTS.get(status, ""))
        self.status = status
        self.path = path
        self.code = code
        self.body = body
        self.details = dict(details or {})


class ReplyError(InvalidRunError):
    """The server answered, but not in its own language: too long, no JSON, wrong types."""


class AmbiguousNameError(InvalidRunError):
    """Two resources of the server bear the same name, so neither can be taken for the lab's."""


class DeadlineError(InvalidRunError):
    """Something that was waited for did not happen in time."""


class NoAnswerError(InvalidRunError):
    """The server took a request and did not answer it in time."""


class BusyError(InvalidRunError):
    """Another Patrol run kept the server busy until there was no time left for ours."""


class LostRunError(InvalidRunError):
    """An accepted run ended without leaving a record, or cannot be told from others."""


class ScopeError(InvalidRunError):
    """The server analysed something other than what it was asked to."""


class RouteError(EnvironmentMissingError):
    """The model route cannot be pinned, or did not prove that it can call tools."""


_HINTS = {
    401: "check --user and the password; the server locks an account after repeated failures",
    403: "the account lacks a right for this, or is locked for 15 minutes after wrong passwords",
    404: "is this a Pulse server of a supported version?",
    429: "the server limits the rate of requests; wait and try again",
}
