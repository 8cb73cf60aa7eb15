"""Reading captured runs back: only what its SHA256SUMS vouches for."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from contract.checksums import SUMS_NAME, ChecksumError, parse_sums, verify
from contract.errors import PatrolQualificationError, UsageError
from harness.artifacts import REPORT

MAX_FILE_BYTES: Final = 64 * 1024 * 1024


class CaptureError(PatrolQualificationError):
    """A captured run is not as it was sealed, or cannot be read."""


@dataclass(frozen=True, slots=True)
class SealedFolder:
    """A folder whose listed files are as sealed; `unlisted` names the files nobody vouches for."""

    path: Path
    files: dict[str, bytes]
    unlisted: tuple[str, ...]


def find_reports(root: Path) -> tuple[Path, ...]:
    """Every `report.json` at or below a folder, sorted by path text; links are not followed.

    Raises UsageError when there is none (evidence format, section 4).
    """
    if not root.is_dir():
        raise UsageError("there is no such folder", where=str(root), hint="name the captured runs: --reports")
    found = [
        Path(folder) / REPORT for folder, _, names in os.walk(root, followlinks=False) if REPORT in names
    ]
    if not found:
        raise UsageError("holds no report.json", where=str(root), hint="capture runs with `live` first")
    return tuple(sorted(found, key=str))


def read_sealed(folder: Path) -> SealedFolder:
    """Read what SHA256SUMS lists, and prove it. Raises CaptureError naming the folder.

    A file that is listed but missing or different is refused, as is anything but a regular file.
    """
    try:
        sums = _read(folder / SUMS_NAME)
        listed = parse_sums(sums)
        present = {entry.name for entry in os.scandir(folder) if not entry.is_dir(follow_symlinks=False)}
        files = {name: _read(folder / name) for name in listed if name in present}
        unread = dict.fromkeys(present - files.keys(), b"")
        unlisted = verify({**unread, **files, SUMS_NAME: sums}, exact=False)
    except ChecksumError as exc:
        raise CaptureError(exc.message, where=str(folder / exc.where), hint=exc.hint) from exc
    return SealedFolder(folder, files, tuple(fault.name for fault in unlisted))


def read_listed(path: Path) -> tuple[bytes, SealedFolder]:
    """One file of a sealed folder, and the folder. Raises CaptureError if SHA256SUMS does not list it."""
    folder = read_sealed(path.parent)
    if path.name not in folder.files:
        raise CaptureError(f"{SUMS_NAME} beside it does not list it", where=str(path))
    return folder.files[path.name], folder


def _read(path: Path) -> bytes:
    """The bytes of a regular file that is no link, up to a bound."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise CaptureError("is not a regular file", where=str(path))
            content = file.read(MAX_FILE_BYTES + 1)
    except OSError as exc:
        hint = "runs are sealed when they are captured" if path.name == SUMS_NAME else ""
        raise CaptureError(f"cannot be read: {exc.strerror}", where=str(path), hint=hint) from exc
    if len(content) > MAX_FILE_BYTES:
        raise CaptureError(f"is longer than {MAX_FILE_BYTES} bytes", where=str(path))
    return content
