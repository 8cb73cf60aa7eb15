"""Whatever else an engine holds, cleanup removes exactly the run's own objects."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from harness.lab.cleanup import Cleanup, UninterruptedClock
from harness.lab.engine import ObjectView
from harness.lab.identity import RUN_LABEL, Identity
from tests.harness.lab.fakes import FakeClock, FakeEngine

RUN_ID = "q-20260714-150405-deadbeef"
names = st.sampled_from(
    [
        f"pulse-qual-{RUN_ID}-a",
        f"pulse-qual-{RUN_ID}",
        f"x-pulse-qual-{RUN_ID}",
        "pulse-qual-other",
        RUN_ID,
        "a",
    ]
)
values = st.sampled_from([None, RUN_ID, RUN_ID + "0", RUN_ID[:-1], RUN_ID.upper(), ""])
objects = st.dictionaries(names, values, max_size=6)


def labels(value: str | None) -> dict[str, str]:
    return {} if value is None else {RUN_LABEL: value}


@given(containers=objects, volumes=objects, networks=objects)
def test_exactly_the_runs_own_objects_are_removed(
    containers: dict[str, str | None], volumes: dict[str, str | None], networks: dict[str, str | None]
) -> None:
    engine, clock = FakeEngine(), FakeClock()
    for name, value in containers.items():
        engine.add_foreign(name, labels(value))
    engine.drives = {name: ObjectView(name, labels(value)) for name, value in volumes.items()}
    engine.nets = {name: ObjectView(name, labels(value)) for name, value in networks.items()}
    identity = Identity(RUN_ID, "watch.docker-unhealthy")
    cleanup = Cleanup(engine, identity, UninterruptedClock(clock, clock.sleep))
    cleanup._one_pass()
    for there, before in (
        ({box.spec.name for box in engine.boxes.values()}, containers),
        (set(engine.drives), volumes),
        (set(engine.nets), networks),
    ):
        own = {name for name, value in before.items() if name.startswith("pulse-qual-q-") and value == RUN_ID}
        assert there == set(before) - own
