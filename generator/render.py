"""Turns templates into pages: Markdown with placeholders, and the HTML that takes their place."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from contract.errors import PatrolQualificationError
from generator import claims, wording
from generator.identity import route_title

PLACEHOLDER = re.compile(r'<div data-slot="(\d+)"></div>')
_MEANINGFUL = re.compile(r"[\\`*_{}\[\]<>#|~!&$^=+]|^[^\w]|^\d+(?=[.)])")


class UnknownPageError(PatrolQualificationError):
    """A page links to one that the site does not have."""


@dataclass(frozen=True, slots=True)
class Page:
    """One generated page: its path in the site's sources, its Markdown, and the HTML of each placeholder."""

    path: str
    text: str
    slots: tuple[str, ...] = ()

    def splice(self, html: str) -> str:
        """Put the HTML of every placeholder into the page that a builder made of `text`; nothing is read
        twice.
        """
        return PLACEHOLDER.sub(lambda found: self.slots[int(found[1])], html)


def templates_folder() -> Path:
    """The folder of the templates, in a checkout or in an installed wheel."""
    installed = Path(__file__).parent / "templates"
    return installed if installed.is_dir() else Path(__file__).parent.parent / "templates"


def markdown_text(text: object) -> Markup:
    """Foreign text for Markdown prose on one line: every character that could mean something is an entity."""
    line = " ".join(str(text).split())
    return Markup(_MEANINGFUL.sub(lambda found: "".join(f"&#{ord(one)};" for one in found[0]), line))  # noqa: S704


@dataclass(slots=True)
class _Drawing:
    """One page in the making."""

    path: str
    slots: list[str] = field(default_factory=list)


class Renderer:
    """Renders the templates of one site; `known` are the source paths of all its pages."""

    def __init__(self, known: Iterable[str], folder: Path | None = None) -> None:
        self._known = frozenset(known)
        self._environment = Environment(
            loader=FileSystemLoader(folder or templates_folder()),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=True,
        )
        self._environment.filters["md"] = markdown_text
        self._environment.filters["route"] = route_title
        for name in (
            "percent",
            "interval",
            "bound",
            "seconds",
            "count",
            "cost",
            "plural",
            "some",
            "day",
            "probability",
        ):
            self._environment.filters[name] = getattr(wording, name)
        self._environment.globals.update(NOT_REPORTED=wording.NOT_REPORTED, claims=claims)

    def page(self, path: str, template: str, title: str, **values: Any) -> Page:
        """Render `template` (below pages/) into the page at `path`. Raises UnknownPageError for a dead
        link.
        """
        drawing = _Drawing(path)
        values |= {"title": title, "href": self._links(path)}

        def slot(part: str, **more: Any) -> Markup:
            drawing.slots.append(self._environment.get_template(f"parts/{part}").render(values | more))
            return Markup(f'<div data-slot="{len(drawing.slots) - 1}"></div>')  # noqa: S704

        body = self._environment.get_template(f"pages/{template}").render(values | {"slot": slot})
        return Page(path, front_matter(title, values) + body, tuple(drawing.slots))

    def _links(self, path: str) -> Any:
        folder = posixpath.dirname(path)

        def href(target: str, anchor: str = "") -> str:
            if target not in self._known:
                raise UnknownPageError(f"{path} links to {target}, which is no page of this site")
            relative = posixpath.relpath(target, folder or ".")
            return f"{relative.removesuffix('.md')}.html" + (f"#{anchor}" if anchor else "")

        return href


def front_matter(title: str, values: Mapping[str, Any]) -> str:
    """Title, description and hidden sidebars as MkDocs reads them; quoted so that no text can end the
    block.
    """
    lines = [f"title: {quoted(title)}"]
    if values.get("description"):
        lines.append(f"description: {quoted(values['description'])}")
    # The navigation lists section indexes only, so beside a generated page it would be an empty column.
    lines.append("hide: [navigation, toc]" if values.get("wide") else "hide: [navigation]")
    return "---\n" + "\n".join(lines) + "\n---\n\n"


def quoted(text: str) -> str:
    """A YAML double-quoted scalar on one line."""
    inner = " ".join(text.split()).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{inner}"'
