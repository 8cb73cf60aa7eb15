"""Bodies in and envelopes out."""

from __future__ import annotations

import json
import time

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from patrol.errors import ApiError

BODY_LIMIT = 16 * 1024
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})


def error_response(error: ApiError) -> Response:
    """One of the two envelopes of the Pulse API, section 1."""
    if error.agent_style:
        told: dict[str, object] = {"error": error.code, "message": error.message}
        return JSONResponse({**told, **({"details": error.details} if error.details else {})}, error.status)
    envelope = {
        "error": error.message,
        "code": error.code,
        "status_code": error.status,
        "timestamp": int(time.time()),
        "details": error.details,
    }
    return JSONResponse(envelope, error.status)


async def read_object(
    request: Request, *, code: str, members: frozenset[str] | None = None, agent_style: bool = False
) -> dict[str, object]:
    """The JSON object of a body, an absent one being empty.

    With `members` given, any other member is refused. Raises ApiError 400 with `code`, or 413.
    """
    data = bytearray()
    async for chunk in request.stream():
        data += chunk
        if len(data) > BODY_LIMIT:
            raise ApiError(
                413, "body_too_large", f"a body may have {BODY_LIMIT} bytes", agent_style=agent_style
            )
    if not data.strip():
        return {}
    try:
        value = json.loads(data, object_pairs_hook=_without_duplicates)
    except (ValueError, RecursionError) as exc:
        raise ApiError(
            400, code, f"the body is not one JSON object ({exc})", agent_style=agent_style
        ) from exc
    if not isinstance(value, dict):
        raise ApiError(400, code, "the body is not a JSON object", agent_style=agent_style)
    unknown = sorted(set(value) - members) if members is not None else []
    if unknown:
        raise ApiError(400, code, f"unknown member {unknown[0]!r}", agent_style=agent_style)
    return value


def _without_duplicates(pairs: list[tuple[str, object]]) -> dict[str, object]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("a member is given twice")
    return value


def text_member(body: dict[str, object], name: str, code: str, *, agent_style: bool = False) -> str:
    """A text member, blank when absent. Raises ApiError 400."""
    value = body.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise ApiError(400, code, f"{name} has to be a text", agent_style=agent_style)
    return value


def texts_member(body: dict[str, object], name: str, code: str) -> tuple[str, ...]:
    """A list of non-blank texts, empty when absent. Raises ApiError 400."""
    value = body.get(name)
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(one, str) and one.strip() for one in value):
        raise ApiError(400, code, f"{name} has to be a list of texts")
    return tuple(value)


def number_query(request: Request, name: str, default: int, most: int) -> int:
    """A whole number of the query, cut to 1..`most`; what is no number counts as absent."""
    try:
        value = int(request.query_params.get(name, ""))
    except ValueError:
        return default
    return max(1, min(value, most)) if value > 0 else default
