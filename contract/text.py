"""Text rules that both sides must share: white space, letter case, identifiers.

Python's own `strip`, `lower` and `casefold` differ from them in corner cases, so nothing else may be used on
exchanged text (manifest format, section 4; scoring format, "text primitives").
"""

from __future__ import annotations

import re
from typing import Final

# Unicode White_Space; `str.strip()` would also remove U+001C to U+001F.
WHITE_SPACE: Final = (
    "\t\n\v\f\r \x85\xa0\u1680"
    "\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
_SHOWN: Final = 80
IDENTIFIER: Final = re.compile(r"[a-z0-9][a-z0-9._-]{2,95}")


def trim(text: str) -> str:
    """Remove Unicode White_Space from both ends (manifest format, section 4.2)."""
    return text.strip(WHITE_SPACE)


def is_blank(text: str) -> bool:
    """Whether nothing is left after trimming."""
    return not trim(text)


def is_identifier(text: str) -> bool:
    """Whether the whole text is an id, alias, run id or container name (manifest format, section 4.1)."""
    return IDENTIFIER.fullmatch(text) is not None


def shown(text: str) -> str:
    """A text in quotes as an error may show it: on one line, nothing invisible, never much of it."""
    return repr(text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "\u2026")


def printable(text: str) -> str:
    """A path as an error may show it: what cannot be seen is escaped, what is long is cut."""
    short = text if len(text) <= 4 * _SHOWN else text[: 4 * _SHOWN - 1] + "\u2026"
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in short)


def lower(text: str) -> str:
    """Simple lower case, character by character: no final-sigma rule, and U+0130 becomes a plain `i`."""
    if text.isascii():
        return text.lower()
    return "".join("i" if char == "\u0130" else char.lower() for char in text)


def fold(text: str) -> str:
    """Unicode simple case folding: sharp s stays itself, the Kelvin sign becomes `k`."""
    if text.isascii():
        return text.lower()
    return "".join(map(_fold_char, text))


def fold_equal(left: str, right: str) -> bool:
    """Equality under Unicode simple case folding."""
    return fold(left) == fold(right)


def _fold_char(char: str) -> str:
    # A folding to several characters is a full one; the simple one, if any, is then the lower case.
    for candidate in (char.casefold(), char.lower()):
        if len(candidate) == 1:
            return candidate
    return char
