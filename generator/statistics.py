"""The few statistics that the site adds to what the contract computes."""

from __future__ import annotations

from collections.abc import Sequence

TAIL = 0.025
"""One tail of a two-sided 95 % interval."""


def upper_bound(events: int, trials: int) -> float:
    """Clopper-Pearson upper limit (two-sided 95 %) of a rate of `events` in `trials`, both counts; 0..1.

    Raises ValueError unless 0 <= events <= trials and trials > 0. Zero events have a closed form, so that the
    common case needs no scipy.
    """
    if not 0 <= events <= trials or trials == 0:
        raise ValueError(f"a rate needs 0 <= events <= trials and trials > 0, got {events} of {trials}")
    if events == trials:
        return 1.0
    if events == 0:
        return float(1 - TAIL ** (1 / trials))
    from scipy.stats import beta  # a second to import, so only where it is needed

    return float(beta.ppf(1 - TAIL, events + 1, trials - events))


def percentile95(values: Sequence[float]) -> float:
    """Nearest-rank 95th percentile as the comparison format defines it (evidence format, section 4); 0 if
    empty.
    """
    if not values:
        return 0
    ordered = sorted(values)
    index = int(len(ordered) * 0.95 + 0.999999) - 1
    return ordered[max(0, min(index, len(ordered) - 1))]
