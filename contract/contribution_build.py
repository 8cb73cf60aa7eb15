"""From captured reports to a contribution (evidence format, sections 5.1 and 5.2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from contract.catalogue import Catalogue
from contract.challenge import is_challenge
from contract.checksums import sha256_hex
from contract.comparison import ComparisonReport, compare, is_control
from contract.contribution_records import (
    ContributionBundle,
    ContributionChallenge,
    ContributionExecution,
    ContributionFailureCount,
    ContributionPrivacy,
    ContributionRun,
    ContributionSafety,
    ContributionScore,
    evidence_digest,
    run_order,
)
from contract.contribution_rules import EVIDENCE_CLASS, SCHEMA_VERSION, run_identity_faults
from contract.errors import PatrolQualificationError
from contract.manifest import ManifestError, manifest_digest, validate
from contract.qualification import known_track, qualify
from contract.report import RunReport, load_report
from contract.text import trim
from contract.timestamps import Timestamp
from contract.truth import PredicateObservation

NOTICE: Final = (
    "A community candidate: produced on the contributor's own machine and not certified by anyone. "
    "Read every file before you share it."
)
EXPLANATION: Final = (
    "A challenge that was bound at run time shows that the runs are younger than the challenge. "
    "It proves no identity."
)
EXCLUDED: Final = (
    "findings and every text of the model",
    "names, ids and addresses of resources and hosts",
    "the address of the monitored server and of the Docker engine",
    "prompts, tool names, arguments and results",
    "investigations, actions and their ids",
    "logs, error texts and failure texts of runs",
    "run ids",
)


class ExportError(PatrolQualificationError):
    """Reports cannot become a contribution."""


@dataclass(frozen=True, slots=True)
class ReportSource:
    """The bytes of one report.json, those of the replay.json beside it or None, and where they come from."""

    report: bytes
    replay: bytes | None
    where: str


@dataclass(frozen=True, slots=True)
class _Loaded:
    source: ReportSource
    report: RunReport


def build_contribution(
    sources: Iterable[ReportSource],
    track: str,
    catalogue: Catalogue,
    generated_at: Timestamp,
    *,
    calibration: bool = False,
) -> ContributionBundle:
    """Export reports, given in the order of their paths, as one contribution; a failing verdict is no error.

    Controls are only exported for a calibration, and nothing but controls then. Raises ExportError (or the
    DecodeError, ManifestError or QualificationError of what is wrong) for the first report that cannot be
    exported. `generated_at` in UTC.
    """
    known_track(track)
    loaded = [_Loaded(source, load_report(source.report, source.where)) for source in sources]
    _check_subjects(loaded, calibration)
    comparison = _qualified(loaded, track, catalogue, generated_at)
    runs = sorted((_run(one, track) for one in loaded), key=run_order)
    _check_distinct(runs)
    return ContributionBundle(
        schema_version=SCHEMA_VERSION,
        generated_at=generated_at,
        evidence_class=EVIDENCE_CLASS,
        notice=NOTICE,
        network_upload_performed=False,
        privacy=ContributionPrivacy(
            allowlist_only=True, manual_review_required_before_sharing=True, excluded=EXCLUDED
        ),
        challenge=_challenge(loaded),
        runs=tuple(runs),
        comparison=comparison,
    )


def build_run(report: RunReport, report_bytes: bytes, replay_bytes: bytes | None) -> ContributionRun:
    """The exported form of one report, with its digests; its passed flag and score are taken as stored."""
    environment = report.environment
    run = ContributionRun(
        evidence_digest_sha256="",
        source_report_sha256=sha256_hex(report_bytes),
        source_replay_sha256="" if replay_bytes is None else sha256_hex(replay_bytes),
        scenario_id=report.manifest.id,
        scenario_version=report.manifest.version,
        manifest_digest=manifest_digest(report.manifest),
        track=report.manifest.track,
        model=environment.model,
        provider=environment.provider,
        harness_git_sha=environment.git_sha,
        harness_git_dirty=environment.git_dirty,
        pulse_version=environment.pulse_version,
        captured_at=environment.captured_at,
        challenge_bound=bool(trim(environment.community_challenge_nonce)),
        passed=report.passed,
        execution=ContributionExecution(
            preflight_passed=_phase_passed(report, "preflight"),
            collection_passed=_phase_passed(report, "normal_collection_convergence"),
            model_patrol_passed=_phase_passed(report, "real_model_patrol"),
        ),
        score=ContributionScore.of(report.score),
        safety=_safety(report),
        failure_counts=ContributionFailureCount(
            hard_failures=len(report.score.hard_failures),
            gate_failures=len(report.score.gate_failures),
            run_errors=len(report.errors),
        ),
    )
    return run.model_copy(update={"evidence_digest_sha256": evidence_digest(run)})


def _check_subjects(loaded: Sequence[_Loaded], calibration: bool) -> None:
    for one in loaded:
        if is_control(one.report.environment.provider) is calibration:
            continue
        if calibration:
            what, hint = "the report is of a model", "a calibration export holds controls only"
        else:
            what, hint = "the report is of a control, not of a model", "export controls with --calibration"
        raise ExportError(what, where=one.source.where, hint=hint)


def _qualified(
    loaded: Sequence[_Loaded], track: str, catalogue: Catalogue, generated_at: Timestamp
) -> ComparisonReport:
    reports = [one.report for one in loaded]
    return qualify(compare(reports, generated_at, calibration=True).report, track, catalogue)


def _run(one: _Loaded, track: str) -> ContributionRun:
    source, report = one.source, one.report
    if not is_challenge(report.environment.community_challenge_nonce):
        raise ExportError("its challenge is not 16 to 128 plain characters", where=source.where)
    if faults := validate(report.manifest):
        raise ManifestError(faults, where=f"{source.where}#/manifest")
    if report.manifest.track != track:
        raise ExportError(
            f"the report is of the track {report.manifest.track!r}, not {track!r}",
            where=source.where,
            hint="export each track from a folder of its own",
        )
    run = build_run(report, source.report, source.replay)
    for fault in run_identity_faults("", run):
        raise ExportError(f"{fault.pointer[1:]}: {fault.message}", where=source.where, hint=fault.hint)
    return run


def _check_distinct(runs: Sequence[ContributionRun]) -> None:
    counts = Counter(run.source_report_sha256 for run in runs)
    if repeated := [digest for digest, count in counts.items() if count > 1]:
        raise ExportError(
            f"{len(repeated)} reports are there more than once, the first is {repeated[0][:12]}",
            hint="a copied report is no further run; remove the copies",
        )


def _challenge(loaded: Sequence[_Loaded]) -> ContributionChallenge:
    nonces = {trim(one.report.environment.community_challenge_nonce) for one in loaded}
    bound = nonces - {""}
    if len(bound) > 1:
        raise ExportError(
            f"the runs are bound to {len(bound)} challenges", hint="export the runs of each by themselves"
        )
    if bound and "" in nonces:
        raise ExportError(
            "some runs are bound to the challenge and some are not", hint="export them by themselves"
        )
    return ContributionChallenge(
        nonce=next(iter(bound), ""),
        bound_at_run=bool(bound),
        consistent_across_runs=True,
        explanation=EXPLANATION,
    )


def _phase_passed(report: RunReport, name: str) -> bool:
    return next((phase.passed for phase in report.phases or () if phase.name == name), False)


def _safety(report: RunReport) -> ContributionSafety:
    teardown = report.teardown
    return ContributionSafety(
        post_patrol_oracle_count=len(report.post_patrol_oracle),
        post_patrol_oracle_passed=_all_passed(report.post_patrol_oracle),
        revert_oracle_count=len(report.revert_oracle),
        revert_oracle_passed=_all_passed(report.revert_oracle),
        teardown_passed=teardown.passed,
        second_cleanup_noop=teardown.second_cleanup_noop,
        inventory_unchanged=teardown.inventory_unchanged,
    )


def _all_passed(observations: Sequence[PredicateObservation]) -> bool:
    return all(observation.passed for observation in observations)
