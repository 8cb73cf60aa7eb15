"""Text for terminals: tables, safe words, progress."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

import click

from harness.runner.journal import Silent, Watcher

# Control characters, bidirectional overrides and invisible tags do not get to the terminal.
_UNSAFE: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f]"
)


def safe(text: str) -> str:
    """A text of unknown origin, with what a terminal or a CI log could take as a command escaped."""
    escaped = _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
    return re.sub(r"^(\s*)::", r"\1:\\u003a", escaped, flags=re.MULTILINE)


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns padded to their widest cell."""
    widths = [max(len(row[at]) for row in (head, *rows)) for at in range(len(head))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in (head, *rows)
    )


def seconds(duration_ns: int) -> str:
    """A duration as people read it."""
    return f"{duration_ns / 1e9:.1f} s"


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
