"""Taking a campaign in: verified, completed, agreed to, placed whole or not at all."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from campaigns import NOW, Campaign, Tree
from click.testing import CliRunner, Result

from generator import intake
from generator.check import check_tree
from generator.cli import main

AS_OF = "2026-12-08T00:00:00Z"


def add(tree: Tree, export: Path, *arguments: str) -> Result:
    words = ["add", str(export), "--root", str(tree.root), "--as-of", AS_OF, *arguments]
    return CliRunner().invoke(main, words)


def bundles(tree: Tree) -> list[Path]:
    return sorted(path.parent for path in (tree.root / "evidence").rglob("contribution.json"))


@pytest.fixture
def export(tree: Tree, tmp_path: Path) -> Path:
    return tree.export(tmp_path / "export")


def test_an_export_becomes_a_bundle_that_the_checker_accepts(tree: Tree, export: Path) -> None:
    told = add(tree, export, "--contributor", "ada-l", "--yes")
    assert told.exit_code == 0, told.output
    (folder,) = bundles(tree)
    assert folder.parent == tree.root / "evidence" / "community" / "ada-l"
    assert sorted(path.name for path in folder.iterdir()) == [
        "README.md", "SHA256SUMS", "contribution.json", "submission.json",
    ]  # fmt: skip
    assert check_tree(tree.root, NOW).findings == ()
    assert "git" in told.output
    assert folder.name in told.output


def test_contribution_and_readme_stay_byte_for_byte(tree: Tree, export: Path) -> None:
    add(tree, export, "--contributor", "ada-l", "--yes")
    (folder,) = bundles(tree)
    for name in ("contribution.json", "README.md"):
        assert (folder / name).read_bytes() == (export / name).read_bytes()


def test_sha256sum_accepts_the_bundle(tree: Tree, export: Path) -> None:
    add(tree, export, "--contributor", "ada-l", "--yes")
    (folder,) = bundles(tree)
    done = subprocess.run(["sha256sum", "-c", "SHA256SUMS"], cwd=folder, capture_output=True, check=False)
    assert done.returncode == 0
    assert done.stdout.count(b"OK") == 3


def test_the_submission_names_contributor_affiliation_and_consent(tree: Tree, export: Path) -> None:
    add(tree, export, "--contributor", "Ada-L", "--affiliation", "Example University", "--yes")
    (folder,) = bundles(tree)
    submission = json.loads((folder / "submission.json").read_text())
    assert submission["contributor"] == {"login": "ada-l", "affiliation": "Example University"}
    assert submission["consent"] is True


def test_without_a_terminal_consent_has_to_be_given_on_the_command_line(tree: Tree, export: Path) -> None:
    told = add(tree, export, "--contributor", "ada-l")
    assert told.exit_code == 2
    assert "--yes" in told.output
    assert bundles(tree) == []


def test_a_control_is_added_apart(tree: Tree, tmp_path: Path) -> None:
    control = Campaign(model="control:reference", route="control")
    export = tree.export(tmp_path / "control", control)
    told = add(tree, export, "--contributor", "ada-l", "--control", "--yes")
    assert told.exit_code == 0, told.output
    (folder,) = bundles(tree)
    assert folder.parent == tree.root / "evidence" / "controls"
    assert check_tree(tree.root, NOW).findings == ()


@pytest.mark.parametrize("control", [True, False])
def test_a_subject_on_the_wrong_side_is_refused(control: bool, tree: Tree, tmp_path: Path) -> None:
    campaign = Campaign() if control else Campaign(model="control:silent", route="control")
    export = tree.export(tmp_path / "wrong", campaign)
    told = add(tree, export, "--contributor", "ada-l", "--yes", *(["--control"] if control else []))
    assert told.exit_code == 1
    assert "PQ046" in told.output
    assert bundles(tree) == []


@pytest.mark.parametrize("name", ["contribution.json", "README.md", "submission.json"])
def test_an_export_that_was_edited_is_refused(name: str, tree: Tree, export: Path) -> None:
    path = export / name
    path.write_bytes(path.read_bytes().replace(b" ", b"  ", 1))
    told = add(tree, export, "--contributor", "ada-l", "--yes")
    assert told.exit_code == 1
    assert "PQ022" in told.output
    assert name in told.output
    assert bundles(tree) == []


@pytest.mark.parametrize("name", ["contribution.json", "README.md", "submission.json", "SHA256SUMS"])
def test_a_folder_that_is_no_export_is_an_error(name: str, tree: Tree, export: Path) -> None:
    (export / name).unlink()
    told = add(tree, export, "--contributor", "ada-l", "--yes")
    assert told.exit_code == 2
    assert name in told.output


def test_the_same_campaign_is_added_once(tree: Tree, export: Path) -> None:
    assert add(tree, export, "--contributor", "ada-l", "--yes").exit_code == 0
    again = add(tree, export, "--contributor", "ada-l", "--yes")
    assert again.exit_code == 2
    assert "already there" in again.output
    assert len(bundles(tree)) == 1


def test_nobody_can_add_anothers_runs(tree: Tree, tmp_path: Path) -> None:
    tree.add(seed="first")
    export = tree.export(tmp_path / "copy", Campaign(seed="first", repeats=4))
    told = add(tree, export, "--contributor", "mallory", "--yes")
    assert told.exit_code == 1
    assert "PQ060" in told.output


@pytest.mark.parametrize("login", ["", "a b", "-a", "a--b", "x" * 40, "../x"])
def test_what_is_no_login_is_an_error(login: str, tree: Tree, export: Path) -> None:
    told = add(tree, export, "--contributor", login, "--yes")
    assert told.exit_code == 2
    assert bundles(tree) == []


def test_a_correction_names_the_earlier_bundle(tree: Tree, tmp_path: Path) -> None:
    earlier = tree.add(login="ada-l", seed="first")
    export = tree.export(tmp_path / "second", Campaign(seed="second"))
    told = add(tree, export, "--contributor", "ada-l", "--supersedes", earlier.name, "--yes")
    assert told.exit_code == 0, told.output
    wrong = tree.export(tmp_path / "third", Campaign(seed="third"))
    assert add(tree, wrong, "--contributor", "bob", "--supersedes", earlier.name, "--yes").exit_code == 1
    assert add(tree, wrong, "--contributor", "ada-l", "--supersedes", "x", "--yes").exit_code == 2


def test_nothing_is_added_to_a_tree_that_is_already_refused(tree: Tree, export: Path) -> None:
    (tree.add(login="bob", seed="bob") / "README.md").write_text("changed")
    told = add(tree, export, "--contributor", "ada-l", "--yes")
    assert told.exit_code == 1
    assert len(bundles(tree)) == 1


def test_a_bundle_is_placed_whole_or_not_at_all(
    tree: Tree, export: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[Path] = []

    def fail_late(path: Path, data: bytes) -> None:
        written.append(path)
        if len(written) == 3:
            raise OSError("no space left")
        path.write_bytes(data)

    monkeypatch.setattr(intake, "_write_synced", fail_late)
    told = add(tree, export, "--contributor", "ada-l", "--yes")
    assert isinstance(told.exception, OSError)
    assert bundles(tree) == []
    assert not [path for path in tree.root.iterdir() if path.name.startswith(".patrol")]
    assert not (tree.root / "evidence" / "community" / "ada-l" / written[0].parent.name).exists()


def test_json_says_where_it_stands(tree: Tree, export: Path) -> None:
    told = add(tree, export, "--contributor", "ada-l", "--yes", "--json")
    shown = json.loads(told.stdout)
    assert (tree.root / shown["path"] / "SHA256SUMS").is_file()
    assert shown["runs"] == 6
