"""The flag spelling: `patrol-qualify -mode live -scenario watch.docker-unhealthy ...`."""

from __future__ import annotations

from typing import Any

import click

from harness.cli.commands import patrol_qualify
from harness.cli.options import Word, options
from harness.cli.spelling import MODES


@click.command("patrol-qualify", context_settings={"help_option_names": ["--help"]})
@click.option("--mode", type=Word(*MODES), default="validate", show_default=True, help="What to do.")
@options(
    *("catalog", "scenario", "url", "user", "password", "password-env", "model", "expected-pulse-version"),
    *("docker-context", "docker-ssh-host", "allow-shared-host", "authorize-live-faults"),
    *("authorize-remediation", "repeats", "repeat-profile", "artifacts", "replay-report", "replay-bundle"),
    *("reports", "qualification-track", "publication-dir", "contribution-dir", "community-challenge"),
    *("embedded", "lab-image", "calibration", "json", "quiet"),
)
@click.pass_context
def flag_command(context: click.Context, /, mode: str, **values: Any) -> Any:
    """Measure which language models are fit for Pulse Patrol, in flags; see also `patrol-qualify --help`.

    Flags that a mode has no use for are accepted and do nothing.
    """
    command = patrol_qualify.commands[mode or "validate"]
    wanted = {parameter.name for parameter in command.params}
    return context.invoke(command, **{name: value for name, value in values.items() if name in wanted})
