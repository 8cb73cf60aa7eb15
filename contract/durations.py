"""Durations as written in manifests (`1h30m`, `250ms`) and in failure texts, in whole nanoseconds."""

from __future__ import annotations

import re
from typing import Final

from contract.errors import PatrolQualificationError
from contract.text import shown

_UNITS: Final = {
    "ns": 1,
    "us": 1_000,
    "\u00b5s": 1_000,
    "\u03bcs": 1_000,
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "m": 60_000_000_000,
    "h": 3_600_000_000_000,
}
_PAIR: Final = r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:ns|us|\u00b5s|\u03bcs|ms|s|m|h)"
_DURATION: Final = re.compile(rf"([+-]?)(0|(?:{_PAIR})+)")
_SPLIT: Final = re.compile(r"([0-9]*)\.?([0-9]*)(ns|us|\u00b5s|\u03bcs|ms|s|m|h)")
_LIMIT: Final = 2**63 - 1
_MAX_CHARS: Final = 256  # keeps the exact arithmetic below small; no writer comes near it


class DurationError(PatrolQualificationError, ValueError):
    """A text is no duration, or not one that is allowed here."""


def parse_duration(text: str) -> int:
    """Read a duration text into nanoseconds, digits below one nanosecond truncated.

    Raises DurationError for a text outside the grammar or beyond 64 bits. Manifest format, section 4.3.
    """
    match = _DURATION.fullmatch(text) if len(text) <= _MAX_CHARS else None
    if match is None:
        raise DurationError(f"{shown(text)} is not a duration", hint="write it as 90s, 5m or 1h30m")
    total = sum(_pair_ns(*pair) for pair in _SPLIT.findall(match[2]))
    negative = match[1] == "-"
    if total > _LIMIT + negative:
        raise DurationError(
            f"{shown(text)} does not fit into 64-bit nanoseconds", hint="the limit is about 292 years"
        )
    return -total if negative else total


def positive_duration(text: str) -> int:
    """Read a duration that must be longer than nothing; DurationError otherwise."""
    length = parse_duration(text)
    if length <= 0:
        raise DurationError(f"duration {shown(text)} is not positive", hint="write it as 90s, 5m or 1h30m")
    return length


def format_duration(ns: int) -> str:
    """Write nanoseconds as hours, minutes and seconds, or below a second in the best unit.

    Manifest format, section 4.4.
    """
    if ns < 0:
        return "-" + format_duration(-ns)
    if ns < _UNITS["s"]:
        return _below_a_second(ns)
    minutes, rest = divmod(ns, _UNITS["m"])
    hours, minutes = divmod(minutes, 60)
    seconds = _decimal(rest, _UNITS["s"]) + "s"
    if hours:
        return f"{hours}h{minutes}m{seconds}"
    return f"{minutes}m{seconds}" if minutes else seconds


def _pair_ns(whole: str, fraction: str, unit: str) -> int:
    scale = _UNITS[unit]
    parts: int = 10 ** len(fraction)
    return int(whole or "0") * scale + int(fraction or "0") * scale // parts


def _below_a_second(ns: int) -> str:
    for unit in ("ms", "\u00b5s", "ns"):
        if ns >= _UNITS[unit]:
            return _decimal(ns, _UNITS[unit]) + unit
    return "0s"


def _decimal(value: int, scale: int) -> str:
    whole, fraction = divmod(value, scale)
    digits = str(fraction).zfill(len(str(scale)) - 1).rstrip("0") if fraction else ""
    return f"{whole}.{digits}" if digits else str(whole)
