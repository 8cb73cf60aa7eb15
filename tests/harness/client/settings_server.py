"""A server's model settings over HTTP, with the asynchronous proof that a route can call tools."""

from __future__ import annotations

from typing import Any

from harness.client.routes import Route
from harness.clock import Clock
from tests.harness.client.stub import Answer, Asked, Stub

SETTINGS = "GET /api/settings/ai"
UPDATE = "PUT /api/settings/ai/update"
PREFLIGHT = "POST /api/ai/patrol/preflight"
STATUS = "GET /api/ai/patrol/status"


class SettingsServer:
    """Settings as a server keeps them: a change of route clears the proof, which comes back later."""

    def __init__(self, stub: Stub, clock: Clock, **settings: Any) -> None:
        self.clock = clock
        self.settings: dict[str, Any] = {
            "enabled": True,
            "patrol_enabled": True,
            "model": "openai:default",
            "patrol_model": "",
            **settings,
        }
        self.proof: dict[str, Any] = {"success": True, "tool_call_observed": True}
        self.polls_until_proof = 3
        self.puts: list[dict[str, Any]] = []
        stub.on(SETTINGS, self.read)
        stub.on(UPDATE, self.update)
        stub.on(STATUS, self.status)
        stub.on(PREFLIGHT, lambda _: Answer(self.evidence()))

    @property
    def route(self) -> Route:
        return Route.parse(self.settings["patrol_model"] or self.settings["model"])

    def evidence(self, **changes: Any) -> dict[str, Any]:
        now = self.clock.now().instant_ns // 10**9
        return {
            "provider": self.route.provider,
            "model": self.route.model,
            "recorded_at_unix": now,
            **self.proof,
            **changes,
        }

    def read(self, _: Asked) -> Answer:
        if self.settings.get("patrol_preflight") is None and self.puts:
            self.polls_until_proof -= 1
            if self.polls_until_proof <= 0:
                self.settings["patrol_preflight"] = self.evidence()
        return Answer(self.settings)

    def update(self, asked: Asked) -> Answer:
        self.puts.append(asked.body)
        self.settings.update(asked.body)
        self.settings["patrol_preflight"] = None
        return Answer(self.settings)

    def status(self, _: Asked) -> Answer:
        readiness = {"ready": True, "provider": self.route.provider, "model": str(self.route)}
        return Answer({"readiness": readiness})
