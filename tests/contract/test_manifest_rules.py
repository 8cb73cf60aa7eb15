"""Each rule of a manifest: breaking it is reported, at its place, and nothing else is."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from contract.manifest import decode_manifest, validate
from contract.manifest_advice import advise
from contract.manifest_rules import MIN_PERFECT_RUNS

GOLDEN: dict[str, Any] = json.loads((Path(__file__).parents[1] / "golden/golden.json").read_text())
PRE = "inventory.same_as_pre"
SCRATCH = "docker.scratch_available_bytes"
RESERVED = "com.pulse.intelligence-lab.run"
Edit = Callable[[dict[str, Any]], object]


def remediation() -> dict[str, Any]:
    """A valid manifest of the richest track, with room for every rule."""
    manifest: dict[str, Any] = json.loads(GOLDEN["minimal_manifest"])
    manifest["track"] = "remediation"
    manifest["patrol"]["mode"] = "approval"
    manifest["resources"][0]["scratch_storage"] = True
    manifest["negative_controls"] = [{"resource": "shed", "reason": "healthy"}]
    manifest["investigation"] = {
        "min_evidence_calls": 1,
        "required_summary_term_groups": [["stopped", "exited"]],
        "root_cause_resources": ["loom"],
        "affected_resources": ["loom"],
        "require_completed_status": True,
    }
    manifest["remediation"] = {
        "action_target": "loom",
        "expected_capabilities": ["restart"],
        "decision": "approve_execute",
        "decision_reason": "to see it done",
        "action_timeout": "5m",
        "require_exact_origin": True,
        "require_lifecycle_verification": True,
        "allowed_verification_statuses": ["verified"],
        "postconditions": [{"probe": "docker.running", "target": "loom", "operator": "eq", "value": True}],
    }
    return manifest


def broken_places(manifest: dict[str, Any]) -> list[str]:
    return [fault.where for fault in validate(decode_manifest(json.dumps(manifest).encode()))]


def put(path: str, value: Any) -> Edit:
    """An edit that puts a value at a pointer; `...` removes the member."""

    def edit(manifest: dict[str, Any]) -> None:
        *parents, last = (int(part) if part.isdigit() else part for part in path.split("/")[1:])
        here: Any = manifest
        for part in parents:
            here = here[part]
        if value is ...:
            del here[last]
        else:
            here[last] = value

    return edit


def predicate(**changes: Any) -> dict[str, Any]:
    return {"probe": "docker.status", "target": "loom", "operator": "eq", "value": "exited", **changes}


# Pointer, new value, the places reported; `=` is the pointer itself.
RULES: list[tuple[str, Any, str]] = [
    ("/schema_version", "patrol.qual/v2", "="),
    ("/id", "Watch.x", "="),
    ("/version", 0, "="),
    ("/title", "\u3000", "="),
    ("/description", "", "="),
    ("/owner", "\t", "="),
    ("/lab/driver", "podman", "="),
    ("/lab/driver", "replay", "="),
    ("/resources/0/kind", "vm", "="),
    ("/lab/image", "", "/resources/0/image /resources/1/image"),
    ("/resources/1/labels", {RESERVED: "x"}, f"=/{RESERVED}"),
    ("/resources/1/alias", "Shed", "/resources/1/alias /negative_controls/0/resource"),
    ("/resources/1/alias", "loom", "/resources/1/alias /negative_controls/0/resource"),
    ("/baseline", [], "="),
    ("/baseline", ..., "="),
    ("/baseline/0/target", "attic", "="),
    ("/baseline/0/probe", "docker.cpu", "="),
    ("/baseline/0/operator", "ne", "="),
    ("/baseline/0/value", ..., "="),
    ("/baseline/0/timeout", "0s", "="),
    ("/baseline/0", predicate(probe="docker.health", target="shed", operator="not_eq"), "=/operator"),
    ("/negative_controls/0/resource", "attic", "="),
    ("/teardown/predicates", [predicate(target="attic")], "=/0/target"),
    ("/teardown/predicates", [predicate(probe=PRE, target="attic")], "=/0/target"),
    ("/faults/0/id", "x", "="),
    ("/faults/0/causal_group", "", "="),
    ("/faults/0/target", "attic", "/faults/0/target /faults/0/expected_finding/resource"),
    ("/faults/0/injector/kind", "shell", "="),
    ("/faults/0/injector/resource", "attic", "="),
    ("/faults/0/injector", {"kind": "fill_scratch_storage", "resource": "shed"}, "=/resource"),
    ("/faults/0/injector", {"kind": "fill_scratch_storage", "resource": "loom", "value": "1"}, "=/value"),
    ("/faults/0/oracle", [], "="),
    ("/faults/0/oracle/0/value", ..., "="),
    ("/faults/0/oracle/0/operator", "not_eq", "="),
    ("/faults/0/oracle/0/operator", "in", "="),
    ("/faults/0/oracle/0", predicate(probe=SCRATCH, target="shed"), "=/target"),
    ("/faults/0/revert_oracle", [predicate(timeout="soon")], "=/0/timeout"),
    ("/faults/0/detect_within", "-1s", "="),
    ("/faults/0/required", False, "="),
    ("/faults/0/related_resources", ["attic"], "/faults/0/related_resources/0"),
    ("/faults/0/related_resources", ["loom"], "="),
    ("/faults/0/expected_finding/resource_types", [], "="),
    ("/faults/0/expected_finding/categories", ..., "="),
    ("/faults/0/expected_finding/severities", [], "="),
    ("/faults/0/expected_finding/resource", "shed", "="),
    ("/faults/0/expected_finding/resource", "attic", "="),
    ("/faults/0/expected_finding/max_primary_findings", 0, "="),
    ("/collection/sources", [], "="),
    ("/collection/require_exact_name", False, "="),
    ("/collection/convergence_timeout", "", "="),
    ("/collection/poll_interval", "0", "="),
    ("/patrol/mode", "full", "="),
    ("/patrol/run_timeout", "1 m", "="),
    ("/patrol/scope_resources", ["loom"], "="),
    ("/patrol/require_real_model", False, "="),
    ("/patrol/require_tool_call_evidence", False, "="),
    ("/security/require_fault_intact_after_patrol", False, "="),
    ("/security/require_no_unexpected_mutation", False, "="),
    ("/teardown/require_second_cleanup_noop", False, "/teardown"),
    ("/teardown/require_inventory_unchanged", False, "/teardown"),
    ("/budgets/collection_latency_p95", "x", "="),
    ("/budgets/patrol_latency_p95", "0.1ns", "="),
    ("/budgets/end_to_end_latency_p95", "", "="),
    ("/repeat/development", 0, "/repeat"),
    ("/repeat/development", 2, "/repeat"),
    ("/repeat/nightly", 23, "/repeat"),
    ("/repeat/qualification", 21, "="),
    ("/repeat/qualification", 0, "/repeat /repeat"),
    ("/investigation", ..., "="),
    ("/investigation/min_evidence_calls", 0, "="),
    ("/investigation/required_summary_term_groups", ..., "/investigation/required_summary_terms"),
    ("/investigation/required_summary_term_groups", [["x"], []], "=/1"),
    ("/investigation/required_summary_term_groups", [None], "=/0"),
    ("/investigation/required_summary_term_groups", [["x", " "]], "=/0"),
    ("/investigation/root_cause_resources", ["attic"], "/investigation/root_cause_resources/0"),
    ("/investigation/affected_resources", ["loom", "attic"], "/investigation/affected_resources/1"),
    ("/remediation", ..., "="),
    ("/remediation/action_target", "attic", "="),
    ("/remediation/expected_capabilities", [], "="),
    ("/remediation/decision", "maybe", "="),
    ("/remediation/decision_reason", " ", "="),
    ("/remediation/action_timeout", "0s", "="),
    ("/remediation/postconditions", [], "="),
    ("/remediation/postconditions/0/target", "attic", "="),
    ("/remediation/allowed_verification_statuses", [], "="),
    ("/faults/0/expected_finding/required_evidence", ["password: x"], "=/0"),
    ("/resources/1/labels", {"note": "api_key=abc"}, "=/note"),
    ("/baseline/0", predicate(value=["secret: x"]), "/baseline/0/value"),
]  # fmt: skip


def test_the_manifest_that_is_broken_below_is_valid() -> None:
    assert broken_places(remediation()) == []


@pytest.mark.parametrize(("path", "value", "places"), RULES, ids=lambda part: str(part)[:60])
def test_a_broken_rule_is_reported_at_its_place(path: str, value: Any, places: str) -> None:
    manifest = remediation()
    put(path, value)(manifest)
    assert broken_places(manifest) == places.replace("=", path).split()


def test_the_lists_without_which_nothing_can_run_are_demanded() -> None:
    manifest = remediation()
    manifest["resources"] = []
    assert "/resources" in broken_places(manifest)


def test_fault_ids_are_unique() -> None:
    manifest = remediation()
    manifest["faults"].append(copy.deepcopy(manifest["faults"][0]))
    assert broken_places(manifest) == ["/faults/1/id"]


def test_an_unknown_track_has_neither_investigation_nor_remediation() -> None:
    manifest = remediation()
    manifest["track"] = "audit"
    assert broken_places(manifest) == ["/track", "/investigation", "/remediation"]


def test_what_must_not_be_there_is_not_looked_into() -> None:
    manifest = remediation()
    manifest["track"] = "watch"
    manifest["remediation"]["decision"] = "maybe"
    manifest["remediation"]["postconditions"][0]["target"] = "attic"
    manifest["investigation"]["root_cause_resources"] = ["attic"]
    assert broken_places(manifest) == ["/investigation", "/remediation"]


def test_a_scope_needs_a_scoped_run_and_known_distinct_aliases() -> None:
    manifest = remediation()
    manifest["patrol"].update(scoped=True, scope_resources=["loom", "attic", "loom"])
    assert broken_places(manifest) == ["/patrol/scope_resources/1", "/patrol/scope_resources"]
    manifest["patrol"]["scope_resources"] = ["loom", "shed"]
    assert broken_places(manifest) == []


def test_only_a_healthy_watch_scenario_may_be_answered_without_tools() -> None:
    manifest = remediation()
    del manifest["investigation"], manifest["remediation"]
    manifest.update(track="watch", faults=[])
    manifest["patrol"]["require_tool_call_evidence"] = False
    assert broken_places(manifest) == []
    place = ["/patrol/require_tool_call_evidence"]
    assert broken_places({**manifest, "negative_controls": []}) == place
    assert broken_places({**manifest, "faults": remediation()["faults"]}) == place
    manifest["patrol"]["require_existing_reconfirmation"] = True
    assert broken_places(manifest) == place


def test_only_an_autonomous_repair_may_end_the_fault() -> None:
    manifest = remediation()
    manifest["security"]["require_fault_intact_after_patrol"] = False
    manifest["remediation"]["decision"] = "await_autonomous"
    assert broken_places(manifest) == ["/security/require_fault_intact_after_patrol"]
    manifest["patrol"]["mode"] = "autonomous"
    assert broken_places(manifest) == []
    del manifest["remediation"]
    assert "/security/require_fault_intact_after_patrol" in broken_places(manifest)


def test_without_a_fault_nothing_has_to_stay_intact() -> None:
    manifest = remediation()
    manifest["faults"] = []
    manifest["security"]["require_fault_intact_after_patrol"] = False
    assert broken_places(manifest) == []


def test_observing_needs_neither_reason_nor_postcondition() -> None:
    manifest = remediation()
    manifest["remediation"].update(decision="observe", decision_reason="", postconditions=None)
    assert broken_places(manifest) == []


def test_the_legacy_minimum_of_evidence_still_counts() -> None:
    manifest = remediation()
    manifest["investigation"].update(min_evidence_calls=0, min_evidence_ids=2)
    assert broken_places(manifest) == []
    manifest["investigation"].update(min_evidence_calls=-1, min_evidence_ids=0)
    assert broken_places(manifest) == ["/investigation/min_evidence_calls"]


def test_summary_terms_alone_are_enough() -> None:
    manifest = remediation()
    manifest["investigation"].update(required_summary_terms=["x"], required_summary_term_groups=[])
    assert broken_places(manifest) == []


def test_a_symptom_may_be_expected_on_a_related_resource() -> None:
    manifest = remediation()
    manifest["faults"][0].update(related_resources=["shed", "shed"])
    manifest["faults"][0]["expected_finding"]["resource"] = "shed"
    assert broken_places(manifest) == []


def test_the_fewest_runs_that_can_qualify_are_those_of_the_reference() -> None:
    assert GOLDEN["min_perfect_runs"] == MIN_PERFECT_RUNS


ADVICE: list[tuple[str, Any, str]] = [
    ("/resources/0/name", "loom-${run_id}", "="),
    ("/resources/0/name", "pulse-qual-loom", "="),
    ("/resources/0/name", "pulse-qual-${run_id}-L", "="),
    ("/resources/0/health_every", "soon", "="),
    ("/patrol/investigation_timeout", "later", "="),
    ("/faults/0/oracle/0/value", "false", "="),
    ("/faults/0/oracle/0", predicate(probe="docker.health", value=True), "=/value"),
    ("/faults/0/oracle/0", predicate(probe="docker.restart_count", value=True), "=/value"),
    ("/faults/0/oracle/0", predicate(probe="docker.restart_count", value=4, operator="gt"), "=/value"),
    ("/faults/0/oracle/0", predicate(probe="docker.restart_count", value=4, operator="gte"), ""),
    ("/faults/0/oracle/0", predicate(probe="docker.health"), ""),
    ("/faults/0/oracle/0", predicate(), ""),
    ("/baseline/0", predicate(probe="docker.running", target="shed", value=1), "/baseline/0/value"),
    ("/faults/0/injector/kind", "marker_enable", "/faults/0/injector/resource"),
    ("/negative_controls/0/reason", " ", "="),
    ("/teardown/predicates", [], "="),
]  # fmt: skip


@pytest.mark.parametrize(("path", "value", "places"), ADVICE, ids=lambda part: str(part)[:60])
def test_what_will_go_wrong_at_run_time_is_a_warning_and_no_fault(path: str, value: Any, places: str) -> None:
    manifest = remediation()
    manifest["resources"][1]["name"] = ""
    manifest["teardown"]["predicates"] = [predicate(probe="inventory.same_as_pre")]
    put(path, value)(manifest)
    decoded = decode_manifest(json.dumps(manifest).encode())
    assert validate(decoded) == ()
    assert [fault.where for fault in advise(decoded)] == places.replace("=", path).split()
