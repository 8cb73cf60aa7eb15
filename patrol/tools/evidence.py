"""The read tools of the detection profile, over what was collected (reference runtime, section 7.2)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from patrol.collect.metrics import usage
from patrol.collect.projection import BAD_HEALTH
from patrol.errors import EngineError
from patrol.findings.ledger import RunView
from patrol.findings.verifiers import Live
from patrol.records import Resource
from patrol.schema import obj, text
from patrol.tools.registry import Arguments, Code, Tool, ToolResult, failure, success

ROWS = 40
SAMPLED = 8
QUERY_ACTIONS = ("list", "get", "health", "topology", "search")
DOCKER_ACTIONS = ("updates", "services", "tasks", "swarm", "check_updates")
DOCKER_TYPES = frozenset({"app-container"})
HOST_TYPES = frozenset({"agent", "node", "vm"})
STORAGE_TYPES = frozenset({"storage", "physical_disk", "pbs"})
QUERY = obj(
    {
        "action": text("What to look at", enum=QUERY_ACTIONS),
        "resource_id": text("For get: the id of one resource"),
        "type": text("For list: only this type"),
        "query": text("For search: part of a name"),
    },
    required=("action",),
)
DOCKER = obj({"action": text("What to look at", enum=DOCKER_ACTIONS)}, required=("action",))
METRICS = obj(
    {
        "type": text("Which numbers", enum=("performance", "disks")),
        "resource_id": text("Only this resource"),
    },
    required=("type",),
)
STORAGE = obj(
    {"type": text("Which storage", enum=("pools", "disk_health", "backup_tasks", "backups"))},
    required=("type",),
)


def tool_names(types: Iterable[str]) -> tuple[str, ...]:
    """The smallest set of read tools for these resource types; all of them where a type is unknown."""
    kinds = set(types)
    if not kinds or kinds - DOCKER_TYPES - HOST_TYPES - STORAGE_TYPES:
        return ("pulse_query", "pulse_docker", "pulse_metrics", "pulse_storage")
    chosen = ["pulse_query"]
    if kinds & DOCKER_TYPES:
        chosen.append("pulse_docker")
    if kinds & (HOST_TYPES | STORAGE_TYPES):
        chosen.append("pulse_metrics")
    if kinds & STORAGE_TYPES:
        chosen.append("pulse_storage")
    return tuple(chosen)


def row(resource: Resource, *, in_scope: bool) -> dict[str, object]:
    """One resource as tools show it; label values are strangers' words and stay values."""
    shown: dict[str, object] = {
        "id": resource.id,
        "name": resource.name,
        "type": resource.type,
        "status": resource.status,
        "source": resource.source_status,
        "in_scope": in_scope,
    }
    if resource.docker is not None:
        facts = resource.docker
        shown |= {
            "state": facts.container_state,
            "health": facts.health,
            "restart_count": facts.restart_count,
            "exit_code": facts.exit_code,
            "oom_killed": facts.oom_killed,
            "image": facts.image,
            "started_at": facts.started_at,
            "healthcheck_targets": list(facts.healthcheck_targets),
        }
    return {**shown, "labels": dict(resource.labels)} if resource.labels else shown


@dataclass(frozen=True, slots=True)
class Evidence:
    """Read tools over one run's view."""

    view: RunView
    source: Live

    def tools(self) -> tuple[Tool, ...]:
        """Those of the read tools that fit the types in scope."""
        every = (
            Tool(
                "pulse_query", "Look at resources: state, health, restarts, dependencies.", QUERY, self.query
            ),
            Tool("pulse_docker", "Ask the Docker engine about services and updates.", DOCKER, self.docker),
            Tool("pulse_metrics", "Processor and memory use in percent.", METRICS, self.metrics),
            Tool("pulse_storage", "Pools, disks and backups.", STORAGE, self.storage),
        )
        wanted = tool_names(one.type for one in self.view.scoped)
        return tuple(tool for tool in every if tool.name in wanted)

    def query(self, arguments: Arguments) -> ToolResult:
        return self._actions()[str(arguments["action"])](arguments)

    def _actions(self) -> Mapping[str, Callable[[Arguments], ToolResult]]:
        return {
            "list": self._list,
            "get": self._get,
            "health": self._health,
            "topology": self._topology,
            "search": self._search,
        }

    def _rows(self, resources: Iterable[Resource]) -> ToolResult:
        rows = [row(one, in_scope=one.id in self.view.in_scope) for one in resources]
        rows.sort(key=lambda one: not one["in_scope"])
        left = {"left_out": len(rows) - ROWS} if len(rows) > ROWS else {}
        return success(count=len(rows), resources=rows[:ROWS], **left)

    def _list(self, arguments: Arguments) -> ToolResult:
        kind = arguments.get("type")
        return self._rows(one for one in self.view.resources.values() if kind in (None, "", one.type))

    def _get(self, arguments: Arguments) -> ToolResult:
        token = str(arguments.get("resource_id", "")).strip().lower()
        known = self.view.identities
        found = [i for i in known if token in i.ids] or [i for i in known if token in i.aliases]
        if len(found) != 1:
            return failure(Code.NOT_FOUND, "no single resource has that id")
        return self._rows([self.view.resources[found[0].resource_id]])

    def _health(self, _: Arguments) -> ToolResult:
        return self._rows(one for one in self.view.scoped if one.docker is not None)

    def _search(self, arguments: Arguments) -> ToolResult:
        part = str(arguments.get("query", "")).strip().lower()
        return self._rows(one for one in self.view.resources.values() if part in one.name.lower())

    def _topology(self, _: Arguments) -> ToolResult:
        by_name = {one.name.lower(): one for one in self.view.resources.values()}
        edges = [
            {
                "from": one.id,
                "from_name": one.name,
                "calls": target,
                "to": by_name[target].id if target in by_name else "",
                "to_state": _state(by_name.get(target)),
            }
            for one in self.view.resources.values()
            for target in (one.docker.healthcheck_targets if one.docker else ())
        ]
        return success(count=len(edges), healthcheck_calls=edges[:ROWS])

    def docker(self, arguments: Arguments) -> ToolResult:
        note = (
            "unavailable: a plain Docker engine without swarm and without registry access says nothing here"
        )
        return success(action=arguments["action"], available=False, items=[], note=note)

    def metrics(self, arguments: Arguments) -> ToolResult:
        if arguments["type"] == "disks":
            return success(type="disks", disks=[], note="unavailable: the Docker engine reports no disks")
        asked = arguments.get("resource_id")
        chosen = [one for one in self.view.scoped if asked in (None, "", one.id)][:SAMPLED]
        try:
            numbers = [number for one in chosen if (number := self._numbers(one)) is not None]
        except EngineError as exc:
            return failure(Code.EXECUTION_FAILED, exc.message)
        return success(type="performance", resources=numbers)

    def _numbers(self, resource: Resource) -> dict[str, object] | None:
        seen = usage(self.source.usage(resource.id))
        if seen.cpu is None and seen.memory is None:
            return None
        pair = {"cpu": {"current": seen.cpu}, "memory": {"current": seen.memory}}
        return {"resource_id": resource.id, "name": resource.name, "type": resource.type, **pair}

    def storage(self, arguments: Arguments) -> ToolResult:
        note = "unavailable: the Docker engine reports no pools, disks or backups"
        return success(type=arguments["type"], items=[], note=note)


def _state(resource: Resource | None) -> str:
    if resource is None or resource.docker is None:
        return "unknown"
    health = resource.docker.health
    return (
        f"{resource.docker.container_state}, {health}"
        if health in BAD_HEALTH
        else resource.docker.container_state
    )
