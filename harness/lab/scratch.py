"""The scratch storage of a service: measured, filled to the last byte, emptied (lab format, section 5).

Path, size, commands and amount are constants of the driver; no manifest can change them.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from harness.lab.engine import ExecResult
from harness.lab.errors import EngineError, LabError, ProbeError
from harness.lab.recorded import Recorded

SCRATCH_PATH: Final = "/var/lib/service-cache"
SCRATCH_BYTES: Final = 8 * 1024 * 1024
SCRATCH_OPTIONS: Final = f"size={SCRATCH_BYTES},mode=1777,nosuid,nodev,noexec"
FILL_FILE: Final = f"{SCRATCH_PATH}/.pulse-qual-fill"

REFUSED: Final = 17
NO_SPACE: Final = "No space left on device"
MEASURE: Final = ("stat", "-f", "-c", "%S %b %a %T", SCRATCH_PATH)
CREATE: Final = (
    "/bin/sh",
    "-c",
    f"if [ -e {FILL_FILE} ] || [ -L {FILL_FILE} ]; then exit {REFUSED}; fi; set -C; : >{FILL_FILE}",
)
# At most the capacity and one block more, in one command.
FILL: Final = ("dd", "if=/dev/zero", f"of={FILL_FILE}", "bs=65536", f"count={SCRATCH_BYTES // 65536 + 1}")
ROLLBACK: Final = ("rm", "-f", FILL_FILE)
EMPTY: Final = (
    "/bin/sh",
    "-c",
    f"if [ -L {FILL_FILE} ]; then exit {REFUSED}; fi; if [ ! -e {FILL_FILE} ]; then exit 0; fi; "
    f"if [ ! -f {FILL_FILE} ]; then exit {REFUSED}; fi; rm {FILL_FILE}",
)
_MEASURED: Final = re.compile(r"([0-9]+) ([0-9]+) ([0-9]+) ([A-Za-z0-9_/-]+)\n?")


@dataclass(frozen=True, slots=True)
class Space:
    """What a file system holds and has left, in bytes."""

    capacity: int
    available: int
    kind: str


def measure(recorded: Recorded, alias: str) -> Space:
    """Ask the container's own file system; ProbeError for an answer that is not exactly understood."""
    result = _execute(recorded, alias, MEASURE)
    match = _MEASURED.fullmatch(result.output)
    if result.exit_code != 0 or match is None:
        raise ProbeError(f"{SCRATCH_PATH} of {alias!r} cannot be measured: {_words(result)}")
    block, blocks, available = (int(digits) for digits in match.group(1, 2, 3))
    return Space(block * blocks, block * available, match[4])


def fill(recorded: Recorded, alias: str) -> None:
    """Write until the file system refuses; LabError, and no file of ours left, if it does not refuse."""
    space = measure(recorded, alias)
    if space.kind != "tmpfs" or space.capacity != SCRATCH_BYTES:
        raise LabError(
            f"{SCRATCH_PATH} of {alias!r} is a {space.kind} of {space.capacity} bytes, "
            f"not a tmpfs of {SCRATCH_BYTES}; it is not filled"
        )
    created = _execute(recorded, alias, CREATE)
    if created.exit_code != 0:
        raise LabError(f"{FILL_FILE} of {alias!r} cannot be made anew: {_words(created)}")
    try:
        written = _execute(recorded, alias, FILL)
        if written.exit_code == 0 or NO_SPACE not in written.output:
            raise LabError(
                f"the write into {SCRATCH_PATH} of {alias!r} did not run out of space: {_words(written)}"
            )
    except BaseException:
        with suppress(EngineError, LabError):
            _execute(recorded, alias, ROLLBACK)
        raise


def empty(recorded: Recorded, alias: str) -> None:
    """Remove the fill file and nothing else; one that is not there is as good as removed."""
    result = _execute(recorded, alias, EMPTY)
    if result.exit_code == REFUSED:
        raise LabError(f"{FILL_FILE} of {alias!r} is no regular file; it is left alone")
    if result.exit_code != 0:
        raise LabError(f"{FILL_FILE} of {alias!r} was not removed: {_words(result)}")


def _execute(recorded: Recorded, alias: str, argv: tuple[str, ...]) -> ExecResult:
    return recorded.engine.execute(recorded.owned_running(alias).id, argv)


def _words(result: ExecResult) -> str:
    if result.exit_code == REFUSED:
        return "something is there already"
    return f"exit {result.exit_code}, {result.output.strip()[:200]!r}"
