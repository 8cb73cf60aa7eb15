"""The published comparison, qualification, ranking and contribution examples."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import pytest
from runs import GOLDEN, MINIMAL, WHEN

from contract.catalogue import Catalogue, build_catalogue
from contract.comparison import ComparisonReport, compare, percentile95
from contract.contribution import build_run
from contract.manifest import decode_manifest
from contract.qualification import QualificationError, qualify
from contract.record import encode_compact, zero
from contract.report import PhaseTiming, RunReport
from contract.timestamps import Timestamp
from contract.truth import PredicateObservation

OTHER = MINIMAL.replace("watch.tin-loom", "watch.other-loom")


def catalogue(*texts: str) -> Catalogue:
    return build_catalogue((f"{at}.json", text.encode()) for at, text in enumerate(texts))


def report(
    model: str,
    *,
    manifest: str = MINIMAL,
    passed: bool = True,
    git_sha: str = "s1",
    dirty: bool = False,
    pulse_version: str = "v1",
    usd: float | None = None,
    **score: Any,
) -> RunReport:
    blank = zero(RunReport)
    cost = blank.score.cost.model_copy(update={"usd": usd or 0.0, "known": usd is not None})
    environment = {"model": model, "git_sha": git_sha, "git_dirty": dirty, "pulse_version": pulse_version}
    return blank.model_copy(
        update={
            "manifest": decode_manifest(manifest.encode()),
            "passed": passed,
            "environment": blank.environment.model_copy(update=environment),
            "score": blank.score.model_copy(update={"cost": cost, **score}),
        }
    )


def alpha(runs: int) -> list[RunReport]:
    return [
        report(
            "m:alpha",
            usd=0.001 * i,
            faults=1,
            true_positives=1,
            end_to_end_latency_ns=i * 10**9 + 999_999,
            collection_latency_ns=500_000_000,
            input_tokens=99 + i,
            output_tokens=10,
        )
        for i in range(1, runs + 1)
    ]


def beta() -> list[RunReport]:
    return [
        report(
            "m:beta",
            passed=i != 7,
            faults=1,
            true_positives=1,
            end_to_end_latency_ns=2 * 10**9,
            collection_latency_ns=10**9,
            input_tokens=50,
            output_tokens=5,
        )
        for i in range(22)
    ]


def gamma() -> RunReport:
    return report(
        "m:gamma",
        manifest=OTHER,
        usd=0.5,
        git_sha=" s2 ",
        dirty=True,
        pulse_version="",
        false_positives=1,
        hard_failures=("patrol-run-error: x",),
        end_to_end_latency_ns=10**9,
        collection_latency_ns=10**9,
        input_tokens=1,
        output_tokens=1,
    )


def codes(failures: Iterable[str]) -> list[str]:
    return sorted(" ".join(part for part in text.split(": ")[:-1]) for text in failures)


def with_codes(comparison: ComparisonReport) -> dict[str, Any]:
    """A comparison as JSON, with bare codes in place of texts."""
    document: dict[str, Any] = json.loads(encode_compact(comparison))
    for entry in [*document["scenarios"], *document.get("qualification", ())]:
        if "failures" in entry:
            entry["failures"] = codes(entry["failures"])
    return document


def published(document: dict[str, Any]) -> dict[str, Any]:
    for entry in [*document["scenarios"], *document.get("qualification", ())]:
        if "failures" in entry:
            entry["failures"] = sorted(text.replace(": ", " ") for text in entry["failures"])
    return document


def test_three_models_compare_and_qualify_as_published() -> None:
    reports = [*alpha(22), *beta(), gamma()]
    judged = qualify(compare(reports, WHEN).report, "watch", catalogue(MINIMAL, OTHER))
    assert with_codes(judged) == published(json.loads(json.dumps(GOLDEN["comparison"])))


def test_qualifying_again_gives_the_same_verdict() -> None:
    once = qualify(compare([*alpha(3), gamma()], WHEN).report, "watch", catalogue(MINIMAL, OTHER))
    assert qualify(once, "watch", catalogue(MINIMAL, OTHER)) == once


@pytest.mark.parametrize(("runs", "name"), [(22, "comparison_qualified"), (21, "comparison_21")])
def test_22_perfect_runs_qualify_and_21_do_not(runs: int, name: str) -> None:
    judged = qualify(compare(alpha(runs), WHEN).report, "watch", catalogue(MINIMAL))
    wanted = published({"scenarios": [], "qualification": json.loads(json.dumps(GOLDEN[name]))})
    assert with_codes(judged)["qualification"] == wanted["qualification"]


# Where the published examples show another tool and the formats decide differently.
DEVIATIONS = {"comparison_empty_track": "a track without scenarios is an error, not a vacuous success"}


def test_a_track_without_scenarios_qualifies_nobody() -> None:
    assert GOLDEN["comparison_empty_track"][0]["qualified"], DEVIATIONS["comparison_empty_track"]
    with pytest.raises(QualificationError, match="no scenario of the track 'remediation'"):
        qualify(compare(alpha(22), WHEN).report, "remediation", catalogue(MINIMAL))


def test_ranking_is_as_published() -> None:
    one: dict[str, Any] = {"faults": 1, "true_positives": 1}
    reports = [
        report("m:failed", passed=False, usd=0.0001, **one),
        report("m:halfrecall", usd=0.0001, faults=2, true_positives=1),
        report("m:unknown", **one),
        report("m:known-expensive", usd=0.9, **one),
        report("m:known-cheap", usd=0.1, **one),
    ]
    ranked = compare(reports, WHEN).report.models
    assert [summary.model for summary in ranked] == GOLDEN["ranking"]


@pytest.mark.parametrize("case", GOLDEN["percentile_index"], ids=lambda case: str(case["n"]))
def test_the_95th_percentile_is_the_nearest_rank(case: dict[str, int]) -> None:
    assert percentile95(range(case["n"]), -1) == case["index_zero_based_p95"]


def test_percentiles_are_as_published() -> None:
    for case in GOLDEN["percentile_values"]:
        values = case["values"] if isinstance(case["values"], list) else range(20, 0, -1)
        assert percentile95(values, 0) == case["p95"]


def contribution_report() -> RunReport:
    blank = report(
        "acme:m&1",
        git_sha="abc123",
        pulse_version="v<9>",
        faults=3,
        true_positives=1,
        missed_faults=2,
        recall=1 / 3,
        resource_accuracy=1.0,
        input_tokens=7,
        collection_latency_ns=1_999_999,
        patrol_latency_ns=3_000_000,
        end_to_end_latency_ns=999_999,
        hard_failures=("h",),
        gate_failures=("g", "g"),
    )
    cost = {
        "provider": "acme",
        "model": "m&1",
        "usd": 5e-7,
        "known": True,
        "billing_basis": "metered_api",
        "budget_applicable": True,
        "pricing_as_of": "2031-01-01",
        "input_usd_per_mtok": 1.5,
    }
    environment = {
        "provider": "acme",
        "captured_at": Timestamp("2031-02-03T04:05:06.120+02:00"),
        "community_challenge_nonce": " 0123456789abcdef ",
    }
    phase = zero(PhaseTiming).model_copy(update={"name": "preflight", "passed": True})
    return blank.model_copy(
        update={
            "environment": blank.environment.model_copy(update=environment),
            "score": blank.score.model_copy(update={"cost": blank.score.cost.model_copy(update=cost)}),
            "phases": (phase, phase.model_copy(update={"passed": False})),
            "post_patrol_oracle": (zero(PredicateObservation),),
            "teardown": blank.teardown.model_copy(update={"passed": True}),
            "errors": ("e",),
        }
    )


def test_a_run_is_exported_and_digested_as_published() -> None:
    wanted = GOLDEN["contribution_digest"]
    run = build_run(contribution_report(), b"{}\n", None)
    bare = run.model_copy(update={"evidence_digest_sha256": ""})
    assert encode_compact(bare).decode() == wanted["canonical_without_digest"]
    assert run.evidence_digest_sha256 == wanted["evidence_digest_sha256"]


def test_a_replay_changes_the_digest_as_published() -> None:
    wanted = GOLDEN["contribution_digest_with_replay"]
    run = build_run(contribution_report(), b"{}\n", wanted["replay_file_bytes"].encode())
    assert run.source_replay_sha256 == wanted["source_replay_sha256"]
    assert run.evidence_digest_sha256 == wanted["evidence_digest_sha256"]
