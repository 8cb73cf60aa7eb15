"""The moment that a build is of: asked for, or taken from what was committed; never the wall clock."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from pathlib import Path

from contract.errors import UsageError
from contract.timestamps import Timestamp, TimestampError
from generator.layout import EVIDENCE
from generator.verified import VerifiedBundle
from generator.wording import NS


def parse_moment(text: str) -> int:
    """An explicit moment as nanoseconds since 1970; UsageError when the text is none."""
    try:
        return Timestamp(text).instant_ns
    except TimestampError as error:
        raise UsageError(f"PATROL_AS_OF: {error.message}", hint=error.hint) from error


def last_evidence_commit_ns(root: Path) -> int | None:
    """When the last commit that touched evidence/ was made, or None where git cannot tell."""
    try:
        told = subprocess.run(
            ["git", "log", "-1", "--format=%ct", "--", str(EVIDENCE)],
            cwd=root,
            capture_output=True,
            check=False,
            timeout=30,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    seconds = told.stdout.decode("ascii", "replace").strip()
    return int(seconds) * NS if told.returncode == 0 and seconds.isdigit() else None


def build_moment_ns(root: Path, asked: str, bundles: Iterable[VerifiedBundle]) -> int:
    """The moment of a build: what was asked for, else the last evidence commit, else the newest export."""
    if asked:
        return parse_moment(asked)
    committed = last_evidence_commit_ns(root)
    if committed is not None:
        return committed
    return max((bundle.contribution.generated_at.instant_ns for bundle in bundles), default=0)
