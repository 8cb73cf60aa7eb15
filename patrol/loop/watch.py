"""One Watch run from its accepted request to its one record (reference runtime, sections 2, 5 and 6)."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from patrol.clock import Clock, rfc3339
from patrol.collect.collector import Collector
from patrol.collect.metrics import Thresholds
from patrol.collect.scope import Scope, everything, resolve
from patrol.config import TurnLimits
from patrol.errors import Cause, EngineError, ProviderError
from patrol.findings.assessing import Assessor
from patrol.findings.ledger import Ledger, RunView
from patrol.findings.reporting import Reporter
from patrol.hub import Hub
from patrol.loop import prompts
from patrol.loop.accounting import Account, Fault, fill, stored_calls
from patrol.loop.session import Plan, Session
from patrol.loop.signals import Signal, detect, from_flags
from patrol.loop.triage import triage
from patrol.providers.base import Provider
from patrol.records import RunRecord
from patrol.store import Store
from patrol.tools.evidence import Evidence
from patrol.tools.registry import Profile, Registry

REPORT, ASSESS, GET = "patrol_report_finding", "patrol_assess_finding", "patrol_get_findings"
INTERRUPTED = Fault("Patrol run interrupted", "the runtime ended before the run did", Cause.INTERRUPTED)
MISSING_VERDICTS = "Patrol finding assessment incomplete"


@dataclass(frozen=True, slots=True)
class RunRequest:
    """What a trigger asked for; empty means everything."""

    resource_ids: tuple[str, ...] = ()
    resource_types: tuple[str, ...] = ()
    alert_identifier: str = ""
    alert_type: str = ""

    @property
    def scoped(self) -> bool:
        return bool(self.resource_ids or self.resource_types)


@dataclass(frozen=True, slots=True)
class Watcher:
    """What every run of this runtime shares."""

    collector: Collector
    store: Store
    hub: Hub
    clock: Clock
    limits: TurnLimits
    thresholds: Thresholds


@dataclass(slots=True)
class WatchRun:
    """One accepted run. `execute` never raises for what a run can meet: it always gives a record."""

    watcher: Watcher
    provider: Callable[[], Provider]
    request: RunRequest
    draft: RunRecord
    started_ns: int
    stop: threading.Event
    faults: list[Fault] = field(default_factory=list)
    narrative: str = ""
    scope: Scope = field(default_factory=Scope)
    ledger: Ledger = field(init=False)
    flags: int = 0
    session: Session | None = None

    def __post_init__(self) -> None:
        self.ledger = Ledger(RunView(self.draft.id, {}, (), frozenset()))

    def execute(self) -> RunRecord:
        """Look, ask, account; whatever happens, exactly one record comes of it."""
        self._emit("start")
        try:
            if self._look():
                self._watch()
        except EngineError as exc:
            self._fault("Collection of Docker state failed", exc.message, Cause.INTERNAL)
        except ProviderError as exc:
            self._fault("Model provider failed", str(exc), exc.cause)
        except Exception as exc:  # noqa: BLE001 - an accepted run ends in a record, whatever broke
            self._fault("Patrol run failed", f"unexpected {type(exc).__name__}", Cause.INTERNAL)
        finally:
            self._let_go()
        self._emit("error" if self.faults else "phase", phase="recorded")
        return self._record()

    def _look(self) -> bool:
        """Collect, resolve the scope again, and take up the view that everything else works on."""
        snapshot = self.watcher.collector.collect()
        asked = self.request.resource_ids
        self.scope = resolve(asked, snapshot.identities) if asked else everything(snapshot.identities)
        wanted = set(self.request.resource_types)
        in_scope = {
            key for key in self.scope.resolved if not wanted or snapshot.resources[key].type in wanted
        }
        if not in_scope or not (self.scope.usable or not asked):
            unmatched = ", ".join((*self.scope.unmatched, *self.scope.ambiguous)) or "nothing is in scope"
            self.scope = Scope(requested=asked)
            self._fault("Analysis incomplete (scope resolution failed)", unmatched, Cause.INTERNAL)
            return False
        view = RunView(self.draft.id, snapshot.resources, snapshot.identities, frozenset(in_scope))
        self.ledger = Ledger(view)
        return True

    def _watch(self) -> None:
        watcher, view = self.watcher, self.ledger.view
        flags = triage(view.scoped)
        self.flags = len(flags)
        shared = (self.ledger, watcher.store, watcher.collector, watcher.clock, watcher.thresholds)
        assessor = Assessor(*shared)
        evidence = Evidence(view, watcher.collector)
        tools = (*evidence.tools(), *assessor.tools(), Reporter(*shared).tool())
        session = self._begin(Registry(Profile.DETECTION, tools))
        names = tuple(tool.name for tool in tools)
        turns = watcher.limits.main(scoped=self.request.scoped, flags=len(flags))
        opening = prompts.watch(view, flags, assessor.seed())
        self._emit("phase", phase="analysis")
        self.narrative = session.run(Plan(names, turns, concludes=True), opening)
        self._emit("complete")
        found = detect(session.calls, watcher.thresholds, watcher.clock.now_ns())
        self._evaluate(session, (*from_flags(flags), *found))
        self._sweep(session)
        self._close_departed()

    def _begin(self, registry: Registry) -> Session:
        self.session = Session(
            provider=self.provider(),
            registry=registry,
            clock=self.watcher.clock,
            stop=self.stop,
            emit=self._emit,
            after_turn=lambda: self.watcher.store.update_draft(self._record(INTERRUPTED)),
            token_limit=self.watcher.limits.run_tokens,
        )
        return self.session

    def _evaluate(self, session: Session, signals: tuple[Signal, ...]) -> None:
        """One bounded further pass over signals in scope that no finding of this run covers."""
        unmatched = [
            one
            for one in signals
            if one.resource_id in self.ledger.view.in_scope
            and not self.ledger.covered(one.resource_id, one.category)
        ]
        if unmatched:
            self._emit("phase", phase="evaluation")
            plan = Plan(
                (REPORT,),
                self.watcher.limits.evaluation,
                report_budget=len(unmatched),
                done=lambda: session.admission.report_budget == 0,
            )
            session.run(plan, prompts.evaluation(unmatched))

    def _sweep(self, session: Session) -> None:
        """One bounded further pass over findings without verdict; what is still missing then is an error."""
        missing = self.ledger.without_verdict
        if missing:
            self._emit("phase", phase="assessment")
            turns = self.watcher.limits.sweep(len(missing))
            plan = Plan((ASSESS,), turns, done=lambda: not self.ledger.without_verdict)
            session.run(plan, prompts.sweep(missing, self.ledger.view))
        left = self.ledger.without_verdict
        if left:
            detail = f"no verdict on {', '.join(one.id for one in left)}"
            self._fault(MISSING_VERDICTS, detail, Cause.INTERNAL)

    def _close_departed(self) -> None:
        """After a full look, findings on containers that no longer exist are closed; no run counts them."""
        if self.request.scoped or self.faults:
            return
        for one in self.watcher.store.active_findings():
            if one.resource_id not in self.ledger.view.resources:
                gone = {"resolved_at": self._now(), "resolve_reason": "the resource no longer exists"}
                self.watcher.store.put_finding(one.model_copy(update=gone))

    def _record(self, *more: Fault) -> RunRecord:
        ended = self.watcher.clock.now_ns()
        owned = [self.watcher.store.finding(key) for key in self.ledger.finding_ids]
        account = Account(
            ledger=self.ledger,
            owned=tuple(one for one in owned if one is not None),
            faults=(*self.faults, *more),
            resources_checked=len(self.ledger.view.in_scope),
            complete=self.session is not None,
        )
        asked = self.request.resource_ids
        calls = self.session.calls if self.session else []
        update = {
            **fill(self.draft, account, self.narrative),
            **stored_calls(calls),
            "completed_at": rfc3339(ended),
            "duration_ms": (ended - self.started_ns) // 1_000_000,
            "scope_resource_ids": asked or None,
            "effective_scope_resource_ids": self.scope.effective if self.request.scoped else None,
            "scope_resource_types": self.request.resource_types or None,
            "triage_flags": self.flags,
            "input_tokens": self.session.input_tokens if self.session else 0,
            "output_tokens": self.session.output_tokens if self.session else 0,
        }
        return RunRecord.model_validate({**dict(self.draft), **update})

    def _fault(self, summary: str, detail: str, cause: Cause) -> None:
        self.faults.append(Fault(summary, detail, cause.value))

    def _emit(self, kind: str, **members: object) -> None:
        self.watcher.hub.publish(self.draft.id, kind, **members)

    def _let_go(self) -> None:
        if self.session is not None:
            self.session.provider.close()

    def _now(self) -> str:
        return rfc3339(self.watcher.clock.now_ns())
