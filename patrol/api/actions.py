"""Investigations and governed actions (Pulse API, sections 2.12 and 2.13)."""

from __future__ import annotations

import re

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from patrol.actions.broker import Broker
from patrol.actions.checks import EMERGENCY_STOP, LOCKS
from patrol.actions.records import PENDING, SETTLED, Actor, Audit
from patrol.api.auth import Principal
from patrol.api.wire import number_query, read_object, text_member
from patrol.errors import ApiError
from patrol.investigation.investigator import Investigator

VIEWS = {"pending": PENDING, "settled": SETTLED}
MOST = 500
DECISION = "invalid_action_decision"
EXECUTION = "invalid_action_execution"
_ACTION_ID = re.compile(r"act_[0-9a-f]{32}")


class ActionsApi:
    """Handlers over the broker and the investigator."""

    def __init__(self, broker: Broker, investigator: Investigator) -> None:
        self._broker = broker
        self._investigator = investigator

    async def investigation(self, request: Request) -> Response:
        found = await run_in_threadpool(self._investigator.newest, request.path_params["finding_id"])
        if found is None:
            raise ApiError(404, "not_found", "this finding has not been investigated")
        return JSONResponse(found.as_json())

    async def messages(self, request: Request) -> Response:
        found = await run_in_threadpool(self._investigator.newest, request.path_params["finding_id"])
        if found is None:
            raise ApiError(404, "not_found", "this finding has not been investigated")
        return JSONResponse(
            {"session_id": found.session_id, "tool_calls": [one.as_json() for one in found.calls]}
        )

    async def listed(self, request: Request) -> Response:
        view = request.query_params.get("view") or "pending"
        if view not in VIEWS:
            raise ApiError(400, "invalid_action_request", "view is pending or settled", agent_style=True)
        limit = number_query(request, "limit", 100, MOST)
        found = await run_in_threadpool(self._broker.listed, VIEWS[view], limit)
        shown = [{**_audit(one), **self._resource(one)} for one in found]
        return JSONResponse(
            {"view": view, "actions": shown, "count": len(shown), "readOnly": self._read_only}
        )

    async def one(self, request: Request) -> Response:
        audit = await run_in_threadpool(self._broker.view, _action_id(request))
        events = await run_in_threadpool(self._broker.actions.events, audit.id)
        told: dict[str, object] = {
            "audit": _audit(audit),
            "events": [one.as_json() for one in events],
            "readiness": {
                "decidable": audit.state == "pending_approval",
                "executable": audit.state == "approved",
            },
            "readOnly": self._read_only,
        }
        if audit.attempt is not None:
            told["attempt"] = audit.attempt.as_json()
        if audit.result is not None:
            told["receipt"] = audit.result.as_json()
        return JSONResponse(told)

    async def decide(self, request: Request) -> Response:
        action_id = _action_id(request)
        members = frozenset({"outcome", "reason", "planHash"})
        body = await read_object(request, code=DECISION, members=members, agent_style=True)
        outcome, reason, sent = (
            text_member(body, name, DECISION, agent_style=True) for name in ("outcome", "reason", "planHash")
        )
        if outcome not in ("approved", "rejected"):
            raise ApiError(400, DECISION, "outcome has to be approved or rejected", agent_style=True)
        approved, actor = outcome == "approved", _actor(request)
        decided = await run_in_threadpool(
            self._broker.decide, action_id, approved, reason, sent or None, actor
        )
        told = {"actionId": decided.id, "state": decided.state, "approval": decided.approvals[-1].as_json()}
        return JSONResponse({**told, "audit": _audit(decided)})

    async def execute(self, request: Request) -> Response:
        action_id = _action_id(request)
        body = await read_object(
            request, code=EXECUTION, members=frozenset({"reason", "planHash"}), agent_style=True
        )
        text_member(body, "reason", EXECUTION, agent_style=True)
        sent = text_member(body, "planHash", EXECUTION, agent_style=True) or None
        ended = await run_in_threadpool(self._broker.execute, action_id, sent, _actor(request))
        told: dict[str, object] = {"actionId": ended.id, "state": ended.state, "audit": _audit(ended)}
        if ended.result is not None:
            told["result"] = ended.result.as_json()
        return JSONResponse(told)

    async def emergency_stop(self, request: Request) -> Response:
        store = self._broker.guard.store
        if request.method == "PUT":
            body = await read_object(request, code="invalid_emergency_stop", members=frozenset({"active"}))
            if not isinstance(body.get("active"), bool):
                raise ApiError(400, "invalid_emergency_stop", "active has to be true or false")
            await run_in_threadpool(store.put_setting, EMERGENCY_STOP, body["active"])
        return JSONResponse({"active": await run_in_threadpool(store.setting, EMERGENCY_STOP) is True})

    async def operator_state(self, request: Request) -> Response:
        store, resource_id = self._broker.guard.store, request.path_params["resource_id"]
        known = await run_in_threadpool(store.setting, LOCKS)
        locks = {str(one) for one in known} if isinstance(known, list) else set()
        if request.method == "PUT":
            code = "operator_state_invalid"
            body = await read_object(request, code=code, members=frozenset({LOCKS}), agent_style=True)
            if not isinstance(body.get(LOCKS), bool):
                raise ApiError(400, code, f"{LOCKS} has to be true or false", agent_style=True)
            locks = locks | {resource_id} if body[LOCKS] else locks - {resource_id}
            await run_in_threadpool(store.put_setting, LOCKS, sorted(locks))
        return JSONResponse({"resource_id": resource_id, LOCKS: resource_id in locks})

    @property
    def _read_only(self) -> bool:
        return not self._broker.guard.commands

    def _resource(self, audit: Audit) -> dict[str, object]:
        known = self._broker.guard.collector.snapshot.resources.get(audit.request.resource_id)
        return {} if known is None else {"resource": {"id": known.id, "name": known.name, "type": known.type}}


def _audit(audit: Audit) -> dict[str, object]:
    return {name: value for name, value in audit.as_json().items() if name != "attempt"}


def _action_id(request: Request) -> str:
    ident = str(request.path_params["action_id"])
    if not _ACTION_ID.fullmatch(ident):
        raise ApiError(400, "invalid_id", "that is no id of an action", agent_style=True)
    return ident


def _actor(request: Request) -> Actor:
    principal: Principal = request.state.principal
    return Actor(subject_id=principal.subject, kind="user" if principal.kind == "user" else "api_token")
