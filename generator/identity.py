"""Which model a route's name means: the alias table, without touching any evidence."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

from generator.policy import Model, Models

ROUTES = {
    "metered_api": "metered API",
    "local_model_server": "local server",
    "local_subscription_agent": "subscription agent",
    "coding_plan_allowance": "coding plan",
    "control": "control",
}
"""What each inference route is called; an unknown one is shown as it is written."""


def route_title(route: str) -> str:
    return ROUTES.get(route, route or "not reported")


@dataclass(frozen=True, slots=True)
class ModelIdentity:
    """One model as the site names it: canonical id (also its page), name to show, its entry if it has one."""

    id: str
    name: str
    entry: Model | None

    @property
    def page(self) -> str:
        return f"models/{self.id}.md"


class Directory:
    """Looks names up in models.json; a name without an entry is a model of its own."""

    def __init__(self, models: Models) -> None:
        self._by_alias = {alias: entry for entry in models.models for alias in entry.aliases}

    def identify(self, written: str) -> ModelIdentity:
        """The model that a run's `model` text means."""
        entry = self._by_alias.get(written)
        if entry is not None:
            return ModelIdentity(entry.id, entry.name, entry)
        return ModelIdentity(slug(written), written, None)


def slug(text: str) -> str:
    """A file name for any text: readable, and by six digits of its digest distinct from every other text."""
    readable = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:60]
    return f"{readable}-{hashlib.sha256(text.encode()).hexdigest()[:6]}"
