"""What data says by itself: triage before a model is asked, signals after."""

from __future__ import annotations

import json

import pytest

from patrol.clock import NS, rfc3339
from patrol.collect.metrics import Thresholds
from patrol.loop.signals import MOST_FLAGS, Signal, detect, from_flags
from patrol.loop.triage import Flag, triage
from patrol.records import ToolCall
from tests.patrol.fakes import START_NS, Bench

HOUR = 3600 * NS


def told(tool: str, kind: str, output: object, *, ok: bool = True) -> ToolCall:
    text = output if isinstance(output, str) else json.dumps(output)
    return ToolCall(
        id="1",
        tool_name=tool,
        input=json.dumps({"type": kind}),
        output=text,
        success=ok,
        start_time=0,
        end_time=0,
        duration_ms=0,
    )


def found(*calls: ToolCall, thresholds: Thresholds | None = None) -> tuple[Signal, ...]:
    return detect(calls, thresholds or Thresholds(), START_NS)


def performance(**numbers: object) -> ToolCall:
    return told("pulse_metrics", "performance", {"resources": [{"resource_id": "r", "name": "n", **numbers}]})


def pool(usage: float) -> ToolCall:
    return told("pulse_storage", "pools", {"pools": [{"id": "p", "usage": usage}]})


def disk(**facts: object) -> ToolCall:
    return told("pulse_storage", "disk_health", {"disks": [{"id": "d", **facts}]})


def task(age_ns: int, **facts: object) -> dict[str, object]:
    return {"resource_id": "b", "time": rfc3339(START_NS - age_ns), **facts}


def backups(*tasks: object) -> ToolCall:
    return told("pulse_storage", "backup_tasks", {"tasks": list(tasks)})


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (performance(cpu={"avg": 70.0}), []),
        (performance(cpu={"avg": 70.1}), [("high_cpu", "warning", "performance")]),
        (performance(cpu={"avg": 0, "current": 71}), [("high_cpu", "warning", "performance")]),
        (performance(cpu={"avg": 60, "current": 99}), []),
        (performance(memory={"current": 80.0}), []),
        (performance(memory={"current": 80.1}), [("high_memory", "warning", "performance")]),
        (pool(75.0), []),
        (pool(75.1), [("high_disk", "warning", "capacity")]),
        (pool(95.0), [("high_disk", "warning", "capacity")]),
        (pool(95.1), [("high_disk", "critical", "capacity")]),
        (disk(health="PASSED"), []),
        (disk(health="unknown"), []),
        (disk(health=""), []),
        (disk(health="FAILED"), [("smart_failure", "critical", "reliability")]),
        (disk(health="OK", reallocated=3), [("smart_failure", "warning", "reliability")]),
        (disk(health="OK", pending=1), [("smart_failure", "critical", "reliability")]),
        (backups(task(HOUR, status="ok")), []),
        (backups(task(HOUR, status="running")), []),
        (backups(task(HOUR, status="error")), [("backup_failed", "warning", "backup")]),
        (backups(task(48 * HOUR, status="ok")), []),
        (backups(task(48 * HOUR + NS, status="ok")), [("backup_stale", "warning", "backup")]),
        (backups(task(HOUR, status="ok"), task(2 * HOUR, status="error")), []),
        (backups({"resource_id": "b", "time": "yesterday"}), []),
    ],
)
def test_signal_table(call: ToolCall, expected: list[tuple[str, str, str]]) -> None:
    assert [(one.type, one.severity, one.category) for one in found(call)] == expected


@pytest.mark.parametrize(
    "call",
    [
        told("pulse_metrics", "performance", {"resources": [{"id": "r", "cpu": {"avg": 99}}]}, ok=False),
        told("pulse_metrics", "performance", ""),
        told("pulse_metrics", "performance", "No data"),
        told("pulse_metrics", "performance", "unavailable: nothing"),
        told("pulse_metrics", "performance", "[1]"),
        told("pulse_metrics", "performance", {"resources": 3}),
        told("pulse_query", "performance", {"resources": [{"id": "r", "cpu": {"avg": 99}}]}),
    ],
)
def test_what_is_no_data_is_no_signal(call: ToolCall) -> None:
    assert found(call) == ()


def test_one_signal_for_each_type_and_resource() -> None:
    assert len(found(performance(cpu={"avg": 90}), performance(cpu={"avg": 95}))) == 1
    assert len(found(performance(cpu={"avg": 90}, memory={"avg": 90}))) == 2


def test_configured_thresholds_are_used() -> None:
    assert found(performance(cpu={"avg": 90}), thresholds=Thresholds(cpu=90.0)) == ()


def test_triage_flags_running_containers_only(bench: Bench) -> None:
    bench.engine.add("sick", health="unhealthy")
    bench.engine.add("loop", state="restarting", health="", restarts=3)
    bench.engine.add("again", health="", restarts=3)
    bench.engine.add("twice", health="", restarts=2)
    bench.engine.add("down", state="exited", health="unhealthy", restarts=9)
    bench.engine.add("fine")
    flags = triage(bench.collector.collect().resources.values())
    assert {(one.resource_name, one.category) for one in flags} == {
        ("sick", "health"),
        ("loop", "reliability"),
        ("again", "reliability"),
    }
    said = {one.resource_name: one.reason for one in flags}
    assert "confirmed" in said["loop"]
    assert "unproved" in said["again"]


def test_flags_join_the_signals_in_the_category_of_findings() -> None:
    kinds = ["health", "connectivity", "reliability", "backup", "anomaly", "weather"]
    signals = from_flags([Flag("r", "n", kind, "x") for kind in kinds])
    assert [one.category for one in signals] == [
        "reliability",
        "reliability",
        "reliability",
        "backup",
        "general",
    ]


def test_at_most_twenty_flags_join() -> None:
    assert len(from_flags([Flag(str(n), "n", "health", "x") for n in range(30)])) == MOST_FLAGS
