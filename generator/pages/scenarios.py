"""The index of scenarios, and a page for each: what breaks, how that is known, what a good answer says."""

from __future__ import annotations

from collections.abc import Iterator

from contract.manifest import Manifest, Predicate
from generator.catalogues import Scenario
from generator.cohort import Track
from generator.pool import Pool
from generator.render import Page, Renderer
from generator.tally import Tally
from generator.view import SiteView

INJECTORS = {
    "marker_enable": "its health check begins to fail while everything else goes on",
    "health_process_stop": "the helper process that its health check looks for is stopped",
    "stop": "the container is stopped",
    "disconnect_network": "it loses its network",
    "kill": "its main process is killed",
    "fill_scratch_storage": "its small scratch storage is filled to the last byte",
}


def shown_scenarios(view: SiteView) -> tuple[Scenario, ...]:
    """The present catalogue, and scenarios of released ones that it no longer has."""
    catalogues = view.registry.catalogues
    found = {one.manifest.id: one for one in catalogues.present}
    for catalogue in catalogues.known[1:]:
        for manifest_id, digest in catalogue.digests.items():
            found.setdefault(manifest_id, Scenario(catalogue.get(manifest_id), digest))
    return tuple(found[name] for name in sorted(found))


def scenario_pages(view: SiteView, renderer: Renderer) -> Iterator[Page]:
    """Render the index and every scenario's page."""
    present = view.registry.catalogues.present
    yield renderer.page(
        "scenarios/index.md",
        "scenarios.md.j2",
        "Scenarios",
        tracks=[(track, [one for one in present if one.manifest.track == track.value]) for track in Track],
        digest=view.registry.catalogues.known[0].digest if present else "",
    )
    for scenario in shown_scenarios(view):
        yield _scenario_page(view, renderer, scenario)


def _scenario_page(view: SiteView, renderer: Renderer, scenario: Scenario) -> Page:
    manifest = scenario.manifest
    return renderer.page(
        scenario.page,
        "scenario.md.j2",
        manifest.title,
        description=f"{manifest.id}: what it breaks, how that is known, what a good finding says.",
        manifest=manifest,
        digest=scenario.digest,
        track=Track(manifest.track),
        injectors=INJECTORS,
        oracle=oracle(manifest),
        standings=list(_standings(view, scenario)),
    )


def oracle(manifest: Manifest) -> list[tuple[str, tuple[Predicate, ...]]]:
    """The statements that must hold, in the order in which a run reaches them."""
    stages = [("before the fault", manifest.baseline or ())]
    for fault in manifest.faults or ():
        stages.append((f"while {fault.target} is broken", fault.oracle or ()))
        stages.append(("after the revert", fault.revert_oracle or manifest.baseline or ()))
    if manifest.remediation is not None:
        stages.append(("after the action", manifest.remediation.postconditions or ()))
    return stages


def _standings(view: SiteView, scenario: Scenario) -> Iterator[tuple[Pool, Tally]]:
    for pool in view.pools:
        digests = {run.manifest_digest for run in pool.runs if run.scenario_id == scenario.manifest.id}
        if digests == {scenario.digest}:
            yield pool, pool.by_scenario()[scenario.manifest.id]
