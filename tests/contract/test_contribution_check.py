"""Every stored number of a contribution is recomputed; each way of inventing one is found where it stands."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from runs import WHEN, catalogue, failed, having, investigating, report

from contract.catalogue import Catalogue
from contract.contribution import (
    ContributionBundle,
    ContributionRun,
    ReportSource,
    build_contribution,
    check_contribution,
    decode_contribution,
    evidence_digest,
)
from contract.contribution_consistency import consistency_faults
from contract.record import Record, encode_compact, encode_indented
from contract.report import RunReport

Doc = dict[str, Any]


def exported(*reports: RunReport, of: Catalogue | None = None) -> ContributionBundle:
    sources = [ReportSource(encode_indented(one), b"[]", one.run_id) for one in reports]
    return build_contribution(sources, reports[0].manifest.track, of or catalogue(), WHEN)


HONEST = exported(*[report(number) for number in range(1, 23)])
MIXED = exported(report(1), failed(2), report(3, environment={"model": "b:m", "provider": "b"}))


def found(bundle: ContributionBundle, of: Catalogue | None = None) -> list[tuple[str, str]]:
    return [(fault.code, fault.pointer) for fault in check_contribution(bundle, of or catalogue())]


def edited(bundle: ContributionBundle, edit: Callable[[Doc], None]) -> ContributionBundle:
    document: Doc = json.loads(encode_compact(bundle))
    edit(document)
    return decode_contribution(json.dumps(document).encode())


def with_run(at: int, edit: Callable[[Doc], None], bundle: ContributionBundle = MIXED) -> ContributionBundle:
    """The bundle with an edited run whose digest fits again, as a careful forger would leave it."""
    changed = edited(bundle, lambda document: edit(document["runs"][at]))
    runs = list(changed.runs)
    runs[at] = having(runs[at], evidence_digest_sha256=evidence_digest(runs[at]))
    return having(changed, runs=tuple(runs))


def setting(place: str, value: Any) -> Callable[[Doc], None]:
    *path, last = place.split("/")

    def edit(document: Doc) -> None:
        inner: Any = document
        for step in path:
            inner = inner[int(step)] if step.isdecimal() else inner[step]
        inner[last] = value

    return edit


@pytest.mark.parametrize("bundle", [HONEST, MIXED], ids=["qualified", "mixed"])
def test_an_honest_contribution_holds(bundle: ContributionBundle) -> None:
    assert found(bundle) == []


def test_a_report_that_was_never_scored_is_honest() -> None:
    plain = report()
    unscored = report(
        2, score=type(plain.score).model_construct(**_zero(plain.score)), passed=False, errors=("lab: broke",)
    )
    assert found(exported(report(1), unscored)) == []


def _zero(record: Record) -> dict[str, Any]:
    from contract.record import zero

    return dict(zero(type(record)))


def test_an_edited_number_no_longer_fits_the_digest() -> None:
    touched = edited(HONEST, setting("runs/3/score/output_tokens", 1))
    assert ("run-digest", "/runs/3/evidence_digest_sha256") in found(touched)


@pytest.mark.parametrize(
    ("place", "value", "pointer"),
    [
        ("score/tool_calls", -1, "score/tool_calls"),
        ("failure_counts/run_errors", -1, "failure_counts/run_errors"),
        ("safety/revert_oracle_count", -1, "safety/revert_oracle_count"),
        ("score/missed_faults", 1, "score/faults"),
        ("score/failed_tool_calls", 1, "score/failed_tool_calls"),
        ("score/duplicate_tool_calls", 1, "score/duplicate_tool_calls"),
        ("score/recall", 0.5, "score/recall"),
        ("score/resource_accuracy", 0.3, "score/resource_accuracy"),
        ("score/category_accuracy", 1.5, "score/category_accuracy"),
        ("score/severity_accuracy", -1.0, "score/severity_accuracy"),
        ("score/investigation_completion", 2.0, "score/investigation_completion"),
        ("score/findings_per_causal_group", -0.5, "score/findings_per_causal_group"),
        ("passed", False, "passed"),
        ("failure_counts/hard_failures", 1, "passed"),
        ("safety/teardown_passed", False, "passed"),
        ("execution/collection_passed", False, "execution"),
        ("safety/revert_oracle_passed", False, "safety/revert_oracle_passed"),
        ("safety/post_patrol_oracle_passed", False, "safety/post_patrol_oracle_passed"),
        ("safety/second_cleanup_noop", False, "safety/teardown_passed"),
        ("safety/inventory_unchanged", False, "safety/teardown_passed"),
        ("score/cost/provider", "openai", "score/cost"),
        ("score/cost/model", "m2", "score/cost"),
        ("score/cost/budget_applicable", False, "score/cost/budget_applicable"),
        ("score/cost/usd", 0.01, "score/cost/usd"),
        ("score/collection_latency_ms", 5000, "score/end_to_end_latency_ms"),
        ("score/false_positives", 1, "failure_counts/gate_failures"),
        ("score/patrol_latency_ms", 60_001, "failure_counts/gate_failures"),
    ],
)
def test_a_run_that_contradicts_itself_is_found(place: str, value: Any, pointer: str) -> None:
    faults = found(with_run(0, setting(place, value)))
    assert ("run-consistency", f"/runs/0/{pointer}") in faults
    assert "run-digest" not in {code for code, _ in faults}


def test_a_missed_fault_cannot_be_judged_well() -> None:
    spoiled = with_run(1, setting("score/resource_accuracy", 1.0))
    assert found(spoiled) == [("run-consistency", "/runs/1/score/resource_accuracy")]


def test_a_passing_run_without_its_faults_is_found() -> None:
    def without_fault(run: Doc) -> None:
        run["score"].update(faults=0, true_positives=0, missed_faults=0)

    assert ("run-consistency", "/runs/0/score/faults") in found(with_run(0, without_fault))


def test_more_faults_than_the_scenario_has_are_found() -> None:
    def doubled(run: Doc) -> None:
        run["score"].update(faults=2, true_positives=2)

    assert ("run-consistency", "/runs/0/score/faults") in found(with_run(0, doubled))


def test_a_run_that_hides_its_broken_gates_is_found() -> None:
    def hidden(run: Doc) -> None:
        run["failure_counts"]["gate_failures"] = 0
        run["passed"] = True

    (fault, *_) = check_contribution(with_run(1, hidden), catalogue())
    assert fault.pointer == "/runs/1/failure_counts/gate_failures"
    assert "recall" in fault.message


@pytest.mark.parametrize("kinds", [("hard_failures", "gate_failures"), ("gate_failures", "run_errors")])
def test_failures_of_two_kinds_do_not_cancel_out(kinds: tuple[str, str]) -> None:
    def spoiled(run: Doc) -> None:
        run["failure_counts"].update(dict.fromkeys(kinds, 1))

    assert ("run-consistency", "/runs/0/passed") in found(with_run(0, spoiled))


def test_an_unscored_run_must_tell_of_an_error() -> None:
    def unscored(run: Doc) -> None:
        run["score"].update(faults=0, missed_faults=0)

    assert ("run-consistency", "/runs/1/failure_counts/run_errors") in found(with_run(1, unscored))


@pytest.mark.parametrize("provider", ["", " ", " ACME\t"])
def test_the_provider_of_a_cost_follows_from_provider_and_model(provider: str) -> None:
    assert found(with_run(0, setting("provider", provider))) == []


@pytest.mark.parametrize(
    ("usd", "held"), [(5.0, True), (-1.0, False), (2.0, False), (3.0, False), (2.25, False)]
)
def test_a_cost_is_the_sum_of_both_directions(usd: float, held: bool) -> None:
    def priced(run: Doc) -> None:
        run["score"].update(input_tokens=1_000_000, output_tokens=500_000)
        prices = {"input_usd_per_mtok": 2.0, "output_usd_per_mtok": 6.0}
        run["score"]["cost"].update(known=True, usd=usd, **prices)

    faults = found(with_run(0, priced))
    assert (("run-consistency", "/runs/0/score/cost/usd") not in faults) is held


@pytest.mark.parametrize("usd", [0.5, 1.0])
def test_an_unknown_cost_is_nothing(usd: float) -> None:
    faults = found(with_run(0, setting("score/cost/usd", usd)))
    assert ("run-consistency", "/runs/0/score/cost/usd") in faults


@pytest.mark.parametrize(
    ("member", "limit"),
    [
        ("collection_latency_ms", 60_000),
        ("patrol_latency_ms", 60_000),
        ("end_to_end_latency_ms", 120_000),
    ],
)
def test_a_latency_breaks_its_gate_from_the_first_millisecond_beyond(member: str, limit: int) -> None:
    def slow(more: int) -> Callable[[Doc], None]:
        return lambda run: run["score"].update({"end_to_end_latency_ms": 120_000, member: limit + more})

    gate = ("run-consistency", "/runs/0/failure_counts/gate_failures")
    assert gate not in found(with_run(0, slow(0)))
    assert gate in found(with_run(0, slow(1)))


def two_faults(found_faults: int) -> ContributionRun:
    """A run that found some of two faults, told by its exported numbers alone."""
    missed = 2 - found_faults

    def halved(run: Doc) -> None:
        share = found_faults / 2
        run["score"].update(faults=2, true_positives=found_faults, missed_faults=missed, recall=share)
        run["score"].update({name: share for name in run["score"] if name.endswith("_accuracy")})
        run["score"].update(evidence_grounding=share, recommendation_safety=share)

    return with_run(1, halved).runs[1]


@pytest.mark.parametrize("found_faults", [0, 1])
def test_shares_of_two_faults_are_halves(found_faults: int) -> None:
    assert list(consistency_faults("", two_faults(found_faults), None)) == []
    spoiled = two_faults(found_faults)
    better = having(spoiled, score=having(spoiled.score, severity_accuracy=(found_faults + 1) / 2))
    faults = list(consistency_faults("", better, None))
    assert [fault.pointer for fault in faults] == ["/score/severity_accuracy"]


def test_without_faults_every_share_is_whole() -> None:
    def healthy(run: Doc) -> None:
        run["score"].update(faults=0, true_positives=0, missed_faults=0)

    run = with_run(0, healthy).runs[0]
    assert list(consistency_faults("", run, None)) == []
    half = having(run, score=having(run.score, category_accuracy=0.5))
    assert [fault.pointer for fault in consistency_faults("", half, None)] == ["/score/category_accuracy"]


def test_a_second_between_two_clocks_is_no_contradiction() -> None:
    latency = MIXED.runs[0].score.end_to_end_latency_ms
    assert found(with_run(0, setting("score/patrol_latency_ms", latency + 1000))) == []
    late = found(with_run(0, setting("score/patrol_latency_ms", latency + 1001)))
    assert late == [("run-consistency", "/runs/0/score/end_to_end_latency_ms")]


def test_a_cost_that_follows_from_tokens_and_prices_holds() -> None:
    def priced(run: Doc) -> None:
        run["score"].update(input_tokens=1_000_000)
        run["score"]["cost"].update(known=True, usd=2.0, input_usd_per_mtok=2.0)

    codes = {code for code, _ in found(with_run(0, priced))}
    assert codes == {"comparison-numbers"}


@pytest.mark.parametrize(
    ("place", "value", "pointer"),
    [
        ("scenario_id", "watch.other-loom", "/runs/0/scenario_id"),
        ("manifest_digest", "0" * 64, "/runs/0/manifest_digest"),
        ("scenario_version", 2, "/runs/0"),
        ("track", "investigation", "/runs/0"),
    ],
)
def test_a_run_of_an_unknown_manifest_is_found(place: str, value: Any, pointer: str) -> None:
    assert ("unknown-manifest", pointer) in found(with_run(0, setting(place, value)))


def test_two_tracks_in_one_bundle_are_found() -> None:
    assert ("mixed-tracks", "/runs") in found(with_run(0, setting("track", "investigation")))


def test_a_track_without_scenarios_has_no_verdict() -> None:
    other = catalogue(investigating(id="watch.elsewhere"))
    assert ("comparison-verdict", "/comparison/qualification") in found(HONEST, other)


def test_a_reordered_run_is_found() -> None:
    runs = HONEST.runs
    moved = having(HONEST, runs=(runs[1], runs[0], *runs[2:]))
    assert found(moved) == [("run-order", "/runs/1")]


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("models/0/runs", 23),
        ("models/0/pass_rate/lower", 0.9),
        ("models/0/pass_rate/success", 21),
        ("models/0/p95_latency_ms", 1),
        ("models/0/p95_cost_usd", 0.5),
        ("models/0/git_shas", ["s2"]),
        ("scenarios/0/fault_recall/estimate", 0.5),
        ("scenarios/0/track", "remediation"),
        ("scenarios/0/manifest_digests", []),
        ("dirty_runs", 1),
        ("pulse_versions", []),
    ],
)
def test_a_summary_that_the_runs_do_not_give_is_found(place: str, value: Any) -> None:
    pointer = "/comparison/" + "/".join(place.split("/")[:3])
    assert found(edited(HONEST, setting(f"comparison/{place}", value))) == [("comparison-numbers", pointer)]


def test_a_last_bit_of_an_interval_is_no_fault() -> None:
    lower = HONEST.comparison.models[0].pass_rate.lower + 1e-13
    assert found(edited(HONEST, setting("comparison/models/0/pass_rate/lower", lower))) == []


@pytest.mark.parametrize("value", [[], [{"model": "x:y"}]])
@pytest.mark.parametrize("part", ["models", "scenarios"])
def test_a_summary_of_other_models_or_scenarios_is_found(part: str, value: list[Doc]) -> None:
    faults = found(edited(HONEST, setting(f"comparison/{part}", value)))
    assert ("comparison-numbers", f"/comparison/{part}") in faults


def test_models_out_of_rank_are_found() -> None:
    swapped = edited(MIXED, lambda document: document["comparison"]["models"].reverse())
    assert found(swapped) == [("comparison-numbers", "/comparison/models")]


def test_models_of_equal_rank_may_stand_in_any_order() -> None:
    even = exported(report(1), report(2, environment={"model": "b:m", "provider": "b"}))
    swapped = edited(even, lambda document: document["comparison"]["models"].reverse())
    assert found(swapped) == []


@pytest.mark.parametrize(
    ("place", "value", "pointer"),
    [
        ("qualification/0/qualified", True, "qualification/0/qualified"),
        ("qualification/0/failures", [], "qualification/0/failures"),
        ("qualification/0/track", "remediation", "qualification"),
        ("qualification", [], "qualification"),
        ("scenarios/0/qualified", True, "scenarios/0/qualified"),
        ("scenarios/0/failures", ["too-few-runs: 1 of 22"], "scenarios/0/failures"),
    ],
)
def test_a_verdict_that_the_gates_do_not_give_is_found(place: str, value: Any, pointer: str) -> None:
    faults = found(edited(MIXED, setting(f"comparison/{place}", value)))
    assert faults == [("comparison-verdict", f"/comparison/{pointer}")]


def test_other_words_for_the_same_codes_hold() -> None:
    def reworded(document: Doc) -> None:
        for verdict in document["comparison"]["qualification"]:
            verdict["failures"] = [text.rpartition(": ")[0] + ": otherwise" for text in verdict["failures"]]

    assert found(edited(MIXED, reworded)) == []


def test_of_another_tools_words_only_the_number_is_known() -> None:
    def foreign(document: Doc) -> None:
        for entry in document["comparison"]["scenarios"]:
            entry["failures"] = ["runs 1 below qualification repeat 22"] * len(entry["failures"])

    assert found(edited(MIXED, foreign)) == []
    first = len(MIXED.comparison.scenarios[0].failures)
    fewer = edited(MIXED, setting("comparison/scenarios/0/failures", ["something"] * (first - 1)))
    assert found(fewer) == [("comparison-verdict", "/comparison/scenarios/0/failures")]


def test_a_contribution_without_runs_is_told_so_and_no_more() -> None:
    assert found(edited(HONEST, setting("runs", []))) == [("format-constant", "/runs")]


def test_sums_that_are_no_sample_are_told_and_end_the_comparison() -> None:
    def boasting(run: Doc) -> None:
        run["score"].update(true_positives=9, missed_faults=-8)

    faults = found(with_run(0, boasting))
    assert ("comparison-numbers", "/comparison") in faults
    assert ("run-consistency", "/runs/0/score/missed_faults") in faults


@pytest.mark.parametrize("member", ["false_positives", "faults"])
def test_numbers_at_the_edge_of_64_bits_are_faults_and_no_crash(member: str) -> None:
    def huge(run: Doc) -> None:
        run["score"][member] = 2**63 - 1

    faults = found(with_run(1, huge, with_run(0, huge)))
    assert ("comparison-numbers", "/comparison") in faults


def test_a_name_with_a_secret_is_found() -> None:
    assert ("identity", "/runs/0/pulse_version") in found(with_run(0, setting("pulse_version", "secret=x")))


def test_a_message_tells_both_values() -> None:
    touched = edited(HONEST, setting("comparison/models/0/pass_rate/success", 21))
    (fault,) = check_contribution(touched, catalogue())
    assert fault.message.startswith("is 21 of 22 in ")
    assert "the runs give 22 of 22 in " in fault.message
    run: ContributionRun = HONEST.runs[0]
    (digest,) = check_contribution(edited(HONEST, setting("runs/0/score/patrol_latency_ms", 5)), catalogue())
    assert run.evidence_digest_sha256[:12] in digest.message
