"""What the members of a record look like in JSON: their zero value, how to write and how to read them.

Compiled once per class from its annotations, so that nothing is looked up by reflection while encoding
(manifest format, sections 2 and 9).
"""

from __future__ import annotations

import json
import math
import re
import types
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from operator import attrgetter, call, itemgetter
from typing import Annotated, Any, Final, Literal, TypeAlias, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError

from contract.faults import pointer
from contract.jsontext import Kind, Node, float_text, string_value
from contract.rawjson import RawJson, indent_raw
from contract.reading import BAD, Reading, declared_members
from contract.timestamps import ZERO_TIME, Timestamp

Write: TypeAlias = Callable[[Any], str]

INT64_MIN: Final = -(2**63)
INT64_MAX: Final = 2**63 - 1
_INTEGER: Final = re.compile(r"-?[0-9]{1,19}")


class _Omit:
    """Marks a member that is not written while it has its zero value."""

    def __repr__(self) -> str:
        return "OMIT"


OMIT: Final = _Omit()


class Shape(ABC):
    """One kind of JSON value."""

    @abstractmethod
    def zero(self) -> Any:
        """The value of an absent member."""

    @abstractmethod
    def writer(self, depth: int | None) -> Write:
        """A function that writes values, compact or laid out for nesting `depth`."""

    @abstractmethod
    def read(self, node: Node, where: str, reading: Reading) -> Any:
        """The value of a node, or `BAD` after noting its faults."""


@dataclass(frozen=True, slots=True)
class Scalar(Shape):
    """A value without parts."""

    name: str
    nothing: Any
    write: Write
    kinds: frozenset[Kind]
    convert: Callable[[Node], Any]

    def zero(self) -> Any:
        return self.nothing

    def writer(self, depth: int | None) -> Write:
        return self.write

    def read(self, node: Node, where: str, reading: Reading) -> Any:
        if node.kind == "null":
            return self.nothing
        if node.kind not in self.kinds:
            return reading.expected(self.name, node, where)
        try:
            return self.convert(node)
        except ValueError as exc:
            return reading.fault(where, getattr(exc, "message", str(exc)), getattr(exc, "hint", ""))


class Raw(Shape):
    """Any JSON value, carried as text; `null` is a value, the absent one has its own form."""

    def zero(self) -> RawJson:
        return RawJson("")

    def writer(self, depth: int | None) -> Write:
        if depth is None:
            return lambda raw: raw.text or "null"
        return lambda raw: indent_raw(raw.text or "null", depth)

    def read(self, node: Node, where: str, reading: Reading) -> RawJson:
        return RawJson.checked(reading.text[node.start : node.end])


@dataclass(frozen=True, slots=True)
class Pointer(Shape):
    """A value that may be missing, which differs from its zero value."""

    target: Shape

    def zero(self) -> None:
        return None

    def writer(self, depth: int | None) -> Write:
        return self.target.writer(depth)

    def read(self, node: Node, where: str, reading: Reading) -> Any:
        return None if node.kind == "null" else self.target.read(node, where, reading)


@dataclass(frozen=True, slots=True)
class Array(Shape):
    """A tuple of like values; a nullable one remembers that nothing was ever stored."""

    item: Shape
    nullable: bool = False

    def zero(self) -> tuple[Any, ...] | None:
        return None if self.nullable else ()

    def writer(self, depth: int | None) -> Write:
        item = self.item.writer(_deeper(depth))
        head, comma, tail = _layout("[", "]", depth)

        def write(values: tuple[Any, ...] | None) -> str:
            if not values:
                return "null" if values is None else "[]"
            return head + comma.join(map(item, values)) + tail

        return write

    def read(self, node: Node, where: str, reading: Reading) -> Any:
        if node.kind == "null":
            return self.zero()
        if node.kind != "array":
            return reading.expected("an array", node, where)
        values = tuple(
            self.item.read(item, pointer(where, at), reading) for at, item in enumerate(node.items)
        )
        return BAD if any(value is BAD for value in values) else values


@dataclass(frozen=True, slots=True)
class Mapping(Shape):
    """A map from text to like values, written sorted by key."""

    item: Shape
    nullable: bool = False

    def zero(self) -> dict[str, Any] | None:
        return None if self.nullable else {}

    def writer(self, depth: int | None) -> Write:
        item = self.item.writer(_deeper(depth))
        head, comma, tail = _layout("{", "}", depth)
        colon = ":" if depth is None else ": "

        def write(values: dict[str, Any] | None) -> str:
            if not values:
                return "null" if values is None else "{}"
            members = (write_string(name) + colon + item(values[name]) for name in sorted(values))
            return head + comma.join(members) + tail

        return write

    def read(self, node: Node, where: str, reading: Reading) -> Any:
        if node.kind == "null":
            return self.zero()
        if node.kind != "object":
            return reading.expected("an object", node, where)
        values: dict[str, Any] = {}
        for name, item in node.members:
            place = pointer(where, name)
            if name in values:
                values[name] = reading.fault(place, "the key stands twice", "keep one of the two")
            else:
                values[name] = self.item.read(item, place, reading)
        return BAD if any(value is BAD for value in values.values()) else values


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
    """The shapes of a record's members in declared order."""
    return {name: shape_of(field.annotation) for name, field in record.model_fields.items()}


@cache
def record_writer(record: type[BaseModel], depth: int | None) -> Write:
    """The writer of a record, compiled for one nesting depth."""
    head, comma, tail = _layout("{", "}", depth)
    colon = ":" if depth is None else ": "
    inner = _deeper(depth)
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


def _deeper(depth: int | None) -> int | None:
    return None if depth is None else depth + 1


def _layout(head: str, tail: str, depth: int | None) -> tuple[str, str, str]:
    if depth is None:
        return head, ",", tail
    line = "\n" + "  " * depth
    return f"{head}{line}  ", f",{line}  ", line + tail


write_string: Final[Write] = json.encoder.encode_basestring


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
