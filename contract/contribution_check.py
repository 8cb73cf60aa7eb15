"""Check every claim of a contribution that can be computed again (evidence format, sections 4 and 5)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from math import isclose
from typing import Any, Final

from contract.catalogue import Catalogue
from contract.codes import failure_key
from contract.comparison import ComparisonError, compare_trials, ranking_key
from contract.comparison_records import ComparisonReport, ModelQualification, ModelSummary, ScenarioSummary
from contract.contribution_consistency import consistency_faults
from contract.contribution_records import ContributionBundle, ContributionRun, evidence_digest, run_order
from contract.contribution_rules import ContributionFault, broken, identity_faults, structural_faults
from contract.manifest import Manifest
from contract.qualification import QualificationError, qualify
from contract.wilson import ConfidenceInterval, IntervalError

_VERDICT_MEMBERS: Final = frozenset({"qualified", "failures"})
_MODEL_MEMBERS: Final = tuple(ModelSummary.model_fields)
_SCENARIO_MEMBERS: Final = tuple(
    name for name in ScenarioSummary.model_fields if name not in _VERDICT_MEMBERS
)
_OVERALL_MEMBERS: Final = ("git_shas", "dirty_runs", "pulse_versions")


def check_contribution(bundle: ContributionBundle, catalogue: Catalogue) -> tuple[ContributionFault, ...]:
    """Every fault of a contribution: its form, its digests, its numbers, its verdict by this catalogue.

    Nothing that is stored is believed where it can be computed. Empty when everything holds.
    """
    faults = [*structural_faults(bundle), *identity_faults(bundle)]
    if not bundle.runs:
        return tuple(faults)
    digests = catalogue.digests
    manifests = {manifest.id: manifest for manifest in catalogue.manifests}
    for at, run in enumerate(bundle.runs):
        faults += _run_faults(f"/runs/{at}", run, manifests, digests)
    faults += _order_faults(bundle.runs)
    faults += _comparison_faults(bundle, catalogue)
    return tuple(faults)


def _run_faults(
    where: str, run: ContributionRun, manifests: dict[str, Manifest], digests: dict[str, str]
) -> Iterator[ContributionFault]:
    computed = evidence_digest(run)
    if run.evidence_digest_sha256 != computed:
        message = f"is {run.evidence_digest_sha256[:12]}, the run gives {computed[:12]}"
        yield broken("run-digest", f"{where}/evidence_digest_sha256", message)
    manifest = manifests.get(run.scenario_id)
    if manifest is None:
        yield broken("unknown-manifest", f"{where}/scenario_id", "the catalogue has no such scenario")
    elif run.manifest_digest != digests[run.scenario_id]:
        message = f"is {run.manifest_digest[:12]}, the catalogue has {digests[run.scenario_id][:12]}"
        yield broken("unknown-manifest", f"{where}/manifest_digest", message)
        manifest = None
    elif (run.scenario_version, run.track) != (manifest.version, manifest.track):
        yield broken("unknown-manifest", where, "version or track is not that of the manifest")
    yield from consistency_faults(where, run, manifest)


def _order_faults(runs: Sequence[ContributionRun]) -> Iterator[ContributionFault]:
    orders = [run_order(run) for run in runs]
    for at in range(1, len(orders)):
        if orders[at] < orders[at - 1]:
            yield broken("run-order", f"/runs/{at}", "belongs before the one that it follows")
    if len({run.track for run in runs}) > 1:
        yield broken("mixed-tracks", "/runs", "hold more than one track")


def _comparison_faults(bundle: ContributionBundle, catalogue: Catalogue) -> Iterator[ContributionFault]:
    stored = bundle.comparison
    try:
        computed = compare_trials((run.trial for run in bundle.runs), stored.generated_at)
    except (IntervalError, ComparisonError) as exc:
        yield broken("comparison-numbers", "/comparison", f"cannot be computed: {exc}")
        return
    yield from _members("/comparison", stored, computed, _OVERALL_MEMBERS)
    yield from _model_faults(stored, computed)
    yield from _scenario_faults(stored, computed)
    try:
        judged = qualify(computed, bundle.runs[0].track, catalogue)
    except QualificationError as exc:
        yield broken("comparison-verdict", "/comparison/qualification", f"cannot be computed: {exc}")
        return
    yield from _verdict_faults(stored, judged)


def _model_faults(stored: ComparisonReport, computed: ComparisonReport) -> Iterator[ContributionFault]:
    wanted = {summary.model: summary for summary in computed.models}
    if sorted(summary.model for summary in stored.models) != sorted(wanted):
        yield broken("comparison-numbers", "/comparison/models", "are not the models of the runs")
        return
    for at, summary in enumerate(stored.models):
        yield from _members(f"/comparison/models/{at}", summary, wanted[summary.model], _MODEL_MEMBERS)
    ranks = [ranking_key(wanted[summary.model]) for summary in stored.models]
    if ranks != sorted(ranks):
        yield broken("comparison-numbers", "/comparison/models", "are not in the order of their results")


def _scenario_faults(stored: ComparisonReport, computed: ComparisonReport) -> Iterator[ContributionFault]:
    names = [(summary.model, summary.scenario_id) for summary in stored.scenarios]
    if names != [(summary.model, summary.scenario_id) for summary in computed.scenarios]:
        message = "are not the scenarios of the runs, by model and id"
        yield broken("comparison-numbers", "/comparison/scenarios", message)
        return
    for at, (summary, wanted) in enumerate(zip(stored.scenarios, computed.scenarios, strict=True)):
        yield from _members(f"/comparison/scenarios/{at}", summary, wanted, _SCENARIO_MEMBERS)


def _verdict_faults(stored: ComparisonReport, judged: ComparisonReport) -> Iterator[ContributionFault]:
    names = [(verdict.model, verdict.track) for verdict in stored.qualification]
    if names != [(verdict.model, verdict.track) for verdict in judged.qualification]:
        message = "does not judge the models of the runs"
        yield broken("comparison-verdict", "/comparison/qualification", message)
    else:
        yield from _judgements("/comparison/qualification", stored.qualification, judged.qualification)
    if len(stored.scenarios) == len(judged.scenarios):
        yield from _judgements("/comparison/scenarios", stored.scenarios, judged.scenarios)


def _judgements(
    where: str,
    stored: Sequence[ModelQualification | ScenarioSummary],
    judged: Sequence[ModelQualification | ScenarioSummary],
) -> Iterator[ContributionFault]:
    for at, (found, wanted) in enumerate(zip(stored, judged, strict=True)):
        if found.qualified is not wanted.qualified:
            message = f"is {str(found.qualified).lower()}, the gates give {str(wanted.qualified).lower()}"
            yield broken("comparison-verdict", f"{where}/{at}/qualified", message)
        elif not _same_failures(found.failures, wanted.failures):
            message = "are not those that the gates give"
            yield broken("comparison-verdict", f"{where}/{at}/failures", message)


def _same_failures(stored: Sequence[str], wanted: Sequence[str]) -> bool:
    """Whether two lists hold the same codes; of another tool's words only the number is known."""
    keys = Counter(map(failure_key, stored))
    return len(stored) == len(wanted) if "" in keys else keys == Counter(map(failure_key, wanted))


def _members(where: str, stored: Any, wanted: Any, names: Sequence[str]) -> Iterator[ContributionFault]:
    for name in names:
        found, computed = getattr(stored, name), getattr(wanted, name)
        if not _same(found, computed):
            message = f"is {_shown(found)}, the runs give {_shown(computed)}"
            yield broken("comparison-numbers", f"{where}/{name}", message)


def _same(found: Any, computed: Any) -> bool:
    if isinstance(computed, ConfidenceInterval):
        return all(
            _same(getattr(found, name), getattr(computed, name)) for name in type(computed).model_fields
        )
    if isinstance(computed, float):
        return isclose(found, computed, rel_tol=1e-12, abs_tol=1e-12)
    return bool(found == computed)


def _shown(value: Any) -> str:
    if isinstance(value, ConfidenceInterval):
        return f"{value.success} of {value.total} in {value.lower:.4f}..{value.upper:.4f}"
    return str(value)
