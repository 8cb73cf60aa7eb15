"""Evidence trees for the tests of the generator."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))

from campaigns import Tree, typical


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    """A tree with grounds and no bundle."""
    return Tree(tmp_path / "tree")


@pytest.fixture
def typical_tree(tree: Tree) -> Tree:
    """A tree with one model and two controls on the reference runtime."""
    typical(tree)
    return tree
