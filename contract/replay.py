"""Replays: the tool calls of a run in order, to be followed without a server (evidence format, section 3)."""

from __future__ import annotations

from typing import Annotated, Final

from contract.errors import PatrolQualificationError
from contract.faults import DecodeError, Fault, pointer
from contract.jsontext import JsonSyntaxError, canonical_tool_input, string_text
from contract.record import OMIT, Record, decode_strict
from contract.report import Finding, RunReport, ToolCall
from contract.timestamps import Timestamp
from contract.truth import GroundTruth

SCHEMA_VERSION: Final = "patrol.qualification.replay/v1"


class ReplayError(PatrolQualificationError):
    """A call is not the one that was recorded next, or the recording was not followed to its end."""


class ToolExchange(Record):
    """One tool call with its canonical arguments and the answer it got; `sequence` counts from 1."""

    sequence: int
    tool_call_id: Annotated[str, OMIT] = ""
    tool_name: str
    canonical_input: str
    output: str
    success: bool


class ReplayBundle(Record):
    """Everything that is needed to follow a run again; schema `patrol.qualification.replay/v1`."""

    schema_version: str
    captured_at: Timestamp
    run_id: str
    manifest_id: str
    manifest_digest: str
    model: str
    ground_truth: GroundTruth
    tool_exchanges: tuple[ToolExchange, ...] | None
    ai_analysis: Annotated[str, OMIT] = ""
    findings: tuple[Finding, ...] | None
    replayable: bool
    replay_issues: Annotated[tuple[str, ...], OMIT] = ()


def build_replay(report: RunReport, captured_at: Timestamp) -> ReplayBundle:
    """The replay of a report; calls whose arguments are not JSON are kept, and make it not replayable."""
    exchanges, issues = [], []
    for sequence, call in enumerate(report.patrol_run.tool_calls, 1):
        try:
            canonical = canonical_tool_input(call.input)
        except JsonSyntaxError as exc:
            canonical = f'{{"captured_raw_input":{string_text(call.input)}}}'
            issues.append(f"tool call {call.id} input is not complete JSON: {exc.message}")
        exchanges.append(_exchange(sequence, call, canonical))
    return ReplayBundle(
        schema_version=SCHEMA_VERSION,
        captured_at=captured_at,
        run_id=report.run_id,
        manifest_id=report.ground_truth.manifest_id,
        manifest_digest=report.ground_truth.manifest_digest,
        model=report.environment.model,
        ground_truth=report.ground_truth,
        tool_exchanges=tuple(exchanges),
        ai_analysis=report.patrol_run.ai_analysis,
        findings=report.findings,
        replayable=not issues,
        replay_issues=tuple(issues),
    )


def load_replay(document: bytes, where: str = "") -> ReplayBundle:
    """Read replay.json strictly and check that it can be followed; `where` names it in errors.

    Raises DecodeError with every fault. The `replayable` flag is not consulted, only the issues are.
    """
    try:
        bundle = decode_strict(ReplayBundle, document)
    except DecodeError as exc:
        raise DecodeError(exc.faults, where=where) from exc
    if faults := _faults(bundle):
        raise DecodeError(faults, where=where)
    return bundle


class ReplaySession:
    """Answers tool calls as recorded, as long as they come in the recorded order."""

    def __init__(self, bundle: ReplayBundle) -> None:
        if faults := _faults(bundle):
            raise DecodeError(faults)
        self._exchanges = bundle.tool_exchanges or ()
        self._position = 0

    def call(self, tool_name: str, tool_input: str) -> ToolExchange:
        """The recorded exchange. Raises ReplayError, without moving on, for any other call than the next."""
        if self._position == len(self._exchanges):
            raise ReplayError(f"extra call of {tool_name}: all {self._position} recorded calls were made")
        recorded = self._exchanges[self._position]
        try:
            canonical = canonical_tool_input(tool_input)
        except JsonSyntaxError as exc:
            raise ReplayError(f"the arguments of {tool_name} are not JSON: {exc}") from exc
        if (tool_name, canonical) != (recorded.tool_name, recorded.canonical_input):
            raise ReplayError(
                f"call {recorded.sequence} was {recorded.tool_name} {recorded.canonical_input[:200]}, "
                f"not {tool_name} {canonical[:200]}"
            )
        self._position += 1
        return recorded

    def complete(self) -> None:
        """Raises ReplayError unless every recorded call was made."""
        if left := len(self._exchanges) - self._position:
            raise ReplayError(f"{left} recorded calls were not made")


def verify_replay(bundle: ReplayBundle) -> None:
    """Follow a replay by its own calls: ReplayError unless each of them is canonical and in order."""
    session = ReplaySession(bundle)
    for exchange in bundle.tool_exchanges or ():
        session.call(exchange.tool_name, exchange.canonical_input)
    session.complete()


def _exchange(sequence: int, call: ToolCall, canonical: str) -> ToolExchange:
    return ToolExchange(
        sequence=sequence,
        tool_call_id=call.id,
        tool_name=call.tool_name,
        canonical_input=canonical,
        output=call.output,
        success=call.success,
    )


def _faults(bundle: ReplayBundle) -> list[Fault]:
    faults = []
    if bundle.schema_version != SCHEMA_VERSION:
        faults.append(Fault("/schema_version", f"is {bundle.schema_version!r}, expected {SCHEMA_VERSION!r}"))
    if bundle.replay_issues:
        faults.append(
            Fault("/replay_issues", "the capture is incomplete: " + "; ".join(bundle.replay_issues))
        )
    for at, exchange in enumerate(bundle.tool_exchanges or ()):
        where = pointer("/tool_exchanges", at)
        if exchange.sequence != at + 1:
            faults.append(Fault(f"{where}/sequence", f"is {exchange.sequence}, expected {at + 1}"))
        if not exchange.tool_name:
            faults.append(Fault(f"{where}/tool_name", "is empty"))
        if not exchange.canonical_input:
            faults.append(Fault(f"{where}/canonical_input", "is empty"))
    return faults
