"""Evidence trees to spoil."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))

from campaigns import Tree


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    """A tree with grounds and no bundle."""
    return Tree(tmp_path / "tree")
