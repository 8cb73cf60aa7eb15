"""comparison.md: a comparison for people (evidence format, section 4.2)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from contract.comparison_records import ComparisonReport, ModelQualification, ModelSummary, ScenarioSummary
from contract.markdown import cell, code, table
from contract.wilson import ConfidenceInterval

_PINNED: Final = re.compile(r"@sha256:|@[0-9a-f]{12,}|[-:@](?:19|20)\d{2}-?\d{2}-?\d{2}")
_CAPABILITY: Final = {
    "watch": "It detects and hands over; it does not own a diagnosis.",
    "investigation": "It detects and diagnoses; repair needs its own track.",
    "remediation": "It detects, diagnoses and repairs by governed actions that were verified independently.",
}


def render_comparison(comparison: ComparisonReport) -> str:
    """The comparison as Markdown: recommendation, models, scenarios, comparability, failures."""
    parts = [
        "# Comparison of models\n",
        f"{_recommendation(comparison)}\n",
        "## Models\n",
        table(
            ("model", "runs passed", "pass rate", "fault recall", "false positives", "hard-failure runs",
             "p95 latency", "p95 tokens in / out", "p95 cost", "provenance"),
            map(_model_row, comparison.models),
        ),
        "Intervals are Wilson score intervals, two-sided 95 %. p95 is the nearest rank over all runs.\n",
        "## Scenarios\n",
        table(
            ("model", "scenario", "track", "runs passed", "pass rate", "fault recall", "qualified"),
            map(_scenario_row, comparison.scenarios),
        ),
        "## Comparability\n",
        "".join(f"- {line}\n" for line in _comparability(comparison)),
        *_failures(comparison),
    ]  # fmt: skip
    return "\n".join(parts)


def movable_alias(model: str) -> bool:
    """Whether a route names no revision, so that what answers behind it may change."""
    return _PINNED.search(model) is None


def _recommendation(comparison: ComparisonReport) -> str:
    verdicts = {verdict.model: verdict for verdict in comparison.qualification}
    for summary in comparison.models:
        verdict = verdicts.get(summary.model)
        if verdict is not None and verdict.qualified:
            return _recommended(summary, verdict)
    if comparison.qualification:
        return "No model qualifies, so none is recommended."
    return "No qualification gates were applied, so no model is recommended."


def _recommended(summary: ModelSummary, verdict: ModelQualification) -> str:
    capability = _CAPABILITY.get(verdict.track, "")
    return (
        f"{code(summary.model)} qualifies for the track {cell(verdict.track)} in these runs. {capability} "
        "This holds for the scenarios and the platform that were tested, and is no certification."
    )


def _model_row(summary: ModelSummary) -> tuple[str, ...]:
    return (
        code(summary.model),
        f"{summary.passed}/{summary.runs}",
        _interval(summary.pass_rate),
        _interval(summary.fault_recall),
        str(summary.false_positives),
        str(summary.hard_failure_runs),
        f"{summary.p95_latency_ms / 1000:.1f} s",
        f"{summary.p95_input_tokens} / {summary.p95_output_tokens}",
        _cost(summary),
        "movable alias" if movable_alias(summary.model) else "pinned revision",
    )


def _scenario_row(summary: ScenarioSummary) -> tuple[str, ...]:
    return (
        code(summary.model),
        code(summary.scenario_id),
        cell(summary.track),
        f"{summary.passed}/{summary.runs}",
        _interval(summary.pass_rate),
        _interval(summary.fault_recall),
        "yes" if summary.qualified else "no",
    )


def _comparability(comparison: ComparisonReport) -> Iterator[str]:
    yield f"harness revisions: {_codes(comparison.git_shas)}"
    yield f"Pulse versions: {_codes(comparison.pulse_versions)}"
    yield f"runs from a dirty worktree: {comparison.dirty_runs}"
    yield (
        "A movable alias is weaker provenance than a pinned revision: another model may answer behind it "
        "tomorrow."
    )


def _failures(comparison: ComparisonReport) -> Iterator[str]:
    failing = [verdict for verdict in comparison.qualification if not verdict.qualified]
    if failing:
        yield "## Failures\n"
    for verdict in failing:
        yield f"### {code(verdict.model)}\n"
        yield "".join(f"- {cell(text)}\n" for text in verdict.failures)


def _interval(interval: ConfidenceInterval) -> str:
    if interval.total == 0:
        return "not measured"
    return f"{interval.estimate * 100:.1f}% ({interval.lower * 100:.1f} to {interval.upper * 100:.1f})"


def _cost(summary: ModelSummary) -> str:
    return f"${summary.p95_cost_usd:.4f}" if summary.known_cost_runs == summary.runs else "unknown"


def _codes(values: tuple[str, ...]) -> str:
    return ", ".join(map(code, values)) or "not recorded"
