"""Secrets out of captured texts, string by string, before anything is written (evidence format, section 1.1).

A whole document is never redacted: that would break JSON. The embedded manifest is left alone, because its
digest names it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final, TypeVar

from contract.jsontext import STRING, JsonSyntaxError, canonical_tool_input, parse, string_text, string_value
from contract.manifest_records import Manifest
from contract.record import RawJson, Record
from contract.text import trim

MAX_BYTES: Final = 524_288
TRUNCATED: Final = "\n[TRUNCATED]"
REDACTED: Final = "[REDACTED]"
REDACTED_KEY: Final = "[REDACTED PRIVATE KEY]"

R = TypeVar("R", bound=Record)

_WS: Final = r"[\t\n\f\r ]"
_KEY_BEGIN: Final = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----")
_KEY_END: Final = re.compile(r"-----END [A-Z ]*PRIVATE KEY-----")
_VALUE: Final = re.compile(rf"({STRING})([ \t\n\r]*+:)?+")


def _folded(word: str) -> str:
    """A pattern for a word under Unicode simple folding; `re.IGNORECASE` would also take a dotless i."""
    extra = {"s": "\u017f", "k": "\u212a"}
    return "".join(
        f"[{char}{char.upper()}{extra.get(char, '')}]" if char.isalpha() else char for char in word
    )


_BEARER: Final = re.compile(
    rf"({_folded('authorization')}{_WS}*:{_WS}*{_folded('bearer')}{_WS}+)[^\t\n\f\r \"']+"
)
_ASSIGNED: Final = re.compile(
    rf"((?:{_folded('api')}[_-]?{_folded('key')}|{_folded('api')}[_-]?{_folded('token')}"
    rf"|{_folded('password')}|{_folded('secret')}){_WS}*[=:]{_WS}*)[^\t\n\f\r ,\"']+"
)


def sanitize(text: str) -> str:
    """Cut a text at 512 KiB and replace bearer tokens, assigned secrets and private keys in it."""
    if len(text) > MAX_BYTES // 4:
        text = _cut(text)
    text = _BEARER.sub(_hide_value, text)
    text = _ASSIGNED.sub(_hide_value, text)
    return _without_keys(text)


def sanitize_tool_input(text: str) -> str:
    """Redact the string values inside a tool call's JSON arguments, so that they stay JSON.

    A text that is not one JSON value is redacted as a whole; one without secrets is returned unchanged.
    """
    if not trim(text):
        return text
    try:
        parse(trim(text))
    except JsonSyntaxError:
        return sanitize(text)
    return _sanitize_values(text)


def sanitize_canonical_input(text: str) -> str:
    """Like `sanitize_tool_input`, and canonical again afterwards."""
    redacted = sanitize_tool_input(text)
    return text if redacted == text else canonical_tool_input(redacted)


def redact(record: R) -> R:
    """The record with every string value redacted, except inside a manifest; itself when nothing changes."""
    redacted: R = _redact(record)
    return redacted


def _hide_value(match: re.Match[str]) -> str:
    return f"{match[1]}{REDACTED}"


def _cut(text: str) -> str:
    encoded = text.encode(errors="replace")
    if len(encoded) <= MAX_BYTES:
        return text
    return encoded[:MAX_BYTES].decode(errors="ignore") + TRUNCATED


def _without_keys(text: str) -> str:
    """Two searches instead of one pattern: a text full of beginnings without an end stays linear."""
    parts: list[str] = []
    at = 0
    while (begin := _KEY_BEGIN.search(text, at)) and (end := _KEY_END.search(text, begin.end())):
        parts += (text[at : begin.start()], REDACTED_KEY)
        at = end.end()
    return "".join(parts) + text[at:] if parts else text


def _sanitize_values(document: str) -> str:
    """Redact the string values of a JSON text that is known to be valid; names and layout stay."""
    return _VALUE.sub(_sanitize_lexeme, document)


def _sanitize_lexeme(match: re.Match[str]) -> str:
    lexeme, colon = match.groups()
    value = string_value(lexeme)
    clean = value if colon else sanitize(value)
    return match[0] if clean == value else string_text(clean)


def _redact(value: Any) -> Any:
    if isinstance(value, str):
        return sanitize(value)
    if isinstance(value, RawJson):
        return RawJson.checked(_sanitize_values(value.text))
    if isinstance(value, tuple):
        return tuple(map(_redact, value))
    if isinstance(value, dict):
        return {name: _redact(item) for name, item in value.items()}
    if isinstance(value, Record) and not isinstance(value, Manifest):
        return _redact_record(value)
    return value


def _redact_record(record: Record) -> Record:
    kind = type(record).__name__
    changed = {}
    for name, value in record.__dict__.items():
        clean = _CLEANERS.get((kind, name), _redact)(value)
        if clean != value:
            changed[name] = clean
    return record.model_copy(update=changed) if changed else record


_CLEANERS: Final[dict[tuple[str, str], Callable[[Any], Any]]] = {
    ("ToolCall", "input"): sanitize_tool_input,
    ("ToolExchange", "canonical_input"): sanitize_canonical_input,
}
