"""Which revision measured, and whether it was clean."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from harness.git import harness_revision, revision


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    (tmp_path / "file").write_text("one")
    for words in (
        ["init", "-q"],
        ["add", "file"],
        ["-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-q", "-m", "one"],
    ):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)
    return tmp_path


def test_a_clean_tree_has_a_revision_and_is_not_dirty(repository: Path) -> None:
    found = revision(repository)
    assert len(found.sha) == 40
    assert not found.dirty


@pytest.mark.parametrize("name", ["file", "untracked"])
def test_a_changed_or_untracked_file_makes_it_dirty(repository: Path, name: str) -> None:
    (repository / name).write_text("two")
    assert revision(repository).dirty


def test_a_folder_outside_of_any_repository_has_no_revision_and_is_dirty(tmp_path: Path) -> None:
    found = revision(tmp_path)
    assert (found.sha, found.dirty) == ("", True)


def test_a_folder_inside_somebody_elses_repository_does_not_borrow_its_revision(repository: Path) -> None:
    (repository / "site-packages").mkdir()
    assert revision(repository / "site-packages").sha == ""


def test_without_git_there_is_no_revision(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert revision(repository).sha == ""


def test_the_harness_knows_its_own_revision(root: Path) -> None:
    assert harness_revision().sha == revision(root).sha
