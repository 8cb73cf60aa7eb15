"""The index of models, and a page for each: numbers, gates, and the way to the next class."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from generator.board import LeaderboardRow
from generator.cohort import Track
from generator.gates import Gate, ScenarioStanding, scenario_standings, validated_gates
from generator.identity import ModelIdentity
from generator.render import Page, Renderer
from generator.view import SiteView
from generator.wording import plural

TITLES = {track.value: track.title for track in Track}


@dataclass(frozen=True, slots=True)
class Section:
    """One row of the model: everything that is known about it in one cohort."""

    title: str
    row: LeaderboardRow
    gates: tuple[Gate, ...]
    standings: tuple[ScenarioStanding, ...]
    distance: str


def model_pages(view: SiteView, renderer: Renderer) -> Iterator[Page]:
    """Render the index and every model's page."""
    models = [(model, view.rows_of(model)) for model in view.models]
    yield renderer.page("models/index.md", "models.md.j2", "Models", models=models, titles=TITLES)
    for model, rows in models:
        yield _model_page(view, renderer, model, rows)


def _model_page(
    view: SiteView, renderer: Renderer, model: ModelIdentity, rows: Sequence[LeaderboardRow]
) -> Page:
    return renderer.page(
        model.page,
        "model.md.j2",
        model.name,
        wide=True,
        description=f"{model.name} as a Patrol model: pass rates with intervals, gates, and what is missing.",
        model=model,
        names=sorted({name for row in rows for name in row.pool.names}),
        sections=[_section(view, row) for row in rows],
    )


def _section(view: SiteView, row: LeaderboardRow) -> Section:
    manifests = view.manifests(row.pool)
    policy = view.registry.policy
    gates = validated_gates(row.pool, manifests, policy)
    standings = scenario_standings(row.pool, manifests, policy.community_validated)
    return Section(_title(row), row, gates, standings, distance(gates, standings))


def _title(row: LeaderboardRow) -> str:
    custom = ", custom" if row.pool.is_custom else ""
    return f"{TITLES[row.pool.cohort.track]}: {row.pool.cohort.title}{custom}"


def distance(gates: Sequence[Gate], standings: Sequence[ScenarioStanding]) -> str:
    """The way to Community validated in one sentence."""
    open_gates = [gate for gate in gates if not gate.held]
    if not open_gates:
        return "Every gate holds."
    ways = [gate for gate in open_gates if gate.id == "pinned-campaign"]
    if ways:
        return f"These runs cannot get there: {ways[0].seen}. In a pinned campaign these gates count."
    vetoed = [one for one in standings if one.veto]
    if vetoed:
        return "Out of reach in this cohort, because of " + _vetoes(vetoed) + "."
    runs = sum(one.more_runs for one in standings)
    others = [
        gate.missing for gate in open_gates if gate.id in {"contributors", "environments", "challenges"}
    ]
    return "; ".join(([f"{plural(runs, 'more clean run')}"] if runs else []) + others) + "."


def _vetoes(vetoed: Sequence[ScenarioStanding]) -> str:
    return ", ".join(f"{one.veto} on {one.manifest.id}" for one in vetoed)
