"""The six ways of breaking a resource, and of mending it again (lab format, section 6)."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Final

from contract.manifest import FaultSpec, Manifest
from harness.lab import scratch
from harness.lab.engine import ContainerSpec
from harness.lab.errors import EngineError, LabError
from harness.lab.provision import MARKER_FOLDER, Images
from harness.lab.recorded import Recorded

GRACE_S: Final = 5
MARKER: Final = f"{MARKER_FOLDER}/enabled"
STOP_HEALTH_PROCESS: Final = ("/bin/sh", "-c", 'kill "$(cat /tmp/pulse-qual-health.pid)"')

Act = Callable[[str], None]


class Injectors:
    """Breaks and mends containers of one lab: each by its recorded id, after the proof of ownership."""

    def __init__(self, recorded: Recorded, manifest: Manifest, images: Images) -> None:
        self._recorded = recorded
        self._engine = recorded.engine
        self._resources = {resource.alias: resource for resource in manifest.resources or ()}
        self._images = images
        self._aliases: dict[str, tuple[str, ...]] = {}
        self._acts: dict[str, tuple[Act, Act]] = {
            "marker_enable": (self._set_marker, self._remove_marker),
            "health_process_stop": (self._stop_health_process, self._restart),
            "stop": (self._stop, self._start),
            "kill": (self._kill, self._start),
            "disconnect_network": (self._disconnect, self._connect),
            "fill_scratch_storage": (self._fill, self._empty),
        }

    def apply(self, fault: FaultSpec) -> None:
        """Break a resource; LabError for a fault that is already applied."""
        applied = self._recorded.lab.applied_faults
        if fault.id in applied:
            raise LabError(f"the fault {fault.id} is already applied")
        self._act(fault, 0)
        self._recorded.note(applied_faults=(*applied, fault.id))

    def revert(self, fault: FaultSpec) -> None:
        """Mend a resource; one that is already whole stays as it is."""
        self._act(fault, 1)

    def _act(self, fault: FaultSpec, which: int) -> None:
        acts = self._acts.get(fault.injector.kind)
        if acts is None:
            raise LabError(f"this driver has no injector {fault.injector.kind!r}")
        acts[which](fault.injector.resource)

    def _set_marker(self, alias: str) -> None:
        self._run_helper(alias, f"touch {MARKER}")

    def _remove_marker(self, alias: str) -> None:
        self._run_helper(alias, f"rm -f {MARKER}")
        # The engine may be about to start it anyway; the oracle decides whether it runs.
        with suppress(EngineError):
            self._engine.start(self._recorded.owned(alias).id)

    def _run_helper(self, alias: str, script: str) -> None:
        """Write into the marker volume from a container of its own, so that no exec shows on the target."""
        volume, identity = self._recorded.owned_volume(alias), self._recorded.identity
        resource = self._resources[alias]
        if not resource.fault_volume:
            raise LabError(f"{alias!r} has no marker volume of its own in the manifest")
        helper = self._engine.create_container(
            ContainerSpec(
                name=identity.marker_helper(alias),
                image=self._images.of(resource),
                command=("/bin/sh", "-c", script),
                labels=identity.labels(alias),
                volumes={volume: MARKER_FOLDER},
            )
        )
        try:
            self._engine.start(helper)
            code = self._engine.wait(helper)
        finally:
            self._engine.remove_container(helper)
        if code != 0:
            raise LabError(f"the marker of {alias!r} was not changed: its helper ended with {code}")

    def _stop_health_process(self, alias: str) -> None:
        result = self._engine.execute(self._recorded.owned_running(alias).id, STOP_HEALTH_PROCESS)
        if result.exit_code != 0:
            raise LabError(
                f"the process that {alias!r} is checked for was not ended: {result.output.strip()!r}"
            )

    def _restart(self, alias: str) -> None:
        self._engine.restart(self._recorded.owned(alias).id, GRACE_S)

    def _stop(self, alias: str) -> None:
        self._engine.stop(self._recorded.owned(alias).id, GRACE_S)

    def _kill(self, alias: str) -> None:
        self._engine.kill(self._recorded.owned(alias).id)

    def _start(self, alias: str) -> None:
        self._engine.start(self._recorded.owned(alias).id)

    def _disconnect(self, alias: str) -> None:
        view, network = self._recorded.owned(alias), self._recorded.lab.network_name
        # The engine forgets a container's aliases when it leaves a network.
        self._aliases[alias] = view.networks.get(network, ())
        self._engine.disconnect(network, view.id)

    def _connect(self, alias: str) -> None:
        view, network = self._recorded.owned(alias), self._recorded.lab.network_name
        if network not in view.networks:
            self._engine.connect(network, view.id, self._aliases.get(alias, ()))

    def _fill(self, alias: str) -> None:
        scratch.fill(self._recorded, alias)

    def _empty(self, alias: str) -> None:
        scratch.empty(self._recorded, alias)
