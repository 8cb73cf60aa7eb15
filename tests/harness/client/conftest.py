"""A client, a server that it talks to, and a clock on which waiting takes no time."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from harness.client.waiting import PulseClient
from tests.harness.client.stub import Stub, serving
from tests.harness.runner.fakes import FakeClock


@pytest.fixture
def stub() -> Iterator[Stub]:
    with serving(Stub()) as served:
        yield served


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def pulse(stub: Stub, clock: FakeClock) -> Iterator[PulseClient]:
    client = PulseClient(stub.url, "admin", "pass:word", clock=clock)
    yield client
    client.close()
