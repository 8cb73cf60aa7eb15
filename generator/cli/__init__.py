"""patrol-evidence: checks evidence, takes new evidence in, and explains its rules."""

from __future__ import annotations

import sys
from typing import NoReturn

import click

from contract.errors import PatrolQualificationError


class _Group(click.Group):
    """Prints expected errors in one form and ends with their exit code."""

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except PatrolQualificationError as error:
            fail(error)


def fail(error: PatrolQualificationError) -> NoReturn:
    """Say what went wrong and what to do next, on stderr, and end with the error's exit code."""
    click.echo(f"patrol-evidence: {error.where + ': ' if error.where else ''}{error.message}", err=True)
    if error.hint:
        click.echo(f"  {error.hint}", err=True)
    sys.exit(error.exit_code)


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="patrol-qualification", prog_name="patrol-evidence")
def main() -> None:
    """Check evidence, take new evidence in, explain the rules.

    \b
      patrol-evidence check                         everything below evidence/
      patrol-evidence add DIR --contributor LOGIN   an exported campaign
      patrol-evidence explain PQ022                 one rule: why, and how to mend a breach

    Exit codes: 0 the evidence holds, 1 it is refused, 2 the command line is wrong.
    """


def _register() -> None:
    from generator.cli.add import add
    from generator.cli.check import check
    from generator.cli.explain import explain

    for command in (check, add, explain):
        main.add_command(command)


_register()
