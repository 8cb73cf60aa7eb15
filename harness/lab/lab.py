"""The laboratory as the runner sees it: prepare, inject, observe, revert, clean up."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Self

from contract.errors import ResidueError
from contract.manifest import FaultSpec, Manifest, Predicate
from contract.truth import CleanupResult, DockerInventory, PredicateObservation, PreparedLab
from harness.clock import Clock
from harness.lab.changes import Changes, ContainerChange
from harness.lab.cleanup import Cleanup, UninterruptedClock
from harness.lab.engine import Engine, EventFeed
from harness.lab.errors import LabError, MissingObjectError
from harness.lab.identity import Identity
from harness.lab.injectors import Injectors
from harness.lab.inventory import take_inventory
from harness.lab.observe import Observer, failure_text
from harness.lab.probes import probe
from harness.lab.provision import Images, Provisioner
from harness.lab.recorded import Recorded
from harness.lab.target import Target


class DockerLab:
    """One disposable lab for one run; a context manager that never leaves without having cleaned up.

    `label` is what reports call the engine, `wait` what cleanup waits with: unlike the clock's own, it is not
    ended by a signal. Raises UsageError for a run id that cannot stand in names.
    """

    def __init__(
        self,
        engine: Engine,
        manifest: Manifest,
        run_id: str,
        *,
        label: str,
        clock: Clock,
        image_override: str = "",
        wait: Callable[[float], None] = time.sleep,
    ) -> None:
        self.label = label
        self._engine = engine
        self._manifest = manifest
        self._clock = clock
        self._wait = wait
        self._identity = Identity(run_id, manifest.id)
        self._recorded = Recorded(engine, self._identity)
        self._images = Images(manifest, image_override)
        self._injectors = Injectors(self._recorded, manifest, self._images)
        self._changes = Changes(self._recorded, manifest)
        self._lock = threading.RLock()
        self._feed: EventFeed | None = None
        self._unconfirmed = False
        self._cleaned = False

    @property
    def prepared(self) -> PreparedLab | None:
        """What was made so far; `None` while there is nothing to clean up."""
        return self._recorded.prepared

    def versions(self) -> dict[str, str]:
        """Engine, platform and image; the image's id only where the image is there."""
        said = self._engine.version()
        found = {
            "docker_engine": said.engine,
            "docker_api": said.api,
            "os": said.os,
            "architecture": said.architecture,
            "lab_image": self._images.lab,
        }
        try:
            return {**found, "lab_image_id": self._engine.image_id(self._images.lab)}
        except MissingObjectError:
            return found

    def prepare(self) -> PreparedLab:
        """Make everything and wait for the baseline; on failure `prepared` says what there is to clean up.

        Raises LabError or EngineError. Lab format, section 3.
        """
        if self.prepared is not None:
            raise LabError("this lab has been prepared already")
        provisioner = Provisioner(self._recorded, self._manifest, self._images)
        network = self._identity.network
        provisioner.pull()
        before = take_inventory(self._engine)
        self._recorded.prepared = self._blank(network, before)
        self._feed = self._engine.events(self._identity.run_filter)
        provisioner.make_network()
        for resource in self._manifest.resources or ():
            self._clock.sleep(0)  # a signal ends it here
            provisioner.make(resource)
        self._await_baseline()
        states = {alias: self._recorded.state(alias) for alias in self._recorded.lab.resource_ids or {}}
        self._recorded.note(baseline_states=states, expected_inventory=take_inventory(self._engine))
        self._changes.remember()
        return self._recorded.lab

    def inject(self, fault: FaultSpec) -> None:
        """Break a resource; LabError when it cannot be broken as asked, or has been already."""
        with self._lock:
            self._injectors.apply(fault)
            self._unconfirmed = True

    def revert(self, fault: FaultSpec) -> None:
        """Mend a resource; what is whole already stays as it is."""
        with self._lock:
            self._injectors.revert(fault)

    def observe(self, predicates: Sequence[Predicate]) -> tuple[PredicateObservation, ...]:
        """Wait for each predicate in turn, up to the first that fails; LabError without a lab."""
        if self.prepared is None:
            raise LabError("the lab has not been prepared")
        seen = self._observer(self._clock).observe(predicates)
        if self._unconfirmed and seen and all(one.passed for one in seen):
            self._changes.remember()
            self._unconfirmed = False
        return seen

    def changes(self) -> tuple[ContainerChange, ...]:
        """Containers that were restarted or changed their health since the last fault was confirmed."""
        return self._changes.since()

    def inventory(self) -> DockerInventory:
        """Everything that the engine holds now."""
        return take_inventory(self._engine)

    def cleanup(self) -> CleanupResult:
        """Remove everything of this run, whatever has happened before; never cancelled, at most two minutes.

        Raises LabError only when nothing was ever prepared. Lab format, sections 10 and 11.
        """
        with self._lock:
            prepared = self._recorded.lab
            self._cleaned = True
            clock = UninterruptedClock(self._clock, self._wait)
            cleanup = Cleanup(self._engine, self._identity, clock)
            return cleanup.run(prepared, self._manifest.teardown, self._observer(clock))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if self.prepared is not None and not self._cleaned:
                self._report_residue(self.cleanup(), error)
        finally:
            if self._feed is not None:
                self._feed.close()

    def _report_residue(self, result: CleanupResult, error: BaseException | None) -> None:
        if result.passed:
            return
        text = "; ".join(result.errors)
        if error is None:
            raise ResidueError(text, where=self.label, hint=f"look for the label {self._identity.run_filter}")
        error.add_note(f"the lab was not cleaned up: {text}")

    def _blank(self, network: str, before: DockerInventory) -> PreparedLab:
        return PreparedLab(
            run_id=self._identity.run_id,
            scenario_id=self._manifest.id,
            network_name=network,
            resource_names={},
            resource_ids={},
            pre_inventory=before,
            baseline_states={},
            expected_inventory=before,
        )

    def _await_baseline(self) -> None:
        seen = self._observer(self._clock).observe(self._manifest.baseline or ())
        if seen and not seen[-1].passed:
            raise LabError(f"the baseline did not converge: {failure_text(seen[-1])}")

    def _observer(self, clock: Clock) -> Observer:
        return Observer(lambda predicate: probe(self._recorded, predicate), clock, self._feed or _Silent())


class _Silent:
    """The bell of a lab that does not listen yet."""

    def clear(self) -> None:
        """Nothing to forget."""

    def happened(self) -> bool:
        """Nothing happens."""
        return False


@contextmanager
def open_lab(
    target: Target, manifest: Manifest, run_id: str, *, clock: Clock, image_override: str = ""
) -> Iterator[DockerLab]:
    """A lab on the engine of a target; EnvironmentMissingError when none answers there."""
    from harness.lab.docker_engine import connect
    from harness.lab.ssh import reachable

    with reachable(target) as near:
        engine = connect(near)
        try:
            lab = DockerLab(
                engine, manifest, run_id, label=target.label, clock=clock, image_override=image_override
            )
            with lab:
                yield lab
        finally:
            engine.close()
