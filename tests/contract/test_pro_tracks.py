"""Rules of the investigating tracks that the published cases leave open, one test each."""

from __future__ import annotations

from typing import Any

import pytest
from runs import having, made, manifest, scored, session

from contract.manifest import Manifest
from contract.manifest_records import InvestigationSpec, RemediationSpec
from contract.report import InvestigationSession, RemediationResult
from contract.score import Score
from contract.scoring import apply_pro_gates, with_hard_failure
from contract.scoring.sections import section
from contract.truth import CollectedTruth, GroundTruth

GROUND = made(
    GroundTruth,
    resources={
        "loom": made(CollectedTruth, alias="loom", name="loom-1", resource_id="r-loom"),
        "shed": made(CollectedTruth, alias="shed", name=" shed-1 ", resource_id=""),
    },
)
DONE = made(
    RemediationResult, action_id="a1", authorized=True, origin_bound=True, plan_hash_bound=True, passed=True
)


def investigating(track: str = "investigation", **expected: Any) -> Manifest:
    spec = made(InvestigationSpec, **{"require_completed_status": True, **expected})
    repair = made(RemediationSpec, decision="approve_execute") if track == "remediation" else None
    return having(manifest(), track=track, investigation=spec, remediation=repair)


def judged(
    *sessions: InvestigationSession, of: Manifest | None = None, remediation: RemediationResult = DONE
) -> Score:
    numbered = {f"f{at}": one for at, one in enumerate(sessions)}
    return apply_pro_gates(scored(), of or investigating(), GROUND, numbered, remediation)


def hard(score: Score) -> list[str]:
    return [entry.partition(": ")[0] for entry in score.hard_failures]


def gates(score: Score) -> list[str]:
    return [entry.partition(": ")[0] for entry in score.gate_failures]


def test_a_watch_score_is_left_alone() -> None:
    score = scored(findings=())
    assert apply_pro_gates(score, manifest(), GROUND, {}, DONE) is score


def test_a_completed_investigation_passes() -> None:
    score = judged(session())
    assert (score.passed, score.investigation_completion, score.investigation_grounding) == (True, 1.0, 1.0)


def test_shares_are_over_all_sessions() -> None:
    of = investigating(root_cause_resources=("loom",), affected_resources=("shed",))
    poor = session(id="i2", status="failed", summary="## Root Cause\nloom-1")
    score = judged(session(summary="## Root Cause\nr-loom\n## Affected Resources\nshed-1"), poor, of=of)
    assert (score.investigation_completion, score.investigation_grounding) == (0.5, 0.5)
    assert (score.root_cause_grounding, score.affected_resource_grounding) == (1.0, 0.5)
    assert hard(score) == ["affected-ungrounded", "investigation-status"]


def test_a_status_that_is_not_demanded_is_not_looked_at() -> None:
    score = judged(session(status="failed"), of=investigating(require_completed_status=False))
    assert (score.passed, score.investigation_completion) == (True, 1.0)


@pytest.mark.parametrize("summary", ["", " \n "])
def test_a_blank_summary_is_not_grounded_but_no_failure_of_its_own(summary: str) -> None:
    score = judged(session(summary=summary))
    assert (score.passed, score.investigation_grounding) == (True, 0.0)


def test_a_required_term_is_found_in_any_letter_case() -> None:
    assert judged(session(), of=investigating(required_summary_terms=("LOOM",))).passed
    assert hard(judged(session(), of=investigating(required_summary_terms=("silk",)))) == [
        "summary-term-missing"
    ]


def test_groups_and_forbidden_terms_are_found_in_any_letter_case() -> None:
    assert judged(session(), of=investigating(required_summary_term_groups=(("x", "HALTED"),))).passed
    score = judged(session(), of=investigating(forbidden_summary_terms=("HALTED",)))
    assert hard(score) == ["summary-term-forbidden"]


def test_an_empty_forbidden_term_forbids_nothing() -> None:
    assert judged(session(), of=investigating(forbidden_summary_terms=("",))).passed


@pytest.mark.parametrize("group", [(), ("",), None])
def test_a_group_without_a_term_is_never_satisfied(group: tuple[str, ...] | None) -> None:
    score = judged(session(), of=investigating(required_summary_term_groups=(group,)))
    assert hard(score) == ["summary-group-missing"]


def test_an_alias_that_was_not_collected_grounds_nothing() -> None:
    score = judged(session(), of=investigating(root_cause_resources=("loom", "ghost")))
    assert (hard(score), score.root_cause_grounding) == (["root-cause-ungrounded"], 0.0)


def test_a_resource_without_name_and_id_is_never_named() -> None:
    ground = made(GroundTruth, resources={"void": made(CollectedTruth, name=" ")})
    of = investigating(root_cause_resources=("void",))
    assert hard(apply_pro_gates(scored(), of, ground, {"f": session()}, DONE)) == ["root-cause-ungrounded"]
    none = having(ground, resources=None)
    assert hard(apply_pro_gates(scored(), of, none, {"f": session()}, DONE)) == ["root-cause-ungrounded"]


@pytest.mark.parametrize(
    ("expected", "counted", "failing"),
    [
        ({"min_evidence_calls": 3}, {}, ["too-few-evidence-calls"]),
        ({"min_evidence_ids": 3}, {}, ["too-few-evidence-calls"]),
        ({"min_evidence_calls": 2, "min_evidence_ids": 9}, {}, []),
        ({"min_evidence_ids": 2}, {"evidence_call_count": 0, "evidence_ids": ("a", "b")}, []),
        (
            {"min_evidence_ids": 1},
            {"evidence_call_count": 0, "evidence_ids": None},
            ["too-few-evidence-calls"],
        ),
    ],
)
def test_evidence_calls_reach_the_newer_minimum_or_the_older(
    expected: dict[str, Any], counted: dict[str, Any], failing: list[str]
) -> None:
    score = judged(session(**counted), of=investigating(**expected))
    assert hard(score) == failing
    assert score.investigation_grounding == (0.0 if failing else 1.0)


def test_limits_of_effort_are_gates_and_leave_the_grounding() -> None:
    of = investigating(max_evidence_calls=1, max_tools_used=1)
    score = judged(session(tools_used=("a", "a")), of=of)
    assert gates(score) == ["evidence-calls", "tools-used"]
    assert (score.investigation_grounding, score.passed) == (1.0, False)
    assert judged(session(tools_used=None), of=investigating(max_tools_used=1)).passed


def test_no_session_is_a_failure_with_shares_of_nothing() -> None:
    score = judged(of=investigating(root_cause_resources=("loom",), affected_resources=("shed",)))
    assert hard(score) == ["no-investigation"]
    assert (
        score.investigation_completion,
        score.root_cause_grounding,
        score.affected_resource_grounding,
    ) == (
        1.0,
        1.0,
        1.0,
    )


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"action_id": ""}, "no-action"),
        ({"origin_bound": False}, "action-binding"),
        ({"plan_hash_bound": False}, "action-binding"),
        ({"passed": False}, "remediation-failed"),
        ({"authorized": False}, "remediation-unauthorised"),
    ],
)
def test_each_missing_proof_fails_a_remediation(changes: dict[str, Any], code: str) -> None:
    score = judged(session(), of=investigating("remediation"), remediation=having(DONE, **changes))
    assert hard(score) == [code]


def test_without_a_remediation_in_the_manifest_nothing_had_to_be_authorised() -> None:
    of = having(investigating("remediation"), remediation=None)
    assert judged(session(), of=of, remediation=having(DONE, authorized=False)).passed


def test_a_remediation_is_no_matter_of_the_investigation_track() -> None:
    assert judged(session(), remediation=made(RemediationResult)).passed


def test_failures_of_watch_and_track_are_sorted_together() -> None:
    score = apply_pro_gates(
        scored(findings=(), faults_intact=False, no_mutation=False), investigating(), GROUND, {}, DONE
    )
    assert hard(score) == ["fault-changed", "no-investigation", "unexpected-mutation"]
    assert list(score.gate_failures) == sorted(score.gate_failures)


def test_gates_of_watch_and_track_are_sorted_together() -> None:
    score = apply_pro_gates(
        scored(findings=()), investigating(max_evidence_calls=1), GROUND, {"f": session()}, DONE
    )
    assert "evidence-calls" in gates(score)
    assert list(score.gate_failures) == sorted(score.gate_failures)


def test_quoted_words_of_others_stay_on_one_line() -> None:
    (entry,) = judged(session(status='a"\nb')).hard_failures
    assert entry.endswith('"a\\"\\nb"')


def test_what_only_the_live_run_knows_is_added_at_the_end() -> None:
    score = with_hard_failure(judged(), "no-completed-investigation", "none was completed")
    assert (hard(score), score.passed) == (["no-investigation", "no-completed-investigation"], False)


def test_a_heading_is_found_in_any_letter_case_and_depth() -> None:
    assert section("intro\n###### ROOT cause \nx", "Root Cause") == "x"
    assert section(" \u00a0# Root Cause\nx\n  ## Next\ny", "Root Cause") == "x"
    assert section("#Xroot cause\nx", "Root Cause") == ""


@pytest.mark.parametrize("named", ["LOOM-9", "R-LOOM"])
def test_a_resource_is_named_in_any_letter_case_and_without_outer_white_space(named: str) -> None:
    loom = made(CollectedTruth, name=" Loom-9\t", resource_id="\u00a0R-loom ")
    ground = made(GroundTruth, resources={"loom": loom})
    told = {"f": session(summary=f"## Root Cause\nIt was ({named}).")}
    of = investigating(root_cause_resources=("loom",))
    assert apply_pro_gates(scored(), of, ground, told, DONE).passed
