"""Borrowing the model route: fresh proof, minimal changes, and giving back whatever happens."""

from __future__ import annotations

from typing import Any

import pytest

from harness.client.errors import HTTPError, RouteError
from harness.client.lease import RouteLease
from harness.client.records import Settings
from harness.client.routes import Route, lease_seconds, route_kind
from harness.client.waiting import PulseClient
from tests.harness.client.settings_server import PREFLIGHT, STATUS, UPDATE, SettingsServer
from tests.harness.client.stub import Answer, Asked, Stub
from tests.harness.runner.fakes import START_NS, FakeClock

START_S = START_NS // 10**9


def test_a_route_in_force_is_proved_by_one_preflight_and_nothing_is_changed(
    stub: Stub, pulse: PulseClient, clock: FakeClock
) -> None:
    SettingsServer(stub, clock)
    lease = RouteLease.acquire(pulse)
    lease.close()
    assert str(lease.route) == "openai:default"
    assert stub.times(PREFLIGHT) == 1
    assert stub.times(UPDATE) == 0


def test_another_route_is_set_proved_by_the_servers_own_preflight_and_restored_once(
    stub: Stub, pulse: PulseClient, clock: FakeClock
) -> None:
    server = SettingsServer(stub, clock)
    remembered: list[Any] = []
    lease = RouteLease.acquire(pulse, "OpenAI:gpt-4o", remember=remembered.append)
    assert server.puts == [{"patrol_model": "openai:gpt-4o"}]
    assert stub.times(PREFLIGHT) == 0
    assert remembered == [{"patrol_model": ""}]
    lease.close()
    lease.close()
    assert server.puts[1:] == [{"patrol_model": ""}]


def test_only_what_differs_is_changed(stub: Stub, pulse: PulseClient, clock: FakeClock) -> None:
    server = SettingsServer(stub, clock, enabled=False, patrol_model="codex-subscription:gpt")
    lease = RouteLease.acquire(pulse, "codex-subscription:gpt")
    assert server.puts == [{"enabled": True, "codex_subscription_enabled": True}]
    lease.close()
    assert server.puts[1:] == [{"enabled": False, "codex_subscription_enabled": False}]


def test_enabling_the_same_route_needs_proof_that_is_newer_than_the_old_one(
    stub: Stub, pulse: PulseClient, clock: FakeClock
) -> None:
    server = SettingsServer(stub, clock, patrol_model="claude-subscription:opus")
    server.settings["patrol_preflight"] = server.evidence(recorded_at_unix=START_S + 3)
    RouteLease.acquire(pulse, "claude-subscription:opus")
    assert clock.now().instant_ns // 10**9 > START_S + 3
    assert server.settings["patrol_preflight"]["recorded_at_unix"] > START_S + 3


def test_proof_of_another_route_is_not_waited_past(stub: Stub, pulse: PulseClient, clock: FakeClock) -> None:
    server = SettingsServer(stub, clock)
    server.settings["patrol_preflight"] = server.evidence(model="other", recorded_at_unix=START_S + 30)
    RouteLease.acquire(pulse, "openai:gpt-4o")
    assert clock.ns < 5 * 10**9


@pytest.mark.parametrize(
    ("proof", "reason"),
    [
        ({"success": False, "cause": "provider_auth", "message": "bad key"}, r"\[provider_auth\]: bad key"),
        ({"tool_call_observed": False, "summary": "answered in prose"}, "answered in prose"),
        ({"tool_call_observed": False}, "made no tool call"),
    ],
)
def test_a_route_that_proves_nothing_is_given_back(
    stub: Stub, pulse: PulseClient, clock: FakeClock, proof: dict[str, Any], reason: str
) -> None:
    server = SettingsServer(stub, clock, patrol_model="openai:before")
    server.proof.update(proof)
    with pytest.raises(RouteError, match=reason) as caught:
        RouteLease.acquire(pulse, "openai:gpt-4o")
    assert caught.value.exit_code == 3
    assert server.puts == [{"patrol_model": "openai:gpt-4o"}, {"patrol_model": "openai:before"}]


def test_proof_that_never_comes_is_waited_for_no_longer_than_the_limit_and_given_back(
    stub: Stub, pulse: PulseClient, clock: FakeClock
) -> None:
    server = SettingsServer(stub, clock)
    server.polls_until_proof = 10**9
    with pytest.raises(Exception, match="no evidence yet"):
        RouteLease.acquire(pulse, "openai:gpt-4o")
    assert 45 * 10**9 <= clock.ns < 50 * 10**9
    assert server.puts[-1] == {"patrol_model": ""}


def test_when_restoring_fails_too_both_errors_are_told(
    stub: Stub, pulse: PulseClient, clock: FakeClock
) -> None:
    server = SettingsServer(stub, clock)
    server.proof["success"] = False

    def once(asked: Asked) -> Answer:
        return server.update(asked) if not server.puts else Answer({"error": "storage_full"}, 507)

    stub.on(UPDATE, once)
    with pytest.raises(RouteError, match=r"failed its preflight.*restoring the settings failed.*507"):
        RouteLease.acquire(pulse, "openai:gpt-4o")


def test_restoring_is_tried_again_until_its_own_deadline(
    stub: Stub, pulse: PulseClient, clock: FakeClock
) -> None:
    server = SettingsServer(stub, clock)
    lease = RouteLease.acquire(pulse, "openai:gpt-4o")
    failures = iter([Answer(status=500, raw=b"no")] * 3)
    stub.on(UPDATE, lambda asked: next(failures, None) or server.update(asked))
    lease.close()
    assert server.settings["patrol_model"] == ""


def test_a_server_that_is_ready_for_another_model_is_refused(
    stub: Stub, pulse: PulseClient, clock: FakeClock
) -> None:
    SettingsServer(stub, clock)
    stub.on(STATUS, Answer({"readiness": {"ready": True, "provider": "openai", "model": "other"}}))
    with pytest.raises(RouteError, match="ready for openai:other"):
        RouteLease.acquire(pulse)


@pytest.mark.parametrize("model", ["gpt-4o", ":gpt-4o", "openai:", " : "])
def test_half_a_route_is_refused_before_anything_is_changed(
    stub: Stub, pulse: PulseClient, clock: FakeClock, model: str
) -> None:
    server = SettingsServer(stub, clock)
    with pytest.raises(RouteError, match="no model route"):
        RouteLease.acquire(pulse, model)
    assert server.puts == []


def test_a_refused_update_leaves_nothing_to_restore_but_is_restored_all_the_same(
    stub: Stub, pulse: PulseClient, clock: FakeClock
) -> None:
    server = SettingsServer(stub, clock)
    answers = iter([Answer({"error": "no_provider"}, 400)])
    stub.on(UPDATE, lambda asked: next(answers, None) or server.update(asked))
    with pytest.raises(HTTPError):
        RouteLease.acquire(pulse, "openai:gpt-4o")
    assert server.puts == [{"patrol_model": ""}]


@pytest.mark.parametrize(
    ("route", "settings", "seconds"),
    [
        ("openai:gpt-4o", {}, 45),
        ("openai:gpt-4o", {"openai_base_url": "https://api.openai.com/v1"}, 45),
        ("openai:m", {"openai_base_url": "http://127.0.0.1:8081/v1"}, 315),
        ("openai:m", {"openai_base_url": "http://host/v1", "request_timeout_seconds": 600}, 615),
        ("openai:m", {"openai_base_url": "http://host/v1", "request_timeout_seconds": 10}, 45),
        ("ollama:qwen3:8b", {}, 315),
        ("codex-subscription:gpt", {}, 135),
        ("claude-subscription:opus", {}, 135),
        ("anthropic:claude", {}, 45),
    ],
)
def test_slow_routes_get_the_time_they_need(route: str, settings: dict[str, Any], seconds: float) -> None:
    assert lease_seconds(Route.parse(route), Settings(**settings), 45) == seconds


@pytest.mark.parametrize(
    ("provider", "settings", "kind"),
    [
        ("control", {}, "control"),
        ("ollama", {}, "local_model_server"),
        ("openai", {}, "metered_api"),
        ("openai", {"openai_base_url": "http://127.0.0.1:8081/v1"}, "local_model_server"),
        ("openai", {"openai_base_url": "http://192.168.1.5/v1"}, "local_model_server"),
        ("openai", {"openai_base_url": "https://models.example.com/v1"}, "metered_api"),
        ("anthropic", {"openai_base_url": "http://127.0.0.1/v1"}, "metered_api"),
        ("zai", {"zai_base_url": "https://api.z.ai/api/coding/paas/v4"}, "coding_plan_allowance"),
        ("zai", {"zai_base_url": "https://api.z.ai/api/paas/v4"}, "metered_api"),
        ("codex-subscription", {}, "local_subscription_agent"),
    ],
)
def test_a_provider_and_its_endpoint_give_the_inference_route(
    provider: str, settings: dict[str, Any], kind: str
) -> None:
    assert route_kind(provider, Settings(**settings)) == kind


@pytest.mark.parametrize(
    ("text", "provider", "model"),
    [("ollama:qwen3:8b", "ollama", "qwen3:8b"), (" OpenAI : gpt ", "openai", "gpt"), ("gpt", "", "gpt")],
)
def test_a_route_is_split_at_its_first_colon(text: str, provider: str, model: str) -> None:
    assert Route.parse(text) == Route(provider, model)
