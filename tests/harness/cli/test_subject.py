"""Who is measured: a server whose route is borrowed and given back, or a runtime of our own for each run."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from contract.errors import UsageError
from contract.manifest import Manifest
from harness.cli.gates import Campaign, LiveOptions
from harness.cli.subject import LEASE_FILE, subjects
from harness.client.errors import RouteError
from harness.clock import Cancellation, SystemClock
from harness.embedded import RunningRuntime, RuntimePlan
from harness.git import Revision
from tests.harness.client.settings_server import SettingsServer
from tests.harness.client.stub import Stub, serving

Make = Callable[..., Campaign]


@pytest.fixture
def stub() -> Iterator[Stub]:
    with serving(Stub()) as served:
        yield served


@pytest.fixture
def campaign(stub: Stub, tmp_path: Path) -> Make:
    def make(**changes: Any) -> Campaign:
        given: dict[str, Any] = dict.fromkeys(LiveOptions.__dataclass_fields__, "")
        given |= {"artifacts": tmp_path, "user": "admin", "model": "openai:gpt-4o"}
        given |= {"authorize_remediation": False, **changes}
        return Campaign(LiveOptions(**given), (), "", stub.url, "password", Revision("", True))

    return make


def test_a_route_is_borrowed_once_for_all_runs_and_given_back(
    stub: Stub, campaign: Make, manifest: Manifest, tmp_path: Path
) -> None:
    server = SettingsServer(stub, SystemClock())
    with subjects(campaign(), SystemClock(), Cancellation()) as given:
        for _ in range(2):
            with given.subject(manifest) as subject:
                assert str(subject.route) == "openai:gpt-4o"
        record = json.loads((tmp_path / LEASE_FILE).read_text())
        assert record == {"url": stub.url, "restore": {"patrol_model": ""}}
        assert (tmp_path / LEASE_FILE).stat().st_mode & 0o777 == 0o600
    assert server.puts == [{"patrol_model": "openai:gpt-4o"}, {"patrol_model": ""}]
    assert not (tmp_path / LEASE_FILE).exists()


def test_a_route_is_given_back_also_after_a_signal(stub: Stub, campaign: Make, tmp_path: Path) -> None:
    server = SettingsServer(stub, SystemClock())
    cancellation = Cancellation()
    with subjects(campaign(), SystemClock(cancellation), cancellation):
        cancellation.request()
    assert server.settings["patrol_model"] == ""
    assert not (tmp_path / LEASE_FILE).exists()


def test_what_a_killed_campaign_had_borrowed_is_given_back_before_it_is_borrowed_again(
    stub: Stub, campaign: Make, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server = SettingsServer(stub, SystemClock(), patrol_model="openai:left-behind")
    (tmp_path / LEASE_FILE).write_text(
        json.dumps({"url": stub.url, "restore": {"patrol_model": "openai:mine"}})
    )
    with subjects(campaign(), SystemClock(), Cancellation()):
        pass
    assert server.settings["patrol_model"] == "openai:mine"
    assert "interrupted campaign" in capsys.readouterr().err


@pytest.mark.parametrize("content", ['{"url": "http://other:1", "restore": {}}', "{", "[]"])
def test_a_record_that_is_not_ours_to_restore_is_refused(
    stub: Stub, campaign: Make, tmp_path: Path, content: str
) -> None:
    server = SettingsServer(stub, SystemClock())
    (tmp_path / LEASE_FILE).write_text(content)
    with pytest.raises(UsageError), subjects(campaign(), SystemClock(), Cancellation()):
        pass
    assert server.puts == []
    assert (tmp_path / LEASE_FILE).read_text() == content


def test_a_model_that_calls_no_tools_is_refused_before_any_lab(
    stub: Stub, campaign: Make, tmp_path: Path
) -> None:
    server = SettingsServer(stub, SystemClock())
    server.proof = {"success": False, "tool_call_observed": False}
    with pytest.raises(RouteError), subjects(campaign(), SystemClock(), Cancellation()):
        pass
    assert server.settings["patrol_model"] == ""


def test_each_run_gets_a_runtime_of_its_own_in_the_mode_of_its_scenario(
    stub: Stub, campaign: Make, manifest: Manifest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    SettingsServer(stub, SystemClock(), model="control:reference")
    plans: list[RuntimePlan] = []

    @contextmanager
    def started(plan: RuntimePlan, _: object) -> Iterator[RunningRuntime]:
        plans.append(plan)
        yield RunningRuntime(stub.url, "admin", "password")

    monkeypatch.setattr("harness.cli.subject.embedded_runtime", started)
    chosen = campaign(embedded=True, model=" control:reference ", docker_context=" lab ")
    with subjects(chosen, SystemClock(), Cancellation()) as given:
        for _ in range(2):
            with given.subject(manifest) as subject:
                assert str(subject.route) == "control:reference"
    assert len(plans) == 2
    assert stub.times("POST /api/ai/patrol/preflight") == 1
    assert plans[0] == RuntimePlan("lab", "control:reference", "monitor", False, tmp_path / "runtime.log")


@pytest.mark.parametrize("authorized", [True, False])
def test_the_command_channel_is_open_only_with_authority(
    stub: Stub, campaign: Make, manifest: Manifest, monkeypatch: pytest.MonkeyPatch, authorized: bool
) -> None:
    SettingsServer(stub, SystemClock(), model="control:reference")
    plans: list[RuntimePlan] = []

    @contextmanager
    def started(plan: RuntimePlan, _: object) -> Iterator[RunningRuntime]:
        plans.append(plan)
        yield RunningRuntime(stub.url, "admin", "password")

    monkeypatch.setattr("harness.cli.subject.embedded_runtime", started)
    chosen = campaign(embedded=True, model="control:reference", authorize_remediation=authorized)
    with subjects(chosen, SystemClock(), Cancellation()) as given, given.subject(manifest):
        pass
    assert plans[0].enable_commands is authorized
