"""The two spellings of the command line: subcommands, or a mode among the flags."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

MODES: Final = (
    "validate",
    "list",
    "live",
    "live-suite",
    "replay",
    "verify-replay",
    "compare",
    "export-contribution",
)
SWITCHES: Final = frozenset({"allow-shared-host", "authorize-live-faults", "authorize-remediation"})
_SINGLE: Final = re.compile(r"-([a-z][a-z-]+)(=.*)?", re.DOTALL)
_SWITCH: Final = re.compile(r"--([a-z-]+)=(.*)", re.DOTALL)
_TRUE: Final = frozenset({"1", "t", "T", "true", "TRUE", "True"})
_FALSE: Final = frozenset({"0", "f", "F", "false", "FALSE", "False"})


def normalise(arguments: Sequence[str]) -> list[str]:
    """Write `-scenario X` as `--scenario X`, and `-allow-shared-host=false` as nothing.

    What follows a lone `--` is left alone.
    """
    end = arguments.index("--") if "--" in arguments else len(arguments)
    words = [
        _SINGLE.sub(r"--\1\2", word, count=1) if _SINGLE.fullmatch(word) else word for word in arguments[:end]
    ]
    plain = (_switch(word) for word in words)
    return [word for word in plain if word] + list(arguments[end:])


def speaks_in_flags(words: Sequence[str]) -> bool:
    """Whether a normalised command line names its mode by a flag, or names none at all."""
    if not words:
        return True
    return words[0].startswith("--") and words[0] not in ("--help", "--version")


def _switch(word: str) -> str:
    match = _SWITCH.fullmatch(word)
    if match is None or match[1] not in SWITCHES:
        return word
    if match[2] in _TRUE:
        return f"--{match[1]}"
    return "" if match[2] in _FALSE else word
