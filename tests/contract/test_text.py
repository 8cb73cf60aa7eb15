"""Laws of white space, letter case and identifiers."""

from __future__ import annotations

import sys
import unicodedata

import pytest

from contract.text import (
    WHITE_SPACE,
    fold,
    fold_equal,
    is_blank,
    is_identifier,
    lower,
    printable,
    shown,
    trim,
)

# The White_Space property of the Unicode Character Database, PropList.txt.
_PROPERTY = {
    *range(0x09, 0x0E), 0x20, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B),
    0x2028, 0x2029, 0x202F, 0x205F, 0x3000,
}  # fmt: skip


def test_white_space_is_the_unicode_property_and_nothing_else() -> None:
    assert {ord(char) for char in WHITE_SPACE} == _PROPERTY


@pytest.mark.parametrize("char", "\x1c\x1d\x1e\x1f\u200b\ufeff")
def test_separators_that_python_would_strip_stay(char: str) -> None:
    assert trim(f" {char}x{char}\u3000") == f"{char}x{char}"


def test_a_text_of_white_space_is_blank() -> None:
    assert is_blank(WHITE_SPACE)
    assert not is_blank("\x1f")


def test_lower_case_knows_no_final_sigma_and_no_dotted_capital() -> None:
    assert lower("ΟΔΟΣ") == "οδοσ"
    assert lower("\u0130X") == "ix"
    assert lower("ABC") == "abc"


@pytest.mark.parametrize(
    ("left", "right"),
    [("K", "\u212a"), ("s", "\u017f"), ("Σ", "ς"), ("\u1e9e", "ß"), ("\u1f88", "\u1f80"), ("Ǆ", "ǅ")],
)
def test_simple_folding_equates_what_differs_in_case_alone(left: str, right: str) -> None:
    assert fold_equal(left, right)
    assert fold_equal(f"a{left}", f"A{right}")


@pytest.mark.parametrize(("left", "right"), [("ß", "ss"), ("\u0130", "i"), ("\u0131", "i"), ("ﬁ", "fi")])
def test_simple_folding_never_changes_the_length(left: str, right: str) -> None:
    assert not fold_equal(left, right)


def test_folding_keeps_length_and_is_idempotent_for_every_character() -> None:
    for code in range(sys.maxunicode + 1):
        char = chr(code)
        if unicodedata.category(char) in ("Cs", "Cn", "Co"):
            continue
        folded = fold(char)
        assert len(folded) == 1, hex(code)
        assert fold(folded) == folded, hex(code)


@pytest.mark.parametrize("char", ["\x1b", "\n", "\r", "\x00", "\u202e", "\u200b", "\ue000", "\U000e0041"])
def test_an_error_shows_nothing_that_a_terminal_would_obey_or_hide(char: str) -> None:
    assert char not in shown(f"a{char}b")
    assert char not in printable(f"a{char}b")
    assert printable(f"é{char}/b").startswith("é\\")


def test_an_error_shows_little_of_a_long_text() -> None:
    assert len(shown("a" * 10_000)) == 82
    assert len(printable("a" * 10_000)) == 320
    assert shown("it's") == '"it\'s"'


@pytest.mark.parametrize("text", ["abc", "a.b", "0-_", "a" * 96, "watch.docker-unhealthy"])
def test_identifiers_have_3_to_96_plain_characters(text: str) -> None:
    assert is_identifier(text)


@pytest.mark.parametrize(
    "text", ["", "ab", "a" * 97, "Abc", "abc\n", "-abc", ".abc", "a bc", "\u0661bc", "abć"]
)
def test_anything_else_is_no_identifier(text: str) -> None:
    assert not is_identifier(text)
