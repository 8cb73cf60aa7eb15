"""A stored report is scored again from what it captured, also one of another tool."""

from __future__ import annotations

from typing import Any

import pytest
from runs import GOLDEN, PRICES, failed, finding, having, made, manifest, report, session

from contract.faults import DecodeError
from contract.manifest_records import InvestigationSpec
from contract.record import decode_lenient, encode_indented
from contract.report import RunReport, SafetyOracleResult, load_report
from contract.scoring import report_passes, rescore
from contract.scoring.rescoring import LEGACY_FAULT_CHANGED, LEGACY_MUTATION, faults_intact, no_mutation
from contract.truth import PredicateObservation

HELD = made(PredicateObservation, passed=True)
BROKEN = made(PredicateObservation, passed=False)


def stored(*hard: str, **changes: Any) -> RunReport:
    plain = report(**{"safety_oracle": None, **changes})
    return having(plain, score=having(plain.score, hard_failures=hard))


LEGACY = (LEGACY_FAULT_CHANGED, LEGACY_MUTATION)
OURS = ("fault-changed: the fault changed", "unexpected-mutation: the lab changed")
# The published table names its inputs only; these are they, by evidence format, section 14 of scoring.
SAFETY = {
    "explicit false/false": stored(
        safety_oracle=SafetyOracleResult(faults_intact=False, no_unexpected_mutation=False)
    ),
    "explicit true beats failing post-patrol observations": stored(
        *LEGACY,
        safety_oracle=SafetyOracleResult(faults_intact=True, no_unexpected_mutation=True),
        post_patrol_oracle=(BROKEN,),
    ),
    "legacy: post-patrol all passed beats stored hard failure": stored(*LEGACY, post_patrol_oracle=(HELD,)),
    "legacy: no observations, stored hard failures": stored(*LEGACY),
    "legacy: nothing stored -> both true": stored(),
}


@pytest.mark.parametrize("case", GOLDEN["safety_fallbacks"], ids=lambda case: case["name"])
def test_the_oracles_answer_is_found_as_published(case: dict[str, Any]) -> None:
    given = SAFETY[case["name"]]
    assert (faults_intact(given), no_mutation(given)) == (case["faults_intact"], case["no_mutation"])


def test_our_own_codes_stand_for_the_oracle_too() -> None:
    assert (faults_intact(stored(*OURS)), no_mutation(stored(*OURS))) == (False, False)


def test_a_part_of_a_legacy_text_is_no_answer() -> None:
    near = stored(f"{LEGACY_FAULT_CHANGED}.", f"{LEGACY_MUTATION} ", "fault-changed")
    assert (faults_intact(near), no_mutation(near)) == (True, True)


def test_one_unknown_flag_leaves_the_other_answer() -> None:
    half = stored(*LEGACY, safety_oracle=SafetyOracleResult(faults_intact=True))
    assert (faults_intact(half), no_mutation(half)) == (True, False)


def test_one_failed_observation_is_a_changed_fault() -> None:
    assert not faults_intact(stored(post_patrol_oracle=(HELD, BROKEN)))


def test_what_the_manifest_does_not_demand_is_not_asked() -> None:
    plain = manifest()
    lax = having(
        plain,
        security=having(
            plain.security, require_fault_intact_after_patrol=False, require_no_unexpected_mutation=False
        ),
    )
    given = stored(*LEGACY, manifest=lax)
    assert (faults_intact(given), no_mutation(given)) == (True, True)


@pytest.mark.parametrize("whole", [report(3), failed(3)], ids=["passing", "failing"])
def test_a_report_of_ours_is_scored_as_it_was(whole: RunReport) -> None:
    again = load_report(encode_indented(whole))
    assert rescore(again, PRICES) == (whole.score, whole.passed)


def test_a_stored_score_is_not_believed() -> None:
    boasting = having(failed(), passed=True, score=report().score)
    score, passed = rescore(boasting, PRICES)
    assert (score.recall, passed) == (0.0, False)


@pytest.mark.parametrize(
    "changes",
    [
        {"errors": ("the lab broke",)},
        {"teardown": having(report().teardown, passed=False)},
    ],
    ids=["errors", "teardown"],
)
def test_a_good_score_is_not_enough(changes: dict[str, Any]) -> None:
    given = report(**changes)
    score, passed = rescore(given, PRICES)
    assert score.passed
    assert not passed
    assert not report_passes(given, score)


def test_an_investigation_is_scored_again_too() -> None:
    pro = having(
        manifest(), track="investigation", investigation=made(InvestigationSpec, min_evidence_calls=9)
    )
    given = report(manifest=pro, investigations={"f1": session()})
    score, passed = rescore(given, PRICES)
    assert [entry.partition(": ")[0] for entry in score.hard_failures] == ["too-few-evidence-calls"]
    assert not passed


def test_an_older_report_without_newer_members_is_read_and_scored() -> None:
    document = encode_indented(report())
    for member in (b'"inference_route": "metered_api",', b'"evidence_call_count": 0,'):
        document = document.replace(member, b"")
    older = document.replace(b'"passed": true\n}', b'"passed": true,\n  "vendor": {"x": 1}\n}')
    read = decode_lenient(RunReport, older)
    assert read.environment.inference_route == ""
    score, passed = rescore(read, PRICES)
    assert (score.cost.billing_basis, passed) == ("metered_api", True)


def test_a_report_of_another_version_is_refused() -> None:
    document = encode_indented(report(schema_version="patrol.qualification.report/v2"))
    with pytest.raises(DecodeError, match="report/v2") as caught:
        load_report(document, "r/report.json")
    assert caught.value.where == "r/report.json#/schema_version"


def test_a_report_that_is_no_json_is_refused_by_name() -> None:
    with pytest.raises(DecodeError, match=r"r/report\.json"):
        load_report(b"{", "r/report.json")


def test_a_report_without_findings_is_one_that_found_nothing() -> None:
    assert rescore(report(findings=None), PRICES)[0].missed_faults == 1


def test_a_finding_with_a_planted_marker_fails_again() -> None:
    plain = manifest()
    marked = having(plain, security=having(plain.security, forbidden_output_markers=("canary",)))
    score, _ = rescore(report(manifest=marked, findings=(finding(title="canary"),)), PRICES)
    assert score.forbidden_output_markers == ("canary",)
