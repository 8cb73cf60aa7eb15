"""Options that several commands share, and what they mean."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


class Moment(click.ParamType[int]):
    """An RFC 3339 time with offset, as nanoseconds since 1970."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        from contract.timestamps import Timestamp, TimestampError

        if isinstance(value, int):
            return value
        try:
            return Timestamp(str(value)).instant_ns
        except TimestampError as error:
            self.fail(f"{error.message}; {error.hint}", param, ctx)


def now_ns() -> int:
    """The machine's clock: only commands read it, and pass it on."""
    return time.time_ns()


def root_option(command: F) -> F:
    """--root: the tree that holds evidence/ and scenarios/."""
    return click.option(
        "--root",
        type=click.Path(exists=True, file_okay=False, path_type=Path),
        default=Path(),
        show_default="the current folder",
        help="The tree that holds evidence/ and scenarios/.",
    )(command)


def as_of_option(command: F) -> F:
    """--as-of: the moment that the evidence is judged at."""
    return click.option(
        "--as-of",
        type=Moment(),
        envvar="PATROL_AS_OF",
        help="Judge as of this moment, such as 2026-12-01T00:00:00Z; default now. Nothing may lie after it.",
    )(command)


def output_options(command: F) -> F:
    """--json and --quiet."""
    command = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")(command)
    return click.option("--quiet", is_flag=True, help="Print nothing unless something is refused.")(command)
