"""Investigations and actions over HTTP, from a finding to a verified repair."""

from __future__ import annotations

import threading
from typing import Any

import httpx
import pytest

from tests.patrol.fakes import Bench, no_help
from tests.patrol.test_api import TOKEN, client, finished, url

__all__ = ["client", "url"]


def investigated(client: httpx.Client, finding_id: str) -> dict[str, Any]:
    pause = threading.Event()
    for _ in range(600):
        answer = client.get(f"/api/ai/findings/{finding_id}/investigation")
        if answer.status_code == 200 and answer.json()["status"] not in ("pending", "running"):
            return dict(answer.json())
        pause.wait(0.01)
    pytest.fail("the investigation did not end")


def patrolled(client: httpx.Client, level: str) -> dict[str, Any]:
    """The ended investigation of the one finding of a run in mode `level`."""
    changed = {"autonomy_level": level, "full_mode_unlocked": level == "full"}
    client.put("/api/ai/patrol/autonomy", json=changed)
    record = finished(client, client.post("/api/ai/patrol/run").json()["run_id"])
    return investigated(client, record["finding_ids"][0])


def settled(client: httpx.Client, action_id: str) -> dict[str, Any]:
    pause = threading.Event()
    for _ in range(600):
        told = client.get(f"/api/actions/{action_id}").json()
        if told["audit"]["state"] in ("completed", "failed", "rejected", "expired"):
            return dict(told)
        pause.wait(0.01)
    pytest.fail("the action did not end")


def test_an_investigation_is_snake_case_and_its_plan_camel_case(client: httpx.Client) -> None:
    told = patrolled(client, "approval")
    assert (told["status"], told["outcome"]) == ("completed", "fix_queued")
    assert {
        "finding_id",
        "session_id",
        "turn_count",
        "evidence_call_count",
        "tools_used",
        "evidence_ids",
    } <= set(told)
    assert told["action"]["plan"]["planHash"].startswith("sha256:")
    assert "calls" not in told
    messages = client.get(f"/api/ai/findings/{told['finding_id']}/investigation/messages").json()
    assert len(messages["tool_calls"]) == told["tool_call_count"]


def test_a_person_approves_and_executes(client: httpx.Client, bench: Bench) -> None:
    action = patrolled(client, "approval")["action"]
    path, plan_hash = f"/api/actions/{action['action_id']}", action["plan"]["planHash"]
    pending = client.get("/api/actions?view=pending").json()
    assert [one["id"] for one in pending["actions"]] == [action["action_id"]]
    assert pending["actions"][0]["resource"]["name"] == "api"
    before = client.get(path).json()
    assert before["audit"]["origin"]["surface"] == "patrol"
    assert before["readiness"] == {"decidable": True, "executable": False}
    decided = client.post(
        f"{path}/decision", json={"outcome": "approved", "reason": "go", "planHash": plan_hash}
    ).json()
    assert (decided["state"], decided["approval"]["actor"]["kind"]) == ("approved", "user")
    ended = client.post(f"{path}/execute", json={"reason": "go", "planHash": plan_hash}).json()
    assert (ended["state"], ended["result"]["success"]) == ("completed", True)
    assert ended["audit"]["verificationOutcome"]["status"] == "verified"
    after = client.get(path).json()
    assert [one["kind"] for one in after["events"]] == ["planned", "decision", "dispatch", "verification"]
    assert after["attempt"]["before"]["health"] == "unhealthy"
    assert client.get("/api/actions?view=settled").json()["count"] == 1
    assert client.get("/api/ai/patrol/findings").json() == []
    assert len(bench.engine.operated) == 1


def test_a_person_rejects(client: httpx.Client, bench: Bench) -> None:
    action = patrolled(client, "approval")["action"]
    path = f"/api/actions/{action['action_id']}"
    body = {"outcome": "rejected", "reason": "no", "planHash": action["plan"]["planHash"]}
    assert client.post(f"{path}/decision", json=body).json()["state"] == "rejected"
    refused = client.post(f"{path}/execute", json={})
    assert (refused.status_code, refused.json()["error"]) == (409, "action_not_approved")
    assert bench.engine.operated == []


def test_another_hash_and_another_kind_of_actor_are_refused(
    client: httpx.Client, url: str, bench: Bench
) -> None:
    action = patrolled(client, "approval")["action"]
    path = f"/api/actions/{action['action_id']}/decision"
    wrong = client.post(path, json={"outcome": "approved", "planHash": "sha256:" + "0" * 64})
    assert (wrong.status_code, wrong.json()["error"]) == (409, "action_plan_identity_mismatch")
    machine = httpx.post(url + path, json={"outcome": "approved"}, headers={"x-api-token": TOKEN})
    assert (machine.status_code, machine.json()["error"]) == (403, "action_approval_forbidden")
    assert bench.engine.operated == []


def test_an_expired_plan_is_refused(client: httpx.Client, bench: Bench) -> None:
    action = patrolled(client, "approval")["action"]
    bench.clock.advance(301)
    late = client.post(f"/api/actions/{action['action_id']}/decision", json={"outcome": "approved"})
    assert (late.status_code, late.json()["error"]) == (409, "action_plan_expired")


def test_in_full_mode_policy_repairs_without_any_decision(client: httpx.Client, bench: Bench) -> None:
    action = patrolled(client, "full")["action"]
    told = settled(client, action["action_id"])
    assert (told["audit"]["state"], told["audit"]["verificationOutcome"]["status"]) == (
        "completed",
        "verified",
    )
    assert [one["actor"]["kind"] for one in told["audit"]["approvals"]] == ["policy"]
    assert told["audit"]["approvals"][0]["policyLease"]["planHash"] == action["plan"]["planHash"]
    assert len(bench.engine.operated) == 1


def test_a_repair_that_does_not_help_stays_visible(client: httpx.Client, bench: Bench) -> None:
    bench.engine.effect = no_help
    action = patrolled(client, "full")["action"]
    told = settled(client, action["action_id"])
    assert told["audit"]["verificationOutcome"]["status"] == "failed"
    assert len(client.get("/api/ai/patrol/findings").json()) == 1


def test_in_monitor_nothing_is_investigated(client: httpx.Client) -> None:
    record = finished(client, client.post("/api/ai/patrol/run").json()["run_id"])
    answer = client.get(f"/api/ai/findings/{record['finding_ids'][0]}/investigation")
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
    assert (
        client.get(f"/api/ai/findings/{record['finding_ids'][0]}/investigation/messages").status_code == 404
    )


@pytest.mark.parametrize("ident", ["act_1", "act_" + "G" * 32, "x", "act_" + "0" * 33])
def test_an_id_of_another_form_is_refused(client: httpx.Client, ident: str) -> None:
    answer = client.get(f"/api/actions/{ident}")
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_id")


def test_the_emergency_stop_and_locks_are_set_and_hold(client: httpx.Client, bench: Bench) -> None:
    stop, lock = "/api/ai/patrol/emergency-stop", f"/api/resources/{bench.resource_id('api')}/operator-state"
    assert client.get(stop).json() == {"active": False}
    assert client.get(lock).json()["never_auto_remediate"] is False
    action = patrolled(client, "approval")["action"]
    path = f"/api/actions/{action['action_id']}/decision"
    assert client.put(stop, json={"active": True}).json() == {"active": True}
    assert client.post(path, json={"outcome": "approved"}).json()["error"] == "action_execution_unavailable"
    client.put(stop, json={"active": False})
    assert client.put(lock, json={"never_auto_remediate": True}).json()["never_auto_remediate"] is True
    assert client.post(path, json={"outcome": "approved"}).json()["error"] == "resource_remediation_locked"
    client.put(lock, json={"never_auto_remediate": False})
    assert client.post(path, json={"outcome": "approved"}).json()["state"] == "approved"
    assert client.put(stop, json={"active": 1}).status_code == 400
    assert client.put(lock, json={}).json()["error"] == "operator_state_invalid"


def test_resources_show_what_they_offer(client: httpx.Client) -> None:
    one = client.get("/api/resources?q=api").json()["data"][0]
    assert one["capabilities"] == ["stop", "restart"]
