"""The index of bundles, and a page for each: who, what, every digest, every rule, and what it does not
prove.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from contract.contribution_consistency import is_unscored
from generator.cohort import Track
from generator.identity import ModelIdentity
from generator.layout import Kind
from generator.readme import readme_html
from generator.render import Page, Renderer
from generator.rules import RULES, RULESET_VERSION
from generator.verified import VerifiedBundle
from generator.view import SiteView
from generator.wording import NS, day

TITLES = {track.value: track.title for track in Track}


@dataclass(frozen=True, slots=True)
class Reason:
    """One reason of a verdict: the scenario it concerns (empty: all), its code, its text."""

    scenario: str
    code: str
    text: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the certification gates give for one model of a bundle."""

    text: str
    reasons: tuple[Reason, ...]


def bundle_pages(view: SiteView, renderer: Renderer) -> Iterator[Page]:
    """Render the index and every bundle's page."""
    yield renderer.page(
        "bundles/index.md",
        "bundles.md.j2",
        "Bundles of evidence",
        wide=True,
        bundles=view.bundles,
        subjects={bundle.id: [model.name for model in _models(view, bundle)] for bundle in view.bundles},
        titles=TITLES,
    )
    for bundle in view.bundles:
        yield _bundle_page(view, renderer, bundle)


def _models(view: SiteView, bundle: VerifiedBundle) -> list[ModelIdentity]:
    return [view.directory.identify(name) for name in sorted({run.model for run in bundle.runs})]


def _bundle_page(view: SiteView, renderer: Renderer, bundle: VerifiedBundle) -> Page:
    models = _models(view, bundle)
    instants = [run.captured_at.instant_ns for run in bundle.runs]
    return renderer.page(
        bundle.page,
        "bundle.md.j2",
        f"Bundle {bundle.id}",
        wide=True,
        description=f"Evidence about {', '.join(model.name for model in models)}: digests, runs, rules.",
        bundle=bundle,
        models=models,
        track_title=TITLES[bundle.cohort.track],
        prefix="Reference runtime: " if bundle.cohort.is_reference else "",
        first=day(min(instants)),
        last=day(max(instants)),
        moments=[f"{datetime.fromtimestamp(at // NS, UTC):%Y-%m-%d %H:%M:%S}" for at in instants],
        unscored=[is_unscored(run.score) for run in bundle.runs],
        verdicts=list(_verdicts(bundle)),
        ruleset=RULESET_VERSION,
        rules=[rule for rule in RULES.values() if rule.concerns_bundles],
        provenance="" if bundle.place.kind is Kind.CONTROL else _provenance(models),
        readme=readme_html(bundle.readme),
    )


def _provenance(models: list[ModelIdentity]) -> str:
    movable = [model.name for model in models if not (model.entry and model.entry.revision)]
    if movable:
        return "The name is movable: the provider may put other weights behind it at any time."
    return "The weights are pinned by the entry in the table of models."


def _verdicts(bundle: VerifiedBundle) -> Iterator[Verdict]:
    for verdict in bundle.verdicts:
        state = "would hold every gate" if verdict.qualified else "does not hold the gates of certification"
        yield Verdict(f"{verdict.model} {state}.", tuple(map(_reason, verdict.failures)))


def _reason(failure: str) -> Reason:
    """Split `<scenario>: <code>: <text>` or `<code>: <text>`; a code has no dot, a scenario id has."""
    head, _, rest = failure.partition(": ")
    if "." in head:
        code, _, text = rest.partition(": ")
        return Reason(head, code, text)
    return Reason("", head, rest)
