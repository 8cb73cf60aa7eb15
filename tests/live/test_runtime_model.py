"""The Patrol loop around a real small model: its shape and its end, never its judgement."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from patrol.clock import SystemClock
from patrol.config import ProviderSettings, TurnLimits
from patrol.errors import Cause, ProviderError
from patrol.providers.base import Message, Request
from patrol.providers.openai import OpenAIProvider
from patrol.runtime import RuntimePlan, build_runtime
from patrol.store import Store
from tests.patrol.fakes import Bench, FakeClock, FakeEngine

pytestmark = pytest.mark.model
ROUTE = "openai:smollm2-135m-instruct"


@pytest.fixture
def settings(model_server: str) -> ProviderSettings:
    return ProviderSettings(
        base_url=model_server,
        tool_choice="required",
        prefill="<tool_call>\n",
        temperature=0.0,
        max_tokens=96,
        request_timeout_s=120,
    )


@pytest.fixture
def provider(settings: ProviderSettings) -> Iterator[OpenAIProvider]:
    made = OpenAIProvider(ROUTE, settings, SystemClock())
    yield made
    made.close()


@pytest.fixture
def fleet(tmp_path: Path) -> Iterator[Bench]:
    """One unhealthy container, one turn for the model."""
    engine, clock, store = FakeEngine(), FakeClock(), Store(tmp_path / "s.sqlite3")
    engine.add("api", health="unhealthy")
    plan = RuntimePlan(
        data=tmp_path,
        model=ROUTE,
        mode="monitor",
        interval_s=5,
        provider=ProviderSettings(),
        limits=TurnLimits(scoped=1, evaluation=1),
    )
    yield Bench(engine, clock, store, build_runtime(plan, engine, clock, store))
    store.close()


def test_a_run_ends_in_one_record_whatever_the_model_says(fleet: Bench, provider: OpenAIProvider) -> None:
    record = fleet.run(provider, "api")
    assert fleet.store.run(record.id) == record
    assert record.input_tokens is not None
    assert record.input_tokens > 0
    assert record.output_tokens is not None
    assert record.output_tokens > 0
    assert record.tool_call_count == len(record.tool_calls)
    assert all(isinstance(json.loads(one.output), dict) for one in record.tool_calls)
    assert record.new_findings == len(fleet.store.active_findings())
    assert (record.status == "error") == (record.error_count > 0)


def test_a_context_that_is_too_small_is_told_apart(provider: OpenAIProvider) -> None:
    flood = Request((Message("user", "word " * 20_000),))
    with pytest.raises(ProviderError) as failed:
        provider.complete(flood, threading.Event())
    assert failed.value.cause is Cause.CONTEXT


def test_check_model_tells_its_three_findings_apart(model_server: str) -> None:
    environ = {
        **os.environ,
        "PATROL_OPENAI_BASE_URL": model_server,
        "PATROL_OPENAI_TOOL_CHOICE": "required",
        "PATROL_OPENAI_PREFILL": "<tool_call>\n",
        "PATROL_OPENAI_TEMPERATURE": "0",
    }
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "from patrol.cli import main; main()",
            "check-model",
            "--model",
            ROUTE,
            "--json",
        ],
        env=environ,
        capture_output=True,
        check=False,
        timeout=120,
    )
    probes = {one["name"]: one for one in json.loads(done.stdout)["probes"]}
    assert probes["connection"]["held"] is True
    assert probes["streaming"]["held"] is True
    assert done.returncode == (0 if probes["tool calling"]["held"] else 1)


def test_a_server_that_dies_is_a_recorded_failure(
    fleet: Bench, settings: ProviderSettings, root: Path
) -> None:
    server = subprocess.Popen(
        [sys.executable, str(root / "tools" / "local_model.py"), "--port", "0", "--exit-with-stdin"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert server.stdout is not None
    url = json.loads(server.stdout.readline())["url"]
    dying = ProviderSettings(base_url=url, request_timeout_s=60, max_tokens=2000, temperature=0.0)
    provider = OpenAIProvider(ROUTE, dying, SystemClock())
    killer = threading.Timer(1.0, server.kill)
    killer.start()
    record = fleet.run(provider, "api")
    killer.join()
    server.communicate()
    assert (record.status, record.error_cause) == ("error", "provider_connection")
    assert "all clear" not in (record.ai_analysis or "").lower()
