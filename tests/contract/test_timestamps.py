"""Laws of points in time."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from contract.timestamps import ZERO_TIME, Timestamp, TimestampError

GOLDEN: dict[str, Any] = json.loads((Path(__file__).parents[1] / "golden/golden.json").read_text())


@pytest.mark.parametrize("case", GOLDEN["times"], ids=lambda case: repr(case["in"]))
def test_times_are_read_and_written_as_the_reference_does(case: dict[str, Any]) -> None:
    # A text that the reference reads but cannot write is refused at once.
    if case["error"] or case.get("write_error"):
        with pytest.raises(TimestampError):
            Timestamp(case["in"])
    else:
        assert str(Timestamp(case["in"])) == case["out"]
        assert Timestamp(case["in"]).is_zero == case["zero"]


@pytest.mark.parametrize(
    "text",
    [
        "2031-13-01T00:00:00Z",
        "2031-00-01T00:00:00Z",
        "2031-01-00T00:00:00Z",
        "2031-01-32T00:00:00Z",
        "2031-01-01T00:60:00Z",
        "2031-01-01T00:00:00+05:60",
        "2031-01-01T00:00:00Z\n",
        "٢031-01-01T00:00:00Z",
        "1900-02-29T00:00:00Z",
    ],
)
def test_times_that_do_not_exist_are_refused(text: str) -> None:
    with pytest.raises(TimestampError):
        Timestamp(text)


def test_an_instant_counts_nanoseconds_since_1970() -> None:
    assert Timestamp("1970-01-01T00:00:00Z").instant_ns == 0
    assert Timestamp("1969-12-31T23:59:59.999999999Z").instant_ns == -1
    assert Timestamp("2031-02-03T04:05:06.7+02:00").instant_ns == 1_927_850_706_700_000_000


@pytest.mark.parametrize("moment", ["0400-02-29T00:00:00Z", "1999-12-31T23:59:59Z", "9999-12-31T00:00:00.5Z"])
def test_an_instant_agrees_with_the_standard_library(moment: str) -> None:
    parsed = datetime.fromisoformat(moment)
    elapsed = parsed - datetime(1970, 1, 1, tzinfo=UTC)
    assert Timestamp(moment).instant_ns == elapsed // timedelta(microseconds=1) * 1000


def test_the_year_zero_exists_and_precedes_the_zero_time() -> None:
    eve = Timestamp("0000-12-31T23:59:59Z")
    assert ZERO_TIME.instant_ns - eve.instant_ns == 10**9
    assert str(Timestamp("0000-02-29T00:00:00Z")) == "0000-02-29T00:00:00Z"


def test_the_zero_time_is_an_instant_and_not_a_spelling() -> None:
    assert Timestamp("0001-01-01T01:00:00+01:00").is_zero
    assert not Timestamp("0001-01-01T00:00:00+01:00").is_zero


def test_the_written_offset_is_kept_and_makes_two_times_differ() -> None:
    here, there = Timestamp("2031-01-01T02:00:00+02:00"), Timestamp("2031-01-01T00:00:00Z")
    assert here != there
    assert here.instant_ns == there.instant_ns
    assert len({here, there, Timestamp("2031-01-01T02:00:00+02:00")}) == 2
    assert here != "2031-01-01T02:00:00+02:00"


def test_a_datetime_keeps_its_offset_and_its_microseconds() -> None:
    zone = timezone(timedelta(hours=-7, minutes=-30))
    assert (
        str(Timestamp.from_datetime(datetime(2031, 1, 2, 3, 4, 5, 600, zone)))
        == "2031-01-02T03:04:05.0006-07:30"
    )
    assert str(Timestamp.from_datetime(datetime(2031, 1, 2, tzinfo=UTC))) == "2031-01-02T00:00:00Z"


def test_a_datetime_without_offset_is_refused() -> None:
    with pytest.raises(TimestampError, match="offset"):
        Timestamp.from_datetime(datetime(2031, 1, 2))  # noqa: DTZ001


def test_a_time_shows_its_text() -> None:
    assert repr(Timestamp.parse("2031-01-02T00:00:00Z")) == "Timestamp('2031-01-02T00:00:00Z')"
