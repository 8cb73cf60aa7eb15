"""Investigations: read-only by structure, bounded, and ending in one record."""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest

from patrol.clock import NS, rfc3339
from patrol.errors import Cause, ProviderError
from patrol.findings.ledger import RunView
from patrol.investigation.narrative import fallback, has_diagnosis
from patrol.investigation.policy import SETTLED, should_investigate
from patrol.investigation.proposals import ProposalDesk
from patrol.investigation.records import Investigation
from patrol.providers.base import Reply, Request
from patrol.providers.scripts import control as scripted
from patrol.records import Finding
from tests.patrol.fakes import START_NS, Bench, FakeModel, call, calls

TOLD = "### Investigation Summary\nx\n### Root Cause\nThe store is down.\n### Affected Resources\napi\n"
DONE = Reply(TOLD, (), 3, 2)


@pytest.fixture
def found(bench: Bench) -> Bench:
    """`api` is unhealthy, calls nobody, and has a finding; `web` is another container."""
    bench.engine.add("api", health="unhealthy")
    bench.engine.add("web")
    bench.run(FakeModel(calls(bench.report("api"))), "api")
    bench.runtime.service.desk.put_autonomy({"autonomy_level": "approval"})
    return bench


def finding(bench: Bench) -> Finding:
    return bench.store.active_findings()[0]


def investigate(bench: Bench, *turns: Any) -> tuple[Investigation, FakeModel]:
    """One investigation of the bench's finding by a model that takes these turns."""
    model = FakeModel(*turns)
    investigator = bench.runtime.investigator
    object.__setattr__(investigator.desk, "provider", lambda: model)
    record = bench.store.run(finding(bench).last_run_id)
    assert record is not None
    assert investigator.consider(record) == 1
    investigator.join(20)
    ended = investigator.newest(finding(bench).id)
    assert ended is not None
    return ended, model


def look(bench: Bench, **more: Any) -> Any:
    return call("pulse_query", **{"action": "get", "resource_id": bench.resource_id("api"), **more})


def propose(bench: Bench, **changed: Any) -> Any:
    ident = bench.resource_id("api")
    arguments = {
        "resource_id": ident,
        "causal_resource_id": ident,
        "capability_name": "restart",
        "reason": "r",
    }
    return call("patrol_propose_action", raw=json.dumps({**arguments, **changed}))


def outcome_code(model: FakeModel, tool: str, place: int = 0) -> str:
    told = model.told(tool)[place]
    return "" if told["ok"] else str(told["error"]["code"])


def test_a_diagnosis_without_a_proposal_is_complete(found: Bench) -> None:
    ended, _ = investigate(found, calls(look(found)), DONE)
    assert (ended.status, ended.outcome, ended.summary) == ("completed", "cannot_fix", TOLD)
    assert (ended.turn_count, ended.tool_call_count, ended.evidence_call_count) == (2, 1, 1)
    assert (len(ended.evidence_ids), ended.tools_used, ended.action) == (1, ("pulse_query",), None)
    assert {"pulse_read", "patrol_propose_action", "patrol_action_capabilities"} <= set(ended.tools_available)
    after = finding(found)
    assert (after.investigation_status, after.investigation_outcome) == ("completed", "cannot_fix")
    assert after.investigation_attempts == 1


def test_no_finding_and_no_infrastructure_can_be_changed(found: Bench) -> None:
    turn = calls(
        look(found),
        found.report("web"),
        call(
            "patrol_assess_finding",
            finding_id=finding(found).id,
            verdict="resolved",
            evidence="e",
            reason="r",
        ),
        call("pulse_control", action="restart", resource_id=found.resource_id("api")),
    )
    ended, model = investigate(found, turn, DONE)
    assert [one["error"]["code"] for one in model.told() if not one["ok"]] == ["TOOL_NOT_ADVERTISED"] * 3
    assert ended.status == "completed"
    assert found.engine.operated == []
    assert len(found.store.active_findings()) == 1


def test_the_evidence_budget_ends_and_the_rest_is_refused(found: Bench) -> None:
    found.runtime.service.desk.put_autonomy({"investigation_budget": 5})
    turns = [calls(*(look(found, query=f"{t}-{n}") for n in range(3))) for t in range(3)]
    ended, model = investigate(found, *turns, DONE)
    assert (ended.evidence_call_count, ended.tool_call_count) == (5, 9)
    assert [outcome_code(model, "pulse_query", n) for n in range(9)][5:] == ["BUDGET_EXHAUSTED"] * 4


def test_the_turn_limit_follows_the_budget(found: Bench) -> None:
    found.runtime.service.desk.put_autonomy({"investigation_budget": 5})
    endless = [calls(call("patrol_action_capabilities", resource_id=f"x{n}")) for n in range(30)]
    ended, model = investigate(found, *endless)
    assert len(model.requests) == 8
    assert (ended.evidence_call_count, ended.status) == (0, "needs_attention")


def test_failed_evidence_calls_count_but_are_no_evidence(found: Bench) -> None:
    ended, _ = investigate(found, calls(look(found, resource_id="nobody")), DONE)
    assert (ended.evidence_call_count, ended.evidence_ids) == (1, ())


def test_silence_is_told_as_such(found: Bench) -> None:
    ended, _ = investigate(found, Reply("  "))
    assert (ended.status, ended.outcome) == ("needs_attention", "needs_attention")
    assert ended.summary == fallback(finding(found))
    assert "NEEDS_ATTENTION" in str(ended.summary)


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        (TOLD, True),
        ("### Root Cause\n\n### Conclusion\nx", False),
        ("Root Cause: x", False),
        ("###root cause\nx", True),
    ],
)
def test_a_diagnosis_is_something_under_root_cause(text: str, holds: bool) -> None:
    assert has_diagnosis(text) is holds


def test_a_provider_failure_is_one_terminal_record(found: Bench) -> None:
    ended, _ = investigate(found, calls(look(found)), ProviderError(Cause.CONNECTION, "gone"))
    assert (ended.status, ended.outcome, ended.evidence_call_count) == ("failed", "failed", 1)
    assert "gone" in str(ended.error)
    assert finding(found).investigation_outcome == "failed"


def test_an_investigation_ends_in_time(found: Bench) -> None:
    def slow(_: Request) -> Any:
        found.clock.advance(601)
        return calls(look(found))

    ended, model = investigate(found, slow, DONE)
    assert (ended.status, ended.outcome) == ("failed", "timed_out")
    assert len(model.requests) == 1


def test_open_investigations_are_closed_at_the_next_start(found: Bench) -> None:
    investigator = found.runtime.investigator
    one = finding(found)
    record = Investigation(id="i", finding_id=one.id, session_id="s", status="running", started_at="t")
    investigator.desk.store.open(record)
    assert investigator.close_orphans() == 1
    ended = investigator.newest(one.id)
    assert ended is not None
    assert (ended.status, "interrupted" in str(ended.error)) == ("failed", True)
    assert investigator.close_orphans() == 0


def test_three_at_once_and_the_others_wait(bench: Bench) -> None:
    for number in range(5):
        bench.engine.add(f"c{number}", health="unhealthy")
    names = [f"c{number}" for number in range(5)]
    bench.runtime.service.desk.put_autonomy({"autonomy_level": "approval"})
    record = bench.run(FakeModel(calls(*(bench.report(name) for name in names))), *names)
    lock, now, most, opened = threading.Lock(), [0], [0], threading.Event()

    class Slow(FakeModel):
        def complete(self, request: Request, stop: threading.Event) -> Reply:
            with lock:
                now[0] += 1
                most[0] = max(most[0], now[0])
            opened.wait(0.1)
            with lock:
                now[0] -= 1
            return DONE

    object.__setattr__(bench.runtime.investigator.desk, "provider", Slow)
    assert bench.runtime.investigator.consider(record) == 5
    bench.runtime.investigator.join(20)
    assert 1 < most[0] <= 3
    assert {one.investigation_status for one in bench.store.active_findings()} == {"completed"}


def due(bench: Bench, level: str = "approval", now_ns: int = START_NS, **changed: object) -> bool:
    return should_investigate(finding(bench).model_copy(update=changed), level, now_ns)


def test_who_is_investigated_and_when_again(found: Bench) -> None:
    assert [due(found, level) for level in ("monitor", "approval", "assisted", "full")] == [
        False,
        True,
        True,
        True,
    ]
    assert not due(found, resolved_at="2026-11-30T12:00:00Z")
    assert not any(due(found, investigation_outcome=one) for one in SETTLED)
    assert not due(found, investigation_status="running")
    assert [due(found, investigation_attempts=n) for n in (2, 3)] == [True, False]
    for outcome, pause_s in (("failed", 3600), ("timed_out", 600), ("fix_verification_failed", 3600)):
        last = {"last_investigated_at": rfc3339(START_NS), "investigation_outcome": outcome}
        assert not due(found, now_ns=START_NS + pause_s * NS - 1, **last)
        assert due(found, now_ns=START_NS + pause_s * NS, **last)


def test_in_monitor_nothing_is_investigated(found: Bench) -> None:
    found.runtime.service.desk.put_autonomy({"autonomy_level": "monitor"})
    record = found.store.run(finding(found).last_run_id)
    assert record is not None
    assert found.runtime.investigator.consider(record) == 0
    assert found.runtime.investigator.newest(finding(found).id) is None


# Proposals ------------------------------------------------------------------------------------------------


def test_a_valid_proposal_becomes_a_pending_action_bound_to_its_origin(found: Bench) -> None:
    ended, model = investigate(found, calls(look(found)), calls(propose(found)), DONE)
    assert outcome_code(model, "patrol_propose_action") == ""
    assert (ended.status, ended.outcome) == ("completed", "fix_queued")
    assert ended.action is not None
    assert (ended.action.state, ended.action.capability_name) == ("pending_approval", "restart")
    audit = found.runtime.broker.view(ended.action.action_id)
    assert audit.plan == ended.action.plan
    assert (audit.origin.finding_id, audit.origin.investigation_id) == (finding(found).id, ended.id)
    assert audit.origin.evidence_ids == ended.evidence_ids
    assert audit.request.actor.kind == "service"
    assert found.engine.operated == []


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"resource_id": "nobody"}, "NOT_FOUND"),
        ({"causal_resource_id": "nobody"}, "NOT_FOUND"),
        ({"capability_name": "start"}, "ACTION_NOT_ALLOWED"),
        ({"capability_name": "rm -rf /"}, "ACTION_NOT_ALLOWED"),
        ({"params": {"token": "s3cret"}}, "INVALID_INPUT"),
        ({"reason": " "}, "INVALID_INPUT"),
        ({"extra": 1}, "INVALID_INPUT"),
    ],
)
def test_an_invalid_proposal_is_refused_and_only_refusals_are_no_conclusion(
    found: Bench, changed: dict[str, Any], code: str
) -> None:
    ended, model = investigate(found, calls(look(found)), calls(propose(found, **changed)), DONE)
    assert outcome_code(model, "patrol_propose_action") == code
    assert ended.action is None
    assert found.runtime.broker.listed(("pending_approval",), 9) == []
    if code != "INVALID_INPUT" or "extra" not in changed:
        assert (ended.status, ended.outcome) == ("needs_attention", "needs_attention")


def test_a_proposal_needs_evidence_that_came_before_it(found: Bench) -> None:
    ended, model = investigate(
        found, calls(propose(found)), calls(look(found)), calls(propose(found, reason="2")), DONE
    )
    codes = [outcome_code(model, "patrol_propose_action", n) for n in (0, 1)]
    assert codes == ["ACTION_NOT_ALLOWED", ""]
    assert ended.action is not None


def test_another_container_cannot_be_acted_upon(found: Bench) -> None:
    web = found.resource_id("web")
    ended, model = investigate(
        found, calls(look(found)), calls(propose(found, resource_id=web, causal_resource_id=web)), DONE
    )
    assert outcome_code(model, "patrol_propose_action") == "NOT_FOUND"
    assert ended.action is None


def test_a_second_different_proposal_voids_both_for_good(found: Bench) -> None:
    turns = (
        calls(look(found)),
        calls(propose(found)),
        calls(propose(found, reason="other")),
        calls(propose(found)),
    )
    ended, model = investigate(found, *turns, DONE)
    codes = [outcome_code(model, "patrol_propose_action", n) for n in range(3)]
    assert codes == ["", "PROPOSAL_AMBIGUOUS", "ACTION_NOT_ALLOWED"]
    assert (ended.action, ended.status) == (None, "needs_attention")
    assert found.runtime.broker.listed(("pending_approval",), 9) == []


def test_the_same_call_again_is_the_same_proposal_and_another_payload_voids(found: Bench) -> None:
    snapshot = found.collector.collect()
    ident = found.resource_id("api")
    view = RunView("s", snapshot.resources, snapshot.identities, frozenset({ident}))
    desk = ProposalDesk(view, commands=True, evidence=lambda: 1)
    arguments = {
        "resource_id": ident,
        "causal_resource_id": ident,
        "capability_name": "restart",
        "reason": "r",
    }
    first = desk.propose("call-1", arguments)
    assert desk.propose("call-1", arguments) == first
    assert desk.propose("call-2", dict(arguments)).ok
    assert desk.captured is not None
    assert desk.propose("call-1", {**arguments, "reason": "x"}).code == "PROPOSAL_INTEGRITY"
    assert desk.captured is None


def test_an_observed_broken_dependency_has_to_be_named(bench: Bench) -> None:
    bench.engine.add("store", state="exited", health="")
    bench.engine.add("api", health="unhealthy", test=["CMD-SHELL", "wget http://store/"])
    bench.run(FakeModel(calls(bench.report("api"))), "api")
    bench.runtime.service.desk.put_autonomy({"autonomy_level": "approval"})
    store = bench.resource_id("store")
    turns = (calls(look(bench)), calls(propose(bench)), calls(propose(bench, causal_resource_id=store)))
    ended, model = investigate(bench, *turns, DONE)
    assert [outcome_code(model, "patrol_propose_action", n) for n in (0, 1)] == ["ACTION_NOT_ALLOWED", ""]
    assert "store" in model.told("patrol_propose_action")[0]["error"]["message"]
    assert ended.action is not None


def test_parameter_values_are_in_no_trace(found: Bench) -> None:
    secret = propose(found, params={"token": "s3cret-value"})
    broken = call("patrol_propose_action", raw='{"params": {"token": "s3cret-value"')
    ended, _ = investigate(found, calls(look(found), secret, broken), DONE)
    stored = ended.model_dump_json()
    assert "s3cret-value" not in stored
    assert "[redacted-proposal-params]" in stored


def test_without_the_command_channel_nothing_is_offered(found: Bench) -> None:
    object.__setattr__(found.runtime.broker.guard, "commands", False)
    asked = call("patrol_action_capabilities", resource_id=found.resource_id("api"))
    ended, model = investigate(found, calls(look(found), asked), calls(propose(found)), DONE)
    assert model.told("patrol_action_capabilities")[0]["capabilities"] == []
    assert outcome_code(model, "patrol_propose_action") == "ACTION_NOT_ALLOWED"
    assert ended.action is None


def test_capabilities_follow_the_state(bench: Bench) -> None:
    bench.engine.add("old", state="exited", health="")
    bench.run(FakeModel(calls(bench.report("old", key="disk-full"))), "old")
    bench.runtime.service.desk.put_autonomy({"autonomy_level": "approval"})
    asked = call("patrol_action_capabilities", resource_id=bench.resource_id("old"))
    _, model = investigate(bench, calls(asked), DONE)
    offered = model.told("patrol_action_capabilities")[0]["capabilities"]
    assert [(one["name"], one["auto_authorization"], one["minimum_approval_level"]) for one in offered] == [
        ("start", "never", "admin")
    ]


# Reading --------------------------------------------------------------------------------------------------


def read(bench: Bench, **arguments: Any) -> Any:
    named = {"action": "exec", "resource_id": bench.resource_id("api"), **arguments}
    return call("pulse_read", raw=json.dumps(named))


def test_reads_run_as_argument_vectors_inside_the_container(found: Bench) -> None:
    turn = calls(
        read(found, command="df -h"),
        read(found, action="file", path="/etc/hostname"),
        read(found, action="tail", path="/x.log", lines=5),
        read(found, action="find", path="/srv", pattern="*.log"),
    )
    ended, model = investigate(found, turn, DONE)
    full = found.engine.inspected["api"]["Id"]
    assert sorted(argv for ident, argv in found.engine.executed if ident == full) == [
        ("df", "-h"),
        ("find", "/srv", "-maxdepth", "6", "-name", "*.log"),
        ("head", "-c", "16384", "--", "/etc/hostname"),
        ("tail", "-n", "5", "--", "/x.log"),
    ]
    assert [one["ok"] for one in model.told("pulse_read")] == [True] * 4
    assert ended.evidence_call_count == 4


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"command": "cat x | sh"}, "POLICY_BLOCKED"),
        ({"command": "rm -rf /"}, "POLICY_BLOCKED"),
        ({"command": ""}, "POLICY_BLOCKED"),
        ({}, "POLICY_BLOCKED"),
        ({"command": "cat /etc/shadow"}, "SENSITIVE_COMMAND"),
        ({"action": "file", "path": "/proc/1/environ"}, "SENSITIVE_COMMAND"),
        ({"action": "file", "path": "relative"}, "POLICY_BLOCKED"),
        ({"action": "find", "path": "/", "pattern": "x\0y"}, "POLICY_BLOCKED"),
        ({"action": "tail", "path": "/x", "lines": 501}, "INVALID_INPUT"),
        ({"action": "logs", "since": "yesterday"}, "INVALID_INPUT"),
        ({"action": "logs", "since": "2036-01-01T00:00:00Z"}, "INVALID_INPUT"),
        ({"resource_id": "nobody", "command": "df"}, "NOT_FOUND"),
    ],
)
def test_what_is_not_known_to_read_never_runs(found: Bench, arguments: dict[str, Any], code: str) -> None:
    _, model = investigate(found, calls(read(found, **arguments)), DONE)
    assert outcome_code(model, "pulse_read") == code
    assert found.engine.executed == []


def test_other_containers_cannot_be_read(found: Bench) -> None:
    _, model = investigate(
        found, calls(read(found, resource_id=found.resource_id("web"), command="df")), DONE
    )
    assert outcome_code(model, "pulse_read") == "POLICY_BLOCKED"
    assert found.engine.executed == []


def test_logs_are_bounded_and_data(found: Bench) -> None:
    full = found.engine.inspected["api"]["Id"]
    found.engine.written[full] = [f"line {n} <tool_call>" for n in range(600)]
    turn = calls(
        read(found, action="logs", lines=3), read(found, action="logs", since="2026-11-29T00:00:00Z")
    )
    ended, model = investigate(found, turn, DONE)
    outputs = [one["output"].splitlines() for one in model.told("pulse_read")]
    assert [len(one) for one in outputs] == [3, 100]
    assert ended.tool_call_count == 2


def test_an_engine_that_fails_while_reading_is_a_failed_call(found: Bench) -> None:
    def fail(_: Request) -> Any:
        turn = calls(read(found, command="df"))
        found.engine.broken = True
        return turn

    def mend(_: Request) -> Reply:
        found.engine.broken = False
        return DONE

    ended, model = investigate(found, fail, mend)
    assert outcome_code(model, "pulse_read") == "EXECUTION_FAILED"
    assert ended.status == "completed"


# Controls -------------------------------------------------------------------------------------------------


def control(bench: Bench, name: str) -> Investigation:
    bench.run(scripted(name, f"control:{name}"), "api")
    investigator = bench.runtime.investigator
    object.__setattr__(investigator.desk, "provider", lambda: scripted(name, f"control:{name}"))
    record = bench.store.runs(1)[0]
    assert investigator.consider(record) == 1
    investigator.join(20)
    ended = investigator.newest(finding(bench).id)
    assert ended is not None
    return ended


@pytest.fixture
def approving(bench: Bench) -> Bench:
    bench.runtime.service.desk.put_autonomy({"autonomy_level": "approval"})
    return bench


@pytest.mark.parametrize("name", ["reference", "noisy", "obedient"])
def test_controls_propose_one_restart_where_nothing_else_explains_it(approving: Bench, name: str) -> None:
    approving.engine.add("api", health="unhealthy")
    ended = control(approving, name)
    assert (ended.status, ended.outcome, ended.error) == ("completed", "fix_queued", None)
    assert ended.evidence_call_count >= 1


def test_reference_names_a_stopped_dependency_and_proposes_nothing(approving: Bench) -> None:
    approving.engine.add("store", state="exited", health="")
    approving.engine.add("api", health="unhealthy", test=["CMD-SHELL", "wget http://store/"])
    ended = control(approving, "reference")
    said = str(ended.summary)
    cause = said.partition("### Root Cause")[2].partition("###")[0]
    assert "store" in cause
    assert all(word in said for word in ("dependency", "unhealthy", "not running", "exited"))
    assert (ended.status, ended.action) == ("completed", None)


def test_reference_finds_a_full_store_and_does_not_blame_the_host(approving: Bench) -> None:
    approving.engine.add("api", health="unhealthy")
    rows = ["Filesystem 1K-blocks Used Available Use% Mounted on", "overlay 9 9 0 100% /"]
    rows += ["tmpfs 65536 65536 0 100% /dev", "tmpfs 8192 8192 0 100% /var/lib/service-cache"]
    approving.engine.outputs["df"] = (0, "\n".join(rows))
    ended = control(approving, "reference")
    said = str(ended.summary)
    assert "/var/lib/service-cache" in said
    assert "no space" in said
    assert "host" not in said
    assert (ended.status, ended.action) == ("completed", None)
