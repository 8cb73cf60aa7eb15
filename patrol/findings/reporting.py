"""`patrol_report_finding`: every check between a claim and a stored finding (reference runtime, 6)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from patrol.clock import Clock, rfc3339
from patrol.collect.metrics import Thresholds, usage
from patrol.collect.projection import Identity
from patrol.errors import EngineError
from patrol.findings.keys import finding_id, normalise_key
from patrol.findings.ledger import Ledger
from patrol.findings.verifiers import Live
from patrol.records import Finding, Resource
from patrol.schema import obj, text
from patrol.store import Store
from patrol.tools.registry import Arguments, Code, Tool, ToolResult, failure, success

REQUIRED = (
    *("key", "severity", "category", "resource_id", "resource_name", "resource_type"),
    *("title", "description", "recommendation", "evidence"),
)
SEVERITIES = ("critical", "warning")
CATEGORIES = ("performance", "capacity", "reliability", "backup", "security", "general")
RESOURCE_TYPES = (
    *("node", "vm", "system-container", "app-container", "storage", "physical_disk", "agent"),
    *("k8s-cluster", "pbs"),
)
ALERT_OWNED_STATES = frozenset({"exited", "stopped", "dead"})
ALERT_WORDS = ("exited", "stopped", "dead", "offline", "unavailable", "down", "not-running")
SCHEMA = obj(
    {
        "key": text("Short stable name of the fault, such as health-check-failed or restart-loop"),
        "severity": text("How bad it is", enum=SEVERITIES),
        "category": text("What it is about", enum=CATEGORIES),
        "resource_id": text("The id of the resource exactly as a tool gave it"),
        "resource_name": text("Its name"),
        "resource_type": text("Its type", enum=RESOURCE_TYPES),
        "title": text("One line"),
        "description": text("What is wrong"),
        "recommendation": text("What a person should do next"),
        "evidence": text("The observed values that show the fault"),
        "impact": text("What suffers from it"),
    },
    required=REQUIRED,
)


@dataclass(frozen=True, slots=True)
class Reporter:
    """Files findings of one run."""

    ledger: Ledger
    store: Store
    source: Live
    clock: Clock
    thresholds: Thresholds

    def tool(self) -> Tool:
        return Tool(
            "patrol_report_finding",
            "File one fault that you have seen evidence of on one resource in scope.",
            SCHEMA,
            self.report,
        )

    def report(self, arguments: Arguments) -> ToolResult:
        """Check one claim and file it; every refusal names its reason and changes nothing."""
        claim = {name: str(value).strip() for name, value in arguments.items()}
        blank = [name for name in REQUIRED if not claim.get(name)]
        if blank:
            return failure(Code.INVALID_INPUT, f"these may not be blank: {', '.join(blank)}")
        resource = self._resource(claim)
        if isinstance(resource, ToolResult):
            return resource
        key = normalise_key(claim["key"])
        if _alert_owned(resource, claim["category"], key):
            return success(applied=False, reason="alert_owned_resource_state")
        refused = self._not_actionable(resource, claim, key)
        return refused or self._file(resource, claim, key)

    def _resource(self, claim: Mapping[str, str]) -> Resource | ToolResult:
        view = self.ledger.view
        by_id = _exact(view.identities, claim["resource_id"], ids=True)
        by_name = _exact(view.identities, claim["resource_name"], ids=False)
        found = by_id or [one for one in by_name if one.resource_id in view.in_scope]
        if len(found) != 1:
            return failure(
                Code.NOT_FOUND, "no single resource has that id", valid_ids=sorted(view.in_scope)[:20]
            )
        resource = view.resources[found[0].resource_id]
        if by_id and _names_another(view.resources, resource, by_name):
            return failure(Code.ROUTING_MISMATCH, "resource_id and resource_name mean different resources")
        if resource.id not in view.in_scope:
            return failure(
                Code.POLICY_BLOCKED, f"{resource.name} is not in the scope of this run", blocked=True
            )
        return resource

    def _not_actionable(self, resource: Resource, claim: Mapping[str, str], key: str) -> ToolResult | None:
        if claim["severity"] == "critical" or claim["category"] in ("backup", "reliability"):
            return None
        if key not in ("cpu-high", "memory-high"):
            return None
        try:
            seen = usage(self.source.usage(resource.id))
        except EngineError:
            return None
        limit = self.thresholds.cpu if key == "cpu-high" else self.thresholds.memory
        value = seen.cpu if key == "cpu-high" else seen.memory
        if value is None or value > limit:
            return None
        self.ledger.rejected += 1
        return failure(Code.ACTION_NOT_ALLOWED, f"{key}: {value} % is not above {limit} %", rejected=True)

    def _file(self, resource: Resource, claim: Mapping[str, str], key: str) -> ToolResult:
        ident = finding_id(resource.id, claim["category"], key)
        if ident in self.ledger.reported:
            new = ident in self.ledger.new
            return success(finding_id=ident, applied=False, is_new=new, reason="finding_reported_this_run")
        known = self.store.finding(ident)
        now = rfc3339(self.clock.now_ns())
        stated = {**claim, "key": key, "resource_id": resource.id, "last_seen_at": now}
        stated["last_run_id"] = self.ledger.view.run_id
        finding = (
            _again(known, stated)
            if known
            else Finding.model_validate({**stated, "id": ident, "detected_at": now})
        )
        self.store.put_finding(finding)
        self.ledger.reported[ident] = finding
        (self.ledger.reconfirmed if known else self.ledger.new)[ident] = None
        self.ledger.resolved.pop(ident, None)
        return success(finding_id=ident, is_new=known is None)


def _again(known: Finding, stated: Mapping[str, str]) -> Finding:
    reopened = {} if known.active else {"regressions": known.regressions + 1, "resolved_at": None}
    raised = {"times_raised": known.times_raised + 1, **reopened}
    return Finding.model_validate({**dict(known), **stated, **raised})


def _exact(identities: tuple[Identity, ...], token: str, *, ids: bool) -> list[Identity]:
    wanted = token.lower()
    return [one for one in identities if wanted in (one.ids if ids else one.aliases)]


def _names_another(resources: Mapping[str, Resource], meant: Resource, by_name: list[Identity]) -> bool:
    named = [resources[one.resource_id] for one in by_name]
    return bool(named) and meant not in named and any(one.type == meant.type for one in named)


def _alert_owned(resource: Resource, category: str, key: str) -> bool:
    """Whether this only restates that a container is down, which alerts already say."""
    if category != "reliability" or resource.docker is None:
        return False
    down = resource.docker.container_state in ALERT_OWNED_STATES
    return down and any(re.search(rf"(^|-){word}(-|$)", key) for word in ALERT_WORDS)
