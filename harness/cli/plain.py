"""Plain text for terminals and logs: nothing that they could obey, columns, durations."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

# Control characters, bidirectional overrides and invisible tags do not get to the terminal.
_UNSAFE: Final = re.compile(
    "[\x00-\x08\x0a-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f]"
)


def safe(text: str) -> str:
    """A text of unknown origin on one line, with what a terminal or a CI log could obey escaped."""
    escaped = _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
    return escaped.replace("::", ":\\u003a") if escaped.lstrip().startswith("::") else escaped


def safe_lines(text: str) -> str:
    """As `safe`, line by line."""
    return "\n".join(map(safe, text.split("\n")))


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns padded to their widest cell."""
    widths = [max(len(row[at]) for row in (head, *rows)) for at in range(len(head))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in (head, *rows)
    )


def seconds(duration_ns: int) -> str:
    """A duration as people read it."""
    return f"{duration_ns / 1e9:.1f} s"
