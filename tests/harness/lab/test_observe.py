"""Waiting: one look at least, then each half second or when something happens (L13, L14, L22)."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest

from contract.manifest import Manifest, Predicate
from contract.predicates import Observed
from contract.record import RawJson
from harness.clock import CancelledRunError
from harness.lab.errors import EngineError, EngineTimeoutError, LabError, MissingObjectError, ProbeError
from harness.lab.lab import DockerLab
from harness.lab.observe import Observer, failure_text
from harness.lab.probes import Reading
from tests.harness.lab.fakes import FakeClock, FakeEngine, FakeFeed

SECOND = 10**9
Value = Observed | Exception


def predicate(
    value: str = '"unhealthy"', *, probe: str = "docker.health", operator: str = "eq", timeout: str = ""
) -> Predicate:
    return Predicate(probe=probe, target="api", operator=operator, value=RawJson(value), timeout=timeout)


class Script:
    """A probe that answers from a list, the last entry for ever, and notes when it was asked."""

    def __init__(self, clock: FakeClock, values: Iterable[Value]) -> None:
        self.clock = clock
        self.values = list(values)
        self.asked_ns: list[int] = []

    def __call__(self, _: Predicate) -> Reading:
        self.asked_ns.append(self.clock.ns)
        value = self.values.pop(0) if len(self.values) > 1 else self.values[0]
        if isinstance(value, Exception):
            raise value
        return Reading(value)


Observe = Callable[..., tuple[Script, Observer]]


@pytest.fixture
def script(clock: FakeClock) -> Observe:
    def make(*values: Value, feed: FakeFeed | None = None) -> tuple[Script, Observer]:
        probe = Script(clock, values)
        return probe, Observer(probe, clock, feed or FakeFeed())

    return make


def test_a_predicate_that_holds_is_looked_at_once_and_not_waited_for(
    script: Observe, clock: FakeClock
) -> None:
    probe, observer = script("unhealthy")
    seen = observer.wait_for(predicate())
    assert (seen.passed, seen.error, len(probe.asked_ns), clock.slept) == (True, "", 1, [])


def test_the_default_is_thirty_seconds_with_a_look_every_half_second(script: Observe) -> None:
    probe, observer = script("healthy")
    seen = observer.wait_for(predicate())
    assert [round(ns / SECOND, 1) for ns in probe.asked_ns] == [half / 2 for half in range(61)]
    assert (seen.passed, seen.error) == (False, "not within 30s")


def test_the_time_given_bounds_the_wait_and_there_is_a_last_look_at_its_end(script: Observe) -> None:
    probe, observer = script("healthy")
    seen = observer.wait_for(predicate(timeout="1200ms"))
    assert [round(ns / SECOND, 2) for ns in probe.asked_ns] == [0, 0.5, 1, 1.2]
    assert seen.error == "not within 1.2s"


def test_there_is_one_look_however_short_the_time(script: Observe) -> None:
    probe, observer = script("unhealthy")
    assert observer.wait_for(predicate(timeout="1ns")).passed
    assert len(probe.asked_ns) == 1


def test_a_transition_is_seen_when_it_comes_not_half_a_second_later(
    script: Observe, clock: FakeClock
) -> None:
    feed = FakeFeed()
    probe, observer = script("healthy", "unhealthy", feed=feed)
    clock.at(0.1, lambda: setattr(feed, "rung", True))
    assert observer.wait_for(predicate()).passed
    assert probe.asked_ns[1] <= 0.13 * SECOND


def test_a_ring_during_a_look_is_not_lost(script: Observe, clock: FakeClock) -> None:
    feed = FakeFeed()
    probe, _ = script("healthy", "unhealthy")

    def ring(asked: Predicate) -> Reading:
        feed.rung = True
        return probe(asked)

    assert Observer(ring, clock, feed).wait_for(predicate()).passed
    assert clock.slept == []


def test_the_first_failure_ends_the_list_and_later_predicates_have_no_observation(script: Observe) -> None:
    probe, observer = script("unhealthy", "healthy")
    later = predicate('"x"')
    seen = observer.observe((predicate(), predicate(timeout="1s"), later))
    assert [one.passed for one in seen] == [True, False]
    assert all(one.predicate != later for one in seen)
    assert len(probe.asked_ns) == 4


def test_nothing_to_observe_is_no_observation(script: Observe) -> None:
    assert script("healthy")[1].observe(()) == ()


@pytest.mark.parametrize("value", ["null", "false", '""', "0"])
@pytest.mark.parametrize(
    "error", [ProbeError("no"), EngineError("no"), EngineTimeoutError("no"), MissingObjectError("no")]
)
def test_a_probe_that_cannot_measure_never_passes(script: Observe, error: Exception, value: str) -> None:
    for operator in ("eq", "not_eq", "lte", "in"):
        _, observer = script(error)
        seen = observer.wait_for(predicate(value, operator=operator, timeout="1s"))
        assert (seen.passed, seen.observed, seen.error) == (False, None, "not within 1s; no")


@pytest.mark.parametrize(
    ("operator", "value", "observed", "error"),
    [
        ("gte", "0", True, "not a number"),
        ("gte", '"x"', 5, "not a number"),
        ("in", "3", 3, "needs an array"),
        ("like", "3", 3, "unknown operator"),
        ("eq", "", None, "no value"),
    ],
)
def test_a_predicate_that_cannot_be_decided_has_not_passed(
    script: Observe, operator: str, value: str, observed: Observed, error: str
) -> None:
    seen = script(observed)[1].wait_for(predicate(value, operator=operator, timeout="1s"))
    assert not seen.passed
    assert error in seen.error


def test_a_later_error_does_not_hide_what_was_last_observed(script: Observe) -> None:
    _, observer = script("healthy", EngineError("gone"))
    seen = observer.wait_for(predicate(timeout="1s"))
    assert seen.observed == RawJson('"healthy"')
    text = failure_text(seen)
    assert text == ('docker.health of api eq "unhealthy": observed "healthy" (not within 1s; gone)')


def test_an_error_that_passes_by_leaves_no_trace(script: Observe) -> None:
    seen = script(EngineError("busy"), "unhealthy")[1].wait_for(predicate())
    assert (seen.passed, seen.error) == (True, "")


def test_a_wait_ends_at_once_when_the_run_is_cancelled(script: Observe, clock: FakeClock) -> None:
    def cancel() -> None:
        raise CancelledRunError(2)

    clock.at(0.7, cancel)
    with pytest.raises(CancelledRunError):
        script("healthy")[1].wait_for(predicate())
    assert clock.ns < 0.75 * SECOND


def test_an_observation_says_when_it_was_made_and_what_the_container_was(
    lab: DockerLab, run_id: str, clock: FakeClock
) -> None:
    (seen,) = lab.observe((predicate('"healthy"'),))
    assert seen.checked_at == clock.now()
    assert seen.state is not None
    assert (seen.state.alias, seen.state.name) == ("api", f"pulse-qual-{run_id}-api")
    assert seen.state.networks == (f"pulse-qual-{run_id}-net",)
    assert seen.state.labels["com.pulse.intelligence-lab.run"] == run_id


@pytest.mark.parametrize(
    ("probe", "value"),
    [
        ("docker.exists", "true"),
        ("docker.status", '"running"'),
        ("docker.running", "true"),
        ("docker.health", '"healthy"'),
        ("docker.restart_count", "3"),
        ("docker.exit_code", "7"),
        ("docker.network_attached", "true"),
        ("docker.scratch_available_bytes", "8384512"),
        ("inventory.same_as_pre", "false"),
    ],
)
def test_each_probe_reads_its_own_value(lab: DockerLab, engine: FakeEngine, probe: str, value: str) -> None:
    assert lab.prepared is not None
    box = engine.boxes[(lab.prepared.resource_ids or {})["api"]]
    box.restarts, box.exit_code = 3, 7
    (seen,) = lab.observe((predicate(value, probe=probe),))
    assert seen.passed
    assert seen.observed == RawJson(value)
    assert (seen.state is None) == (probe == "inventory.same_as_pre")


def test_a_container_without_health_check_has_the_empty_health(
    make_lab: Callable[..., DockerLab], scenario: Callable[[str], Manifest]
) -> None:
    lab = make_lab(scenario("watch.healthy-mixed"))
    lab.prepare()
    asked = Predicate(probe="docker.health", target="store", operator="eq", value=RawJson('""'))
    assert lab.observe((asked,))[0].passed


def test_only_not_found_proves_that_something_does_not_exist(lab: DockerLab, engine: FakeEngine) -> None:
    gone = predicate("false", probe="docker.exists", timeout="1s")
    engine.failures["inspect_container"] = EngineTimeoutError("no answer")
    assert not lab.observe((gone,))[0].passed
    engine.failures["inspect_container"] = MissingObjectError("no such container")
    assert lab.observe((gone,))[0].passed
    assert not lab.observe((predicate("false", probe="docker.running", timeout="1s"),))[0].passed


def test_an_unknown_probe_and_an_unknown_target_are_errors(lab: DockerLab) -> None:
    (seen,) = lab.observe((predicate("true", probe="docker.mood", timeout="1s"),))
    assert "no probe" in seen.error
    nobody = Predicate(
        probe="docker.exists", target="nobody", operator="eq", value=RawJson("false"), timeout="1s"
    )
    assert not lab.observe((nobody,))[0].passed


def test_a_lab_that_was_never_prepared_is_not_waited_for(
    make_lab: Callable[..., DockerLab], manifest: Manifest, clock: FakeClock
) -> None:
    with pytest.raises(LabError, match="has not been prepared"):
        make_lab(manifest).observe((predicate(),))
    assert clock.slept == []
