"""The application: which handler answers where, behind which door."""

from __future__ import annotations

from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from contract.errors import PatrolQualificationError
from patrol.api.actions import ActionsApi
from patrol.api.auth import AuthGate, Credentials, Doorkeeper
from patrol.api.inventory import InventoryApi
from patrol.api.patrol import PatrolApi
from patrol.api.wire import error_response, read_object, text_member
from patrol.errors import ApiError
from patrol.runtime import Runtime


def build_app(runtime: Runtime, credentials: Credentials) -> Starlette:
    """The whole HTTP face over one runtime."""
    doorkeeper = Doorkeeper(credentials, runtime.service.clock)
    patrol = PatrolApi(runtime.service)
    inventory = InventoryApi(runtime.service, commands=runtime.broker.guard.commands)
    actions = ActionsApi(runtime.broker, runtime.investigator)
    return Starlette(
        routes=[*_patrol_routes(patrol), *_routes(inventory, doorkeeper), *_action_routes(actions)],
        middleware=[Middleware(AuthGate, doorkeeper=doorkeeper)],
        exception_handlers={
            ApiError: _api_error,
            PatrolQualificationError: _own_error,
            HTTPException: _http_error,
        },
    )


def _patrol_routes(patrol: PatrolApi) -> list[Route]:
    root = "/api/ai/patrol"
    return [
        Route(f"{root}/preflight", patrol.preflight, methods=["POST"]),
        Route(f"{root}/readiness", patrol.readiness, methods=["GET", "POST"]),
        Route(f"{root}/status", patrol.status),
        Route(f"{root}/autonomy", patrol.autonomy, methods=["GET", "PUT"]),
        Route(f"{root}/run", patrol.run, methods=["POST"]),
        Route(f"{root}/runs", patrol.runs),
        Route(f"{root}/runs/{{run_id}}", patrol.one_run),
        Route(f"{root}/stream", patrol.stream),
    ]


def _routes(inventory: InventoryApi, doorkeeper: Doorkeeper) -> list[Route]:
    async def login(request: Request) -> Response:
        return await _login(request, doorkeeper)

    return [
        Route("/api/version", inventory.version),
        Route("/api/health", inventory.health),
        Route("/api/login", login, methods=["POST"]),
        Route("/api/settings/ai", inventory.settings),
        Route("/api/settings/ai/update", inventory.update_settings, methods=["PUT", "POST"]),
        Route("/api/ai/models", inventory.models),
        Route("/api/resources", inventory.resources),
        Route("/api/ai/patrol/findings", inventory.findings),
    ]


def _action_routes(actions: ActionsApi) -> list[Route]:
    finding, one = "/api/ai/findings/{finding_id}", "/api/actions/{action_id}"
    return [
        Route(f"{finding}/investigation", actions.investigation),
        Route(f"{finding}/investigation/messages", actions.messages),
        Route("/api/actions", actions.listed),
        Route(one, actions.one),
        Route(f"{one}/decision", actions.decide, methods=["POST"]),
        Route(f"{one}/execute", actions.execute, methods=["POST"]),
        Route("/api/ai/patrol/emergency-stop", actions.emergency_stop, methods=["GET", "PUT"]),
        Route("/api/resources/{resource_id}/operator-state", actions.operator_state, methods=["GET", "PUT"]),
    ]


async def _login(request: Request, doorkeeper: Doorkeeper) -> Response:
    body = await read_object(request, code="invalid_login")
    user, password = (text_member(body, name, "invalid_login") for name in ("username", "password"))
    client = request.client.host if request.client else ""
    refused = doorkeeper.login(user, password, client)
    if refused is not None:
        return refused
    response = JSONResponse({"success": True, "message": "Logged in"})
    doorkeeper.open_session(MutableHeaders(raw=response.raw_headers))
    return response


async def _api_error(_: Request, error: Exception) -> Response:
    assert isinstance(error, ApiError)  # noqa: S101 - the table above names the class
    return error_response(error)


async def _own_error(_: Request, error: Exception) -> Response:
    """A failure of the runtime's own surroundings; its text is ours, so it may be told."""
    return error_response(ApiError(503, "runtime_unavailable", str(error)))


async def _http_error(_: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    code = {404: "not_found", 405: "method_not_allowed"}.get(status, "http_error")
    return error_response(ApiError(status, code, code.replace("_", " ")))
