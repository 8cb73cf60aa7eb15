"""Reads evidence from disk: every file once, never through a link, never more than its limit."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from generator.findings import Findings
from generator.layout import (
    BUNDLE_ID,
    EVIDENCE,
    LATER,
    LIMITS,
    LOGIN,
    REGISTRY_LIMIT,
    ROOT_FILES,
    Kind,
    Place,
)

LFS_POINTER = b"version https://git-lfs"


@dataclass(frozen=True, slots=True)
class Blob:
    """The bytes of one file and their digest, taken from the same single read."""

    data: bytes
    sha256: str

    @classmethod
    def of(cls, data: bytes) -> Blob:
        return cls(data, hashlib.sha256(data).hexdigest())


@dataclass(frozen=True, slots=True)
class LoadedBundle:
    """A bundle's place and bytes; nothing about it has been verified."""

    place: Place
    files: Mapping[str, Blob]


def read_blob(root: Path, path: PurePosixPath, limit: int, findings: Findings) -> Blob | None:
    """Read one file below `root` once, at most `limit` bytes; None, and a finding, when it is not plain."""
    target = root / path
    try:
        status = target.lstat()
    except OSError as error:
        findings.add("PQ007", path, f"cannot be looked at: {error.strerror}")
        return None
    if not _is_plain(status, path, limit, findings):
        return None
    try:
        data = _read_once(target, status, limit)
    except OSError as error:
        findings.add("PQ007", path, f"cannot be read: {error.strerror}")
        return None
    if data is None:
        findings.add("PQ007", path, "changed while it was read")
        return None
    if not data or data.startswith(LFS_POINTER):
        findings.add("PQ011", path, "is a Git LFS pointer" if data else "is empty")
        return None
    return Blob.of(data)


def _is_plain(status: os.stat_result, path: PurePosixPath, limit: int, findings: Findings) -> bool:
    if not stat.S_ISREG(status.st_mode):
        findings.add("PQ003", path, f"is {_kind_of(status.st_mode)} in place of a file")
        return False
    before = len(findings)
    if status.st_nlink > 1:
        findings.add("PQ004", path, f"has {status.st_nlink} names")
    if status.st_size > limit:
        findings.add("PQ005", path, f"has {status.st_size} bytes, the limit is {limit}")
    if status.st_mode & 0o111:
        findings.add("PQ006", path, f"has mode {stat.S_IMODE(status.st_mode):04o}")
    return len(findings) == before


def _kind_of(mode: int) -> str:
    kinds = (
        (stat.S_ISLNK, "a symbolic link"),
        (stat.S_ISDIR, "a folder"),
        (stat.S_ISFIFO, "a pipe"),
        (stat.S_ISSOCK, "a socket"),
    )
    return next((name for holds, name in kinds if holds(mode)), "a device")


def _read_once(target: Path, seen: os.stat_result, limit: int) -> bytes | None:
    # O_NONBLOCK: should a pipe have taken the file's place meanwhile, opening it must not hang.
    descriptor = os.open(target, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as stream:
        opened = os.fstat(descriptor)
        if (opened.st_dev, opened.st_ino, opened.st_size) != (seen.st_dev, seen.st_ino, seen.st_size):
            return None
        data = stream.read(limit + 1)
    return data if len(data) == seen.st_size else None


def entries(root: Path, folder: PurePosixPath, findings: Findings) -> list[os.DirEntry[str]]:
    """The entries of a real folder sorted by name; empty, with a finding, when it is something else."""
    try:
        status = (root / folder).lstat()
        if not stat.S_ISDIR(status.st_mode):
            findings.add("PQ003", folder, f"is {_kind_of(status.st_mode)} in place of a folder")
            return []
        with os.scandir(root / folder) as found:
            return sorted(found, key=lambda entry: entry.name)
    except OSError as error:
        findings.add("PQ007", folder, f"cannot be read: {error.strerror}")
        return []


def discover(root: Path, findings: Findings) -> Iterator[Place]:
    """Yield every place of a bundle below `root`/evidence, in order; whatever has no place becomes a
    finding.
    """
    for entry in entries(root, EVIDENCE, findings):
        path = EVIDENCE / entry.name
        if entry.name == Kind.COMMUNITY.value:
            yield from _community(root, path, findings)
        elif entry.name == Kind.CONTROL.value:
            yield from _bundles(root, path, "", findings)
        elif entry.name in LATER:
            for inner in entries(root, path, findings):
                findings.add("PQ002", path / inner.name, f"this rule set accepts no {LATER[entry.name]} yet")
        elif entry.name not in ROOT_FILES | {"catalogues"}:
            findings.add("PQ002", path, "has no place in the layout of evidence")


def _community(root: Path, folder: PurePosixPath, findings: Findings) -> Iterator[Place]:
    for entry in entries(root, folder, findings):
        path = folder / entry.name
        if not entry.is_dir(follow_symlinks=False):
            findings.add("PQ002", path, "only contributors' folders belong here")
        elif not LOGIN.fullmatch(entry.name):
            findings.add("PQ010", path, "is no GitHub login in lower case")
        else:
            yield from _bundles(root, path, entry.name, findings)


def _bundles(root: Path, folder: PurePosixPath, contributor: str, findings: Findings) -> Iterator[Place]:
    found = entries(root, folder, findings)
    if not found:
        findings.add("PQ001", folder, "is an empty folder")
    for entry in found:
        path = folder / entry.name
        if not entry.is_dir(follow_symlinks=False):
            findings.add("PQ002", path, "only bundles' folders belong here")
        elif not BUNDLE_ID.fullmatch(entry.name):
            findings.add("PQ009", path, "is not 16 lower-case hexadecimal digits")
        else:
            yield Place(contributor, entry.name)


def read_bundle(root: Path, place: Place, findings: Findings) -> LoadedBundle:
    """Read the files of the bundle at `place`; missing, extra and unreadable ones become findings."""
    present = {entry.name for entry in entries(root, place.path, findings)}
    for name in sorted(present - LIMITS.keys()):
        findings.add("PQ008", place.path / name, "is none of the four files of a bundle")
    for name in sorted(LIMITS.keys() - present):
        findings.add("PQ008", place.path / name, "is missing")
    blobs = {
        name: blob
        for name, limit in LIMITS.items()
        if name in present and (blob := read_blob(root, place.path / name, limit, findings)) is not None
    }
    return LoadedBundle(place, blobs)


def read_json_files(
    root: Path, folder: PurePosixPath, findings: Findings
) -> Iterator[tuple[PurePosixPath, Blob]]:
    """Yield the manifests (*.json, without *.schema.json) of one folder of scenarios, sorted by name."""
    for entry in entries(root, folder, findings):
        if entry.name.endswith(".json") and not entry.name.endswith(".schema.json"):
            blob = read_blob(root, folder / entry.name, REGISTRY_LIMIT, findings)
            if blob is not None:
                yield folder / entry.name, blob
