"""What the Investigation and Remediation tracks demand beyond Watch (scoring format, section 12)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from contract.codes import failure
from contract.manifest_records import InvestigationSpec, Manifest
from contract.report import InvestigationSession, RemediationResult
from contract.score import Score
from contract.scoring.investigations import Judgement, judge
from contract.truth import GroundTruth


def apply_pro_gates(
    score: Score,
    manifest: Manifest,
    ground: GroundTruth,
    investigations: Mapping[str, InvestigationSession],
    remediation: RemediationResult,
) -> Score:
    """Add to a Watch score what the manifest's track demands; `investigations` by finding id."""
    if manifest.track == "watch":
        return score
    spec = manifest.investigation
    if spec is None:
        return with_hard_failure(score, "investigation-expectations-missing", "the manifest has none")
    judged = [judge(finding_id, session, spec, ground) for finding_id, session in investigations.items()]
    hard = [*score.hard_failures, *(text for one in judged for text in one.hard)]
    if not judged:
        hard.append(failure("no-investigation", "the report holds no investigation"))
    if manifest.track == "remediation":
        hard += _remediation_failures(manifest, remediation)
    gate = [*score.gate_failures, *(text for one in judged for text in one.gate)]
    return score.model_copy(
        update={
            **_ratios(judged, spec),
            "hard_failures": tuple(sorted(hard)),
            "gate_failures": tuple(sorted(gate)),
            "passed": not hard and not gate,
        }
    )


def with_hard_failure(score: Score, code: str, text: str) -> Score:
    """A failed score with one more hard failure at the end; KeyError for an unknown code."""
    return score.model_copy(
        update={"hard_failures": (*score.hard_failures, failure(code, text)), "passed": False}
    )


def _ratios(judged: Sequence[Judgement], spec: InvestigationSpec) -> dict[str, float]:
    ratios = {
        "investigation_completion": _share([one.completed for one in judged]),
        "investigation_grounding": _share([one.grounded for one in judged]),
    }
    if spec.root_cause_resources:
        ratios["root_cause_grounding"] = _share([one.root_cause for one in judged])
    if spec.affected_resources:
        ratios["affected_resource_grounding"] = _share([one.affected for one in judged])
    return ratios


def _remediation_failures(manifest: Manifest, result: RemediationResult) -> Iterator[str]:
    if not result.action_id:
        yield failure("no-action", "no governed action was captured")
    if not (result.origin_bound and result.plan_hash_bound):
        yield failure("action-binding", "the action is not bound to its origin and its plan")
    if not result.passed:
        yield failure("remediation-failed", "the governed remediation did not pass")
    spec = manifest.remediation
    if spec is not None and spec.decision != "observe" and not result.authorized:
        yield failure("remediation-unauthorised", "the action was decided on without authorisation")


def _share(answers: Sequence[bool]) -> float:
    return sum(answers) / len(answers) if answers else 1.0
