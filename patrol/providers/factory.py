"""From a route to whoever answers on it."""

from __future__ import annotations

from patrol.clock import Clock
from patrol.config import ProviderSettings
from patrol.errors import Cause, ProviderError
from patrol.providers.base import Provider, split_route
from patrol.providers.scripts import CONTROLS, control


def fault_of_route(route: str, settings: ProviderSettings) -> ProviderError | None:
    """Why nothing can answer on `route`, without asking anybody; None where something can."""
    provider, model = split_route(route)
    if not provider or not model:
        return ProviderError(
            Cause.UNAVAILABLE, f"{route!r} is no route", hint="write openai:NAME or control:NAME"
        )
    if provider == "control":
        known = ", ".join(CONTROLS)
        return (
            None
            if model in CONTROLS
            else ProviderError(Cause.UNAVAILABLE, f"no control {model}; known: {known}")
        )
    if provider != "openai":
        return ProviderError(Cause.UNAVAILABLE, f"no provider {provider}", hint="known: openai, control")
    if not settings.configured:
        hint = "set PATROL_OPENAI_BASE_URL for a local server, or PATROL_OPENAI_API_KEY"
        return ProviderError(Cause.AUTH, "the openai provider is not configured", hint=hint)
    return None


def make_provider(route: str, settings: ProviderSettings, clock: Clock) -> Provider:
    """Whoever answers on `route`. Raises ProviderError."""
    fault = fault_of_route(route, settings)
    if fault is not None:
        raise fault
    provider, model = split_route(route)
    scripted = control(model, route) if provider == "control" else None
    if scripted is not None:
        return scripted
    from patrol.providers.openai import OpenAIProvider

    return OpenAIProvider(route, settings, clock)
