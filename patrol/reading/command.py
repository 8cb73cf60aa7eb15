"""Tells commands that only read from all others, over argument vectors and without a shell (section 7.3)."""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from patrol.reading.rules import NETWORK_READS, READS

LONGEST = 4096
OPERATORS = frozenset(";&|<>`")
_SECRET_PATHS = re.compile(
    r"(^|/)g?shadow-?$|(^|/)\.ssh(/|$)|(^|/)id_(rsa|dsa|ecdsa|ed25519)|/proc/[^/]+/(task/[^/]+/)?environ"
    r"|(^|/)\.(aws|kube|docker)/|/(var/)?run/secrets|\.(pem|key|p12|pfx|jks|kdbx)$"
    r"|(^|/)\.(netrc|pgpass|git-credentials|env|npmrc|pypirc)|/etc/ssl/private|/etc/sudoers|docker\.sock",
    re.IGNORECASE,
)


class Outcome(StrEnum):
    """What a command may do; only the first two are ever dispatched."""

    CERTAIN = "read_certain"
    CONDITIONAL = "read_conditional"
    REFUSED = "write_or_unknown"
    SENSITIVE = "sensitive"


@dataclass(frozen=True, slots=True)
class Reading:
    """The verdict on one command; `argv` is what may be executed, empty where nothing may."""

    outcome: Outcome
    argv: tuple[str, ...] = ()

    @property
    def allowed(self) -> bool:
        return bool(self.argv)


def classify_command(text: str) -> Reading:
    """Judge one command line. What cannot be parsed without doubt is refused."""
    if len(text) > LONGEST or "\0" in text or "\n" in text or "\r" in text or _has_operator(text):
        return Reading(Outcome.REFUSED)
    try:
        argv = shlex.split(text)
    except ValueError:
        return Reading(Outcome.REFUSED)
    return classify_argv(argv)


def classify_argv(argv: Sequence[str]) -> Reading:
    """Judge one argument vector."""
    if not argv or any("\0" in word for word in argv):
        return Reading(Outcome.REFUSED)
    name, arguments = argv[0], argv[1:]
    outcome = _outcome(name, arguments)
    if outcome is Outcome.REFUSED:
        return Reading(outcome)
    if any(is_secret_path(word) for word in arguments):
        return Reading(Outcome.SENSITIVE)
    return Reading(outcome, tuple(argv))


def _outcome(name: str, arguments: Sequence[str]) -> Outcome:
    if name in READS:
        return Outcome.CERTAIN if READS[name](arguments) else Outcome.REFUSED
    if name in NETWORK_READS:
        return Outcome.CONDITIONAL if NETWORK_READS[name](arguments) else Outcome.REFUSED
    return Outcome.REFUSED


def is_secret_path(word: str) -> bool:
    """Whether a word, or the value after its `=`, names a place where secrets are kept."""
    candidates = (word, word.partition("=")[2])
    return any(_SECRET_PATHS.search(posixpath.normpath(one)) for one in candidates if one)


def _has_operator(text: str) -> bool:
    """Whether a shell would see more than words: an operator outside of quotes, or an expansion."""
    quote = ""
    place = 0
    while place < len(text):
        letter = text[place]
        if letter == "\\" and quote != "'":
            place += 2
            continue
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "'\"":
            quote = letter
        elif letter in OPERATORS:
            return True
        if quote != "'" and (letter == "`" or text[place : place + 2] in ("$(", "${")):
            return True
        place += 1
    return False
