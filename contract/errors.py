"""The one root of every error that this project raises on purpose."""

from __future__ import annotations


class PatrolQualificationError(Exception):
    """An expected failure: what went wrong, where, and how to mend it.

    `where` is a path into the input (a file, a JSON pointer, a flag) or empty; `hint` says what to do next.
    Commands print these two and end with `exit_code` (0 held, 1 did not hold, 2 usage, 3 environment,
    4 invalid run, 5 residue left in the lab); nothing else catches this class to hide it.
    """

    exit_code = 1

    def __init__(self, message: str, *, where: str = "", hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.where = where
        self.hint = hint

    def __str__(self) -> str:
        head = f"{self.where}: {self.message}" if self.where else self.message
        return f"{head} ({self.hint})" if self.hint else head


class UsageError(PatrolQualificationError):
    """The command line or a configuration asks for something that cannot be done as asked."""

    exit_code = 2


class EnvironmentMissingError(PatrolQualificationError):
    """Something outside of the project is absent: no Docker engine, no server, no model."""

    exit_code = 3


class InvalidRunError(PatrolQualificationError):
    """The lab or the harness broke, so nothing was learned about the subject."""

    exit_code = 4


class ResidueError(PatrolQualificationError):
    """Something that a run made is still there after cleanup."""

    exit_code = 5
