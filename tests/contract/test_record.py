"""Laws of reading and writing records."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import pytest
from pydantic import Field, ValidationError

from contract.faults import DocumentError, Fault
from contract.rawjson import RawJson
from contract.record import (
    OMIT,
    DecodeError,
    Record,
    decode_lenient,
    decode_strict,
    encode_compact,
    encode_indented,
    zero,
)
from contract.structs import shape_of
from contract.timestamps import ZERO_TIME, Timestamp


class Leaf(Record):
    name: str
    note: Annotated[str, OMIT] = ""


class Plain(Record):
    """Every kind of member but raw JSON, so that it is read quickly."""

    word: Literal["a", "b"] | None = None
    text: str
    count: int
    share: float
    held: bool
    at: Timestamp
    leaf: Leaf
    leaves: tuple[Leaf, ...] | None
    spare: tuple[Leaf, ...] = ()
    table: dict[str, Leaf] | None
    labels: Annotated[dict[str, str], OMIT] = Field(default_factory=dict)
    terms: Annotated[tuple[tuple[str, ...] | None, ...], OMIT] = ()
    few: Annotated[tuple[str, ...] | None, OMIT] = None
    score: Annotated[float, OMIT] = 0.0
    times: Annotated[int, OMIT] = 0
    sure: Annotated[bool, OMIT] = False
    flag: bool | None = None
    other: Leaf | None = None
    ended: Timestamp | None = None


class Rough(Record):
    """A record with raw JSON."""

    value: RawJson
    first: RawJson | None = None
    rest: Annotated[tuple[RawJson, ...], OMIT] = ()


class Small(Record):
    """A record with a rule of its own."""

    size: Annotated[int, Field(le=10)]


class Box(Record):
    small: Small


PLAIN = Plain(
    text="a<b>&\u2028é",
    count=-5,
    share=0.2,
    held=True,
    at=Timestamp("2031-02-03T04:05:06.7+02:00"),
    leaf=Leaf(name="100%"),
    leaves=(Leaf(name="x", note="y"),),
    table={"b": Leaf(name="2"), "a": Leaf(name="1")},
    terms=(("x", "y"), None, ()),
    flag=False,
)
COMPACT = (
    '{"text":"a\\u003cb\\u003e\\u0026\\u2028é","count":-5,"share":0.2,"held":true,"at":"2031-02-03T04:05:06.7+02:00",'
    '"leaf":{"name":"100%"},"leaves":[{"name":"x","note":"y"}],"spare":[],'
    '"table":{"a":{"name":"1"},"b":{"name":"2"}},"terms":[["x","y"],null,[]],"flag":false}'
).encode()


def faults(record: type[Record], document: bytes, *, lenient: bool = False) -> dict[str, str]:
    with pytest.raises(DecodeError) as caught:
        (decode_lenient if lenient else decode_strict)(record, document)
    return {fault.where: fault.message for fault in caught.value.faults}


def test_members_are_written_in_declared_order_without_white_space() -> None:
    assert encode_compact(PLAIN) == COMPACT


def test_the_layout_has_two_spaces_per_level_and_a_final_newline() -> None:
    assert encode_indented(Plain.model_validate(PLAIN.model_copy(update={"terms": ()}))).decode() == (
        '{\n  "text": "a\\u003cb\\u003e\\u0026\\u2028é",\n  "count": -5,\n  "share": 0.2,\n  "held": true,\n'
        '  "at": "2031-02-03T04:05:06.7+02:00",\n  "leaf": {\n    "name": "100%"\n  },\n'
        '  "leaves": [\n    {\n      "name": "x",\n      "note": "y"\n    }\n  ],\n  "spare": [],\n'
        '  "table": {\n    "a": {\n      "name": "1"\n    },\n    "b": {\n      "name": "2"\n    }\n  },\n'
        '  "flag": false\n}\n'
    )


def test_raw_values_are_laid_out_and_otherwise_verbatim() -> None:
    rough = Rough(value=RawJson('{"b":1.50,"b":[ ]}'), rest=(RawJson("[1e3]"), RawJson("null")))
    assert encode_indented(rough).decode() == (
        '{\n  "value": {\n    "b": 1.50,\n    "b": []\n  },\n'
        '  "rest": [\n    [\n      1e3\n    ],\n    null\n  ]\n}\n'
    )


@pytest.mark.parametrize("record", [PLAIN, zero(Plain), Rough(value=RawJson('"x"')), Leaf(name="")])
def test_what_is_written_is_read_again(record: Record) -> None:
    assert decode_strict(type(record), encode_compact(record)) == record
    assert decode_strict(type(record), encode_indented(record)) == record
    assert decode_lenient(type(record), encode_indented(record)) == record


def test_a_record_of_nothing_is_written_as_an_empty_object() -> None:
    class Optional(Record):
        note: Annotated[str, OMIT] = ""

    assert encode_compact(Optional()) == b"{}"
    assert encode_indented(Optional()) == b"{}\n"


def test_absent_members_take_the_zero_value() -> None:
    empty = decode_strict(Plain, b"{}")
    assert empty == zero(Plain) == decode_strict(Plain, b"null")
    assert (empty.text, empty.count, empty.share, empty.held, empty.at) == ("", 0, 0.0, False, ZERO_TIME)
    assert (empty.leaves, empty.spare, empty.table, empty.labels, empty.flag) == (None, (), None, {}, None)


def test_an_array_that_was_never_stored_is_null_and_an_empty_one_is_not() -> None:
    assert decode_strict(Plain, b'{"leaves":[]}').leaves == ()
    assert decode_strict(Plain, b'{"leaves":null,"table":null}') == zero(Plain)
    assert b'"leaves":[],' in encode_compact(decode_strict(Plain, b'{"leaves":[]}'))
    assert b'"leaves":null,' in encode_compact(zero(Plain))
    assert b'"table":null' in encode_compact(zero(Plain))
    assert b'"table":{}' in encode_compact(decode_strict(Plain, b'{"table":{}}'))


def test_members_that_may_be_left_out_are_left_out_when_they_say_nothing() -> None:
    said = b'{"labels":{},"terms":[],"few":[],"score":-0.0,"times":0,"sure":false,"other":null,"flag":null}'
    assert encode_compact(decode_strict(Plain, said)) == encode_compact(zero(Plain))


def test_a_pointer_to_nothing_much_is_written() -> None:
    said = decode_strict(Plain, b'{"flag":false,"other":{},"ended":"0001-01-01T00:00:00Z"}')
    assert encode_compact(said).endswith(b'"flag":false,"other":{"name":""},"ended":"0001-01-01T00:00:00Z"}')


def test_null_is_absent_except_as_element_map_value_and_raw_value() -> None:
    read = decode_strict(Plain, b'{"text":null,"leaves":[null],"terms":[null],"labels":{"a":null}}')
    assert (read.text, read.leaves, read.terms, read.labels) == ("", (zero(Leaf),), (None,), {"a": ""})
    rough = decode_strict(Rough, b'{"value":null,"first":null,"rest":[null]}')
    assert (rough.value, rough.first, rough.rest) == (RawJson("null"), None, (RawJson("null"),))


def test_a_declared_name_stands_once_and_as_it_is_spelled_for_every_reader() -> None:
    document = b'{"text":"a","text":"a","COUNT":1,"\xc5\xbfhare":1,"labels":{"a":"1","A":"2","a":"1"}}'
    for lenient in (False, True):
        found = faults(Plain, document, lenient=lenient)
        assert set(found) == {"/text", "/COUNT", "/\u017fhare", "/labels/a"}
        assert "twice" in found["/text"]
        assert "'count'" in found["/COUNT"]


def test_an_equal_duplicate_is_refused_although_nothing_would_be_lost() -> None:
    assert set(faults(Leaf, b'{"name":"a","name":"a"}')) == {"/name"}
    assert set(faults(Leaf, b'{"name":"a","\\u006eame":"a"}')) == {"/name"}
    assert set(faults(Leaf, b'{"name" :"a","name":"a"}')) == {"/name"}
    assert set(faults(Leaf, b'{"name":"\\"","name":"a"}')) == {"/name"}


def test_unknown_members_are_refused_or_ignored() -> None:
    document = b'{"nmae":"x","leaf":{"what":1},"word":null}'
    with pytest.raises(DecodeError) as caught:
        decode_strict(Leaf, b'{"nmae":"x"}')
    assert caught.value.hint == "did you mean 'name'?"
    assert set(faults(Plain, document)) == {"/nmae", "/leaf/what"}
    assert decode_lenient(Plain, document) == zero(Plain)


def test_all_faults_are_reported_with_their_places() -> None:
    document = (
        b'{"text":1,"count":1.0,"share":"x","held":1,"at":"today","leaf":[],"leaves":{},"table":[],'
        b'"labels":{"a/b~":1},"terms":[["x",2]],"spare":[{"name":true}],"other":"x"}'
    )
    assert set(faults(Plain, document)) == {
        "/text", "/count", "/share", "/held", "/at", "/leaf", "/leaves", "/table",
        "/labels/a~1b~0", "/terms/0/1", "/spare/0/name", "/other",
    }  # fmt: skip


@pytest.mark.parametrize(
    "number",
    ["1.0", "1e0", "22e0", "9223372036854775808", "-9223372036854775809", "true", '"1"', "9" * 5000, "NaN"],
)
def test_a_whole_number_is_spelled_whole_and_has_64_bits(number: str) -> None:
    with pytest.raises(DecodeError):
        decode_strict(Plain, f'{{"count":{number}}}'.encode())
    with pytest.raises(DecodeError):
        decode_strict(Plain, COMPACT.replace(b"-5", number.encode()))


@pytest.mark.parametrize("number", ["9223372036854775807", "-9223372036854775808", "-0"])
def test_every_64_bit_number_is_read(number: str) -> None:
    assert decode_strict(Plain, f'{{"count":{number}}}'.encode()).count == int(number)
    assert decode_strict(Plain, COMPACT.replace(b"-5", number.encode())).count == int(number)


@pytest.mark.parametrize(
    "number", ["1e400", "-1e400", "9" * 400, "NaN", "Infinity", "-Infinity", '"1"', "true"]
)
def test_a_double_is_finite(number: str) -> None:
    with pytest.raises(DecodeError):
        decode_strict(Plain, f'{{"share":{number}}}'.encode())
    with pytest.raises(DecodeError):
        decode_strict(Plain, COMPACT.replace(b"0.2", number.encode()))


def test_a_double_may_be_spelled_in_any_way() -> None:
    assert decode_strict(Plain, COMPACT.replace(b"0.2", b"2.0E-1")) == PLAIN
    assert decode_strict(Plain, COMPACT.replace(b"0.2", b"20")).share == 20.0


@pytest.mark.parametrize(
    "document",
    [
        b"",
        b" ",
        b"\xef\xbb\xbf{}",
        b"{} {}",
        b"{}x",
        b"// c\n{}",
        b'{"text":}',
        b"{" * 100_000,
        b'{"text":"\x01"}',
    ],
)
def test_bytes_that_are_not_one_json_value_are_refused(document: bytes) -> None:
    assert set(faults(Plain, document)) == {""}


@pytest.mark.parametrize("document", [b"[]", b'"x"', b"1", b"true"])
def test_a_document_that_is_no_object_is_refused(document: bytes) -> None:
    assert faults(Plain, document)[""].startswith("expected an object")


def test_depth_is_a_rule_also_inside_raw_values() -> None:
    assert (
        decode_strict(Rough, b'{"value":' + b"[" * 999 + b"]" * 999 + b"}").value.text
        == "[" * 999 + "]" * 999
    )
    assert "deeper" in faults(Rough, b'{"value":' + b"[" * 1000 + b"]" * 1000 + b"}")[""]


def test_each_bad_byte_becomes_one_replacement_character() -> None:
    assert decode_strict(Leaf, b'{"name":"\xe2\x82x\xff\xed\xa0\x80"}').name == "\ufffd\ufffdx" + "\ufffd" * 4


def test_a_lone_surrogate_becomes_a_replacement_character_outside_of_raw_values() -> None:
    assert decode_strict(Leaf, b'{"name":"\\ud800x"}').name == "\ufffdx"
    assert decode_strict(Rough, b'{"value":"\\ud800"}').value.text == '"\\ud800"'


def test_layout_and_member_order_of_a_document_do_not_matter() -> None:
    shuffled = b'{ "count" : 3 ,\r\n\t"text" : "\\u0061 : \\"b\\"" }'
    assert decode_strict(Plain, shuffled) == decode_strict(Plain, b'{"text":"a : \\"b\\"","count":3}')


def test_a_rule_of_a_record_is_reported_with_its_place() -> None:
    assert set(faults(Box, b'{"small":{"size":11}}')) == {"/small/size"}
    assert decode_strict(Box, b'{"small":{"size":10}}').small.size == 10


@pytest.mark.parametrize(
    "update",
    [
        {"count": 1.0}, {"count": True}, {"count": 2**63}, {"share": float("nan")}, {"share": float("inf")},
        {"at": "2031-01-01T00:00:00Z"}, {"unknown": 1}, {"leaves": [Leaf(name="")]},
    ],
)  # fmt: skip
def test_a_record_that_could_not_be_written_cannot_be_made(update: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Plain(**{**PLAIN.__dict__, **update})


def test_a_lone_surrogate_in_a_captured_text_is_written_as_a_replacement_character() -> None:
    assert encode_compact(Leaf(name="a\ud800<")) == '{"name":"a\ufffd\\u003c"}'.encode()


def test_a_record_never_changes() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        PLAIN.text = "b"  # type: ignore[misc]


@pytest.mark.parametrize(
    "annotation", [bytes, int | str, tuple[int, int], dict[int, str], list[str], set[str]]
)
def test_a_member_that_no_format_has_is_refused(annotation: Any) -> None:
    with pytest.raises(TypeError, match="no exchanged format"):
        shape_of(annotation)


def test_a_note_on_a_type_does_not_change_its_shape() -> None:
    assert shape_of(tuple[Annotated[str, OMIT], ...]) == shape_of(tuple[str, ...])


def test_a_default_must_be_the_zero_value_or_two_readers_would_disagree() -> None:
    class Biased(Record):
        name: str = "x"

    with pytest.raises(TypeError, match=r"Biased\.name"):
        zero(Biased)


def test_an_error_about_one_fault_is_one_line_and_about_several_a_list() -> None:
    one = DocumentError([Fault("/a", "wrong", "mend it")], where="x.json")
    assert str(one) == "x.json#/a: wrong (mend it)"
    assert str(DocumentError([Fault("", "wrong")])) == "wrong"
    two = DocumentError([Fault("/a", "wrong"), Fault("", "bad", "stop")], where="x.json")
    assert str(two) == "x.json: 2 faults:\n  /a: wrong\n  bad (stop)"


def test_an_error_about_a_hostile_document_is_short_and_harmless() -> None:
    names = ",".join(f'"\\u001b[3{number}m::error::{"x" * 500}":1' for number in range(1000))
    with pytest.raises(DecodeError) as caught:
        decode_strict(Leaf, f"{{{names}}}".encode())
    assert len(caught.value.faults) == 1000
    text = str(caught.value)
    assert "\x1b" not in text
    assert text.endswith("and 950 more")
    assert len(text) < 30_000


def test_an_error_without_faults_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(ValueError, match="at least one fault"):
        DocumentError([])


def test_the_marker_shows_its_name() -> None:
    assert repr(OMIT) == "OMIT"
