"""What a call does is known before it runs, and doubt counts as a change."""

from __future__ import annotations

import pytest

from patrol.safety.classifier import (
    DISCRIMINATED,
    INFRASTRUCTURE_WRITE,
    PULSE_WRITE,
    QUESTION,
    READ,
    RESOLVE,
    CoverageError,
    ToolClass,
    check_coverage,
    classify,
)

TABLE: list[tuple[str, dict[str, object], ToolClass]] = [
    ("pulse_query", {}, RESOLVE),
    ("pulse_metrics", {}, READ),
    ("pulse_storage", {}, READ),
    ("pulse_pmg", {}, READ),
    ("pulse_summarize", {}, READ),
    ("pulse_read", {"action": "exec", "command": "grep x y"}, READ),
    ("pulse_control", {"action": "list"}, INFRASTRUCTURE_WRITE),
    ("pulse_file_edit", {"action": "read"}, INFRASTRUCTURE_WRITE),
    ("pulse_discovery", {"action": "get"}, RESOLVE),
    ("pulse_discovery", {}, INFRASTRUCTURE_WRITE),
    ("pulse_alerts", {"action": "list"}, READ),
    ("pulse_alerts", {"action": "dismiss"}, PULSE_WRITE),
    ("pulse_alerts", {}, INFRASTRUCTURE_WRITE),
    ("pulse_alerts", {"action": 7}, INFRASTRUCTURE_WRITE),
    ("pulse_alerts", {"action": "explode"}, INFRASTRUCTURE_WRITE),
    ("pulse_kubernetes", {"action": "pods"}, INFRASTRUCTURE_WRITE),
    ("pulse_kubernetes", {"type": " Pods "}, READ),
    ("pulse_docker", {"action": "SWARM"}, READ),
    ("pulse_knowledge", {"action": "remember"}, PULSE_WRITE),
    ("patrol_get_findings", {}, READ),
    ("patrol_action_capabilities", {}, READ),
    ("patrol_propose_action", {}, READ),
    ("patrol_report_finding", {}, PULSE_WRITE),
    ("patrol_assess_finding", {}, PULSE_WRITE),
    ("pulse_question", {}, QUESTION),
    ("fetch_url", {}, READ),
    ("run_command", {"action": "list"}, INFRASTRUCTURE_WRITE),
    ("pulse_get_topology", {}, RESOLVE),
    ("pulse_get_docker_logs", {}, READ),
    ("some_new_tool", {"action": "list"}, READ),
    ("some_new_tool", {"action": "list", "operation": "delete"}, INFRASTRUCTURE_WRITE),
    ("some_new_tool", {}, INFRASTRUCTURE_WRITE),
]


@pytest.mark.parametrize(("tool", "arguments", "expected"), TABLE)
def test_classifier_table(tool: str, arguments: dict[str, object], expected: ToolClass) -> None:
    assert classify(tool, arguments) == expected


@pytest.mark.parametrize("tool", sorted(DISCRIMINATED))
@pytest.mark.parametrize("value", [None, 1, True, [], {}, "", "unheard-of"])
def test_a_doubtful_discriminator_fails_closed(tool: str, value: object) -> None:
    argument = DISCRIMINATED[tool].argument
    assert classify(tool, {argument: value}) == INFRASTRUCTURE_WRITE


@pytest.mark.parametrize("tool", sorted(DISCRIMINATED))
def test_the_schema_must_offer_exactly_what_is_classified(tool: str) -> None:
    rule = DISCRIMINATED[tool]
    known = sorted(rule.cases)
    check_coverage(tool, {rule.argument: known})
    for wrong in (known[1:], [*known, "more"], []):
        with pytest.raises(CoverageError, match=tool):
            check_coverage(tool, {rule.argument: wrong})


def test_an_unclassified_tool_cannot_be_registered() -> None:
    with pytest.raises(CoverageError, match="pulse_surprise"):
        check_coverage("pulse_surprise", {})
