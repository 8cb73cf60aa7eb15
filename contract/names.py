"""Names and tokens of a run: templates, opaque tokens, default names (manifest format, section 7)."""

from __future__ import annotations

import hashlib
from datetime import datetime
from typing import Final

from contract.text import is_identifier

LAB_PREFIX: Final = "pulse-qual-"
RESERVED_LABEL_PREFIX: Final = "com.pulse.intelligence-lab."


def is_run_id(text: str) -> bool:
    """Whether a text can stand as run id."""
    return is_identifier(text)


def default_run_id(moment: datetime, random: bytes) -> str:
    """The run id of a run that begins at `moment` (UTC) with four random bytes."""
    return f"q-{moment:%Y%m%d-%H%M%S}-{random.hex()}"


def run_token(run_id: str) -> str:
    """Twelve hex digits that stand for a run without naming it."""
    return _token("run", run_id)


def scenario_token(scenario_id: str) -> str:
    """Twelve hex digits that stand for a scenario where a monitor may look."""
    return _token("scenario", scenario_id)


def alias_token(run_id: str, alias: str) -> str:
    """Twelve hex digits that stand for a resource of one run where a monitor may look."""
    return _token("alias", run_id, alias)


def render(template: str, run_id: str, alias: str) -> str:
    """Replace the three variables as plain text, in the fixed order; any other `${...}` stays."""
    text = template.replace("${run_id}", run_id)
    return text.replace("${run_token}", run_token(run_id)).replace("${alias}", alias)


def container_name(template: str, run_id: str, alias: str) -> str:
    """The rendered container name, or the default one when the template renders to nothing."""
    return render(template, run_id, alias) or f"{alias}-{run_token(run_id)}"


def names_run(name: str, run_id: str) -> bool:
    """Whether a container name is well formed and holds the run id or its token."""
    return is_identifier(name) and (run_id in name or run_token(run_id) in name)


def is_lab_name(name: str, run_id: str) -> bool:
    """Whether the lab may create an object of this name: its prefix, and the full run id (lab format, 2)."""
    return is_identifier(name) and name.startswith(LAB_PREFIX) and run_id in name


def _token(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:12]
