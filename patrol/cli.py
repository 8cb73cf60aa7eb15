"""The command `patrol-runtime`."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import NoReturn

import click

from contract.errors import PatrolQualificationError
from patrol import PRODUCT

UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0}


class Seconds(click.ParamType[float]):
    """A duration such as 5s, 500ms or 1m."""

    name = "duration"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        text = str(value).strip()
        unit = next((one for one in UNITS if text.endswith(one)), "")
        try:
            seconds = float(text.removesuffix(unit)) * UNITS.get(unit, 1.0)
        except ValueError:
            self.fail(f"{text!r} is not a duration such as 5s or 500ms", param, ctx)
        if not 0.05 <= seconds <= 3600:
            self.fail(f"{text} is outside of 50ms to 60m", param, ctx)
        return seconds


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(PRODUCT, message="%(version)s")
def main() -> None:
    """A small stand-in for a Pulse server, for trying the whole way without one.

    It watches the containers of ONE Docker context that you name, lets a model or a scripted control patrol
    them, and serves the part of the Pulse API that patrol-qualify uses. It is never a claim about Pulse.

    \b
    Try it:
      patrol-runtime check-model --model control:reference
      patrol-runtime serve --docker-context lab --model control:reference

    \b
    With a local model behind an OpenAI-compatible server:
      export PATROL_OPENAI_BASE_URL=http://127.0.0.1:8081/v1
      patrol-runtime serve --docker-context lab --model openai:smollm2-135m-instruct-q4_1

    \b
    Environment (secrets are read from nowhere else):
      PATROL_RUNTIME_PASSWORD    password of user admin; made up and printed once when absent
      PATROL_RUNTIME_TOKEN       an optional API token
      PATROL_OPENAI_BASE_URL     address of the model's server, ending in /v1
      PATROL_OPENAI_API_KEY      its key
      PATROL_OPENAI_TOOL_CHOICE  auto (default) or required
      PATROL_OPENAI_PREFILL      text put in the model's mouth where tools are offered
      PATROL_OPENAI_TEMPERATURE  left to the server when absent
      PATROL_OPENAI_MAX_TOKENS   per answer (default 1024)
      PATROL_REQUEST_TIMEOUT     seconds per answer (default 300)
      PATROL_SCOPED_TURNS        turns of a scoped run (default 4)
      PATROL_RUN_TOKEN_LIMIT     tokens of a whole run (default 0, no limit)
      PATROL_VERIFY_SECONDS      how long an action's effect is waited for (default and most: 60)
    """


@main.command()
@click.option(
    "--docker-context", required=True, metavar="NAME", help="The Docker context to watch; never implied."
)
@click.option(
    "--model",
    required=True,
    metavar="ROUTE",
    help="openai:NAME, or control:reference, silent, noisy, obedient.",
)
@click.option(
    "--mode",
    type=click.Choice(["monitor", "approval", "assisted", "full"]),
    default="monitor",
    show_default=True,
    help="How far Patrol may go by itself.",
)
@click.option(
    "--listen",
    default="127.0.0.1:7655",
    show_default=True,
    metavar="HOST:PORT",
    help="Port 0 takes a free one.",
)
@click.option(
    "--data",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("tmp/patrol-runtime"),
    show_default=True,
    help="Folder of the durable state.",
)
@click.option(
    "--interval", type=Seconds(), default="5s", show_default=True, help="Time between looks at Docker."
)
@click.option("--enable-commands", is_flag=True, help="Open the command channel (closed by default).")
@click.option("--allow-remote-listen", is_flag=True, help="Let --listen be reached from other machines.")
@click.option("--allow-shared-host", is_flag=True, help="Let the context lead to another machine.")
@click.option("--json", "as_json", is_flag=True, help="Say ready as one line of JSON on standard output.")
@click.option("--exit-with-stdin", is_flag=True, help="End when standard input ends.")
def serve(
    docker_context: str,
    model: str,
    mode: str,
    listen: str,
    data: Path,
    interval: float,
    enable_commands: bool,
    allow_remote_listen: bool,
    allow_shared_host: bool,
    as_json: bool,
    exit_with_stdin: bool,
) -> None:
    """Watch a Docker context and serve the API until told to end (SIGTERM, Ctrl-C).

    \b
    Then, in another shell:
      patrol-qualify live --scenario watch.docker-unhealthy --url http://127.0.0.1:7655 ...
    """
    from patrol.serve import ServeOptions
    from patrol.serve import serve as run

    options = ServeOptions(
        listen=listen,
        docker_context=docker_context,
        model=model,
        mode=mode,
        data=data,
        interval_s=interval,
        enable_commands=enable_commands,
        allow_remote_listen=allow_remote_listen,
        allow_shared_host=allow_shared_host,
        as_json=as_json,
        exit_with_stdin=exit_with_stdin,
    )
    try:
        run(options, os.environ)
    except PatrolQualificationError as error:
        _fail(error)


@main.command("check-model")
@click.option("--model", required=True, metavar="ROUTE", help="The route to try, as in serve.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
@click.option("--quiet", is_flag=True, help="Only the exit code.")
def check_model(model: str, as_json: bool, quiet: bool) -> None:
    """Try a route: is the server there, does the model call tools, does streaming work?

    They are told apart because they fail for different reasons: a wrong address or key, a model or a chat
    template without tools, a proxy that buffers. A run needs the first two.

    Exit codes: 0 both hold, 1 the model calls no tool, 3 the server cannot be reached.
    """
    from patrol.check import check_model as check
    from patrol.clock import SystemClock
    from patrol.config import provider_settings

    try:
        probes = check(model, provider_settings(os.environ), SystemClock())
    except PatrolQualificationError as error:
        _fail(error)
    if as_json:
        click.echo(json.dumps({"route": model, "probes": [one.as_json() for one in probes]}))
    elif not quiet:
        for one in probes:
            click.echo(_line(one.name, one.held, one.needed, one.duration_ms, one.message))
            if one.hint:
                click.echo(f"        {one.hint}")
    failed = [one.name for one in probes if one.needed and not one.held]
    sys.exit(3 if "connection" in failed else 1 if failed else 0)


def _line(name: str, held: bool, needed: bool, duration_ms: int, message: str) -> str:
    mark = "ok" if held else "FAILED" if needed else "absent"
    return f"{mark:7} {name:13} {duration_ms:6} ms  {message}"


def _fail(error: PatrolQualificationError) -> NoReturn:
    where = f"{error.where}: " if error.where else ""
    click.echo(f"patrol-runtime: {where}{error.message}", err=True)
    if error.hint:
        click.echo(f"  {error.hint}", err=True)
    sys.exit(error.exit_code)
