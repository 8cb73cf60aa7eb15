"""How the progress of runs is shown."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import click

from harness.cli.plain import safe, seconds
from harness.runner.journal import Silent, Watcher


class Lines:
    """One line on standard error for each phase that has ended."""

    def begin(self, run_id: str, phase: str) -> None:
        """Nothing to say yet."""

    def end(self, run_id: str, phase: str, duration_ns: int, error: str) -> None:
        """Say how it went."""
        state = f"FAILED: {safe(error)}" if error else "ok"
        click.echo(f"{run_id} {phase} {seconds(duration_ns)} {state}", err=True)


@contextmanager
def progress(*, quiet: bool) -> Iterator[Watcher]:
    """Shows the phases of runs: live on a terminal, line by line in a pipe, not at all when quiet."""
    if quiet:
        yield Silent()
    elif sys.stderr.isatty():
        from harness.cli.live_display import live_display

        with live_display() as watcher:
            yield watcher
    else:
        yield Lines()
