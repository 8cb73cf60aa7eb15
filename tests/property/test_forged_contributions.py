"""However a contribution is forged, the check ends with faults and never with a crash."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, TypeAlias

from hypothesis import given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))

from runs import WHEN, catalogue, failed, report

from contract.contribution import (
    ContributionBundle,
    ReportSource,
    build_contribution,
    check_contribution,
    decode_contribution,
    encode_contribution,
    evidence_digest,
)
from contract.record import encode_compact, encode_indented

SOURCES = [ReportSource(encode_indented(one), b"[]", one.run_id) for one in (report(1), failed(2), report(3))]
HONEST = build_contribution(SOURCES, "watch", catalogue(), WHEN)
Place: TypeAlias = tuple[Any, ...]


def leaves(value: Any, path: Place = ()) -> list[Place]:
    """The path of every scalar."""
    if isinstance(value, dict):
        return [leaf for key, inner in value.items() for leaf in leaves(inner, (*path, key))]
    if isinstance(value, list):
        return [leaf for at, inner in enumerate(value) for leaf in leaves(inner, (*path, at))]
    return [path]


DOCUMENT: dict[str, Any] = json.loads(encode_compact(HONEST))
LEAVES = leaves(DOCUMENT)
NUMBERS = (
    "rate",
    "recall",
    "accuracy",
    "grounding",
    "safety",
    "completion",
    "usd",
    "estimate",
    "lower",
    "upper",
)


def like(value: Any, name: Any) -> st.SearchStrategy[Any]:
    """Other values of the same JSON type."""
    if isinstance(value, bool):
        return st.booleans()
    if isinstance(value, str):
        return st.text(max_size=20) | st.sampled_from([value, "watch", "control", "watch.tin-loom"])
    if any(part in str(name) for part in NUMBERS) or name == "findings_per_causal_group":
        return st.floats(allow_nan=False, allow_infinity=False) | st.integers(-3, 3)
    return st.integers(-(2**63), 2**63 - 1) | st.integers(-3, 30)


@st.composite
def forged(draw: st.DrawFn) -> ContributionBundle:
    document = json.loads(json.dumps(DOCUMENT))
    for path in draw(st.lists(st.sampled_from(LEAVES), min_size=1, max_size=4, unique=True)):
        inner = document
        for step in path[:-1]:
            inner = inner[step]
        if path[-1] in ("generated_at", "captured_at"):
            continue
        inner[path[-1]] = draw(like(inner[path[-1]], path[-1]))
    return decode_contribution(json.dumps(document).encode())


@settings(max_examples=300)
@given(forged())
def test_a_forged_contribution_is_judged_and_never_crashes_the_check(bundle: ContributionBundle) -> None:
    faults = check_contribution(bundle, catalogue())
    for fault in faults:
        assert fault.pointer.startswith("/")
        assert fault.hint
    assert bool(faults) or encode_contribution(bundle)


@given(st.integers(0, 2), st.data())
def test_a_changed_run_always_has_another_digest(at: int, data: st.DataObject) -> None:
    honest = HONEST.runs[at]
    mine = [path for path in LEAVES if path[:2] == ("runs", at) and path[-1] != "evidence_digest_sha256"]
    path = data.draw(st.sampled_from([path for path in mine if path[-1] != "captured_at"]))
    document = json.loads(json.dumps(DOCUMENT))
    inner = document
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = data.draw(like(inner[path[-1]], path[-1]))
    run = decode_contribution(json.dumps(document).encode()).runs[at]
    assert (evidence_digest(run) == honest.evidence_digest_sha256) is (
        encode_compact(run) == encode_compact(honest)
    )
