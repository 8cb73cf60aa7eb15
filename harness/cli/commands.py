"""The subcommands: thin, and importing what they need when they run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from harness.cli.options import options

LIVE_OPTIONS = (
    *("embedded", "model", "docker-context", "docker-ssh-host", "allow-shared-host"),
    *("authorize-live-faults", "authorize-remediation", "repeats", "repeat-profile", "lab-image"),
    *("url", "user", "password", "password-env", "expected-pulse-version", "community-challenge"),
    *("artifacts", "catalog", "json", "quiet"),
)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="patrol-qualification", message="patrol-qualify %(version)s")
def patrol_qualify() -> None:
    """Measure which language models are fit for Pulse Patrol: break, confirm, ask, score, seal.

    \b
    What is there to run, and is it valid?
      patrol-qualify list
      patrol-qualify validate

    \b
    One run, in a disposable Docker context, without a Pulse server:
      patrol-qualify live --scenario watch.docker-unhealthy --embedded \\
          --model control:reference --docker-context lab --authorize-live-faults

    \b
    The whole watch track with a model of your own, as often as qualification asks:
      export PULSE_QUALIFY_PASSWORD=...
      patrol-qualify live-suite --qualification-track watch --repeat-profile qualification \\
          --url http://127.0.0.1:7655 --model openai:NAME --docker-context lab --authorize-live-faults

    \b
    Afterwards:
      patrol-qualify compare --qualification-track watch
      patrol-qualify export-contribution --qualification-track watch --contribution-dir tmp/contribution
      patrol-qualify explain recall

    \b
    The same as flags, with one dash or two:
      patrol-qualify -mode live -scenario watch.docker-unhealthy -docker-context lab -authorize-live-faults

    \b
    Exit codes: 0 held, 1 did not hold, 2 usage, 3 environment (no Docker, no server),
    4 invalid run (lab or server broke), 5 residue in the lab, 130/143 ended by a signal after cleanup.
    """


@patrol_qualify.command()
@options("catalog", "json", "quiet")
def validate(catalog: Path, json: bool, quiet: bool) -> int:
    """Check every scenario manifest of the catalogue; all faults of a file are shown together."""
    from harness.cli.catalogue import validate as run

    return run(catalog, as_json=json, quiet=quiet)


@patrol_qualify.command("list")
@options("catalog", "json", "quiet")
def list_command(catalog: Path, json: bool, quiet: bool) -> int:
    """Show the scenarios: id, track, mode, faults, repeats, digest."""
    from harness.cli.catalogue import list_scenarios

    return list_scenarios(catalog, as_json=json, quiet=quiet)


@patrol_qualify.command()
@options("scenario", *LIVE_OPTIONS)
def live(**values: Any) -> int:
    """Run one scenario for real: break containers in YOUR disposable lab, ask the model, score, clean up.

    Nothing is touched before every gate has passed: --authorize-live-faults, a scenario, a Docker context of
    its own, and a server (--url with a password in PULSE_QUALIFY_PASSWORD) or --embedded with --model.
    """
    from harness.cli.live import LiveOptions, run_live

    return run_live(LiveOptions(**values))


@patrol_qualify.command("live-suite")
@options("qualification-track", *LIVE_OPTIONS)
def live_suite(**values: Any) -> int:
    """Run every scenario of a track, one after the other, each as often as asked."""
    from harness.cli.live import LiveOptions, run_suite

    return run_suite(LiveOptions(**values))


@patrol_qualify.command()
@click.argument("report", required=False, type=click.Path(path_type=Path, dir_okay=False))
@options("replay-report", "catalog", "quiet")
def replay(report: Path | None, replay_report: Path | None, catalog: Path, quiet: bool) -> int:
    """Score a captured report.json again and print the score; exit 1 if the report does not pass."""
    from harness.cli.captured import rescore_report

    return rescore_report(report or replay_report, catalog, quiet=quiet)


@patrol_qualify.command("verify-replay")
@click.argument("bundle", required=False, type=click.Path(path_type=Path, dir_okay=False))
@options("replay-bundle", "catalog", "json", "quiet")
def verify_replay(
    bundle: Path | None, replay_bundle: Path | None, catalog: Path, json: bool, quiet: bool
) -> int:
    """Feed a captured replay.json to itself: every tool call must be matched, in order, to the last."""
    from harness.cli.captured import verify_bundle

    return verify_bundle(bundle or replay_bundle, catalog, as_json=json, quiet=quiet)


@patrol_qualify.command()
@options("reports", "qualification-track", "publication-dir", "catalog", "quiet")
def compare(
    reports: Path, qualification_track: str, publication_dir: Path | None, catalog: Path, quiet: bool
) -> int:
    """Compare the models of captured runs; with a track, exit 1 unless every model qualifies."""
    from harness.cli.captured import compare_reports

    return compare_reports(reports, qualification_track, publication_dir, catalog, quiet=quiet)


@patrol_qualify.command("export-contribution")
@options("reports", "qualification-track", "contribution-dir", "calibration", "catalog", "json", "quiet")
def export_contribution(
    reports: Path,
    qualification_track: str,
    contribution_dir: Path | None,
    calibration: bool,
    catalog: Path,
    json: bool,
    quiet: bool,
) -> int:
    """Export captured runs of a track as an allow-list: counts, digests, versions; nothing private.

    Failing runs are exported like all others. Nothing is uploaded; read the folder, then give it to
    `patrol-evidence add`.
    """
    from harness.cli.captured import export

    return export(
        reports,
        qualification_track,
        contribution_dir,
        catalog,
        calibration=calibration,
        as_json=json,
        quiet=quiet,
    )


@patrol_qualify.command()
@click.argument("what", required=False, metavar="[CODE|RUN-FOLDER]")
@options("json")
def explain(what: str | None, json: bool) -> int:
    """Say what a failure code means and how to act on it, or why a captured run did not pass."""
    from harness.cli.explain import explain as run

    return run(what, as_json=json)
