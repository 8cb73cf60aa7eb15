"""The command `patrol-qualify`; what a command needs is imported when it runs."""

from __future__ import annotations

import sys
from typing import NoReturn

import click

from contract.errors import PatrolQualificationError
from harness.cli.commands import patrol_qualify
from harness.cli.flags import flag_command
from harness.cli.plain import safe_lines
from harness.cli.spelling import normalise, speaks_in_flags


def main() -> NoReturn:
    """Run the command line of this process and end with its exit code."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run one command line, in either spelling, and return its exit code; nothing is raised."""
    words = normalise(arguments)
    command = flag_command if speaks_in_flags(words) else patrol_qualify
    try:
        result = command.main(words, prog_name="patrol-qualify", standalone_mode=False)
    except PatrolQualificationError as exc:
        click.echo(f"patrol-qualify: {safe_lines(describe(exc))}", err=True)
        return exc.exit_code
    except click.ClickException as exc:
        exc.show()
        return 2
    except (click.Abort, KeyboardInterrupt):
        click.echo("patrol-qualify: interrupted", err=True)
        return 130
    return result if isinstance(result, int) else 0


def describe(error: PatrolQualificationError) -> str:
    """An error for a terminal: where, what, and on a line of its own what to do."""
    head = f"{error.where}: {error.message}" if error.where else error.message
    return f"{head}\n  {error.hint}" if error.hint else head
