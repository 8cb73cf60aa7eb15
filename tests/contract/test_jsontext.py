"""Laws of reading and writing JSON at the level of its text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from contract.jsontext import (
    MAX_DEPTH,
    JsonSyntaxError,
    canonical_tool_input,
    float_text,
    parse,
    string_text,
    string_value,
)

GOLDEN: dict[str, Any] = json.loads((Path(__file__).parents[1] / "golden/golden.json").read_text())


@pytest.mark.parametrize("case", GOLDEN["canonical_input"], ids=lambda case: repr(case["in"]))
def test_tool_inputs_have_the_reference_spelling(case: dict[str, Any]) -> None:
    if case["error"]:
        with pytest.raises(JsonSyntaxError):
            canonical_tool_input(case["in"])
    else:
        assert canonical_tool_input(case["in"]) == case["out"]


@pytest.mark.parametrize("case", GOLDEN["canonical_input"], ids=lambda case: repr(case["in"]))
def test_a_canonical_tool_input_is_its_own_canonical_form(case: dict[str, Any]) -> None:
    if not case["error"]:
        assert canonical_tool_input(case["out"]) == case["out"]


@pytest.mark.parametrize("case", GOLDEN["floats"], ids=lambda case: case["in"])
def test_doubles_have_the_reference_spelling(case: dict[str, Any]) -> None:
    if not case["error"]:
        assert float_text(float(case["in"])) == case["out"]


def test_negative_zero_keeps_its_sign() -> None:
    assert float_text(-0.0) == "-0"
    assert float_text(0.0) == "0"


@pytest.mark.parametrize("case", GOLDEN["strings"], ids=lambda case: ascii(case["codepoints_in"]))
def test_strings_have_the_reference_escapes(case: dict[str, Any]) -> None:
    assert string_text(case["codepoints_in"]) == case["out"]


@pytest.mark.parametrize(
    "text",
    [
        "", " ", "{", "}", "[", "]", ",", ":", "[1", "[1,", "[1,]", "[,1]", "[1 2]", "[1}",
        '{"a"', '{"a":', '{"a":}',
        '{"a":]', '{"a":1', '{"a":1,', '{"a":1,}', '{"a" 1}', "{1:2}", "{,}", '{"a":1]', "[:]", '{"a"::1}',
        "01", "-", "+1", ".5", "1.", "1e", "0x1", "1_0", "NaN", "Infinity", "-Infinity",
        "nul", "truex", "True",
        "'a'", '"a', '"\x01"', '"\\x"', '"\\u12g4"', '"\\u12"',
        "// c\n1", "1 1", "{} {}", "\ufeff1", "\u00a01", "\x0b1", "\u0661",
    ],
)  # fmt: skip
def test_texts_that_are_not_one_json_value_are_refused(text: str) -> None:
    with pytest.raises(JsonSyntaxError):
        parse(text)


@pytest.mark.parametrize(
    "text", ["null", "true", "-0", "-0.0e-0", "1E+400", '""', "[]", "{}", '[[{"a":[{}]}],[]]']
)
def test_texts_that_are_one_json_value_are_read_as_a_whole(text: str) -> None:
    node = parse(f" \t\r\n{text} \t\r\n")
    assert (node.start, node.end) == (4, 4 + len(text))


def test_nodes_keep_order_duplicates_spelling_and_place() -> None:
    text = '{"b" : 1.50, "a":[true, null], "b":"\\u0041"}'
    root = parse(text)
    assert [name for name, _ in root.members] == ["b", "a", "b"]
    assert [text[value.start : value.end] for _, value in root.members] == [
        "1.50",
        "[true, null]",
        '"\\u0041"',
    ]
    assert [item.kind for item in root.members[1][1].items] == ["true", "null"]


def test_an_error_names_line_and_column() -> None:
    with pytest.raises(JsonSyntaxError) as caught:
        parse('{\n  "a": 1,\n  "b"  2\n}')
    assert caught.value.where == "line 3, column 8"
    with pytest.raises(JsonSyntaxError) as caught:
        parse("[\n   oops]")
    assert caught.value.where == "line 2, column 4"


def test_a_thousand_levels_are_read_and_one_more_is_refused() -> None:
    assert parse("[" * MAX_DEPTH + "]" * MAX_DEPTH).kind == "array"
    for depth in (MAX_DEPTH + 1, 100_000):
        with pytest.raises(JsonSyntaxError, match="deeper than 1000"):
            parse("[" * depth + "]" * depth)


def test_a_deep_tool_input_is_canonical_or_refused_but_never_a_crash() -> None:
    deep = '{"a":' * MAX_DEPTH + "1" + "}" * MAX_DEPTH
    assert canonical_tool_input(deep) == deep
    with pytest.raises(JsonSyntaxError):
        canonical_tool_input('{"a":' * 50_000)


def test_a_string_of_a_megabyte_is_read() -> None:
    token = '"' + "a\\n" * 350_000 + '"'
    assert len(string_value(parse(token).lexeme)) == 700_000


@pytest.mark.parametrize(
    ("token", "value"),
    [
        ('"\\ud83d\\ude00"', "\U0001f600"),
        ('"\\ud800"', "\ufffd"),
        ('"\\ude00\\ud83d"', "\ufffd\ufffd"),
        ('"\\ud800x"', "\ufffdx"),
        ('"\\/\\b\\u0000"', "/\b\x00"),
    ],
)
def test_a_lone_surrogate_becomes_one_replacement_character(token: str, value: str) -> None:
    assert string_value(token) == value
