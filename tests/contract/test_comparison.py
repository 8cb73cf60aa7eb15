"""Rules of comparing and qualifying that the published example leaves open."""

from __future__ import annotations

from typing import Any

import pytest
from runs import WHEN, catalogue, failed, having, manifest, report

from contract.comparison import ComparisonError, compare, compare_trials, is_control, milliseconds
from contract.comparison_records import ComparisonReport, Trial
from contract.manifest import Manifest
from contract.qualification import QualificationError, known_track, qualify
from contract.report import RunReport
from contract.wilson import IntervalError

OTHER = manifest(id="watch.other-loom")
EDITED = manifest(description="edited")


def control(number: int = 1) -> RunReport:
    return report(number, environment={"model": "control:silent", "provider": " Control "})


def judged(*reports: RunReport, track: str = "watch", of: tuple[Manifest, ...] = ()) -> ComparisonReport:
    return qualify(compare(reports, WHEN).report, track, catalogue(*of))


def failures(comparison: ComparisonReport) -> list[str]:
    return [": ".join(text.split(": ")[:-1]) for text in comparison.qualification[0].failures]


def clean(count: int = 22, **changes: Any) -> list[RunReport]:
    return [report(number, **changes) for number in range(1, count + 1)]


def test_controls_are_left_out_and_counted() -> None:
    compared = compare([report(), control(), control(2)], WHEN)
    assert [summary.model for summary in compared.report.models] == ["acme:m1"]
    assert compared.dropped_controls == 2


def test_a_calibration_compares_controls_too() -> None:
    compared = compare([report(), control()], WHEN, calibration=True)
    assert sorted(summary.model for summary in compared.report.models) == ["acme:m1", "control:silent"]
    assert compared.dropped_controls == 0


def test_controls_spoil_no_comparability() -> None:
    dirty = report(9, environment={"provider": "control", "git_dirty": True, "git_sha": "s9"})
    assert judged(*clean(), dirty).qualification[0].qualified


@pytest.mark.parametrize(
    ("reports", "why"), [([], "there is no report"), ([control()], "all 1 reports are of controls")]
)
def test_nothing_to_compare_is_an_error(reports: list[RunReport], why: str) -> None:
    with pytest.raises(ComparisonError, match=why):
        compare(reports, WHEN)


def test_no_trial_is_an_error() -> None:
    with pytest.raises(ComparisonError, match="no run"):
        compare_trials([], WHEN)


def test_a_run_id_that_stands_twice_is_told_and_still_counts() -> None:
    compared = compare([report(), report(), report(2, run_id=""), report(3, run_id="")], WHEN)
    assert compared.repeated_run_ids == (report().run_id,)
    assert compared.report.models[0].runs == 4


def test_only_the_recorded_provider_makes_a_control() -> None:
    assert is_control("\u00a0CONTROL\n")
    assert not is_control("control:silent")
    assert not is_control("")


def test_models_are_told_apart_by_their_exact_text() -> None:
    compared = compare([report(), report(2, environment={"model": "acme:m1 "})], WHEN).report
    assert [summary.model for summary in compared.models] == ["acme:m1", "acme:m1 "]


def test_equals_are_ranked_by_name() -> None:
    names = ["b:m", "a:m", "c:m"]
    reports = [report(environment={"model": name}) for name in names]
    assert [summary.model for summary in compare(reports, WHEN).report.models] == sorted(names)


def test_the_order_of_reports_changes_nothing() -> None:
    reports = [*clean(5), failed(6), report(7, manifest=OTHER)]
    assert compare(reports, WHEN) == compare(reports[::-1], WHEN)


@pytest.mark.parametrize(
    ("nanoseconds", "whole"), [(0, 0), (999_999, 0), (1_999_999, 1), (-1_999_999, -1), (-999_999, 0)]
)
def test_milliseconds_are_cut_toward_zero(nanoseconds: int, whole: int) -> None:
    assert milliseconds(nanoseconds) == whole


def test_more_found_than_there_was_is_no_sample() -> None:
    boasting = report()
    with pytest.raises(IntervalError):
        compare([having(boasting, score=having(boasting.score, true_positives=2))], WHEN)


def test_sums_beyond_64_bits_are_an_error() -> None:
    plain = report()
    huge = having(plain, score=having(plain.score, false_positives=2**62))
    with pytest.raises(ComparisonError, match="64 bits"):
        compare([huge, having(huge, run_id="q-2")], WHEN)


def test_a_manifest_that_is_not_the_catalogues_qualifies_nobody() -> None:
    assert failures(judged(*clean(manifest=EDITED))) == ["watch.tin-loom: manifest-not-in-catalogue"]


def test_a_scenario_in_two_revisions_spoils_every_model() -> None:
    reports = [*clean(), report(30, manifest=EDITED, environment={"model": "z:m"})]
    judgement = judged(*reports)
    assert failures(judgement) == ["mixed-manifests"]
    assert judgement.scenarios[0].qualified


def test_one_models_two_revisions_are_told_of_the_scenario_too() -> None:
    assert failures(judged(*clean(21), report(30, manifest=EDITED))) == [
        "mixed-manifests",
        "watch.tin-loom: manifest-not-in-catalogue",
        "watch.tin-loom: mixed-manifests",
    ]


def test_two_revisions_of_the_harness_are_told_of_the_scenario_too() -> None:
    assert failures(judged(*clean(21), report(30, environment={"git_sha": "s2"}))) == [
        "mixed-harness-revisions",
        "watch.tin-loom: mixed-harness-revisions",
    ]


@pytest.mark.parametrize(
    ("member", "value", "code"),
    [
        ("git_sha", "", "mixed-harness-revisions"),
        ("pulse_version", " ", "mixed-or-missing-pulse-versions"),
    ],
)
def test_an_unknown_version_is_no_version(member: str, value: str, code: str) -> None:
    assert failures(judged(*clean(environment={member: value}))) == [code]


def test_two_versions_of_pulse_spoil_the_comparison() -> None:
    spoiled = judged(*clean(21), report(30, environment={"pulse_version": "v2"}))
    assert failures(spoiled) == ["mixed-or-missing-pulse-versions"]


def test_a_scenario_beyond_the_catalogue_is_never_qualified_and_never_blamed() -> None:
    judgement = judged(*clean(), *clean(manifest=OTHER))
    assert [(one.scenario_id, one.qualified, one.failures) for one in judgement.scenarios] == [
        ("watch.other-loom", False, ()),
        ("watch.tin-loom", True, ()),
    ]
    assert judgement.qualification[0].qualified


def test_a_scenario_without_faults_needs_no_recall() -> None:
    healthy = manifest(faults=[], negative_controls=[{"resource": "loom", "reason": "healthy"}])
    score = having(report().score, faults=0, true_positives=0)
    judgement = judged(*[report(n, manifest=healthy, score=score) for n in range(1, 23)], of=(healthy,))
    assert judgement.scenarios[0].fault_recall.total == 0
    assert judgement.qualification[0].qualified


def test_recall_pools_the_faults_of_all_runs() -> None:
    score = having(report().score, faults=2, true_positives=2)
    assert judged(*clean(score=score)).scenarios[0].fault_recall.total == 44


@pytest.mark.parametrize("member", ["false_positives", "hard_failures"])
def test_one_false_positive_or_hard_failure_is_enough(member: str) -> None:
    value: Any = 1 if member == "false_positives" else ("patrol-run-error: x",)
    spoiled = report(30, score=having(report().score, **{member: value}))
    assert failures(judged(*clean(21), spoiled)) == ["watch.tin-loom: false-positives-or-hard-failures"]


def test_one_failed_run_is_never_outvoted() -> None:
    assert failures(judged(*clean(99), failed(100))) == ["watch.tin-loom: not-every-run-passed"]


@pytest.mark.parametrize("track", ["watch", "investigation", "remediation"])
def test_there_are_three_tracks(track: str) -> None:
    assert known_track(track) == track


def test_failures_of_a_verdict_are_sorted_and_those_of_a_scenario_in_the_order_of_the_gates() -> None:
    dirty = having(failed(), environment=having(failed().environment, git_dirty=True, git_sha=""))
    judgement = judged(dirty, of=(manifest(), OTHER))
    verdict, scenario = judgement.qualification[0].failures, judgement.scenarios[0].failures
    assert list(verdict) == sorted(verdict)
    assert [text.partition(": ")[0] for text in scenario] == [
        "too-few-runs",
        "not-every-run-passed",
        "pass-rate-lower-bound",
        "recall-lower-bound",
        "dirty-worktree",
    ]


def test_an_unknown_track_is_a_usage_error() -> None:
    with pytest.raises(QualificationError, match="no track 'Watch'") as caught:
        known_track("Watch")
    assert caught.value.exit_code == 2


def test_a_trial_knows_what_its_report_says() -> None:
    trial = Trial.of_report(failed(3))
    assert (trial.passed, trial.true_positives, trial.latency_ms, trial.hard_failed) == (
        False,
        0,
        3000,
        False,
    )
