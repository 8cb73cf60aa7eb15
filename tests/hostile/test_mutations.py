"""Every single value of a bundle, changed: refused, or reviewed as one that may vary; never a crash."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from campaigns import NOW, Campaign, Tree, make_contribution, make_submission, sealed
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contract.record import encode_indented
from generator.findings import Findings
from generator.layout import Place
from generator.load import Blob, LoadedBundle
from generator.registry import Grounds, load_grounds
from generator.verify import verify

CAMPAIGN = Campaign(overrides={"lab_image": "pulse-qual-lab:1"})

FREE = {
    "contribution.json": {
        "/notice": "prose of the tool that exported",
        "/challenge/explanation": "prose of the tool that exported",
        "/privacy/excluded/0": "prose of the tool that exported",
        "/challenge/consistent_across_runs": "says nothing where no challenge is bound",
        "/generated_at": "any time after the runs",
        "/comparison/generated_at": "any time; nothing is derived from it",
    },
    "submission.json": {
        "/contributor/affiliation": "the contributor's own word",
        "/environment/os": "the contributor's own word",
        "/environment/architecture": "the contributor's own word",
        "/environment/virtualisation": "the contributor's own word",
        "/environment/docker_engine": "the contributor's own word",
        "/environment/accelerator": "the contributor's own word",
        "/environment/accelerator_memory": "the contributor's own word",
        "/campaign/attempt": "the contributor's own count",
        "/overrides/lab_image": "the contributor's own word; makes the row custom",
    },
}
"""What may vary without breaking a rule, and why."""
FAILURE_TEXT = re.compile(r"/comparison/(qualification|scenarios)/\d+/failures/\d+")
"""The words behind a failure's code belong to the tool that wrote them; pages show recomputed ones."""


@pytest.fixture(scope="module")
def grounds(tmp_path_factory: pytest.TempPathFactory) -> tuple[Tree, Grounds]:
    tree = Tree(tmp_path_factory.mktemp("mutations") / "tree")
    found = load_grounds(tree.root, Findings())
    assert found is not None
    return tree, found


def documents(tree: Tree) -> dict[str, Any]:
    contribution = encode_indented(make_contribution(CAMPAIGN, tree.catalogue))
    submission = encode_indented(make_submission(CAMPAIGN, contribution))
    return {"contribution.json": json.loads(contribution), "submission.json": json.loads(submission)}


def refused(found: dict[str, Any], grounds: Grounds) -> set[str]:
    """The rules that a bundle of these documents breaks, its name, binding and sums made to fit."""
    contribution = json.dumps(found["contribution.json"], indent=2, ensure_ascii=False).encode(
        "utf-8", "surrogatepass"
    )
    blob = Blob.of(contribution)
    submission = copy.deepcopy(found["submission.json"])
    if isinstance(submission, dict) and "spoiled" not in found:
        submission["contribution_sha256"] = blob.sha256
    text = json.dumps(submission, indent=2, ensure_ascii=False).encode("utf-8", "surrogatepass")
    files = {name: Blob.of(data) for name, data in sealed(contribution, text).items()}
    findings = Findings()
    verify(LoadedBundle(Place("ada-l", blob.sha256[:16]), files), grounds, NOW, findings)
    return {finding.rule_id for finding in findings.sorted()}


def leaves(value: Any, pointer: str = "") -> Iterator[str]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from leaves(inner, f"{pointer}/{name}")
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from leaves(inner, f"{pointer}/{index}")
    else:
        yield pointer


def changed(document: Any, pointer: str, new: Any) -> Any:
    copied = copy.deepcopy(document)
    *path, last = pointer.split("/")[1:]
    inner = copied
    for step in path:
        inner = inner[int(step)] if isinstance(inner, list) else inner[step]
    key: Any = int(last) if isinstance(inner, list) else last
    inner[key] = new(inner[key]) if callable(new) else new
    return copied


def other(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    if isinstance(value, str) and value[4:5] == "-" and value.endswith("Z"):
        return value[:17] + "33Z"
    return f"{value}0"


@pytest.mark.parametrize("name", ["contribution.json", "submission.json"])
def test_every_changed_value_is_refused_or_may_vary(name: str, grounds: tuple[Tree, Grounds]) -> None:
    tree, found = grounds
    good = documents(tree)
    assert refused(good, found) == set()
    accepted = set()
    for pointer in leaves(good[name]):
        spoiled = {**good, name: changed(good[name], pointer, other)}
        if pointer == "/contribution_sha256":
            spoiled["spoiled"] = True
        if not FAILURE_TEXT.fullmatch(pointer) and not refused(spoiled, found):
            accepted.add(pointer)
    assert accepted == set(FREE[name])


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=5,
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_no_value_anywhere_crashes_the_checker(data: st.DataObject, grounds: tuple[Tree, Grounds]) -> None:
    tree, found = grounds
    good = documents(tree)
    name = data.draw(st.sampled_from(sorted(good)))
    pointer = data.draw(st.sampled_from(sorted(leaves(good[name]))))
    spoiled = {**good, name: changed(good[name], pointer, data.draw(JSON))}
    refused(spoiled, found)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_no_bytes_crash_the_checker(data: st.DataObject, grounds: tuple[Tree, Grounds]) -> None:
    tree, found = grounds
    document = bytearray(encode_indented(make_contribution(CAMPAIGN, tree.catalogue)))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(document) - 1))
        document[at : at + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=4))
    blob = Blob.of(bytes(document))
    submission = encode_indented(make_submission(CAMPAIGN, bytes(document)))
    files = {name: Blob.of(part) for name, part in sealed(bytes(document), submission).items()}
    verify(LoadedBundle(Place("ada-l", blob.sha256[:16]), files), found, NOW, Findings())
