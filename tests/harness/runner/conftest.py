"""The world around a run, for any scenario of the catalogue."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from contract.manifest import load_manifest
from contract.pricing import PriceTable
from harness.resources import load_prices
from tests.harness.runner.world import World


@pytest.fixture(scope="session")
def prices() -> PriceTable:
    return load_prices()


@pytest.fixture
def world(root: Path, prices: PriceTable) -> Callable[[str], World]:
    """Build the world of a scenario of the catalogue."""

    def build(scenario: str) -> World:
        path = root / "scenarios" / f"{scenario}.json"
        return World(load_manifest(path.read_bytes(), str(path)), prices)

    return build
