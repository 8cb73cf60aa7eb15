"""What becomes of findings that were there before a run."""

from __future__ import annotations

from typing import Any

import pytest

from patrol.clock import rfc3339
from patrol.findings.keys import RESTARTS
from patrol.records import Finding
from tests.patrol.fakes import START_NS, Bench, FakeModel, call, calls


@pytest.fixture
def known(bench: Bench) -> Bench:
    """`api` is unhealthy and has a finding about it; `web` is healthy."""
    bench.engine.add("api", health="unhealthy")
    bench.engine.add("web")
    bench.run(FakeModel(calls(bench.report("api"))), "api", "web")
    return bench


def finding(bench: Bench) -> Finding:
    return bench.store.active_findings()[0]


def verdict(bench: Bench, said: str, **changed: str) -> dict[str, str]:
    return {"finding_id": finding(bench).id, "verdict": said, "evidence": "seen", "reason": "so", **changed}


def assess(*verdicts: dict[str, str]) -> FakeModel:
    return FakeModel(*(calls(call("patrol_assess_finding", **one)) for one in verdicts))


def test_present_advances_the_finding_and_counts_as_existing(known: Bench) -> None:
    before = finding(known)
    record = known.run(assess(verdict(known, "present", evidence="health unhealthy")), "api", "web")
    after = finding(known)
    assert (record.existing_findings, record.new_findings, record.status) == (1, 0, "issues_found")
    assert record.finding_ids == (before.id,)
    assert record.finding_assessments is not None
    assert [one.verdict for one in record.finding_assessments] == ["present"]
    assert (after.times_raised, after.evidence, after.last_run_id) == (2, "health unhealthy", record.id)
    assert after.last_seen_at > before.last_seen_at


def test_resolved_is_refused_while_docker_still_shows_the_fault(known: Bench) -> None:
    model = assess(verdict(known, "resolved"), verdict(known, "present"))
    record = known.run(model, "api", "web")
    refused, accepted = model.told("patrol_assess_finding")
    assert refused["error"]["code"] == "ACTION_NOT_ALLOWED"
    assert "still failing" in refused["error"]["message"]
    assert accepted["applied"] is True
    assert (record.resolved_findings, record.existing_findings) == (0, 1)


def test_resolved_is_accepted_once_docker_shows_health(known: Bench) -> None:
    known.engine.add("api")
    record = known.run(assess(verdict(known, "resolved")), "api", "web")
    assert (record.resolved_findings, record.existing_findings, record.status) == (1, 0, "healthy")
    assert record.findings_summary == "All healthy"
    assert known.store.active_findings() == []
    assert len(known.store.resolved_findings(5)) == 1


@pytest.mark.parametrize("health", ["starting", ""])
def test_resolved_is_refused_while_nothing_can_be_said(known: Bench, health: str) -> None:
    known.engine.add("api", health=health)
    model = assess(verdict(known, "resolved"))
    known.run(model, "api", "web")
    assert "inconclusive" in model.told("patrol_assess_finding")[0]["error"]["message"]


def test_resolved_is_refused_while_the_engine_does_not_answer(known: Bench) -> None:
    ident = finding(known).id

    def break_engine(_: object) -> object:
        known.engine.broken = True
        return calls(call("patrol_assess_finding", **{**verdict(known, "resolved"), "finding_id": ident}))

    model = FakeModel(break_engine)  # type: ignore[arg-type]
    known.run(model, "api", "web")
    assert "inconclusive" in model.told("patrol_assess_finding")[0]["error"]["message"]


def test_uncertain_changes_nothing_and_makes_the_run_inconclusive(known: Bench) -> None:
    before = finding(known)
    record = known.run(assess(verdict(known, "uncertain")), "api", "web")
    assert finding(known) == before
    assert (record.status, record.existing_findings) == ("issues_found", 0)
    assert "1 uncertain" in record.findings_summary


@pytest.mark.parametrize("name", ["finding_id", "verdict", "evidence", "reason"])
def test_all_four_fields_are_mandatory(known: Bench, name: str) -> None:
    model = assess(verdict(known, "present", **{name: " "}), verdict(known, "present"))
    known.run(model, "api", "web")
    assert model.told("patrol_assess_finding")[0]["error"]["code"] == "INVALID_INPUT"


def test_a_second_verdict_in_the_same_run_is_an_error(known: Bench) -> None:
    model = assess(verdict(known, "present"), verdict(known, "uncertain"))
    record = known.run(model, "api", "web")
    assert model.told("patrol_assess_finding")[1]["error"]["code"] == "ACTION_NOT_ALLOWED"
    assert record.finding_assessments is not None
    assert [one.verdict for one in record.finding_assessments] == ["present"]


def test_an_unknown_id_lists_the_valid_ones(known: Bench) -> None:
    model = assess(verdict(known, "present", finding_id="0123456789"), verdict(known, "present"))
    known.run(model, "api", "web")
    error = model.told("patrol_assess_finding")[0]["error"]
    assert (error["code"], error["details"]["valid_ids"]) == ("NOT_FOUND", [finding(known).id])


@pytest.mark.parametrize(("length", "accepted"), [(8, True), (7, False)])
def test_a_unique_fragment_of_eight_characters_is_enough(known: Bench, length: int, accepted: bool) -> None:
    model = assess(verdict(known, "present", finding_id=finding(known).id[:length]))
    known.run(model, "api", "web")
    assert model.told("patrol_assess_finding")[0]["ok"] is accepted


def test_a_finding_out_of_scope_cannot_be_assessed(known: Bench) -> None:
    model = assess(verdict(known, "present"))
    record = known.run(model, "web")
    assert model.told("patrol_assess_finding")[0]["error"]["code"] == "NOT_FOUND"
    assert (record.finding_ids, record.findings_summary) == ((), "All healthy")


def test_a_finding_of_this_run_needs_no_verdict_and_takes_none(bench: Bench) -> None:
    bench.engine.add("api", health="unhealthy")

    def again(request: object) -> object:
        ident = bench.store.active_findings()[0].id
        return calls(
            call("patrol_assess_finding", finding_id=ident, verdict="present", evidence="e", reason="r")
        )

    model = FakeModel(calls(bench.report("api")), again)  # type: ignore[arg-type]
    record = bench.run(model, "api")
    told = model.told("patrol_assess_finding")[0]
    assert (told["applied"], told["reason"]) == (False, "new_finding_reported_this_run")
    assert (record.new_findings, record.finding_assessments, record.error_count) == (1, None, 0)


def test_reporting_and_confirming_the_same_finding_counts_once(known: Bench) -> None:
    model = FakeModel(
        calls(known.report("api")), calls(call("patrol_assess_finding", **verdict(known, "present")))
    )
    record = known.run(model, "api", "web")
    assert (record.existing_findings, len(record.finding_ids)) == (1, 1)
    assert finding(known).times_raised == 2


def test_get_findings_shows_the_scope_and_filters(known: Bench) -> None:
    mine = call("patrol_get_findings")
    other = call("patrol_get_findings", severity="critical")
    model = FakeModel(calls(mine, other), calls(call("patrol_assess_finding", **verdict(known, "present"))))
    known.run(model, "api", "web")
    listed, filtered = model.told("patrol_get_findings")
    assert [one["id"] for one in listed["findings"]] == [finding(known).id]
    assert filtered["count"] == 0


def test_without_a_verdict_a_sweep_asks_for_it(known: Bench) -> None:
    model = FakeModel(
        calls(call("pulse_query", action="list")),
        calls(known.report("web", key="noise")),  # keeps the main pass from covering the finding of api
        lambda _: calls(),
    )
    record = known.run(model, "api", "web")
    swept = [one for one in model.requests if [tool.name for tool in one.tools] == ["patrol_assess_finding"]]
    assert swept
    assert record.status == "error"
    assert record.error_summary == "Patrol finding assessment incomplete"


def test_a_verdict_in_the_sweep_completes_the_run(known: Bench) -> None:
    def sweep(request: object) -> object:
        return calls(call("patrol_assess_finding", **verdict(known, "present")))

    quiet = calls(known.report("api"))
    model = FakeModel(quiet)
    assert known.run(model, "api", "web").error_count == 0
    known.engine.add("api", state="exited", health="")
    main_pass_says_nothing = lambda _: calls()  # noqa: E731
    model = FakeModel(main_pass_says_nothing, sweep)  # type: ignore[arg-type]
    record = known.run(model, "api", "web")
    assert (record.error_count, record.existing_findings) == (0, 1)


def test_restart_loops_are_judged_by_docker(bench: Bench) -> None:
    recent = rfc3339(START_NS)
    states: list[tuple[dict[str, Any], str]] = [
        ({"state": "restarting", "restarts": 5}, "still failing"),
        ({"state": "exited", "restarts": 5}, "inconclusive"),
        ({"state": "running", "restarts": 5, "started": recent}, "inconclusive"),
    ]
    bench.engine.add("api", health="", restarts=5)
    bench.run(FakeModel(calls(bench.report("api", key=RESTARTS))), "api")
    for state, said in states:
        bench.engine.add("api", **{"health": "", **state})
        model = assess(verdict(bench, "resolved"), verdict(bench, "present"))
        bench.run(model, "api")
        assert said in model.told("patrol_assess_finding")[0]["error"]["message"]
    bench.engine.add("api", health="", restarts=5, started="2026-11-01T00:00:00Z")
    record = bench.run(assess(verdict(bench, "resolved")), "api")
    assert record.resolved_findings == 1


def test_a_finding_nobody_can_verify_is_resolved_by_verdict_alone(bench: Bench) -> None:
    bench.engine.add("api")
    bench.run(FakeModel(calls(bench.report("api", key="odd-config", category="general"))), "api")
    assert bench.run(assess(verdict(bench, "resolved")), "api").resolved_findings == 1


@pytest.mark.parametrize("key", ["backup-stale", "disk-high"])
def test_what_the_engine_cannot_see_is_never_taken_for_gone(bench: Bench, key: str) -> None:
    bench.engine.add("api")
    bench.run(FakeModel(calls(bench.report("api", key=key))), "api")
    model = assess(verdict(bench, "resolved"))
    bench.run(model, "api")
    assert "inconclusive" in model.told("patrol_assess_finding")[0]["error"]["message"]


def test_a_full_run_closes_findings_on_containers_that_are_gone(known: Bench) -> None:
    del known.engine.inspected["api"]
    record = known.run(FakeModel())
    assert known.store.active_findings() == []
    assert (record.resolved_findings, record.findings_summary) == (0, "All healthy")


def sample(cpu: int) -> dict[str, Any]:
    return {
        "cpu_stats": {"cpu_usage": {"total_usage": cpu}, "system_cpu_usage": 100, "online_cpus": 1},
        "precpu_stats": {"cpu_usage": {"total_usage": 0}, "system_cpu_usage": 0},
    }


@pytest.mark.parametrize(("now", "resolved"), [(sample(71), 0), (sample(70), 1), ({}, 0)])
def test_a_load_is_gone_only_when_measured_below_its_threshold(
    bench: Bench, now: dict[str, Any], resolved: int
) -> None:
    ident = bench.engine.add("api")
    bench.engine.samples[ident] = sample(90)
    bench.run(FakeModel(calls(bench.report("api", key="high-cpu", category="performance"))), "api")
    bench.engine.samples[ident] = now
    assert bench.run(assess(verdict(bench, "resolved")), "api").resolved_findings == resolved


def test_a_container_that_is_gone_has_no_fault_left(known: Bench) -> None:
    ident = finding(known).id

    def remove(_: object) -> Any:
        del known.engine.inspected["api"]
        return calls(
            call("patrol_assess_finding", finding_id=ident, verdict="resolved", evidence="e", reason="r")
        )

    assert known.run(FakeModel(remove), "api", "web").resolved_findings == 1
