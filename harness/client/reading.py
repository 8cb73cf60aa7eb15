"""From the text of an answer to records, keeping the spelling of what is only carried."""

from __future__ import annotations

from typing import TypeVar

from contract.faults import DecodeError
from contract.jsontext import JsonSyntaxError, parse
from contract.record import Record, decode_lenient
from harness.client.errors import ReplyError

R = TypeVar("R", bound=Record)


def read_record(record: type[R], text: str, path: str) -> R:
    """Read one object; unknown members are ignored. Raises ReplyError."""
    try:
        return decode_lenient(record, text.encode())
    except DecodeError as exc:
        raise ReplyError(f"the answer cannot be read: {exc}", where=path) from exc


def read_array(record: type[R], text: str, path: str) -> tuple[R, ...]:
    """Read an array of objects; `null` is an empty one. Raises ReplyError."""
    return tuple(read_record(record, item, path) for item in array_items(text, path))


def array_items(text: str, path: str, member: str = "") -> tuple[str, ...]:
    """The source texts of an array's elements, or of a member's that is one. Raises ReplyError."""
    try:
        node = parse(text)
    except JsonSyntaxError as exc:
        raise ReplyError(f"the answer is no JSON: {exc}", where=path) from exc
    if member:
        found = [value for name, value in node.members if name == member]
        if node.kind != "object" or len(found) > 1:
            raise ReplyError(f"the answer has no single member {member!r}", where=path)
        if not found:
            return ()
        node = found[0]
    if node.kind == "null":
        return ()
    if node.kind != "array":
        raise ReplyError("the answer is not an array", where=path)
    return tuple(text[item.start : item.end] for item in node.items)
