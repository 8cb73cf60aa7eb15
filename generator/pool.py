"""Pools: all runs of one model on one route in one cohort, under the same overrides."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from contract.contribution import ContributionRun
from contract.contribution_consistency import is_unscored
from generator.cohort import Cohort
from generator.identity import Directory, ModelIdentity
from generator.independence import unrelated_groups
from generator.tally import Tally, tally
from generator.verified import VerifiedBundle


@dataclass(frozen=True, slots=True, order=True)
class PoolKey:
    """What tells one row from another."""

    cohort: Cohort
    model: str
    route: str
    overrides: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Member:
    """One bundle's runs in a pool."""

    bundle: VerifiedBundle
    runs: tuple[ContributionRun, ...]


@dataclass(frozen=True, slots=True)
class Pool:
    """Every verified run behind one row; failing runs count like all others."""

    key: PoolKey
    model: ModelIdentity
    members: tuple[Member, ...]

    @property
    def cohort(self) -> Cohort:
        return self.key.cohort

    @property
    def runs(self) -> tuple[ContributionRun, ...]:
        return tuple(run for member in self.members for run in member.runs)

    @property
    def total(self) -> Tally:
        return tally(self.runs)

    @property
    def names(self) -> tuple[str, ...]:
        """The model's name as the runs spell it, each once."""
        return tuple(sorted({run.model for run in self.runs}))

    @property
    def people(self) -> tuple[frozenset[str], ...]:
        """Groups of related contributors."""
        return unrelated_groups(
            (member.bundle.submission.contributor.login, member.bundle.submission.contributor.affiliation)
            for member in self.members
        )

    @property
    def environments(self) -> tuple[str, ...]:
        return tuple(sorted({member.bundle.environment_class for member in self.members}))

    @property
    def is_custom(self) -> bool:
        """Whether something differed from the pinned campaign."""
        return bool(self.key.overrides)

    def by_scenario(self) -> dict[str, Tally]:
        """The tally of each scenario that has runs, sorted by id."""
        runs: dict[str, list[ContributionRun]] = defaultdict(list)
        for run in self.runs:
            runs[run.scenario_id].append(run)
        return {scenario: tally(runs[scenario]) for scenario in sorted(runs)}


def pools(bundles: Iterable[VerifiedBundle], directory: Directory) -> tuple[Pool, ...]:
    """Pool verified bundles, sorted by key; bundles keep the order of their export."""
    found: dict[PoolKey, list[Member]] = defaultdict(list)
    models: dict[str, ModelIdentity] = {}
    for bundle in sorted(bundles, key=lambda one: (one.contribution.generated_at.instant_ns, one.id)):
        split: dict[PoolKey, list[ContributionRun]] = defaultdict(list)
        for run, route in _routed(bundle):
            model = directory.identify(run.model)
            models[model.id] = model
            split[PoolKey(bundle.cohort, model.id, route, bundle.overrides)].append(run)
        for key, runs in split.items():
            found[key].append(Member(bundle, tuple(runs)))
    return tuple(Pool(key, models[key.model], tuple(found[key])) for key in sorted(found))


def _routed(bundle: VerifiedBundle) -> Iterator[tuple[ContributionRun, str]]:
    """Each run with its route; one that was never scored has none of its own and takes its model's."""
    routes = {run.model: run.score.cost.billing_basis for run in bundle.runs if not is_unscored(run.score)}
    for run in bundle.runs:
        yield run, run.score.cost.billing_basis or routes.get(run.model, "")
