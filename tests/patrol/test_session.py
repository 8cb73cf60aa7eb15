"""The loop around the state machine: admission, order, budgets, and an end that always comes."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping

import pytest

from patrol.errors import Cause, ProviderError, UsageError
from patrol.loop.admission import Admission, Admitted, Refused
from patrol.loop.session import CLOSING, PARALLEL, Plan, Session
from patrol.providers.base import Call, Message, Reply, UnparsableReplyError
from patrol.safety.machine import SafetyMachine, State
from patrol.schema import obj, text
from patrol.tools.registry import Code, Profile, Registry, Tool, ToolResult, failure, success
from tests.patrol.fakes import FakeClock, FakeModel, call, calls

OPENING = [Message("user", "go")]
ANY = obj({"action": text("x"), "n": {"type": "integer", "description": "n"}})


def tool(name: str, run: Callable[[Mapping[str, object]], ToolResult] = lambda _: success()) -> Tool:
    return Tool(name, "d", ANY, run)


def session(model: FakeModel, *tools: Tool, profile: Profile = Profile.DETECTION) -> Session:
    return Session(
        provider=model,
        registry=Registry(profile, tools),
        clock=FakeClock(),
        stop=threading.Event(),
        emit=lambda kind, **members: None,
        after_turn=lambda: None,
    )


def plan(
    made: Session, turns: int = 6, report_budget: int | None = None, done: Callable[[], bool] | None = None
) -> Plan:
    names = tuple(one.name for one in made.registry.offered())
    return Plan(names, turns, report_budget=report_budget, done=done, concludes=True)


def noting(seen: list[str], word: str) -> Callable[[Mapping[str, object]], ToolResult]:
    """A tool that writes down that it ran."""

    def run(_: Mapping[str, object]) -> ToolResult:
        seen.append(word)
        return success()

    return run


def codes(made: Session) -> list[str]:
    outputs = [json.loads(one.output) for one in made.calls]
    return ["" if one["ok"] else one["error"]["code"] for one in outputs]


def test_a_text_without_calls_is_the_conclusion() -> None:
    made = session(FakeModel(Reply("All is well.", (), 7, 3)), tool("pulse_query"))
    assert made.run(plan(made), OPENING) == "All is well."
    assert (made.input_tokens, made.output_tokens) == (7, 3)


def test_a_tool_that_was_not_offered_never_runs() -> None:
    ran: list[str] = []
    model = FakeModel(calls(call("pulse_execute_command", command="rm"), call("patrol_assess_finding")))
    made = session(model, tool("pulse_query"), tool("patrol_assess_finding", noting(ran, "x")))
    made.run(Plan(("pulse_query",), 3, concludes=True), OPENING)
    assert codes(made) == ["TOOL_NOT_ADVERTISED", "TOOL_NOT_ADVERTISED"]
    assert not ran
    assert made.machine.state is State.RESOLVING


def test_nobody_answers_questions_and_siblings_go_on() -> None:
    made = session(FakeModel(calls(call("pulse_question", q="?"), call("pulse_query"))), tool("pulse_query"))
    made.run(plan(made), OPENING)
    assert codes(made) == ["NO_USER", ""]


@pytest.mark.parametrize("raw", ["{", "[]", "3", '"x"', '{"a": 1} trailing', "nul"])
def test_arguments_that_are_no_object_are_an_error_result(raw: str) -> None:
    made = session(FakeModel(calls(call("pulse_query", raw=raw))), tool("pulse_query"))
    assert made.run(plan(made), OPENING)
    assert codes(made) == ["INVALID_INPUT"]
    assert made.calls[0].input == raw


def test_blank_arguments_are_an_empty_object() -> None:
    made = session(FakeModel(calls(call("pulse_query", raw=" "))), tool("pulse_query"))
    made.run(plan(made), OPENING)
    assert codes(made) == [""]


def test_the_fourth_identical_call_is_blocked_over_all_turns() -> None:
    turns = [
        calls(call("pulse_query", raw=raw)) for raw in ('{"n":1,"action":"a"}', '{"action": "a", "n": 1}') * 2
    ]
    made = session(FakeModel(*turns), tool("pulse_query"))
    made.run(plan(made), OPENING)
    assert codes(made) == ["", "", "", "LOOP_DETECTED"]


def test_a_breaking_tool_is_its_own_error() -> None:
    def broken(_: Mapping[str, object]) -> ToolResult:
        raise ZeroDivisionError

    made = session(
        FakeModel(calls(call("pulse_query"), call("pulse_metrics"))),
        tool("pulse_query", broken),
        tool("pulse_metrics"),
    )
    made.run(plan(made), OPENING)
    assert codes(made) == ["EXECUTION_FAILED", ""]


def test_reads_run_side_by_side_four_at_most_and_keep_their_order() -> None:
    lock, now, most = threading.Lock(), [0], [0]
    pause = threading.Event()

    def slow(arguments: Mapping[str, object]) -> ToolResult:
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        pause.wait(0.02 if arguments["n"] != 0 else 0.05)
        with lock:
            now[0] -= 1
        return success(n=arguments["n"])

    made = session(FakeModel(calls(*(call("pulse_query", n=n) for n in range(9)))), tool("pulse_query", slow))
    made.run(plan(made), OPENING)
    assert 1 < most[0] <= PARALLEL
    assert [json.loads(one.output)["n"] for one in made.calls] == list(range(9))


def test_a_turn_with_a_report_runs_in_order() -> None:
    order: list[str] = []
    get = tool("patrol_get_findings", noting(order, "get"))
    report = tool("patrol_report_finding", noting(order, "report"))
    made = session(
        FakeModel(
            calls(
                call("patrol_get_findings"), call("patrol_report_finding"), call("patrol_get_findings", n=2)
            )
        ),
        get,
        report,
    )
    made.run(plan(made), OPENING)
    assert order == ["get", "report", "get"]


def test_findings_are_written_without_a_look_first_and_leave_the_state_alone() -> None:
    made = session(FakeModel(calls(call("patrol_report_finding"))), tool("patrol_report_finding"))
    made.run(plan(made), OPENING)
    assert codes(made) == [""]
    assert made.machine.state is State.RESOLVING
    assert not made.machine.wrote_this_episode


def test_reading_advances_the_state_and_failing_does_not() -> None:
    made = session(FakeModel(calls(call("pulse_query"))), tool("pulse_query"))
    made.run(plan(made), OPENING)
    assert made.machine.state is State.READING
    bad = session(
        FakeModel(calls(call("pulse_query"))), tool("pulse_query", lambda _: ToolResult("{}", ok=False))
    )
    bad.run(plan(bad), OPENING)
    assert bad.machine.state is State.RESOLVING


def admission(state: State, profile: Profile = Profile.DETECTION) -> Admission:
    machine = SafetyMachine(lambda: 0, state=state)
    return Admission(machine, Registry(profile, ()))


def judged(gate: Admission, *names: str) -> list[str]:
    verdicts = gate.turn([Call(str(n), name, "{}") for n, name in enumerate(names)], names)
    return ["ok" if isinstance(one, Admitted) else one.result.code for one in verdicts]


def test_two_changes_in_one_turn_the_second_is_blocked() -> None:
    assert judged(admission(State.READING), "pulse_control", "pulse_control") == ["ok", "FSM_BLOCKED"]


def test_a_read_before_a_change_unlocks_nothing_in_the_same_turn() -> None:
    assert judged(admission(State.RESOLVING), "pulse_query", "pulse_control") == ["ok", "FSM_BLOCKED"]


def test_after_a_change_a_read_in_the_same_turn_is_admitted() -> None:
    assert judged(admission(State.READING), "pulse_control", "pulse_query") == ["ok", "ok"]


def test_several_reports_in_one_turn_are_no_changes_of_infrastructure() -> None:
    assert judged(admission(State.RESOLVING), *["patrol_report_finding"] * 3) == ["ok", "ok", "ok"]


def test_while_verifying_findings_are_blocked_like_any_change() -> None:
    assert judged(admission(State.VERIFYING), "patrol_assess_finding") == ["FSM_BLOCKED"]


def test_only_detection_exempts_findings_from_the_gate() -> None:
    assert judged(admission(State.RESOLVING, Profile.INVESTIGATION), "patrol_report_finding") == [
        "FSM_BLOCKED"
    ]


def test_a_blocked_call_names_its_recovery_and_success_clears_it() -> None:
    gate = admission(State.RESOLVING)
    verdict = gate.turn([Call("1", "pulse_control", "{}")], ["pulse_control"])[0]
    assert isinstance(verdict, Refused)
    details = json.loads(verdict.result.text)["error"]["details"]
    assert details["recovery_id"] == gate.machine.pending_recoveries()[0].recovery_id


def test_a_change_cannot_run_in_a_patrol_even_if_registered_and_offered() -> None:
    made = session(
        FakeModel(calls(call("pulse_query")), calls(call("pulse_control"))),
        tool("pulse_query"),
        tool("pulse_control"),
    )
    made.run(plan(made), OPENING)
    assert codes(made) == ["", "POLICY_BLOCKED"]
    assert not made.machine.wrote_this_episode


def test_an_unverified_change_is_no_conclusion() -> None:
    model = FakeModel(Reply("Done!"), calls(call("pulse_query")), Reply("Verified."))
    made = session(model, tool("pulse_query"))
    made.machine.on_success("write", "pulse_control")
    assert made.run(plan(made), OPENING) == "Verified."
    constraint = model.requests[1].messages[-1]
    assert (constraint.role, "pulse_control" in constraint.content) == ("user", True)
    assert "Done!" not in [one.content for one in model.requests[1].messages]


def test_a_limit_reached_with_an_unverified_change_is_an_error() -> None:
    model = FakeModel(*[Reply("Done!")] * 9)
    made = session(model, tool("pulse_query"))
    made.machine.on_success("write", "pulse_control")
    with pytest.raises(ProviderError, match="unverified change"):
        made.run(plan(made, turns=3), OPENING)
    assert len(model.requests) == 3


def test_at_the_turn_limit_a_closing_answer_is_asked_for_without_tools() -> None:
    model = FakeModel(*(calls(call("pulse_query", n=n)) for n in range(2)), Reply("Closed."))
    made = session(model, tool("pulse_query"))
    assert made.run(plan(made, turns=2), OPENING) == "Closed."
    assert len(model.requests) == 3
    assert model.requests[-1].tools == ()
    assert model.requests[-1].messages[-1].content == CLOSING


def test_a_pass_that_needs_no_words_ends_at_its_limit() -> None:
    model = FakeModel(*(calls(call("pulse_query", n=n)) for n in range(5)))
    made = session(model, tool("pulse_query"))
    assert made.run(Plan(("pulse_query",), 2), OPENING) == ""
    assert len(model.requests) == 2


def test_a_pass_ends_when_nothing_is_left_to_do() -> None:
    model = FakeModel(*(calls(call("pulse_query", n=n)) for n in range(5)))
    made = session(model, tool("pulse_query"))
    made.run(plan(made, done=lambda: len(made.calls) == 2), OPENING)
    assert len(model.requests) == 2


def test_reports_beyond_the_budget_are_refused() -> None:
    model = FakeModel(calls(*(call("patrol_report_finding", n=n) for n in range(3))))
    made = session(model, tool("patrol_report_finding"))
    made.run(plan(made, report_budget=2), OPENING)
    assert codes(made) == ["", "", "BUDGET_EXHAUSTED"]


def test_unreadable_output_costs_a_turn_and_three_in_a_row_the_run() -> None:
    unreadable = UnparsableReplyError("x")
    made = session(FakeModel(unreadable, unreadable, Reply("Well.")), tool("pulse_query"))
    assert made.run(plan(made), OPENING) == "Well."
    bad = session(FakeModel(unreadable, unreadable, unreadable), tool("pulse_query"))
    with pytest.raises(ProviderError) as failed:
        bad.run(plan(bad), OPENING)
    assert failed.value.cause is Cause.NO_TOOLS


def test_a_stop_is_noticed_between_turns() -> None:
    made = session(FakeModel(), tool("pulse_query"))
    made.stop.set()
    with pytest.raises(ProviderError) as failed:
        made.run(plan(made), OPENING)
    assert failed.value.cause is Cause.INTERRUPTED


def test_a_token_limit_ends_a_run_that_never_concludes() -> None:
    made = session(FakeModel(*(calls(call("pulse_query", n=n)) for n in range(9))), tool("pulse_query"))
    made.token_limit = 40
    with pytest.raises(ProviderError, match="token limit"):
        made.run(plan(made, turns=9), OPENING)
    assert made.input_tokens + made.output_tokens == 45


def test_the_profile_is_enforced_where_tools_run() -> None:
    registry = Registry(Profile.INVESTIGATION, [tool("patrol_report_finding")])
    assert registry.execute("patrol_report_finding", {}).code == "POLICY_BLOCKED"
    assert registry.execute("unknown", {}).code == "TOOL_NOT_ADVERTISED"


def test_a_tool_is_registered_once() -> None:
    with pytest.raises(UsageError, match="twice"):
        Registry(Profile.DETECTION, [tool("pulse_query"), tool("pulse_query")])


def test_a_failed_result_carries_a_code_for_the_model() -> None:
    told = json.loads(failure(Code.NOT_FOUND, "no", valid=[1]).text)
    assert told["error"]["details"] == {"valid": [1]}
    assert told["error"]["retryable"] is True
