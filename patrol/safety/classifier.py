"""What a call of a tool does, known before it runs (assistant safety, section 6)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from contract.errors import PatrolQualificationError
from patrol.safety.machine import Kind


class Mutation(StrEnum):
    """What a call may change."""

    NONE = "none"
    PULSE_STATE = "pulse_state"
    INFRASTRUCTURE = "infrastructure"


@dataclass(frozen=True, slots=True)
class ToolClass:
    """Kind for the state machine, and what the call may change."""

    kind: Kind
    mutation: Mutation = Mutation.NONE


RESOLVE = ToolClass(Kind.RESOLVE)
READ = ToolClass(Kind.READ)
PULSE_WRITE = ToolClass(Kind.WRITE, Mutation.PULSE_STATE)
INFRASTRUCTURE_WRITE = ToolClass(Kind.WRITE, Mutation.INFRASTRUCTURE)
QUESTION = ToolClass(Kind.USER_INPUT)


@dataclass(frozen=True, slots=True)
class Discriminated:
    """A tool whose class hangs on one argument."""

    argument: str
    cases: Mapping[str, ToolClass]


def _cases(argument: str, **groups: tuple[str, ToolClass]) -> Discriminated:
    return Discriminated(argument, {name: cls for names, cls in groups.values() for name in names.split()})


STATIC: Mapping[str, ToolClass] = {
    "pulse_query": RESOLVE,
    **dict.fromkeys(("pulse_metrics", "pulse_storage", "pulse_pmg", "pulse_summarize", "pulse_read"), READ),
    **dict.fromkeys(("pulse_control", "pulse_file_edit"), INFRASTRUCTURE_WRITE),
    **dict.fromkeys(("patrol_get_findings", "patrol_action_capabilities", "patrol_propose_action"), READ),
    **dict.fromkeys(
        (
            "patrol_report_finding",
            "patrol_assess_finding",
            "patrol_resolve_finding",
            "patrol_propose_observer",
        ),
        PULSE_WRITE,
    ),
}
DISCRIMINATED: Mapping[str, Discriminated] = {
    "pulse_discovery": _cases("action", reads=("get list run", RESOLVE)),
    "pulse_alerts": _cases(
        "action", reads=("list findings resolved", READ), writes=("resolve dismiss", PULSE_WRITE)
    ),
    "pulse_kubernetes": _cases("type", reads=("clusters nodes pods deployments logs", READ)),
    "pulse_docker": _cases("action", reads=("updates services tasks swarm check_updates", READ)),
    "pulse_knowledge": _cases(
        "action", reads=("recall incidents correlate", READ), writes=("remember", PULSE_WRITE)
    ),
}
_WRITERS = (
    "run_command",
    "set_resource_url",
    "pulse_run_command",
    "pulse_control_guest",
    "pulse_control_docker",
)
_RESOLVERS = (
    "pulse_search_resources",
    "pulse_get_resource",
    "pulse_get_topology",
    "pulse_list_infrastructure",
    "pulse_get_connection_health",
)
_READERS = (
    "fetch_url",
    "pulse_get_docker_logs",
    "pulse_get_performance_metrics",
    "pulse_get_temperatures",
    "pulse_get_baselines",
    "pulse_get_patterns",
)
UNREGISTERED: Mapping[str, ToolClass] = {
    "pulse_question": QUESTION,
    **dict.fromkeys(_WRITERS, INFRASTRUCTURE_WRITE),
    **dict.fromkeys(_RESOLVERS, RESOLVE),
    **dict.fromkeys(_READERS, READ),
}
WRITE_WORDS = frozenset(("start", "stop", "restart", "delete", "shutdown", "reboot", "write", "append")) | {
    *("update", "trigger", "resolve", "dismiss", "control"),
}
READ_WORDS = frozenset(
    ("get", "list", "search", "query", "read", "logs", "status", "health", "describe", "inspect", "show")
)
LIFECYCLE_TOOLS = frozenset({"patrol_report_finding", "patrol_assess_finding", "patrol_resolve_finding"})
EXEMPT_TOOLS = LIFECYCLE_TOOLS | {"patrol_propose_observer"}


def classify(tool: str, arguments: Mapping[str, object]) -> ToolClass:
    """The class of one call; whatever is missing or unknown counts as a change of infrastructure."""
    if tool in STATIC:
        return STATIC[tool]
    if tool in DISCRIMINATED:
        rule = DISCRIMINATED[tool]
        return rule.cases.get(_word(arguments.get(rule.argument)), INFRASTRUCTURE_WRITE)
    return UNREGISTERED.get(tool) or _by_words(arguments)


def _by_words(arguments: Mapping[str, object]) -> ToolClass:
    words = {_word(arguments.get("action")), _word(arguments.get("operation"))}
    if not words & WRITE_WORDS and words & READ_WORDS:
        return READ
    return INFRASTRUCTURE_WRITE


def _word(value: object) -> str:
    return value.strip().lower() if isinstance(value, str) else ""


class CoverageError(PatrolQualificationError):
    """A tool was to be registered whose schema and classification disagree."""


def check_coverage(tool: str, enums: Mapping[str, Iterable[str]]) -> None:
    """Refuse a tool that is not classified, or whose discriminator's enum differs from the classified cases.

    `enums` gives the enum of each argument that has one. Raises CoverageError.
    """
    if tool in STATIC:
        return
    rule = DISCRIMINATED.get(tool)
    if rule is None:
        raise CoverageError(f"the tool {tool} is not classified", hint="add it to patrol.safety.classifier")
    offered = set(enums.get(rule.argument, ()))
    if offered != set(rule.cases):
        raise CoverageError(
            f"{tool}.{rule.argument}: offered {sorted(offered)}, classified {sorted(rule.cases)}",
            hint="the two must name the same values",
        )
