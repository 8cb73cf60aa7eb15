"""The built site: no page without verified evidence, the same bytes from the same evidence, no dead link."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin

import pytest
from campaigns import ROOT, Tree, full, typical

from generator.rules import RULES

AS_OF = "2026-12-08T00:00:00Z"


def build(tree: Tree, target: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    for name in ("mkdocs.yml", "site", "templates", "generator"):
        if not (tree.root / name).exists():
            (tree.root / name).symlink_to(ROOT / name)
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-q", "-f", str(tree.root / "mkdocs.yml")]
    wanted = {**os.environ, "NO_MKDOCS_2_WARNING": "1", "PATROL_AS_OF": AS_OF, **environment}
    return subprocess.run(
        [*command, "-d", str(target)], env=wanted, capture_output=True, text=True, check=False
    )


def tree_digest(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


class Links(HTMLParser):
    """Collects what a page refers to, and what in it can be referred to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.targets: set[str] = set()
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in {"href", "src"} and value:
                self.targets.add(value)
            if name in {"id", "name"} and value:
                self.anchors.add(value)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site over a tree with every kind of page."""
    folder = tmp_path_factory.mktemp("site")
    tree = Tree(folder / "tree")
    full(tree)
    done = build(tree, folder / "built")
    assert done.returncode == 0, done.stderr
    return folder / "built"


def test_every_kind_of_page_is_there(built: Path) -> None:
    for page in (
        "index.html", "boards/watch.html", "boards/investigation.html", "boards/remediation.html",
        "models/index.html", "models/smollm2-135m-instruct-q4-1.html", "scenarios/index.html",
        "scenarios/watch.docker-unhealthy.html", "bundles/index.html", "calibration.html",
        "reference/rules.html", "reference/codes.html", "how-to/verify.html", "how-to/contribute.html",
        "explanation/decisions/index.html", "sitemap.xml", "search/search_index.json",
    ):  # fmt: skip
        assert (built / page).is_file(), page


def test_every_internal_link_and_anchor_resolves(built: Path) -> None:
    pages = {path: Links(path.read_text(encoding="utf-8")) for path in built.rglob("*.html")}
    broken = []
    for path, links in pages.items():
        base = f"http://site/{path.relative_to(built).as_posix()}"
        for target in links.targets:
            address, anchor = urldefrag(urljoin(base, target))
            if not address.startswith("http://site/"):
                continue
            found = built / unquote(address.removeprefix("http://site/"))
            found = found / "index.html" if found.is_dir() else found
            if path.name == "404.html" and not found.exists():
                continue  # served from any depth, so its links are absolute
            anchored = not anchor or found.suffix != ".html" or unquote(anchor) in pages[found].anchors
            if not found.is_file() or not anchored:
                broken.append((path.name, target))
    assert broken == []


def test_every_bundle_and_model_is_reached_from_the_front_page(built: Path) -> None:
    seen: set[Path] = set()
    waiting = [built / "index.html"]
    while waiting:
        page = waiting.pop()
        if page in seen or page.suffix != ".html" or not page.is_file():
            continue
        seen.add(page)
        for target in Links(page.read_text(encoding="utf-8")).targets:
            if "://" not in target:
                waiting.append(
                    Path(os.path.normpath(page.parent / unquote(urldefrag(target)[0] or page.name)))
                )
    every = set(built.rglob("*.html")) - {built / "404.html"}
    assert every - seen == set()


def test_nothing_is_asked_of_a_third_party(built: Path) -> None:
    for page in built.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        asked = re.findall(r'(?:src|<link[^>]+href)="(https?:)?//', text)
        assert asked == [], page


def test_every_rule_is_on_the_reference_page(built: Path) -> None:
    anchors = Links((built / "reference" / "rules.html").read_text(encoding="utf-8")).anchors
    assert {rule_id.lower() for rule_id in RULES} <= anchors


def test_every_failure_code_is_on_the_reference_page(built: Path) -> None:
    from contract.codes import CODES

    anchors = Links((built / "reference" / "codes.html").read_text(encoding="utf-8")).anchors
    assert set(CODES) <= anchors


def test_no_placeholder_is_left_empty(built: Path) -> None:
    for page in built.rglob("*.html"):
        assert 'data-slot="' not in page.read_text(encoding="utf-8"), page


def test_the_navigation_lists_no_bundle_and_no_model(built: Path) -> None:
    text = (built / "explanation" / "limits.html").read_text(encoding="utf-8")
    assert not re.search(r'href="[^"]*(bundles|models)/(?!index)[^"]+\.html', text)


def test_runs_on_the_reference_runtime_say_so_in_every_heading_above_their_numbers(built: Path) -> None:
    page = (built / "models" / "smollm2-135m-instruct-q4-1.html").read_text(encoding="utf-8")
    article = page[page.index("<article") : page.index("</article")]
    headings = re.findall(r"<h[23][^>]*>(.*?)<a class=\"headerlink\"", article, flags=re.DOTALL)
    assert len(headings) == 4
    assert all("reference runtime" in text.lower() for text in headings[:-1])


def test_an_empty_class_says_why(built: Path) -> None:
    board = (built / "boards" / "watch.html").read_text(encoding="utf-8")
    assert "No certifier key has been made yet" in board
    assert "No challenge has been issued yet" in board


def test_the_search_knows_every_model_scenario_and_bundle(built: Path) -> None:
    index = json.loads((built / "search" / "search_index.json").read_text(encoding="utf-8"))
    known = {entry["location"] for entry in index["docs"]}
    for folder in ("models", "scenarios", "bundles"):
        for page in (built / folder).glob("*.html"):
            assert f"{folder}/{page.name}" in known


def test_the_same_evidence_gives_the_same_bytes(tmp_path: Path) -> None:
    digests = []
    for name, seed, zone in (("one", "0", "UTC"), ("two", "4711", "Asia/Kathmandu")):
        tree = Tree(tmp_path / name)
        typical(tree)
        done = build(tree, tmp_path / f"{name}-built", PYTHONHASHSEED=seed, TZ=zone)
        assert done.returncode == 0, done.stderr
        digests.append(tree_digest(tmp_path / f"{name}-built"))
    assert digests[0] == digests[1]
    assert len(digests[0]) > 50


def test_without_git_and_without_a_moment_the_newest_export_dates_the_site(tmp_path: Path) -> None:
    tree = Tree(tmp_path / "tree")
    typical(tree)
    for path in (tree.root / "evidence").rglob("contribution.json"):
        assert b"2026-12-01T12:00:00Z" in path.read_bytes()
    wanted = {**os.environ, "GIT_DIR": str(tmp_path / "nowhere"), "PATROL_AS_OF": ""}
    code = (
        "from pathlib import Path; from generator.check import check_tree; "
        "from generator.moment import build_moment_ns; import sys; root = Path(sys.argv[1]); "
        "verdict = check_tree(root, 2**62); print(build_moment_ns(root, '', verdict.registry.bundles))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tree.root)], env=wanted, capture_output=True, text=True, check=True
    )
    assert int(done.stdout) == 1_796_126_400 * 10**9


def test_the_last_commit_of_evidence_dates_the_site(tmp_path: Path) -> None:
    from generator.moment import last_evidence_commit_ns

    def git(*words: str) -> None:
        dates = {"GIT_AUTHOR_DATE": "2026-12-03T00:00:00Z", "GIT_COMMITTER_DATE": "2026-12-03T00:00:00Z"}
        named = ["-c", "user.name=a", "-c", "user.email=a@b", *words]
        subprocess.run(
            ["git", *named], cwd=tmp_path, env={**os.environ, **dates}, check=True, capture_output=True
        )

    assert last_evidence_commit_ns(tmp_path) is None
    (tmp_path / "evidence").mkdir()
    (tmp_path / "evidence" / "policy.json").write_text("{}")
    git("init")
    git("add", "evidence")
    git("commit", "-m", "x")
    assert last_evidence_commit_ns(tmp_path) == 1_796_256_000 * 10**9


@pytest.mark.parametrize("name", ["contribution.json", "README.md", "submission.json", "SHA256SUMS"])
def test_one_changed_byte_builds_nothing_and_names_the_file(name: str, tmp_path: Path) -> None:
    tree = Tree(tmp_path / "tree")
    folder = tree.add()
    path = folder / name
    path.write_bytes(path.read_bytes().replace(b"a", b"b", 1))
    done = build(tree, tmp_path / "built")
    assert done.returncode == 1
    assert f"{folder.relative_to(tree.root).as_posix()}/{name}" in done.stderr
    assert not (tmp_path / "built").exists()


def test_a_moment_that_is_none_is_an_error(tmp_path: Path) -> None:
    tree = Tree(tmp_path / "tree")
    tree.add()
    done = build(tree, tmp_path / "built", PATROL_AS_OF="yesterday")
    assert done.returncode == 1
    assert "PATROL_AS_OF" in done.stderr


def test_an_empty_registry_builds_an_honest_site(tmp_path: Path) -> None:
    tree = Tree(tmp_path / "tree")
    done = build(tree, tmp_path / "built")
    assert done.returncode == 0, done.stderr
    front = (tmp_path / "built" / "index.html").read_text(encoding="utf-8")
    assert "Nothing has been measured yet" in front
