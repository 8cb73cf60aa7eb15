"""Names and texts that mean to be taken for something else, to break out, or that give something away."""

from __future__ import annotations

from typing import Any

import pytest
from campaigns import NOW, Campaign, Tree, contribution_of, make_contribution, resealed
from spoiling import checked, rules_of, spoil_json, spoil_submission

from generator.check import check_tree
from generator.findings import printable
from generator.pages import build_pages
from generator.readme import readme_html
from generator.render import markdown_text
from generator.view import SiteView

NAMES = {
    "right-to-left override": "openai:gpt\u202e5",
    "zero width": "openai:gpt\u200b-5",
    "tag characters": "openai:gpt\U000e0041",
    "combining pile": "openai:gpt" + "\u0301" * 9,
    "cyrillic look-alike": "openai:gpt-\u043e",
    "full width": "openai:\uff47pt",
    "trailing newline": "openai:gpt-5\n",
    "ten thousand characters": "openai:" + "x" * 10_000,
    "markup": "openai:<script>alert(1)</script>",
    "attribute breakout": 'openai:" onmouseover=alert(1) x="',
    "unquoted attribute breakout": "openai:x onerror=alert(1)",
    "template syntax": "openai:{{7*7}}",
    "markdown link": "openai:[x](javascript:alert(1))",
    "markdown image": "openai:![x](//evil)",
    "table break": "openai:a|b",
    "code fence": "openai:```",
    "mention": "@maintainer",
    "issue reference": "#1",
    "front matter": "---",
    "table of contents": "[TOC]",
    "snippet": '--8<-- "/etc/passwd"',
    "spreadsheet formula": "=cmd|' /C calc'!A0",
    "path": "../../policy",
    "leading hyphen": "-rf",
    "spaces": "gpt 5",
    "escape sequence": "openai:\x1b[31mred",
    "workflow command": "::error::x",
}


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES.keys())
def test_a_model_with_such_a_name_is_refused_and_not_echoed(name: str, tree: Tree) -> None:
    runs = [resealed(run, model=name) for run in make_contribution(Campaign(), tree.catalogue).runs]
    tree.add_contribution(contribution_of(runs, Campaign().exported, "watch", tree.catalogue))
    assert "PQ080" in rules_of(tree)
    told = checked(tree).output
    assert told.isascii()
    assert "\x1b" not in told
    assert "::" not in told
    assert max(map(len, told.splitlines())) < 600


@pytest.mark.parametrize("login", ["Ada", "a--b", "-a", "a" * 40, "\u0430da", "a b", "<b>", "../x", "con."])
def test_a_contributor_with_such_a_name_is_refused(login: str, tree: Tree) -> None:
    spoil_submission(tree, lambda document: document["contributor"].update(login=login))
    assert "PQ071" in rules_of(tree)


UNSEEN = {
    "right-to-left override": "Example \u202eUniversity",
    "zero width": "Example\u200b University",
    "byte-order mark": "Example\ufeff University",
    "control character": "Example\x07 University",
    "line break": "Example\nUniversity",
    "line separator": "Example\u2028University",
    "private use": "Example \ue000",
    "combining pile": "Example" + "\u0301" * 5,
    "escape sequence": "\x1b[2JExample",
}


@pytest.mark.parametrize("text", UNSEEN.values(), ids=UNSEEN.keys())
def test_a_text_that_shows_something_else_than_it_holds_is_refused(text: str, tree: Tree) -> None:
    spoil_submission(tree, lambda document: document["contributor"].update(affiliation=text))
    assert rules_of(tree) == {"PQ081"}


@pytest.mark.parametrize("text", ["Universität Zürich", "東京大学", "جامعة القاهرة", "Ελλάδα"])
def test_letters_of_every_script_are_welcome_in_an_affiliation(text: str, tree: Tree) -> None:
    spoil_submission(tree, lambda document: document["contributor"].update(affiliation=text))
    assert rules_of(tree) == set()


PRIVATE = {
    "e-mail": "ask jane.doe@example.org",
    "private address": "host 192.168.1.20",
    "carrier address": "host 100.64.3.4",
    "ten net": "http://10.0.0.7:8080",
    "private v6": "host fd12:3456::1",
    "internal name": "ran on nas.local",
    "home folder": "see /ho" + "me/jane/run",
    "windows home": "C:\\Users\\jane",
    "password": "password=hunter2",
    "api key": "api_key: abcdef",
    "bearer": "Authorization: Bearer abc",
    "token": "ghp_" + "a" * 30,
    "private key": "-----BEGIN OPENSSH PRIVATE " + "KEY-----",
}


@pytest.mark.parametrize("text", PRIVATE.values(), ids=PRIVATE.keys())
@pytest.mark.parametrize("where", ["readme", "affiliation", "notice", "override"])
def test_what_looks_private_is_refused_without_repeating_it(where: str, text: str, tree: Tree) -> None:
    if where == "readme":
        tree.add(readme=f"# Hello\n\n{text}\n".encode())
    elif where == "notice":
        spoil_json(tree, lambda document: document.update(notice=text))
    elif where == "override":
        spoil_submission(tree, lambda document: document["overrides"].update(lab_image=text))
    else:
        spoil_submission(tree, lambda document: document["contributor"].update(affiliation=text))
    assert rules_of(tree) == {"PQ082"}
    assert text not in checked(tree).output


@pytest.mark.parametrize("text", ["Docker 20.10.24", "127.0.0.1", "version 6.2.0", "8.8.8.8", "a@b"])
def test_what_is_not_private_passes(text: str, tree: Tree) -> None:
    tree.add(readme=f"# Hello\n\n{text}\n".encode())
    assert rules_of(tree) == set()


INERT = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "[click](javascript:alert(1))",
    "[click](https://evil.example)",
    "<https://evil.example>",
    "![track](https://evil.example/x.png)",
    '<div data-slot="0"></div>',
    "{{ 7*7 }} {% raw %}",
    "[TOC]",
    '--8<-- "/etc/passwd"',
    "[x]: https://evil.example\n\n[x]",
    "<details open ontoggle=alert(1)>",
    "</div></article><h1>Certified</h1>",
    "# Certified\n\n## Pulse certified",
    "&lt;script&gt;",
)


@pytest.mark.parametrize("text", INERT)
def test_a_readme_is_inert(text: str) -> None:
    html = readme_html(f"before\n\n{text}\n\nafter")
    for alive in ("<script", "<img", "<a ", "<h1", "<h2", "<details", "<div", "</article"):
        assert alive not in html


def pages_with(tree: Tree, **changes: Any) -> dict[str, str]:
    tree.add(**changes)
    verdict = check_tree(tree.root, NOW)
    assert verdict.registry is not None, verdict.findings
    written = [
        "explanation/limits.md", "explanation/classes-and-gates.md",
        "explanation/why-believe-it.md", "how-to/verify.md", "how-to/contribute.md",
    ]  # fmt: skip
    pages = build_pages(SiteView(verdict.registry, NOW), written)
    return {page.path: page.text + "".join(page.slots) for page in pages}


def test_hostile_texts_that_the_checker_lets_through_are_inert_on_every_page(tree: Tree) -> None:
    text = "</script><script>alert(1)</script>{{7*7}}|`[x](javascript:alert(1))<img src=x onerror=alert(1)>"
    pages = pages_with(tree, affiliation=text, overrides={"lab_image": text}, readme=text.encode())
    assert any("alert(1)" in page for page in pages.values())
    for path, page in pages.items():
        assert "<script" not in page, path
        assert "<img" not in page, path
        assert 'href="javascript' not in page, path


def test_a_placeholder_in_a_strangers_text_is_never_filled(tree: Tree) -> None:
    from generator.render import Page

    page = Page("x.md", "", ('first <div data-slot="1"></div>', "second"))
    assert page.splice('<div data-slot="0"></div>') == 'first <div data-slot="1"></div>'


@pytest.mark.parametrize("text", ["*a* _b_ `c`", "[x](y)", "<b>", "# x", "1. x", "- x", "a|b", "&lt;", "> x"])
def test_foreign_text_in_prose_means_nothing(text: str) -> None:
    import markdown

    html = markdown.markdown(str(markdown_text(text)), extensions=["tables", "attr_list", "def_list"])
    for element in ("<em", "<strong", "<code", "<a ", "<b>", "<h1", "<ol", "<ul", "<table", "<blockquote"):
        assert element not in html


@pytest.mark.parametrize("text", ["a\x1b[31mb", "::set::x", "##[error]x", "a\nb", "\udcff", "é", "\x07"])
def test_what_is_printed_is_plain(text: str) -> None:
    shown = printable(text)
    assert shown.isascii()
    assert shown.isprintable()
    assert "::" not in shown
    assert "##[" not in shown
