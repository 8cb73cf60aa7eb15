"""One model session: turns, admitted calls, and an end that always comes (assistant safety, section 8)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Protocol

from patrol.clock import Clock
from patrol.errors import Cause, ProviderError
from patrol.loop.admission import EVIDENCE_TOOLS, Admission, Admitted, Refused
from patrol.loop.trace import traced
from patrol.providers.base import Call, Message, Provider, Reply, Request, UnparsableReplyError
from patrol.records import ToolCall
from patrol.safety.classifier import EXEMPT_TOOLS
from patrol.safety.machine import Kind, SafetyMachine, State
from patrol.tools.registry import Code, Registry, ToolResult, failure

PARALLEL = 4
OUTPUT_TO_MODEL = 16 * 1024
UNPARSABLE_IN_A_ROW = 2
CLOSING = "No further tool can be called. Conclude in a few sentences from what the tools have shown."
UNPARSABLE = "Your last message could not be read. Answer with one well-formed tool call, or with plain text."
UNVERIFIED = "The change made by {tool} has not been verified yet, so nothing can be concluded about it."


class TimeLimitError(ProviderError):
    """A session did not conclude within its time."""


class Emit(Protocol):
    """Tells whoever watches the stream what happens."""

    def __call__(self, kind: str, **members: object) -> None: ...


@dataclass(frozen=True, slots=True)
class Plan:
    """One pass: the names of the tools it offers, how many turns it may take, and what else ends it.

    `done` ends a pass that has nothing left to do; only a pass that `concludes` is asked for closing words.
    """

    tools: tuple[str, ...]
    turns: int
    report_budget: int | None = None
    done: Callable[[], bool] | None = None
    concludes: bool = False


@dataclass(slots=True)
class Session:
    """The passes of one run share transcript counts, safety state and token sums."""

    provider: Provider
    registry: Registry
    clock: Clock
    stop: threading.Event
    emit: Emit
    after_turn: Callable[[], None]
    token_limit: int = 0
    deadline: float | None = None
    calls: list[ToolCall] = field(default_factory=list)
    input_tokens: int = 0
    output_tokens: int = 0
    turns: int = 0
    evidence_calls: int = 0
    evidence_ids: list[str] = field(default_factory=list)
    machine: SafetyMachine = field(init=False)
    admission: Admission = field(init=False)

    def __post_init__(self) -> None:
        self.machine = SafetyMachine(self.clock.now_ns)
        self.admission = Admission(self.machine, self.registry)

    def run(self, plan: Plan, opening: Sequence[Message]) -> str:
        """Let the model work through one pass and give its closing text. Raises ProviderError."""
        transcript = list(opening)
        self.admission.report_budget = plan.report_budget
        tools = self.registry.offered(plan.tools)
        unparsable = 0
        for _ in range(plan.turns):
            self._check_limits()
            try:
                reply = self._ask(Request(transcript, tools))
            except UnparsableReplyError as exc:
                unparsable += 1
                if unparsable > UNPARSABLE_IN_A_ROW:
                    raise ProviderError(Cause.NO_TOOLS, f"no readable answer: {exc.message}") from exc
                transcript.append(Message("user", UNPARSABLE))
                continue
            unparsable = 0
            if not reply.calls and self._may_conclude(transcript, reply):
                return reply.text
            self._turn(transcript, reply, plan)
            if plan.done is not None and plan.done():
                return reply.text
        return self._close(transcript) if plan.concludes else ""

    def _check_limits(self) -> None:
        if self.stop.is_set():
            raise ProviderError(Cause.INTERRUPTED, "the runtime is shutting down")
        if self.deadline is not None and self.clock.monotonic() >= self.deadline:
            raise TimeLimitError(Cause.INTERRUPTED, "the time limit of this session is reached")
        if self.token_limit and self.input_tokens + self.output_tokens >= self.token_limit:
            raise ProviderError(Cause.BILLING, f"the token limit of a run ({self.token_limit}) is reached")

    def _ask(self, request: Request) -> Reply:
        self.turns += 1
        reply = self.provider.complete(request, self.stop)
        self.input_tokens += reply.input_tokens
        self.output_tokens += reply.output_tokens
        if reply.text:
            self.emit("content", content=reply.text)
        return reply

    def _may_conclude(self, transcript: list[Message], reply: Reply) -> bool:
        if self.machine.can_final_answer() is None:
            return True
        tool = self.machine.last_write_tool
        transcript.append(Message("user", UNVERIFIED.format(tool=tool)))
        return False

    def _close(self, transcript: list[Message]) -> str:
        """Ask once more without any tool, so that a model that only ever calls tools still concludes."""
        if self.machine.can_final_answer() is not None:
            raise ProviderError(
                Cause.INTERNAL, "unverified change: the turn limit was reached before a check"
            )
        self._check_limits()
        closing = [*transcript, Message("user", CLOSING)]
        try:
            return self._ask(Request(closing)).text
        except UnparsableReplyError as exc:
            raise ProviderError(Cause.NO_TOOLS, f"no readable conclusion: {exc.message}") from exc

    def _turn(self, transcript: list[Message], reply: Reply, plan: Plan) -> None:
        if not reply.calls:
            return
        transcript.append(Message("assistant", reply.text, calls=reply.calls))
        verdicts = self.admission.turn(reply.calls, plan.tools)
        for verdict, (result, started, ended) in zip(verdicts, self._execute(verdicts), strict=True):
            self._record(verdict.call, result, started, ended)
            self._advance(verdict, result)
            content = result.text[:OUTPUT_TO_MODEL]
            transcript.append(Message("tool", content, call_id=verdict.call.id))
        self.after_turn()

    def _execute(self, verdicts: Sequence[Admitted | Refused]) -> list[tuple[ToolResult, int, int]]:
        """Run what was admitted: side by side where nothing depends on order, else one after the other."""
        if any(isinstance(one, Admitted) and one.tool_class.kind is Kind.WRITE for one in verdicts):
            return [self._one(verdict) for verdict in verdicts]
        with ThreadPoolExecutor(PARALLEL) as pool:
            return list(pool.map(self._one, verdicts))

    def _one(self, verdict: Admitted | Refused) -> tuple[ToolResult, int, int]:
        started = self.clock.now_ns()
        call = verdict.call
        self.emit("tool_start", tool_id=call.id, tool_name=call.name, tool_raw_input=traced(call))
        if isinstance(verdict, Refused):
            return verdict.result, started, self.clock.now_ns()
        try:
            result = self.registry.execute(call.name, verdict.arguments, call.id)
        except Exception as exc:  # noqa: BLE001 - one broken call is its own error, never its siblings'
            result = failure(Code.EXECUTION_FAILED, f"{call.name} failed ({type(exc).__name__})")
        return result, started, self.clock.now_ns()

    def _record(self, call: Call, result: ToolResult, started: int, ended: int) -> None:
        first, last = started // 1_000_000, ended // 1_000_000
        record = ToolCall(
            id=call.id,
            tool_name=call.name,
            input=traced(call),
            output=result.text,
            success=result.ok,
            start_time=first,
            end_time=last,
            duration_ms=last - first,
        )
        self.calls.append(record)
        self.emit(
            "tool_end",
            tool_id=call.id,
            tool_name=call.name,
            tool_output=result.text[:2048],
            tool_success=result.ok,
        )

    def _advance(self, verdict: Admitted | Refused, result: ToolResult) -> None:
        if isinstance(verdict, Refused):
            return
        if verdict.call.name in EVIDENCE_TOOLS:
            self.evidence_calls += 1
            if result.ok:
                self.evidence_ids.append(f"evidence-{verdict.call.id}")
        if not result.ok:
            return
        if verdict.call.name not in EXEMPT_TOOLS:
            self.machine.on_success(verdict.tool_class.kind, verdict.call.name)
            if self.machine.state is State.VERIFYING:
                self.machine.complete_verification()
        self.machine.check_recovery_success(verdict.call.name)
