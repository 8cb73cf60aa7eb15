"""Who may ask: Basic, token or session, with the traps of the real server (Pulse API, section 1).

A successful Basic request is answered with a session cookie. From then on every changing request that carries
this cookie needs the matching CSRF token, whatever else it has. A client that keeps cookies fails here too.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import secrets
from collections import OrderedDict
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, PlainTextResponse, Response

from patrol.api.wire import SAFE_METHODS
from patrol.clock import NS, Clock, rfc3339

PUBLIC = frozenset({("GET", "/api/version"), ("GET", "/api/health"), ("POST", "/api/login")})
SESSION, CSRF = "pulse_session", "pulse_csrf"
ATTEMPTS = 5
LOCKOUT_S = 15 * 60
SESSIONS = 1000
SESSION_S = 24 * 3600
LOGINS_PER_MINUTE = 10

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Credentials:
    """What is accepted; blank `token` means that there is none. Neither appears in a repr."""

    user: str
    password: str = field(repr=False)
    token: str = field(default="", repr=False)
    strict_browser_auth: bool = True


@dataclass(frozen=True, slots=True)
class Principal:
    """Who asks: a person (`user`) or a machine with a token (`api_token`)."""

    subject: str
    kind: str


@dataclass(slots=True)
class Session:
    """A login: its CSRF token and when it ends."""

    csrf: str
    ends_ns: int


@dataclass(slots=True)
class Doorkeeper:
    """Sessions, failed attempts, and the decision about one request; used from the event loop only."""

    credentials: Credentials
    clock: Clock
    _sessions: OrderedDict[str, Session] = field(default_factory=OrderedDict)
    _failures: dict[tuple[str, str], list[int]] = field(default_factory=dict)
    _logins: list[int] = field(default_factory=list)

    def admit(self, method: str, headers: Headers, client: str) -> Principal | Response:
        """Who asks, or the answer that refuses the request."""
        cookie = _cookies(headers).get(SESSION, "")
        if cookie and method not in SAFE_METHODS and self.credentials.strict_browser_auth:
            refused = self._check_csrf(cookie, headers)
            if refused is not None:
                return refused
        token = headers.get("x-api-token") or _after(headers, "bearer ")
        if token:
            known = self.credentials.token
            valid = bool(known) and hmac.compare_digest(token.encode(), known.encode())
            return Principal("token", "api_token") if valid else unauthorized(headers)
        if self._session(cookie) is not None:
            return Principal(self.credentials.user, "user")
        return self._basic(headers, client)

    def login(self, user: str, password: str, client: str) -> Response | None:
        """None when the password is right, else the refusal."""
        now = self.clock.now_ns()
        self._logins = [at for at in self._logins if now - at < 60 * NS]
        if len(self._logins) >= LOGINS_PER_MINUTE:
            return PlainTextResponse("Rate limit exceeded", 429, headers={"Retry-After": "60"})
        self._logins.append(now)
        return self._verify(user, password, client)

    def open_session(self, response_headers: MutableHeaders) -> None:
        """Begin a session and set its two cookies."""
        ident, csrf = secrets.token_hex(32), secrets.token_hex(32)
        self._sessions[ident] = Session(csrf, self.clock.now_ns() + SESSION_S * NS)
        while len(self._sessions) > SESSIONS:
            self._sessions.popitem(last=False)
        response_headers.append(
            "set-cookie", f"{SESSION}={ident}; Path=/; HttpOnly; SameSite=Lax; Max-Age={SESSION_S}"
        )
        response_headers.append("set-cookie", f"{CSRF}={csrf}; Path=/; SameSite=Lax; Max-Age={SESSION_S}")

    def _session(self, ident: str) -> Session | None:
        found = self._sessions.get(ident)
        return found if found is not None and found.ends_ns > self.clock.now_ns() else None

    def _check_csrf(self, cookie: str, headers: Headers) -> Response | None:
        session = self._session(cookie)
        sent = headers.get("x-csrf-token", "")
        if session is not None and hmac.compare_digest(sent.encode(), session.csrf.encode()):
            return None
        fresh: dict[str, str] = {}
        if session is not None:
            session.csrf = secrets.token_hex(32)
            fresh["X-CSRF-Token"] = session.csrf
        return PlainTextResponse("CSRF token validation failed", 403, headers=fresh)

    def _basic(self, headers: Headers, client: str) -> Principal | Response:
        pair = _basic_pair(_after(headers, "basic "))
        if pair is None:
            return unauthorized(headers)
        refused = self._verify(*pair, client)
        if refused is None:
            return Principal(pair[0], "user")
        return unauthorized(headers) if refused.status_code == 401 else refused

    def _verify(self, user: str, password: str, client: str) -> Response | None:
        key, now = (user, client), self.clock.now_ns()
        recent = [at for at in self._failures.get(key, []) if now - at < LOCKOUT_S * NS]
        if len(recent) >= ATTEMPTS:
            return _locked(recent[-1] + LOCKOUT_S * NS)
        right = hmac.compare_digest(user.encode(), self.credentials.user.encode())
        right &= hmac.compare_digest(password.encode(), self.credentials.password.encode())
        if right:
            self._failures.pop(key, None)
            return None
        if len(self._failures) >= SESSIONS:
            self._failures.clear()
        self._failures[key] = [*recent, now]
        return JSONResponse({"error": "Invalid username or password"}, 401)


@dataclass(slots=True)
class AuthGate:
    """ASGI middleware: asks the doorkeeper before anything else happens."""

    app: App
    doorkeeper: Doorkeeper

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or (scope["method"], scope["path"]) in PUBLIC:
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        client = scope["client"][0] if scope.get("client") else ""
        found = self.doorkeeper.admit(scope["method"], headers, client)
        if isinstance(found, Response):
            await found(scope, receive, send)
            return
        scope.setdefault("state", {})["principal"] = found
        by_password = found.kind == "user" and bool(_after(headers, "basic "))
        fresh = by_password and self.doorkeeper.credentials.strict_browser_auth
        await self.app(scope, receive, self._with_cookies(send) if fresh else send)

    def _with_cookies(self, send: Send) -> Send:
        async def answer(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                self.doorkeeper.open_session(MutableHeaders(scope=message))
            await send(message)

        return answer


def unauthorized(headers: Headers) -> Response:
    """401, as JSON where the client takes JSON."""
    challenge = {"WWW-Authenticate": 'Basic realm="Patrol"'}
    if "json" in headers.get("accept", ""):
        return JSONResponse({"error": "Authentication required"}, 401, headers=challenge)
    return PlainTextResponse("Unauthorized", 401, headers=challenge)


def _locked(until_ns: int) -> Response:
    told = {
        "error": "Account temporarily locked",
        "message": "too many failed attempts; try again later",
        "lockedUntil": rfc3339(until_ns),
    }
    return JSONResponse(told, 403)


def _after(headers: Headers, scheme: str) -> str:
    value = headers.get("authorization", "")
    return value[len(scheme) :].strip() if value.lower().startswith(scheme) else ""


def _basic_pair(text: str) -> tuple[str, str] | None:
    try:
        user, colon, password = base64.b64decode(text, validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return None
    return (user, password) if colon else None


def _cookies(headers: Headers) -> dict[str, str]:
    try:
        return {name: one.value for name, one in SimpleCookie(headers.get("cookie", "")).items()}
    except CookieError:
        return {}
