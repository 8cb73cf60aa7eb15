"""SHA256SUMS: written in one form, read in no other, and everything else is told."""

from __future__ import annotations

import pytest

from contract.checksums import (
    ChecksumError,
    ChecksumFault,
    compare_sums,
    format_sums,
    parse_sums,
    sha256_hex,
    verify,
)

FILES = {"contribution.json": b"{}\n", "README.md": b"# R\n"}
EMPTY = sha256_hex(b"")


def sealed() -> dict[str, bytes]:
    return {**FILES, "SHA256SUMS": format_sums(FILES)}


def test_names_are_sorted_by_bytes_and_capitals_come_first() -> None:
    assert [line[66:] for line in format_sums(FILES).decode().splitlines()] == [
        "README.md",
        "contribution.json",
    ]


def test_the_list_never_lists_itself() -> None:
    assert format_sums(sealed()) == format_sums(FILES)


def test_a_line_is_what_sha256sum_writes() -> None:
    assert format_sums({"a": b""}) == f"{EMPTY}  a\n".encode()


def test_what_is_written_is_read_back() -> None:
    assert parse_sums(format_sums(FILES)) == {name: sha256_hex(data) for name, data in FILES.items()}


@pytest.mark.parametrize("name", ["", "a/b", "a\\b", "a\nb", "a\x7f"])
def test_a_name_that_no_line_can_hold_is_refused(name: str) -> None:
    with pytest.raises(ChecksumError, match="cannot be listed"):
        format_sums({name: b""})


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "no end"),
        (f"{EMPTY}  a".encode(), "no end"),
        (f"{EMPTY.upper()}  a\n".encode(), "line 1"),
        (f"{EMPTY} *a\n".encode(), "line 1"),
        (f"{EMPTY}  a\r\n".encode(), "line 1"),
        (f"{EMPTY}  a\n\n".encode(), "line 2"),
        (f"{EMPTY}  ../a\n".encode(), "line 1"),
        (f"{EMPTY}  ..\n".encode(), "line 1"),
        (f"{EMPTY}  SHA256SUMS\n".encode(), "line 1"),
        (f"{EMPTY[1:]}  a\n".encode(), "line 1"),
        (f"{EMPTY}  a\n{EMPTY}  a\n".encode(), "lists 'a' again"),
        (f"{EMPTY}  b\n{EMPTY}  a\n".encode(), "not sorted"),
        (b"\xff\n", "not valid UTF-8"),
    ],
)
def test_any_other_form_is_refused(content: bytes, why: str) -> None:
    with pytest.raises(ChecksumError, match=why):
        parse_sums(content)


def test_a_sealed_folder_holds() -> None:
    assert verify(sealed(), exact=True) == ()


def test_a_changed_file_is_refused_with_both_digests() -> None:
    changed = {**sealed(), "README.md": b"# S\n"}
    expected, found = sha256_hex(FILES["README.md"])[:12], sha256_hex(b"# S\n")[:12]
    with pytest.raises(ChecksumError, match=rf"README\.md: expected {expected}, found {found}"):
        verify(changed, exact=False)


def test_a_missing_file_is_refused() -> None:
    without = {name: data for name, data in sealed().items() if name != "README.md"}
    with pytest.raises(ChecksumError, match=r"README\.md: listed, but absent"):
        verify(without, exact=False)


def test_an_unlisted_file_is_told_and_refused_only_where_the_set_must_be_exact() -> None:
    more = {**sealed(), "notes.txt": b""}
    assert verify(more, exact=False) == (ChecksumFault("unlisted", "notes.txt"),)
    with pytest.raises(ChecksumError, match=r"notes\.txt: not listed"):
        verify(more, exact=True)


def test_a_folder_without_a_list_is_refused() -> None:
    with pytest.raises(ChecksumError, match="there is no SHA256SUMS"):
        verify(FILES, exact=False)


def test_differences_are_sorted_by_name() -> None:
    listed = {"a": EMPTY, "c": EMPTY}
    faults = compare_sums(listed, {"b": b"", "c": b"x"})
    assert [(fault.kind, fault.name) for fault in faults] == [
        ("missing", "a"),
        ("unlisted", "b"),
        ("mismatch", "c"),
    ]
