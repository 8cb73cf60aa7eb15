"""Reference pages made from tables in the code: the checker's rules and the failure codes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from contract.codes import CODES, Kind
from generator.render import Page, Renderer
from generator.rules import RULES, RULESET_VERSION


@dataclass(frozen=True, slots=True)
class KindWords:
    """How one kind of failure code is introduced."""

    title: str
    meaning: str


KINDS = {
    Kind.HARD: KindWords("Hard failures", "Something that no average excuses: one of them fails the run."),
    Kind.GATE: KindWords(
        "Gate failures", "A measured value is beyond a limit of the scenario; the run fails."
    ),
    Kind.COMPARISON: KindWords(
        "Comparison", "Why a model does not qualify on a track although single runs may have passed."
    ),
    Kind.CONTRIBUTION: KindWords("Contribution", "Why an exported campaign is not accepted as it is."),
}


def reference_pages(renderer: Renderer) -> Iterator[Page]:
    """Render the pages of rules and of failure codes."""
    groups = [(name, list(rules)) for name, rules in groupby(RULES.values(), key=lambda rule: rule.group)]
    yield renderer.page(
        "reference/rules.md",
        "rules.md.j2",
        "Checker rules",
        description="Every rule of the evidence checker: what it demands, why, and how to mend a breach.",
        ruleset=RULESET_VERSION,
        groups=groups,
    )
    yield renderer.page(
        "reference/codes.md",
        "codes.md.j2",
        "Failure codes",
        description="What each failure code of a report or a verdict means, and how to act on it.",
        groups=[
            (words, [code for code in CODES.values() if code.kind is kind]) for kind, words in KINDS.items()
        ],
    )
