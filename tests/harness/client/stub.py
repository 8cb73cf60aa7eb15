"""A real HTTP server on a loopback port that answers what a test tells it and remembers what it was asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit


@dataclass(frozen=True)
class Asked:
    """One request as the server saw it."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: Any


@dataclass(frozen=True)
class Answer:
    """What to send back; a callable body writes to the socket by itself."""

    body: Any = None
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    raw: bytes | None = None
    stream: Callable[[Any], None] | None = None


Route = Callable[[Asked], Answer]


@dataclass
class Stub:
    """Routes by `METHOD path`; a list of answers is used up to its last one, which then stays."""

    routes: dict[str, Route | list[Answer]] = field(default_factory=dict)
    asked: list[Asked] = field(default_factory=list)
    url: str = ""

    def on(self, what: str, *answers: Answer | Route) -> None:
        """Answer a route with these, one after the other, or by one function."""
        first = answers[0]
        self.routes[what] = first if callable(first) else [one for one in answers if isinstance(one, Answer)]

    def times(self, what: str) -> int:
        """How often a route was asked."""
        return sum(f"{one.method} {one.path}" == what for one in self.asked)

    def answer(self, asked: Asked) -> Answer:
        """The answer to a request."""
        self.asked.append(asked)
        route = self.routes.get(f"{asked.method} {asked.path}")
        if route is None:
            return Answer({"error": "not_found", "message": "no such route"}, 404)
        if callable(route):
            return route(asked)
        return route.pop(0) if len(route) > 1 else route[0]


def handler(stub: Stub) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = 65536  # headers and body in one packet, or each answer takes 40 ms

        def _serve(self) -> None:
            parts = urlsplit(self.path)
            length = int(self.headers.get("Content-Length") or 0)
            content = self.rfile.read(length)
            asked = Asked(
                self.command,
                parts.path,
                {name: values[0] for name, values in parse_qs(parts.query).items()},
                {name.lower(): value for name, value in self.headers.items()},
                json.loads(content) if content else None,
            )
            self._send(stub.answer(asked))

        def _send(self, answer: Answer) -> None:
            raw = answer.raw if answer.raw is not None else json.dumps(answer.body).encode()
            self.send_response(answer.status)
            for name, value in answer.headers:
                self.send_header(name, value)
            if answer.stream is None:
                self.send_header("Content-Length", str(len(raw)))
                self.end_headers()
                self.wfile.write(raw)
                self.wfile.flush()
            else:
                self.close_connection = True
                self.end_headers()
                answer.stream(self.wfile)

        do_GET = do_POST = do_PUT = _serve  # noqa: N815 - the server asks for these names

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    return Handler


@contextmanager
def serving(stub: Stub) -> Iterator[Stub]:
    """Serve on a free loopback port."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler(stub))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    stub.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield stub
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)
