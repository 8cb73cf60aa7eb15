"""The OpenAI chat format, as pure functions over JSON values."""

from __future__ import annotations

import json
from collections.abc import Mapping

from patrol.config import ProviderSettings
from patrol.errors import Cause, ProviderError
from patrol.providers.base import Call, Message, Reply, Request, UnparsableReplyError


def chat_body(
    model: str, request: Request, settings: ProviderSettings, *, stream: bool = False
) -> dict[str, object]:
    """The body of one chat request; the prefill is sent only where tools are offered."""
    messages = [_message(one) for one in request.messages]
    body: dict[str, object] = {
        "model": model,
        "messages": messages,
        "max_tokens": request.max_tokens or settings.max_tokens,
        "stream": stream,
    }
    if settings.temperature is not None:
        body["temperature"] = settings.temperature
    if request.tools:
        body["tools"] = [tool.as_openai() for tool in request.tools]
        body["tool_choice"] = settings.tool_choice
        if settings.prefill:
            messages.append({"role": "assistant", "content": settings.prefill})
    return body


def _message(message: Message) -> dict[str, object]:
    if message.role == "tool":
        return {"role": "tool", "tool_call_id": message.call_id, "content": message.content}
    if message.calls:
        calls = [_call(one) for one in message.calls]
        return {"role": "assistant", "content": message.content, "tool_calls": calls}
    return {"role": message.role, "content": message.content}


def _call(call: Call) -> dict[str, object]:
    """A call as it is sent back; servers refuse transcripts whose arguments are no JSON object."""
    try:
        readable = isinstance(json.loads(call.arguments), dict)
    except (ValueError, RecursionError):
        readable = False
    function = {"name": call.name, "arguments": call.arguments if readable else "{}"}
    return {"id": call.id, "type": "function", "function": function}


def read_reply(value: object) -> Reply:
    """What a chat answer says. Raises ProviderError where it is not one."""
    message = _first_message(value)
    usage = value.get("usage") if isinstance(value, Mapping) else None
    calls = message.get("tool_calls")
    content = message.get("content")
    return Reply(
        text=content if isinstance(content, str) else "",
        calls=tuple(_read_call(one, number) for number, one in enumerate(calls))
        if isinstance(calls, list)
        else (),
        input_tokens=_tokens(usage, "prompt_tokens"),
        output_tokens=_tokens(usage, "completion_tokens"),
    )


def _first_message(value: object) -> Mapping[str, object]:
    choices = value.get("choices") if isinstance(value, Mapping) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, Mapping) else None
    if not isinstance(message, Mapping):
        raise ProviderError(Cause.INTERNAL, "the model's server sent no chat answer")
    return message


def _read_call(value: object, number: int) -> Call:
    whole = value if isinstance(value, Mapping) else {}
    function = whole.get("function")
    named = function if isinstance(function, Mapping) else {}
    arguments = named.get("arguments")
    text = arguments if isinstance(arguments, str) else json.dumps(arguments if arguments is not None else {})
    ident = whole.get("id")
    return Call(str(ident) if ident else f"call-{number}", str(named.get("name") or ""), text)


def _tokens(usage: object, name: str) -> int:
    value = usage.get(name) if isinstance(usage, Mapping) else None
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def failure_of(status: int, text: str) -> ProviderError | UnparsableReplyError:
    """What an HTTP error of the model's server means (reference runtime, section 8)."""
    said = text.lower()
    if status == 500 and any(word in said for word in ("parse", "grammar", "tool call")):
        return UnparsableReplyError("the server could not parse the model's output")
    return ProviderError(
        _cause(status, said), f"the model's server answered {status}", hint=HINTS.get(status, "")
    )


HINTS = {
    401: "is PATROL_OPENAI_API_KEY set and valid?",
    404: "does the server know a model of that name?",
    503: "is the model still loading?",
}


def _cause(status: int, said: str) -> Cause:
    by_status = {
        401: Cause.AUTH,
        402: Cause.BILLING,
        403: Cause.AUTH,
        429: Cause.RATE_LIMITED,
        503: Cause.UNAVAILABLE,
    }
    if status == 429 and ("quota" in said or "billing" in said):
        return Cause.BILLING
    if status in by_status:
        return by_status[status]
    if "context" in said and any(word in said for word in ("exceed", "length", "size", "window")):
        return Cause.CONTEXT
    if "tool_choice" in said:
        return Cause.TOOL_CHOICE
    if "tool" in said and "support" in said:
        return Cause.NO_TOOLS
    return Cause.UNAVAILABLE if status == 404 else Cause.INTERNAL
