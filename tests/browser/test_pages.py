"""Every kind of page in a real browser: readable by everybody, at every width, without outside help."""

from __future__ import annotations

import re
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe

pytestmark = pytest.mark.browser

WIDTHS = (360, 1280)
CHIEF = ("front", "board", "model", "bundle")
OTHER = ("empty board", "bundles", "compare", "scenario", "calibration", "rules", "prose")
LOOKS = [
    *((kind, width, scheme) for kind in CHIEF for width in WIDTHS for scheme in ("light", "dark")),
    *((kind, *look) for kind in OTHER for look in ((360, "light"), (1280, "dark"))),
]
"""The pages that people come for in every look, the others in the two that differ most."""


@pytest.mark.parametrize(("kind", "width", "scheme"), LOOKS)
def test_a_page_is_accessible_fits_and_complains_of_nothing(
    kind: str, width: int, scheme: str, site: Any, opened: Any
) -> None:
    with opened(site.kinds[kind], width, scheme) as seen:
        # Colours fade in after load; a rule about contrast must see them at rest.
        seen.page.wait_for_timeout(500)
        results = Axe().run(seen.page)
        broken = {
            rule["id"]: [node["target"] for node in rule["nodes"]] for rule in results.response["violations"]
        }
        assert broken == {}
        assert seen.page.locator("html").evaluate("element => element.scrollWidth") <= width
        assert seen.page.locator("h1").count() == 1
        assert seen.complaints == []


@pytest.mark.parametrize("kind", CHIEF)
def test_without_javascript_a_page_says_the_same_and_fits_a_phone(kind: str, site: Any, opened: Any) -> None:
    with opened(site.kinds[kind], 360, script=False) as seen:
        box = seen.page.locator("article").bounding_box()
        assert box is not None
        assert box["width"] <= 360
        assert seen.page.locator("article table").count() > 0
        assert seen.complaints == []


def test_the_answer_stands_in_the_first_screen(site: Any, opened: Any) -> None:
    for width in WIDTHS:
        with opened("index.html", width) as seen:
            box = seen.page.locator(".q-answer").bounding_box()
            assert box is not None
            assert box["y"] + box["height"] < 800


def test_dark_is_dark_also_without_javascript(site: Any, opened: Any) -> None:
    colours = []
    for script in (True, False):
        with opened("boards/watch.html", 1280, "dark", script=script) as seen:
            seen.page.wait_for_timeout(500)
            picture = seen.page.screenshot(clip={"x": 10, "y": 300, "width": 4, "height": 4})
            colours.append(picture)
    assert colours[0] == colours[1]


def test_every_page_says_that_the_reference_runtime_is_not_pulse(site: Any, opened: Any) -> None:
    with opened("models/smollm2-135m-instruct-q4-1.html", 1280) as seen:
        headings = seen.page.locator("h2, h3").all_inner_texts()
        told = [text for text in headings if "does not say" not in text]
        assert told
        assert all("reference runtime" in text.lower() for text in told)


def test_from_the_front_page_to_a_bundle_by_keyboard_alone(site: Any, opened: Any) -> None:
    with opened("index.html", 1280) as seen:
        page = seen.page
        page.get_by_role("link", name="SmolLM2 135M Instruct Q4_1").first.focus()
        page.keyboard.press("Enter")
        page.wait_for_url("**/models/*.html")
        page.locator(".q-facts a[href^='../bundles/']").first.focus()
        page.keyboard.press("Enter")
        page.wait_for_url("**/bundles/*.html")
        assert page.get_by_role("heading", level=1).inner_text().startswith("Bundle ")


def test_the_search_finds_a_model_a_scenario_and_a_bundle(site: Any, opened: Any) -> None:
    name = site.kinds["bundle"].removeprefix("bundles/").removesuffix(".html")
    with opened("index.html", 1280) as seen:
        field = seen.page.locator(".md-search__input")
        found = seen.page.locator(".md-search-result__link")
        field.click()
        for text, target in (
            ("SmolLM2", "models/smollm2-135m-instruct-q4-1.html"),
            ("watch.docker-unhealthy", "scenarios/watch.docker-unhealthy.html"),
            (name, f"bundles/{name}.html"),
        ):
            field.fill("")
            field.press_sequentially(text)
            found.and_(seen.page.locator(f"[href*='{target}']")).first.wait_for(timeout=10_000)


def test_the_front_page_weighs_little(site: Any) -> None:
    page = site.folder / "index.html"
    linked = re.findall(r'<link rel="stylesheet" href="([^"]+)"', page.read_text(encoding="utf-8"))
    assert linked
    sheets = sum((site.folder / sheet).stat().st_size for sheet in linked)
    assert page.stat().st_size + sheets <= 200_000
