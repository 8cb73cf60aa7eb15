"""Laws of manifests and predicates that hold whatever the document says."""

from __future__ import annotations

import json
import random
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contract.manifest import ManifestError, decode_manifest, load_manifest, manifest_digest
from contract.manifest_advice import advise
from contract.predicates import PredicateError, holds
from contract.record import encode_indented

FOLDER = Path(__file__).parents[2] / "scenarios"
FILES = sorted(path for path in FOLDER.glob("*.json") if not path.name.endswith(".schema.json"))
NUMBERS = st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)
SCALARS = st.none() | st.booleans() | NUMBERS | st.text()
JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3)
)


def scattered(value: Any, dice: random.Random, name: str = "") -> str:
    """The same JSON, members in another order and white space between; predicate values stay as they are."""
    gap = "".join(dice.choices(" \t\r\n", k=dice.randrange(3)))
    if isinstance(value, dict) and name != "value":
        members = [f"{gap}{json.dumps(key)}{gap}:{scattered(item, dice, key)}" for key, item in value.items()]
        dice.shuffle(members)
        return f"{gap}{{{','.join(members)}}}{gap}"
    if isinstance(value, list):
        return f"{gap}[{','.join(scattered(item, dice) for item in value)}{gap}]"
    return gap + json.dumps(value) + gap


@given(st.sampled_from(FILES), st.randoms(use_true_random=False))
def test_a_digest_survives_member_order_white_space_and_escapes(path: Path, dice: random.Random) -> None:
    document = path.read_bytes()
    again = scattered(json.loads(document), dice).encode()
    assert manifest_digest(load_manifest(again)) == manifest_digest(load_manifest(document))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_digest_survives_being_written_into_a_report(path: Path) -> None:
    manifest = load_manifest(path.read_bytes())
    assert decode_manifest(encode_indented(manifest)) == manifest


@given(st.sampled_from(FILES), st.data())
def test_any_document_is_a_manifest_or_a_manifest_error(path: Path, data: st.DataObject) -> None:
    document = json.loads(path.read_bytes())
    here = document
    while isinstance(here, dict | list) and here:
        key = data.draw(st.sampled_from(list(here) if isinstance(here, dict) else range(len(here))))
        if not isinstance(here[key], dict | list) or not here[key] or data.draw(st.booleans()):
            here[key] = data.draw(JSON)
            break
        here = here[key]
    with suppress(ManifestError):
        advise(load_manifest(json.dumps(document).encode()))


@given(SCALARS)
def test_an_observation_equals_its_own_json(observed: Any) -> None:
    assert holds("eq", json.dumps(observed), observed)
    assert holds("in", json.dumps([[], observed]), observed)
    assert not holds("not_eq", json.dumps(observed), observed)


@given(SCALARS, JSON)
def test_not_eq_is_the_opposite_of_eq(observed: Any, value: Any) -> None:
    assert holds("eq", json.dumps(value), observed) != holds("not_eq", json.dumps(value), observed)


@given(NUMBERS, NUMBERS)
def test_numbers_are_ordered_as_numbers_also_when_they_are_written_as_texts(
    left: float, right: float
) -> None:
    value = json.dumps(right)
    assert holds("lt", value, left) == (left < right)
    assert holds("gte", json.dumps(value), left) == (left >= right)
    assert holds("gt", value, json.dumps(left)) == (left > right)


@given(st.sampled_from(["eq", "not_eq", "gte", "lte", "gt", "lt", "in"]), JSON, SCALARS)
def test_a_predicate_is_decided_or_refused(operator: str, value: Any, observed: Any) -> None:
    with suppress(PredicateError):
        assert holds(operator, json.dumps(value), observed) in (True, False)
