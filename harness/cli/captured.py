"""The commands about captured runs."""

from __future__ import annotations

import json
from pathlib import Path

import click

from contract.comparison import compare
from contract.comparison_markdown import render_comparison
from contract.errors import UsageError
from contract.qualification import qualify
from contract.record import encode_indented
from contract.redaction import redact
from contract.replay import load_replay, verify_replay
from contract.report import load_report
from contract.scoring import rescore
from harness.artifacts import sealed, write_folder
from harness.captures import SealedFolder, find_reports, read_listed
from harness.clock import SystemClock
from harness.export import contribution_files, read_sources
from harness.resources import load_catalogue, load_prices


def rescore_report(path: Path | None, catalog: Path, *, quiet: bool) -> int:
    """Print the score that a report gives today; 1 unless the report passes with it."""
    load_catalogue(catalog)
    if path is None:
        raise UsageError("which report?", where="--replay-report", hint="name the report.json of a run")
    content, folder = read_listed(path)
    _warn(folder)
    score, passed = rescore(load_report(content, str(path)), load_prices())
    if not quiet:
        click.echo(encode_indented(score).decode(), nl=False)
    return 0 if passed else 1


def verify_bundle(path: Path | None, catalog: Path, *, as_json: bool, quiet: bool) -> int:
    """Prove that a replay can be followed call by call."""
    load_catalogue(catalog)
    if path is None:
        raise UsageError("which replay?", where="--replay-bundle", hint="name the replay.json of a run")
    content, folder = read_listed(path)
    _warn(folder)
    replay = load_replay(content, str(path))
    verify_replay(replay)
    count = len(replay.tool_exchanges or ())
    if as_json:
        click.echo(json.dumps({"run_id": replay.run_id, "exchanges": count, "replayable": True}))
    elif not quiet:
        click.echo(f"{replay.run_id}: {count} tool calls replayed in order")
    return 0


def compare_reports(root: Path, track: str, publication: Path | None, catalog: Path, *, quiet: bool) -> int:
    """Print the comparison of all captured runs; with a track 1 unless every verdict is qualified."""
    catalogue = load_catalogue(catalog)
    sources, folders = read_sources(find_reports(root))
    for folder in folders:
        _warn(folder)
    reports = [load_report(source.report, source.where) for source in sources]
    compared = compare(reports, SystemClock().now())
    if compared.dropped_controls:
        click.echo(f"{compared.dropped_controls} runs of controls are left out", err=True)
    for run_id in compared.repeated_run_ids:
        click.echo(f"run {run_id} stands in several reports and counts each time", err=True)
    comparison = qualify(compared.report, track, catalogue) if track else compared.report
    document = encode_indented(redact(comparison))
    if publication is not None:
        prose = render_comparison(comparison)
        write_folder(publication, sealed({"comparison.json": document, "comparison.md": prose.encode()}))
    if not quiet:
        click.echo(document.decode(), nl=False)
    return 0 if all(verdict.qualified for verdict in comparison.qualification) else 1


def export(
    root: Path,
    track: str,
    folder: Path | None,
    catalog: Path,
    *,
    calibration: bool,
    as_json: bool,
    quiet: bool,
) -> int:
    """Write the contribution folder; failing runs are part of it and no reason to fail."""
    catalogue = load_catalogue(catalog)
    if folder is None:
        raise UsageError("where to?", where="--contribution-dir", hint="name a new folder")
    if not track:
        raise UsageError(
            "which track?", where="--qualification-track", hint="watch, investigation or remediation"
        )
    sources, folders = read_sources(find_reports(root))
    for captured in folders:
        _warn(captured)
    bundle, files = contribution_files(
        sources, track, catalogue, SystemClock().now(), calibration=calibration
    )
    write_folder(folder, files)
    passed = sum(run.passed for run in bundle.runs)
    if as_json:
        click.echo(json.dumps({"folder": str(folder), "runs": len(bundle.runs), "passed": passed}))
    elif not quiet:
        click.echo(f"{len(bundle.runs)} runs ({passed} passed) exported to {folder}")
        add = f"patrol-evidence add {folder} --contributor YOU" + " --control" * calibration
        click.echo(f"Nothing was uploaded. Read the files, then:\n  {add}")
    return 0


def _warn(folder: SealedFolder) -> None:
    for name in folder.unlisted:
        click.echo(f"{folder.path / name}: not listed in SHA256SUMS", err=True)
