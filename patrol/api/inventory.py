"""Version, settings, resources and findings (Pulse API, sections 2.1 to 2.3, 2.7, 2.8)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from patrol import PRODUCT
from patrol.actions.planning import capabilities
from patrol.api.wire import number_query, read_object
from patrol.clock import NS, rfc3339
from patrol.providers.scripts import CONTROLS
from patrol.records import Resource
from patrol.service import PatrolService

PAGE_CAP = 100
FINDINGS_CAP = 500
RESOLVED_CAP = 200


class InventoryApi:
    """Handlers over what is stored and collected."""

    def __init__(self, service: PatrolService, *, commands: bool) -> None:
        self._service = service
        self._commands = commands
        self._began_ns = service.clock.now_ns()

    async def version(self, _: Request) -> Response:
        told = {
            "version": PRODUCT,
            "build": "reference",
            "runtime": "reference",
            "channel": "reference",
            "isDocker": False,
            "isSourceBuild": True,
            "isDevelopment": False,
            "deploymentType": "reference",
        }
        return JSONResponse(told)

    async def health(self, _: Request) -> Response:
        now = self._service.clock.now_ns()
        told = {"status": "healthy", "timestamp": now // NS, "uptime": (now - self._began_ns) / NS}
        return JSONResponse(told)

    async def settings(self, _: Request) -> Response:
        return JSONResponse(await run_in_threadpool(self._service.desk.as_json))

    async def update_settings(self, request: Request) -> Response:
        body = await read_object(request, code="invalid_settings")
        await run_in_threadpool(self._service.desk.update, body)
        return JSONResponse(await run_in_threadpool(self._service.desk.as_json))

    async def models(self, _: Request) -> Response:
        route = self._service.desk.current().route
        names = dict.fromkeys((route, *(f"control:{name}" for name in CONTROLS)))
        created = rfc3339(self._began_ns)
        return JSONResponse(
            {
                "models": [
                    {"id": one, "name": one, "notable": one == route, "created_at": created} for one in names
                ]
            }
        )

    async def resources(self, request: Request) -> Response:
        known = self._service.watcher.collector.snapshot.resources.values()
        kind, part = request.query_params.get("type", ""), request.query_params.get("q", "").lower()
        found = sorted(
            (one for one in known if kind in ("", one.type) and part in one.name.lower()),
            key=lambda one: (one.name, one.id),
        )
        page, limit = number_query(request, "page", 1, 10**6), number_query(request, "limit", 50, PAGE_CAP)
        return JSONResponse(_page([self._offering(one) for one in found], page, limit))

    def _offering(self, resource: Resource) -> Resource:
        names = tuple(one.name for one in capabilities(resource, commands=self._commands))
        return resource.model_copy(update={"capabilities": names})

    async def findings(self, request: Request) -> Response:
        return JSONResponse(await run_in_threadpool(self._findings, request))

    def _findings(self, request: Request) -> list[dict[str, object]]:
        store, query = self._service.watcher.store, request.query_params
        found = store.active_findings()
        cap = FINDINGS_CAP
        if query.get("include_resolved") in ("1", "true"):
            found += store.resolved_findings(RESOLVED_CAP)
            cap = RESOLVED_CAP
        wanted = query.get("resource_id")
        kept = [one for one in found if wanted in (None, "", one.resource_id)]
        return [one.as_json() for one in kept[: number_query(request, "limit", cap, cap)]]


def _page(found: Sequence[Resource], page: int, limit: int) -> dict[str, object]:
    total = len(found)
    part = found[(page - 1) * limit : page * limit]
    return {
        "data": [one.as_json() for one in part],
        "meta": {"page": page, "limit": limit, "total": total, "totalPages": max(1, -(-total // limit))},
        "aggregations": {
            "byType": dict(sorted(Counter(one.type for one in found).items())),
            "byStatus": dict(sorted(Counter(one.status for one in found).items())),
        },
    }
