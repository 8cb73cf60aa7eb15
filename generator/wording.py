"""How numbers and dates are written on pages: one place, so that a number reads the same everywhere."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

NOT_REPORTED = "not reported"
NS = 1_000_000_000


def percent(share: float, digits: int = 0) -> str:
    """A share of 0..1 as a percentage, cut so that it is never nicer than it is: 0.9999 stays below 100 %."""
    shown = round(share * 100, digits)
    if shown >= 100 and share < 1 - 1e-12:
        shown = 100 - 10.0**-digits
    return f"{shown:.{digits}f} %"


def interval(lower: float, upper: float) -> str:
    """Both ends of an interval of shares, in whole percent."""
    return f"{lower * 100:.0f}–{upper * 100:.0f} %"  # noqa: RUF001


def bound(share: float) -> str:
    """An upper limit of a rate, rounded up to one decimal so that it never promises too much."""
    tenths = -int(-share * 1000 // 1)
    return f"≤ {tenths / 10:.1f} %"


def probability(p: float) -> str:
    """A p value, 0..1, with as many digits as it deserves."""
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def seconds(milliseconds: int) -> str:
    """A duration in the unit that reads best."""
    if milliseconds < 1000:
        return f"{milliseconds} ms"
    if milliseconds < 120_000:
        return f"{milliseconds / 1000:.1f} s"
    minutes, rest = divmod(round(milliseconds / 1000), 60)
    return f"{minutes} min {rest:02d} s"


def count(number: int) -> str:
    """A count with narrow gaps between thousands."""
    return f"{number:,}".replace(",", "\u202f")


def cost(dollars: float | None) -> str:
    """US dollars, or that none were reported: an unknown cost is never zero."""
    return NOT_REPORTED if dollars is None else f"${dollars:.4f}"


def plural(number: int, noun: str, many: str = "") -> str:
    """The number with its noun: 1 run, 2 runs."""
    return f"{number} {noun if number == 1 else many or noun + 's'}"


def some(names: Iterable[str], limit: int = 3) -> str:
    """The first few names of a list, and how many more there are."""
    listed = list(names)
    if len(listed) <= limit:
        return ", ".join(listed)
    return f"{', '.join(listed[: limit - 1])} and {len(listed) - limit + 1} more"


def day(instant_ns: int) -> str:
    """The UTC day of an instant, as YYYY-MM-DD."""
    return datetime.fromtimestamp(instant_ns // NS, UTC).date().isoformat()
