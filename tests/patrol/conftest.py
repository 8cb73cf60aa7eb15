"""The fakes of the runtime's edges, put together."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from patrol.collect.collector import Collector
from patrol.collect.metrics import Thresholds
from patrol.config import ProviderSettings, TurnLimits
from patrol.hub import Hub
from patrol.loop.watch import Watcher
from patrol.service import PatrolService
from patrol.settings import SettingsDesk
from patrol.store import Store
from tests.patrol.fakes import Bench, FakeClock, FakeEngine


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def engine() -> FakeEngine:
    return FakeEngine()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = Store(tmp_path / "state.sqlite3")
    yield opened
    opened.close()


@pytest.fixture
def bench(engine: FakeEngine, clock: FakeClock, store: Store) -> Bench:
    limits = TurnLimits()
    collector = Collector(engine, clock, interval_s=5)
    watcher = Watcher(collector, store, Hub(clock), clock, limits, Thresholds())
    return Bench(engine, clock, store, collector, watcher)


@pytest.fixture
def service(bench: Bench) -> Iterator[PatrolService]:
    """A service whose route is control:reference, its engine collected once."""
    stop = threading.Event()
    desk = SettingsDesk(
        bench.store, bench.clock, ProviderSettings(), bench.limits, "control:reference", "monitor", stop
    )
    bench.collector.collect()
    made = PatrolService(bench.watcher, desk, ProviderSettings(), stop)
    yield made
    made.join()
