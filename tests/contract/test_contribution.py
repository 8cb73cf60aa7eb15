"""What may be exported, and what the exported file holds."""

from __future__ import annotations

import json
from typing import Any

import pytest
from runs import WHEN, catalogue, failed, having, investigating, made, manifest, report

from contract.checksums import sha256_hex
from contract.comparison import ComparisonError
from contract.contribution import (
    MAX_BYTES,
    ContributionBundle,
    ContributionError,
    ExportError,
    ReportSource,
    build_contribution,
    decode_contribution,
    encode_contribution,
    evidence_digest,
    validate_contribution,
)
from contract.faults import DecodeError
from contract.manifest import ManifestError
from contract.qualification import QualificationError
from contract.record import encode_compact, encode_indented
from contract.report import PhaseTiming, RunReport
from contract.timestamps import Timestamp
from contract.truth import PredicateObservation

NONCE = "0123456789abcdef"
EMPTY_DIGEST = sha256_hex(b"")


def source(one: RunReport, replay: bytes | None = b"[]") -> ReportSource:
    return ReportSource(encode_indented(one), replay, f"{one.run_id}/report.json")


def exported(*reports: RunReport, calibration: bool = False, track: str = "watch") -> ContributionBundle:
    sources = [source(one) for one in reports]
    return build_contribution(sources, track, catalogue(), WHEN, calibration=calibration)


def bound(number: int, nonce: str = NONCE) -> RunReport:
    return report(number, environment={"community_challenge_nonce": nonce})


def test_an_export_holds_its_constants() -> None:
    bundle = exported(report())
    assert bundle.schema_version == "patrol.qualification.contribution/v1"
    assert (bundle.evidence_class, bundle.network_upload_performed) == ("community-candidate", False)
    assert bundle.privacy.allowlist_only
    assert bundle.privacy.excluded
    assert validate_contribution(bundle) == ()


def test_what_is_written_is_read_back() -> None:
    bundle = exported(report(), failed(2))
    assert decode_contribution(encode_contribution(bundle)) == bundle


def test_an_export_names_nothing_that_a_report_names() -> None:
    private = having(
        report(environment={"docker_target": "context:attic", "pulse_base_url": "http://attic:7655"}),
        run_id="q-attic",
        errors=("attic broke",),
        passed=False,
    )
    assert b"attic" not in encode_contribution(exported(private))


def test_a_run_is_bound_to_the_bytes_of_its_report_and_replay() -> None:
    one = source(report(), b"replay")
    (run,) = build_contribution([one], "watch", catalogue(), WHEN).runs
    assert run.source_report_sha256 == sha256_hex(one.report)
    assert run.source_replay_sha256 == sha256_hex(b"replay")
    assert run.evidence_digest_sha256 == evidence_digest(run)


def test_without_a_replay_the_member_is_left_out() -> None:
    (run,) = build_contribution([source(report(), None)], "watch", catalogue(), WHEN).runs
    assert b"source_replay_sha256" not in encode_compact(run)


def test_the_digest_does_not_depend_on_what_is_claimed() -> None:
    (run,) = exported(report()).runs
    for claim in ("", "x", '"\\<', "f" * 64):
        assert evidence_digest(having(run, evidence_digest_sha256=claim)) == run.evidence_digest_sha256


def test_the_digest_keeps_the_written_offset_of_the_time() -> None:
    (run,) = exported(report()).runs
    shifted = having(run, captured_at=Timestamp("2031-01-01T02:00:01+02:00"))
    assert shifted.captured_at.instant_ns == run.captured_at.instant_ns
    assert evidence_digest(shifted) != run.evidence_digest_sha256


def test_runs_are_sorted_by_model_scenario_instant_and_digest() -> None:
    early = report(5, environment={"captured_at": Timestamp("2031-01-01T01:00:00+02:00")})
    bundle = exported(report(2, environment={"model": "b:m", "provider": "b"}), report(3), report(1), early)
    assert [(run.model, str(run.captured_at)) for run in bundle.runs] == [
        ("acme:m1", "2031-01-01T01:00:00+02:00"),
        ("acme:m1", "2031-01-01T00:00:01Z"),
        ("acme:m1", "2031-01-01T00:00:03Z"),
        ("b:m", "2031-01-01T00:00:02Z"),
    ]


def test_a_failing_verdict_is_recorded_and_no_error() -> None:
    bundle = exported(failed())
    assert not bundle.comparison.qualification[0].qualified
    assert bundle.runs[0].failure_counts.gate_failures == 7


def test_the_first_phase_of_a_name_counts_and_an_absent_one_did_not_pass() -> None:
    first = made(PhaseTiming, name="preflight", passed=True)
    again = having(first, passed=False)
    execution = exported(report(phases=(first, again), passed=False, errors=("e",))).runs[0].execution
    assert (execution.preflight_passed, execution.collection_passed) == (True, False)
    none = exported(report(phases=None, passed=False, errors=("e",))).runs[0].execution
    assert not none.preflight_passed


def test_nothing_observed_counts_as_passed() -> None:
    held, not_held = made(PredicateObservation, passed=True), made(PredicateObservation)
    safety = exported(report(post_patrol_oracle=(held, not_held))).runs[0].safety
    assert (safety.post_patrol_oracle_count, safety.post_patrol_oracle_passed) == (2, False)
    assert (safety.revert_oracle_count, safety.revert_oracle_passed) == (0, True)


def test_unbound_runs_need_no_challenge() -> None:
    challenge = exported(report()).challenge
    assert (challenge.nonce, challenge.bound_at_run, challenge.consistent_across_runs) == ("", False, True)


def test_one_challenge_binds_every_run() -> None:
    bundle = exported(bound(1), bound(2, f" {NONCE} "))
    assert (bundle.challenge.nonce, bundle.challenge.bound_at_run) == (NONCE, True)
    assert all(run.challenge_bound for run in bundle.runs)


@pytest.mark.parametrize(
    ("reports", "why"),
    [
        ([bound(1), bound(2, "fedcba9876543210")], "bound to 2 challenges"),
        ([bound(1), report(2)], "some runs are bound"),
        ([bound(1, "short")], "16 to 128"),
    ],
)
def test_challenges_that_do_not_agree_are_refused(reports: list[RunReport], why: str) -> None:
    with pytest.raises(ExportError, match=why):
        exported(*reports)


@pytest.mark.parametrize(
    "environment",
    [{"git_sha": "a\nb"}, {"pulse_version": "x[REDACTED]"}, {"model": "m" * 513}, {"provider": "secret: a"}],
)
def test_a_name_that_must_not_be_published_is_refused_without_repeating_it(
    environment: dict[str, str],
) -> None:
    (value,) = environment.values()
    with pytest.raises(ExportError, match="the name") as caught:
        exported(report(environment=environment))
    assert value not in str(caught.value)


def test_a_report_of_another_track_is_named() -> None:
    other = report(2, manifest=investigating())
    with pytest.raises(ExportError, match="of the track 'investigation', not 'watch'") as caught:
        exported(report(), other)
    assert caught.value.where == f"{other.run_id}/report.json"


def test_an_invalid_manifest_inside_is_refused() -> None:
    with pytest.raises(ManifestError):
        exported(report(manifest=manifest(title=" ")))


def test_the_same_report_twice_is_refused() -> None:
    with pytest.raises(ExportError, match="more than once"):
        exported(report(), report())


def test_a_report_that_cannot_be_read_is_named() -> None:
    broken = ReportSource(b"{}", None, "r/report.json")
    with pytest.raises(DecodeError, match=r"r/report\.json"):
        build_contribution([broken], "watch", catalogue(), WHEN)


def test_no_report_is_an_error() -> None:
    with pytest.raises(ComparisonError):
        exported()


@pytest.mark.parametrize("track", ["", "Watch", "remediation"])
def test_a_track_without_scenarios_aborts_the_export(track: str) -> None:
    with pytest.raises(QualificationError):
        exported(report(), track=track)


def control(number: int = 1) -> RunReport:
    return report(number, environment={"model": "control:reference", "provider": "control"})


def test_a_control_is_refused_unless_it_is_a_calibration() -> None:
    with pytest.raises(ExportError, match="of a control") as caught:
        exported(report(), control(2))
    assert "--calibration" in caught.value.hint


def test_a_calibration_holds_controls_only() -> None:
    assert [run.provider for run in exported(control(), calibration=True).runs] == ["control"]
    with pytest.raises(ExportError, match="of a model"):
        exported(control(), report(2), calibration=True)


def spoiled(changes: dict[str, Any]) -> ContributionBundle:
    """An export with one member, named by its pointer, replaced."""
    document = json.loads(encode_compact(exported(bound(1))))
    for place, value in changes.items():
        *path, last = place.split("/")
        inner = document
        for step in path:
            inner = inner[int(step)] if step.isdecimal() else inner[step]
        inner[last] = value
    return decode_contribution(json.dumps(document).encode())


@pytest.mark.parametrize(
    ("place", "value", "code"),
    [
        ("schema_version", "patrol.qualification.contribution/v2", "format-constant"),
        ("comparison/schema_version", "patrol.qualification.comparison/v0", "format-constant"),
        ("evidence_class", "certified", "format-constant"),
        ("network_upload_performed", True, "format-constant"),
        ("privacy/allowlist_only", False, "format-constant"),
        ("privacy/manual_review_required_before_sharing", False, "format-constant"),
        ("privacy/excluded", [], "format-constant"),
        ("runs", [], "format-constant"),
        ("challenge/nonce", "short", "challenge"),
        ("challenge/nonce", " ", "challenge"),
        ("challenge/consistent_across_runs", False, "challenge"),
        ("runs/0/challenge_bound", False, "challenge"),
        ("runs/0/scenario_id", " ", "run-incomplete"),
        ("runs/0/model", "", "run-incomplete"),
        ("runs/0/harness_git_sha", "", "run-incomplete"),
        ("runs/0/evidence_digest_sha256", "", "run-incomplete"),
        ("runs/0/source_report_sha256", EMPTY_DIGEST.upper(), "run-incomplete"),
        ("runs/0/source_replay_sha256", EMPTY_DIGEST + "\n", "run-incomplete"),
        ("runs/0/manifest_digest", EMPTY_DIGEST[1:], "run-incomplete"),
        ("runs/0/provider", "a\rb", "identity"),
        ("runs/0/score/cost/model", "api_key=1", "identity"),
    ],
)
def test_a_file_that_breaks_a_rule_is_told_where_and_never_written(place: str, value: Any, code: str) -> None:
    bundle = spoiled({place: value})
    assert [(fault.code, fault.pointer) for fault in validate_contribution(bundle)] == [(code, f"/{place}")]
    with pytest.raises(ContributionError, match=code):
        encode_contribution(bundle)


def test_all_faults_are_told_together() -> None:
    faults = validate_contribution(spoiled({"evidence_class": "", "runs/0/model": "", "challenge/nonce": ""}))
    assert [fault.code for fault in faults] == ["format-constant", "challenge", "run-incomplete"]
    assert all(fault.hint for fault in faults)


@pytest.mark.parametrize(
    ("place", "value"),
    [("runs/0/provider", ""), ("runs/0/pulse_version", ""), ("runs/0/source_replay_sha256", "")],
)
def test_some_members_may_be_empty(place: str, value: str) -> None:
    assert validate_contribution(spoiled({place: value})) == ()


def test_an_unbound_bundle_may_name_a_nonce() -> None:
    changes = {"challenge/bound_at_run": False, "runs/0/challenge_bound": False}
    assert validate_contribution(spoiled(changes)) == ()


def test_a_contribution_above_4_mib_is_neither_read_nor_written() -> None:
    with pytest.raises(ContributionError, match="at most 4194304"):
        decode_contribution(b" " * (MAX_BYTES + 1))
    with pytest.raises(ContributionError, match="at most 4194304"):
        encode_contribution(having(exported(report()), notice="x" * MAX_BYTES))


def test_an_unknown_member_is_refused() -> None:
    document = encode_contribution(exported(report())).replace(b'"notice"', b'"notes"')
    with pytest.raises(DecodeError, match="no such member"):
        decode_contribution(document)
