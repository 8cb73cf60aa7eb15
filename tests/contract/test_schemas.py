"""The published schemas are those of the records, and agree with them on what is accepted and refused."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from runs import WHEN, catalogue, failed, having, investigating, report, session, tool_call

from contract.contribution import ReportSource, build_contribution, decode_contribution, validate_contribution
from contract.errors import PatrolQualificationError
from contract.record import RawJson, Record, decode_lenient, decode_strict, encode_indented
from contract.replay import build_replay
from contract.report import RunReport
from contract.submission import DeclaredCampaign, MachineClass, draft
from contract.truth import GroundTruth

ROOT = Path(__file__).parents[2]
SCHEMAS = ROOT / "contract/schemas"


def exporter() -> ModuleType:
    spec = importlib.util.spec_from_file_location("export_schemas", ROOT / "tools/export_schemas.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


EXPORTER = exporter()
NAMES = tuple(EXPORTER.FORMATS)


def rich_report() -> RunReport:
    plain = report(1, manifest=investigating(), investigations={"f1": session()})
    run = having(plain.patrol_run, tool_calls=(tool_call("look", '{"a":1}'),))
    return having(plain, patrol_run=run, actions=(RawJson('{"planHash":"x"}'),), prepared_lab=None)


def contribution() -> Record:
    reports = [report(1), failed(2)]
    sources = [ReportSource(encode_indented(one), b"[]", one.run_id) for one in reports]
    return build_contribution(sources, "watch", catalogue(), WHEN)


def submission() -> Record:
    machine = MachineClass(
        os="o", architecture="a", virtualisation="v", docker_engine="d", accelerator="", accelerator_memory=""
    )
    campaign = DeclaredCampaign(track="watch", runs_per_scenario={"s": 1}, attempt=1, aborted=())
    return draft("0" * 64, machine, campaign)


WRITTEN: dict[str, Record] = {
    "report": rich_report(),
    "ground-truth": report().ground_truth,
    "replay": build_replay(rich_report(), WHEN),
    "comparison": contribution().comparison,  # type: ignore[attr-defined]
    "contribution": contribution(),
    "submission": submission(),
}


def validator(name: str) -> Draft202012Validator:
    return Draft202012Validator(json.loads((SCHEMAS / f"{name}.schema.json").read_bytes()))


# Any JSON value, and flags that a schema cannot compare with each other.
FREE = ("value", "observed", "bound_at_run", "challenge_bound")


def by_model(name: str, document: bytes) -> bool:
    """Whether the record, with the rules of its format, takes a document."""
    kind, version = EXPORTER.FORMATS[name]
    try:
        if name == "contribution":
            return not validate_contribution(decode_contribution(document))
        decode: Callable[..., Any] = decode_lenient if name == "report" else decode_strict
        return bool(decode(kind, document).schema_version == version)
    except PatrolQualificationError:
        return False


def by_schema(name: str, document: bytes) -> bool:
    return bool(validator(name).is_valid(json.loads(document)))


def test_there_is_a_schema_for_every_format_and_no_other() -> None:
    assert sorted(path.name for path in SCHEMAS.iterdir()) == sorted(f"{name}.schema.json" for name in NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_the_committed_schema_is_the_records(name: str) -> None:
    assert (SCHEMAS / f"{name}.schema.json").read_text(encoding="utf-8") == EXPORTER.schema_text(name)


@pytest.mark.parametrize("name", NAMES)
def test_the_schema_is_one(name: str) -> None:
    Draft202012Validator.check_schema(validator(name).schema)


@pytest.mark.parametrize("name", NAMES)
def test_what_is_written_is_accepted_by_both(name: str) -> None:
    document = encode_indented(WRITTEN[name])
    assert by_model(name, document)
    assert by_schema(name, document)


def variants(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path of every member of a document."""
    found = []
    if isinstance(value, dict):
        for key, inner in value.items():
            found += [(*path, key), *variants(inner, (*path, key))]
    if isinstance(value, list) and value:
        found += variants(value[0], (*path, 0))
    return found


def changed(document: Any, path: tuple[Any, ...], value: Any) -> bytes:
    copy = json.loads(json.dumps(document))
    inner = copy
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value
    return json.dumps(copy).encode()


@pytest.mark.parametrize("name", NAMES)
def test_a_member_of_another_type_is_refused_by_both(name: str) -> None:
    document = json.loads(encode_indented(WRITTEN[name]))
    # The lenient reader of reports takes an object of unknown members for an empty one.
    values: tuple[Any, ...] = (
        (17, "text", True, [17]) if name == "report" else (17, "text", True, [17], {"x": 17})
    )
    for path in variants(document):
        if "actions" in path or path[-1] in FREE:
            continue
        for value in values:
            spoiled = changed(document, path, value)
            assert by_model(name, spoiled) == by_schema(name, spoiled), (path, value)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "report"])
def test_an_unknown_member_is_refused_by_both(name: str) -> None:
    document = json.loads(encode_indented(WRITTEN[name]))
    spoiled = changed(document, ("vendor",), 1)
    assert not by_model(name, spoiled)
    assert not by_schema(name, spoiled)


def test_an_unknown_member_of_a_report_is_ignored_by_both() -> None:
    document = json.loads(encode_indented(WRITTEN["report"]))
    extended = changed(document, ("score", "vendor"), 1)
    assert by_model("report", extended)
    assert by_schema("report", extended)


@pytest.mark.parametrize(
    ("name", "path", "value"),
    [
        ("contribution", ("runs",), []),
        ("contribution", ("privacy", "excluded"), []),
        ("contribution", ("evidence_class",), "certified"),
        ("contribution", ("network_upload_performed",), True),
        ("contribution", ("runs", 0, "manifest_digest"), "0" * 64 + "\n"),
        ("contribution", ("runs", 0, "source_report_sha256"), "A" * 64),
        ("contribution", ("runs", 0, "score", "tool_calls"), 2**70),
        ("contribution", ("runs", 0, "score", "recall"), "1"),
        ("contribution", ("runs", 0, "captured_at"), "2031-01-01 00:00:00Z"),
        ("replay", ("schema_version",), "patrol.qualification.replay/v2"),
        ("submission", ("campaign", "attempt"), 1.5),
    ],
    ids=str,
)
def test_what_a_rule_forbids_is_refused_by_both(name: str, path: tuple[Any, ...], value: Any) -> None:
    spoiled = changed(json.loads(encode_indented(WRITTEN[name])), path, value)
    assert not by_model(name, spoiled)
    assert not by_schema(name, spoiled)


@pytest.mark.parametrize(
    "damage",
    [
        (b'"consent": false', b'"consent": false, "consent": false'),
        (b'"attempt": 1', b'"attempt": 1.0'),
        (b'"attempt": 1', b'"attempt": 1e0'),
    ],
    ids=["duplicate member", "fraction of nothing", "exponent"],
)
def test_what_no_schema_can_see_the_reader_refuses(damage: tuple[bytes, bytes]) -> None:
    spoiled = encode_indented(WRITTEN["submission"]).replace(*damage)
    assert not by_model("submission", spoiled)
    assert by_schema("submission", spoiled)


def test_the_reader_takes_an_absent_member_for_nothing_and_the_schema_demands_it() -> None:
    document = json.loads(encode_indented(WRITTEN["ground-truth"]))
    del document["run_id"]
    spoiled = json.dumps(document).encode()
    assert decode_strict(GroundTruth, spoiled).run_id == ""
    assert not by_schema("ground-truth", spoiled)
