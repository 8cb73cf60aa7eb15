"""Removes what a run made and nothing else: two passes by exact label (lab format, sections 10 and 11)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from contract.durations import format_duration
from contract.errors import PatrolQualificationError
from contract.manifest import Predicate, TeardownSpec
from contract.truth import CleanupResult, DockerInventory, PreparedLab
from harness.clock import Clock
from harness.lab.engine import ContainerView, Engine, ObjectView
from harness.lab.errors import BusyObjectError, MissingObjectError, OwnershipError
from harness.lab.identity import Identity
from harness.lab.inventory import EMPTY_INVENTORY, inventory_difference, inventory_of, take_inventory
from harness.lab.observe import Observer, failure_text

T = TypeVar("T")

DEADLINE_NS: Final = 120 * 10**9
_PATIENCE: Final = 10
_PAUSE_S: Final = 0.3


@dataclass(frozen=True, slots=True)
class Kind:
    """How one kind of objects is listed, inspected and removed."""

    name: str
    found: Callable[[str], Sequence[str]]
    inspect: Callable[[str], ContainerView | ObjectView]
    remove: Callable[[str], None]


class UninterruptedClock:
    """A clock whose waits end by themselves only: cleanup is not part of the run that was cancelled."""

    def __init__(self, clock: Clock, wait: Callable[[float], None]) -> None:
        self.now = clock.now
        self.monotonic_ns = clock.monotonic_ns
        self.sleep = wait


class Cleanup:
    """One cleanup, with a deadline of its own; it goes on after every failure and reports them all."""

    def __init__(self, engine: Engine, identity: Identity, clock: Clock) -> None:
        self._engine = engine
        self._identity = identity
        self._clock = clock
        self._deadline_ns = clock.monotonic_ns() + DEADLINE_NS
        self._errors: list[str] = []
        # Containers hold volumes and networks, so they go first.
        self._kinds = (
            Kind("container", engine.containers, engine.inspect_container, engine.remove_container),
            Kind("volume", engine.volumes, engine.inspect_volume, engine.remove_volume),
            Kind("network", engine.networks, engine.inspect_network, engine.remove_network),
        )

    def run(self, prepared: PreparedLab, teardown: TeardownSpec, observer: Observer) -> CleanupResult:
        """Two passes, the teardown predicates, the verdict."""
        first, second = self._one_pass(), self._one_pass()
        noop = second == EMPTY_INVENTORY
        post = self._attempt("inventory", lambda: take_inventory(self._engine))
        unchanged = post is not None and post == prepared.pre_inventory
        if teardown.require_second_cleanup_noop and not noop:
            self._errors.append("the second cleanup pass still found something to remove")
        if teardown.require_inventory_unchanged and post is not None and not unchanged:
            difference = inventory_difference(prepared.pre_inventory, post)
            self._errors.append(f"the engine does not hold what it held before: {difference}")
        for predicate in teardown.predicates or ():
            self._check(predicate, observer)
        return CleanupResult(
            first_removed=first,
            second_removed=second,
            post_inventory=post or EMPTY_INVENTORY,
            second_cleanup_noop=noop,
            inventory_unchanged=unchanged,
            passed=not self._errors,
            errors=tuple(self._errors),
        )

    def _one_pass(self) -> DockerInventory:
        containers, volumes, networks = (self._clear(kind) for kind in self._kinds)
        return inventory_of(containers, volumes, networks)

    def _clear(self, kind: Kind) -> list[str]:
        """Remove every object of one kind that carries the run's label; returns those that were removed."""
        label = self._identity.run_filter
        found = self._attempt(f"list {kind.name}s", lambda: kind.found(label)) or ()
        return [
            ident
            for ident in found
            if self._attempt(f"{kind.name} {ident}", lambda ident=ident: self._remove(kind, ident))  # type: ignore[misc]
        ]

    def _attempt(self, what: str, act: Callable[[], T]) -> T | None:
        """Do something, or write down why it could not be done."""
        if self._clock.monotonic_ns() >= self._deadline_ns:
            self._errors.append(f"{what}: not tried, the {format_duration(DEADLINE_NS)} of cleanup are over")
            return None
        try:
            return act()
        except PatrolQualificationError as exc:
            self._errors.append(f"{what}: {exc.message}")
        except Exception as exc:  # noqa: BLE001 - whatever breaks here, the rest is still to be removed
            self._errors.append(f"{what}: {type(exc).__name__}: {exc}")
        return None

    def _remove(self, kind: Kind, ident: str) -> bool:
        """Remove an object after a last look at it; False when it is gone already."""
        for patience in range(_PATIENCE, -1, -1):
            try:
                self._prove(kind.inspect(ident))
                kind.remove(ident)
            except MissingObjectError:
                return False
            except BusyObjectError:
                # An endpoint or a mount outlives its container for a moment.
                if not patience:
                    raise
                self._clock.sleep(_PAUSE_S)
            else:
                return True
        return False

    def _prove(self, view: ContainerView | ObjectView) -> None:
        if not self._identity.owns(view.name, view.labels):
            raise OwnershipError(f"{view.name} carries the run's label but not its name; it is left alone")

    def _check(self, predicate: Predicate, observer: Observer) -> None:
        """A predicate with a time of its own may take it; any other must hold now."""
        evaluate = observer.wait_for if predicate.timeout else observer.once
        seen = self._attempt("teardown", lambda: evaluate(predicate))
        if seen is not None and not seen.passed:
            self._errors.append(f"teardown: {failure_text(seen)}")
