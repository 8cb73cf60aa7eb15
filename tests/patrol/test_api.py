"""The HTTP contract over a real server on loopback."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
import uvicorn

from patrol.api.app import build_app
from patrol.api.auth import Credentials
from patrol.providers.base import Reply
from patrol.serve import Server
from patrol.service import PatrolService
from tests.patrol.fakes import Bench, FakeModel, call, calls

PASSWORD = "correct horse"
TOKEN = "token-1"
NO_ACTION = "act_" + "0" * 32


class NoCookies(httpx.Cookies):
    """A jar that keeps nothing, as a client of this API has to."""

    def extract_cookies(self, response: httpx.Response) -> None:
        """Forget."""


@pytest.fixture
def url(service: PatrolService, bench: Bench) -> Iterator[str]:
    """A served runtime over two containers, `api` unhealthy and `web` healthy."""
    bench.engine.add("api", health="unhealthy")
    bench.engine.add("web")
    bench.collector.collect()
    app = build_app(bench.runtime, Credentials("admin", PASSWORD, token=TOKEN))
    server = Server(
        uvicorn.Config(app, port=0, log_level="error", lifespan="off", timeout_graceful_shutdown=1)
    )
    thread = threading.Thread(target=server.run)
    thread.start()
    pause = threading.Event()
    while not server.started:
        pause.wait(0.005)
    port = server.servers[0].sockets[0].getsockname()[1]
    yield f"http://127.0.0.1:{port}"
    service.stop.set()
    server.should_exit = True
    thread.join()


@pytest.fixture
def client(url: str) -> Iterator[httpx.Client]:
    """A client that authenticates with Basic and keeps no cookies."""
    with httpx.Client(base_url=url, auth=("admin", PASSWORD), trust_env=False, timeout=20) as made:
        made.headers["accept"] = "application/json"
        made._cookies = NoCookies()
        yield made


def finished(client: httpx.Client, run_id: str) -> dict[str, Any]:
    pause = threading.Event()
    for _ in range(600):
        answer = client.get(f"/api/ai/patrol/runs/{run_id}?include=tool_calls")
        if answer.status_code == 200:
            return dict(answer.json())
        assert answer.json()["code"] == "not_found"
        pause.wait(0.01)
    pytest.fail("the run left no record")


def settled(client: httpx.Client) -> None:
    pause = threading.Event()
    while client.get("/api/ai/patrol/status").json()["running"]:
        pause.wait(0.01)


def test_version_and_health_are_public_and_never_claim_to_be_pulse(url: str) -> None:
    version = httpx.get(f"{url}/api/version").json()
    assert version["version"].startswith("reference-patrol/")
    assert version["runtime"] == "reference"
    assert httpx.get(f"{url}/api/health").json()["status"] == "healthy"


@pytest.mark.parametrize(
    ("accept", "body"), [("application/json", '{"error":"Authentication required"}'), ("*/*", "Unauthorized")]
)
def test_without_credentials_everything_else_is_closed(url: str, accept: str, body: str) -> None:
    for path in ("/api/resources", "/api/ai/patrol/run", "/nothing", "/api/version/x"):
        answer = httpx.get(url + path, headers={"accept": accept})
        assert (answer.status_code, answer.text) == (401, body)


def test_a_session_cookie_turns_later_changes_into_csrf_failures(url: str) -> None:
    with httpx.Client(base_url=url, auth=("admin", PASSWORD)) as keeping:
        first = keeping.get("/api/resources")
        assert {"pulse_session", "pulse_csrf"} == set(first.cookies)
        assert keeping.get("/api/resources").status_code == 200
        refused = keeping.post("/api/ai/patrol/preflight", json={})
        assert (refused.status_code, refused.text) == (403, "CSRF token validation failed")
        fresh = refused.headers["x-csrf-token"]
        allowed = keeping.post("/api/ai/patrol/preflight", json={}, headers={"x-csrf-token": fresh})
        assert allowed.status_code == 200


def test_tokens_do_not_exempt_from_csrf_either(url: str) -> None:
    headers = {"x-api-token": TOKEN, "cookie": "pulse_session=unknown"}
    assert httpx.post(f"{url}/api/ai/patrol/preflight", headers=headers).status_code == 403
    assert httpx.get(f"{url}/api/resources", headers=headers).status_code == 200


def test_a_login_gives_a_session_of_its_own(url: str) -> None:
    with httpx.Client(base_url=url) as browser:
        wrong = browser.post("/api/login", json={"username": "admin", "password": "x"})
        assert wrong.status_code == 401
        right = browser.post(
            "/api/login", json={"username": "admin", "password": PASSWORD, "rememberMe": True}
        )
        assert right.json()["success"] is True
        csrf = right.cookies["pulse_csrf"]
        done = browser.post("/api/ai/patrol/preflight", json={}, headers={"x-csrf-token": csrf})
        assert done.status_code == 200


def test_an_explicit_token_wins_and_a_wrong_one_is_refused(url: str) -> None:
    basic = httpx.BasicAuth("admin", PASSWORD)
    assert httpx.get(f"{url}/api/resources", headers={"authorization": f"Bearer {TOKEN}"}).status_code == 200
    wrong = httpx.get(f"{url}/api/resources", headers={"x-api-token": "wrong"}, auth=basic)
    assert wrong.status_code == 401


def test_five_bad_passwords_lock_the_account_for_a_quarter_of_an_hour(url: str, bench: Bench) -> None:
    def attempt(password: str) -> httpx.Response:
        return httpx.get(
            f"{url}/api/resources", auth=("admin", password), headers={"accept": "application/json"}
        )

    assert [attempt("wrong").status_code for _ in range(5)] == [401] * 5
    locked = attempt(PASSWORD)
    assert locked.status_code == 403
    assert set(locked.json()) == {"error", "message", "lockedUntil"}
    bench.clock.advance(15 * 60)
    assert attempt(PASSWORD).status_code == 200


def test_settings_show_the_route_and_what_makes_this_runtime_particular(client: httpx.Client) -> None:
    settings = client.get("/api/settings/ai").json()
    assert (settings["model"], settings["patrol_model"], settings["patrol_preflight"]) == (
        "control:reference",
        "",
        None,
    )
    assert isinstance(settings["reference_runtime"]["prompt_digest"], str)
    assert PASSWORD not in json.dumps(settings)


@pytest.mark.parametrize("method", ["PUT", "POST"])
def test_settings_change_by_put_and_post_and_answer_in_full(client: httpx.Client, method: str) -> None:
    answer = client.request(
        method, "/api/settings/ai/update", json={"patrol_model": "control:silent", "strange": 1}
    )
    assert answer.status_code == 200
    assert (answer.json()["patrol_model"], answer.json()["model"]) == ("control:silent", "control:reference")


def test_a_changed_route_has_fresh_preflight_evidence_soon(client: httpx.Client) -> None:
    client.post("/api/ai/patrol/preflight", json={})
    client.put("/api/settings/ai/update", json={"patrol_model": "control:noisy"})
    pause = threading.Event()
    while (found := client.get("/api/settings/ai").json()["patrol_preflight"]) is None:
        pause.wait(0.01)
    assert (found["provider"], found["model"], found["success"], found["tool_call_observed"]) == (
        "control",
        "noisy",
        True,
        True,
    )
    assert isinstance(found["recorded_at_unix"], int)
    assert found["recorded_at"].endswith("Z")


def test_preflight_always_answers_200(client: httpx.Client) -> None:
    good = client.post("/api/ai/patrol/preflight", json={}).json()
    assert (good["success"], good["tool_call_observed"], good["model"]) == (True, True, "reference")
    bad = client.post("/api/ai/patrol/preflight", json={"provider": "openai", "model": "x"})
    assert (bad.status_code, bad.json()["success"], bad.json()["cause"]) == (200, False, "provider_auth")


@pytest.mark.parametrize(
    ("path", "method", "body", "code"),
    [
        ("/api/ai/patrol/run", "POST", '{"context": "x"}', "invalid_patrol_scope"),
        ("/api/ai/patrol/run", "POST", "{} {}", "invalid_patrol_scope"),
        ("/api/ai/patrol/run", "POST", "[]", "invalid_patrol_scope"),
        ("/api/ai/patrol/run", "POST", "null", "invalid_patrol_scope"),
        ("/api/ai/patrol/run", "POST", '{"resource_ids": "x"}', "invalid_patrol_scope"),
        ("/api/ai/patrol/run", "POST", '{"resource_ids": [" "]}', "invalid_patrol_scope"),
        ("/api/ai/patrol/run", "POST", '{"resource_ids": [], "resource_ids": []}', "invalid_patrol_scope"),
        ("/api/ai/patrol/run", "POST", "[" * 5000, "invalid_patrol_scope"),
        ("/api/settings/ai/update", "PUT", '{"enabled": 1}', "invalid_settings"),
        ("/api/settings/ai/update", "PUT", "{", "invalid_settings"),
        ("/api/ai/patrol/autonomy", "PUT", '{"autonomy_level": "god"}', "invalid_autonomy_level"),
        ("/api/ai/patrol/preflight", "POST", '{"tool": 1}', "invalid_preflight"),
    ],
)
def test_bodies_are_strict(client: httpx.Client, path: str, method: str, body: str, code: str) -> None:
    answer = client.request(method, path, content=body)
    assert answer.status_code == 400
    envelope = answer.json()
    assert envelope["code"] == code
    assert envelope["status_code"] == 400
    assert {"error", "timestamp", "details"} <= set(envelope)


def test_a_body_beyond_16_kib_is_refused(client: httpx.Client) -> None:
    answer = client.put("/api/settings/ai/update", content=b" " * 17_000)
    assert answer.status_code == 413


def test_a_run_has_its_id_at_once_and_its_record_when_it_ended(client: httpx.Client) -> None:
    accepted = client.post("/api/ai/patrol/run").json()
    status = client.get("/api/ai/patrol/status").json()
    assert accepted["success"] is True
    assert accepted["accepted"] is True
    assert accepted["run_id"].isdigit()
    assert status.get("current_run_id") == accepted["run_id"] or not status["running"]
    record = finished(client, accepted["run_id"])
    assert (record["type"], record["new_findings"], record["status"]) == ("patrol", 1, "issues_found")
    assert record["tool_calls"][0]["tool_name"] == "pulse_query"
    settled(client)
    status = client.get("/api/ai/patrol/status").json()
    assert "current_run_id" not in status
    assert (status["runtime_state"], status["summary"]["warning"]) == ("active", 1)


def test_a_scoped_run_tells_its_resolution_and_records_it(client: httpx.Client, bench: Bench) -> None:
    ident = bench.resource_id("web")
    accepted = client.post("/api/ai/patrol/run", json={"resource_ids": [ident]}).json()
    assert "accepted" not in accepted
    assert accepted["scope_resolution"]["resolved_resource_ids"] == [ident]
    record = finished(client, accepted["run_id"])
    assert (record["type"], record["scope_resource_ids"]) == ("scoped", [ident])
    assert record["effective_scope_resource_ids"] == accepted["scope_resolution"]["effective_resource_ids"]
    assert record["finding_ids"] == []


def test_an_unresolved_scope_is_422_with_the_ids(client: httpx.Client) -> None:
    answer = client.post("/api/ai/patrol/run", json={"resource_ids": ["web", "nope", "never"]})
    assert answer.status_code == 422
    assert answer.json()["code"] == "patrol_scope_unresolved"
    assert answer.json()["details"]["unmatched_resource_ids"] == "never,nope"
    assert client.get("/api/ai/patrol/runs").json() == []


def test_busy_disabled_and_not_ready_are_409(
    client: httpx.Client, service: PatrolService, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = threading.Event()
    slow = FakeModel(lambda _: (opened.wait(10), Reply("late"))[1])
    monkeypatch.setattr("patrol.service.make_provider", lambda *_: slow)
    running = client.post("/api/ai/patrol/run").json()["run_id"]
    busy = client.post("/api/ai/patrol/run")
    status = client.get("/api/ai/patrol/status").json()
    opened.set()
    assert (busy.status_code, busy.json()["code"]) == (409, "patrol_already_running")
    assert busy.json()["details"] == {"current_run_id": running}
    assert (status["runtime_state"], status["current_run_id"]) == ("running", running)
    settled(client)
    client.put("/api/settings/ai/update", json={"patrol_enabled": False})
    disabled = client.post("/api/ai/patrol/run")
    assert (disabled.status_code, disabled.json()["code"]) == (409, "patrol_disabled")
    client.put("/api/settings/ai/update", json={"patrol_enabled": True, "patrol_model": "nowhere:x"})
    blocked = client.post("/api/ai/patrol/run")
    assert (blocked.status_code, blocked.json()["details"]["status"]) == (409, "not_ready")
    assert client.get("/api/ai/patrol/status").json()["runtime_state"] == "blocked"


def test_runs_are_newest_first_capped_and_without_calls_unless_asked(
    client: httpx.Client, bench: Bench
) -> None:
    ids = [bench.run(FakeModel(calls(call("pulse_query", action="list")))).id for _ in range(3)]
    listed = client.get("/api/ai/patrol/runs?limit=2").json()
    assert [one["id"] for one in listed] == ids[:0:-1]
    assert "tool_calls" not in listed[0]
    assert listed[0]["tool_call_count"] == 1
    assert listed[0]["finding_ids"] == []
    full = client.get("/api/ai/patrol/runs?limit=999&include=tool_calls").json()
    assert [len(one["tool_calls"]) for one in full] == [1, 1, 1]
    assert len(client.get("/api/ai/patrol/runs?limit=bogus").json()) == 3


def test_resources_are_paged_by_a_hundred_and_sorted_by_name(client: httpx.Client, bench: Bench) -> None:
    for number in range(230):
        bench.engine.add(f"n-{number:03}")
    bench.collector.collect()
    pages = [client.get("/api/resources", params={"limit": 1000, "page": page}).json() for page in (1, 2, 3)]
    assert pages[0]["meta"] == {"page": 1, "limit": 100, "total": 233, "totalPages": 3}
    names = [one["name"] for page in pages for one in page["data"]]
    assert (len(names), names) == (233, sorted(names))
    assert pages[0]["aggregations"]["byType"] == {"agent": 1, "app-container": 232}
    assert client.get("/api/resources").json()["meta"]["limit"] == 50
    assert client.get("/api/resources?q=N-00&type=app-container").json()["meta"]["total"] == 10


def test_a_resource_shows_its_docker_facts(client: httpx.Client) -> None:
    one = client.get("/api/resources?q=api").json()["data"][0]
    assert (one["type"], one["technology"], one["name"], one["status"]) == (
        "app-container",
        "docker",
        "api",
        "warning",
    )
    assert set(one["docker"]) >= {
        "containerState",
        "health",
        "restartCount",
        "containerId",
        "healthcheckTargets",
    }


def test_findings_are_active_ones_critical_first(client: httpx.Client, bench: Bench) -> None:
    bench.run(FakeModel(calls(bench.report("api"), bench.report("web", severity="critical", key="x-ray"))))
    listed = client.get("/api/ai/patrol/findings").json()
    assert [one["severity"] for one in listed] == ["critical", "warning"]
    assert {"id", "key", "category", "resource_id", "detected_at", "last_seen_at"} <= set(listed[0])
    assert (
        len(client.get("/api/ai/patrol/findings", params={"resource_id": bench.resource_id("api")}).json())
        == 1
    )
    assert len(client.get("/api/ai/patrol/findings?limit=1").json()) == 1
    for one in bench.store.active_findings():
        bench.store.put_finding(one.model_copy(update={"resolved_at": "2026-11-30T12:00:00Z"}))
    assert client.get("/api/ai/patrol/findings").json() == []
    assert len(client.get("/api/ai/patrol/findings?include_resolved=1").json()) == 2


def test_autonomy_is_read_and_changed(client: httpx.Client) -> None:
    before = client.get("/api/ai/patrol/autonomy").json()
    assert (before["autonomy_level"], before["effective_autonomy_level"]) == ("monitor", "monitor")
    after = client.put("/api/ai/patrol/autonomy", json={"autonomy_level": "approval"}).json()
    assert after["effective_autonomy_level"] == "approval"


def test_what_does_not_exist_says_so_in_the_envelope_of_its_kind(client: httpx.Client) -> None:
    investigation = client.get("/api/ai/findings/abc/investigation")
    assert (investigation.status_code, investigation.json()["code"]) == (404, "not_found")
    action = client.get(f"/api/actions/{NO_ACTION}")
    assert (action.status_code, action.json()["error"]) == (404, "action_not_found")
    assert client.get("/api/nothing").json()["code"] == "not_found"
    assert client.delete("/api/resources").status_code == 405


@pytest.mark.parametrize("view", ["pending", "settled"])
def test_there_are_no_actions_yet(client: httpx.Client, view: str) -> None:
    listed = client.get("/api/actions", params={"view": view, "limit": 500}).json()
    assert (listed["view"], listed["actions"], listed["count"]) == (view, [], 0)


@pytest.mark.parametrize(
    ("path", "body", "code"),
    [
        ("decision", {"outcome": "maybe"}, "invalid_action_decision"),
        ("decision", {"outcome": "approved", "force": True}, "invalid_action_decision"),
        ("execute", {"outcome": "approved"}, "invalid_action_execution"),
        ("execute", {"reason": 3}, "invalid_action_execution"),
    ],
)
def test_action_bodies_are_strict(
    client: httpx.Client, path: str, body: dict[str, object], code: str
) -> None:
    answer = client.post(f"/api/actions/{NO_ACTION}/{path}", json=body)
    assert (answer.status_code, answer.json()["error"]) == (400, code)


def events(client: httpx.Client, until: str, **headers: str) -> list[dict[str, Any]]:
    """Events of the stream up to the first of type `until`."""
    found: list[dict[str, Any]] = []
    with client.stream("GET", "/api/ai/patrol/stream", headers=headers) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        lines = answer.iter_lines()
        assert next(lines) == ": connected"
        for line in lines:
            if line.startswith("data: "):
                found.append(json.loads(line.removeprefix("data: ")))
                if found[-1]["type"] == until:
                    break
    return found


def test_a_stream_tells_a_run_and_resumes_where_it_was_left(client: httpx.Client, bench: Bench) -> None:
    assert [one["type"] for one in events(client, "snapshot")] == ["snapshot"]
    record = bench.run(FakeModel(calls(call("pulse_query", action="list"))))
    seen = events(client, "complete", **{"last-event-id": "0"})
    assert {one.get("run_id") for one in seen[1:]} == {record.id}
    assert [one["seq"] for one in seen[1:]] == list(range(1, len(seen)))
    rest = events(client, "complete", **{"last-event-id": "2"})
    assert [one["seq"] for one in rest[1:]] == list(range(3, len(seen)))
    assert len(client.get("/api/ai/patrol/runs").json()) == 1


def test_a_stream_that_lost_events_says_so(client: httpx.Client) -> None:
    snapshot = events(client, "snapshot", **{"last-event-id": "999"})[0]
    assert snapshot["resync_reason"] == "events_lost"


@pytest.mark.parametrize("header", ["Basic", "Basic !!!", "Basic YWRtaW4=", "Digest x", "Basic /w=="])
def test_odd_credentials_are_no_credentials(url: str, header: str) -> None:
    assert httpx.get(f"{url}/api/resources", headers={"authorization": header}).status_code == 401


def test_logins_are_limited_to_ten_a_minute(url: str) -> None:
    body = {"username": "admin", "password": PASSWORD}
    answers = [httpx.post(f"{url}/api/login", json=body) for _ in range(11)]
    assert [one.status_code for one in answers] == [200] * 10 + [429]
    assert answers[-1].headers["retry-after"] == "60"


def test_models_list_the_route_and_the_controls(client: httpx.Client) -> None:
    listed = client.get("/api/ai/models").json()["models"]
    assert [one["id"] for one in listed if one["notable"]] == ["control:reference"]
    assert len(listed) == 4


def test_readiness_is_the_one_of_the_status(client: httpx.Client) -> None:
    assert (
        client.post("/api/ai/patrol/readiness").json()
        == client.get("/api/ai/patrol/status").json()["readiness"]
    )


def test_deciding_on_an_unknown_action_changes_nothing(client: httpx.Client) -> None:
    for path, body in (("decision", {"outcome": "rejected"}), ("execute", {"reason": "x"})):
        answer = client.post(f"/api/actions/{NO_ACTION}/{path}", json=body)
        assert (answer.status_code, answer.json()["error"]) == (404, "action_not_found")
    assert client.get("/api/actions?view=odd").json()["error"] == "invalid_action_request"
