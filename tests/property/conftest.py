"""How properties are tried: never against the clock, and in CI with the same examples each time."""

from __future__ import annotations

import os

from hypothesis import settings

settings.register_profile("project", deadline=None, derandomize=bool(os.environ.get("CI")), print_blob=True)
settings.load_profile("project")
