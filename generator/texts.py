"""Names and texts of strangers: plain names, visible characters, nothing private."""

from __future__ import annotations

import re
import unicodedata

PLAIN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,199}")
"""What a model, provider, version or revision may be spelled with."""

TITLE = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9 ._:/@+(),-]{0,78}[A-Za-z0-9.)+])?")
"""What the registry may call a model: titles and descriptions of pages go to the theme as they are."""

PRIVATE = (
    ("a private key", re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----")),
    ("an authorization header", re.compile(r"authorization\s*:\s*bearer\s+\S", re.IGNORECASE)),
    (
        "a password or key",
        re.compile(r"(?:api[_-]?key|api[_-]?token|password|passwd|secret)\s*[=:]\s*[^\s,\"']", re.IGNORECASE),
    ),
    (
        "a secret token",
        re.compile(r"\b(?:gh[pousr]_[A-Za-z0-9]{20,}|sk-[A-Za-z0-9_-]{20,}|AKIA[A-Z0-9]{16})"),
    ),
    (
        "an e-mail address",
        re.compile(r"(?<![A-Za-z0-9._%+-])[A-Za-z0-9._%+-]++@(?:[A-Za-z0-9-]++\.)+[A-Za-z]{2,}"),
    ),
    (
        "a private address",
        re.compile(
            r"(?<![\d.])(?:10(?:\.\d{1,3}){3}|192\.168(?:\.\d{1,3}){2}|172\.(?:1[6-9]|2\d|3[01])(?:\.\d{1,3}){2}"
            r"|169\.254(?:\.\d{1,3}){2}|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])(?:\.\d{1,3}){2})(?![\d.])"
        ),
    ),
    ("a private IPv6 address", re.compile(r"\b(?:fe80|f[cd][0-9a-f]{2}):[0-9a-f:]+", re.IGNORECASE)),
    (
        "an internal host name",
        re.compile(
            r"(?<![a-z0-9-])[a-z0-9-]++\.(?:local|lan|internal|intranet|corp|home\.arpa|localdomain)\b",
            re.IGNORECASE,
        ),
    ),
    (
        "a home folder",
        re.compile(r"(?:/home/|/Users/|/ro" + r"ot/|[A-Za-z]:\\Users\\)[^\s\"']", re.IGNORECASE),
    ),
)
"""What must not be published, by what it looks like."""

UNSEEN = frozenset({"Cc", "Cf", "Co", "Cs", "Cn", "Zl", "Zp"})
"""Categories of characters that show nothing, or something else on each machine."""
MAX_MARKS = 2
"""How many combining marks one letter may carry."""


def is_plain_name(text: str) -> bool:
    """Whether a name is plain ASCII of the allowed characters, 1 to 200 of them."""
    return PLAIN_NAME.fullmatch(text) is not None


def is_title(text: str) -> bool:
    """Whether a text may head a page: plain ASCII words, 1 to 80 characters, no markup."""
    return TITLE.fullmatch(text) is not None


def invisible(text: str, *, lines: bool = False) -> str:
    """What is wrong with the characters of a free text, or empty; line breaks and tabs only where `lines`."""
    allowed = "\n\r\t" if lines else ""
    marks = 0
    for character in text:
        category = unicodedata.category(character)
        # U+FFFD is what is left of bytes that were no text.
        if (category in UNSEEN or character == "\ufffd") and character not in allowed:
            return f"holds the character U+{ord(character):04X}"
        marks = marks + 1 if category in {"Mn", "Me"} else 0
        if marks > MAX_MARKS:
            return "piles up combining marks"
    return ""


def private(text: str) -> str:
    """What a text seems to give away ("an e-mail address"), or empty; never the value itself."""
    return next((name for name, pattern in PRIVATE if pattern.search(text)), "")
