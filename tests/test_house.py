"""Laws of the repository itself: what each extra may import, and what no committed file may hold."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.metadata import packages_distributions, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement

# Written in pieces, so that this file does not name them either.
REGISTRY_HOSTS = re.compile(
    "|".join(("py" + r"pi\.org", "python" + "hosted", "npm" + r"js\.", r"deb\.deb" + "ian"))
)
MACHINE_PATHS = re.compile(re.escape(f"{Path(__file__).parents[1]}/") + "|/wo" + "rk/")
SECRETS = re.compile(
    r"PRIVATE KEY-----\s+[A-Za-z0-9+/=\s]{64}|\bgh[pousr]_[A-Za-z0-9]{30,}|\bsk-[A-Za-z0-9]{32,}"
)

BLOCKED_IMPORT = """
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {absent!r}:
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Absent())
import {package}
import {package}.cli
"""


def tracked(root: Path) -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True, check=True).stdout
    return [root / name for name in listed.decode().split("\0") if name]


def distributions_of(extra: str) -> set[str]:
    """Every distribution that installing the project with this one extra brings, by normalised name."""
    found: set[str] = set()
    waiting = [("patrol-qualification", {extra})]
    while waiting:
        name, extras = waiting.pop()
        for line in requires(name) or ():
            needed = Requirement(line)
            asked = needed.marker is None or any(needed.marker.evaluate({"extra": e}) for e in extras | {""})
            key = needed.name.lower().replace("_", "-")
            if asked and key not in found:
                found.add(key)
                waiting.append((needed.name, set(needed.extras)))
    return found


@pytest.mark.parametrize(
    ("package", "extra"), [("generator", "site"), ("harness", "lab"), ("patrol", "runtime")]
)
def test_each_package_imports_with_its_own_extra_alone(package: str, extra: str) -> None:
    own = distributions_of(extra) | {"patrol-qualification"}
    absent = {
        module
        for module, owners in packages_distributions().items()
        if not any(owner.lower().replace("_", "-") in own for owner in owners)
    }
    assert "docker" in absent or extra != "site"
    code = BLOCKED_IMPORT.format(absent=absent - {"pip", "_distutils_hack"}, package=package)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "pattern", [REGISTRY_HOSTS, MACHINE_PATHS, SECRETS], ids=["registry", "path", "secret"]
)
def test_no_committed_file_names_what_no_commit_may_name(root: Path, pattern: re.Pattern[str]) -> None:
    # Fixtures of refused input hold invented private paths and secrets on purpose.
    exempt = (root / "tests" / "hostile", root / "tests" / "golden")
    named = [
        str(path.relative_to(root))
        for path in tracked(root)
        if path.is_file()
        and not any(path.is_relative_to(folder) for folder in exempt)
        and pattern.search(path.read_bytes().decode("utf-8", "replace"))
    ]
    assert named == []


def test_the_lock_pins_every_requirement_by_hash(root: Path) -> None:
    for lock in ("lock.txt", "local-model.txt"):
        text = (root / "requirements" / lock).read_text(encoding="utf-8")
        pinned = re.findall(r"^([a-z0-9-]+)==[^\\\n]*(\\?)$", text, flags=re.MULTILINE)
        assert pinned
        assert all(continued for _, continued in pinned)
        assert "--index-url" not in text
