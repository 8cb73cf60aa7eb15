"""Every generated page of the site, from one verified view of the registry."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from generator.cohort import Track
from generator.pages.boards import board_pages
from generator.pages.bundles import bundle_pages
from generator.pages.calibration import calibration_page
from generator.pages.compare import compare_page
from generator.pages.front import front_page
from generator.pages.models import model_pages
from generator.pages.reference import reference_pages
from generator.pages.scenarios import scenario_pages, shown_scenarios
from generator.render import Page, Renderer
from generator.view import SiteView

FIXED = (
    "index.md",
    "models/index.md",
    "scenarios/index.md",
    "bundles/index.md",
    "compare.md",
    "calibration.md",
    "reference/rules.md",
    "reference/codes.md",
)


def page_paths(view: SiteView) -> Iterator[str]:
    """The source path of every page that will be generated."""
    yield from FIXED
    yield from (track.page for track in Track)
    yield from (model.page for model in view.models)
    yield from (bundle.page for bundle in view.bundles)
    yield from (scenario.page for scenario in shown_scenarios(view))


def build_pages(view: SiteView, written: Iterable[str]) -> tuple[Page, ...]:
    """Render all pages; `written` are the hand-written ones that they may link to.

    Raises UnknownPageError for a link to a page that does not exist.
    """
    renderer = Renderer((*page_paths(view), *written))
    return (
        front_page(view, renderer),
        *board_pages(view, renderer),
        *model_pages(view, renderer),
        *scenario_pages(view, renderer),
        *bundle_pages(view, renderer),
        compare_page(view, renderer),
        calibration_page(view, renderer),
        *reference_pages(renderer),
    )
