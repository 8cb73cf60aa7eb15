"""Whether a contribution's runs fit a known catalogue, one track, one cohort, and possible times."""

from __future__ import annotations

from pathlib import PurePosixPath

from contract.contribution import ContributionBundle, ContributionRun
from generator.catalogues import Catalogues
from generator.cohort import Cohort
from generator.findings import Findings
from generator.layout import Kind
from generator.wording import NS

FORMAT_BEGAN_NS = 1_735_689_600 * NS
"""2025-01-01: no run can have been captured before the format existed."""
CLOCK_SKEW_NS = 86_400 * NS
"""How far the contributor's clock may be ahead of the checker's: a day, as clocks and zones go wrong."""
CONTROL = "control"


def check_frame(
    contribution: ContributionBundle,
    catalogues: Catalogues,
    kind: Kind,
    now_ns: int,
    path: PurePosixPath,
    findings: Findings,
) -> Cohort | None:
    """The cohort that all runs belong to; None, with findings, when they belong to none or to several."""
    before = len(findings)
    for index, run in enumerate(contribution.runs):
        where = f"/runs/{index}"
        _check_manifest(run, catalogues, where, path, findings)
        _check_control(run, kind, where, path, findings)
        if run.harness_git_dirty:
            findings.add("PQ043", path, "the harness had uncommitted changes", f"{where}/harness_git_dirty")
    _check_times(contribution, now_ns, path, findings)
    _check_unity(contribution, path, findings)
    if contribution.challenge.nonce or contribution.challenge.bound_at_run:
        findings.add("PQ045", path, "this registry has issued no challenge yet", "/challenge")
    if len(findings) > before:
        return None
    return _cohort(contribution, catalogues, path, findings)


def _check_manifest(
    run: ContributionRun, catalogues: Catalogues, where: str, path: PurePosixPath, findings: Findings
) -> None:
    scenario = catalogues.scenario(run.manifest_digest)
    if scenario is None:
        findings.add("PQ040", path, f"{run.scenario_id} with an unknown digest", f"{where}/manifest_digest")
        return
    manifest = scenario.manifest
    stated = (run.scenario_id, run.scenario_version, run.track)
    if stated != (manifest.id, manifest.version, manifest.track):
        what = (
            f"says {' / '.join(map(str, stated))}, but the digest is that of {manifest.id} / "
            f"{manifest.version}"
        )
        findings.add("PQ040", path, f"{what} / {manifest.track}", where)


def _check_control(
    run: ContributionRun, kind: Kind, where: str, path: PurePosixPath, findings: Findings
) -> None:
    marks = (run.provider, run.model.partition(":")[0], run.score.cost.provider, run.score.cost.billing_basis)
    is_control = any(mark.strip().lower() == CONTROL for mark in marks)
    if is_control and kind is Kind.COMMUNITY:
        findings.add("PQ046", path, "is a run of a control", f"{where}/model")
    if not is_control and kind is Kind.CONTROL:
        findings.add("PQ046", path, "is no run of a control", f"{where}/model")


def _check_times(
    contribution: ContributionBundle, now_ns: int, path: PurePosixPath, findings: Findings
) -> None:
    exported = contribution.generated_at.instant_ns
    if exported > now_ns + CLOCK_SKEW_NS:
        findings.add(
            "PQ044", path, f"exported at {contribution.generated_at}, in the future", "/generated_at"
        )
    for index, run in enumerate(contribution.runs):
        captured = run.captured_at.instant_ns
        where = f"/runs/{index}/captured_at"
        if captured < FORMAT_BEGAN_NS:
            findings.add("PQ044", path, f"captured at {run.captured_at}, before there was a format", where)
        if captured > exported:
            findings.add("PQ044", path, f"captured at {run.captured_at}, after the export", where)


def _check_unity(contribution: ContributionBundle, path: PurePosixPath, findings: Findings) -> None:
    members = (
        ("PQ041", "track", "tracks"),
        ("PQ042", "pulse_version", "Pulse versions"),
        ("PQ042", "harness_git_sha", "harness revisions"),
    )
    for rule, member, noun in members:
        seen = sorted({getattr(run, member) for run in contribution.runs})
        if len(seen) > 1:
            findings.add(rule, path, f"{len(seen)} {noun}: {', '.join(seen)}", "/runs")
        elif not seen[0]:
            findings.add(rule, path, f"the runs name no {member.replace('_', ' ')}", "/runs")


def _cohort(
    contribution: ContributionBundle, catalogues: Catalogues, path: PurePosixPath, findings: Findings
) -> Cohort | None:
    first = contribution.runs[0]
    home = catalogues.home(first.track, ((run.scenario_id, run.manifest_digest) for run in contribution.runs))
    if home is None:
        findings.add("PQ042", path, "no single catalogue holds all scenarios of these runs", "/runs")
        return None
    return Cohort(first.track, home, first.pulse_version, first.harness_git_sha)
