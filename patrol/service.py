"""Accepts triggers, runs one at a time, and knows how things stand (reference runtime, section 2)."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from patrol.clock import Clock, from_rfc3339, rfc3339
from patrol.collect.scope import Scope, resolve
from patrol.config import ProviderSettings
from patrol.errors import ApiError, Cause
from patrol.loop.watch import INTERRUPTED, RunRequest, Watcher, WatchRun
from patrol.providers.base import split_route
from patrol.providers.factory import fault_of_route, make_provider
from patrol.records import RunRecord
from patrol.settings import SettingsDesk

SHUTDOWN_S = 3.0
BLOCKING = frozenset({Cause.AUTH, Cause.BILLING, Cause.CONNECTION, Cause.UNAVAILABLE})


@dataclass(frozen=True, slots=True)
class Accepted:
    """A trigger that was accepted: from this moment the run exists, and will have one record."""

    run_id: str
    started_at: str
    scope: Scope | None


@dataclass(slots=True)
class PatrolService:
    """Owns the one run that may be in progress."""

    watcher: Watcher
    desk: SettingsDesk
    provider: ProviderSettings
    stop: threading.Event
    after_run: Callable[[RunRecord], object] = lambda _: None
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _current: RunRecord | None = None
    _worker: threading.Thread | None = None

    @property
    def clock(self) -> Clock:
        return self.watcher.clock

    @property
    def current(self) -> RunRecord | None:
        """The draft of the run in progress."""
        return self._current

    def close_orphans(self) -> int:
        """End the runs that an earlier process left open, as errors; called before anything is served."""
        orphans = self.watcher.store.unfinished_runs()
        for draft in orphans:
            now = self.clock.now_ns()
            spent = max(0, now - from_rfc3339(draft.started_at)) // 1_000_000
            ended = {"completed_at": rfc3339(now), "duration_ms": spent}
            self.watcher.store.finish_run(draft.model_copy(update=ended))
        return len(orphans)

    def trigger(self, request: RunRequest) -> Accepted:
        """Check readiness, resolve the scope, reserve. After an ApiError (409, 422) nothing has begun."""
        self._require_ready(request)
        scope = self._require_scope(request)
        with self._lock:
            if self._current is not None:
                raise ApiError(
                    409,
                    "patrol_already_running",
                    "a patrol run is in progress",
                    details={"current_run_id": self._current.id},
                )
            started_ns = self.clock.now_ns()
            draft = self._draft(request, scope, started_ns)
            self.watcher.store.reserve_run(started_ns, draft)
            self._current = draft
        self._start(request, draft, started_ns)
        return Accepted(draft.id, draft.started_at, scope)

    def readiness(self) -> dict[str, object]:
        """What stands between a trigger and a run; `warning` still counts as ready."""
        settings = self.desk.current()
        checks = [self._model_check(settings.route), self._tools_check(), self._source_check()]
        worst = max(checks, key=lambda check: ("ready", "warning", "not_ready").index(check["status"]))
        provider, model = split_route(settings.route)
        return {
            "status": worst["status"],
            "ready": worst["status"] != "not_ready",
            **({"cause": worst["cause"]} if worst.get("cause") else {}),
            "summary": worst["message"],
            "provider": provider,
            "model": model,
            "checks": checks,
        }

    def join(self) -> None:
        """Ask the run in progress to end and wait a little; what hangs longer is closed at the next start."""
        self.stop.set()
        if self._worker is not None:
            self._worker.join(timeout=SHUTDOWN_S)
        self.desk.join()

    def _require_ready(self, request: RunRequest) -> None:
        settings = self.desk.current()
        if not (settings.enabled and settings.patrol_enabled) and not request.scoped:
            raise ApiError(409, "patrol_disabled", "Patrol is disabled in the settings")
        readiness = self.readiness()
        if not settings.enabled or not readiness["ready"]:
            cause = str(readiness.get("cause", "patrol_disabled"))
            details = {"status": str(readiness["status"]), "cause": cause}
            raise ApiError(409, "patrol_readiness_not_ready", str(readiness["summary"]), details=details)

    def _require_scope(self, request: RunRequest) -> Scope | None:
        if not request.resource_ids:
            return None
        scope = resolve(request.resource_ids, self.watcher.collector.snapshot.identities)
        if not scope.usable:
            raise ApiError(
                422,
                "patrol_scope_unresolved",
                "not every requested resource id means exactly one resource",
                details={
                    "unmatched_resource_ids": ",".join(scope.unmatched),
                    "ambiguous_resource_ids": ",".join(scope.ambiguous),
                },
            )
        return scope

    def _draft(self, request: RunRequest, scope: Scope | None, started_ns: int) -> RunRecord:
        """The record that stands if this process dies before it writes a better one."""
        moment = rfc3339(started_ns)
        return RunRecord(
            id=str(started_ns),
            started_at=moment,
            completed_at=moment,
            duration_ms=0,
            type="scoped" if request.scoped else "patrol",
            trigger_reason="manual",
            scope_resource_ids=request.resource_ids or None,
            effective_scope_resource_ids=scope.effective if scope else None,
            scope_resource_types=request.resource_types or None,
            alert_identifier=request.alert_identifier or None,
            findings_summary="Analysis incomplete (1 error)",
            error_count=1,
            status="error",
            error_summary=INTERRUPTED.summary,
            error_detail=INTERRUPTED.detail,
            error_cause=INTERRUPTED.cause,
            model=self.desk.current().route,
        )

    def _start(self, request: RunRequest, draft: RunRecord, started_ns: int) -> None:
        route = draft.model
        run = WatchRun(
            watcher=self.watcher,
            provider=lambda: make_provider(route, self.provider, self.clock),
            request=request,
            draft=draft,
            started_ns=started_ns,
            stop=self.stop,
        )
        self._worker = threading.Thread(target=self._work, args=(run,), name="patrol-run", daemon=True)
        self._worker.start()

    def _work(self, run: WatchRun) -> None:
        """Write the record first and free the place after it, so that an ended run is always readable."""
        try:
            record = run.execute()
            self.watcher.store.finish_run(record)
        finally:
            with self._lock:
                self._current = None
        self.after_run(record)

    def _model_check(self, route: str) -> dict[str, str]:
        fault = fault_of_route(route, self.provider)
        if fault is None:
            return _check("model", "ready", f"The route is {route}.")
        return _check("model", "not_ready", fault.message, cause=fault.cause, action=fault.hint)

    def _tools_check(self) -> dict[str, str]:
        cached = self.desk.cached()
        if cached is None:
            return _check("tools", "warning", "Tool calling has not been tried on this route yet.")
        if cached.success:
            return _check("tools", "ready", "A tool call was observed.")
        status = "not_ready" if cached.cause in BLOCKING else "warning"
        return _check("tools", status, cached.message, cause=cached.cause, action=cached.recommendation)

    def _source_check(self) -> dict[str, str]:
        if self.watcher.collector.snapshot.stale:
            return _check("source", "warning", "The Docker engine has not answered lately.")
        return _check("source", "ready", "Docker state is current.")


def _check(ident: str, status: str, message: str, *, cause: str = "", action: str = "") -> dict[str, str]:
    label = {"model": "Model route", "tools": "Tool calling", "source": "Docker state"}[ident]
    optional = {"cause": str(cause), "action": action}
    said = {name: value for name, value in optional.items() if value}
    return {"id": ident, "status": status, "label": label, "message": message, **said}
