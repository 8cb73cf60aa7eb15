"""Captures at most one typed proposal of an investigation; doubt voids it (reference runtime, section 9)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from patrol.actions.planning import capabilities, capability
from patrol.collect.projection import BAD_HEALTH, DOWN_STATES
from patrol.findings.ledger import RunView
from patrol.records import Resource
from patrol.schema import obj, text
from patrol.tools.registry import Arguments, Code, Tool, ToolResult, failure, success

CAPABILITIES = obj({"resource_id": text("The id of a resource")}, required=("resource_id",))
PROPOSAL = obj(
    {
        "resource_id": text("The resource to act on"),
        "causal_resource_id": text("The resource that causes the fault, as observed"),
        "capability_name": text("An offered capability of resource_id"),
        "reason": text("Why this would help"),
        "params": {"type": "object", "description": "Parameters that the capability declares"},
    },
    required=("resource_id", "causal_resource_id", "capability_name", "reason"),
)


@dataclass(frozen=True, slots=True)
class Proposal:
    """A valid proposal."""

    id: str
    resource: Resource
    causal: Resource
    capability_name: str
    reason: str


@dataclass(slots=True)
class ProposalDesk:
    """Validates proposals of one investigation; `evidence` counts its successful evidence calls so far."""

    view: RunView
    commands: bool
    evidence: Callable[[], int]
    void: str = ""
    refused: int = 0
    _valid: Proposal | None = None
    _answers: dict[str, tuple[str, ToolResult]] = field(default_factory=dict)

    @property
    def captured(self) -> Proposal | None:
        """The one valid proposal, unless something has voided it."""
        return None if self.void else self._valid

    def tools(self) -> tuple[Tool, Tool]:
        return (
            Tool(
                "patrol_action_capabilities",
                "List the typed actions that a resource offers.",
                CAPABILITIES,
                self.capabilities,
            ),
            Tool(
                "patrol_propose_action",
                "Propose at most one typed action for approval. It is only proposed, never carried out here.",
                PROPOSAL,
                lambda arguments: self.propose("", arguments),
                self.propose,
            ),
        )

    def capabilities(self, arguments: Arguments) -> ToolResult:
        resource = self._resource(str(arguments["resource_id"]))
        if resource is None:
            return failure(Code.NOT_FOUND, "no single resource of this investigation has that id")
        offered = capabilities(resource, commands=self.commands)
        return success(resource_id=resource.id, capabilities=[one.as_json() for one in offered])

    def propose(self, call_id: str, arguments: Arguments) -> ToolResult:
        """Take one proposal; the same call again gives the same answer, the same call otherwise voids all."""
        content = hashlib.sha256(json.dumps(arguments, sort_keys=True).encode()).hexdigest()
        if call_id in self._answers:
            known, answer = self._answers[call_id]
            return answer if known == content else self._latch(Code.INTEGRITY, "one call made two proposals")
        answer = self._take(content, arguments)
        self._answers[call_id] = (content, answer)
        return answer

    def _take(self, content: str, arguments: Arguments) -> ToolResult:
        if self.void:
            return failure(Code.ACTION_NOT_ALLOWED, "proposals of this investigation are void", blocked=True)
        checked = self._check(content, arguments)
        if isinstance(checked, ToolResult):
            self.refused += 1
            return checked
        if self._valid is not None and self._valid.id != checked.id:
            return self._latch(Code.AMBIGUOUS, "a second, different proposal voids both")
        self._valid = checked
        return success(proposal_id=checked.id, captured=True)

    def _latch(self, code: Code, message: str) -> ToolResult:
        self.void = message
        return failure(code, message, blocked=True)

    def _check(self, content: str, arguments: Arguments) -> Proposal | ToolResult:
        if self.evidence() == 0:
            return failure(Code.ACTION_NOT_ALLOWED, "a proposal needs evidence that was read before")
        target = self._resource(str(arguments["resource_id"]))
        causal = self._resource(str(arguments["causal_resource_id"]))
        if target is None or causal is None:
            return failure(Code.NOT_FOUND, "target and cause have to be resources of this investigation")
        if arguments.get("params"):
            return failure(Code.INVALID_INPUT, "this capability declares no parameters")
        if not str(arguments["reason"]).strip():
            return failure(Code.INVALID_INPUT, "reason may not be blank")
        name = str(arguments["capability_name"]).strip().lower()
        if capability(target, name, commands=self.commands) is None:
            return failure(Code.ACTION_NOT_ALLOWED, f"{target.name} does not offer {name}")
        contradiction = _contradiction(self.view.resources, target, causal)
        if contradiction:
            return failure(Code.ACTION_NOT_ALLOWED, contradiction)
        return Proposal(f"prop_{content[:16]}", target, causal, name, str(arguments["reason"]).strip())

    def _resource(self, token: str) -> Resource | None:
        wanted = token.strip().lower()
        found = [one for one in self.view.identities if wanted in one.ids]
        if len(found) != 1 or found[0].resource_id not in self.view.in_scope:
            return None
        return self.view.resources[found[0].resource_id]


def dependencies(resources: Mapping[str, Resource], resource: Resource) -> tuple[Resource, ...]:
    """The resources whose names the health check of `resource` calls."""
    called = resource.docker.healthcheck_targets if resource.docker else ()
    return tuple(one for one in resources.values() if one.name.lower() in called and one.id != resource.id)


def _contradiction(resources: Mapping[str, Resource], target: Resource, causal: Resource) -> str:
    """An observed broken dependency of an unhealthy target has to be named as the cause."""
    if target.docker is None or target.docker.health not in BAD_HEALTH:
        return ""
    down = [
        one
        for one in dependencies(resources, target)
        if one.docker is not None and one.docker.container_state in DOWN_STATES
    ]
    if not down or causal.id in {one.id for one in down}:
        return ""
    return f"its health check calls {', '.join(one.name for one in down)}, which is down"
