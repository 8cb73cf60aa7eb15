"""Connection, tool calling and streaming are told apart against a real little server."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

import pytest

from patrol.check import check_model
from patrol.config import ProviderSettings
from patrol.providers.factory import make_provider
from patrol.providers.openai import OpenAIProvider
from tests.patrol.fakes import FakeClock

CALL = {"id": "1", "function": {"name": "verify_pulse_patrol", "arguments": '{"ok": true}'}}


class Behaviour(BaseHTTPRequestHandler):
    """Answers as the class attributes say."""

    calls: ClassVar[list[Any]] = [CALL]
    stream_status: ClassVar[int] = 200
    names: ClassVar[list[str]] = ["m"]

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def answer(self, status: int, text: str) -> None:
        self.send_response(status)
        self.end_headers()
        self.wfile.write(text.encode())

    def do_GET(self) -> None:
        self.answer(200, json.dumps({"data": [{"id": name} for name in self.names]}))

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if body["stream"]:
            self.answer(self.stream_status, 'data: {"x": 1}\n\ndata: [DONE]\n\n')
        else:
            message = {"content": "", "tool_calls": self.calls}
            self.answer(200, json.dumps({"choices": [{"message": message}]}))


@pytest.fixture
def behaviour() -> type[Behaviour]:
    return type("Fresh", (Behaviour,), {})


@pytest.fixture
def settings(behaviour: type[Behaviour]) -> Iterator[ProviderSettings]:
    with ThreadingHTTPServer(("127.0.0.1", 0), behaviour) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield ProviderSettings(base_url=f"http://127.0.0.1:{server.server_port}/v1")
        server.shutdown()
        thread.join()


def held(settings: ProviderSettings, route: str = "openai:m") -> dict[str, bool]:
    return {one.name: one.held for one in check_model(route, settings, FakeClock())}


def test_all_three_hold(settings: ProviderSettings) -> None:
    assert held(settings) == {"connection": True, "tool calling": True, "streaming": True}


def test_a_model_without_tools_fails_only_there(
    settings: ProviderSettings, behaviour: type[Behaviour]
) -> None:
    behaviour.calls = []
    assert held(settings) == {"connection": True, "tool calling": False, "streaming": True}


def test_a_server_without_streaming_fails_only_there(
    settings: ProviderSettings, behaviour: type[Behaviour]
) -> None:
    behaviour.stream_status = 400
    probes = check_model("openai:m", settings, FakeClock())
    assert [(one.held, one.needed) for one in probes] == [(True, True), (True, True), (False, False)]
    behaviour.stream_status = 500
    assert held(settings)["streaming"] is False


def test_a_model_that_is_not_listed_is_mentioned(settings: ProviderSettings) -> None:
    probes = check_model("openai:other", settings, FakeClock())
    assert "lists no other" in probes[0].message


def test_without_a_connection_nothing_else_is_tried() -> None:
    away = ProviderSettings(base_url="http://127.0.0.1:1/v1")
    assert held(away) == {"connection": False}


def test_the_factory_makes_the_provider_of_the_route(settings: ProviderSettings) -> None:
    made = make_provider("OpenAI:m", settings, FakeClock())
    assert isinstance(made, OpenAIProvider)
    made.close()
