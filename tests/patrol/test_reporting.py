"""Every check between a model's claim and a stored finding."""

from __future__ import annotations

from typing import Any

import pytest

from patrol.collect.metrics import Thresholds
from patrol.findings.keys import finding_id, normalise_key
from patrol.findings.reporting import REQUIRED
from patrol.providers.base import Call
from tests.patrol.fakes import Bench, FakeModel, call, calls

CALM = {
    "cpu_stats": {"cpu_usage": {"total_usage": 700}, "system_cpu_usage": 1000, "online_cpus": 1},
    "precpu_stats": {"cpu_usage": {"total_usage": 0}, "system_cpu_usage": 0},
}
BUSY = {**CALM, "cpu_stats": {"cpu_usage": {"total_usage": 701}, "system_cpu_usage": 1000, "online_cpus": 1}}


@pytest.fixture
def sick(bench: Bench) -> Bench:
    """`api` is unhealthy, `web` is healthy, `old` has exited."""
    bench.engine.add("api", health="unhealthy")
    bench.engine.add("web")
    bench.engine.add("old", state="exited", health="")
    return bench


def answers(
    bench: Bench, *reports: Call, scope: tuple[str, ...] = ("api", "web", "old")
) -> list[dict[str, Any]]:
    model = FakeModel(*(calls(one) for one in reports))
    bench.run(model, *scope)
    return model.told("patrol_report_finding")


def test_an_accepted_report_is_a_finding_with_the_specified_id(sick: Bench) -> None:
    told = answers(sick, sick.report("api", key="Container Unhealthy"))[0]
    expected = finding_id(sick.resource_id("api"), "reliability", "health-check-failed")
    assert told == {"ok": True, "finding_id": expected, "is_new": True}
    stored = sick.store.finding(expected)
    assert stored is not None
    assert (stored.key, stored.severity, stored.active) == ("health-check-failed", "warning", True)


@pytest.mark.parametrize("name", REQUIRED)
def test_each_required_field_may_not_be_blank(sick: Bench, name: str) -> None:
    told = answers(sick, sick.report("api", **{name: "  "}))[0]
    assert told["error"]["code"] == "INVALID_INPUT"
    assert sick.store.active_findings() == []


@pytest.mark.parametrize(
    "wrong",
    [{"severity": "info"}, {"category": "connectivity"}, {"resource_type": "container"}, {"more": "x"}],
)
def test_enums_and_members_are_closed(sick: Bench, wrong: dict[str, str]) -> None:
    told = answers(sick, sick.report("api", **wrong))[0]
    assert told["error"]["code"] == "INVALID_INPUT"


def test_id_and_name_of_two_containers_are_refused(sick: Bench) -> None:
    told = answers(sick, sick.report("api", resource_name="web"))[0]
    assert told["error"]["code"] == "ROUTING_MISMATCH"


def test_an_unknown_id_is_repaired_only_by_one_exact_name_in_scope(sick: Bench) -> None:
    assert answers(sick, sick.report("api", resource_id="container-7"))[0]["ok"] is True
    assert [one.resource_id for one in sick.store.active_findings()] == [sick.resource_id("api")]
    told = answers(sick, sick.report("api", resource_id="container-7", resource_name="ap"))[0]
    assert told["error"]["code"] == "NOT_FOUND"


def test_a_source_id_files_on_the_canonical_resource(sick: Bench) -> None:
    full = sick.engine.inspected["api"]["Id"]
    assert answers(sick, sick.report("api", resource_id=full))[0]["ok"] is True
    assert [one.resource_id for one in sick.store.active_findings()] == [sick.resource_id("api")]


def test_nothing_is_filed_outside_of_the_scope(sick: Bench) -> None:
    told = answers(sick, sick.report("api"), scope=("web",))[0]
    assert told["error"]["code"] == "POLICY_BLOCKED"
    assert sick.store.active_findings() == []


def test_a_name_out_of_scope_repairs_nothing(sick: Bench) -> None:
    told = answers(sick, sick.report("api", resource_id="nonsense"), scope=("web",))[0]
    assert told["error"]["code"] == "NOT_FOUND"


@pytest.mark.parametrize("key", ["container-exited", "service-down", "is-not-running", "DEAD"])
def test_that_a_container_is_down_belongs_to_the_alerts(sick: Bench, key: str) -> None:
    told = answers(sick, sick.report("old", key=key))[0]
    assert told == {"ok": True, "applied": False, "reason": "alert_owned_resource_state"}
    assert sick.store.active_findings() == []


def test_other_words_about_a_down_container_are_no_alert(sick: Bench) -> None:
    assert answers(sick, sick.report("old", key="downstream-broken"))[0]["is_new"] is True


def test_a_repeat_in_the_same_run_applies_nothing(sick: Bench) -> None:
    told = answers(sick, sick.report("api"), sick.report("api", title="again"))[1]
    assert (told["applied"], told["is_new"], told["reason"]) == (False, True, "finding_reported_this_run")
    assert [one.times_raised for one in sick.store.active_findings()] == [1]


def test_a_known_finding_reported_again_is_raised_and_not_new(sick: Bench) -> None:
    answers(sick, sick.report("api"))
    first = sick.store.active_findings()[0]
    told = answers(sick, sick.report("api", evidence="still unhealthy"))[0]
    again = sick.store.active_findings()[0]
    assert told["is_new"] is False
    assert (again.times_raised, again.evidence, again.detected_at) == (
        2,
        "still unhealthy",
        first.detected_at,
    )
    assert again.last_seen_at > first.last_seen_at


def test_a_resolved_finding_reported_again_is_a_regression(sick: Bench) -> None:
    answers(sick, sick.report("api"))
    known = sick.store.active_findings()[0]
    sick.store.put_finding(known.model_copy(update={"resolved_at": "2026-11-30T12:00:00Z"}))
    answers(sick, sick.report("api"))
    again = sick.store.active_findings()[0]
    assert (again.regressions, again.times_raised, again.resolved_at) == (1, 2, None)


@pytest.mark.parametrize(("sample", "accepted"), [(CALM, False), (BUSY, True)])
def test_a_metric_finding_needs_a_number_above_its_threshold(
    sick: Bench, sample: dict[str, object], accepted: bool
) -> None:
    assert Thresholds().cpu == 70.0
    sick.engine.samples[sick.engine.inspected["web"]["Id"]] = sample
    model = FakeModel(calls(sick.report("web", key="high-cpu", category="performance")))
    record = sick.run(model, "web")
    assert model.told("patrol_report_finding")[0]["ok"] is accepted
    assert record.rejected_findings == (0 if accepted else 1)
    assert record.findings_summary == ("1 warning" if accepted else "No accepted findings")


@pytest.mark.parametrize(
    "bypass", [{"severity": "critical"}, {"category": "reliability"}, {"category": "backup"}]
)
def test_critical_backup_and_reliability_bypass_the_metric(sick: Bench, bypass: dict[str, str]) -> None:
    sick.engine.samples[sick.engine.inspected["web"]["Id"]] = CALM
    told = answers(sick, sick.report("web", **{"key": "high-cpu", "category": "performance", **bypass}))[0]
    assert told["ok"] is True


@pytest.mark.parametrize(
    ("said", "key"),
    [
        ("healthcheck_failed", "health-check-failed"),
        (" Unhealthy  Container ", "health-check-failed"),
        ("CPU usage high", "cpu-high"),
        ("crash-loop", "restart-loop"),
        ("my own key", "my-own-key"),
    ],
)
def test_keys_are_normalised(said: str, key: str) -> None:
    assert normalise_key(said) == key


def test_a_report_with_broken_json_changes_nothing(sick: Bench) -> None:
    told = answers(sick, call("patrol_report_finding", raw='{"key": "x", "sev'))[0]
    assert told["error"]["code"] == "INVALID_INPUT"
