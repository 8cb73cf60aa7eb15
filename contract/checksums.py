"""SHA256SUMS: which files a folder holds and what is in them (evidence format, section 1.2)."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from contract.errors import PatrolQualificationError

SUMS_NAME: Final = "SHA256SUMS"
_LINE: Final = re.compile(r"([0-9a-f]{64})  ([^\x00-\x1f\x7f/\\]+)")


class ChecksumError(PatrolQualificationError):
    """SHA256SUMS cannot be read, or the files are not those that it seals."""


@dataclass(frozen=True, slots=True)
class ChecksumFault:
    """One file that is not as sealed; `kind` is `missing`, `mismatch` or `unlisted`."""

    kind: str
    name: str
    expected: str = ""
    found: str = ""

    def __str__(self) -> str:
        if self.kind == "missing":
            return f"{self.name}: listed, but absent"
        if self.kind == "unlisted":
            return f"{self.name}: not listed"
        return f"{self.name}: expected {self.expected[:12]}, found {self.found[:12]}"


def sha256_hex(content: bytes) -> str:
    """Lower-case hex SHA-256."""
    return hashlib.sha256(content).hexdigest()


def format_sums(files: Mapping[str, bytes]) -> bytes:
    """The content of SHA256SUMS over these files, sorted by name; SHA256SUMS itself is left out.

    Raises ChecksumError for a name that a line cannot hold.
    """
    lines = [f"{sha256_hex(files[name])}  {name}" for name in sorted(files) if name != SUMS_NAME]
    for line in lines:
        if _LINE.fullmatch(line) is None:
            raise ChecksumError(f"{line[66:]!r} cannot be listed", hint="use a plain file name")
    return "".join(f"{line}\n" for line in lines).encode()


def parse_sums(content: bytes) -> dict[str, str]:
    """The digests by name. Raises ChecksumError unless every line is exactly as `format_sums` writes it."""
    try:
        text = content.decode()
    except UnicodeDecodeError as exc:
        raise ChecksumError("not valid UTF-8", where=SUMS_NAME) from exc
    if not text.endswith("\n"):
        raise ChecksumError("empty, or its last line has no end", where=SUMS_NAME)
    names: dict[str, str] = {}
    for number, line in enumerate(text[:-1].split("\n"), 1):
        match = _LINE.fullmatch(line)
        if match is None or match[2] in {SUMS_NAME, ".", ".."}:
            raise _line_error(number, "is not `<64 lower-case hex digits>  <file name>`")
        if match[2] in names:
            raise _line_error(number, f"lists {match[2]!r} again")
        names[match[2]] = match[1]
    if list(names) != sorted(names):
        raise ChecksumError("the lines are not sorted by name", where=SUMS_NAME)
    return names


def verify(files: Mapping[str, bytes], *, exact: bool) -> tuple[ChecksumFault, ...]:
    """Every listed file that is absent or other than sealed, and every unlisted one, sorted by name.

    `files` holds SHA256SUMS and its siblings by name. Where the set must be `exact`, any fault raises
    ChecksumError; otherwise an unlisted file is returned and only the others raise.
    """
    if SUMS_NAME not in files:
        raise ChecksumError("there is no SHA256SUMS", hint="seal the folder anew from its source")
    faults = compare_sums(parse_sums(files[SUMS_NAME]), files)
    if broken := [fault for fault in faults if exact or fault.kind != "unlisted"]:
        lines = "; ".join(map(str, broken))
        raise ChecksumError(lines, where=SUMS_NAME, hint="fetch the files again; never edit SHA256SUMS")
    return faults


def compare_sums(listed: Mapping[str, str], files: Mapping[str, bytes]) -> tuple[ChecksumFault, ...]:
    """What differs between listed digests and files by name, sorted by name."""
    faults = []
    for name in sorted({*listed, *files} - {SUMS_NAME}):
        if name not in files:
            faults.append(ChecksumFault("missing", name, listed[name]))
        elif name not in listed:
            faults.append(ChecksumFault("unlisted", name))
        elif (found := sha256_hex(files[name])) != listed[name]:
            faults.append(ChecksumFault("mismatch", name, listed[name], found))
    return tuple(faults)


def _line_error(number: int, message: str) -> ChecksumError:
    return ChecksumError(f"line {number} {message}", where=SUMS_NAME, hint="fetch the files again")
