"""What the runner needs of the world: a lab, a Pulse server, a clock."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal, Protocol

from contract.manifest import FaultSpec, Predicate
from contract.record import RawJson
from contract.report import Finding, InvestigationSession, PatrolRun
from contract.truth import CleanupResult, DockerInventory, PredicateObservation, PreparedLab
from harness.client.pulse import ActionView
from harness.client.records import Autonomy, PatrolStatus, Resource, Settings, Version
from harness.clock import CancelledRunError, Clock

__all__ = ["CancelledRunError", "Clock", "Lab", "Pulse"]


class Change(Protocol):
    """Something about a container that is no longer as it was when the faults were confirmed."""

    @property
    def alias(self) -> str:
        """Which container."""

    @property
    def member(self) -> str:
        """Which part of its state."""

    @property
    def before(self) -> str:
        """What it was."""

    @property
    def after(self) -> str:
        """What it is."""


class Lab(Protocol):
    """Containers that are broken and mended; it knows the truth and asks no server for it."""

    @property
    def prepared(self) -> PreparedLab | None:
        """What was provisioned so far; `None` while there is nothing to clean up."""

    @property
    def label(self) -> str:
        """The Docker target as reports name it."""

    def versions(self) -> dict[str, str]:
        """Engine, platform and image, as `environment.versions` records them."""

    def prepare(self) -> PreparedLab:
        """Provision everything and wait for the baseline."""

    def inject(self, fault: FaultSpec) -> None:
        """Break something."""

    def revert(self, fault: FaultSpec) -> None:
        """Mend it again."""

    def observe(self, predicates: Sequence[Predicate]) -> tuple[PredicateObservation, ...]:
        """Wait for each predicate in turn, up to the first that fails."""

    def inventory(self) -> DockerInventory:
        """Everything on the engine, now."""

    def changes(self) -> Sequence[Change]:
        """What an inventory cannot show: containers that restarted or changed their health."""

    def cleanup(self) -> CleanupResult:
        """Remove everything of this run, twice, and compare the inventory."""


class Pulse(Protocol):
    """A Pulse server, or the reference runtime."""

    @property
    def base_url(self) -> str:
        """The server's address, without credentials."""

    def version(self) -> Version:
        """Who the server says it is."""

    def settings(self) -> Settings:
        """The model settings."""

    def status(self) -> PatrolStatus:
        """What Patrol is doing, and whether it could."""

    def autonomy(self) -> Autonomy:
        """How much Patrol may do by itself."""

    def findings(self) -> tuple[Finding, ...]:
        """The active findings."""

    def wait_for_resources(
        self,
        names: Mapping[str, str],
        timeout_ns: int,
        poll_ns: int,
        validate: Callable[[Mapping[str, Resource]], str],
    ) -> dict[str, Resource]:
        """Wait until each name is shown and `validate` has no objection."""

    def trigger_and_wait(self, resource_ids: Sequence[str], timeout_ns: int) -> PatrolRun:
        """Trigger a run and wait for exactly its record."""

    def wait_for_investigation(self, finding_id: str, timeout_ns: int) -> InvestigationSession:
        """Wait until the investigation of a finding has ended."""

    def actions(self, view: Literal["pending", "settled"]) -> tuple[RawJson, ...]:
        """The actions of a view."""

    def action(self, action_id: str) -> ActionView:
        """One action."""

    def decide(
        self, action_id: str, outcome: Literal["approved", "rejected"], reason: str, plan_hash: str
    ) -> None:
        """Approve or reject exactly the plan with this hash."""

    def execute(self, action_id: str, reason: str, plan_hash: str) -> None:
        """Execute exactly the plan with this hash."""

    def wait_for_action(self, action_id: str, timeout_ns: int) -> ActionView:
        """Wait until an action has reached a terminal state."""
