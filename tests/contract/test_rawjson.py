"""Laws of JSON values that are carried as they are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from contract.jsontext import JsonSyntaxError
from contract.manifest_records import Predicate
from contract.rawjson import RawJson, indent_raw, number_value
from contract.record import decode_strict, encode_compact

GOLDEN: dict[str, Any] = json.loads((Path(__file__).parents[1] / "golden/golden.json").read_text())


@pytest.mark.parametrize("case", GOLDEN["raw_values"], ids=lambda case: case["value_in"])
def test_predicate_values_keep_their_spelling(case: dict[str, Any]) -> None:
    absent = case["value_in"] == "(member absent)"
    value = "" if absent else f',"value":{case["value_in"]}'
    document = f'{{"probe":"p","target":"t","operator":"eq"{value}}}'.encode()
    predicate = decode_strict(Predicate, document)
    assert predicate.value.is_absent == absent
    assert encode_compact(predicate).decode() == case["canonical"]
    assert decode_strict(Predicate, encode_compact(predicate)) == (
        predicate if not absent else _null(predicate)
    )


def _null(predicate: Predicate) -> Predicate:
    return predicate.model_copy(update={"value": RawJson("null")})


def test_a_lone_surrogate_escape_stays_verbatim() -> None:
    assert RawJson('"\\ud800"').text == '"\\ud800"'
    assert RawJson('"\\ud800"').value == "\ufffd"


@pytest.mark.parametrize("text", ["tru", "{} {}", "[1,]", " ", "NaN"])
def test_only_one_json_value_can_be_raw(text: str) -> None:
    with pytest.raises(JsonSyntaxError):
        RawJson(text)


@pytest.mark.parametrize("value", [None, True, False, 0, -5, 1.5, "a<b", [1, [2]], {"b": 1, "a": None}])
def test_a_python_value_survives_its_raw_form(value: Any) -> None:
    assert RawJson.of(value).value == value


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_numbers_that_json_has_no_form_for_are_refused(value: float) -> None:
    with pytest.raises(ValueError, match="JSON"):
        RawJson.of(value)


def test_a_number_of_thousands_of_digits_is_a_double_and_no_crash() -> None:
    assert RawJson("9" * 5000).value == float("inf")
    assert number_value("9" * 30) == 10**30 - 1
    assert number_value("1e2") == 100.0


def test_the_absent_value_differs_from_null() -> None:
    assert RawJson("") != RawJson("null")
    assert RawJson("").value is None
    assert len({RawJson("1"), RawJson(" 1 "), RawJson("1.0")}) == 2
    assert RawJson("1") != "1"
    assert repr(RawJson("[ 1 ]")) == "RawJson('[1]')"


def test_layout_puts_each_member_on_a_line_and_empty_containers_on_one() -> None:
    assert indent_raw('{"a":[1.50,{}],"b":[],"c":"x:{,}"}', 1) == (
        '{\n    "a": [\n      1.50,\n      {}\n    ],\n    "b": [],\n    "c": "x:{,}"\n  }'
    )
