"""Which model Patrol asks, and by which way: what is billed, and to whom."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from contract.pricing import inference_route, split_model
from contract.text import is_blank, lower, trim
from harness.client.records import Settings

CONTROL: Final = "control"
SUBSCRIPTION_FLAGS: Final = {
    "codex-subscription": "codex_subscription_enabled",
    "claude-subscription": "claude_subscription_enabled",
}
_PROVIDER_MINIMUM_SECONDS: Final = 135.0
_DEFAULT_REQUEST_SECONDS: Final = 300
_MARGIN_SECONDS: Final = 15.0


@dataclass(frozen=True, slots=True)
class Route:
    """A model route `provider:model`; the provider is empty where there is no colon."""

    provider: str
    model: str

    @classmethod
    def parse(cls, text: str) -> Route:
        """Split at the first colon (Pulse API, section 2.2)."""
        return cls(*split_model(text))

    @property
    def is_complete(self) -> bool:
        """Whether both parts are there."""
        return bool(self.provider and self.model)

    def matches(self, provider: str, model: str) -> bool:
        """Whether a server's provider and model, bare or as a full route, name this one."""
        named = Route.parse(model)
        bare = named.model if named.provider == self.provider else trim(model)
        return lower(trim(provider)) == self.provider and bare == self.model

    def __str__(self) -> str:
        return f"{self.provider}:{self.model}" if self.provider else self.model


def effective_route(settings: Settings) -> str:
    """The route that Patrol uses."""
    return trim(settings.model if is_blank(settings.patrol_model) else settings.patrol_model)


def route_kind(provider: str, settings: Settings) -> str:
    """By which way the model is reached: metered, local, by subscription (runner, section 2.1)."""
    endpoints = {"openai": settings.openai_base_url, "zai": settings.zai_base_url}
    return inference_route(provider, endpoints.get(provider, ""))


def lease_seconds(route: Route, settings: Settings, wanted: float) -> float:
    """How long a route may take to prove itself; local models load first (Pulse API, section 3.5)."""
    if route.provider in SUBSCRIPTION_FLAGS:
        return max(wanted, _PROVIDER_MINIMUM_SECONDS)
    custom_openai = route.provider == "openai" and _host(settings.openai_base_url) not in (
        "",
        "api.openai.com",
    )
    if route.provider == "ollama" or custom_openai:
        seconds = settings.request_timeout_seconds or _DEFAULT_REQUEST_SECONDS
        return max(wanted, seconds + _MARGIN_SECONDS)
    return wanted


def _host(base_url: str) -> str:
    """The lower-cased host of an absolute URL, empty where it is none."""
    try:
        parts = urlsplit(trim(base_url))
        return lower(parts.hostname or "") if parts.scheme else ""
    except ValueError:
        return ""
