"""The kinds of JSON values that exchanged formats have: zero value, how to write and how to read one.

Manifest format, sections 2 and 9.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from contract.faults import pointer
from contract.jsontext import Kind, Node
from contract.rawjson import RawJson, indent_raw
from contract.reading import BAD, Reading

Write: TypeAlias = Callable[[Any], str]

write_string: Final[Write] = json.encoder.encode_basestring


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
        item = self.item.writer(deeper(depth))
        head, comma, tail = layout("[", "]", depth)

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
        item = self.item.writer(deeper(depth))
        head, comma, tail = layout("{", "}", depth)
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


def deeper(depth: int | None) -> int | None:
    return None if depth is None else depth + 1


def layout(head: str, tail: str, depth: int | None) -> tuple[str, str, str]:
    if depth is None:
        return head, ",", tail
    line = "\n" + "  " * depth
    return f"{head}{line}  ", f",{line}  ", line + tail
