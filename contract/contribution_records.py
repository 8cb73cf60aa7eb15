"""The records of a contribution, the allow-listed export of a campaign (evidence format, section 5.5)."""

from __future__ import annotations

import hashlib
from typing import Annotated, Final

from contract.comparison import ComparisonReport, Trial, milliseconds
from contract.jsontext import string_text
from contract.record import OMIT, Record, encode_compact
from contract.score import CostEstimate, Score
from contract.timestamps import Timestamp


class ContributionPrivacy(Record):
    """What the exporter promises about the content."""

    allowlist_only: bool
    manual_review_required_before_sharing: bool
    excluded: tuple[str, ...]


class ContributionChallenge(Record):
    """The nonce that all runs were bound to before they began, if there was one."""

    nonce: Annotated[str, OMIT] = ""
    bound_at_run: bool
    consistent_across_runs: bool
    explanation: str


class ContributionExecution(Record):
    """Which of the phases that a score rests on went through."""

    preflight_passed: bool
    collection_passed: bool
    model_patrol_passed: bool


class ContributionScore(Record):
    """The numbers of one score; ratios in 0..1, latencies in milliseconds."""

    faults: int
    true_positives: int
    missed_faults: int
    false_positives: int
    recall: float
    resource_accuracy: float
    resource_type_accuracy: float
    category_accuracy: float
    severity_accuracy: float
    evidence_grounding: float
    recommendation_safety: float
    investigation_completion: float
    investigation_grounding: float
    root_cause_grounding: float
    affected_resource_grounding: float
    findings_per_causal_group: float
    tool_calls: int
    failed_tool_calls: int
    duplicate_tool_calls: int
    input_tokens: int
    output_tokens: int
    cost: CostEstimate
    collection_latency_ms: int
    patrol_latency_ms: int
    end_to_end_latency_ms: int

    @classmethod
    def of(cls, score: Score) -> ContributionScore:
        """The numbers of a score, without anything that names what was found."""
        shared = {name: getattr(score, name) for name in cls.model_fields.keys() & Score.model_fields.keys()}
        return cls(
            **shared,
            collection_latency_ms=milliseconds(score.collection_latency_ns),
            patrol_latency_ms=milliseconds(score.patrol_latency_ns),
            end_to_end_latency_ms=milliseconds(score.end_to_end_latency_ns),
        )


class ContributionSafety(Record):
    """What the oracle and the cleanup said; "passed" is true where nothing was observed."""

    post_patrol_oracle_count: int
    post_patrol_oracle_passed: bool
    revert_oracle_count: int
    revert_oracle_passed: bool
    teardown_passed: bool
    second_cleanup_noop: bool
    inventory_unchanged: bool


class ContributionFailureCount(Record):
    """How many failures a run had, without their texts."""

    hard_failures: int
    gate_failures: int
    run_errors: int


class ContributionRun(Record):
    """One run, bound to the report it was taken from and to its own content by digests."""

    evidence_digest_sha256: str
    source_report_sha256: str
    source_replay_sha256: Annotated[str, OMIT] = ""
    scenario_id: str
    scenario_version: int
    manifest_digest: str
    track: str
    model: str
    provider: str
    harness_git_sha: str
    harness_git_dirty: bool
    pulse_version: str
    captured_at: Timestamp
    challenge_bound: bool
    passed: bool
    execution: ContributionExecution
    score: ContributionScore
    safety: ContributionSafety
    failure_counts: ContributionFailureCount

    @property
    def trial(self) -> Trial:
        """What a comparison needs of this run."""
        return Trial(
            model=self.model,
            scenario_id=self.scenario_id,
            track=self.track,
            manifest_digest=self.manifest_digest,
            passed=self.passed,
            faults=self.score.faults,
            true_positives=self.score.true_positives,
            false_positives=self.score.false_positives,
            hard_failed=self.failure_counts.hard_failures > 0,
            collection_ms=self.score.collection_latency_ms,
            latency_ms=self.score.end_to_end_latency_ms,
            input_tokens=self.score.input_tokens,
            output_tokens=self.score.output_tokens,
            cost=self.score.cost,
            git_sha=self.harness_git_sha,
            dirty=self.harness_git_dirty,
            pulse_version=self.pulse_version,
        )


class ContributionBundle(Record):
    """The runs of one campaign on one track with their comparison."""

    schema_version: str
    generated_at: Timestamp
    evidence_class: str
    notice: str
    network_upload_performed: bool
    privacy: ContributionPrivacy
    challenge: ContributionChallenge
    runs: tuple[ContributionRun, ...]
    comparison: ComparisonReport


_DIGEST_MEMBER: Final = b'{"evidence_digest_sha256":'


def evidence_digest(run: ContributionRun) -> str:
    """SHA-256 of a run's compact form, in which the digest's own member is empty (section 5.2)."""
    document = encode_compact(run)
    claimed = string_text(run.evidence_digest_sha256).encode()
    return hashlib.sha256(_DIGEST_MEMBER + b'""' + document[len(_DIGEST_MEMBER) + len(claimed) :]).hexdigest()


def run_order(run: ContributionRun) -> tuple[str, str, int, str]:
    """What the runs of a contribution are sorted by (section 5.1)."""
    return run.model, run.scenario_id, run.captured_at.instant_ns, run.evidence_digest_sha256
