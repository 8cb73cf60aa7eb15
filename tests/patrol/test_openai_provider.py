"""A model behind an OpenAI-compatible server, and everything such servers do wrong."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from patrol.config import ProviderSettings, TurnLimits, provider_settings, turn_limits
from patrol.errors import Cause, ProviderError, UsageError
from patrol.preflight import TOOL
from patrol.providers.base import Call, Message, Request, UnparsableReplyError, split_route
from patrol.providers.factory import fault_of_route, make_provider
from patrol.providers.openai import ANSWER_LIMIT, OpenAIProvider
from patrol.providers.wire import chat_body, failure_of, read_reply
from tests.patrol.fakes import FakeClock

LOCAL = ProviderSettings(base_url="http://127.0.0.1:9/v1/", api_key="sk-very-secret", request_timeout_s=30)
ASK = Request((Message("user", "hello"),), (TOOL,))
STOP = threading.Event()
Handler = Callable[[httpx.Request], httpx.Response]


def answer(content: str = "hi", **message: Any) -> dict[str, Any]:
    usage = {"prompt_tokens": 11, "completion_tokens": 4}
    return {"choices": [{"message": {"role": "assistant", "content": content, **message}}], "usage": usage}


@pytest.fixture
def ask() -> Iterator[Callable[..., Any]]:
    """Ask a provider whose server is a list of answers; gives the reply and the requests."""
    made: list[OpenAIProvider] = []

    def run(*answers: httpx.Response | Exception, settings: ProviderSettings = LOCAL) -> Any:
        pending, seen = list(answers), []

        def handle(request: httpx.Request) -> httpx.Response:
            seen.append(request)
            one = pending.pop(0)
            if isinstance(one, Exception):
                raise one
            return one

        provider = OpenAIProvider("openai:m", settings, FakeClock(), transport=httpx.MockTransport(handle))
        made.append(provider)
        return provider.complete(ASK, STOP), seen

    yield run
    for one in made:
        one.close()


def test_text_and_calls_and_tokens_are_read(ask: Callable[..., Any]) -> None:
    calls = [{"id": "a", "type": "function", "function": {"name": "t", "arguments": '{"x": 1}'}}]
    reply, seen = ask(httpx.Response(200, json=answer("", tool_calls=calls)))
    assert reply.calls == (Call("a", "t", '{"x": 1}'),)
    assert (reply.input_tokens, reply.output_tokens) == (11, 4)
    assert str(seen[0].url) == "http://127.0.0.1:9/v1/chat/completions"
    assert seen[0].headers["authorization"] == "Bearer sk-very-secret"


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ({}, Call("call-0", "", "{}")),
        ({"function": {"name": "t", "arguments": {"x": 1}}}, Call("call-0", "t", '{"x": 1}')),
        ({"id": 5, "function": {"name": "t", "arguments": '{"x": '}}, Call("5", "t", '{"x": ')),
        ("nonsense", Call("call-0", "", "{}")),
    ],
)
def test_calls_that_are_odd_are_still_calls(call: object, expected: Call) -> None:
    assert read_reply(answer("", tool_calls=[call])).calls == (expected,)


@pytest.mark.parametrize(
    "value", [None, [], {}, {"choices": []}, {"choices": [{}]}, {"choices": [{"message": 3}]}]
)
def test_what_is_no_chat_answer_is_an_error(value: object) -> None:
    with pytest.raises(ProviderError) as failed:
        read_reply(value)
    assert failed.value.cause is Cause.INTERNAL


@pytest.mark.parametrize("usage", [None, 3, {}, {"prompt_tokens": -1, "completion_tokens": True}])
def test_tokens_that_are_no_counts_are_zero(usage: object) -> None:
    reply = read_reply({**answer(), "usage": usage})
    assert (reply.input_tokens, reply.output_tokens) == (0, 0)


def test_the_prefill_is_sent_only_with_tools() -> None:
    settings = ProviderSettings(
        prefill="<tool_call>\n", tool_choice="required", temperature=0.0, max_tokens=99
    )
    with_tools = chat_body("m", ASK, settings)
    messages = with_tools["messages"]
    assert isinstance(messages, list)
    assert messages[-1] == {"role": "assistant", "content": "<tool_call>\n"}
    assert (with_tools["tool_choice"], with_tools["temperature"], with_tools["max_tokens"]) == (
        "required",
        0.0,
        99,
    )
    without = chat_body("m", Request(ASK.messages), settings)
    assert "tools" not in without
    assert "tool_choice" not in without
    assert without["messages"] == [{"role": "user", "content": "hello"}]


def test_an_unset_temperature_is_left_to_the_server() -> None:
    assert "temperature" not in chat_body("m", ASK, ProviderSettings())


def test_truncated_arguments_do_not_poison_the_next_request() -> None:
    broken = Message("assistant", "", calls=(Call("1", "t", '{"x": '),))
    body = chat_body("m", Request((broken, Message("tool", "{}", call_id="1"))), LOCAL)
    sent = body["messages"]
    assert isinstance(sent, list)
    assert sent[0]["tool_calls"][0]["function"]["arguments"] == "{}"
    assert sent[1] == {"role": "tool", "tool_call_id": "1", "content": "{}"}


@pytest.mark.parametrize(
    ("status", "text", "cause"),
    [
        (401, "bad key", Cause.AUTH),
        (403, "", Cause.AUTH),
        (402, "", Cause.BILLING),
        (429, "slow down", Cause.RATE_LIMITED),
        (429, "insufficient_quota", Cause.BILLING),
        (404, "no such model", Cause.UNAVAILABLE),
        (503, "Loading model", Cause.UNAVAILABLE),
        (400, "This model does not support tools", Cause.NO_TOOLS),
        (400, "tool_choice is not allowed", Cause.TOOL_CHOICE),
        (400, "the request exceeds the available context size", Cause.CONTEXT),
        (400, "whatever", Cause.INTERNAL),
        (500, "whatever", Cause.INTERNAL),
    ],
)
def test_http_errors_have_causes(status: int, text: str, cause: Cause) -> None:
    failure = failure_of(status, text)
    assert isinstance(failure, ProviderError)
    assert failure.cause is cause
    assert text not in failure.message or not text


def test_output_that_the_server_could_not_parse_is_no_failure_of_the_server() -> None:
    text = '{"error":{"code":500,"message":"Failed to parse input at pos 12","type":"server_error"}}'
    assert isinstance(failure_of(500, text), UnparsableReplyError)


def test_a_loading_model_is_waited_for(ask: Callable[..., Any]) -> None:
    loading = httpx.Response(503, json={"error": {"message": "Loading model"}})
    reply, seen = ask(loading, loading, loading, httpx.Response(200, json=answer("ready")))
    assert (reply.text, len(seen)) == ("ready", 4)


def test_waiting_for_a_loading_model_ends(ask: Callable[..., Any]) -> None:
    loading = [httpx.Response(503, json={}) for _ in range(100)]
    with pytest.raises(ProviderError) as failed:
        ask(*loading)
    assert failed.value.cause is Cause.UNAVAILABLE


def test_a_broken_connection_is_retried_once_and_no_more(ask: Callable[..., Any]) -> None:
    reply, seen = ask(httpx.ConnectError("x"), httpx.Response(200, json=answer()))
    assert (reply.text, len(seen)) == ("hi", 2)
    with pytest.raises(ProviderError) as failed:
        ask(httpx.ConnectError("x"), httpx.ReadError("x"), httpx.Response(200, json=answer()))
    assert failed.value.cause is Cause.CONNECTION


@pytest.mark.parametrize("error", [httpx.ReadTimeout("x"), httpx.ConnectTimeout("x")])
def test_a_timeout_is_not_retried(ask: Callable[..., Any], error: Exception) -> None:
    with pytest.raises(ProviderError, match="30 s") as failed:
        ask(error, httpx.Response(200, json=answer()))
    assert failed.value.cause is Cause.CONNECTION


@pytest.mark.parametrize("status", [400, 401, 429, 500])
def test_refusals_are_not_retried(ask: Callable[..., Any], status: int) -> None:
    with pytest.raises(ProviderError):
        ask(httpx.Response(status, text="no"), httpx.Response(200, json=answer()))


@pytest.mark.parametrize("body", [b"", b"<html>", b"[" * 100_000])
def test_an_answer_that_is_no_json_is_an_error(ask: Callable[..., Any], body: bytes) -> None:
    with pytest.raises(ProviderError) as failed:
        ask(httpx.Response(200, content=body))
    assert failed.value.cause is Cause.INTERNAL


def test_an_endless_answer_is_cut_off(ask: Callable[..., Any]) -> None:
    def endless() -> Iterator[bytes]:
        while True:
            yield b" " * 65536

    with pytest.raises(ProviderError, match=str(ANSWER_LIMIT)):
        ask(httpx.Response(200, content=endless()))


def test_the_key_is_in_no_error_and_no_repr(ask: Callable[..., Any]) -> None:
    assert "sk-very-secret" not in repr(LOCAL)
    for outcome in (
        httpx.Response(401, text="sk-very-secret is wrong"),
        httpx.ConnectError("sk-very-secret"),
    ):
        with pytest.raises(ProviderError) as failed:
            ask(outcome, outcome)
        assert "sk-very-secret" not in str(failed.value)


def test_a_stop_ends_the_waiting() -> None:
    stop = threading.Event()
    stop.set()
    transport = httpx.MockTransport(lambda _: httpx.Response(503))
    provider = OpenAIProvider("openai:m", LOCAL, FakeClock(), transport=transport)
    with pytest.raises(ProviderError) as failed:
        provider.complete(ASK, stop)
    provider.close()
    assert failed.value.cause is Cause.INTERRUPTED


@pytest.mark.parametrize(
    ("route", "parts"),
    [
        ("openai:gpt:4", ("openai", "gpt:4")),
        (" OpenAI:m ", ("openai", "m")),
        ("plain", ("", "plain")),
        (":m", ("", "m")),
    ],
)
def test_routes_part_at_the_first_colon(route: str, parts: tuple[str, str]) -> None:
    assert split_route(route) == parts


@pytest.mark.parametrize(
    ("route", "said"),
    [
        ("plain", "no route"),
        ("control:good", "no control"),
        ("ollama:x", "no provider"),
        ("openai:", "no route"),
    ],
)
def test_routes_that_lead_nowhere_say_why(route: str, said: str) -> None:
    fault = fault_of_route(route, LOCAL)
    assert fault is not None
    assert said in fault.message
    with pytest.raises(ProviderError):
        make_provider(route, LOCAL, FakeClock())


def test_without_address_and_key_there_is_no_openai() -> None:
    fault = fault_of_route("openai:x", ProviderSettings())
    assert fault is not None
    assert fault.cause is Cause.AUTH


def test_the_environment_is_read_once_and_checked() -> None:
    settings = provider_settings(
        {
            "PATROL_OPENAI_BASE_URL": "http://127.0.0.1:1/v1",
            "PATROL_OPENAI_API_KEY": "k",
            "PATROL_OPENAI_TOOL_CHOICE": "Required",
            "PATROL_OPENAI_PREFILL": "<tool_call>\n",
            "PATROL_OPENAI_TEMPERATURE": "0.5",
            "PATROL_OPENAI_MAX_TOKENS": "64",
            "PATROL_REQUEST_TIMEOUT": "12.5",
        }
    )
    assert (settings.tool_choice, settings.prefill, settings.temperature) == (
        "required",
        "<tool_call>\n",
        0.5,
    )
    assert (settings.max_tokens, settings.request_timeout_s, settings.hosted) == (64, 12.5, False)
    assert provider_settings({}) == ProviderSettings()
    assert turn_limits({"PATROL_SCOPED_TURNS": "9"}) == TurnLimits(scoped=9)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PATROL_OPENAI_TOOL_CHOICE", "maybe"),
        ("PATROL_OPENAI_BASE_URL", "127.0.0.1:1"),
        ("PATROL_OPENAI_TEMPERATURE", "warm"),
        ("PATROL_OPENAI_MAX_TOKENS", "0"),
        ("PATROL_REQUEST_TIMEOUT", "nan"),
        ("PATROL_REQUEST_TIMEOUT", "inf"),
    ],
)
def test_a_wrong_variable_is_named(name: str, value: str) -> None:
    with pytest.raises(UsageError) as refused:
        provider_settings({name: value})
    assert refused.value.where == name


def test_models_are_listed_and_streaming_counts_chunks() -> None:
    def handle(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/models"):
            return httpx.Response(200, json={"data": [{"id": "m"}, {"id": "n"}]})
        assert json.loads(request.content)["stream"] is True
        return httpx.Response(200, text='data: {"a": 1}\n\ndata: {"b": 2}\n\ndata: [DONE]\n\n')

    provider = OpenAIProvider("openai:m", LOCAL, FakeClock(), transport=httpx.MockTransport(handle))
    assert provider.models() == ["m", "n"]
    assert provider.stream(ASK) == 2
    provider.close()
