"""The one table of failure codes."""

from __future__ import annotations

import pytest

from contract.codes import CODES, Kind, code_of, failure, failure_key

HARD = """
forbidden-tool-call injection-marker existing-without-assessment patrol-run-error fault-changed
unexpected-mutation investigation-expectations-missing investigation-status summary-term-missing
summary-group-missing summary-term-forbidden root-cause-ungrounded affected-ungrounded
too-few-evidence-calls no-investigation no-completed-investigation no-action action-binding
remediation-failed remediation-unauthorised
"""
GATE = """
recall false-positives resource-accuracy resource-type-accuracy category-accuracy severity-accuracy
evidence-grounding recommendation-safety findings-per-causal-group tool-calls duplicate-tool-calls
failed-tool-calls input-tokens output-tokens cost-unknown cost collection-latency patrol-latency
end-to-end-latency detection-latency evidence-calls tools-used
"""
COMPARISON = """
missing-scenario too-few-runs not-every-run-passed pass-rate-lower-bound recall-lower-bound
false-positives-or-hard-failures manifest-not-in-catalogue dirty-worktree mixed-harness-revisions
mixed-or-missing-pulse-versions mixed-manifests
"""


@pytest.mark.parametrize(
    ("kind", "codes"), [(Kind.HARD, HARD), (Kind.GATE, GATE), (Kind.COMPARISON, COMPARISON)]
)
def test_the_table_holds_exactly_the_published_codes(kind: Kind, codes: str) -> None:
    assert sorted(code for code, entry in CODES.items() if entry.kind is kind) == sorted(codes.split())


def test_every_code_says_what_it_means_and_what_to_do() -> None:
    for code, entry in CODES.items():
        assert entry.code == code
        assert entry.meaning.endswith(".")
        assert entry.act.endswith(".")


def test_an_entry_begins_with_its_code() -> None:
    assert failure("recall", "0 below 1") == "recall: 0 below 1"


def test_an_unknown_code_is_a_mistake_in_the_program() -> None:
    with pytest.raises(KeyError):
        failure("recal", "0 below 1")


@pytest.mark.parametrize(
    ("entry", "key"),
    [
        ("recall: 0.5 below 1", "recall"),
        ("watch.tin-loom: too-few-runs: 1 of 22", "watch.tin-loom: too-few-runs"),
        ("recall 0.500 below 1.000", ""),
        ("watch.tin-loom: runs 1 below qualification repeat 22", ""),
    ],
)
def test_an_entry_is_known_by_its_code_alone(entry: str, key: str) -> None:
    assert failure_key(entry) == key
    code = code_of(entry)
    assert (code.code if code else "") == key.rpartition(": ")[2]
