"""All parts of one runtime, put together and taken apart in reverse order."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from patrol.actions.broker import Broker
from patrol.actions.checks import Guard
from patrol.actions.store import ActionStore
from patrol.clock import Clock
from patrol.collect.collector import Collector
from patrol.collect.engine import Engine
from patrol.collect.metrics import Thresholds
from patrol.config import VERIFY_S, ProviderSettings, TurnLimits
from patrol.hub import Hub
from patrol.investigation.investigator import Investigator
from patrol.investigation.run import Desk
from patrol.investigation.store import InvestigationStore
from patrol.loop.watch import Watcher
from patrol.providers.factory import make_provider
from patrol.service import PatrolService
from patrol.settings import SettingsDesk
from patrol.store import Store

SHUTDOWN_S = 2.0


@dataclass(frozen=True, slots=True)
class RuntimePlan:
    """What a runtime is made from; the command channel is closed unless asked for."""

    data: Path
    model: str
    mode: str
    interval_s: float
    provider: ProviderSettings
    limits: TurnLimits
    commands: bool = False
    verify_bound_s: float = VERIFY_S


@dataclass(frozen=True, slots=True)
class Runtime:
    """The parts that the HTTP face needs."""

    service: PatrolService
    broker: Broker
    investigator: Investigator


def build_runtime(plan: RuntimePlan, engine: Engine, clock: Clock, store: Store) -> Runtime:
    """Wire everything over one engine and one store; nothing has begun yet."""
    stop = threading.Event()
    collector = Collector(engine, clock, interval_s=plan.interval_s)
    desk = SettingsDesk(
        store, clock, plan.provider, plan.limits, plan.model, plan.mode, stop, plan.verify_bound_s
    )
    watcher = Watcher(collector, store, Hub(clock), clock, plan.limits, Thresholds())
    guard = Guard(store, collector, clock, plan.commands)
    broker = Broker(ActionStore(store.database), guard, engine, desk, stop, plan.verify_bound_s)
    investigations = Desk(
        watcher=watcher,
        store=InvestigationStore(store.database),
        broker=broker,
        provider=lambda: make_provider(desk.current().route, plan.provider, clock),
        stop=stop,
    )
    investigator = Investigator(investigations, desk)
    service = PatrolService(watcher, desk, plan.provider, stop, investigator.consider)
    return Runtime(service, broker, investigator)


@contextmanager
def running(plan: RuntimePlan, engine: Engine, clock: Clock) -> Iterator[Runtime]:
    """A runtime that collects, with everything settled that an earlier process left open."""
    store = Store(plan.data / "patrol.sqlite3")
    runtime = build_runtime(plan, engine, clock, store)
    collector = runtime.service.watcher.collector
    try:
        runtime.service.close_orphans()
        runtime.investigator.close_orphans()
        collector.collect()
        runtime.broker.recover()
        collector.start()
        yield runtime
    finally:
        runtime.service.join()
        runtime.investigator.join(SHUTDOWN_S)
        collector.stop()
        store.close()
        engine.close()
