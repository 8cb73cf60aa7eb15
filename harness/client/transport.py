"""One HTTP exchange: bounded in time and size, without cookies, redirects or ambient proxies."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Final, TypeAlias

import httpx

from contract.redaction import sanitize
from harness.client.base_url import parse_base_url
from harness.client.errors import HTTPError, NoAnswerError, ReplyError, UnreachableError
from harness.clock import Clock

Params: TypeAlias = Mapping[str, str | int]
Body: TypeAlias = Mapping[str, object]

ERROR_BODY_BYTES: Final = 32 * 1024
REPLY_BYTES: Final = 32 * 1024 * 1024
REQUEST_SECONDS: Final = 15 * 60.0
CONNECT_SECONDS: Final = 15.0
_CODE: Final = re.compile(r"[a-z0-9_]+")


class _NoCookies(DefaultCookiePolicy):
    """Stores and returns nothing: a session cookie would outrank the password and demand a CSRF token."""

    def set_ok(self, cookie: object, request: object) -> bool:
        return False

    def return_ok(self, cookie: object, request: object) -> bool:
        return False


class Transport:
    """Sends requests to one server with one password (Pulse API, section 1)."""

    def __init__(
        self,
        base_url: str,
        user: str,
        password: str,
        *,
        clock: Clock,
        breakable: Callable[[], AbstractContextManager[None]] = nullcontext,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self.base_url = parse_base_url(base_url)
        self._clock = clock
        self._breakable = breakable
        self._http = httpx.Client(
            auth=httpx.BasicAuth(user, password),
            # A compressed answer could hide a gigabyte in a kilobyte.
            headers={"Accept": "application/json", "Accept-Encoding": "identity"},
            cookies=CookieJar(policy=_NoCookies()),
            follow_redirects=False,
            trust_env=False,
            transport=transport,
        )

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def get(self, path: str, params: Params | None = None) -> str:
        """The text of a 2xx answer; UnreachableError, HTTPError, ReplyError or NoAnswerError otherwise."""
        return self._send("GET", path, params, None)

    def post(self, path: str, body: Body) -> str:
        """As `get`, sending a JSON object."""
        return self._send("POST", path, None, body)

    def put(self, path: str, body: Body, *, seconds: float = REQUEST_SECONDS) -> str:
        """As `post`, with another limit of time."""
        return self._send("PUT", path, None, body, seconds)

    def _send(
        self,
        method: str,
        path: str,
        params: Params | None,
        body: Body | None,
        seconds: float = REQUEST_SECONDS,
    ) -> str:
        content = None if body is None else json.dumps(body, allow_nan=False).encode()
        headers = {} if body is None else {"Content-Type": "application/json"}
        deadline = self._clock.monotonic_ns() + int(seconds * 1e9)
        request = self._http.build_request(
            method,
            self.base_url + path,
            params=params,
            content=content,
            headers=headers,
            timeout=httpx.Timeout(seconds, connect=min(seconds, CONNECT_SECONDS)),
        )
        try:
            with self._breakable(), contextlib.closing(self._http.send(request, stream=True)) as response:
                return self._read(response, path, deadline)
        except httpx.TimeoutException as exc:
            raise NoAnswerError(
                f"no answer within {seconds:.0f} s", where=path, hint="is the server healthy?"
            ) from exc
        except (httpx.HTTPError, httpx.InvalidURL) as exc:
            raise UnreachableError(
                f"no answer from {self.base_url}: {sanitize(str(exc)) or type(exc).__name__}",
                where=path,
                hint="start the server, correct --url, or use --embedded",
            ) from exc

    def _read(self, response: httpx.Response, path: str, deadline: int) -> str:
        if not 200 <= response.status_code <= 299:
            body = self._bounded(response, path, deadline, ERROR_BODY_BYTES)
            raise http_error(response.status_code, path, body, response.headers.get("Retry-After", ""))
        if response.headers.get("Content-Encoding", "identity").lower() != "identity":
            raise ReplyError("the answer is compressed, which was not asked for", where=path)
        body = self._bounded(response, path, deadline, REPLY_BYTES + 1)
        if len(body) > REPLY_BYTES:
            raise ReplyError(f"the answer is longer than {REPLY_BYTES} bytes", where=path)
        return body.decode(errors="replace")

    def _bounded(self, response: httpx.Response, path: str, deadline: int, limit: int) -> bytes:
        body = bytearray()
        for chunk in response.iter_raw():
            body += chunk[: limit - len(body)]
            if len(body) >= limit:
                break
            if self._clock.monotonic_ns() > deadline:
                raise NoAnswerError("the answer did not end in time", where=path)
        return bytes(body)


def http_error(status: int, path: str, body: bytes, retry_after: str = "") -> HTTPError:
    """A refusal from its parts: either error envelope, or plain text (Pulse API, section 1)."""
    text = body.decode(errors="replace")
    envelope: object = None
    with contextlib.suppress(ValueError, RecursionError):
        envelope = json.loads(text)
    code, details = "", {}
    if isinstance(envelope, dict):
        code = _code(envelope)
        found = envelope.get("details")
        details = {str(key): str(value) for key, value in found.items()} if isinstance(found, dict) else {}
    if retry_after:
        details["retry_after"] = retry_after
    return HTTPError(status, path, sanitize(text), code=code, details=details)


def _code(envelope: dict[str, object]) -> str:
    code = envelope.get("code")
    if isinstance(code, str) and code:
        return code[:128]
    error = envelope.get("error")
    return error[:128] if isinstance(error, str) and _CODE.fullmatch(error) else ""
