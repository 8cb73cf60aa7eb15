"""What the members of a record look like in JSON, compiled once per class from its annotations.

Nothing is looked up by reflection while a record is written (manifest format, section 9).
"""

from __future__ import annotations

import math
import re
import types
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from operator import attrgetter, call, itemgetter
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError

from contract.faults import pointer
from contract.jsontext import Node, float_text, string_value
from contract.rawjson import RawJson
from contract.reading import BAD, Reading, declared_members
from contract.shapes import (
    OMIT,
    Array,
    Mapping,
    Pointer,
    Raw,
    Scalar,
    Shape,
    Write,
    deeper,
    layout,
    write_string,
)
from contract.timestamps import ZERO_TIME, Timestamp

INT64_MIN: Final = -(2**63)
INT64_MAX: Final = 2**63 - 1
_INTEGER: Final = re.compile(r"-?[0-9]{1,19}")


@dataclass(frozen=True, slots=True)
class Struct(Shape):
    """A record: declared members in declared order."""

    record: type[BaseModel]

    def zero(self) -> BaseModel:
        return self.record.model_construct(
            **{name: shape.zero() for name, shape in members(self.record).items()}
        )

    def writer(self, depth: int | None) -> Write:
        return record_writer(self.record, depth)

    def read(self, node: Node, where: str, reading: Reading) -> Any:
        if node.kind == "null":
            return self.zero()
        if node.kind != "object":
            return reading.expected("an object", node, where)
        shapes = members(self.record)
        values = {name: shape.zero() for name, shape in shapes.items()}
        for name, item in declared_members(node, where, frozenset(shapes), reading):
            values[name] = shapes[name].read(item, pointer(where, name), reading)
        if any(value is BAD for value in values.values()):
            return BAD
        try:
            return self.record(**values)
        except ValidationError as exc:
            for error in exc.errors(include_url=False):
                place = where + "".join(pointer("", part) for part in error["loc"])
                reading.fault(place, error["msg"])
            return BAD


@cache
def members(record: type[BaseModel]) -> dict[str, Shape]:
    """The shapes of a record's members in declared order; TypeError for a default that is not zero."""
    shapes = {name: shape_of(field.annotation) for name, field in record.model_fields.items()}
    for name, field in record.model_fields.items():
        if not field.is_required() and field.get_default(call_default_factory=True) != shapes[name].zero():
            raise TypeError(f"the default of {record.__name__}.{name} is not the zero value")
    return shapes


@cache
def record_writer(record: type[BaseModel], depth: int | None) -> Write:
    """The writer of a record, compiled for one nesting depth."""
    head, comma, tail = layout("{", "}", depth)
    colon = ":" if depth is None else ": "
    inner = deeper(depth)
    pieces: list[Callable[[dict[str, Any]], str | None]] = []
    for omitted, group in groupby(members(record).items(), lambda item: _omitted(record, *item)):
        plan = [(name, write_string(name) + colon, shape.writer(inner)) for name, shape in group]
        if omitted:
            pieces.extend(_optional(name, key, write, omitted) for name, key, write in plan)
        else:
            pieces.append(_fixed(plan, comma))

    def write(value: BaseModel) -> str:
        held = value.__dict__
        parts = [part for piece in pieces if (part := piece(held)) is not None]
        return head + comma.join(parts) + tail if parts else "{}"

    return write


def _fixed(plan: list[tuple[str, str, Write]], comma: str) -> Callable[[dict[str, Any]], str]:
    """The writer of neighbouring members that are always there: one template, filled without a loop."""
    names, keys, writes = zip(*plan, strict=True)
    template = comma.join(key.replace("%", "%%") + "%s" for key in keys)
    if len(names) == 1:
        name, only = names[0], writes[0]
        return lambda held: template % only(held[name])
    values = itemgetter(*names)
    return lambda held: template % tuple(map(call, writes, values(held)))


def _optional(
    name: str, key: str, write: Write, omitted: tuple[Any, ...]
) -> Callable[[dict[str, Any]], str | None]:
    """The writer of a member that may be left out."""
    return lambda held: None if held[name] in omitted else key + write(held[name])


def shape_of(annotation: Any) -> Shape:
    """The shape of an annotation; TypeError for one that the exchanged formats have no use for."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return shape_of(inner[0])
    if origin is Literal:
        return shape_of(type(inner[0]))
    if origin in (Union, types.UnionType) and inner[1:] == (type(None),):
        return _nullable(shape_of(inner[0]))
    if origin is tuple and inner[1:] == (Ellipsis,):
        return Array(shape_of(inner[0]))
    if origin is dict and inner[0] is str:
        return Mapping(shape_of(inner[1]))
    if annotation in _SCALARS:
        return _SCALARS[annotation]
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return Struct(annotation)
    raise TypeError(f"no exchanged format has a member of type {annotation!r}")


def _nullable(shape: Shape) -> Shape:
    if isinstance(shape, Array | Mapping):
        return type(shape)(shape.item, nullable=True)
    return Pointer(shape)


def _omitted(record: type[BaseModel], name: str, shape: Shape) -> tuple[Any, ...]:
    """The values that are left out: a pointer to `false` or to an empty text is something, not nothing."""
    if isinstance(shape, Pointer):
        return (None,)
    if OMIT not in record.model_fields[name].metadata:
        return ()
    return (None, type(shape)(shape.item).zero()) if isinstance(shape, Array | Mapping) else (shape.zero(),)


def _read_int(node: Node) -> int:
    if _INTEGER.fullmatch(node.lexeme) is None or not INT64_MIN <= int(node.lexeme) <= INT64_MAX:
        raise ValueError("expected a whole number of 64 bits, without fraction or exponent")
    return int(node.lexeme)


def _read_float(node: Node) -> float:
    value = float(node.lexeme)
    if not math.isfinite(value):
        raise ValueError("the number is beyond a double")
    return value


def _read_time(node: Node) -> Timestamp:
    return Timestamp(string_value(node.lexeme))


_SCALARS: Final[dict[Any, Shape]] = {
    str: Scalar("a string", "", write_string, frozenset({"string"}), lambda node: string_value(node.lexeme)),
    int: Scalar("a whole number", 0, repr, frozenset({"number"}), _read_int),
    float: Scalar("a number", 0.0, float_text, frozenset({"number"}), _read_float),
    bool: Scalar(
        "true or false",
        False,
        {True: "true", False: "false"}.__getitem__,
        frozenset({"true", "false"}),
        lambda node: node.kind == "true",
    ),
    Timestamp: Scalar("a time", ZERO_TIME, attrgetter("quoted"), frozenset({"string"}), _read_time),
    RawJson: Raw(),
}
