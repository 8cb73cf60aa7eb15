"""A spinner with the present phase, and a line for each that has ended; for terminals."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.markup import escape
from rich.status import Status

from harness.cli.plain import safe, seconds


class LiveDisplay:
    """Shows one run after the other."""

    def __init__(self, console: Console, status: Status) -> None:
        self._console = console
        self._status = status

    def begin(self, run_id: str, phase: str) -> None:
        """Show which phase is under way."""
        self._status.update(f"[bold]{escape(run_id)}[/] {phase.replace('_', ' ')} ...")

    def end(self, run_id: str, phase: str, duration_ns: int, error: str) -> None:
        """Leave a line behind."""
        mark = "[red]failed[/]" if error else "[green]ok[/]    "
        self._console.print(f"{mark} {phase.replace('_', ' '):34} {seconds(duration_ns):>8}", highlight=False)
        if error:
            self._console.print(f"       {escape(safe(error))}", highlight=False)


@contextmanager
def live_display() -> Iterator[LiveDisplay]:
    """A live display on standard error; colours follow NO_COLOR."""
    console = Console(stderr=True)
    with console.status("starting ...") as status:
        yield LiveDisplay(console, status)
