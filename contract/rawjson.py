"""JSON values that are carried and never interpreted: predicate values, records of the tested product."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, Final, TypeAlias

from pydantic_core import CoreSchema, core_schema

from contract.jsontext import STRING, Kind, escape_markup, fold_json, string_value

JsonValue: TypeAlias = "bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None"

_SPACE: Final = re.compile(rf"({STRING})|[ \t\n\r]++")
_LAYOUT: Final = re.compile(rf"{STRING}|[{{\[][}}\]]|[{{}}\[\],:]")
_MAX_INT_DIGITS: Final = (
    4000  # beyond, Python refuses to convert; such a number is only ever compared as a double
)


class RawJson:
    """One JSON value as its source text, without insignificant white space and otherwise verbatim.

    Number spelling, member order, duplicates and escapes stay; only `<`, `>`, `&`, U+2028 and U+2029 are
    escaped as everywhere. The empty text stands for an absent value and is written as `null`. Raises
    JsonSyntaxError. Manifest format, section 9.6.
    """

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        if text:
            fold_json(text, _PYTHON)
        self._text = escape_markup(_SPACE.sub(r"\1", text))

    @classmethod
    def of(cls, value: JsonValue) -> RawJson:
        """The raw form of a Python value; ValueError for NaN and infinities."""
        return cls.checked(json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")))

    @classmethod
    def checked(cls, text: str) -> RawJson:
        """Take a text that is known to be one JSON value."""
        raw = cls.__new__(cls)
        raw._text = escape_markup(_SPACE.sub(r"\1", text))
        return raw

    @property
    def text(self) -> str:
        """The canonical text; empty when the value is absent."""
        return self._text

    @property
    def is_absent(self) -> bool:
        """Whether the document has no such member."""
        return not self._text

    @property
    def value(self) -> JsonValue:
        """The parsed value, last duplicate wins, numbers beyond a double infinite; `None` when absent."""
        return fold_json(self._text, _PYTHON) if self._text else None

    def __repr__(self) -> str:
        return f"RawJson({self._text!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RawJson) and self._text == other._text

    def __hash__(self) -> int:
        return hash(self._text)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> CoreSchema:
        """Records take a RawJson from Python; from JSON any value, whose spelling the caller must compare."""
        return core_schema.json_or_python_schema(
            json_schema=core_schema.no_info_after_validator_function(cls.of, core_schema.any_schema()),
            python_schema=core_schema.is_instance_schema(cls),
        )


def indent_raw(text: str, depth: int) -> str:
    """Lay a compact JSON text out with two spaces per level, as a value at nesting `depth`."""
    out: list[str] = []
    at = 0
    for match in _LAYOUT.finditer(text):
        out.append(text[at : match.start()])
        at = match.end()
        lexeme = match[0]
        if lexeme in ("{", "["):
            depth += 1
            out.append(f"{lexeme}\n{'  ' * depth}")
        elif lexeme in ("}", "]"):
            depth -= 1
            out.append(f"\n{'  ' * depth}{lexeme}")
        else:
            out.append(f",\n{'  ' * depth}" if lexeme == "," else ": " if lexeme == ":" else lexeme)
    return "".join(out) + text[at:]


class _Python:
    def scalar(self, kind: Kind, lexeme: str, start: int) -> JsonValue:
        if kind == "string":
            return string_value(lexeme)
        if kind == "number":
            return number_value(lexeme)
        return {"true": True, "false": False}.get(lexeme)

    def array(self, items: Sequence[JsonValue], start: int, end: int) -> JsonValue:
        return list(items)

    def object(self, members: Sequence[tuple[str, JsonValue]], start: int, end: int) -> JsonValue:
        return dict(members)


_PYTHON: Final = _Python()


def number_value(lexeme: str) -> int | float:
    """The number that a JSON number stands for, exact when it is written as a whole one."""
    whole = len(lexeme) <= _MAX_INT_DIGITS and not set(lexeme) & set(".eE")
    return int(lexeme) if whole else float(lexeme)
