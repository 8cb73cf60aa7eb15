"""The wish to stop: heard by every wait, not by cleanup, and only once."""

from __future__ import annotations

import os
import signal
import time

import pytest

from contract.timestamps import Timestamp
from harness.client.waiting import PulseClient
from harness.clock import Cancellation, CancelledRunError, SystemClock, elapsed
from tests.harness.client.stub import Answer, Stub, serving


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_a_wait_at_once_with_its_own_exit_code(number: signal.Signals, code: int) -> None:
    cancellation = Cancellation()
    clock = SystemClock(cancellation)
    with cancellation.on_signals(lambda _: None):
        os.kill(os.getpid(), number)
        began = time.monotonic()
        with pytest.raises(CancelledRunError) as caught:
            clock.sleep(60)
    assert time.monotonic() - began < 5
    assert caught.value.exit_code == code


def test_a_second_signal_is_answered_and_ignored() -> None:
    cancellation, told = Cancellation(), list[str]()
    with cancellation.on_signals(told.append):
        os.kill(os.getpid(), signal.SIGTERM)
        os.kill(os.getpid(), signal.SIGINT)
        with pytest.raises(CancelledRunError) as caught:
            cancellation.check()
    assert caught.value.exit_code == 143
    assert told == ["SIGTERM: ending the run", "SIGINT: cleanup is already under way; please wait"]


def test_handlers_are_put_back() -> None:
    before = signal.getsignal(signal.SIGINT)
    with Cancellation().on_signals(lambda _: None):
        assert signal.getsignal(signal.SIGINT) is not before
    assert signal.getsignal(signal.SIGINT) is before


def test_a_shielded_stretch_goes_on_and_what_follows_does_not() -> None:
    cancellation = Cancellation()
    cancellation.request()
    with cancellation.shielded():
        cancellation.check()
        cancellation.sleep(0.001)
        with cancellation.breakable():
            pass
    with pytest.raises(CancelledRunError):
        cancellation.check()


def test_a_signal_breaks_off_an_http_answer_that_does_not_come() -> None:
    cancellation = Cancellation()
    clock = SystemClock(cancellation)
    with serving(Stub()) as stub, cancellation.on_signals(lambda _: None):

        def never(_: object) -> Answer:
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(1)
            return Answer({})

        stub.on("GET /api/version", never)
        client = PulseClient(stub.url, "admin", "password", clock=clock, breakable=cancellation.breakable)
        began = time.monotonic()
        with pytest.raises(CancelledRunError):
            client.version()
        assert time.monotonic() - began < 0.9
        client.close()


def test_outside_of_a_breakable_stretch_a_signal_waits_for_the_next_check() -> None:
    cancellation = Cancellation()
    with cancellation.on_signals(lambda _: None):
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(0.01)
        assert cancellation.requested


def test_the_machines_clock_tells_utc_to_the_nanosecond_and_never_goes_back() -> None:
    clock = SystemClock()
    before = time.time_ns()
    now = clock.now()
    assert before <= now.instant_ns <= time.time_ns()
    assert str(now).endswith("Z")
    assert Timestamp(str(now)) == now
    since = clock.monotonic_ns()
    clock.sleep(0.001)
    assert elapsed(clock, since) >= 1_000_000
    clock.sleep(-1)
