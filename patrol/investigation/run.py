"""One investigation from its finding to its one terminal record (reference runtime, section 9)."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from patrol.actions.broker import SERVICE, Broker
from patrol.actions.planning import capability
from patrol.actions.records import ActionRequest, Audit, Origin
from patrol.clock import rfc3339
from patrol.collect.collector import Snapshot
from patrol.errors import ApiError, EngineError, ProviderError
from patrol.findings.ledger import RunView
from patrol.investigation.narrative import fallback, has_diagnosis
from patrol.investigation.proposals import Proposal, ProposalDesk, dependencies
from patrol.investigation.records import ActionRef, Investigation, Status
from patrol.investigation.store import InvestigationStore
from patrol.loop import prompts
from patrol.loop.session import Plan, Session, TimeLimitError
from patrol.loop.watch import Watcher
from patrol.providers.base import Provider
from patrol.records import Finding
from patrol.settings import Autonomy
from patrol.tools.evidence import Evidence
from patrol.tools.reader import Reader
from patrol.tools.registry import Profile, Registry, Tool


@dataclass(frozen=True, slots=True)
class Desk:
    """What every investigation of this runtime shares."""

    watcher: Watcher
    store: InvestigationStore
    broker: Broker
    provider: Callable[[], Provider]
    stop: threading.Event


@dataclass(slots=True)
class InvestigationRun:
    """One attempt; `execute` always ends its record."""

    desk: Desk
    finding: Finding
    record: Investigation
    autonomy: Autonomy
    session: Session | None = None
    proposals: ProposalDesk | None = None
    problem: str = ""
    timed_out: bool = False
    _tools: tuple[Tool, ...] = field(default=())

    def execute(self) -> Investigation:
        """Look, ask, capture, hand over; whatever happens, exactly one terminal record comes of it."""
        narrative = ""
        try:
            narrative = self._ask(self._prepare())
        except TimeLimitError as exc:
            self.problem, self.timed_out = exc.message, True
        except (ProviderError, EngineError) as exc:
            self.problem = str(exc)
        except Exception as exc:  # noqa: BLE001 - an investigation ends in a record, whatever broke
            self.problem = f"unexpected {type(exc).__name__}"
        finally:
            if self.session is not None:
                self.session.provider.close()
        ended = self._conclude(narrative)
        self.desk.store.update(ended)
        self._note(ended)
        if ended.action is not None:
            self._authorize(ended.action)
        return ended

    def _prepare(self) -> RunView:
        """Collect afresh; in view are the finding's resource and what its health check calls."""
        snapshot: Snapshot = self.desk.watcher.collector.collect()
        mine = snapshot.resources.get(self.finding.resource_id)
        related = () if mine is None else (mine, *dependencies(snapshot.resources, mine))
        in_scope = frozenset(one.id for one in related)
        view = RunView(self.record.session_id, snapshot.resources, snapshot.identities, in_scope)
        watcher, broker = self.desk.watcher, self.desk.broker
        self.proposals = ProposalDesk(view, broker.guard.commands, self._evidence)
        reader = Reader(view, broker.engine, watcher.clock)
        evidence = Evidence(view, watcher.collector).tools()
        self._tools = (*evidence, reader.tool(), *self.proposals.tools())
        return view

    def _evidence(self) -> int:
        return len(self.session.evidence_ids) if self.session else 0

    def _ask(self, view: RunView) -> str:
        watcher, budget = self.desk.watcher, self.autonomy.investigation_budget
        self.session = Session(
            provider=self.desk.provider(),
            registry=Registry(Profile.INVESTIGATION, self._tools),
            clock=watcher.clock,
            stop=self.desk.stop,
            emit=lambda kind, **members: None,
            after_turn=lambda: self.desk.store.update(self._progress("running")),
            token_limit=watcher.limits.run_tokens,
            deadline=watcher.clock.monotonic() + self.autonomy.investigation_timeout_sec,
        )
        self.session.admission.evidence_budget = budget
        names = tuple(tool.name for tool in self._tools)
        return self.session.run(
            Plan(names, budget + 2, concludes=True), prompts.investigation(view, self.finding)
        )

    def _progress(self, status: Status, **changes: object) -> Investigation:
        session = self.session
        counts: dict[str, object] = {"tools_available": tuple(tool.name for tool in self._tools)}
        if session is not None:
            counts |= {
                "turn_count": session.turns,
                "evidence_call_count": session.evidence_calls,
                "tool_call_count": len(session.calls),
                "tools_used": tuple(dict.fromkeys(call.tool_name for call in session.calls)),
                "evidence_ids": tuple(session.evidence_ids),
                "input_tokens": session.input_tokens,
                "output_tokens": session.output_tokens,
                "calls": tuple(session.calls),
            }
        return Investigation.model_validate({**dict(self.record), **counts, "status": status, **changes})

    def _conclude(self, narrative: str) -> Investigation:
        """Status and outcome from what was captured, never from what the model says of itself."""
        told = narrative if narrative.strip() else fallback(self.finding)
        status, outcome, problem = self._verdict(narrative)
        action = None
        if status == "completed" and self.proposals is not None and self.proposals.captured is not None:
            try:
                action = self._submit(self.proposals.captured)
            except ApiError as exc:
                status, outcome, problem = "needs_attention", "needs_attention", exc.message
            else:
                outcome = "fix_queued"
        ended = {"summary": told, "outcome": outcome, "error": problem or None, "action": action}
        return self._progress(status, **ended, completed_at=rfc3339(self.desk.watcher.clock.now_ns()))

    def _verdict(self, narrative: str) -> tuple[Status, str, str]:
        if self.problem:
            return "failed", "timed_out" if self.timed_out else "failed", self.problem
        desk = self.proposals
        if desk is not None and desk.void:
            return "needs_attention", "needs_attention", desk.void
        if desk is not None and desk.captured is None and desk.refused:
            return "needs_attention", "needs_attention", "every proposal was refused"
        if not has_diagnosis(narrative):
            return "needs_attention", "needs_attention", ""
        return "completed", "cannot_fix", ""

    def _submit(self, proposal: Proposal) -> ActionRef:
        """Hand the proposal over; from here on the broker decides what becomes of it."""
        chosen = capability(
            proposal.resource, proposal.capability_name, commands=self.desk.broker.guard.commands
        )
        assert chosen is not None  # noqa: S101 - the proposal desk has just checked it
        request = ActionRequest(
            request_id=f"req_{self.record.id}",
            resource_id=proposal.resource.id,
            capability_name=chosen.name,
            reason=proposal.reason,
            requested_by=SERVICE.subject_id,
            actor=SERVICE,
        )
        origin = Origin(
            surface="patrol",
            finding_id=self.finding.id,
            investigation_id=self.record.id,
            proposal_id=proposal.id,
            evidence_ids=tuple(self.session.evidence_ids) if self.session else (),
        )
        return _reference(self.desk.broker.submit(request, origin, proposal.resource, chosen))

    def _note(self, ended: Investigation) -> None:
        changes = {"investigation_status": ended.status, "investigation_outcome": ended.outcome}
        self.desk.watcher.store.amend_finding(self.finding.id, **changes)

    def _authorize(self, action: ActionRef) -> None:
        """Let policy carry on where the mode permits; a refusal leaves the action for a person."""
        resource = self.desk.watcher.collector.snapshot.resources.get(action.resource_id)
        chosen = resource and capability(resource, action.capability_name, commands=True)
        if chosen:
            try:
                self.desk.broker.authorize(action.action_id, chosen)
            except ApiError:
                return


def _reference(audit: Audit) -> ActionRef:
    return ActionRef(
        action_id=audit.id,
        proposal_id=audit.origin.proposal_id,
        resource_id=audit.request.resource_id,
        capability_name=audit.request.capability_name,
        state=audit.state,
        plan=audit.plan,
    )
