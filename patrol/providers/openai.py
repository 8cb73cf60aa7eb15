"""A model behind an OpenAI-compatible server, local or hosted."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import httpx

from patrol.clock import Clock
from patrol.config import ProviderSettings
from patrol.errors import Cause, ProviderError
from patrol.providers.base import Reply, Request, split_route
from patrol.providers.wire import chat_body, failure_of, read_reply

ANSWER_LIMIT = 4 * 1024 * 1024
ERROR_LIMIT = 8 * 1024
LOADING_WAIT_S = 60.0
LOADING_POLL_S = 1.0


class OpenAIProvider:
    """Asks one model; every request is bounded in time and size, and no error holds the key."""

    def __init__(
        self,
        route: str,
        settings: ProviderSettings,
        clock: Clock,
        *,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self.route = route
        self._model = split_route(route)[1]
        self._settings = settings
        self._clock = clock
        headers = {"Authorization": f"Bearer {settings.api_key}"} if settings.api_key else {}
        timeout = httpx.Timeout(settings.request_timeout_s, connect=min(10.0, settings.request_timeout_s))
        self._http = httpx.Client(
            headers=headers, timeout=timeout, transport=transport, trust_env=False, follow_redirects=False
        )

    def close(self) -> None:
        self._http.close()

    def complete(self, request: Request, stop: threading.Event) -> Reply:
        """One turn. A model that is still loading is waited for; a broken connection is retried once."""
        body = chat_body(self._model, request, self._settings)
        patience = self._clock.monotonic() + min(LOADING_WAIT_S, self._settings.request_timeout_s)
        retried = False
        while True:
            try:
                return read_reply(self._post(body))
            except ProviderError as exc:
                loading = exc.cause is Cause.UNAVAILABLE and self._clock.monotonic() < patience
                broken = isinstance(exc.__cause__, httpx.NetworkError | httpx.RemoteProtocolError)
                if not loading and (retried or not broken):
                    raise
                retried = retried or broken
                if self._clock.wait(stop, LOADING_POLL_S if loading else 0.0):
                    raise ProviderError(Cause.INTERRUPTED, "the runtime is shutting down") from exc

    def models(self) -> list[str]:
        """The names that the server lists. Raises ProviderError."""
        with self._errors(), self._http.stream("GET", f"{self._settings.url}/models") as answer:
            value = self._json(answer)
        listed = value.get("data") if isinstance(value, Mapping) else None
        return (
            [str(one.get("id")) for one in listed if isinstance(one, Mapping)]
            if isinstance(listed, list)
            else []
        )

    def stream(self, request: Request) -> int:
        """Ask with streaming on and count the chunks that arrive. Raises ProviderError."""
        body = chat_body(self._model, request, self._settings, stream=True)
        chunks = 0
        with self._errors(), self._http.stream("POST", self._chat, json=body) as answer:
            if answer.status_code != httpx.codes.OK:
                raise failure_of(answer.status_code, self._text(answer, ERROR_LIMIT))
            for line in answer.iter_lines():
                if line.startswith("data:") and line.removeprefix("data:").strip() not in ("", "[DONE]"):
                    chunks += 1
        return chunks

    @property
    def _chat(self) -> str:
        return f"{self._settings.url}/chat/completions"

    def _post(self, body: Mapping[str, object]) -> object:
        with self._errors(), self._http.stream("POST", self._chat, json=body) as answer:
            return self._json(answer)

    def _json(self, answer: httpx.Response) -> object:
        if answer.status_code != httpx.codes.OK:
            raise failure_of(answer.status_code, self._text(answer, ERROR_LIMIT))
        try:
            return json.loads(self._text(answer, ANSWER_LIMIT))
        except (ValueError, RecursionError) as exc:
            raise ProviderError(Cause.INTERNAL, "the model's server sent no JSON") from exc

    def _text(self, answer: httpx.Response, limit: int) -> str:
        deadline = self._clock.monotonic() + self._settings.request_timeout_s
        data = bytearray()
        for chunk in answer.iter_bytes():
            data += chunk
            if len(data) > limit:
                if limit == ERROR_LIMIT:
                    break
                raise ProviderError(Cause.INTERNAL, f"the model's server sent more than {limit} bytes")
            if self._clock.monotonic() > deadline:
                raise ProviderError(Cause.CONNECTION, "the model's server did not finish its answer in time")
        return bytes(data[:limit]).decode(errors="replace")

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except httpx.TimeoutException as exc:
            limit = f"{self._settings.request_timeout_s:g} s"
            raise ProviderError(
                Cause.CONNECTION,
                f"no answer from the model's server within {limit}",
                hint="raise PATROL_REQUEST_TIMEOUT for a slow or cold model",
            ) from exc
        except httpx.HTTPError as exc:
            raise ProviderError(
                Cause.CONNECTION,
                f"the model's server cannot be reached ({type(exc).__name__})",
                hint="is PATROL_OPENAI_BASE_URL right, and the server running?",
            ) from exc
