"""The live commands on a lab and a server that are not there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from contract.manifest import Manifest, load_manifest
from harness.cli import run
from harness.cli.subject import Remote, Subject
from harness.client.routes import Route
from harness.clock import Cancellation
from harness.resources import load_prices
from tests.harness.runner.fakes import FakeLab
from tests.harness.runner.world import World


@dataclass
class Stage:
    """Runs command lines; each run gets a fresh world, which `prepare` may change."""

    root: Path
    artifacts: Path
    worlds: list[World] = field(default_factory=list)
    prepare: Callable[[World], object] = lambda world: None
    entered: list[str] = field(default_factory=list)
    cancellations: list[Cancellation] = field(default_factory=list)
    level: str = ""

    def command(self, *words: str) -> int:
        return run([*words, "--artifacts", str(self.artifacts), "--catalog", str(self.root / "scenarios")])

    def live(self, scenario: str = "watch.docker-unhealthy", *more: str) -> int:
        words = ("live", "--scenario", scenario, "--docker-context", "lab", "--authorize-live-faults")
        return self.command(*words, *more)

    def world(self, manifest: Manifest) -> World:
        world = World(manifest, load_prices())
        world.pulse.level = self.level
        self.prepare(world)
        self.worlds.append(world)
        return world


class StagedSubjects:
    """A fresh fake server for each run."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage

    @contextmanager
    def subject(self, manifest: Manifest) -> Iterator[Subject]:
        world = self._stage.world(manifest)
        with Remote(Subject(world.pulse, Route.parse("openai:gpt-4o"))).subject(manifest) as given:  # type: ignore[arg-type]
            yield given


@pytest.fixture
def stage(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
    """Everything outside replaced: contexts, engines, servers; the password is in the environment."""
    this = Stage(root, tmp_path / "artifacts")
    store = tmp_path / "docker"
    context(store, "lab", "unix:///nowhere/docker.sock")
    context(store, "far", "tcp://192.0.2.7:2376")
    monkeypatch.setenv("DOCKER_CONFIG", str(store))
    monkeypatch.setenv("PULSE_QUALIFY_PASSWORD", "from the environment")
    monkeypatch.delenv("PULSE_QUALIFY_LAB_IMAGE", raising=False)

    @contextmanager
    def subjects(campaign: object, clock: object, cancellation: Cancellation) -> Iterator[StagedSubjects]:
        this.cancellations.append(cancellation)
        this.entered.append("subjects")
        yield StagedSubjects(this)
        this.entered.append("given back")

    @contextmanager
    def open_lab(*_: Any, **__: Any) -> Iterator[FakeLab]:
        this.entered.append("lab")
        yield this.worlds[-1].lab
        this.entered.append("lab closed")

    monkeypatch.setattr("harness.cli.live.subjects", subjects)
    monkeypatch.setattr("harness.cli.live.open_lab", open_lab)
    return this


def context(store: Path, name: str, host: str) -> None:
    """Write a Docker context as the client stores it."""
    import hashlib
    import json

    folder = store / "contexts" / "meta" / hashlib.sha256(name.encode()).hexdigest()
    folder.mkdir(parents=True)
    meta = {"Name": name, "Endpoints": {"docker": {"Host": host}}}
    (folder / "meta.json").write_text(json.dumps(meta))


@pytest.fixture
def manifest(root: Path) -> Manifest:
    path = root / "scenarios" / "watch.docker-unhealthy.json"
    return load_manifest(path.read_bytes(), str(path))
