"""patrol-evidence add: takes an exported campaign into the tree."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from contract.errors import UsageError
from generator.cli.options import as_of_option, now_ns, output_options, root_option

if TYPE_CHECKING:
    from contract.submission import Submission
    from generator.intake import Candidate

PUBLISHED = """\
This will be published for ever, under the name {login}:
  contributor   {login}{affiliation}
  machine       {machine}
  overrides     {overrides}
  numbers       of {runs} runs: counts, rates, latencies, tokens, versions, digests
  your words    README.md of the export, as it is
Read the files of the export before you agree."""


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--contributor", "login", required=True, metavar="LOGIN", help="Your GitHub login.")
@click.option(
    "--affiliation", default="", metavar="TEXT", help="Who pays or equips you for this, if anybody."
)
@click.option("--control", is_flag=True, help="A calibration campaign of a control, not of a model.")
@click.option("--supersedes", default="", metavar="ID", help="Your earlier bundle that this one corrects.")
@click.option("--yes", is_flag=True, help="Agree to publication without being asked.")
@root_option
@as_of_option
@output_options
def add(
    folder: Path,
    login: str,
    affiliation: str,
    control: bool,
    supersedes: str,
    yes: bool,
    root: Path,
    as_of: int | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Verify the export in DIR, complete its submission, and place it below evidence/, whole or not at all.

    DIR is what `patrol-qualify export-contribution` wrote. Nothing is sent anywhere; the next git commands
    are printed. Exit code 0: added; 1: refused, nothing was changed.
    """
    from generator.intake import RefusedError, complete, place_whole, prepare, read_draft, read_export

    try:
        files = read_export(folder)
        submission = complete(read_draft(files), login.lower(), affiliation.strip(), supersedes)
        moment = as_of if as_of is not None else now_ns()
        candidate = prepare(root, files, submission, control=control, now_ns=moment)
    except RefusedError as error:
        from generator.cli.check import told

        click.echo(f"patrol-evidence: {error.message}; nothing was changed\n{told(error.findings)}", err=True)
        sys.exit(1)
    if not yes:
        _ask(submission, candidate)
    place_whole(root, candidate)
    _tell(candidate, root, as_json=as_json, quiet=quiet)


def _ask(submission: Submission, candidate: Candidate) -> None:
    if not sys.stdin.isatty():
        raise UsageError("consent is needed and nobody can be asked", hint="read the export, then give --yes")
    seen = submission.environment
    told = (seen.os, seen.architecture, seen.virtualisation, seen.accelerator, seen.accelerator_memory)
    click.echo(
        PUBLISHED.format(
            login=submission.contributor.login,
            affiliation=f", {submission.contributor.affiliation}"
            if submission.contributor.affiliation
            else "",
            machine=", ".join(filter(None, told)) or "not reported",
            overrides=", ".join(f"{name}={value}" for name, value in candidate.bundle.overrides) or "none",
            runs=len(candidate.bundle.runs),
        ),
        err=True,
    )
    if not click.confirm("Do you agree?", err=True):
        raise UsageError("not agreed; nothing was changed")


def _tell(candidate: Candidate, root: Path, *, as_json: bool, quiet: bool) -> None:
    path = candidate.place.path
    if as_json:
        shown = {"id": candidate.place.id, "path": str(path), "runs": len(candidate.bundle.runs)}
        click.echo(json.dumps(shown, indent=2))
    elif not quiet:
        where = "" if root == Path() else f" -C {shlex.quote(str(root))}"
        click.echo(f"Added {path} ({len(candidate.bundle.runs)} runs). Next:")
        click.echo(f"  git{where} switch -c evidence-{candidate.place.id}")
        click.echo(f"  git{where} add {path}")
        click.echo(f"  git{where} commit -m 'Add evidence {candidate.place.id}'")
        click.echo("  git push, and open a pull request that holds nothing else")
