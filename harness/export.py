"""Captured runs to a folder that can be shared: an allow-list, its prose, and a draft of the declaration."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from contract.catalogue import Catalogue
from contract.checksums import sha256_hex
from contract.contribution import encode_contribution
from contract.contribution_build import ExportError, ReportSource, build_contribution
from contract.contribution_records import ContributionBundle
from contract.report import RunReport, load_report
from contract.scoring import report_passes
from contract.submission import DeclaredCampaign, MachineClass, draft, encode_submission
from contract.timestamps import Timestamp
from harness.artifacts import REPLAY, sealed
from harness.captures import CaptureError, SealedFolder, read_listed

CONTRIBUTION: Final = "contribution.json"
README: Final = "README.md"
SUBMISSION: Final = "submission.json"
_IMAGE: Final = ("lab_image", "lab_image_id")
_RUNTIME: Final = "runtime."


def read_sources(paths: Iterable[Path]) -> tuple[tuple[ReportSource, ...], tuple[SealedFolder, ...]]:
    """The bytes of reports and of the replays beside them, each proved by its SHA256SUMS.

    Raises CaptureError, also for a report that says it passed although its own score, teardown or errors
    say otherwise: seals show that nothing changed since, not that it was true.
    """
    sources, folders = [], []
    for path in paths:
        report, folder = read_listed(path)
        if (folder.path / REPLAY).exists() and REPLAY not in folder.files:
            raise CaptureError("SHA256SUMS beside it does not list it", where=str(folder.path / REPLAY))
        _check_verdict(load_report(report, str(path)), path)
        sources.append(ReportSource(report, folder.files.get(REPLAY), str(path)))
        folders.append(folder)
    return tuple(sources), tuple(folders)


def _check_verdict(report: RunReport, path: Path) -> None:
    if report.passed and not report_passes(report, report.score):
        raise CaptureError(
            "says that it passed, and its score, teardown or errors say that it did not",
            where=str(path),
            hint="score it again with `patrol-qualify replay`; never edit a captured report",
        )


def contribution_files(
    sources: Sequence[ReportSource],
    track: str,
    catalogue: Catalogue,
    generated_at: Timestamp,
    *,
    calibration: bool = False,
) -> tuple[ContributionBundle, dict[str, bytes]]:
    """The bundle, and the files of its folder: contribution, README, draft submission, SHA256SUMS.

    Raises what is wrong with a report, or ContributionError for a bundle that may not be written.
    """
    bundle = build_contribution(sources, track, catalogue, generated_at, calibration=calibration)
    document = encode_contribution(bundle)
    reports = [load_report(source.report, source.where) for source in sources]
    submission = draft(
        sha256_hex(document), machine_class(reports), declared_campaign(reports, track), overrides(reports)
    )
    files = {
        CONTRIBUTION: document,
        README: readme(bundle, calibration=calibration).encode(),
    }
    return bundle, {**sealed(files), SUBMISSION: encode_submission(submission)}


def machine_class(reports: Sequence[RunReport]) -> MachineClass:
    """The kind of machine that all reports agree on; ExportError when they were made on several."""
    return MachineClass(
        os=agreed(reports, "os"),
        architecture=agreed(reports, "architecture"),
        virtualisation=agreed(reports, "virtualisation"),
        docker_engine=agreed(reports, "docker_engine"),
        accelerator="",
        accelerator_memory="",
    )


def declared_campaign(reports: Sequence[RunReport], track: str) -> DeclaredCampaign:
    """How often each scenario was run; attempts and aborted ones are for the contributor to declare."""
    counts = Counter(report.manifest.id for report in reports)
    return DeclaredCampaign(
        track=track, runs_per_scenario=dict(sorted(counts.items())), attempt=1, aborted=()
    )


def overrides(reports: Sequence[RunReport]) -> dict[str, str]:
    """Everything the reports record that may differ from the pinned campaign, each with its one value."""
    own_image = any(_runs_another_image(report) for report in reports)
    names = {
        name
        for report in reports
        for name in report.environment.versions
        if name.startswith(_RUNTIME) or (own_image and name in _IMAGE)
    }
    agreements = {name: agreed(reports, name) for name in sorted(names)}
    return {name: value for name, value in agreements.items() if value}


def agreed(reports: Sequence[RunReport], name: str) -> str:
    """The one value of an environment version; a run that ended before it was known does not count."""
    values = {report.environment.versions.get(name, "") for report in reports} - {""}
    if len(values) > 1:
        raise ExportError(
            f"the runs differ in {name}: {', '.join(sorted(values))}",
            hint="export the runs of one campaign from a folder of their own",
        )
    return next(iter(values), "")


def readme(bundle: ContributionBundle, *, calibration: bool) -> str:
    """What a reader of the folder should know before anything is shared."""
    challenge = bundle.challenge
    models = ", ".join(sorted({f"`{run.model}`" for run in bundle.runs}))
    excluded = "\n".join(f"- {item}" for item in bundle.privacy.excluded or ())
    title = "Calibration runs" if calibration else "Contribution"
    return f"""# {title}

Created on the contributor's own machine; nothing was uploaded. Review every file before you share it.
This is a candidate for the community boards and not a certification of anything.

- Models: {models}
- Runs: {len(bundle.runs)}, of which {sum(run.passed for run in bundle.runs)} passed
- Challenge bound at run time: {"yes" if challenge.bound_at_run else "no"}
- Challenge consistent across runs: {"yes" if challenge.consistent_across_runs else "no"}

Left out on purpose:

{excluded}
"""


def _runs_another_image(report: RunReport) -> bool:
    image = report.environment.versions.get("lab_image", "")
    return bool(image) and image != report.manifest.lab.image
