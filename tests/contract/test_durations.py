"""Laws of duration texts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from contract.durations import DurationError, format_duration, parse_duration, positive_duration

GOLDEN: dict[str, Any] = json.loads((Path(__file__).parents[1] / "golden/golden.json").read_text())


@pytest.mark.parametrize("case", GOLDEN["durations"], ids=lambda case: repr(case["in"]))
def test_durations_parse_as_the_reference_does(case: dict[str, Any]) -> None:
    if case["error"]:
        with pytest.raises(DurationError):
            parse_duration(case["in"])
    else:
        assert parse_duration(case["in"]) == case["ns"]


@pytest.mark.parametrize("case", GOLDEN["durations"], ids=lambda case: repr(case["in"]))
def test_a_manifest_duration_must_be_positive(case: dict[str, Any]) -> None:
    if case["valid_as_manifest_duration"]:
        assert positive_duration(case["in"]) == case["ns"]
    else:
        with pytest.raises(DurationError):
            positive_duration(case["in"])


@pytest.mark.parametrize("case", GOLDEN["duration_strings"], ids=lambda case: case["text"])
def test_durations_are_written_as_the_reference_does(case: dict[str, Any]) -> None:
    assert format_duration(case["ns"]) == case["text"]


def test_only_a_negative_duration_reaches_the_last_nanosecond() -> None:
    assert parse_duration("-9223372036854775808ns") == -(2**63)
    with pytest.raises(DurationError, match="64-bit"):
        parse_duration("9223372036854775808ns")


def test_fractions_of_an_hour_are_exact() -> None:
    assert parse_duration("0.00000000000750h") == 27


def test_an_endless_text_is_refused_before_it_is_computed() -> None:
    with pytest.raises(DurationError):
        parse_duration("9" * 5000 + "s")


def test_an_error_says_how_to_write_a_duration() -> None:
    with pytest.raises(DurationError) as caught:
        parse_duration("5 minutes")
    assert "1h30m" in caught.value.hint
