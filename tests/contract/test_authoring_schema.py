"""The published authoring schema and the loader agree, save where this file says that they do not.

The schema is for editors and for explaining; the loader decides. Each deliberate difference stands in a table
here with its reason (manifest format, section 6).
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from contract.manifest import ManifestError, load_manifest
from contract.manifest_fault_rules import INJECTORS
from contract.manifest_pro_rules import DECISIONS
from contract.manifest_records import Manifest
from contract.manifest_rules import DRIVERS, MIN_PERFECT_RUNS, MODES, SCHEMA_VERSION, TRACKS
from contract.predicates import OPERATORS
from contract.shapes import OMIT, Array, Mapping, Pointer, Raw, Scalar, Shape
from contract.structs import Struct, members

TESTS = Path(__file__).parents[1]
SCENARIOS = TESTS.parent / "scenarios"
GOLDEN: dict[str, Any] = json.loads((TESTS / "golden/golden.json").read_text())
SCHEMA: dict[str, Any] = json.loads((SCENARIOS / "patrol.qual.schema.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
FILES = sorted(path for path in SCENARIOS.glob("*.json") if not path.name.endswith(".schema.json"))
RICHEST = ("remediation.docker-unhealthy-restart-approved", "investigation.docker-storage-pressure")
WRONG: tuple[Any, ...] = ({"x": {}}, [[1]], 1.5, 7, True, "\x00")
PLACES = tuple[str | int, ...]


def loads(manifest: Any) -> bool:
    try:
        load_manifest(json.dumps(manifest).encode())
    except ManifestError:
        return False
    return True


def conforms(manifest: Any) -> bool:
    return VALIDATOR.is_valid(manifest)


def scenario(name: str) -> dict[str, Any]:
    manifest: dict[str, Any] = json.loads((SCENARIOS / f"{name}.json").read_text())
    return manifest


def places(value: Any, at: PLACES = ()) -> Iterator[PLACES]:
    """Every place in a document, but nothing inside a predicate's value."""
    yield at
    if at and at[-1] == "value":
        return
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, item in items:
        yield from places(item, (*at, name))


def changed(manifest: dict[str, Any], at: PLACES, value: Any) -> Any:
    """A copy with another value at a place; `...` removes what is there."""
    if not at:
        return value
    copied = copy.deepcopy(manifest)
    here: Any = copied
    for part in at[:-1]:
        here = here[part]
    if value is ...:
        del here[at[-1]]
    else:
        here[at[-1]] = value
    return copied


def test_the_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_scenario_conforms(path: Path) -> None:
    assert [error.message for error in VALIDATOR.iter_errors(json.loads(path.read_bytes()))] == []


def _resolved(schema: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in schema:
        schema = SCHEMA["$defs"][schema["$ref"].rsplit("/", 1)[1]]
    return schema


JSON_TYPES = {
    "a string": "string",
    "a whole number": "integer",
    "a number": "number",
    "true or false": "boolean",
}


def _agree(shape: Shape, schema: dict[str, Any], where: str) -> None:
    schema = _resolved(schema)
    if isinstance(shape, Raw):
        assert set(schema) == {"description"}, where
    elif isinstance(shape, Pointer):
        _agree(shape.target, schema, where)
    elif isinstance(shape, Array):
        assert schema["type"] == "array", where
        _agree(shape.item, schema["items"], f"{where}[]")
    elif isinstance(shape, Mapping):
        assert schema["additionalProperties"] == {"type": "string"}, where
    elif isinstance(shape, Struct):
        assert schema["additionalProperties"] is False, where
        assert list(schema["properties"]) == list(members(shape.record)), where
        for name, part in members(shape.record).items():
            _agree(part, schema["properties"][name], f"{where}.{name}")
    else:
        assert isinstance(shape, Scalar)
        words = schema.get("enum", [schema["const"]] if "const" in schema else None)
        if words is None:
            assert schema["type"] == JSON_TYPES[shape.name], where
        else:
            assert {type(word) for word in words} <= {type(shape.nothing)}, where


def test_schema_and_records_declare_the_same_members_in_the_same_order() -> None:
    _agree(Struct(Manifest), SCHEMA, "manifest")


def test_every_member_of_the_schema_says_what_it_is() -> None:
    def described(schema: dict[str, Any]) -> Iterator[bool]:
        for part in schema.get("properties", {}).values():
            yield bool(_resolved(part).get("description"))
            yield from described(_resolved(part))
            yield from described(_resolved(part).get("items", {}))

    assert all(described(SCHEMA))


def test_a_member_is_demanded_unless_it_may_be_left_out() -> None:
    def check(shape: Shape, schema: dict[str, Any]) -> None:
        schema = _resolved(schema)
        if isinstance(shape, Array):
            check(shape.item, schema["items"])
        elif isinstance(shape, Pointer):
            check(shape.target, schema)
        elif isinstance(shape, Struct):
            fields = shape.record.model_fields
            demanded = [
                name
                for name, part in members(shape.record).items()
                if OMIT not in fields[name].metadata and not isinstance(part, Pointer)
            ]
            assert schema["required"] == demanded, shape.record
            for name, part in members(shape.record).items():
                check(part, schema["properties"][name])

    check(Struct(Manifest), SCHEMA)


def test_schema_and_rules_know_the_same_words() -> None:
    properties, defs = SCHEMA["properties"], SCHEMA["$defs"]
    assert properties["schema_version"]["const"] == SCHEMA_VERSION
    assert tuple(properties["track"]["enum"]) == TRACKS
    assert tuple(properties["patrol"]["properties"]["mode"]["enum"]) == MODES
    assert tuple(properties["remediation"]["properties"]["decision"]["enum"]) == DECISIONS
    assert tuple(defs["lab"]["properties"]["driver"]["enum"]) == DRIVERS
    assert set(defs["predicate"]["properties"]["operator"]["enum"]) == OPERATORS
    assert set(defs["fault"]["properties"]["injector"]["properties"]["kind"]["enum"]) == INJECTORS
    assert properties["repeat"]["properties"]["qualification"]["minimum"] == MIN_PERFECT_RUNS


@pytest.mark.parametrize("name", RICHEST)
def test_a_value_of_the_wrong_type_is_refused_by_both(name: str) -> None:
    manifest = scenario(name)
    for at in places(manifest):
        if at and at[-1] == "value":
            continue
        for wrong in WRONG:
            here: Any = manifest
            for part in at:
                here = here[part]
            number = isinstance(here, int | float) and not isinstance(here, bool)
            if type(wrong) is type(here) or (number and isinstance(wrong, int | float) and wrong is not True):
                continue
            bad = changed(manifest, at, wrong)
            assert not conforms(bad), (at, wrong)
            assert not loads(bad), (at, wrong)


@pytest.mark.parametrize("name", RICHEST)
def test_an_unknown_member_is_refused_by_both_wherever_it_stands(name: str) -> None:
    manifest = scenario(name)
    for at in places(manifest):
        here: Any = manifest
        for part in at:
            here = here[part]
        if not isinstance(here, dict) or (at and at[-1] in ("labels", "metadata", "value")):
            continue
        for unknown in ("surprise", "Title", "x-note"):
            bad = changed(manifest, (*at, unknown), "x")
            assert not conforms(bad), at
            assert not loads(bad), at


# Why the loader refuses a document from which a member was removed that the schema does not demand.
ONLY_THE_LOADER_MISSES = {
    ("remediation", "allowed_verification_statuses"): "lifecycle verification is required",
    ("resources", 0, "scratch_storage"): "the injector fills it",
    ("resources", 1, "scratch_storage"): None,
}


@pytest.mark.parametrize("name", RICHEST)
def test_a_missing_member_is_refused_by_the_schema_exactly_where_it_is_demanded(name: str) -> None:
    manifest = scenario(name)
    for at in places(manifest):
        if not at or isinstance(at[-1], int):
            continue
        without = changed(manifest, at, ...)
        if conforms(without):
            assert loads(without) != bool(ONLY_THE_LOADER_MISSES.get(at)), at


def edited(**changes: Any) -> dict[str, Any]:
    """The approved restart scenario with other values at dotted places."""
    manifest = scenario(RICHEST[0])
    for place, value in changes.items():
        at = tuple(int(part) if part.isdigit() else part for part in place.split("__"))
        manifest = changed(manifest, at, value)
    return manifest


BOTH_REFUSE = {
    "no summary form": {"investigation__required_summary_terms": ...},
    "groups []": {
        "investigation__required_summary_terms": ...,
        "investigation__required_summary_term_groups": [],
    },
    "groups [[]]": {"investigation__required_summary_term_groups": [[]]},
    "groups [['']]": {"investigation__required_summary_term_groups": [[""]]},
    "no evidence minimum": {"investigation__min_evidence_calls": ...},
    "no evidence minimum beside groups": {
        "investigation__min_evidence_calls": ...,
        "investigation__required_summary_term_groups": [["a"]],
    },
    "no investigation": {"investigation": ...},
    "no remediation": {"remediation": ...},
    "no resource": {"resources": []},
    "no baseline": {"baseline": []},
    "no oracle": {"faults__0__oracle": []},
    "no source": {"collection__sources": []},
    "no capability": {"remediation__expected_capabilities": []},
    "an id with a final newline": {"id": "watch.abc\n"},
    "an id of 97 characters": {"id": "a" * 97},
    "an alias in capitals": {"resources__0__alias": "API"},
    "an older format": {"schema_version": "patrol.qual/v0"},
    "21 runs": {"repeat__qualification": 21},
    "no run": {"repeat__development": 0},
    "an unknown track": {"track": "audit"},
    "an unknown decision": {"remediation__decision": "maybe"},
    "a null title": {"title": None},
    "an existing fault that is not required": {"faults__0__required": False},
}
ONLY_THE_SCHEMA_REFUSES = {
    "risk is informational": {"risk": ...},
    "the name has a default": {"resources__0__name": ...},
    "a reason is for readers": {"negative_controls": [{"resource": "api"}]},
    "gate ranges are not checked": {"gates__min_recall": 1.5},
    "budgets below zero mean no limit": {"budgets__max_tool_calls": -1},
    "duplicates in lists of aliases are tolerated": {"investigation__affected_resources": ["api", "api"]},
    "tags are informational": {"tags": ["a", "a"]},
    "statuses are the product's words": {"remediation__allowed_verification_statuses": ["proven"]},
    "teardown predicates are optional": {"teardown__predicates": []},
    "null is absent": {"tags": None},
    "an empty scope is no scope": {"patrol__scope_resources": []},
    "an empty list of terms beside groups": {
        "investigation__required_summary_terms": [],
        "investigation__required_summary_term_groups": [["a"]],
    },
    "a repeated term in a group": {"investigation__required_summary_term_groups": [["a", "a"]]},
    "an absent budget is zero": {"budgets__max_tool_calls": ...},
}
ONLY_THE_LOADER_REFUSES = {
    "1.0 is an integer to the schema": {"version": 1.0},
    "a probe may be any string to the schema": {"baseline__0__probe": "docker.cpu"},
    "references are beyond a schema": {"baseline__0__target": "attic"},
    "so are durations": {"patrol__run_timeout": "soon"},
    "so is the order of repeats": {"repeat__nightly": 23},
    "so are blank texts": {"title": " "},
    "so are reserved labels": {"resources__0__labels": {"com.pulse.intelligence-lab.run": "x"}},
    "so are secrets": {"title": "password: x"},
    "so is uniqueness by id": {"resources": [scenario(RICHEST[0])["resources"][0]] * 2},
    "an object of another track": {"track": "investigation"},
    "no driver but docker can run": {"lab__driver": "replay"},
    "a whole number of more than 64 bits": {"version": 2**63},
    "a decision needs a reason": {"remediation__decision_reason": ""},
    "a resource needs an image": {"lab__image": ""},
    "health is compared for equality": {"faults__0__oracle__1__operator": "not_eq"},
}


@pytest.mark.parametrize("changes", BOTH_REFUSE.values(), ids=list(BOTH_REFUSE))
def test_schema_and_loader_refuse_together(changes: dict[str, Any]) -> None:
    assert (conforms(edited(**changes)), loads(edited(**changes))) == (False, False)


@pytest.mark.parametrize("changes", ONLY_THE_SCHEMA_REFUSES.values(), ids=list(ONLY_THE_SCHEMA_REFUSES))
def test_the_schema_alone_refuses_what_no_author_should_write(changes: dict[str, Any]) -> None:
    assert (conforms(edited(**changes)), loads(edited(**changes))) == (False, True)


@pytest.mark.parametrize("changes", ONLY_THE_LOADER_REFUSES.values(), ids=list(ONLY_THE_LOADER_REFUSES))
def test_the_loader_alone_refuses_what_a_schema_cannot_see(changes: dict[str, Any]) -> None:
    assert (conforms(edited(**changes)), loads(edited(**changes))) == (True, False)


NEITHER, SCHEMA_ONLY, LOADER_ONLY = (False, False), (True, False), (False, True)
EXAMPLES = {
    "field-name case folded": NEITHER,
    "field-name with Kelvin sign / long s folding": NEITHER,
    "duplicate object member merges": NEITHER,  # the standard parser keeps the last object alone
    "float for int": SCHEMA_ONLY,
    "exponent for int": SCHEMA_ONLY,
    "int beyond int64": SCHEMA_ONLY,
    "whitespace title": SCHEMA_ONLY,
    "repeat 23 nightly 24": SCHEMA_ONLY,
    "zero duration": SCHEMA_ONLY,
    "replay driver": SCHEMA_ONLY,
    "scope without scoped": SCHEMA_ONLY,
    "related equals target": SCHEMA_ONLY,
    "expected finding on unrelated resource": SCHEMA_ONLY,
    "scratch injector without scratch_storage": SCHEMA_ONLY,
    "scratch injector with value": SCHEMA_ONLY,
    "scratch probe on resource without scratch_storage": SCHEMA_ONLY,
    "null tags equals absent": LOADER_ONLY,
    "missing risk accepted by Go": LOADER_ONLY,
    "gates out of range NOT validated": LOADER_ONLY,
    "negative budgets NOT validated": LOADER_ONLY,
    "empty scope array without scoped accepted": LOADER_ONLY,
    "duplicate related accepted": LOADER_ONLY,
    "faults absent -> null in digest": LOADER_ONLY,
}


@pytest.mark.parametrize("case", GOLDEN["manifest_cases"], ids=lambda case: case["name"])
def test_worked_examples_differ_only_where_it_is_said(case: dict[str, Any]) -> None:
    manifest = _with_teardown(case["input"])
    assert (conforms(manifest), loads(manifest)) == EXAMPLES.get(case["name"], (case["accepted"],) * 2)


def _with_teardown(document: str) -> Any:
    """The example as a value, with the teardown predicate that the schema wants and the examples lack."""
    try:
        manifest = json.loads(document)
    except ValueError:
        return document  # a text is no manifest to either
    if isinstance(manifest, dict) and "teardown" in manifest:
        manifest["teardown"]["predicates"] = manifest["baseline"]
    return manifest
