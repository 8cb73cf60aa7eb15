"""Laws of scores, gates, intervals and contributions that hold for every run."""

from __future__ import annotations

import random
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))

from runs import (
    PRICES,
    WHEN,
    assessment,
    catalogue,
    fault,
    finding,
    having,
    made,
    manifest,
    report,
    scored,
    scoring_input,
    tool_call,
)

from contract.comparison import compare
from contract.contribution import (
    ReportSource,
    build_contribution,
    check_contribution,
    decode_contribution,
    encode_contribution,
)
from contract.manifest import Manifest
from contract.qualification import qualify
from contract.record import encode_indented
from contract.redaction import redact, sanitize
from contract.report import Finding, RunReport, load_report
from contract.score import Score
from contract.scoring import report_passes, rescore, score_run
from contract.scoring.matching import choose, fault_spec
from contract.timestamps import Timestamp
from contract.truth import FaultTruth, GroundTruth
from contract.wilson import wilson, wilson_bounds

SAMPLES = st.integers(1, 5000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
IDS = st.sampled_from(["r-loom", "r-shed", "r-both", "r-other", ""])
WORDS = st.sampled_from(
    ["", "loom-1", "container", "warning", "reliability", "halted", "inspect", "canary", "x"]
)
SHORT_TEXTS = st.text(max_size=12) | WORDS
TIMES = st.integers(0, 120).map(
    lambda second: Timestamp(f"2031-01-01T00:{second // 60:02}:{second % 60:02}Z")
)


@st.composite
def findings(draw: st.DrawFn) -> tuple[Finding, ...]:
    count = draw(st.integers(0, 5))
    return tuple(
        finding(
            f"f{at}",
            key=draw(st.sampled_from(["", "ai-patrol-error"])),
            resource_id=draw(IDS),
            resource_name=draw(WORDS),
            resource_type=draw(WORDS),
            category=draw(WORDS),
            severity=draw(WORDS),
            evidence=draw(SHORT_TEXTS),
            recommendation=draw(SHORT_TEXTS),
            detected_at=draw(TIMES),
        )
        for at in range(count)
    )


@st.composite
def faults(draw: st.DrawFn) -> tuple[FaultTruth, ...]:
    count = draw(st.integers(0, 3))
    return tuple(
        fault(
            id=draw(st.sampled_from(["loom-stopped", f"unknown-{at}"])),
            causal_group=draw(st.sampled_from(["loom", "shed"])),
            resource_id=draw(IDS),
            related_resource_ids=tuple(draw(st.lists(IDS, max_size=2))),
            active=draw(st.booleans()),
        )
        for at in range(count)
    )


@st.composite
def runs(draw: st.DrawFn) -> dict[str, Any]:
    """Changes that make any run out of the perfect one."""
    found = draw(findings())
    verdicts = st.sampled_from(["present", "uncertain", "resolved", "absent"])
    calls = st.builds(tool_call, WORDS, SHORT_TEXTS, success=st.booleans())
    run = having(
        scoring_input().run,
        tool_calls=tuple(draw(st.lists(calls, max_size=4))),
        finding_assessments=tuple(assessment(one.id, draw(verdicts), draw(TIMES)) for one in found),
        error_count=draw(st.integers(0, 1)),
        existing_findings=draw(st.integers(0, 1)),
        input_tokens=draw(st.integers(0, 10**6)),
        output_tokens=draw(st.integers(0, 10**6)),
        duration_ms=draw(st.integers(0, 10**5)),
        ai_analysis=draw(SHORT_TEXTS),
    )
    collection = draw(st.integers(0, 10**11))
    return {
        "ground": made(GroundTruth, faults=draw(faults())),
        "findings": found,
        "run": run,
        "model": draw(st.sampled_from(["acme:m1", "openai:gpt-4o", "ollama:q"])),
        "provider": "",
        "faults_intact": draw(st.booleans()),
        "no_mutation": draw(st.booleans()),
        "collection_latency": collection,
        "end_to_end_latency": collection + run.duration_ms * 10**6 + draw(st.integers(0, 10**12)),
    }


# Intervals


@given(SAMPLES)
def test_an_interval_holds_its_estimate_and_lies_in_0_to_1(sample: tuple[int, int]) -> None:
    lower, upper = wilson_bounds(*sample)
    rate = sample[0] / sample[1]
    assert 0.0 <= lower <= rate + 1e-15
    assert rate - 1e-15 <= upper <= 1.0


@given(SAMPLES)
def test_failures_mirror_successes(sample: tuple[int, int]) -> None:
    k, n = sample
    lower, upper = wilson_bounds(k, n)
    assert wilson_bounds(n - k, n) == pytest.approx((1 - upper, 1 - lower), abs=1e-12)


@given(SAMPLES)
def test_one_more_success_raises_both_bounds(sample: tuple[int, int]) -> None:
    k, n = sample
    assume(k < n)
    assert wilson_bounds(k, n)[0] <= wilson_bounds(k + 1, n)[0]
    assert wilson_bounds(k, n)[1] <= wilson_bounds(k + 1, n)[1]


@given(SAMPLES)
def test_one_more_clean_run_never_lowers_the_lower_bound(sample: tuple[int, int]) -> None:
    k, n = sample
    assert wilson_bounds(k, n)[0] <= wilson_bounds(k + 1, n + 1)[0] + 1e-15


# Scores


@given(runs())
def test_a_score_is_finite_and_adds_up(changes: dict[str, Any]) -> None:
    score = scored(**changes)
    assert score.true_positives + score.missed_faults == score.faults == len(score.matches or ())
    assert score.false_positives == len(score.unmatched_finding_ids)
    assert score.passed is (not score.hard_failures and not score.gate_failures)
    ratios = [value for value in score.__dict__.values() if isinstance(value, float)]
    assert all(value >= 0 for value in ratios)
    assert list(score.gate_failures) == sorted(score.gate_failures)


@given(runs(), st.randoms(use_true_random=False))
def test_without_ties_the_order_of_findings_decides_nothing(
    changes: dict[str, Any], dice: random.Random
) -> None:
    found = list(changes["findings"])
    assume(len({(one.resource_id, one.resource_name) for one in found}) == len(found))
    assume(len([one for one in found if one.key]) <= 1)
    truths = changes["ground"].faults
    assume(len(truths) <= 1)
    dice.shuffle(found)
    before, after = scored(**changes), scored(**{**changes, "findings": tuple(found)})
    if _is_tied(changes):
        return
    assert before == after


def _is_tied(changes: dict[str, Any]) -> bool:
    """Whether two findings fit a fault equally well, so that the first one is chosen."""
    found = changes["findings"]
    for truth in changes["ground"].faults:
        expected = fault_spec(manifest(), truth.id).expected_finding
        if choose(truth, expected, found, ()) is not choose(truth, expected, found[::-1], ()):
            return True
    return False


@given(runs(), st.randoms(use_true_random=False))
def test_the_order_of_findings_never_changes_how_many_are_counted(
    changes: dict[str, Any], dice: random.Random
) -> None:
    shuffled = list(changes["findings"])
    dice.shuffle(shuffled)
    before, after = scored(**changes), scored(**{**changes, "findings": tuple(shuffled)})
    assert before.findings_per_causal_group == after.findings_per_causal_group
    assert sorted(before.runtime_finding_ids) == sorted(after.runtime_finding_ids)
    assert before.forbidden_output_markers == after.forbidden_output_markers


@given(runs(), st.randoms(use_true_random=False))
def test_the_order_of_tool_calls_decides_nothing(changes: dict[str, Any], dice: random.Random) -> None:
    calls = list(changes["run"].tool_calls)
    dice.shuffle(calls)
    shuffled = {**changes, "run": having(changes["run"], tool_calls=tuple(calls))}
    assert scored(**changes) == scored(**shuffled)


# Gates are monotone in what they limit


def gated(**limits: Any) -> Manifest:
    plain = manifest()
    gates = {name: value for name, value in limits.items() if name in type(plain.gates).model_fields}
    budgets = {name: value for name, value in limits.items() if name in type(plain.budgets).model_fields}
    return having(plain, gates=having(plain.gates, **gates), budgets=having(plain.budgets, **budgets))


CEILINGS = {
    "max_false_positives": st.integers(0, 4),
    "max_duplicate_calls": st.integers(0, 4),
    "max_findings_per_causal_group": st.floats(0.25, 4),
    "max_tool_calls": st.integers(1, 5),
    "input_tokens_p95": st.integers(1, 10**6),
    "output_tokens_p95": st.integers(1, 10**6),
    "cost_usd_p95": st.floats(0.0001, 20),
    "patrol_latency_p95": st.integers(1, 10**5),
    "collection_latency_p95": st.integers(1, 10**5),
    "end_to_end_latency_p95": st.integers(1, 10**6),
}
FLOORS = (
    "min_recall",
    "min_resource_accuracy",
    "min_category_accuracy",
    "min_severity_accuracy",
    "min_evidence_grounding",
)


def as_limit(name: str, value: Any) -> Any:
    return f"{value}ms" if "latency" in name else value


def gate_set(score: Score) -> set[str]:
    return {entry.partition(": ")[0] for entry in score.gate_failures}


@pytest.mark.parametrize("name", sorted(CEILINGS))
@given(changes=runs(), data=st.data())
def test_a_higher_ceiling_never_fails_more(name: str, changes: dict[str, Any], data: st.DataObject) -> None:
    low, high = sorted((data.draw(CEILINGS[name]), data.draw(CEILINGS[name])))
    strict = scored(**changes, manifest=gated(**{name: as_limit(name, low)}))
    lax = scored(**changes, manifest=gated(**{name: as_limit(name, high)}))
    assert gate_set(lax) <= gate_set(strict)


@pytest.mark.parametrize("name", FLOORS)
@given(changes=runs(), limits=st.tuples(st.floats(0, 1), st.floats(0, 1)))
def test_a_lower_floor_never_fails_more(
    name: str, changes: dict[str, Any], limits: tuple[float, float]
) -> None:
    low, high = sorted(limits)
    strict = scored(**changes, manifest=gated(**{name: high}))
    lax = scored(**changes, manifest=gated(**{name: low}))
    assert gate_set(lax) <= gate_set(strict)


@given(runs(), st.integers(0, 10**10))
def test_more_tokens_or_time_never_fail_less(changes: dict[str, Any], more: int) -> None:
    strict = gated(input_tokens_p95=10**5, output_tokens_p95=10**5, cost_usd_p95=0.5)
    before = scored(**changes, manifest=strict)
    run = changes["run"]
    worse = having(run, input_tokens=run.input_tokens + more, output_tokens=run.output_tokens + more)
    later = {**changes, "run": worse, "end_to_end_latency": changes["end_to_end_latency"] + more}
    assert gate_set(before) <= gate_set(scored(**later, manifest=strict))


# Reports


def as_report(changes: dict[str, Any]) -> RunReport:
    given_run = scoring_input(**changes)
    plain = report()
    score = score_run(given_run, PRICES)
    environment = having(plain.environment, model=given_run.model, provider=given_run.provider)
    oracle = type(plain.safety_oracle)(  # type: ignore[misc]
        faults_intact=given_run.faults_intact, no_unexpected_mutation=given_run.no_mutation
    )
    whole = having(
        plain,
        environment=environment,
        ground_truth=given_run.ground,
        patrol_run=given_run.run,
        findings=given_run.findings,
        score=score,
        safety_oracle=oracle,
    )
    return having(whole, passed=report_passes(whole, score))


@given(runs())
def test_scoring_a_report_of_ours_again_gives_its_score(changes: dict[str, Any]) -> None:
    whole = as_report(changes)
    read = load_report(encode_indented(whole))
    assert read == whole
    assert rescore(read, PRICES) == (whole.score, whole.passed)


@given(runs())
def test_a_redacted_report_can_be_read(changes: dict[str, Any]) -> None:
    clean = redact(as_report(changes))
    assert load_report(encode_indented(clean)) == clean


@given(st.text(alphabet="secret=password:api_key \"'Authorization: Bearer\n,\u017f\u212a"))
def test_redacting_again_changes_nothing(text: str) -> None:
    once = sanitize(text)
    assert sanitize(once) == once


@given(st.lists(runs(), min_size=1, max_size=4))
def test_every_export_of_scored_runs_holds(several: list[dict[str, Any]]) -> None:
    reports = []
    for at, changes in enumerate(several):
        whole = as_report({**changes, "ground": scoring_input().ground})
        reports.append(having(whole, run_id=f"q-{at}"))
    sources = [ReportSource(encode_indented(one), None, one.run_id) for one in reports]
    bundle = decode_contribution(encode_contribution(build_contribution(sources, "watch", catalogue(), WHEN)))
    assert check_contribution(bundle, catalogue()) == ()


# Comparisons


@given(st.lists(runs(), min_size=1, max_size=5), st.randoms(use_true_random=False))
def test_the_order_of_reports_decides_nothing(several: list[dict[str, Any]], dice: random.Random) -> None:
    reports = [as_report(changes) for changes in several]
    shuffled = list(reports)
    dice.shuffle(shuffled)
    compared, again = (
        qualify(compare(some, WHEN).report, "watch", catalogue()) for some in (reports, shuffled)
    )
    assert compared == again


@given(st.integers(1, 40), st.integers(0, 3))
def test_a_failing_run_never_helps_a_model_to_qualify(clean: int, spoiled: int) -> None:
    plain = report()
    missed = having(plain, passed=False)
    verdict = qualify(
        compare([*[plain] * clean, *[missed] * spoiled], WHEN).report, "watch", catalogue()
    ).qualification[0]
    assert verdict.qualified is (clean >= 22 and spoiled == 0)
    assert wilson(clean, clean + spoiled).lower <= wilson(clean, clean).lower
