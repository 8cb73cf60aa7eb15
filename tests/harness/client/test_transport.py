"""One exchange: no cookies, no redirects, no proxies, bounded answers, errors with codes."""

from __future__ import annotations

import base64
import contextlib
from typing import Any

import pytest

from harness.client.base_url import parse_base_url
from harness.client.errors import BaseUrlError, HTTPError, NoAnswerError, ReplyError, UnreachableError
from harness.client.waiting import PulseClient
from tests.harness.client.stub import Answer, Stub
from tests.harness.runner.fakes import FakeClock

VERSION = "GET /api/version"
UPDATE = "PUT /api/settings/ai/update"


@pytest.mark.parametrize("secure", ["pulse_session=abc; Path=/", "__Host-pulse_session=abc; Path=/; Secure"])
def test_a_cookie_is_never_sent_back(stub: Stub, pulse: PulseClient, secure: str) -> None:
    cookies = (("Set-Cookie", secure), ("Set-Cookie", "pulse_csrf=x; Path=/"))
    stub.on(VERSION, Answer({"version": "6.0.0"}, headers=cookies))
    stub.on(UPDATE, Answer({}, headers=cookies))
    pulse.version()
    pulse.update_settings({"enabled": True})
    pulse.version()
    assert len(stub.asked) == 3
    assert all("cookie" not in asked.headers for asked in stub.asked)


def test_every_request_carries_the_password_and_asks_for_plain_json(stub: Stub, pulse: PulseClient) -> None:
    stub.on(VERSION, Answer({"version": "6.0.0"}))
    pulse.version()
    headers = stub.asked[0].headers
    assert headers["authorization"] == "Basic " + base64.b64encode(b"admin:pass:word").decode()
    assert headers["accept"] == "application/json"
    assert headers["accept-encoding"] == "identity"
    assert "content-type" not in headers


def test_only_a_request_with_a_body_has_a_content_type(stub: Stub, pulse: PulseClient) -> None:
    stub.on(UPDATE, Answer({}))
    pulse.update_settings({"patrol_model": ""})
    assert stub.asked[0].headers["content-type"] == "application/json"
    assert stub.asked[0].body == {"patrol_model": ""}


def test_a_redirect_is_not_followed(stub: Stub, pulse: PulseClient) -> None:
    stub.on(VERSION, Answer({}, 302, headers=(("Location", f"{stub.url}/elsewhere"),)))
    with pytest.raises(HTTPError) as caught:
        pulse.version()
    assert caught.value.status == 302
    assert stub.times("GET /elsewhere") == 0


def test_proxies_of_the_environment_are_ignored(
    stub: Stub, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    stub.on(VERSION, Answer({"version": "6.0.0"}))
    client = PulseClient(stub.url, "admin", "password", clock=clock)
    assert client.version().version == "6.0.0"
    client.close()


@pytest.mark.parametrize(
    "url",
    [
        "",
        "127.0.0.1:7655",
        "ftp://host",
        "http://",
        "http://user@host",
        "http://user:secret@host:1",
        "http://host/?a=b",
        "http://host/?",
        "http://host/#part",
        "http://host:port",
        "http://[::1",
    ],
)
def test_a_base_url_that_must_not_land_in_a_report_is_refused(url: str) -> None:
    with pytest.raises(BaseUrlError) as caught:
        parse_base_url(url)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "kept"),
    [
        (" http://127.0.0.1:7655/ ", "http://127.0.0.1:7655"),
        ("https://host/pulse//", "https://host/pulse"),
        ("http://[::1]:7655", "http://[::1]:7655"),
    ],
)
def test_a_base_url_may_have_a_path_prefix(url: str, kept: str) -> None:
    assert parse_base_url(url) == kept


@pytest.mark.parametrize(
    ("body", "code", "details"),
    [
        (
            {
                "error": "Scope!",
                "code": "patrol_scope_unresolved",
                "details": {"unmatched_resource_ids": "a"},
            },
            "patrol_scope_unresolved",
            {"unmatched_resource_ids": "a"},
        ),
        ({"error": "action_not_pending", "message": "no"}, "action_not_pending", {}),
        ({"error": "Authentication required"}, "", {}),
        ({"error": {"deep": 1}, "code": 7, "details": [1]}, "", {}),
        ([1, 2], "", {}),
        (None, "", {}),
    ],
)
def test_either_error_envelope_gives_its_code(
    stub: Stub, pulse: PulseClient, body: Any, code: str, details: dict[str, str]
) -> None:
    stub.on(VERSION, Answer(body, 422))
    with pytest.raises(HTTPError) as caught:
        pulse.version()
    assert (caught.value.status, caught.value.path) == (422, "/api/version")
    assert caught.value.code == code
    assert caught.value.details == details


@pytest.mark.parametrize("raw", [b"plain text", b"", b"\xff\xfe", b"[" * 30_000], ids=repr)
def test_an_error_that_is_no_envelope_is_kept_as_text(stub: Stub, pulse: PulseClient, raw: bytes) -> None:
    stub.on(VERSION, Answer(status=500, raw=raw))
    with pytest.raises(HTTPError) as caught:
        pulse.version()
    assert caught.value.code == ""


def test_an_error_body_is_cut_and_sanitised(stub: Stub, pulse: PulseClient) -> None:
    stub.on(VERSION, Answer(status=500, raw=b"password=hunter2 " + b"x" * 100_000))
    with pytest.raises(HTTPError) as caught:
        pulse.version()
    assert "hunter2" not in caught.value.body
    assert len(caught.value.body) <= 32 * 1024 + 100
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize("status", [200, 500])
def test_an_endless_answer_is_not_loaded(stub: Stub, pulse: PulseClient, status: int) -> None:
    sent = []

    def endless(wire: Any) -> None:
        with contextlib.suppress(OSError):
            for _ in range(1024):
                wire.write(b" " * 1024 * 1024)
                sent.append(1)

    stub.on(VERSION, Answer(status=status, stream=endless))
    with pytest.raises((ReplyError, HTTPError)):
        pulse.version()
    assert len(sent) < 200


def test_a_compressed_answer_is_refused(stub: Stub, pulse: PulseClient) -> None:
    stub.on(VERSION, Answer(raw=b"\x1f\x8b", headers=(("Content-Encoding", "gzip"),)))
    with pytest.raises(ReplyError, match="compressed"):
        pulse.version()


def test_an_answer_that_only_drips_comes_to_an_end(stub: Stub, pulse: PulseClient, clock: FakeClock) -> None:
    def drip(wire: Any) -> None:
        with contextlib.suppress(OSError):
            for _ in range(200):
                clock.ns += 10 * 10**9
                wire.write(b" ")
                wire.flush()

    stub.on(VERSION, Answer(stream=drip))
    with pytest.raises((NoAnswerError, ReplyError)):
        pulse.version()


@pytest.mark.parametrize(
    "raw", [b"", b"{", b"<html>", b"[]", b'"x"', b"null{}", b'{"version":1}', b"[" * 5000]
)
def test_an_answer_in_another_language_is_refused(stub: Stub, pulse: PulseClient, raw: bytes) -> None:
    stub.on(VERSION, Answer(raw=raw))
    with pytest.raises(ReplyError):
        pulse.version()


def test_a_server_that_is_not_there_is_an_environment_error(clock: FakeClock) -> None:
    client = PulseClient("http://127.0.0.1:9", "admin", "password", clock=clock)
    with pytest.raises(UnreachableError) as caught:
        client.version()
    assert caught.value.exit_code == 3
    assert "password" not in str(caught.value)
    client.close()


@pytest.mark.parametrize("status", [401, 403])
def test_a_wrong_password_is_tried_once_only(stub: Stub, pulse: PulseClient, status: int) -> None:
    stub.on(VERSION, Answer({"error": "Authentication required"}, status))
    with pytest.raises(HTTPError):
        pulse.version()
    assert len(stub.asked) == 1


def test_a_rate_limit_is_waited_out_as_long_as_it_says(
    stub: Stub, pulse: PulseClient, clock: FakeClock
) -> None:
    stub.on(
        VERSION,
        Answer(status=429, raw=b"slow down", headers=(("Retry-After", "7"),)),
        Answer({"version": "6.0.0"}),
    )
    before = clock.ns
    assert pulse.version().version == "6.0.0"
    assert 7 * 10**9 <= clock.ns - before < 8 * 10**9


def test_a_rate_limit_that_never_ends_is_raised(stub: Stub, pulse: PulseClient) -> None:
    stub.on(VERSION, Answer(status=429, raw=b"slow down", headers=(("Retry-After", "60"),)))
    with pytest.raises(HTTPError):
        pulse.version()
    assert stub.times(VERSION) <= 4


def test_unknown_members_and_null_lists_are_fine(stub: Stub, pulse: PulseClient) -> None:
    stub.on("GET /api/resources", Answer({"data": None, "meta": None, "aggregations": {"x": [1]}}))
    stub.on("GET /api/ai/patrol/findings", Answer(None))
    stub.on(VERSION, Answer({"version": "6", "future": {"Version": 1}, "build": None}))
    assert pulse.list_resources() == ()
    assert pulse.findings() == ()
    assert pulse.version().build == ""
