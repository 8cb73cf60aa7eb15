"""Waiting for what a server shows: paging, names, runs, investigations, actions."""

from __future__ import annotations

from typing import Any

import pytest

from harness.client.errors import (
    AmbiguousNameError,
    BusyError,
    DeadlineError,
    HTTPError,
    LostRunError,
    ReplyError,
    ScopeError,
)
from harness.client.waiting import PulseClient
from tests.harness.client.stub import Answer, Asked, Stub
from tests.harness.runner.fakes import FakeClock

MINUTE = 60 * 10**9
START = "POST /api/ai/patrol/run"
RUNS = "GET /api/ai/patrol/runs"
STATUS = "GET /api/ai/patrol/status"


def resource(number: int, name: str = "") -> dict[str, Any]:
    return {"id": f"r{number}", "type": "app-container", "name": name or f"c{number}", "docker": {}}


def pages(everything: list[dict[str, Any]]) -> Any:
    def serve(asked: Asked) -> Answer:
        page, limit = int(asked.query["page"]), int(asked.query["limit"])
        assert limit <= 100
        meta = {
            "page": page,
            "limit": limit,
            "total": len(everything),
            "totalPages": -(-len(everything) // limit),
        }
        return Answer({"data": everything[(page - 1) * limit : page * limit], "meta": meta})

    return serve


def record(run_id: str, **more: Any) -> dict[str, Any]:
    return {"id": run_id, "started_at": "2026-07-14T15:04:06Z", "status": "healthy", **more}


def idle(**more: Any) -> Answer:
    return Answer({"running": False, **more})


def accept(stub: Stub, run_id: str = "17") -> None:
    stub.on(RUNS, Answer([]))
    stub.on(START, Answer({"success": True, "run_id": run_id, "message": "started"}))


def wait(pulse: PulseClient, names: dict[str, str], minutes: int = 1, objection: str = "") -> Any:
    return pulse.wait_for_resources(names, minutes * MINUTE, 5 * 10**9, lambda _: objection)


def test_a_fixture_on_the_third_page_is_found(stub: Stub, pulse: PulseClient) -> None:
    stub.on("GET /api/resources", pages([resource(number) for number in range(250)]))
    assert wait(pulse, {"api": "c249"})["api"].id == "r249"
    assert stub.times("GET /api/resources") == 3


def test_a_server_without_page_counts_has_one_page(stub: Stub, pulse: PulseClient) -> None:
    stub.on("GET /api/resources", Answer({"data": [resource(1)]}))
    assert wait(pulse, {"api": "c1"})["api"].id == "r1"
    assert stub.times("GET /api/resources") == 1


def test_a_server_that_claims_endless_pages_comes_to_an_end(stub: Stub, pulse: PulseClient) -> None:
    stub.on("GET /api/resources", Answer({"data": [resource(1)], "meta": {"totalPages": 2**40}}))
    with pytest.raises(ReplyError, match="more than"):
        pulse.list_resources()


def test_one_name_on_two_resources_is_ambiguous_and_never_the_first(stub: Stub, pulse: PulseClient) -> None:
    twins = [resource(number) for number in range(150)] + [resource(900, "c3")]
    stub.on("GET /api/resources", pages(twins))
    with pytest.raises(AmbiguousNameError, match="r3, r900"):
        wait(pulse, {"api": "c3"})


def test_the_same_resource_on_two_pages_is_one(stub: Stub, pulse: PulseClient) -> None:
    twins = [resource(number) for number in range(100)] + [resource(3)]
    stub.on("GET /api/resources", pages(twins))
    assert wait(pulse, {"api": "c3"})["api"].id == "r3"


def test_a_resource_of_another_kind_does_not_spoil_the_list(stub: Stub, pulse: PulseClient) -> None:
    host = {"id": "h", "name": "host", "type": "docker-host", "docker": {"health": {"score": 1}}}
    stub.on("GET /api/resources", Answer({"data": [host, resource(1)]}))
    shown = {one.name: one.docker for one in pulse.list_resources()}
    assert shown["host"] is None
    assert shown["c1"] is not None


def test_names_match_exactly(stub: Stub, pulse: PulseClient) -> None:
    stub.on("GET /api/resources", Answer({"data": [resource(1, "C1"), resource(2, "c1-x")]}))
    with pytest.raises(DeadlineError, match="names not exposed: c1"):
        wait(pulse, {"api": "c1"})


def test_the_deadline_tells_unseen_from_unconverged(stub: Stub, pulse: PulseClient) -> None:
    stub.on("GET /api/resources", Answer({"data": [resource(1)]}))
    with pytest.raises(DeadlineError, match="did not converge: health is starting"):
        wait(pulse, {"api": "c1"}, objection="health is starting")


def test_errors_of_single_requests_are_waited_out(stub: Stub, pulse: PulseClient) -> None:
    stub.on(
        "GET /api/resources",
        Answer(status=500, raw=b"no"),
        Answer(raw=b"{broken"),
        Answer({"data": [resource(1)]}),
    )
    assert wait(pulse, {"api": "c1"})["api"].id == "r1"


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_password_is_not_waited_out(stub: Stub, pulse: PulseClient, status: int) -> None:
    stub.on("GET /api/resources", Answer(status=status, raw=b"no"))
    with pytest.raises(HTTPError):
        wait(pulse, {"api": "c1"})
    assert len(stub.asked) == 1


def test_a_run_is_bound_to_its_accepted_id_even_when_another_ends_first(
    stub: Stub, pulse: PulseClient
) -> None:
    accept(stub, "17")
    stub.on(STATUS, Answer({"running": True, "current_run_id": "17"}))
    stub.on(RUNS + "/17", Answer({"error": "not_found"}, 404), Answer(record("17", ai_analysis="ours")))
    stub.on(RUNS, Answer([record("16")]))
    assert pulse.trigger_and_wait((), MINUTE).ai_analysis == "ours"


def test_tool_calls_are_asked_for(stub: Stub, pulse: PulseClient) -> None:
    accept(stub)
    stub.on(RUNS + "/17", Answer(record("17")))
    pulse.trigger_and_wait((), MINUTE)
    assert stub.asked[-1].query == {"include": "tool_calls"}


def test_a_record_of_another_run_is_refused(stub: Stub, pulse: PulseClient) -> None:
    accept(stub)
    stub.on(RUNS + "/17", Answer(record("18")))
    with pytest.raises(ReplyError, match="answered with 18"):
        pulse.trigger_and_wait((), MINUTE)


def test_a_full_run_sends_an_empty_object_and_a_scoped_one_nothing_but_ids(
    stub: Stub, pulse: PulseClient
) -> None:
    accept(stub)
    scoped = record("17", scope_resource_ids=["a", "b"], effective_scope_resource_ids=["a"])
    stub.on(RUNS + "/17", Answer(scoped))
    pulse.trigger_and_wait((), MINUTE)
    pulse.trigger_and_wait(("a", "b"), MINUTE)
    bodies = [asked.body for asked in stub.asked if asked.method == "POST"]
    assert bodies == [{}, {"resource_ids": ["a", "b"]}]


@pytest.mark.parametrize("code", ["patrol_already_running", ""])
def test_a_busy_server_is_tried_again(stub: Stub, pulse: PulseClient, code: str) -> None:
    accept(stub)
    stub.on(
        START,
        Answer({"error": "Patrol is busy", "code": code}, 409),
        Answer({"success": True, "run_id": "17"}),
    )
    stub.on(RUNS + "/17", Answer(record("17")))
    assert pulse.trigger_and_wait((), MINUTE).id == "17"


def test_a_server_that_is_busy_for_ever_is_no_failure_of_the_subject(stub: Stub, pulse: PulseClient) -> None:
    accept(stub)
    stub.on(START, Answer({"error": "x!", "code": "patrol_already_running"}, 409))
    with pytest.raises(BusyError) as caught:
        pulse.trigger_and_wait((), MINUTE)
    assert caught.value.exit_code == 4


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (409, "patrol_disabled"),
        (409, "patrol_readiness_not_ready"),
        (422, "patrol_scope_unresolved"),
        (429, "patrol_rate_limited"),
        (400, "invalid_patrol_scope"),
        (500, ""),
    ],
)
def test_a_refusal_is_final(stub: Stub, pulse: PulseClient, status: int, code: str) -> None:
    accept(stub)
    details = {"unmatched_resource_ids": "a,b", "ambiguous_resource_ids": "c"}
    stub.on(START, Answer({"error": "No!", "code": code, "details": details}, status))
    with pytest.raises(HTTPError) as caught:
        pulse.trigger_and_wait(("a",), MINUTE)
    assert stub.times(START) == 1
    assert caught.value.code == code
    assert caught.value.details["unmatched_resource_ids"] == "a,b"
    assert "a,b" in str(caught.value)


def test_an_accepted_run_that_leaves_no_record_is_given_up_after_fifteen_seconds(
    stub: Stub, pulse: PulseClient, clock: FakeClock
) -> None:
    accept(stub)
    stub.on(STATUS, idle())
    stub.on(RUNS + "/17", Answer({"error": "not_found"}, 404))
    with pytest.raises(LostRunError, match="left no durable record"):
        pulse.trigger_and_wait((), 10 * MINUTE)
    assert 15 * 10**9 < clock.ns < 25 * 10**9


def test_a_run_that_is_still_shown_is_not_lost(stub: Stub, pulse: PulseClient) -> None:
    accept(stub)
    stub.on(STATUS, Answer({"running": False, "current_run_id": "17"}))
    stub.on(RUNS + "/17", *[Answer({"error": "not_found"}, 404)] * 20, Answer(record("17")))
    assert pulse.trigger_and_wait((), 10 * MINUTE).id == "17"


def test_a_run_that_never_ends_meets_its_deadline(stub: Stub, pulse: PulseClient) -> None:
    accept(stub)
    stub.on(STATUS, Answer({"running": True, "current_run_id": "17"}))
    stub.on(RUNS + "/17", Answer({"error": "not_found"}, 404))
    with pytest.raises(DeadlineError, match="run 17 has no record yet"):
        pulse.trigger_and_wait((), MINUTE)


def test_an_old_server_gives_the_one_new_run_that_fits(stub: Stub, pulse: PulseClient) -> None:
    old = record("1", started_at="2020-01-01T00:00:00Z")
    foreign = record("3", scope_resource_ids=["z"], effective_scope_resource_ids=["z"])
    ours = record("4", scope_resource_ids=["a"], effective_scope_resource_ids=["a"])
    stub.on(RUNS, Answer([record("2")]), Answer([foreign, old, record("2")]), Answer([ours, foreign, old]))
    stub.on(START, Answer({"success": True}))
    assert pulse.trigger_and_wait(("a",), MINUTE).id == "4"


def test_two_runs_that_fit_are_one_too_many(stub: Stub, pulse: PulseClient) -> None:
    stub.on(RUNS, Answer([]), Answer([record("3"), record("4")]))
    stub.on(START, Answer({"success": True}))
    with pytest.raises(LostRunError, match="2 new runs"):
        pulse.trigger_and_wait((), MINUTE)


@pytest.mark.parametrize(
    ("scope", "effective", "reason"),
    [(["a"], ["a"], "was not asked about b"), (["a", "b"], [], "none of the requested")],
)
def test_a_run_over_another_scope_is_refused(
    stub: Stub, pulse: PulseClient, scope: list[str], effective: list[str], reason: str
) -> None:
    accept(stub)
    done = record("17", scope_resource_ids=scope, effective_scope_resource_ids=effective)
    stub.on(RUNS + "/17", Answer(done))
    with pytest.raises(ScopeError, match=reason):
        pulse.trigger_and_wait(("a", "b"), MINUTE)


def test_an_investigation_that_is_not_there_yet_is_waited_for(stub: Stub, pulse: PulseClient) -> None:
    path = "GET /api/ai/findings/f1/investigation"
    stub.on(
        path,
        Answer({"error": "not_found"}, 404),
        Answer({"id": "i", "status": "pending"}),
        Answer({"id": "i", "status": ""}),
        Answer({"id": "i", "status": "running"}),
        Answer({"id": "i", "status": "needs_attention"}),
    )
    assert pulse.wait_for_investigation("f1", MINUTE).status == "needs_attention"
    assert stub.times(path) == 5


def test_a_server_without_an_orchestrator_fails_at_once(stub: Stub, pulse: PulseClient) -> None:
    stub.on("GET /api/ai/findings/f1/investigation", Answer({"error": "not_initialized"}, 503))
    with pytest.raises(HTTPError) as caught:
        pulse.wait_for_investigation("f1", MINUTE)
    assert caught.value.code == "not_initialized"


@pytest.mark.parametrize("state", ["completed", "failed", "rejected", "expired"])
def test_an_action_is_waited_for_until_it_is_terminal(stub: Stub, pulse: PulseClient, state: str) -> None:
    stub.on(
        "GET /api/actions/act_1",
        Answer({"audit": {"id": "act_1", "state": "executing"}}),
        Answer({"audit": {"id": "act_1", "state": state}}),
    )
    assert pulse.wait_for_action("act_1", MINUTE).audit.state == state


def test_a_read_error_ends_the_wait_for_an_action(stub: Stub, pulse: PulseClient) -> None:
    stub.on("GET /api/actions/act_1", Answer({"error": "action_not_found", "message": "no"}, 404))
    with pytest.raises(HTTPError):
        pulse.wait_for_action("act_1", MINUTE)


def test_an_action_is_kept_in_the_spelling_of_the_server(stub: Stub, pulse: PulseClient) -> None:
    raw = b'{ "z": 1.50, "audit": {"state": "completed", "id": "act_1"}, "a": 1e3 }'
    stub.on("GET /api/actions/act_1", Answer(raw=raw))
    view = pulse.action("act_1")
    assert view.raw.text == '{"z":1.50,"audit":{"state":"completed","id":"act_1"},"a":1e3}'


def test_deciding_and_executing_always_name_the_plan(stub: Stub, pulse: PulseClient) -> None:
    stub.on("POST /api/actions/act_1/decision", Answer({}))
    stub.on("POST /api/actions/act_1/execute", Answer({}))
    pulse.decide("act_1", "approved", "because", "sha256:aa")
    pulse.execute("act_1", "because", "sha256:aa")
    decision, execution = (asked.body for asked in stub.asked)
    assert decision == {"outcome": "approved", "reason": "because", "planHash": "sha256:aa"}
    assert execution == {"reason": "because", "planHash": "sha256:aa"}


def test_without_a_plan_hash_nothing_is_sent(stub: Stub, pulse: PulseClient) -> None:
    with pytest.raises(ValueError, match="hash of its plan"):
        pulse.decide("act_1", "approved", "because", "")
    with pytest.raises(ValueError, match="hash of its plan"):
        pulse.execute("act_1", "because", "")
    assert stub.asked == []


@pytest.mark.parametrize("code", ["action_plan_identity_mismatch", "action_plan_expired"])
def test_a_plan_that_is_not_the_one_is_refused_by_code(stub: Stub, pulse: PulseClient, code: str) -> None:
    stub.on("POST /api/actions/act_1/decision", Answer({"error": code, "message": "no"}, 409))
    with pytest.raises(HTTPError) as caught:
        pulse.decide("act_1", "approved", "because", "sha256:aa")
    assert (caught.value.status, caught.value.code) == (409, code)


@pytest.mark.parametrize("run_id", ["../settings/ai", "1?limit=1", "a/b", "%2e%2e"])
def test_an_id_of_the_server_cannot_lead_to_another_path(stub: Stub, pulse: PulseClient, run_id: str) -> None:
    pulse.run(run_id)
    assert stub.asked[0].path.count("/") == 5
    assert stub.asked[0].query == {"include": "tool_calls"}
