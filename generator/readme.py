"""A contributor's README as inert HTML: the only prose of strangers that the site shows."""

from __future__ import annotations

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup


def readme_html(text: str) -> Markup:
    """CommonMark without HTML, links, images and headings of its own; text and code stay."""
    parser = MarkdownIt("commonmark", {"html": False, "linkify": False}).enable("table")
    return Markup(parser.renderer.render(_inert(parser.parse(text)), parser.options, {}))  # noqa: S704


def _inert(tokens: list[Token]) -> list[Token]:
    kept = []
    for token in tokens:
        if token.children:
            token.children = [_defused(child) for child in token.children if not _is_link(child)]
        if token.type in {"heading_open", "heading_close"}:
            # A stranger's headings must not appear in the page's outline.
            token.tag = "p"
            token.attrs = {"class": "q-heading"} if token.type == "heading_open" else {}
        kept.append(token)
    return kept


def _is_link(token: Token) -> bool:
    return token.type in {"link_open", "link_close"}


def _defused(token: Token) -> Token:
    if token.type != "image":
        return token
    return Token("text", "", 0, content=f"[image: {token.content}]" if token.content else "[image]")
