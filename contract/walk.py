"""Every text that a record holds, with its place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from contract.faults import pointer
from contract.jsontext import STRING, string_value
from contract.rawjson import RawJson
from contract.record import Record

_STRING: Final = re.compile(STRING)


def texts(value: Any, where: str = "") -> Iterator[tuple[str, str]]:
    """All string values beneath a value as `(JSON pointer, text)`; raw JSON counts as one place."""
    if isinstance(value, str):
        yield where, value
    elif isinstance(value, RawJson):
        for match in _STRING.finditer(value.text):
            yield where, string_value(match[0])
    elif isinstance(value, tuple):
        for at, item in enumerate(value):
            yield from texts(item, pointer(where, at))
    elif isinstance(value, Record | dict):
        for name, item in (value.__dict__ if isinstance(value, Record) else value).items():
            yield from texts(item, pointer(where, name))
