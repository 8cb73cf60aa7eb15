"""Points in time as exchanged files write them: nanoseconds and the written offset are kept."""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import date, datetime
from typing import Any, Final

from pydantic_core import CoreSchema, core_schema

from contract.errors import PatrolQualificationError
from contract.text import shown

_TIME: Final = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{1,2}):([0-9]{2}):([0-9]{2})"
    r"(?:[.,]([0-9]+))?(?:Z|([+-])([0-9]{2}):([0-9]{2}))"
)
# Canonical texts up to the 28th in UTC: nearly all that is ever read, and valid without looking further.
_WRITTEN: Final = re.compile(
    r"[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]"
    r"(?:\.[0-9]{0,8}[1-9])?Z"
)
_EPOCH_DAY: Final = date(1970, 1, 1).toordinal()
_DAYS_400_YEARS: Final = 146_097
_HINT: Final = "write it as 2026-07-14T15:04:05Z, up to nine fraction digits, with an offset"


class TimestampError(PatrolQualificationError, ValueError):
    """A text is no point in time of the exchanged formats."""


class Timestamp:
    """A point in time, RFC 3339 with up to nine fraction digits and the offset as written.

    Two of them are equal when they are written alike; to compare instants use `instant_ns`. Raises
    TimestampError for any other text. Evidence format, section 1.
    """

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text if _WRITTEN.fullmatch(text) else _canonical(*_fields(text))

    @classmethod
    def parse(cls, text: str) -> Timestamp:
        """Read a time text; TimestampError when it is none."""
        return cls(text)

    @classmethod
    def from_datetime(cls, moment: datetime) -> Timestamp:
        """Take over an aware datetime; TimestampError when it has no offset or one with seconds."""
        if moment.tzinfo is None:
            raise TimestampError(f"{moment} has no offset", hint="use an aware datetime, best in UTC")
        return cls(moment.isoformat())

    @property
    def instant_ns(self) -> int:
        """Nanoseconds since 1970-01-01T00:00:00Z."""
        fields, fraction, offset = _fields(self._text)
        return (_unix_seconds(fields) - offset * 60) * 10**9 + int(fraction.ljust(9, "0"))

    @property
    def is_zero(self) -> bool:
        """Whether this is the zero time, which stands for "not known"."""
        return self.instant_ns == _ZERO_NS

    @property
    def quoted(self) -> str:
        """The text as a JSON string; no character of it needs an escape."""
        return f'"{self._text}"'

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"Timestamp({self._text!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Timestamp) and self._text == other._text

    def __hash__(self) -> int:
        return hash(self._text)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> CoreSchema:
        """Records take a Timestamp from Python and a text from JSON."""
        return core_schema.json_or_python_schema(
            json_schema=core_schema.no_info_after_validator_function(
                cls, core_schema.str_schema(strict=True)
            ),
            python_schema=core_schema.is_instance_schema(cls),
            serialization=core_schema.to_string_ser_schema(),
        )


def _fields(text: str) -> tuple[tuple[int, ...], str, int]:
    """Year to second, the fraction's digits without trailing zeros, and the offset in minutes."""
    match = _TIME.fullmatch(text)
    if match is None:
        raise TimestampError(f"{shown(text)} is not a point in time", hint=_HINT)
    fields = tuple(map(int, match.group(1, 2, 3, 4, 5, 6)))
    if not _exists(fields):
        raise TimestampError(f"{shown(text)} names a day or an hour that does not exist", hint=_HINT)
    return fields, (match[7] or "")[:9].rstrip("0"), _offset_minutes(match[8], match[9], match[10], text)


def _offset_minutes(sign: str | None, hours: str | None, minutes: str | None, text: str) -> int:
    if sign is None or hours is None or minutes is None:
        return 0
    if int(hours) > 23 or int(minutes) > 59:
        raise TimestampError(f"{shown(text)} has an offset beyond 23:59", hint=_HINT)
    offset = int(hours) * 60 + int(minutes)
    return -offset if sign == "-" else offset


def _exists(fields: tuple[int, ...]) -> bool:
    year, month, day, hour, minute, second = fields
    if not 1 <= month <= 12 or hour > 23 or minute > 59 or second > 59:
        return False
    # The calendar repeats after 400 years; the year 0000 is exchanged but unknown to `datetime`.
    return 1 <= day <= monthrange(year + 400, month)[1]


def _unix_seconds(fields: tuple[int, ...]) -> int:
    year, month, day, hour, minute, second = fields
    days = date(year % 400 + 400, month, day).toordinal() + (year // 400 - 1) * _DAYS_400_YEARS - _EPOCH_DAY
    return ((days * 24 + hour) * 60 + minute) * 60 + second


def _canonical(fields: tuple[int, ...], fraction: str, offset: int) -> str:
    stem = "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}".format(*fields) + (f".{fraction}" if fraction else "")
    if offset == 0:
        return stem + "Z"
    hours, minutes = divmod(abs(offset), 60)
    return f"{stem}{'-' if offset < 0 else '+'}{hours:02}:{minutes:02}"


ZERO_TIME: Final = Timestamp("0001-01-01T00:00:00Z")
_ZERO_NS: Final = ZERO_TIME.instant_ns
