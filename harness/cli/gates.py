"""Everything that must hold before a lab, a daemon or a server is touched (runner, section 7)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import click

from contract.catalogue import Catalogue
from contract.challenge import normalise_challenge
from contract.errors import UsageError
from contract.manifest import Manifest
from contract.text import is_blank, trim
from harness.client.base_url import parse_base_url
from harness.client.routes import Route
from harness.git import Revision, harness_revision
from harness.lab.target import Target, resolve_target
from harness.runner.plan import check_authority

MAX_REPEATS = 100


@dataclass(frozen=True, slots=True)
class LiveOptions:
    """The options of the live commands, as given."""

    embedded: bool
    model: str
    docker_context: str
    docker_ssh_host: str
    allow_shared_host: bool
    authorize_live_faults: bool
    authorize_remediation: bool
    repeats: int
    repeat_profile: str
    lab_image: str
    url: str
    user: str
    password: str
    password_env: str
    expected_pulse_version: str
    community_challenge: str
    artifacts: Path
    catalog: Path
    json: bool
    quiet: bool
    scenario: str = ""
    qualification_track: str = ""


@dataclass(frozen=True, slots=True)
class Trial:
    """A scenario, how often it is run, and on which engine."""

    manifest: Manifest
    repeats: int
    target: Target


@dataclass(frozen=True, slots=True)
class Campaign:
    """What is to be run, after every gate has passed; a server address and password unless embedded."""

    options: LiveOptions
    trials: tuple[Trial, ...]
    challenge: str
    base_url: str
    password: str
    revision: Revision


def require_authorization(options: LiveOptions) -> None:
    """UsageError unless the operator said that containers may be broken."""
    if not options.authorize_live_faults:
        raise UsageError(
            "live commands break containers on purpose, and nobody has said that they may",
            where="--authorize-live-faults",
            hint="add --authorize-live-faults, and only for a disposable lab",
        )


def select_one(options: LiveOptions, catalogue: Catalogue) -> tuple[Manifest, ...]:
    """The scenario that was asked for."""
    if is_blank(options.scenario):
        raise UsageError(
            "which scenario?", where="--scenario", hint="`patrol-qualify list` shows what there is"
        )
    return (catalogue.get(trim(options.scenario)),)


def select_track(options: LiveOptions, catalogue: Catalogue) -> tuple[Manifest, ...]:
    """All scenarios of the track that was asked for."""
    if not options.qualification_track:
        raise UsageError(
            "which track?", where="--qualification-track", hint="watch, investigation or remediation"
        )
    manifests = catalogue.track(options.qualification_track)
    if not manifests:
        raise UsageError(
            f"the catalogue has no scenario of the track {options.qualification_track}", where="--catalog"
        )
    return manifests


def pass_gates(
    options: LiveOptions, manifests: tuple[Manifest, ...], environ: Mapping[str, str] = os.environ
) -> Campaign:
    """Check everything that can be checked without touching anything; the first gate that fails raises."""
    challenge = normalise_challenge(options.community_challenge)
    password = "" if options.embedded else find_password(options, environ)
    base_url = "" if options.embedded else parse_base_url(options.url)
    if options.embedded:
        require_embeddable(options)
    targets = [
        resolve_target(
            context=options.docker_context,
            ssh_host=options.docker_ssh_host,
            allow_shared_host=options.allow_shared_host,
            manifest_allows_shared_host=manifest.lab.shared_host_ok,
            environ=environ,
        )
        for manifest in manifests
    ]
    revision = harness_revision()
    repeats = [repeat_count(options, manifest) for manifest in manifests]
    for manifest in manifests:
        check_authority(manifest, options.authorize_remediation)
    trials = tuple(
        Trial(manifest, count, target)
        for manifest, count, target in zip(manifests, repeats, targets, strict=True)
    )
    return Campaign(options, trials, challenge, base_url, password, revision)


def find_password(options: LiveOptions, environ: Mapping[str, str]) -> str:
    """The password from the environment, or else from the command line; UsageError for none."""
    named = trim(environ.get(options.password_env, "")) if options.password_env else ""
    password = named or options.password
    if is_blank(password):
        raise UsageError(
            "the server's password is missing",
            where=options.password_env or "--password",
            hint="give it by that environment variable, or use --embedded with --model",
        )
    if not named:
        click.echo(
            "patrol-qualify: --password can be seen by other users of this machine; "
            f"prefer the environment variable {options.password_env}",
            err=True,
        )
    return password


def require_embeddable(options: LiveOptions) -> None:
    """UsageError for options that contradict a runtime of our own."""
    if not Route.parse(options.model).is_complete:
        raise UsageError(
            "which model should the embedded runtime ask?",
            where="--model",
            hint="like openai:NAME (with PATROL_OPENAI_BASE_URL), or control:reference",
        )
    if not is_blank(options.docker_ssh_host):
        raise UsageError(
            "the embedded runtime reads a Docker context only",
            where="--docker-ssh-host",
            hint="--docker-context",
        )


def repeat_count(options: LiveOptions, manifest: Manifest) -> int:
    """How often a scenario is run; UsageError outside of 1 to 100."""
    profile = options.repeat_profile
    count = int(getattr(manifest.repeat, profile)) if profile else options.repeats
    if not 1 <= count <= MAX_REPEATS:
        raise UsageError(
            f"{count} runs of {manifest.id}; 1 to {MAX_REPEATS} are allowed",
            where="--repeat-profile" if profile else "--repeats",
        )
    return count
