"""Built sites served on a loopback port, and pages that note whatever goes wrong in them."""

from __future__ import annotations

import functools
import http.server
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))

from campaigns import ROOT, Tree, full


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass


@dataclass(frozen=True)
class Site:
    """A built site: its folder, where it is served, and one page of each kind."""

    folder: Path
    url: str

    def one(self, pattern: str) -> str:
        return min(self.folder.glob(pattern)).relative_to(self.folder).as_posix()

    @property
    def kinds(self) -> dict[str, str]:
        return {
            "front": "index.html",
            "board": "boards/watch.html",
            "empty board": "boards/remediation.html",
            "model": "models/smollm2-135m-instruct-q4-1.html",
            "bundle": self.one("bundles/[0-9a-f]*.html"),
            "bundles": "bundles/index.html",
            "scenario": "scenarios/watch.docker-unhealthy.html",
            "compare": "compare.html",
            "calibration": "calibration.html",
            "rules": "reference/rules.html",
            "prose": "explanation/classes-and-gates.html",
        }


@dataclass
class Watched:
    """A page in a context of its own, and what its loading gave to complain about."""

    page: Page
    complaints: list[str] = field(default_factory=list)


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The site over an invented tree that has every kind of page."""
    folder = tmp_path_factory.mktemp("browser")
    root = folder / "tree"
    full(Tree(root))
    for name in ("mkdocs.yml", "site", "templates", "generator"):
        (root / name).symlink_to(ROOT / name)
    environment = {**os.environ, "PATROL_AS_OF": "2026-12-08T00:00:00Z", "NO_MKDOCS_2_WARNING": "1"}
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-q", "-f", str(root / "mkdocs.yml")]
    built = folder / "built"
    done = subprocess.run([*command, "-d", str(built)], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(_Quiet, directory=str(built))
    )
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield Site(built, f"http://127.0.0.1:{server.server_port}/")
    server.shutdown()
    server.server_close()
    thread.join()


Open = Callable[..., "contextmanager[Watched]"]


@pytest.fixture
def opened(browser: Browser, site: Site) -> Callable[..., object]:
    """Opens a page of the site at a width, in a colour scheme, with or without JavaScript."""

    @contextmanager
    def open_page(path: str, width: int, scheme: str = "light", *, script: bool = True) -> Iterator[Watched]:
        context = browser.new_context(
            viewport={"width": width, "height": 800},
            color_scheme="dark" if scheme == "dark" else "light",
            java_script_enabled=script,
        )
        watched = Watched(context.new_page())
        watched.page.on("console", lambda told: watched.complaints.append(f"console: {told.text}"))
        watched.page.on("pageerror", lambda error: watched.complaints.append(f"error: {error}"))
        watched.page.on("requestfailed", lambda asked: watched.complaints.append(f"failed: {asked.url}"))
        watched.page.on("request", lambda asked: _own(asked.url, site.url, watched.complaints))
        watched.page.on("response", lambda got: _held(got.status, got.url, watched.complaints))
        watched.page.goto(site.url + path)
        watched.page.wait_for_load_state("networkidle")
        yield watched
        context.close()

    return open_page


def _own(url: str, base: str, complaints: list[str]) -> None:
    if not url.startswith((base, "data:", "blob:")):
        complaints.append(f"third party: {url}")


def _held(status: int, url: str, complaints: list[str]) -> None:
    if status >= 400:
        complaints.append(f"{status}: {url}")
