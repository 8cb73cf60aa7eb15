"""The fakes of the runtime's edges, put together."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from patrol.config import ProviderSettings, TurnLimits
from patrol.runtime import RuntimePlan, build_runtime
from patrol.service import PatrolService
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
def bench(engine: FakeEngine, clock: FakeClock, store: Store, tmp_path: Path) -> Bench:
    """A runtime whose route is control:reference, in mode monitor, with its command channel open."""
    plan = RuntimePlan(
        data=tmp_path,
        model="control:reference",
        mode="monitor",
        interval_s=5,
        provider=ProviderSettings(),
        limits=TurnLimits(),
        commands=True,
    )
    return Bench(engine, clock, store, build_runtime(plan, engine, clock, store))


@pytest.fixture
def service(bench: Bench) -> Iterator[PatrolService]:
    """The service of the bench, its engine collected once."""
    bench.collector.collect()
    yield bench.runtime.service
    bench.runtime.service.join()
    bench.runtime.investigator.join(5)
