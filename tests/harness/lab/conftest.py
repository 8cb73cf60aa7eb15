"""Labs on the engine in memory."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from contract.manifest import Manifest, load_manifest
from harness.lab.lab import DockerLab
from tests.harness.lab.fakes import IMAGE, FakeClock, FakeEngine

RUN_ID = "q-20260714-150405-deadbeef"


@pytest.fixture
def run_id() -> str:
    return RUN_ID


@pytest.fixture
def engine() -> FakeEngine:
    return FakeEngine()


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def scenario(root: Path) -> Callable[[str], Manifest]:
    """A scenario of the catalogue by its id."""

    def load(name: str) -> Manifest:
        return load_manifest((root / "scenarios" / f"{name}.json").read_bytes())

    return load


@pytest.fixture
def make_lab(engine: FakeEngine, clock: FakeClock) -> Callable[..., DockerLab]:
    """A lab for a manifest, not prepared yet, that runs the image that the engine has."""

    def make(manifest: Manifest, *, image_override: str = IMAGE) -> DockerLab:
        return DockerLab(
            engine,
            manifest,
            RUN_ID,
            label="context:fake",
            clock=clock,
            image_override=image_override,
            wait=clock.sleep,
        )

    return make


@pytest.fixture
def manifest(scenario: Callable[[str], Manifest]) -> Manifest:
    return scenario("watch.docker-unhealthy")


@pytest.fixture
def lab(make_lab: Callable[..., DockerLab], manifest: Manifest) -> DockerLab:
    """A prepared lab of the marker scenario."""
    made = make_lab(manifest)
    made.prepare()
    return made
