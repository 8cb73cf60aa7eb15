"""The five files of a run: whole or none, readable by their owner only, sealed by their digests."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from contract.checksums import SUMS_NAME, format_sums
from contract.errors import InvalidRunError, UsageError
from contract.record import encode_indented
from contract.redaction import redact
from contract.replay import build_replay
from contract.report import RunReport
from contract.report_markdown import render_report
from contract.timestamps import Timestamp

REPORT: Final = "report.json"
REPLAY: Final = "replay.json"
TRUTH: Final = "ground-truth.json"
PROSE: Final = "report.md"
FILE_MODE: Final = 0o600
FOLDER_MODE: Final = 0o700


@dataclass(frozen=True, slots=True)
class Capture:
    """A report as it is stored, and the files that hold it."""

    report: RunReport
    files: Mapping[str, bytes]


def capture(report: RunReport, captured_at: Timestamp) -> Capture:
    """Lay out a report's files; one that cannot be replayed did not pass (evidence format, section 2)."""
    report = redact(report)
    replay = build_replay(report, captured_at)
    if replay.replay_issues:
        text = "deterministic replay capture incomplete: " + "; ".join(replay.replay_issues)
        report = report.model_copy(update={"passed": False, "errors": (*report.errors, text)})
    files = {
        TRUTH: encode_indented(report.ground_truth),
        REPORT: encode_indented(report),
        REPLAY: encode_indented(replay),
        PROSE: render_report(report).encode(),
    }
    return Capture(report, sealed(files))


def sealed(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """The files and the SHA256SUMS over them."""
    return {**files, SUMS_NAME: format_sums(files)}


def write_folder(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write a new folder with these files, all of it or nothing; mode 0700, files 0600.

    Raises UsageError if the folder exists with content, InvalidRunError if it cannot be written.
    """
    if folder.exists() and any(folder.iterdir()):
        raise UsageError("the folder exists and is not empty", where=str(folder), hint="name a new folder")
    try:
        folder.parent.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
        try:
            for name, content in files.items():
                write_private(draft / name, content)
            _sync(draft)
            draft.rename(folder)
        except BaseException:
            shutil.rmtree(draft, ignore_errors=True)
            raise
        _sync(folder.parent)
    except OSError as exc:
        raise InvalidRunError(f"cannot be written: {exc.strerror or exc}", where=str(folder)) from exc


def write_private(path: Path, content: bytes) -> None:
    """Create a file of mode 0600 and put its content on the disk."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, FILE_MODE)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def replace_private(path: Path, content: bytes) -> None:
    """Put a file of mode 0600 in the place of whatever stands there, whole."""
    descriptor, draft = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(draft).replace(path)
    except BaseException:
        Path(draft).unlink(missing_ok=True)
        raise


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
