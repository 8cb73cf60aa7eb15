"""The client against the reference runtime, which has the traps of a real server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from harness.client.errors import HTTPError
from harness.client.lease import RouteLease
from harness.client.waiting import PulseClient
from harness.clock import SystemClock
from harness.embedded import RunningRuntime, RuntimePlan, embedded_runtime

pytestmark = pytest.mark.live
MINUTE = 60 * 10**9


@pytest.fixture(scope="module")
def runtime(docker_context: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningRuntime]:
    log = tmp_path_factory.mktemp("runtime") / "runtime.log"
    with embedded_runtime(
        RuntimePlan(docker_context, "control:reference", "monitor", False, log), SystemClock()
    ) as running:
        yield running


@pytest.fixture
def pulse(runtime: RunningRuntime) -> Iterator[PulseClient]:
    client = PulseClient(runtime.url, runtime.user, runtime.password, clock=SystemClock())
    yield client
    client.close()


def test_the_runtime_says_that_it_is_not_a_pulse(pulse: PulseClient) -> None:
    version = pulse.version()
    assert version.is_reference
    assert version.version.startswith("reference-patrol/")


def test_a_client_that_keeps_cookies_is_refused_and_ours_is_not(
    runtime: RunningRuntime, pulse: PulseClient
) -> None:
    with httpx.Client(auth=(runtime.user, runtime.password), trust_env=False) as careless:
        careless.get(f"{runtime.url}/api/settings/ai").raise_for_status()
        assert careless.cookies
        refused = careless.post(f"{runtime.url}/api/ai/patrol/preflight", json={})
    assert refused.status_code == 403
    for _ in range(2):
        pulse.settings()
        assert pulse.preflight().success


def test_a_wrong_password_is_refused(runtime: RunningRuntime) -> None:
    client = PulseClient(runtime.url, runtime.user, "wrong", clock=SystemClock())
    with pytest.raises(HTTPError) as caught:
        client.settings()
    client.close()
    assert caught.value.status == 401


def test_a_run_comes_back_under_its_accepted_id(pulse: PulseClient) -> None:
    first = pulse.trigger_and_wait((), MINUTE)
    second = pulse.trigger_and_wait((), MINUTE)
    assert first.id != second.id
    assert {run.id for run in pulse.runs()} >= {first.id, second.id}


def test_an_unknown_resource_is_refused_with_its_id(pulse: PulseClient) -> None:
    with pytest.raises(HTTPError) as caught:
        pulse.trigger_and_wait(("app-container:nobody",), MINUTE)
    assert (caught.value.status, caught.value.code) == (422, "patrol_scope_unresolved")
    assert caught.value.details["unmatched_resource_ids"] == "app-container:nobody"


def test_an_unknown_member_of_a_trigger_is_refused(runtime: RunningRuntime) -> None:
    answer = httpx.post(
        f"{runtime.url}/api/ai/patrol/run",
        json={"context": "x"},
        auth=(runtime.user, runtime.password),
        trust_env=False,
    )
    assert answer.status_code == 400
    assert answer.json()["code"] == "invalid_patrol_scope"


def test_a_route_is_leased_by_a_fresh_asynchronous_preflight_and_given_back(pulse: PulseClient) -> None:
    lease = RouteLease.acquire(pulse, "control:silent")
    assert pulse.settings().patrol_model == "control:silent"
    lease.close()
    assert pulse.settings().patrol_model == ""


def test_the_engine_is_shown_with_the_state_of_its_containers(pulse: PulseClient) -> None:
    assert any(resource.type == "agent" for resource in pulse.list_resources())


def test_the_log_holds_no_password(runtime: RunningRuntime, pulse: PulseClient, tmp_path: Path) -> None:
    pulse.settings()
    logs = tmp_path.parent.glob("runtime*/runtime.log")
    assert all(runtime.password not in log.read_text() for log in logs)
