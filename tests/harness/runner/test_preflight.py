"""The server must be in the state that the scenario needs, and controls belong to the reference runtime."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from harness.client.records import Readiness, Settings, Version
from harness.client.routes import Route
from harness.runner.run import Verdict
from tests.harness.runner.world import World

Build = Callable[[str], World]
CONTROL = {
    "the_settings": Settings(enabled=True, patrol_enabled=True, model="control:reference"),
    "the_readiness": Readiness(ready=True, provider="control", model="reference"),
}


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"the_version": Version()}, "which version"),
        ({"the_settings": Settings(enabled=False, patrol_enabled=True, model="openai:m")}, "switched off"),
        ({"the_settings": Settings(enabled=True, patrol_enabled=False, model="openai:m")}, "switched off"),
        ({"the_readiness": Readiness(ready=False, summary="no key")}, "not ready: no key"),
        ({"the_readiness": Readiness(ready=True, provider="demo", model="demo")}, "demo mode"),
        ({"the_settings": Settings(enabled=True, patrol_enabled=True)}, "names no model"),
        ({"level": "assisted"}, "needs autonomy"),
        (CONTROL, "only the reference runtime"),
    ],
    ids=["version", "ai-off", "patrol-off", "not-ready", "demo", "no-model", "mode", "control-on-a-pulse"],
)
def test_preflight_refuses(world: Build, changes: dict[str, Any], reason: str) -> None:
    this = world("watch.docker-unhealthy")
    for name, value in changes.items():
        setattr(this.pulse, name, value)
    outcome = this.run()
    assert reason in outcome.failures[0].text
    assert outcome.verdict is Verdict.INVALID
    assert this.lab.calls == []


def test_controls_are_accepted_from_the_reference_runtime_and_named_everywhere(world: Build) -> None:
    this = world("watch.docker-unhealthy")
    for name, value in CONTROL.items():
        setattr(this.pulse, name, value)
    this.pulse.the_version = Version(version="reference-patrol/0.1.0", runtime="reference")
    environment = this.run().report.environment
    assert (environment.provider, environment.inference_route) == ("control", "control")
    assert environment.model == "control:reference"
    assert environment.pulse_version == "reference-patrol/0.1.0"
    assert environment.versions["runtime"] == "reference"


def test_another_version_than_expected_is_refused(world: Build) -> None:
    outcome = world("watch.docker-unhealthy").run(expected_version="6.1.0")
    assert "expected '6.1.0'" in outcome.failures[0].text


def test_another_model_than_the_leased_one_is_refused(world: Build) -> None:
    outcome = world("watch.docker-unhealthy").run(expected_route=Route.parse("openai:other"))
    assert "instead of 'openai:other'" in outcome.failures[0].text
    assert outcome.report.environment.model == "openai:other"


def test_even_a_run_that_never_began_can_be_attributed(world: Build) -> None:
    this = world("watch.docker-unhealthy")
    this.pulse.the_version = Version()
    environment = this.run(challenge=" challenge-0123456789 ").report.environment
    assert environment.git_sha == "a" * 40
    assert environment.docker_target == "context:lab"
    assert environment.pulse_base_url == "http://127.0.0.1:7655"
    assert environment.community_challenge_nonce == "challenge-0123456789"


@pytest.mark.parametrize("level", ["autonomous", "full", "FULL"])
def test_autonomous_and_full_are_one_mode(world: Build, level: str) -> None:
    this = world("remediation.docker-unhealthy-restart-autonomous")
    this.pulse.level = level
    report = this.run().report
    assert next(phase for phase in report.phases or ()).passed


def test_particulars_of_the_reference_runtime_are_recorded(world: Build) -> None:
    this = world("watch.docker-unhealthy")
    this.pulse.the_settings = this.pulse.the_settings.model_copy(
        update={"reference_runtime": {"prompt_digest": "abc"}}
    )
    versions = this.run().report.environment.versions
    assert versions["runtime.prompt_digest"] == "abc"
    assert versions["docker_engine"] == "20.10.24"
