"""Who is measured: a model behind a server that is there, or behind a runtime of our own."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

import click

from contract.errors import UsageError
from contract.manifest import Manifest
from contract.text import trim
from harness.artifacts import replace_private
from harness.cli.gates import Campaign
from harness.client.lease import RouteLease
from harness.client.routes import Route
from harness.client.waiting import PulseClient
from harness.clock import Cancellation, Clock
from harness.embedded import RuntimePlan, embedded_runtime

LEASE_FILE: Final = "suite-lease.json"
RUNTIME_LOG: Final = "runtime.log"


@dataclass(frozen=True, slots=True)
class Subject:
    """A client, and the route that it was pinned to."""

    pulse: PulseClient
    route: Route


class Subjects(Protocol):
    """Gives each run its subject."""

    def subject(self, manifest: Manifest) -> AbstractContextManager[Subject]:
        """The subject for one run of a scenario."""


class Embedded:
    """A fresh runtime for each run, in the scenario's mode: no run can see what an earlier one left."""

    def __init__(self, campaign: Campaign, clock: Clock, cancellation: Cancellation) -> None:
        self._campaign = campaign
        self._clock = clock
        self._cancellation = cancellation
        self._route: Route | None = None

    @contextmanager
    def subject(self, manifest: Manifest) -> Iterator[Subject]:
        """Start a runtime; before the first run its model proves, once, that it can call tools."""
        options = self._campaign.options
        plan = RuntimePlan(
            docker_context=trim(options.docker_context),
            model=trim(options.model),
            mode=manifest.patrol.mode,
            enable_commands=options.authorize_remediation,
            log=options.artifacts / RUNTIME_LOG,
        )
        with embedded_runtime(plan, self._clock) as runtime:
            pulse = PulseClient(
                runtime.url,
                runtime.user,
                runtime.password,
                clock=self._clock,
                breakable=self._cancellation.breakable,
            )
            try:
                self._route = self._route or RouteLease.acquire(pulse, options.model).route
                yield Subject(pulse, self._route)
            finally:
                pulse.close()


class Remote:
    """One server for all runs; its model route is borrowed once."""

    def __init__(self, subject: Subject) -> None:
        self._subject = subject

    @contextmanager
    def subject(self, manifest: Manifest) -> Iterator[Subject]:
        """The server, as it is."""
        yield self._subject


@contextmanager
def subjects(campaign: Campaign, clock: Clock, cancellation: Cancellation) -> Iterator[Subjects]:
    """Connect, borrow the model route, and give it back at the end, also after a signal."""
    if campaign.options.embedded:
        yield Embedded(campaign, clock, cancellation)
        return
    with ExitStack() as stack:
        pulse = PulseClient(
            campaign.base_url,
            campaign.options.user,
            campaign.password,
            clock=clock,
            breakable=cancellation.breakable,
        )
        stack.callback(pulse.close)
        record = campaign.options.artifacts / LEASE_FILE
        _restore_interrupted(pulse, record)
        lease = _acquire(pulse, campaign, record, cancellation)
        stack.callback(_give_back, lease, record, cancellation)
        yield Remote(Subject(pulse, lease.route))


def _restore_interrupted(pulse: PulseClient, record: Path) -> None:
    """Give back what a campaign that was killed had borrowed, before its record would be written over."""
    if not record.exists():
        return
    try:
        known = json.loads(record.read_bytes())
        url, previous = str(known["url"]), dict(known["restore"])
    except (OSError, ValueError, KeyError, TypeError) as exc:
        raise UsageError("cannot be read", where=str(record), hint="look at it and remove it") from exc
    if url != pulse.base_url:
        raise UsageError(
            f"an interrupted campaign has borrowed the model route of {url}",
            where=str(record),
            hint="run once with that --url, which gives it back, or remove the file",
        )
    click.echo(f"patrol-qualify: restoring the model route of an interrupted campaign at {url}", err=True)
    pulse.update_settings(previous)
    record.unlink()


def _acquire(pulse: PulseClient, campaign: Campaign, record: Path, cancellation: Cancellation) -> RouteLease:
    def remember(previous: Mapping[str, object]) -> None:
        text = json.dumps({"url": campaign.base_url, "restore": dict(previous)}, indent=2) + "\n"
        replace_private(record, text.encode())

    return RouteLease.acquire(pulse, campaign.options.model, remember=remember, shield=cancellation.shielded)


def _give_back(lease: RouteLease, record: Path, cancellation: Cancellation) -> None:
    with cancellation.shielded():
        lease.close()
    record.unlink(missing_ok=True)
