"""Exact comparison of two success rates over shared strata: no normal approximation, no random draw."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb

ALPHA = 0.05
"""The two-sided level at which a difference counts as shown."""


@dataclass(frozen=True, slots=True)
class Stratum:
    """Successes of trials of both sides under one condition (here: one scenario); counts."""

    first_hits: int
    first_trials: int
    second_hits: int
    second_trials: int

    def __post_init__(self) -> None:
        for hits, trials in (
            (self.first_hits, self.first_trials),
            (self.second_hits, self.second_trials),
        ):
            if not 0 <= hits <= trials or trials == 0:
                raise ValueError(
                    f"a stratum needs 0 <= hits <= trials and trials > 0, got {hits} of {trials}"
                )

    @property
    def weights(self) -> tuple[int, list[int]]:
        """The least possible number of hits of the first side, and how many ways give each from there on.

        Both margins are held fixed, as Fisher does.
        """
        hits = self.first_hits + self.second_hits
        least = max(0, hits - self.second_trials)
        most = min(self.first_trials, hits)
        ways = [
            comb(self.first_trials, k) * comb(self.second_trials, hits - k) for k in range(least, most + 1)
        ]
        return least, ways


def exact_p(strata: Sequence[Stratum]) -> float:
    """Two-sided p of "both sides have the same odds in every stratum" (exact Cochran-Mantel-Haenszel), 0..1.

    The total of the first side's hits is compared with its distribution given all margins; outcomes no
    likelier than the one seen are summed in whole numbers. With one stratum it is Fisher's exact test.
    Raises ValueError without strata.
    """
    if not strata:
        raise ValueError("nothing is shared, so nothing can be compared")
    least, ways = 0, [1]
    for stratum in strata:
        start, own = stratum.weights
        least, ways = least + start, _convolved(ways, own)
    seen = ways[sum(stratum.first_hits for stratum in strata) - least]
    return float(Fraction(sum(way for way in ways if way <= seen), sum(ways)))


def _convolved(left: Sequence[int], right: Sequence[int]) -> list[int]:
    product = [0] * (len(left) + len(right) - 1)
    for i, a in enumerate(left):
        for j, b in enumerate(right):
            product[i + j] += a * b
    return product


def smallest_p(strata: Sequence[Stratum]) -> float:
    """The smallest p that samples of these sizes could give: all hits on one side and none on the other."""
    return exact_p([Stratum(one.first_trials, one.first_trials, 0, one.second_trials) for one in strata])


def holm(values: Sequence[float]) -> tuple[float, ...]:
    """Holm's step-down adjustment of the p values of one family, in the order given (Holm 1979)."""
    order = sorted(range(len(values)), key=lambda index: values[index])
    adjusted = [0.0] * len(values)
    highest = 0.0
    for place, index in enumerate(order):
        highest = max(highest, min(1.0, values[index] * (len(values) - place)))
        adjusted[index] = highest
    return tuple(adjusted)
