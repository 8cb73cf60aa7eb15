"""What the harness reads from disk: catalogues, bounded files, the authoring schema, the price table."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from contract.errors import UsageError
from contract.manifest import ManifestError
from harness.authoring import check_authoring
from harness.machine import virtualisation
from harness.resources import load_catalogue, load_prices, read_bounded


@pytest.fixture
def catalogue(root: Path, tmp_path: Path) -> Path:
    """A copy of the catalogue, schema included."""
    return Path(shutil.copytree(root / "scenarios", tmp_path / "scenarios"))


def change(catalogue: Path, name: str = "watch.docker-unhealthy", **members: Any) -> None:
    path = catalogue / f"{name}.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **members}))


def test_the_catalogue_satisfies_the_loader_and_the_authoring_schema(catalogue: Path) -> None:
    assert len(load_catalogue(catalogue).manifests) == 12
    check_authoring(catalogue)


def test_what_the_loader_forgives_the_authoring_schema_names_with_its_place(catalogue: Path) -> None:
    change(catalogue, tags=["twice", "twice"])
    load_catalogue(catalogue)
    with pytest.raises(ManifestError, match="/tags"):
        check_authoring(catalogue)


def test_a_folder_without_a_schema_is_checked_by_the_loader_alone(catalogue: Path) -> None:
    change(catalogue, tags=["twice", "twice"])
    for path in catalogue.glob("*.schema.json"):
        path.unlink()
    check_authoring(catalogue)


@pytest.mark.parametrize("content", ["{", '{"type": 7}'])
def test_a_schema_that_is_none_is_refused(catalogue: Path, content: str) -> None:
    (schema,) = catalogue.glob("*.schema.json")
    schema.write_text(content)
    with pytest.raises(UsageError, match="no JSON Schema"):
        check_authoring(catalogue)


def test_only_json_files_directly_in_the_folder_are_manifests(catalogue: Path) -> None:
    (catalogue / "notes.txt").write_text("x")
    (catalogue / "old").mkdir()
    (catalogue / "old" / "x.json").write_text("{}")
    (catalogue / "folder.json").mkdir()
    assert len(load_catalogue(catalogue).manifests) == 12


def test_a_manifest_beyond_the_bound_is_not_read(catalogue: Path) -> None:
    (catalogue / "huge.json").write_bytes(b" " * (1024 * 1024 + 1))
    with pytest.raises(UsageError, match="longer than"):
        load_catalogue(catalogue)


def test_a_file_at_the_bound_is_read(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"12345")
    assert read_bounded(tmp_path / "file", 5) == b"12345"
    with pytest.raises(UsageError, match="longer than 4"):
        read_bounded(tmp_path / "file", 4)


@pytest.mark.parametrize("code", [1, 2])
def test_a_bad_manifest_has_the_exit_code_of_what_was_asked(catalogue: Path, code: int) -> None:
    change(catalogue, version=0)
    with pytest.raises(ManifestError) as caught:
        load_catalogue(catalogue, faults_exit=code)
    assert caught.value.exit_code == code


def test_the_price_table_of_the_contract_loads() -> None:
    assert load_prices().rows


def machine(tmp_path: Path, **files: str) -> Path:
    for name, content in {"proc/sys/kernel/osrelease": "6.1.0", **files}.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return tmp_path


@pytest.mark.parametrize(
    ("files", "kind"),
    [
        ({"proc/cpuinfo": "flags\t\t: fpu vme"}, "bare-metal"),
        ({"proc/cpuinfo": "flags\t\t: fpu hypervisor vme"}, "vm"),
        ({"proc/sys/kernel/osrelease": "5.15.0-Microsoft-standard-WSL2"}, "wsl"),
        ({".dockerenv": ""}, "container"),
        ({"run/.containerenv": ""}, "container"),
        ({"proc/1/environ": "HOME=/\0container=lxc"}, "container"),
    ],
)
def test_the_kind_of_machine_is_told_from_what_linux_shows(
    tmp_path: Path, files: dict[str, str], kind: str
) -> None:
    assert virtualisation(machine(tmp_path, **files)) == kind


def test_elsewhere_the_kind_of_machine_is_unknown(tmp_path: Path) -> None:
    assert virtualisation(tmp_path) == ""
