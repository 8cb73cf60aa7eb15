"""The AI settings of the server: what is stored, what follows, and the cache of the last preflight."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from patrol.clock import Clock
from patrol.config import LEVELS, VERIFY_S, ProviderSettings, TurnLimits
from patrol.errors import ApiError
from patrol.loop import prompts
from patrol.preflight import Preflight, check_route
from patrol.providers.base import Provider, split_route
from patrol.providers.factory import make_provider
from patrol.store import Store

FLAGS = ("enabled", "patrol_enabled", "codex_subscription_enabled", "claude_subscription_enabled")
BUDGET_RANGE = (5, 30)


@dataclass(frozen=True, slots=True)
class AiSettings:
    """The stored settings; the effective route is `patrol_model` unless blank, else `model`."""

    model: str
    patrol_model: str = ""
    enabled: bool = True
    patrol_enabled: bool = True
    codex_subscription_enabled: bool = False
    claude_subscription_enabled: bool = False

    @property
    def route(self) -> str:
        return self.patrol_model.strip() or self.model.strip()

    @property
    def watching(self) -> bool:
        return self.enabled and self.patrol_enabled and bool(self.route)

    @property
    def subscription(self) -> bool:
        """The flag that the present route depends on; false for every other provider."""
        provider = split_route(self.route)[0]
        if provider == "codex-subscription":
            return self.codex_subscription_enabled
        return provider == "claude-subscription" and self.claude_subscription_enabled


@dataclass(frozen=True, slots=True)
class Autonomy:
    """The mode that the server is in, and the bounds of an investigation."""

    level: str
    full_mode_unlocked: bool
    investigation_budget: int = 10
    investigation_timeout_sec: int = 600

    @property
    def effective(self) -> str:
        """The level that applies: full needs to be unlocked."""
        return "assisted" if self.level == "full" and not self.full_mode_unlocked else self.level

    def as_json(self) -> dict[str, object]:
        return {
            "autonomy_level": self.level,
            "requested_autonomy_level": self.level,
            "effective_autonomy_level": self.effective,
            "full_mode_unlocked": self.full_mode_unlocked,
            "autopilot_acknowledgement": {},
            "investigation_budget": self.investigation_budget,
            "investigation_timeout_sec": self.investigation_timeout_sec,
        }


@dataclass(slots=True)
class SettingsDesk:
    """Reads and changes settings; a change of route starts one preflight and fences off older ones."""

    store: Store
    clock: Clock
    provider: ProviderSettings
    limits: TurnLimits
    model: str
    level: str
    stop: threading.Event
    verify_s: float = VERIFY_S
    _lock: threading.RLock = field(default_factory=threading.RLock)
    _generation: int = 0
    _cached: Preflight | None = None
    _workers: list[threading.Thread] = field(default_factory=list)

    def current(self) -> AiSettings:
        stored = self.store.setting("ai")
        known = stored if isinstance(stored, dict) else {}
        return AiSettings(**{**known, "model": self.model})

    def autonomy(self) -> Autonomy:
        stored = self.store.setting("autonomy")
        if isinstance(stored, dict):
            return Autonomy(**stored)
        return Autonomy(self.level, full_mode_unlocked=self.level == "full")

    def put_autonomy(self, body: Mapping[str, object]) -> Autonomy:
        """Change the mode or the bounds. Raises ApiError 400 and names the member."""
        changed = _autonomy(self.autonomy(), body)
        members = ("level", "full_mode_unlocked", "investigation_budget", "investigation_timeout_sec")
        self.store.put_setting("autonomy", {name: getattr(changed, name) for name in members})
        return changed

    def cached(self) -> Preflight | None:
        """The last preflight, unless it was for another route."""
        with self._lock:
            found = self._cached
        return found if found is not None and found.route == self.current().route else None

    def update(self, body: Mapping[str, object]) -> AiSettings:
        """Apply the members that are given; unknown ones are ignored. Raises ApiError 400."""
        with self._lock:
            before = self.current()
            after = _changed(before, body)
            if after.enabled and not before.enabled and not self.configured_providers(after):
                raise ApiError(400, "ai_no_provider", "no provider is configured")
            stored = {name: getattr(after, name) for name in (*FLAGS, "patrol_model")}
            self.store.put_setting("ai", stored)
            moved = after.route != before.route or after.subscription != before.subscription
            if moved:
                self._generation += 1
                self._cached = None
            if after.watching and (moved or not before.watching):
                self._start_preflight(after.route)
        return after

    def preflight(self, body: Mapping[str, object]) -> Preflight:
        """Ask now, and remember the outcome where it is about the present route."""
        with self._lock:
            generation, route = self._generation, self.current().route
        provider, model = split_route(route)
        wanted = f"{body.get('provider') or provider}:{body.get('model') or model}"
        outcome = self._check(wanted)
        self._remember(outcome, generation)
        return outcome

    def _start_preflight(self, route: str) -> None:
        generation = self._generation
        worker = threading.Thread(
            target=lambda: self._remember(self._check(route), generation), name="preflight", daemon=True
        )
        self._workers = [one for one in self._workers if one.is_alive()] + [worker]
        worker.start()

    def _remember(self, outcome: Preflight, generation: int) -> None:
        with self._lock:
            if generation == self._generation:
                self._cached = outcome

    def _check(self, route: str) -> Preflight:
        make: Callable[[str], Provider] = lambda asked: make_provider(asked, self.provider, self.clock)  # noqa: E731
        return check_route(route, make, self.clock, self.stop)

    def configured_providers(self, settings: AiSettings) -> list[str]:
        """Who could answer: controls always, others where the environment names them."""
        return ["control", *(["openai"] if self.provider.configured else [])]

    def as_json(self) -> dict[str, object]:
        """The settings as served; keys are never among them."""
        settings = self.current()
        cached = self.cached()
        return {
            "enabled": settings.enabled,
            "model": settings.model,
            "patrol_model": settings.patrol_model,
            "patrol_enabled": settings.patrol_enabled,
            "codex_subscription_enabled": settings.codex_subscription_enabled,
            "claude_subscription_enabled": settings.claude_subscription_enabled,
            "openai_base_url": self.provider.base_url,
            "request_timeout_seconds": int(self.provider.request_timeout_s),
            "control_level": self.autonomy().level,
            "configured_providers": self.configured_providers(settings),
            "patrol_interval_minutes": 0,
            "patrol_preflight": None if cached is None else cached.as_cached(),
            "reference_runtime": self.particulars(),
        }

    def particulars(self) -> dict[str, str]:
        """What may differ between two campaigns against this runtime, for the record."""
        provider, limits = self.provider, self.limits
        temperature = "" if provider.temperature is None else f"{provider.temperature:g}"
        return {
            "tool_choice": provider.tool_choice,
            "prefill": provider.prefill.encode("unicode_escape").decode(),
            "temperature": temperature,
            "max_tokens": str(provider.max_tokens),
            "request_timeout": f"{provider.request_timeout_s:g}",
            "turns_scoped": str(limits.scoped),
            "turns_full": f"{limits.least}..{limits.most}",
            "turns_evaluation": str(limits.evaluation),
            "verify_seconds": f"{self.verify_s:g}",
            "run_token_limit": str(limits.run_tokens),
            "prompt_digest": prompts.digest(),
        }

    def join(self) -> None:
        for worker in self._workers:
            worker.join(timeout=5)


def _changed(before: AiSettings, body: Mapping[str, object]) -> AiSettings:
    changes: dict[str, object] = {}
    for name in FLAGS:
        if body.get(name) is not None:
            if not isinstance(body[name], bool):
                raise ApiError(400, "invalid_settings", f"{name} has to be true or false")
            changes[name] = body[name]
    route = body.get("patrol_model")
    if route is not None:
        if not isinstance(route, str):
            raise ApiError(400, "invalid_settings", "patrol_model has to be a text")
        changes["patrol_model"] = route.strip()
    return replace(before, **changes)  # type: ignore[arg-type]


def _autonomy(before: Autonomy, body: Mapping[str, object]) -> Autonomy:
    level = body.get("autonomy_level", before.level)
    if level not in LEVELS:
        raise ApiError(400, "invalid_autonomy_level", f"autonomy_level has to be one of {', '.join(LEVELS)}")
    unlocked = body.get("full_mode_unlocked", before.full_mode_unlocked)
    budget = body.get("investigation_budget", before.investigation_budget)
    timeout = body.get("investigation_timeout_sec", before.investigation_timeout_sec)
    least, most = BUDGET_RANGE
    if not isinstance(unlocked, bool):
        raise ApiError(400, "invalid_autonomy_level", "full_mode_unlocked has to be true or false")
    if not isinstance(budget, int) or not least <= budget <= most:
        raise ApiError(400, "invalid_autonomy_level", f"investigation_budget has to be {least} to {most}")
    if not isinstance(timeout, int) or not 1 <= timeout <= 3600:
        raise ApiError(400, "invalid_autonomy_level", "investigation_timeout_sec has to be 1 to 3600")
    return Autonomy(str(level), unlocked, budget, timeout)
