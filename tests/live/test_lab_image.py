"""The image that stands in for alpine is built once and is what it says."""

from __future__ import annotations

import io
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest


def build(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    script = str(root / "tools" / "lab_image.py")
    return subprocess.run(
        [sys.executable, script, *arguments], capture_output=True, text=True, check=False, timeout=120
    )


@pytest.mark.live
def test_a_second_build_changes_nothing(root: Path, docker_context: str, lab_image: str) -> None:
    first, second = (build(root, "--context", docker_context) for _ in range(2))
    assert second.returncode == 0, second.stderr
    assert second.stdout.startswith(f"{lab_image} sha256:")
    assert second.stdout.endswith("(already there)\n")
    assert second.stdout.split()[1] == first.stdout.split()[1]


def test_an_unknown_context_is_a_usage_error(root: Path) -> None:
    given = build(root, "--context", "no-such-context", "--busybox", shutil.which("sh") or sys.executable)
    assert given.returncode == 2
    assert "no Docker context" in given.stderr


@pytest.mark.live
def test_what_is_no_busybox_is_a_usage_error(root: Path, docker_context: str) -> None:
    given = build(root, "--context", docker_context, "--busybox", shutil.which("cat") or sys.executable)
    assert given.returncode == 2
    assert "is no busybox" in given.stderr


def test_the_root_file_system_holds_what_programs_expect(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(root / "tools"))
    from lab_image import rootfs

    with tarfile.open(fileobj=io.BytesIO(rootfs(b"ELF", ("sh", "stat")))) as tar:
        members = {member.name: member for member in tar}
    assert members["tmp"].mode == 0o1777
    assert members["bin/busybox"].mode == 0o755
    assert (members["bin/sh"].linkname, members["bin/stat"].linkname) == ("busybox", "busybox")
    assert {"etc/passwd", "var/lib"} < set(members)
    assert rootfs(b"ELF", ("sh",)) == rootfs(b"ELF", ("sh",))
