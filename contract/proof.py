"""Proof that a forgiving parser has forgotten nothing: as many members were kept as the document holds.

The parser behind the records drops all but the last of duplicate members. Apart from that it is as strict as
the formats demand, so counting is enough, and far cheaper than reading the document a second time.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, TypeAlias

from pydantic import BaseModel

from contract.shapes import Array, Mapping, Pointer, Raw, Shape
from contract.structs import Struct, members

Count: TypeAlias = Callable[[Any], int]


class _UncountableError(Exception):
    """A record carries raw JSON, whose members no record counts."""


def members_written(document: bytes) -> int | None:
    """How many members all objects of a document have together; `None` when that is not seen at a glance."""
    if b"\\" in document and b'\\"' in document:
        return None
    # Without escaped quotes, a quote before a colon ends a member's name and nothing else.
    return document.translate(None, b" \t\r\n").count(b'":')


@cache
def member_counter(record: type[BaseModel]) -> Count | None:
    """A function that counts the members read into a record; `None` for one that carries raw JSON."""
    try:
        return _of_struct(record)
    except _UncountableError:
        return None


def _of_struct(record: type[BaseModel]) -> Count:
    parts = [(name, part) for name, shape in members(record).items() if (part := _of(shape)) is not None]

    def count(value: BaseModel) -> int:
        held = value.__dict__
        return sum([part(held[name]) for name, part in parts], len(value.model_fields_set))

    return count


def _of(shape: Shape) -> Count | None:
    """The counter of a value's members; `None` where there never are any."""
    if isinstance(shape, Raw):
        raise _UncountableError
    if isinstance(shape, Struct):
        return _of_struct(shape.record)
    if isinstance(shape, Pointer):
        inner = _of(shape.target)
        return inner and (lambda value: 0 if value is None else inner(value))
    if isinstance(shape, Mapping):
        item = _of(shape.item) or (lambda _: 0)
        return lambda values: len(values or ()) + sum(map(item, (values or {}).values()))
    if isinstance(shape, Array):
        each = _of(shape.item)
        return each and (lambda values: sum(map(each, values or ())))
    return None
