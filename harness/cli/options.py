"""Every option once, so that both spellings mean the same (runner, section 7)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])
TRACKS: Final = ("watch", "investigation", "remediation")
PROFILES: Final = ("development", "nightly", "qualification")
_FOLDER: Final = click.Path(path_type=Path, file_okay=False)
_FILE: Final = click.Path(path_type=Path, dir_okay=False)


class Word(click.ParamType[str]):
    """A word out of a few, trimmed and in lower case; blank for none."""

    name = "word"

    def __init__(self, *words: str) -> None:
        self.words = words

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        return f"[{'|'.join(self.words)}]"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> str:
        word = str(value).strip().lower()
        if word and word not in self.words:
            self.fail(f"{value!r} is none of {', '.join(self.words)}", param, ctx)
        return word


_OPTIONS: Final[dict[str, Callable[[F], F]]] = {}


def _add(name: str, **attributes: Any) -> None:
    _OPTIONS[name] = click.option(f"--{name}", **attributes)


def options(*names: str) -> Callable[[F], F]:
    """Give a command these options, in this order."""

    def decorate(command: F) -> F:
        for name in reversed(names):
            command = _OPTIONS[name](command)
        return command

    return decorate


_add(
    "catalog",
    type=_FOLDER,
    default=Path("scenarios"),
    show_default=True,
    help="Folder with the scenario manifests.",
)
_add("scenario", default="", metavar="ID", help="Which scenario to run; `patrol-qualify list` shows them.")
_add("url", default="http://127.0.0.1:7655", show_default=True, help="Address of the Pulse server.")
_add("user", default="admin", show_default=True, help="User of the Pulse server.")
_add("password", default="", help="Its password; discouraged, other users of this machine can see it.")
_add(
    "password-env",
    default="PULSE_QUALIFY_PASSWORD",
    show_default=True,
    metavar="NAME",
    help="Environment variable that holds the password; it wins over --password.",
)
_add(
    "model",
    default="",
    metavar="ROUTE",
    help="Model route like openai:gpt-4o; pinned for the campaign and restored after it.",
)
_add("expected-pulse-version", default="", metavar="VERSION", help="Refuse any other server version.")
_add(
    "docker-context", default="", metavar="NAME", help="Docker context of the disposable lab; never implied."
)
_add("docker-ssh-host", default="", metavar="HOST", help="Host of the lab by SSH, instead of a context.")
_add("allow-shared-host", is_flag=True, help="Let the lab be on another machine (the scenario must agree).")
_add("authorize-live-faults", is_flag=True, help="Yes, break containers in that lab. Required.")
_add("authorize-remediation", is_flag=True, help="Yes, let governed actions be decided in that lab.")
_add("repeats", type=int, default=1, show_default=True, help="Runs of each scenario, 1 to 100.")
_add("repeat-profile", type=Word(*PROFILES), default="", help="Repeats by the manifest's profile instead.")
_add(
    "artifacts",
    type=_FOLDER,
    default=Path("tmp/patrol-qualification"),
    show_default=True,
    help="Where captured runs go; keep it out of version control.",
)
_add("replay-report", type=_FILE, default=None, help="The report.json to score again.")
_add("replay-bundle", type=_FILE, default=None, help="The replay.json to verify.")
_add(
    "reports",
    type=_FOLDER,
    default=Path("tmp/patrol-qualification"),
    show_default=True,
    help="Folder under which captured runs are looked for.",
)
_add("qualification-track", type=Word(*TRACKS), default="", help="Which track.")
_add("publication-dir", type=_FOLDER, default=None, help="Write comparison files into this new folder.")
_add("contribution-dir", type=_FOLDER, default=None, help="Write the contribution into this new folder.")
_add(
    "community-challenge", default="", metavar="NONCE", help="A challenge issued to you, bound into each run."
)
_add("embedded", is_flag=True, help="Start the reference runtime for each run; no Pulse server needed.")
_add(
    "lab-image",
    default="",
    envvar="PULSE_QUALIFY_LAB_IMAGE",
    show_envvar=True,
    help="Image in place of the manifest's; makes the campaign a custom one.",
)
_add("calibration", is_flag=True, help="Export runs of the built-in controls (and only those).")
_add("json", is_flag=True, help="Print JSON on standard output.")
_add("quiet", is_flag=True, help="Print only results that need attention.")
