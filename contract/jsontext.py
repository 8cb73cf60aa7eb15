"""JSON at the level of its text: a strict reader that keeps order, spelling and places; canonical writers.

Python's own parser accepts NaN, forgets how a number was spelled and drops duplicate members, so exchanged
documents are read here (manifest format, sections 2 and 9).
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, Generic, Literal, Protocol, TypeAlias, TypeVar

from contract.errors import PatrolQualificationError
from contract.text import trim

MAX_DEPTH: Final = 1000

T = TypeVar("T")
Kind: TypeAlias = Literal["object", "array", "string", "number", "true", "false", "null"]
_SCALARS: Final[dict[str, Kind]] = {'"': "string", "t": "true", "f": "false", "n": "null"}

_PLAIN: Final = r'[^"\\\x00-\x1f]*+'
STRING: Final = rf'"{_PLAIN}(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{{4}}){_PLAIN})*+"'
NUMBER: Final = r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?"
_TOKEN: Final = re.compile(rf"[ \t\n\r]*+([{{}}\[\]:,]|{STRING}|{NUMBER}|true|false|null|\Z)")
_LONE_SURROGATE: Final = re.compile("[\ud800-\udfff]")


class JsonSyntaxError(PatrolQualificationError, ValueError):
    """A text is not exactly one JSON value; `where` names line and column."""


class Builder(Protocol[T]):
    """What to make of a text: called for each value when it is complete, children first."""

    def scalar(self, kind: Kind, lexeme: str, start: int) -> T:
        """Make a value from one lexeme."""

    def array(self, items: Sequence[T], start: int, end: int) -> T:
        """Make a value from the elements of an array."""

    def object(self, members: Sequence[tuple[str, T]], start: int, end: int) -> T:
        """Make a value from the members of an object, in source order, duplicates included."""


@dataclass(frozen=True, slots=True)
class Node:
    """A JSON value with its place: `text[start:end]` is its source. Only scalars have a `lexeme`."""

    kind: Kind
    lexeme: str
    start: int
    end: int
    items: Sequence[Node] = ()
    members: Sequence[tuple[str, Node]] = ()


class _Nodes:
    def scalar(self, kind: Kind, lexeme: str, start: int) -> Node:
        return Node(kind, lexeme, start, start + len(lexeme))

    def array(self, items: Sequence[Node], start: int, end: int) -> Node:
        return Node("array", "", start, end, items=items)

    def object(self, members: Sequence[tuple[str, Node]], start: int, end: int) -> Node:
        return Node("object", "", start, end, members=members)


class _Canonical:
    def scalar(self, kind: Kind, lexeme: str, start: int) -> str:
        return string_text(string_value(lexeme)) if kind == "string" else lexeme

    def array(self, items: Sequence[str], start: int, end: int) -> str:
        return f"[{','.join(items)}]"

    def object(self, members: Sequence[tuple[str, str]], start: int, end: int) -> str:
        last = dict(members)
        return f"{{{','.join(string_text(name) + ':' + last[name] for name in sorted(last))}}}"


class _Frame(Generic[T]):
    """An array or object that is still open."""

    __slots__ = ("is_object", "items", "names", "start")

    def __init__(self, is_object: bool, start: int) -> None:
        self.is_object = is_object
        self.start = start
        self.items: list[T] = []
        self.names: list[str] = []


class _Reader(Generic[T]):
    """One pass over a text without recursion, so that depth is a rule and not a crash."""

    def __init__(self, text: str, builder: Builder[T]) -> None:
        self.text = text
        self.builder = builder
        self.at = 0
        self.start = 0
        self.open: list[_Frame[T]] = []

    def read(self) -> T:
        lexeme = self._next()
        while True:
            if lexeme in ("{", "["):
                self._enter(lexeme == "{")
                lexeme = self._first()
                if lexeme not in ("}", "]"):
                    continue
                value = self._leave(lexeme)
            else:
                value = self._scalar(lexeme)
            done, lexeme = self._climb(value)
            if done is not None:
                return done[0]

    def _climb(self, value: T) -> tuple[tuple[T] | None, str]:
        """Put a complete value where it belongs: the finished document, or the next value's lexeme."""
        while self.open:
            frame = self.open[-1]
            frame.items.append(value)
            lexeme = self._next()
            if lexeme == ",":
                return None, self._member() if frame.is_object else self._next()
            value = self._leave(lexeme)
        if self._next():
            raise self._error("another value or text after the end of the document")
        return (value,), ""

    def _enter(self, is_object: bool) -> None:
        if len(self.open) == MAX_DEPTH:
            raise self._error(f"nested deeper than {MAX_DEPTH} levels")
        self.open.append(_Frame(is_object, self.start))

    def _first(self) -> str:
        if not self.open[-1].is_object:
            return self._next()
        lexeme = self._next()
        return lexeme if lexeme == "}" else self._member(lexeme)

    def _member(self, lexeme: str | None = None) -> str:
        """Read `"name":` and give the lexeme that begins its value."""
        lexeme = self._next() if lexeme is None else lexeme
        if not lexeme.startswith('"'):
            raise self._error("expected a member name in double quotes")
        self.open[-1].names.append(string_value(lexeme))
        if self._next() != ":":
            raise self._error("expected a colon after the member name")
        lexeme = self._next()
        if lexeme in ("}", "]"):
            raise self._error("expected a value")
        return lexeme

    def _leave(self, lexeme: str) -> T:
        frame = self.open.pop()
        if lexeme != ("}" if frame.is_object else "]"):
            raise self._error(
                "expected a comma or the end of the " + ("object" if frame.is_object else "array")
            )
        if frame.is_object:
            members = tuple(zip(frame.names, frame.items, strict=True))
            return self.builder.object(members, frame.start, self.at)
        return self.builder.array(tuple(frame.items), frame.start, self.at)

    def _scalar(self, lexeme: str) -> T:
        if not lexeme or lexeme in "}]:,":
            raise self._error("expected a value")
        return self.builder.scalar(_SCALARS.get(lexeme[0], "number"), lexeme, self.start)

    def _next(self) -> str:
        match = _TOKEN.match(self.text, self.at)
        if match is None:
            self.start = len(self.text) - len(self.text[self.at :].lstrip(" \t\n\r"))
            raise self._error("no JSON begins here")
        self.start, self.at = match.span(1)
        return match[1]

    def _error(self, message: str) -> JsonSyntaxError:
        line = self.text.count("\n", 0, self.start) + 1
        column = self.start - self.text.rfind("\n", 0, self.start)
        return JsonSyntaxError(message, where=f"line {line}, column {column}")


def fold_json(text: str, builder: Builder[T]) -> T:
    """Read exactly one JSON value and build from it, children first.

    Raises JsonSyntaxError for anything else, and beyond 1000 levels of nesting.
    """
    return _Reader(text, builder).read()


def parse(text: str) -> Node:
    """Read exactly one JSON value into nodes that keep order, duplicates, spelling and places."""
    return fold_json(text, _Nodes())


def string_value(lexeme: str) -> str:
    """The characters that a string lexeme stands for; a lone surrogate becomes U+FFFD."""
    if "\\" not in lexeme:
        return lexeme[1:-1]
    value: str = json.loads(lexeme)
    return without_surrogates(value)


def without_surrogates(text: str) -> str:
    """The text as UTF-8 can carry it: each lone surrogate becomes U+FFFD."""
    return _LONE_SURROGATE.sub("\ufffd", text)


def canonical_tool_input(text: str) -> str:
    """One spelling for a tool call's arguments: sorted members, last duplicate, numbers as they were written.

    A blank text is `{}`. Raises JsonSyntaxError when it is not one JSON value. Scoring format, section 8.
    """
    trimmed = trim(text)
    return fold_json(trimmed, _Canonical()) if trimmed else "{}"


def string_text(text: str) -> str:
    """Write a string: canonical escapes, everything else literally (manifest format, section 9.4)."""
    return escape_markup(json.encoder.encode_basestring(text))


def escape_markup(text: str) -> str:
    """Escape what must never stand literally in a written document; safe on whole documents too.

    Outside strings none of these characters occurs, so one pass over a finished text is enough.
    """
    for char, escape in _MARKUP:
        if char in text:
            text = text.replace(char, escape)
    return text


_MARKUP: Final = tuple((char, f"\\u{ord(char):04x}") for char in "<>&\u2028\u2029")


def float_text(value: float) -> str:
    """Write a finite double: shortest digits that round-trip, plain between 1e-6 and 1e21.

    Manifest format, section 9.5.
    """
    if value == 1.0:  # this and zero are what most ratios are; `repr` is slow
        return "1"
    if not value:
        return "0" if math.copysign(1.0, value) > 0 else "-0"
    text = repr(value)
    if text.endswith(".0"):
        return text[:-2]
    if "e" not in text:
        return text
    mantissa, exponent = text.split("e")
    power = int(exponent)
    if -6 <= power < 21:
        return format(Decimal(text), "f")
    return f"{mantissa}e{power:+d}"
