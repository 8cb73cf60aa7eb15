"""Laws of names and tokens."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from contract.names import (
    alias_token,
    container_name,
    default_run_id,
    is_lab_name,
    is_run_id,
    names_run,
    render,
    run_token,
    scenario_token,
)

GOLDEN: dict[str, Any] = json.loads((Path(__file__).parents[1] / "golden/golden.json").read_text())


@pytest.mark.parametrize("case", GOLDEN["names"], ids=lambda case: repr(case["template"]))
def test_containers_are_named_as_the_reference_does(case: dict[str, Any]) -> None:
    name = container_name(case["template"], case["run_id"], case["alias"])
    assert names_run(name, case["run_id"]) != case["error"]
    assert case["error"] or name == case["name"]


@pytest.mark.parametrize("case", GOLDEN["tokens"], ids=lambda case: case["ns"])
def test_tokens_are_those_of_the_reference(case: dict[str, Any]) -> None:
    token = {"run": run_token, "scenario": scenario_token}[case["ns"]]
    assert token(case["value"]) == case["token"]


def test_an_alias_token_differs_from_run_to_run() -> None:
    assert len({alias_token("run-1", "api"), alias_token("run-2", "api"), alias_token("run-1", "store")}) == 3


def test_templates_are_replaced_as_plain_text_and_only_where_known() -> None:
    assert render("${run_id}/${alias}/${other}/$alias", "run1", "api") == "run1/api/${other}/$alias"
    assert render("${run_token}", "run1", "api") == run_token("run1")


def test_the_default_run_id_is_a_run_id() -> None:
    run_id = default_run_id(datetime(2026, 7, 14, 15, 4, 5, tzinfo=UTC), bytes.fromhex("deadbeef"))
    assert run_id == "q-20260714-150405-deadbeef"
    assert is_run_id(run_id)


@pytest.mark.parametrize(
    ("name", "accepted"),
    [
        ("pulse-qual-run1-api", True),
        ("pulse-qual-api", False),
        ("run1-api", False),
        ("pulse-qual-run1-API", False),
    ],
)
def test_a_lab_name_has_the_prefix_and_the_full_run_id(name: str, accepted: bool) -> None:
    assert is_lab_name(name, "run1") == accepted
