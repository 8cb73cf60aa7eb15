"""What a check found: one rule broken at one place, in words that are safe to print anywhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from generator.rules import RULES, Rule

SHOWN = 160
"""Longest stretch of foreign text that a message repeats, in characters."""


def printable(text: str, limit: int = SHOWN) -> str:
    """The text as visible ASCII: no control or escape byte, no workflow command, cut at `limit`
    characters.
    """
    cut = text if len(text) <= limit else text[:limit] + "..."
    escaped = cut.encode("unicode_escape").decode("ascii").replace("\\\\", "\\")
    return escaped.replace("::", ":\\x3a").replace("##[", "#\\x23[")


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """A rule that evidence breaks: `path` relative to the tree, `pointer` into the JSON document or empty."""

    path: str
    rule_id: str
    pointer: str
    what: str

    @property
    def rule(self) -> Rule:
        return RULES[self.rule_id]

    @property
    def where(self) -> str:
        return f"{self.path}#{self.pointer}" if self.pointer else self.path


@dataclass(slots=True)
class Findings:
    """Collects every finding of one check; nothing is thrown, so that all are told at once."""

    found: list[Finding] = field(default_factory=list)

    def add(self, rule_id: str, path: PurePosixPath | str, what: str, pointer: str = "") -> None:
        """Note that `rule_id` is broken at `path`; texts are made printable here and nowhere else."""
        RULES[rule_id]
        self.found.append(Finding(printable(str(path)), rule_id, printable(pointer), printable(what, 400)))

    def sorted(self) -> tuple[Finding, ...]:
        return tuple(sorted(set(self.found)))

    def __len__(self) -> int:
        return len(self.found)


def summary(findings: Sequence[Finding], bundles: int) -> str:
    """The first line of a verdict: what holds, or what to do next."""
    noun = "bundle" if bundles == 1 else "bundles"
    if not findings:
        return f"{bundles} {noun} verified: every digest and every derived number holds."
    files = len({finding.path for finding in findings})
    faults = "1 fault" if len(findings) == 1 else f"{len(findings)} faults"
    places = f"{files} place{'' if files == 1 else 's'}"
    return f"Refused: {faults} in {places}. Mend each as told below, then check again."
