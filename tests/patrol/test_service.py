"""One run at a time, reserved before anybody is told, and settings that fence off what is late."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from patrol.config import ProviderSettings
from patrol.errors import ApiError, Cause, ProviderError
from patrol.loop.watch import RunRequest
from patrol.preflight import check_route
from patrol.providers.base import Provider, Reply, Request, UnparsableReplyError
from patrol.service import PatrolService
from tests.patrol.fakes import Bench, FakeModel, call, calls


class Gate(FakeModel):
    """A model that answers only once the gate is opened."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = threading.Event()
        self.open = threading.Event()

    def complete(self, request: Request, stop: threading.Event) -> Reply:
        self.asked.set()
        self.open.wait(10)
        return calls(call("verify_pulse_patrol", ok=True))


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Gate:
    """From now on every route leads to this one model."""
    made = Gate()

    def make(route: str, settings: ProviderSettings, clock: object) -> Provider:
        made.route = route
        return made

    monkeypatch.setattr("patrol.service.make_provider", make)
    monkeypatch.setattr("patrol.settings.make_provider", make)
    return made


def until(holds: Callable[[], bool]) -> None:
    pause = threading.Event()
    for _ in range(1000):
        if holds():
            return
        pause.wait(0.005)
    pytest.fail("did not happen in time")


def test_of_two_simultaneous_triggers_one_is_accepted(service: PatrolService, gate: Gate) -> None:
    outcomes: list[str] = []
    together = threading.Barrier(2)

    def trigger() -> None:
        together.wait()
        try:
            outcomes.append(service.trigger(RunRequest()).run_id)
        except ApiError as refused:
            outcomes.append(f"{refused.status} {refused.code}")

    threads = [threading.Thread(target=trigger) for _ in range(2)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert sorted(outcomes)[1] == "409 patrol_already_running"
    current = service.current
    assert current is not None
    assert current.id == sorted(outcomes)[0]
    gate.open.set()
    until(lambda: service.current is None)
    assert len(service.watcher.store.runs(9)) == 1


def test_the_run_is_current_before_the_trigger_returns_and_recorded_when_not(
    service: PatrolService, gate: Gate
) -> None:
    accepted = service.trigger(RunRequest())
    assert service.current is not None
    assert (service.current.id, service.watcher.store.run(accepted.run_id)) == (accepted.run_id, None)
    with pytest.raises(ApiError) as busy:
        service.trigger(RunRequest())
    assert busy.value.details == {"current_run_id": accepted.run_id}
    gate.open.set()
    until(lambda: service.current is None)
    assert service.watcher.store.run(accepted.run_id) is not None


def test_an_unresolved_scope_reserves_nothing(service: PatrolService) -> None:
    with pytest.raises(ApiError) as refused:
        service.trigger(RunRequest(resource_ids=("machine", "nobody", "none")))
    assert (refused.value.status, refused.value.code) == (422, "patrol_scope_unresolved")
    assert refused.value.details == {"unmatched_resource_ids": "nobody,none", "ambiguous_resource_ids": ""}
    assert service.current is None
    assert service.watcher.store.unfinished_runs() == []


def test_disabled_refuses_full_runs_first(service: PatrolService) -> None:
    service.desk.update({"patrol_enabled": False})
    with pytest.raises(ApiError) as refused:
        service.trigger(RunRequest())
    assert (refused.value.status, refused.value.code) == (409, "patrol_disabled")


def test_an_impossible_route_is_not_ready(service: PatrolService) -> None:
    service.desk.update({"patrol_model": "openai:gpt"})
    with pytest.raises(ApiError) as refused:
        service.trigger(RunRequest(resource_ids=("machine",)))
    assert refused.value.code == "patrol_readiness_not_ready"
    assert refused.value.details == {"status": "not_ready", "cause": "provider_auth"}


def test_the_mode_limits_of_autonomy_are_checked(service: PatrolService) -> None:
    desk = service.desk
    assert desk.autonomy().as_json()["effective_autonomy_level"] == "monitor"
    assert desk.put_autonomy({"autonomy_level": "full"}).as_json()["effective_autonomy_level"] == "assisted"
    assert desk.put_autonomy({"full_mode_unlocked": True}).as_json()["effective_autonomy_level"] == "full"
    assert desk.autonomy().level == "full"
    for wrong in (
        {"autonomy_level": "root"},
        {"investigation_budget": 4},
        {"investigation_budget": 31},
        {"investigation_timeout_sec": 0},
        {"full_mode_unlocked": 1},
    ):
        with pytest.raises(ApiError):
            desk.put_autonomy(wrong)


def test_a_changed_route_starts_one_preflight_and_the_same_route_none(
    service: PatrolService, gate: Gate
) -> None:
    gate.open.set()
    desk = service.desk
    desk.update({"patrol_model": "control:reference"})
    assert not gate.asked.is_set()
    desk.update({"patrol_model": "openai:other"})
    until(lambda: desk.cached() is not None)
    cached = desk.cached()
    assert cached is not None
    assert (cached.route, cached.success) == ("openai:other", True)


def test_a_late_preflight_of_an_earlier_route_is_fenced_off(service: PatrolService, gate: Gate) -> None:
    desk = service.desk
    desk.update({"patrol_model": "openai:slow"})
    until(gate.asked.is_set)
    desk.update({"patrol_model": "control:silent"})
    assert desk.cached() is None
    gate.open.set()
    until(lambda: desk.cached() is not None)
    cached = desk.cached()
    assert cached is not None
    assert cached.route == "control:silent"
    desk.update({"patrol_model": "openai:slow", "enabled": False})
    assert desk.cached() is None


def test_a_preflight_of_another_route_is_not_shown_for_this_one(service: PatrolService) -> None:
    outcome = service.desk.preflight({"provider": "control", "model": "silent"})
    assert outcome.success
    assert service.desk.cached() is None
    assert service.desk.preflight({}).success
    assert service.desk.as_json()["patrol_preflight"] is not None


def test_a_failed_connection_blocks_and_a_missing_tool_call_warns(service: PatrolService, gate: Gate) -> None:
    def answer(outcome: Reply | Exception) -> None:
        model = FakeModel(outcome)
        gate.complete = model.complete  # type: ignore[method-assign]

    answer(ProviderError(Cause.CONNECTION, "gone"))
    service.desk.preflight({})
    assert service.readiness()["status"] == "not_ready"
    answer(Reply("I am a text"))
    service.desk.preflight({})
    assert (service.readiness()["status"], service.readiness()["ready"]) == ("warning", True)
    answer(calls(call("verify_pulse_patrol", ok=True)))
    service.desk.preflight({})
    assert service.readiness()["status"] == "ready"


def test_a_stale_source_is_a_warning(service: PatrolService, bench: Bench) -> None:
    service.desk.preflight({})
    bench.engine.broken = True
    for _ in range(3):
        with pytest.raises(Exception, match="down"):
            bench.collector.collect()
    assert service.readiness()["status"] == "warning"


@pytest.mark.parametrize(
    ("turn", "success", "observed", "cause"),
    [
        (calls(call("verify_pulse_patrol", ok=True)), True, True, ""),
        (calls(call("other_tool")), False, False, "model_unsupported_tools"),
        (Reply("words"), False, False, "model_unsupported_tools"),
        (UnparsableReplyError("x"), False, False, "model_unsupported_tools"),
        (ProviderError(Cause.AUTH, "no", hint="key?"), False, False, "provider_auth"),
    ],
)
def test_preflight_outcomes(
    bench: Bench, turn: Reply | Exception, success: bool, observed: bool, cause: str
) -> None:
    model = FakeModel(turn)
    outcome = check_route("openai:a:b", lambda _: model, bench.clock, threading.Event())
    told = outcome.as_json()
    assert (told["success"], told["tool_call_observed"], told.get("cause", "")) == (success, observed, cause)
    assert (told["provider"], told["model"]) == ("openai", "a:b")
    assert model.requests[0].max_tokens == 256
    assert model.closed


def test_settings_refuse_wrong_types_and_ignore_strangers(service: PatrolService) -> None:
    desk = service.desk
    desk.update({"unheard_of": 1, "patrol_model": None})
    assert desk.current().route == "control:reference"
    for wrong in ({"enabled": "yes"}, {"patrol_model": 3}):
        with pytest.raises(ApiError):
            desk.update(wrong)
    desk.update({"patrol_model": " control:silent "})
    assert (desk.current().route, desk.current().model) == ("control:silent", "control:reference")
    desk.update({"patrol_model": ""})
    assert desk.current().route == "control:reference"


def test_particulars_tell_campaigns_apart_and_hold_no_secret(service: PatrolService) -> None:
    told = service.desk.particulars()
    assert {"tool_choice", "prefill", "temperature", "max_tokens", "prompt_digest", "turns_scoped"} <= set(
        told
    )
    assert all(isinstance(value, str) for value in told.values())


def test_a_shutdown_during_a_run_records_it_as_interrupted(service: PatrolService, gate: Gate) -> None:
    accepted = service.trigger(RunRequest())
    until(gate.asked.is_set)
    service.stop.set()
    gate.open.set()
    service.join()
    ended = service.watcher.store.run(accepted.run_id)
    assert ended is not None
    assert (ended.status, ended.error_cause) == ("error", "interrupted")
