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
from patrol.api.auth import AuthGate, Credentials, Doorkeeper
from patrol.api.inventory import InventoryApi
from patrol.api.patrol import PatrolApi
from patrol.api.wire import error_response, read_object, text_member
from patrol.errors import ApiError
from patrol.service import PatrolService


def build_app(service: PatrolService, credentials: Credentials) -> Starlette:
    """The whole HTTP face over one service."""
    doorkeeper = Doorkeeper(credentials, service.clock)
    return Starlette(
        routes=_routes(PatrolApi(service), InventoryApi(service), doorkeeper),
        middleware=[Middleware(AuthGate, doorkeeper=doorkeeper)],
        exception_handlers={
            ApiError: _api_error,
            PatrolQualificationError: _own_error,
            HTTPException: _http_error,
        },
    )


def _routes(patrol: PatrolApi, inventory: InventoryApi, doorkeeper: Doorkeeper) -> list[Route]:
    async def login(request: Request) -> Response:
        return await _login(request, doorkeeper)

    actions, one_action = "/api/actions", "/api/actions/{action_id}"
    return [
        Route("/api/version", inventory.version),
        Route("/api/health", inventory.health),
        Route("/api/login", login, methods=["POST"]),
        Route("/api/settings/ai", inventory.settings),
        Route("/api/settings/ai/update", inventory.update_settings, methods=["PUT", "POST"]),
        Route("/api/ai/models", inventory.models),
        Route("/api/ai/patrol/preflight", patrol.preflight, methods=["POST"]),
        Route("/api/ai/patrol/readiness", patrol.readiness, methods=["GET", "POST"]),
        Route("/api/ai/patrol/status", patrol.status),
        Route("/api/ai/patrol/autonomy", patrol.autonomy, methods=["GET", "PUT"]),
        Route("/api/resources", inventory.resources),
        Route("/api/ai/patrol/findings", inventory.findings),
        Route("/api/ai/patrol/run", patrol.run, methods=["POST"]),
        Route("/api/ai/patrol/runs", patrol.runs),
        Route("/api/ai/patrol/runs/{run_id}", patrol.one_run),
        Route("/api/ai/patrol/stream", patrol.stream),
        Route("/api/ai/findings/{finding_id}/investigation", patrol.investigation),
        Route(actions, inventory.actions),
        Route(one_action, inventory.action),
        Route(f"{one_action}/decision", inventory.decide, methods=["POST"]),
        Route(f"{one_action}/execute", inventory.execute, methods=["POST"]),
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
