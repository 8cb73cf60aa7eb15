"""The collector keeps the newest state and says when it is old."""

from __future__ import annotations

import threading

import pytest

from patrol.collect.collector import Collector
from patrol.collect.metrics import Thresholds, Usage, usage
from patrol.errors import EngineError
from tests.patrol.fakes import Bench, FakeClock, FakeEngine


def test_containers_and_their_machine_are_collected(bench: Bench) -> None:
    bench.engine.add("api")
    snapshot = bench.collector.collect()
    assert [one.name for one in snapshot.resources.values()] == ["api", "machine"]
    assert [one.type for one in snapshot.resources.values()] == ["app-container", "agent"]
    assert len(snapshot.identities) == 2


def test_a_removed_container_is_gone_at_the_next_look(bench: Bench) -> None:
    bench.engine.add("api")
    bench.collector.collect()
    bench.engine.inspected.clear()
    assert [one.name for one in bench.collector.collect().resources.values()] == ["machine"]


def test_three_failures_make_the_source_stale_and_one_success_current(bench: Bench) -> None:
    bench.engine.add("api")
    bench.collector.collect()
    bench.engine.broken = True
    for failures in (1, 2, 3):
        with pytest.raises(EngineError):
            bench.collector.collect()
        assert bench.collector.snapshot.stale == (failures == 3)
    assert {one.source_status for one in bench.collector.snapshot.resources.values()} == {"stale"}
    bench.engine.broken = False
    assert not bench.collector.collect().stale


def test_before_the_first_look_everything_is_stale(bench: Bench) -> None:
    assert bench.collector.snapshot.stale


def test_a_live_look_reads_the_engine_again(bench: Bench) -> None:
    bench.engine.add("api")
    ident = bench.resource_id("api")
    bench.engine.add("api", health="unhealthy")
    live = bench.collector.live(ident)
    assert live is not None
    assert live.docker is not None
    assert live.docker.health == "unhealthy"
    bench.engine.inspected.clear()
    assert bench.collector.live(ident) is None
    assert bench.collector.live("app-container:unknown") is None


def test_polling_goes_on_through_failures(engine: FakeEngine, clock: FakeClock) -> None:
    collector = Collector(engine, clock, interval_s=5)
    engine.broken = True
    collector.start()
    settled = threading.Event()
    while collector.snapshot.failures < 2:
        settled.wait(0.005)
    engine.broken = False
    while collector.snapshot.stale:
        settled.wait(0.005)
    collector.stop()
    assert collector.snapshot.collected


SAMPLE = {
    "cpu_stats": {"cpu_usage": {"total_usage": 300}, "system_cpu_usage": 2000, "online_cpus": 2},
    "precpu_stats": {"cpu_usage": {"total_usage": 100}, "system_cpu_usage": 1000},
    "memory_stats": {"usage": 900, "limit": 1000, "stats": {"inactive_file": 100}},
}


def test_usage_is_a_share_over_all_processors_and_without_cache() -> None:
    assert usage(SAMPLE) == Usage(cpu=40.0, memory=80.0)


@pytest.mark.parametrize(
    "sample", [None, {}, {"cpu_stats": 3}, {"memory_stats": {"usage": True, "limit": 0}}]
)
def test_no_numbers_are_unknown_and_not_zero(sample: dict[str, object] | None) -> None:
    assert usage(sample) == Usage(None, None)


def test_each_unset_threshold_falls_back_by_itself() -> None:
    assert Thresholds.from_config(cpu=0, memory=55.0, disk=None) == Thresholds(memory=55.0)
