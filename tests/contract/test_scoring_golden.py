"""The published score cases, each computed anew from its input."""

from __future__ import annotations

from typing import Any

import pytest
from runs import GOLDEN, PRICES, codes, read

from contract.manifest_records import ExpectedFinding, Manifest
from contract.report import Finding, InvestigationSession, PatrolRun, RemediationResult
from contract.score import MatchResult, Score
from contract.scoring import ScoringInput, apply_pro_gates, score_run
from contract.scoring.matching import assess, choose
from contract.scoring.sections import section
from contract.truth import FaultTruth, GroundTruth


def scoring_input(case: dict[str, Any]) -> ScoringInput:
    return ScoringInput(
        manifest=read(Manifest, case["manifest"]),
        ground=read(GroundTruth, case["ground_truth"]),
        run=read(PatrolRun, case["patrol_run"]),
        findings=tuple(read(Finding, finding) for finding in case["findings"] or ()),
        provider=case["provider"],
        model=case["model"],
        inference_route=case["inference_route"],
        collection_latency=case["collection_latency_ns"],
        end_to_end_latency=case["end_to_end_latency_ns"],
        faults_intact=case["faults_intact"],
        no_mutation=case["no_mutation"],
    )


def by_name(cases: list[dict[str, Any]]) -> list[Any]:
    return [pytest.param(case, id=case["name"]) for case in cases]


@pytest.mark.parametrize("case", by_name(GOLDEN["score_cases"]))
def test_a_run_scores_as_published(case: dict[str, Any]) -> None:
    wanted = dict(case["score"])
    score = score_run(scoring_input(case["input"]), PRICES)
    assert codes(score.hard_failures) == codes(wanted.pop("hard_failures", None))
    assert codes(score.gate_failures) == codes(wanted.pop("gate_failures", None))
    bare = score.model_copy(update={"hard_failures": (), "gate_failures": ()})
    assert bare == read(Score, wanted)


@pytest.mark.parametrize("case", by_name(GOLDEN["pro_cases"]))
def test_an_investigating_track_adds_what_is_published(case: dict[str, Any]) -> None:
    given = case["input"]
    sessions = given["investigations"] or {}
    score = apply_pro_gates(
        read(Score, given["score_before"]),
        read(Manifest, given["manifest"]),
        read(GroundTruth, given["ground_truth"]),
        {finding_id: read(InvestigationSession, session) for finding_id, session in sessions.items()},
        read(RemediationResult, given["remediation"]),
    )
    assert codes(score.hard_failures) == codes(case["hard"])
    assert codes(score.gate_failures) == codes(case["gate"])
    assert score.passed is case["passed"]
    assert (
        score.investigation_completion,
        score.investigation_grounding,
        score.root_cause_grounding,
        score.affected_resource_grounding,
    ) == (case["completion"], case["grounding"], case["root"], case["affected"])


@pytest.mark.parametrize("case", by_name(GOLDEN["match"]))
def test_a_finding_is_chosen_and_judged_as_published(case: dict[str, Any]) -> None:
    fault = read(FaultTruth, case["truth"])
    expected = read(ExpectedFinding, GOLDEN["match_fault_expected"])
    findings = [read(Finding, finding) for finding in case["findings"]]
    chosen = choose(fault, expected, findings, case.get("used") or ())
    assert (chosen is not None) is case["found"]
    assert (chosen.id if chosen else "") == (case["matched_id"] or "")
    assert assess(fault, expected, chosen) == read(MatchResult, case["result"])


@pytest.mark.parametrize("case", GOLDEN["sections"], ids=lambda case: repr(case["summary"]))
def test_a_section_ends_at_any_heading(case: dict[str, str]) -> None:
    assert section(case["summary"], case["heading"]) == case["section"]
