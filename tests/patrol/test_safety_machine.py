"""The session safety state machine: its tables exhaustively, and every worked example."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable

import pytest

from patrol.safety.machine import RECOVERY_TTL_NS, Blocked, Kind, SafetyMachine, State

SECOND = 1_000_000_000


class Time:
    """A clock that the test sets."""

    def __init__(self) -> None:
        self.ns = 1000 * SECOND

    def __call__(self) -> int:
        return self.ns


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def machine(time: Time) -> SafetyMachine:
    return SafetyMachine(time)


TOOLS = {Kind.RESOLVE: "pulse_query", Kind.READ: "pulse_read", Kind.USER_INPUT: "pulse_question"}
LETTERS = {"R": Kind.RESOLVE, "d": Kind.READ, "W": Kind.WRITE, "U": Kind.USER_INPUT}


def act(machine: SafetyMachine, sequence: str) -> Blocked | None:
    """Play a sequence in the notation of the worked examples; gives what the last gate said."""
    last: Blocked | None = None
    steps: dict[str, Callable[[], Blocked | None]] = {
        "C": machine.complete_verification,
        "F": machine.can_final_answer,
        "reset": machine.reset,
        "keep": machine.reset_keep_progress,
    }
    for word in sequence.split():
        if word in steps:
            last = steps[word]()
            continue
        kind = LETTERS[word[0]]
        tool = TOOLS.get(kind, "pulse_control")
        last = None
        if word[1] == "?":
            last = machine.can_execute(kind, tool)
        elif word[1] == "+":
            machine.on_success(kind, tool)
    return last


@pytest.mark.parametrize("state", State)
@pytest.mark.parametrize("kind", [*Kind, "unheard-of"])
@pytest.mark.parametrize("raw", [False, True])
def test_gate_table(time: Time, state: State, kind: str, raw: bool) -> None:
    machine = SafetyMachine(time, state=state, read_after_write=raw)
    blocked = machine.can_execute(kind, "tool")
    changing = kind in (Kind.WRITE, "unheard-of")
    assert (blocked is not None) == (changing and state in (State.RESOLVING, State.VERIFYING))
    assert (machine.state, machine.read_after_write) == (state, raw)
    assert machine.consecutive_verify_blocks == (changing and state is State.VERIFYING)


@pytest.mark.parametrize("state", State)
@pytest.mark.parametrize("kind", [*Kind, "unheard-of"])
def test_transition_table(time: Time, state: State, kind: str) -> None:
    machine = SafetyMachine(time, state=state, consecutive_verify_blocks=3)
    machine.on_success(kind, "tool")
    if kind == Kind.USER_INPUT:
        assert machine.state is state
        assert machine.last_read_tool == ""
    elif kind in (Kind.RESOLVE, Kind.READ):
        assert machine.state is (State.READING if state is State.RESOLVING else state)
        assert machine.read_after_write == (state is State.VERIFYING)
        assert machine.consecutive_verify_blocks == (0 if state is State.VERIFYING else 3)
        assert (machine.last_read_tool, machine.last_read_at) == ("tool", time.ns)
    else:
        assert machine.state is State.VERIFYING
        assert machine.wrote_this_episode
        assert not machine.read_after_write
        assert machine.consecutive_verify_blocks == 3
        assert (machine.last_write_tool, machine.last_write_at) == ("tool", time.ns)


EXAMPLES = [
    # number, sequence, blocked at the end, state, wrote, read after write, counter
    (1, "", False, State.RESOLVING, False, False, 0),
    (2, "W?", True, State.RESOLVING, False, False, 0),
    (3, "d? R? U?", False, State.RESOLVING, False, False, 0),
    (4, "R+", False, State.READING, False, False, 0),
    (5, "d+", False, State.READING, False, False, 0),
    (6, "U+", False, State.RESOLVING, False, False, 0),
    (7, "dx", False, State.RESOLVING, False, False, 0),
    (8, "Rx W?", True, State.RESOLVING, False, False, 0),
    (9, "R+ W?", False, State.READING, False, False, 0),
    (10, "R+ Wx F", False, State.READING, False, False, 0),
    (11, "R+ W+", False, State.VERIFYING, True, False, 0),
    (12, "R+ W+ F", True, State.VERIFYING, True, False, 0),
    (13, "R+ W+ W?", True, State.VERIFYING, True, False, 1),
    (14, "R+ W+ W? W? W? W? W?", True, State.VERIFYING, True, False, 5),
    (15, "R+ W+ d+ F", False, State.VERIFYING, True, True, 0),
    (16, "R+ W+ d+ W?", True, State.VERIFYING, True, True, 1),
    (17, "R+ W+ d+ C", False, State.READING, True, False, 0),
    (18, "R+ W+ d+ C W?", False, State.READING, True, False, 0),
    (19, "R+ W+ R+ C", False, State.READING, True, False, 0),
    (20, "R+ W+ U+ F", True, State.VERIFYING, True, False, 0),
    (21, "R+ W+ dx F", True, State.VERIFYING, True, False, 0),
    (22, "R+ W+ C W?", True, State.VERIFYING, True, False, 1),
    (23, "R+ W+ d+ C W+ F", True, State.VERIFYING, True, False, 0),
    (24, "R+ W+ d+ d+ C", False, State.READING, True, False, 0),
    (25, "R+ W+ W? W? W? d+", False, State.VERIFYING, True, True, 0),
    (26, "R+ d+ d+ d+ d+ d+ d+ d+ d+ d+ d+", False, State.READING, False, False, 0),
    (27, "R+ W+ reset W?", True, State.RESOLVING, False, False, 0),
    (28, "R+ W+ keep F", False, State.READING, False, False, 0),
    (29, "keep W?", True, State.RESOLVING, False, False, 0),
    (30, "R+ d+ keep", False, State.READING, False, False, 0),
    (31, "F", False, State.RESOLVING, False, False, 0),
    (35, "W+", False, State.VERIFYING, True, False, 0),
    (46, "R+ W+ W?", True, State.VERIFYING, True, False, 1),
]


@pytest.mark.parametrize(
    ("number", "sequence", "blocked", "state", "wrote", "raw", "counter"),
    EXAMPLES,
    ids=[str(e[0]) for e in EXAMPLES],
)
def test_worked_example(
    machine: SafetyMachine,
    number: int,
    sequence: str,
    blocked: bool,
    state: State,
    wrote: bool,
    raw: bool,
    counter: int,
) -> None:
    last = act(machine, sequence)
    assert (last is not None) == blocked
    assert machine.state is state
    assert machine.wrote_this_episode == wrote
    assert machine.read_after_write == raw
    assert machine.consecutive_verify_blocks == counter


def test_example_6_a_question_leaves_no_trace_of_a_read(machine: SafetyMachine) -> None:
    act(machine, "U+")
    assert (machine.last_read_tool, machine.last_read_at) == ("", None)


def test_example_27_reset_forgets_everything(machine: SafetyMachine) -> None:
    machine.track_pending_recovery("FSM_BLOCKED", "pulse_control")
    act(machine, "R+ W+ d+ reset")
    assert machine.as_json() == SafetyMachine(Time()).as_json()
    assert machine.pending_recoveries() == ()


def test_example_28_a_new_episode_keeps_what_was_done(machine: SafetyMachine) -> None:
    machine.track_pending_recovery("FSM_BLOCKED", "pulse_control")
    act(machine, "R+ W+ keep")
    assert machine.last_write_tool == "pulse_control"
    assert machine.can_execute(Kind.WRITE, "pulse_control") is None
    assert len(machine.pending_recoveries()) == 1


def test_examples_32_and_33_only_the_same_tool_makes_a_block_good(machine: SafetyMachine) -> None:
    act(machine, "W?")
    machine.track_pending_recovery("FSM_BLOCKED", "pulse_control")
    act(machine, "R+")
    machine.on_success(Kind.WRITE, "pulse_docker")
    assert machine.check_recovery_success("pulse_docker") is None
    assert [one.tool for one in machine.pending_recoveries()] == ["pulse_control"]
    act(machine, "d+ C W+")
    recovered = machine.check_recovery_success("pulse_control")
    assert recovered is not None
    assert recovered.error_code == "FSM_BLOCKED"
    assert machine.pending_recoveries() == ()


@pytest.mark.parametrize(("age_ns", "found"), [(RECOVERY_TTL_NS, True), (RECOVERY_TTL_NS + SECOND, False)])
def test_example_34_a_block_is_remembered_for_ten_minutes(
    machine: SafetyMachine, time: Time, age_ns: int, found: bool
) -> None:
    machine.track_pending_recovery("FSM_BLOCKED", "pulse_control")
    time.ns += age_ns
    assert (machine.check_recovery_success("pulse_control") is not None) == found


def test_repeated_blocks_count_as_attempts_of_one_recovery(machine: SafetyMachine) -> None:
    first = machine.track_pending_recovery("FSM_BLOCKED", "pulse_control")
    assert machine.track_pending_recovery("FSM_BLOCKED", "pulse_control") == first
    assert machine.track_pending_recovery("STRICT_RESOLUTION", "pulse_control") != first
    oldest = machine.check_recovery_success("pulse_control")
    assert oldest is not None
    assert (oldest.recovery_id, oldest.attempts) == (first, 2)
    assert machine.pending_recoveries() == ()


def test_fifty_blocked_writes_do_not_wear_the_gate(machine: SafetyMachine) -> None:
    act(machine, "R+ W+")
    assert all(machine.can_execute(Kind.WRITE, "pulse_control") for _ in range(50))
    assert machine.consecutive_verify_blocks == 50


def test_no_write_passes_without_a_read_since_the_last_one(time: Time) -> None:
    for steps in itertools.product(["R+", "d+", "dx", "U+", "W", "C", "keep"], repeat=4):
        machine, owed, known = SafetyMachine(time), False, False
        for step in steps:
            if step == "W":
                if machine.can_execute(Kind.WRITE, "pulse_control") is None:
                    assert known
                    assert not owed
                    machine.on_success(Kind.WRITE, "pulse_control")
                    owed = True
            else:
                act(machine, step)
                known = known or step in ("R+", "d+")
                owed = owed and step not in ("R+", "d+", "keep")


def test_a_block_tells_the_model_a_code_and_no_next_tool(machine: SafetyMachine) -> None:
    act(machine, "R+ W+")
    blocked = machine.can_execute(Kind.WRITE, "pulse_control")
    assert blocked is not None
    assert blocked.payload("r-1") == {
        "ok": False,
        "error": {
            "code": "FSM_BLOCKED",
            "message": blocked.reason,
            "blocked": True,
            "retryable": True,
            "details": {
                "state": "VERIFYING",
                "tool": "pulse_control",
                "tool_kind": "write",
                "recoverable": True,
                "recovery_id": "r-1",
            },
        },
    }
    assert "POLICY_BLOCKED" in blocked.reason
    assert not any(word in json.dumps(blocked.payload()) for word in ("pulse_query", "Call ", "next tool"))


def test_a_blocked_conclusion_names_no_tool(machine: SafetyMachine) -> None:
    blocked = act(machine, "R+ W+ F")
    assert blocked is not None
    assert (blocked.tool_name, blocked.tool_kind, blocked.recoverable) == ("", "", True)
