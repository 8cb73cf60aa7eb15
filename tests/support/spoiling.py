"""Spoils documents of a bundle and asks the checker what it thinks; used by the hostile tests."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from campaigns import NOW, Campaign, Tree, make_contribution, make_submission
from click.testing import CliRunner, Result

from contract.record import encode_indented
from generator.check import check_tree
from generator.cli import main

AS_OF = "2026-12-08T00:00:00Z"


def rules_of(tree: Tree) -> set[str]:
    """The ids of every rule that the tree breaks."""
    return {finding.rule_id for finding in check_tree(tree.root, NOW).findings}


def checked(tree: Tree, *arguments: str) -> Result:
    """What the command says; anything but a verdict is a failed test."""
    told = CliRunner().invoke(main, ["check", "--root", str(tree.root), "--as-of", AS_OF, *arguments])
    assert told.exception is None or isinstance(told.exception, SystemExit), told.exception
    return told


def add_raw(tree: Tree, contribution: bytes, submission: bytes | None = None, **changes: Any) -> Path:
    """A bundle around any bytes, whose name and sums fit them."""
    campaign = Campaign(**changes)
    return tree.write(campaign, contribution, submission)


def contribution_text(tree: Tree, **changes: Any) -> str:
    """A good contribution as text, to be spoiled."""
    return encode_indented(make_contribution(Campaign(**changes), tree.catalogue)).decode()


def spoil_json(tree: Tree, change: Callable[[dict[str, Any]], object], **changes: Any) -> Path:
    """A bundle whose contribution was changed as data; digests of runs are left as they were."""
    document = json.loads(contribution_text(tree, **changes))
    change(document)
    return add_raw(tree, json.dumps(document, indent=2, ensure_ascii=False).encode(), **changes)


def spoil_submission(tree: Tree, change: Callable[[dict[str, Any]], object]) -> Path:
    """A bundle whose submission was changed as data."""
    contribution = contribution_text(tree).encode()
    document = json.loads(encode_indented(make_submission(Campaign(), contribution)))
    change(document)
    return add_raw(tree, contribution, json.dumps(document, indent=2, ensure_ascii=False).encode())
