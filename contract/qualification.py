"""Whether the runs of a comparison qualify a model for a track (evidence format, section 4.2)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from contract.catalogue import Catalogue
from contract.codes import failure
from contract.comparison import ComparisonReport, ModelQualification, ScenarioSummary
from contract.errors import UsageError
from contract.manifest import Manifest
from contract.wilson import FLOOR

TRACKS: Final = ("watch", "investigation", "remediation")


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What the catalogue says of one scenario: its manifest digest and its number of runs."""

    digest: str
    runs: int


class QualificationError(UsageError):
    """The gates cannot be applied as asked."""


def qualify(comparison: ComparisonReport, track: str, catalogue: Catalogue) -> ComparisonReport:
    """The comparison with a verdict for each model: every scenario of the track must hold every gate.

    Raises QualificationError for an unknown track and for a catalogue without a scenario of it.
    """
    digests = catalogue.digests
    wanted = {
        manifest.id: _Wanted(digests[manifest.id], manifest.repeat.qualification)
        for manifest in _scenarios_of(track, catalogue)
    }
    scenarios = tuple(_judged(summary, wanted.get(summary.scenario_id)) for summary in comparison.scenarios)
    overall = tuple(_overall_failures(comparison))
    names = sorted(summary.model for summary in comparison.models)
    verdicts = tuple(_verdict(name, track, overall, scenarios, wanted) for name in names)
    return comparison.model_copy(update={"scenarios": scenarios, "qualification": verdicts})


def known_track(track: str) -> str:
    """The track itself; QualificationError when there is none of this name."""
    if track not in TRACKS:
        raise QualificationError(f"no track {track!r}", hint="one of " + ", ".join(TRACKS))
    return track


def _scenarios_of(track: str, catalogue: Catalogue) -> tuple[Manifest, ...]:
    manifests = catalogue.track(known_track(track))
    if not manifests:
        raise QualificationError(
            f"the catalogue has no scenario of the track {track!r}",
            hint="without scenarios every model would qualify",
        )
    return manifests


def _verdict(
    model: str,
    track: str,
    overall: tuple[str, ...],
    scenarios: Sequence[ScenarioSummary],
    wanted: Iterable[str],
) -> ModelQualification:
    own = {summary.scenario_id: summary for summary in scenarios if summary.model == model}
    failures = list(overall)
    for scenario_id in wanted:
        if scenario_id in own:
            failures += (f"{scenario_id}: {text}" for text in own[scenario_id].failures)
        else:
            failures.append(failure("missing-scenario", scenario_id))
    return ModelQualification(
        model=model, track=track, qualified=not failures, failures=tuple(sorted(failures))
    )


def _judged(summary: ScenarioSummary, wanted: _Wanted | None) -> ScenarioSummary:
    failures = tuple(_scenario_failures(summary, wanted)) if wanted else ()
    qualified = wanted is not None and not failures
    return summary.model_copy(update={"qualified": qualified, "failures": failures})


def _overall_failures(comparison: ComparisonReport) -> Iterator[str]:
    """What makes the runs incomparable, and so concerns every model, also the runs of other tracks."""
    if comparison.dirty_runs > 0:
        yield failure("dirty-worktree", f"{comparison.dirty_runs} runs")
    if len(comparison.git_shas) != 1:
        yield failure(
            "mixed-harness-revisions", f"{len(comparison.git_shas)} revisions, exactly one is required"
        )
    if len(comparison.pulse_versions) != 1:
        count = len(comparison.pulse_versions)
        yield failure("mixed-or-missing-pulse-versions", f"{count} versions, exactly one is required")
    digests: dict[str, set[str]] = defaultdict(set)
    for summary in comparison.scenarios:
        digests[summary.scenario_id].update(summary.manifest_digests)
    for scenario_id, found in sorted(digests.items()):
        if len(found) != 1:
            yield failure(
                "mixed-manifests", f"{scenario_id} in {len(found)} revisions, exactly one is required"
            )


def _scenario_failures(summary: ScenarioSummary, wanted: _Wanted) -> Iterator[str]:
    if summary.manifest_digests != (wanted.digest,):
        yield failure("manifest-not-in-catalogue", "the runs' manifest is not the catalogue's")
    if summary.runs < wanted.runs:
        yield failure("too-few-runs", f"{summary.runs} of {wanted.runs}")
    if summary.passed != summary.runs:
        yield failure("not-every-run-passed", f"{summary.passed} of {summary.runs} passed")
    if summary.pass_rate.lower < FLOOR:
        yield failure("pass-rate-lower-bound", f"{summary.pass_rate.lower:.3f} below {FLOOR:.3f}")
    if summary.fault_recall.total > 0 and summary.fault_recall.lower < FLOOR:
        yield failure("recall-lower-bound", f"{summary.fault_recall.lower:.3f} below {FLOOR:.3f}")
    if summary.false_positives or summary.hard_failure_runs:
        yield failure(
            "false-positives-or-hard-failures",
            f"{summary.false_positives} false positives, {summary.hard_failure_runs} runs with hard failures",
        )
    yield from _comparability_failures(summary)


def _comparability_failures(summary: ScenarioSummary) -> Iterator[str]:
    if summary.dirty_runs > 0:
        yield failure("dirty-worktree", f"{summary.dirty_runs} runs")
    if len(summary.git_shas) > 1:
        yield failure("mixed-harness-revisions", f"{len(summary.git_shas)} revisions")
    if len(summary.manifest_digests) > 1:
        yield failure("mixed-manifests", f"{len(summary.manifest_digests)} revisions")
