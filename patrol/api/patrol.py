"""Triggering, watching and reading Patrol runs (Pulse API, sections 2.4 to 2.6, 2.9 to 2.11)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from patrol.api.wire import number_query, read_object, text_member, texts_member
from patrol.errors import ApiError
from patrol.hub import Event
from patrol.loop.watch import RunRequest
from patrol.records import RunRecord
from patrol.service import Accepted, PatrolService

RUN_MEMBERS = frozenset({"resource_ids", "resource_types", "alert_identifier", "alert_type"})
BAD_SCOPE = "invalid_patrol_scope"
HEARTBEAT_S = 15.0
POLL_S = 0.1


class PatrolApi:
    """Handlers over one service."""

    def __init__(self, service: PatrolService) -> None:
        self._service = service

    async def run(self, request: Request) -> Response:
        body = await read_object(request, code=BAD_SCOPE, members=RUN_MEMBERS)
        wanted = RunRequest(
            resource_ids=texts_member(body, "resource_ids", BAD_SCOPE),
            resource_types=texts_member(body, "resource_types", BAD_SCOPE),
            alert_identifier=text_member(body, "alert_identifier", BAD_SCOPE),
            alert_type=text_member(body, "alert_type", BAD_SCOPE),
        )
        accepted = await run_in_threadpool(self._service.trigger, wanted)
        return JSONResponse(_accepted(accepted, wanted))

    async def status(self, _: Request) -> Response:
        return JSONResponse(await run_in_threadpool(self._status))

    async def autonomy(self, request: Request) -> Response:
        desk = self._service.desk
        if request.method != "PUT":
            return JSONResponse((await run_in_threadpool(desk.autonomy)).as_json())
        body = await read_object(request, code="invalid_autonomy_level")
        return JSONResponse((await run_in_threadpool(desk.put_autonomy, body)).as_json())

    async def preflight(self, request: Request) -> Response:
        body = await read_object(request, code="invalid_preflight", members=frozenset({"provider", "model"}))
        for name in body:
            text_member(body, name, "invalid_preflight")
        outcome = await run_in_threadpool(self._service.desk.preflight, body)
        return JSONResponse(outcome.as_json())

    async def readiness(self, _: Request) -> Response:
        return JSONResponse(await run_in_threadpool(self._service.readiness))

    async def runs(self, request: Request) -> Response:
        limit = number_query(request, "limit", 30, 100)
        found = await run_in_threadpool(self._service.watcher.store.runs, limit)
        return JSONResponse([_record(one, request) for one in found])

    async def one_run(self, request: Request) -> Response:
        ident = request.path_params["run_id"]
        found = await run_in_threadpool(self._service.watcher.store.run, ident)
        if found is None:
            raise ApiError(404, "not_found", "there is no completed run of that id")
        return JSONResponse(_record(found, request))

    async def stream(self, request: Request) -> Response:
        sent = request.headers.get("last-event-id") or request.query_params.get("last_event_id") or ""
        after = int(sent) if sent.isascii() and sent.isdigit() and len(sent) < 16 else None
        headers = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
        return StreamingResponse(
            self._events(request, after), media_type="text/event-stream", headers=headers
        )

    async def _events(self, request: Request, after: int | None) -> AsyncIterator[str]:
        hub, stop = self._service.watcher.hub, self._service.stop
        yield ": connected\n\n"
        seq = hub.last_seq if after is None or hub.lost_after(after) else after
        yield self._snapshot(seq, "" if after is None or seq == after else "events_lost")
        quiet_s = 0.0
        while not stop.is_set() and not await request.is_disconnected():
            events = hub.since(seq)
            for event in events:
                yield _event(event)
                seq = event.seq
            quiet_s = 0.0 if events else quiet_s + POLL_S
            if quiet_s >= HEARTBEAT_S:
                yield ": heartbeat\n\n"
                quiet_s = 0.0
            await asyncio.sleep(POLL_S)

    def _snapshot(self, seq: int, resync_reason: str) -> str:
        current = self._service.current
        moment = self._service.clock.now_ns() // 1_000_000
        phase = "running" if current else "idle"
        members: dict[str, object] = {"seq": seq, "ts_ms": moment, "type": "snapshot", "phase": phase}
        if current is not None:
            members["run_id"] = current.id
        if resync_reason:
            members["resync_reason"] = resync_reason
        return _event(Event(seq, members))

    def _status(self) -> dict[str, object]:
        service = self._service
        settings, current, store = service.desk.current(), service.current, service.watcher.store
        readiness = service.readiness()
        newest = store.runs(1)
        active = store.active_findings()
        enabled = settings.enabled and settings.patrol_enabled
        told: dict[str, object] = {
            "runtime_state": _runtime_state(enabled, current is not None, bool(readiness["ready"])),
            "running": current is not None,
            "enabled": enabled,
            "last_duration_ms": newest[0].duration_ms if newest else 0,
            "resources_checked": newest[0].resources_checked if newest else 0,
            "findings_count": len(active),
            "error_count": newest[0].error_count if newest else 0,
            "healthy": bool(newest) and newest[0].status == "healthy" and not active,
            "interval_ms": 0,
            "fixed_count": 0,
            "license_required": False,
            "license_status": "not_applicable",
            "summary": {
                "critical": sum(one.severity == "critical" for one in active),
                "warning": sum(one.severity == "warning" for one in active),
                "watch": 0,
                "info": 0,
            },
            "readiness": readiness,
        }
        if current is not None:
            told |= {"current_run_id": current.id, "current_run_started_at": current.started_at}
        if newest:
            told |= {"last_patrol_at": newest[0].completed_at, "last_activity_at": newest[0].completed_at}
        if not readiness["ready"]:
            told |= {"blocked_reason": readiness["summary"], "blocked_cause": readiness.get("cause", "")}
        return told


def _runtime_state(enabled: bool, running: bool, ready: bool) -> str:
    if running:
        return "running"
    if not enabled:
        return "disabled"
    return "active" if ready else "blocked"


def _accepted(accepted: Accepted, wanted: RunRequest) -> dict[str, object]:
    told: dict[str, object] = {
        "success": True,
        "message": "Patrol run accepted",
        "run_id": accepted.run_id,
        "started_at": accepted.started_at,
    }
    if accepted.scope is not None:
        told["scope_resolution"] = {
            "requested_resource_ids": list(accepted.scope.requested),
            "resolved_resource_ids": list(accepted.scope.resolved),
            "effective_resource_ids": list(accepted.scope.effective),
        }
    if not wanted.scoped:
        told["accepted"] = True
    return told


def _record(record: RunRecord, request: Request) -> dict[str, object]:
    shown = record.as_json()
    if request.query_params.get("include") != "tool_calls":
        shown.pop("tool_calls")
    return shown


def _event(event: Event) -> str:
    return f"id: {event.seq}\ndata: {json.dumps(dict(event.members), ensure_ascii=False)}\n\n"
