"""What may stand in public evidence as challenge and as name."""

from __future__ import annotations

import re
from typing import Any

import pytest
from runs import GOLDEN

from contract.challenge import identity_problem, is_challenge, normalise_challenge
from contract.errors import UsageError


@pytest.mark.parametrize("case", GOLDEN["challenge"], ids=lambda case: repr(case["in"]))
def test_a_challenge_is_valid_as_published(case: dict[str, Any]) -> None:
    assert is_challenge(case["in"]) is case["ok"]


def test_a_challenge_is_kept_without_outer_white_space() -> None:
    assert normalise_challenge(" 0123456789abcdef\n") == "0123456789abcdef"
    assert normalise_challenge("  ") == ""


def test_a_challenge_that_cannot_be_one_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="16 to 128"):
        normalise_challenge("short")


def spelled_out(text: str) -> str:
    """`x... (512 bytes)` of the published table stands for that many bytes."""
    match = re.fullmatch(r"(.)\1?\.\.\. \((\d+) bytes\)", text)
    return match[1] * (int(match[2]) // len(match[1].encode())) if match else text


@pytest.mark.parametrize("case", GOLDEN["identity"], ids=lambda case: repr(case["in"]))
def test_a_name_may_be_published_as_published(case: dict[str, Any]) -> None:
    assert bool(identity_problem(spelled_out(case["in"]))) is case["error"]


def test_a_problem_is_told_without_the_name() -> None:
    assert identity_problem("password=hunter2") == "looks like a secret"
