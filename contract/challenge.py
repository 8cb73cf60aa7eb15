"""Challenges and identity texts: what may stand in evidence that is public (evidence format, 5.3 and 5.4)."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from contract.errors import UsageError
from contract.redaction import REDACTED, sanitize
from contract.text import trim

MAX_IDENTITY_BYTES: Final = 512
_CHALLENGE: Final = re.compile(r"[A-Za-z0-9._-]{16,128}")


def is_challenge(text: str) -> bool:
    """Whether a text, trimmed, is empty or a nonce of 16 to 128 plain characters."""
    trimmed = trim(text)
    return not trimmed or _CHALLENGE.fullmatch(trimmed) is not None


def normalise_challenge(text: str) -> str:
    """The trimmed challenge, or empty for none; UsageError for a text that can be neither."""
    if not is_challenge(text):
        raise UsageError(
            "the challenge is not 16 to 128 letters, digits, dots, underscores or hyphens",
            hint="use the nonce exactly as it was issued",
        )
    return trim(text)


@lru_cache(maxsize=1024)
def identity_problem(text: str) -> str:
    """Why a text must not stand as a name in public evidence; empty when it may."""
    if len(text.encode(errors="replace")) > MAX_IDENTITY_BYTES:
        return f"is longer than {MAX_IDENTITY_BYTES} bytes"
    if "\r" in text or "\n" in text:
        return "holds a line break"
    if REDACTED in text:
        return "was redacted"
    return "looks like a secret" if sanitize(text) != text else ""
