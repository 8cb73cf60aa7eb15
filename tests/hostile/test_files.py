"""Files that are not what they look like."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from campaigns import Tree
from spoiling import checked, rules_of


def linked(folder: Path) -> None:
    target = folder.parent / "elsewhere.json"
    (folder / "contribution.json").rename(target)
    (folder / "contribution.json").symlink_to(target)


def dangling(folder: Path) -> None:
    (folder / "contribution.json").unlink()
    (folder / "contribution.json").symlink_to("nowhere")


def hard_linked(folder: Path) -> None:
    os.link(folder / "contribution.json", folder.parent.parent.parent.parent / "second-name")


def pipe(folder: Path) -> None:
    (folder / "README.md").unlink()
    os.mkfifo(folder / "README.md")


def socket_file(folder: Path) -> None:
    (folder / "README.md").unlink()
    here = Path.cwd()
    os.chdir(folder)  # a socket's path has to be short
    try:
        with socket.socket(socket.AF_UNIX) as server:
            server.bind("README.md")
    finally:
        os.chdir(here)


def folder_in_place(folder: Path) -> None:
    (folder / "submission.json").unlink()
    (folder / "submission.json").mkdir()


def executable(folder: Path) -> None:
    (folder / "README.md").chmod(0o755)


def pointer(folder: Path) -> None:
    (folder / "README.md").write_text("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n")


def extra(folder: Path) -> None:
    (folder / "run.log").write_text("x")


def hidden(folder: Path) -> None:
    (folder / ".git").mkdir()


def other_case(folder: Path) -> None:
    (folder / "readme.md").write_text("x")


def renamed(folder: Path) -> None:
    folder.rename(folder.parent / ("0" * 16))


def capitals(folder: Path) -> None:
    folder.rename(folder.parent / folder.name.upper().replace("0", "A"))


def short_name(folder: Path) -> None:
    folder.rename(folder.parent / folder.name[:8])


def reserved_name(folder: Path) -> None:
    folder.rename(folder.parent / "con")


def stranger_name(folder: Path) -> None:
    folder.parent.rename(folder.parent.parent / "Ada L.")


def capital_login(folder: Path) -> None:
    folder.parent.rename(folder.parent.parent / "Ada-L")


def hostile_file_name(folder: Path) -> None:
    (folder / "a\x1b[31m\n::error::b").write_text("x")


def undecodable_file_name(folder: Path) -> None:
    Path(os.fsdecode(os.fsencode(folder) + b"/\xff\xfe")).write_text("x")


def linked_folder(folder: Path) -> None:
    target = folder.parent.parent.parent.parent / "moved"
    folder.rename(target)
    folder.symlink_to(target)


def beside_contributors(folder: Path) -> None:
    (folder.parent.parent / "notes.txt").write_text("x")


def beside_bundles(folder: Path) -> None:
    (folder.parent / "notes.txt").write_text("x")


def beside_everything(folder: Path) -> None:
    (folder.parent.parent.parent / "workflow.yml").write_text("x")


def premature_certificate(folder: Path) -> None:
    place = folder.parent.parent.parent / "certified" / folder.name
    place.mkdir(parents=True)
    (place / "certificate.dsse.json").write_text("{}")


def empty_contributor(folder: Path) -> None:
    (folder.parent.parent / "bob").mkdir()


def empty_bundle(folder: Path) -> None:
    (folder.parent / ("1" * 16)).mkdir()


Defect = Callable[[Path], None]
DEFECTS: dict[Defect, str] = {
    linked: "PQ003",
    dangling: "PQ003",
    hard_linked: "PQ004",
    pipe: "PQ003",
    socket_file: "PQ003",
    folder_in_place: "PQ003",
    executable: "PQ006",
    pointer: "PQ011",
    extra: "PQ008",
    hidden: "PQ008",
    other_case: "PQ008",
    renamed: "PQ009",
    capitals: "PQ009",
    short_name: "PQ009",
    reserved_name: "PQ009",
    stranger_name: "PQ010",
    capital_login: "PQ010",
    hostile_file_name: "PQ008",
    undecodable_file_name: "PQ008",
    linked_folder: "PQ002",
    beside_contributors: "PQ002",
    beside_bundles: "PQ002",
    beside_everything: "PQ002",
    premature_certificate: "PQ002",
    empty_contributor: "PQ001",
    empty_bundle: "PQ008",
}


@pytest.mark.parametrize(("defect", "rule"), DEFECTS.items(), ids=[one.__name__ for one in DEFECTS])
def test_it_is_refused_by_its_own_rule(defect: Defect, rule: str, tree: Tree) -> None:
    defect(tree.add())
    assert rule in rules_of(tree)
    told = checked(tree)
    assert told.exit_code == 1
    assert "\x1b" not in told.output
    assert "::" not in told.output
    assert told.output.isascii()


def sums(change: Callable[[str], str]) -> Defect:
    def defect(folder: Path) -> None:
        path = folder / "SHA256SUMS"
        path.write_bytes(change(path.read_text()).encode())

    return defect


SUMS: dict[str, tuple[Defect, str]] = {
    "no entries": (sums(lambda _: "\n"), "PQ020"),
    "another path": (sums(lambda text: text.replace("README.md", "../README.md")), "PQ020"),
    "absolute path": (sums(lambda text: text.replace("README.md", "/etc/passwd")), "PQ020"),
    "a file omitted": (sums(lambda text: "".join(text.splitlines(True)[1:])), "PQ021"),
    "an unknown file listed": (sums(lambda text: text + "0" * 64 + "  zzz.txt\n"), "PQ021"),
    "itself listed": (sums(lambda text: "0" * 64 + "  SHA256SUMS\n" + text), "PQ020"),
    "duplicates": (sums(lambda text: text + text), "PQ020"),
    "upper-case digits": (sums(str.upper), "PQ020"),
    "one space": (sums(lambda text: text.replace("  ", " ")), "PQ020"),
    "binary mark": (sums(lambda text: text.replace("  ", " *")), "PQ020"),
    "carriage returns": (sums(lambda text: text.replace("\n", "\r\n")), "PQ020"),
    "no last line end": (sums(str.rstrip), "PQ020"),
    "not sorted": (sums(lambda text: "".join(reversed(text.splitlines(True)))), "PQ020"),
    "other digests": (sums(lambda text: text.replace(text[:8], "00000000")), "PQ022"),
}


@pytest.mark.parametrize(("defect", "rule"), SUMS.values(), ids=SUMS.keys())
def test_sums_that_are_not_as_sealed_are_refused(defect: Defect, rule: str, tree: Tree) -> None:
    defect(tree.add())
    assert rules_of(tree) == {rule}


def test_a_file_that_changes_between_looking_and_reading_is_refused(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tree.add()
    opened = os.open

    def swap(path: object, *arguments: object, **named: object) -> int:
        if str(path).endswith("contribution.json"):
            (folder / "contribution.json").write_bytes(b"{}")
        return opened(path, *arguments, **named)  # type: ignore[arg-type]

    monkeypatch.setattr("generator.load.os.open", swap)
    assert "PQ007" in rules_of(tree)


def test_a_pipe_that_takes_a_files_place_does_not_hang_the_check(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tree.add()
    opened = os.open

    def swap(path: object, *arguments: object, **named: object) -> int:
        if str(path).endswith("README.md"):
            (folder / "README.md").unlink()
            os.mkfifo(folder / "README.md")
        return opened(path, *arguments, **named)  # type: ignore[arg-type]

    monkeypatch.setattr("generator.load.os.open", swap)
    assert "PQ007" in rules_of(tree)
