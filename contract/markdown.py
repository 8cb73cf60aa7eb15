"""Small Markdown: cells and code spans that hold foreign text safely (evidence format, section 4.2)."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

from contract.redaction import sanitize

_LINE_BREAKS = str.maketrans({"\r": " ", "\n": " ", "\u2028": " ", "\u2029": " "})


def cell(text: str) -> str:
    """Foreign text for a table cell or a line: redacted, escaped, on one line."""
    return html.escape(_line(text), quote=False).replace("|", "\\|")


def code(text: str) -> str:
    """Foreign text as a code span that it cannot end; also fit for a table cell."""
    return f"`{_line(text).replace('`', chr(39)).replace('|', chr(92) + '|')}`"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of finished cells."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _line(text: str) -> str:
    return sanitize(text).translate(_LINE_BREAKS)
