"""Tool arguments fit their schema, or every fault is named."""

from __future__ import annotations

import pytest

from patrol.schema import faults, obj, text

SCHEMA = obj(
    {
        "action": text("a", enum=("get", "list")),
        "lines": {"type": "integer", "maximum": 500},
        "ok": {"type": "boolean"},
        "params": {"type": "object"},
    },
    required=("action",),
)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"action": "get"}, []),
        ({"action": "list", "lines": 500, "ok": True, "params": {}}, []),
        ({}, ["action"]),
        ({"action": "fly"}, ["action"]),
        ({"action": None}, ["action"]),
        ({"action": ["get"]}, ["action"]),
        ({"action": "get", "lines": 501}, ["lines"]),
        ({"action": "get", "lines": True}, ["lines"]),
        ({"action": "get", "lines": 1.0}, ["lines"]),
        ({"action": "get", "ok": 1, "params": []}, ["ok", "params"]),
        ({"more": 1}, ["action", "more"]),
    ],
)
def test_faults_name_every_argument(arguments: dict[str, object], named: list[str]) -> None:
    assert sorted(one.split()[0] for one in faults(arguments, SCHEMA)) == named
