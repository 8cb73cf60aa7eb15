"""Stable codes: what is declared can be emitted, and what is emitted is declared."""

from __future__ import annotations

import re
from pathlib import Path

from patrol.actions.checks import Code as ActionCode
from patrol.errors import Cause
from patrol.tools.registry import Code as ToolCode

FROM_OUTSIDE = {"invalid_id", "invalid_action_request", "invalid_action_decision", "invalid_action_execution"}
AGENT = FROM_OUTSIDE | {"operator_state_invalid"} | {one.value for one in ActionCode}


def sources(root: Path) -> str:
    return "\n".join(path.read_text() for path in sorted((root / "patrol").rglob("*.py")))


def test_every_declared_code_has_an_emitter(root: Path) -> None:
    text = sources(root)
    for enum, name in ((ActionCode, "Code"), (ToolCode, "Code"), (Cause, "Cause")):
        assert [one.name for one in enum if not re.search(rf"\b{name}\.{one.name}\b", text)] == []


def test_every_agent_style_code_is_declared(root: Path) -> None:
    found = re.findall(r'ApiError\(\s*\d+,\s*"([a-z_]+)"[^)]*agent_style=True', sources(root))
    assert found
    assert set(found) <= AGENT
