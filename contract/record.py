"""Records of the exchanged formats, and their bytes.

A record is closed, frozen, strict and finite. Its members are declared in the order in which they are
written. `Annotated[T, OMIT]` is left out while it has its zero value. An optional value (`X | None`) is left
out while it is `None`, but an optional array or map is then written as `null`.
"""

from __future__ import annotations

from typing import Any, Final, TypeVar, cast

from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler, ValidationError
from pydantic_core import CoreSchema

from contract.faults import DecodeError, Fault
from contract.jsontext import JsonSyntaxError, escape_markup, parse, without_surrogates
from contract.proof import member_counter, members_written
from contract.rawjson import RawJson
from contract.reading import BAD, Reading
from contract.shapes import OMIT
from contract.structs import INT64_MAX, INT64_MIN, Struct, record_writer

__all__ = [
    "OMIT",
    "DecodeError",
    "RawJson",
    "Record",
    "decode_lenient",
    "decode_strict",
    "encode_compact",
    "encode_indented",
    "zero",
]

R = TypeVar("R", bound="Record")
_BAD_BYTES: Final = dict.fromkeys(range(0xDC80, 0xDD00), "\ufffd")


def _with_64_bits(schema: Any) -> Any:
    if isinstance(schema, dict):
        bounded = {key: _with_64_bits(part) for key, part in schema.items()}
        return {"ge": INT64_MIN, "le": INT64_MAX, **bounded} if schema.get("type") == "int" else bounded
    return [_with_64_bits(part) for part in schema] if isinstance(schema, list) else schema


class Record(BaseModel):
    """A value of an exchanged format: what exists is valid, and never changes."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Every whole number of every record has 64 bits."""
        return cast("CoreSchema", _with_64_bits(handler(source)))


def zero(record: type[R]) -> R:
    """The record of a document that holds nothing: empty texts, zeros, false, no arrays."""
    return cast("R", Struct(record).zero())


def encode_compact(record: Record) -> bytes:
    """One line without white space: the form that digests are taken of (manifest format, section 9)."""
    return _bytes(record_writer(type(record), None)(record))


def encode_indented(record: Record) -> bytes:
    """Two spaces per level and a final newline: the form of files (evidence format, section 1)."""
    return _bytes(record_writer(type(record), 0)(record) + "\n")


def _bytes(text: str) -> bytes:
    escaped = escape_markup(text)
    try:
        return escaped.encode()
    except UnicodeEncodeError:
        return without_surrogates(escaped).encode()


def decode_strict(record: type[R], document: bytes) -> R:
    """Read a document that holds the declared members and no others.

    Raises DecodeError with every fault and its JSON pointer. Manifest format, section 2.
    """
    return _decode(record, document, lenient=False)


def decode_lenient(record: type[R], document: bytes) -> R:
    """Read a document in which unknown members are ignored; otherwise as strict as `decode_strict`."""
    return _decode(record, document, lenient=True)


def _decode(record: type[R], document: bytes, *, lenient: bool) -> R:
    return _read_quickly(record, document) or _read_any(record, document, lenient=lenient)


def _read_quickly(record: type[R], document: bytes) -> R | None:
    """Read a document without looking at each token; `None` when that does not prove that nothing is wrong.

    The parser behind this forgives duplicates, and forgets how raw values were spelled. Counting members
    shows the former; where there are raw values, writing the result again shows both.
    """
    try:
        read = record.model_validate_json(document)
    except ValidationError:
        return None
    count, written = member_counter(record), members_written(document)
    if count and written is not None:
        return read if count(read) == written else None
    encode = encode_indented if document.endswith(b"\n") else encode_compact
    return read if encode(read) == document else None


def _read_any(record: type[R], document: bytes, *, lenient: bool) -> R:
    text = decode_text(document)
    try:
        root = parse(text)
    except JsonSyntaxError as exc:
        raise DecodeError([Fault("", f"{exc.where}: {exc.message}")]) from exc
    reading = Reading(text, lenient)
    value = Struct(record).read(root, "", reading)
    if value is BAD or reading.faults:
        raise DecodeError(reading.faults)
    return cast("R", value)


def decode_text(document: bytes) -> str:
    """UTF-8, where each byte that is none becomes one U+FFFD."""
    try:
        return document.decode()
    except UnicodeDecodeError:
        return document.decode(errors="surrogateescape").translate(_BAD_BYTES)
