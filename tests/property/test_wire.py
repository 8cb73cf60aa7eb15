"""Laws of the wire layer that hold for every value and every document."""

from __future__ import annotations

import json
import math
import random
import re
from contextlib import suppress
from typing import Annotated, Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pydantic import Field

from contract.durations import format_duration, parse_duration
from contract.jsontext import (
    JsonSyntaxError,
    canonical_tool_input,
    float_text,
    parse,
    string_text,
    string_value,
)
from contract.rawjson import RawJson, indent_raw
from contract.record import (
    OMIT,
    DecodeError,
    Record,
    _read_any,
    _read_quickly,
    decode_strict,
    encode_compact,
    encode_indented,
)
from contract.timestamps import Timestamp

INT64 = st.integers(-(2**63), 2**63 - 1)
TEXT = st.text(st.characters(exclude_categories=["Cs"]))
DOUBLE = st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.none() | st.booleans() | INT64 | DOUBLE | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)


class Leaf(Record):
    name: str
    note: Annotated[str, OMIT] = ""


class Plain(Record):
    text: str
    count: int
    share: Annotated[float, OMIT] = 0.0
    held: bool
    leaf: Leaf | None = None
    leaves: tuple[Leaf, ...] | None
    labels: Annotated[dict[str, str], OMIT] = Field(default_factory=dict)


class Rough(Record):
    value: RawJson
    plain: Plain | None = None


LEAVES = st.builds(Leaf, name=TEXT, note=TEXT)
PLAINS = st.builds(
    Plain,
    text=TEXT,
    count=INT64,
    share=DOUBLE,
    held=st.booleans(),
    leaf=st.none() | LEAVES,
    leaves=st.none() | st.lists(LEAVES, max_size=3).map(tuple),
    labels=st.dictionaries(TEXT, TEXT, max_size=3),
)
ROUGHS = st.builds(Rough, value=JSON.map(RawJson.of), plain=st.none() | PLAINS)


@given(PLAINS | ROUGHS)
def test_what_is_written_is_read_again(record: Record) -> None:
    for document in (encode_compact(record), encode_indented(record)):
        read = decode_strict(type(record), document)
        assert read == record
        assert _read_any(type(record), document, lenient=False) == record
        json.loads(document)


@given(PLAINS | ROUGHS)
def test_both_layouts_hold_the_same(record: Record) -> None:
    assert json.loads(encode_compact(record)) == json.loads(encode_indented(record))
    assert indent_raw(encode_compact(record).decode(), 0) + "\n" == encode_indented(record).decode()


EDITS = st.sampled_from(
    [
        b'"', b"\\", b'\\"', b",", b":", b"{", b"}", b"[", b"]", b" ", b"\n", b"0", b"-", b".", b"e5", b"'",
        b"null", b"true", b"NaN", b"Infinity", b"99999999999999999999", b"/**/", b"\x00", b"\xff",
        b"\xef\xbb\xbf", b"\xed\xa0\x80", b'"count":1,', b'"count" :1,', b'"Count":1,', b'"c\\u006funt":2,',
        b'"text":"\\ud800",', b'"leaf":{},', b'"labels":{"a":"","a":""},', b'"x":1,', b'"note":"",',
        b'"value":1.50,',
    ]
)  # fmt: skip


@given(
    PLAINS | ROUGHS,
    st.booleans(),
    st.lists(st.tuples(EDITS, st.floats(0, 1, exclude_max=True), st.integers(0, 3)), max_size=3),
)
def test_reading_quickly_accepts_nothing_that_reading_carefully_refuses(
    record: Record, compact: bool, edits: list[tuple[bytes, float, int]]
) -> None:
    document = (encode_compact if compact else encode_indented)(record)
    for edit, place, dropped in edits:
        places = [match.end() for match in re.finditer(rb"[{,]\s*", document)] if dropped == 0 else []
        at = places[int(place * len(places))] if places else int(place * len(document))
        document = document[:at] + edit + document[at + dropped :]
    quick = _read_quickly(type(record), document)
    if quick is not None:
        assert quick == _read_any(type(record), document, lenient=False)
        assert encode_compact(quick) == encode_compact(_read_any(type(record), document, lenient=False))


def _scattered(value: Any, dice: random.Random) -> str:
    """The same JSON with its members in another order and white space anywhere."""

    def space() -> str:
        return "".join(dice.choices(" \t\r\n", k=dice.randrange(3)))

    if isinstance(value, dict):
        members = [
            f"{space()}{json.dumps(name)}{space()}:{_scattered(item, dice)}" for name, item in value.items()
        ]
        dice.shuffle(members)
        return f"{space()}{{{','.join(members)}{space()}}}{space()}"
    if isinstance(value, list):
        return f"{space()}[{','.join(_scattered(item, dice) for item in value)}{space()}]{space()}"
    return f"{space()}{json.dumps(value)}{space()}"


@given(PLAINS, st.randoms(use_true_random=False))
def test_member_order_and_white_space_never_change_the_canonical_bytes(
    plain: Plain, dice: random.Random
) -> None:
    document = _scattered(json.loads(encode_compact(plain)), dice).encode()
    assert encode_compact(decode_strict(Plain, document)) == encode_compact(plain)


@given(st.binary())
def test_no_bytes_make_a_reader_crash(document: bytes) -> None:
    with suppress(DecodeError):
        decode_strict(Plain, document)


@given(JSON, st.sampled_from([None, 1]))
def test_every_json_value_is_parsed(value: Any, indent: int | None) -> None:
    text = json.dumps(value, indent=indent)
    node = parse(text)
    assert text[node.start : node.end] == text
    assert RawJson(text).value == value


@given(st.text(st.sampled_from('{}[]:,"\\ \n0123456789.eE+-truefalsn/\x00é')))
def test_a_text_is_json_exactly_when_the_standard_library_says_so(text: str) -> None:
    def refuse(word: str) -> None:
        raise ValueError(word)

    try:
        json.loads(text, parse_constant=refuse)
    except ValueError:
        with pytest.raises(JsonSyntaxError):
            parse(text)
    else:
        parse(text)


@given(JSON)
def test_a_canonical_tool_input_means_the_same_and_is_its_own_canonical_form(value: Any) -> None:
    text = canonical_tool_input(json.dumps(value))
    assert json.loads(text) == value
    assert canonical_tool_input(text) == text


@given(TEXT)
def test_a_written_string_is_read_again(text: str) -> None:
    assert string_value(string_text(text)) == text == json.loads(string_text(text))
    assert not set("<>&\u2028\u2029") & set(string_text(text))


@given(DOUBLE)
def test_a_written_double_is_read_again_bit_for_bit(value: float) -> None:
    text = float_text(value)
    assert math.copysign(1.0, float(text)) == math.copysign(1.0, value)
    assert float(text) == value == float(json.loads(text))
    assert not text.endswith(".0")


@given(INT64)
def test_a_written_duration_is_read_again(ns: int) -> None:
    assert parse_duration(format_duration(ns)) == ns


@given(st.datetimes(timezones=st.timezones(no_cache=True)))
def test_a_written_time_is_read_again_and_names_the_same_instant(moment: Any) -> None:
    offset = moment.utcoffset()
    assume(offset is not None and offset.total_seconds() % 60 == 0)
    stamp = Timestamp.from_datetime(moment)
    assert Timestamp(str(stamp)) == stamp
    assert stamp.instant_ns % 1000 == 0
