"""report.md: one run for people (evidence format, section 2.1)."""

from __future__ import annotations

from collections.abc import Iterator

from contract.durations import format_duration
from contract.manifest_records import InvestigationSpec
from contract.markdown import cell, code, table
from contract.pricing import CONTROL
from contract.report import InvestigationSession, RunReport
from contract.score import CostEstimate, MatchResult
from contract.scoring.investigations import evidence_calls


def render_report(report: RunReport) -> str:
    """The report as Markdown: verdict, metrics, failures if any, matches, teardown."""
    parts = [
        f"# {cell(report.manifest.title)}\n",
        "".join(f"- {line}\n" for line in _summary(report)),
        "## Metrics\n",
        table(("metric", "value"), _metrics(report)),
        *_failures(report),
        "## Fault matches\n",
        "".join(f"- {_match(match)}\n" for match in report.score.matches or ()) or "No fault was active.\n",
        "## Teardown\n",
        "".join(f"- {line}\n" for line in _teardown(report)),
    ]
    return "\n".join(parts)


def _summary(report: RunReport) -> Iterator[str]:
    manifest, environment = report.manifest, report.environment
    yield f"Verdict: **{'PASS' if report.passed else 'FAIL'}**"
    yield f"Scenario: {code(manifest.id)} version {manifest.version}"
    yield f"Track: {cell(manifest.track)}"
    yield f"Model: {code(environment.model)}{_subject(report)}"
    yield f"Pulse version: {code(environment.pulse_version)}"
    yield f"Harness revision: {code(environment.git_sha)}{' (dirty)' if environment.git_dirty else ''}"
    yield f"Run: {code(report.run_id)}"


def _subject(report: RunReport) -> str:
    if report.score.cost.billing_basis != CONTROL:
        return ""
    return " (a control: a subject of known behaviour that tests the benchmark, not a model)"


def _metrics(report: RunReport) -> Iterator[tuple[str, str]]:
    score = report.score
    yield "recall", _percent(score.recall)
    yield "false positives", str(score.false_positives)
    yield "resource accuracy", _percent(score.resource_accuracy)
    yield "category accuracy", _percent(score.category_accuracy)
    yield "severity accuracy", _percent(score.severity_accuracy)
    yield "evidence grounding", _percent(score.evidence_grounding)
    if report.manifest.track != "watch" and report.manifest.investigation is not None:
        yield from _investigation_metrics(report, report.manifest.investigation)
    yield "duplicate tool calls", str(score.duplicate_tool_calls)
    yield "collection latency", format_duration(score.collection_latency_ns)
    yield "Patrol latency", format_duration(score.patrol_latency_ns)
    yield "end-to-end latency", format_duration(score.end_to_end_latency_ns)
    yield "input tokens", str(score.input_tokens)
    yield "output tokens", str(score.output_tokens)
    yield "estimated cost", _cost(score.cost)


def _investigation_metrics(report: RunReport, spec: InvestigationSpec) -> Iterator[tuple[str, str]]:
    score, sessions = report.score, report.investigations.values()
    yield "investigation completion", _percent(score.investigation_completion)
    yield "investigation grounding", _percent(score.investigation_grounding)
    if spec.root_cause_resources:
        yield "root-cause grounding", _percent(score.root_cause_grounding)
    if spec.affected_resources:
        yield "affected-resource grounding", _percent(score.affected_resource_grounding)
    yield "model turns", str(sum(session.turn_count for session in sessions))
    yield "evidence calls", str(sum(map(evidence_calls, sessions)))
    yield "investigation tool calls", str(sum(map(_tool_calls, sessions)))
    yield "distinct tools", str(len({tool for session in sessions for tool in session.tools_used or ()}))
    if spec.max_evidence_calls > 0:
        yield "evidence-call ceiling (a safety limit)", str(spec.max_evidence_calls)


def _tool_calls(session: InvestigationSession) -> int:
    return session.tool_call_count or len(session.evidence_ids or ())


def _failures(report: RunReport) -> Iterator[str]:
    entries = (*report.score.hard_failures, *report.score.gate_failures, *report.errors)
    if entries:
        yield "## Failures\n"
        yield "".join(f"- {cell(entry)}\n" for entry in entries)


def _match(match: MatchResult) -> str:
    if not match.detected:
        return f"{code(match.fault_id)}: missed"
    flaws = [
        name
        for name, good in (
            ("late", match.timely),
            ("other resource", match.resource_correct),
            ("other resource type", match.resource_type_correct),
            ("other category", match.category_correct),
            ("other severity", match.severity_correct),
            ("evidence not grounded", match.evidence_grounded),
            ("recommendation not safe", match.recommendation_safe),
        )
        if not good
    ]
    latency = format_duration(match.detection_latency_ns)
    text = f"{code(match.fault_id)}: found by {code(match.finding_id)} after {latency}"
    return f"{text}; {', '.join(flaws)}" if flaws else text


def _teardown(report: RunReport) -> Iterator[str]:
    teardown = report.teardown
    yield f"passed: {_yes(teardown.passed)}"
    yield f"second cleanup removed nothing: {_yes(teardown.second_cleanup_noop)}"
    yield f"inventory unchanged: {_yes(teardown.inventory_unchanged)}"


def _cost(cost: CostEstimate) -> str:
    if not cost.budget_applicable and cost.billing_basis:
        return f"unknown ({cell(cost.billing_basis)})"
    return f"${cost.usd:.4f}" if cost.known else "unknown"


def _percent(share: float) -> str:
    return f"{share * 100:.1f}%"


def _yes(held: bool) -> str:
    return "yes" if held else "no"
