"""Which revision of the harness measured, and whether it was a clean one."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

_SECONDS = 20


@dataclass(frozen=True, slots=True)
class Revision:
    """A commit; `sha` is empty outside of a repository, which counts as dirty."""

    sha: str
    dirty: bool


def revision(folder: Path) -> Revision:
    """The revision of a work tree whose root is `folder`; untracked files make it dirty (runner, section 9).

    A folder that merely lies inside of somebody else's repository has no revision.
    """
    root = _git(folder, "rev-parse", "--show-toplevel")
    if root is None or Path(root).resolve() != folder.resolve():
        return Revision("", True)
    sha = _git(folder, "rev-parse", "HEAD")
    changes = _git(folder, "status", "--porcelain")
    return Revision(sha or "", sha is None or changes is None or bool(changes))


def harness_revision() -> Revision:
    """The revision of the harness that is running."""
    return revision(Path(__file__).parent.parent)


def _git(folder: Path, *arguments: str) -> str | None:
    """The trimmed output of a git command, `None` when it fails."""
    try:
        answer = subprocess.run(
            ["git", "-C", str(folder), *arguments], capture_output=True, check=False, timeout=_SECONDS
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return answer.stdout.decode(errors="replace").strip() if answer.returncode == 0 else None
