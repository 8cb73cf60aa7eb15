"""Makes the network, the marker volumes and the containers of a run (lab format, sections 3 to 5)."""

from __future__ import annotations

from typing import Final

from contract.durations import positive_duration
from contract.manifest import Manifest, ResourceSpec
from contract.names import render
from harness.lab.engine import ContainerSpec, Healthcheck
from harness.lab.errors import LabError, MissingObjectError
from harness.lab.recorded import Recorded
from harness.lab.scratch import SCRATCH_OPTIONS, SCRATCH_PATH

MARKER_FOLDER: Final = "/pulse-qual-fault"
_SECOND: Final = 10**9
_HEALTH_EVERY_NS: Final = 2 * _SECOND


class Images:
    """Which image each resource runs; an override stands in for all that the manifest names."""

    def __init__(self, manifest: Manifest, override: str) -> None:
        self._manifest = manifest
        self._override = override

    @property
    def lab(self) -> str:
        """The image of the lab."""
        return self._override or self._manifest.lab.image

    def of(self, resource: ResourceSpec) -> str:
        """The image of a resource."""
        return self._override or resource.image or self._manifest.lab.image


class Provisioner:
    """Makes the objects of a run, each recorded as soon as it exists."""

    def __init__(self, recorded: Recorded, manifest: Manifest, images: Images) -> None:
        self._recorded = recorded
        self._engine = recorded.engine
        self._identity = recorded.identity
        self._manifest = manifest
        self._images = images

    def pull(self) -> None:
        """Fetch missing images where the manifest allows it: before the first inventory, for they stay."""
        if not self._manifest.lab.allow_pull:
            return
        for image in sorted({self._images.of(resource) for resource in self._manifest.resources or ()}):
            try:
                self._engine.image_id(image)
            except MissingObjectError:
                self._engine.pull(image)

    def make_network(self) -> None:
        """Make the lab's network; one of that name is never taken over."""
        self._engine.create_network(self._identity.network, self._identity.labels())

    def make(self, resource: ResourceSpec) -> None:
        """Make and start the container of a resource, with its marker volume if this lab has markers."""
        alias, name = resource.alias, self._identity.container(resource)
        self._recorded.note(resource_names={**(self._recorded.lab.resource_names or {}), alias: name})
        volumes = {}
        # A mount on some resources only would tell which of them will fail.
        if any(other.fault_volume for other in self._manifest.resources or ()):
            volumes = {self._make_volume(alias, name): MARKER_FOLDER}
        image = self._present(self._images.of(resource))
        ident = self._engine.create_container(self._specification(resource, name, image, volumes))
        self._recorded.note(resource_ids={**(self._recorded.lab.resource_ids or {}), alias: ident})
        self._engine.start(ident)

    def _make_volume(self, alias: str, container: str) -> str:
        name = self._identity.fault_volume(container)
        # Engines answer the creation of an existing volume with that volume.
        if name in self._engine.volumes():
            raise LabError(f"a volume {name} exists already", hint="use a new run id; nothing is taken over")
        self._engine.create_volume(name, self._identity.labels(alias))
        self._recorded.note(fault_volumes={**self._recorded.lab.fault_volumes, alias: name})
        return self._recorded.owned_volume(alias)

    def _present(self, image: str) -> str:
        try:
            self._engine.image_id(image)
        except MissingObjectError as exc:
            may_pull = str(self._manifest.lab.allow_pull).lower()
            raise LabError(
                f"the image {image} is not there, and lab.allow_pull is {may_pull}",
                hint="load it beforehand, or run another one in its place with --lab-image",
            ) from exc
        return image

    def _specification(
        self, resource: ResourceSpec, name: str, image: str, volumes: dict[str, str]
    ) -> ContainerSpec:
        given = {key: self._render(resource, value) for key, value in resource.labels.items()}
        return ContainerSpec(
            name=name,
            image=image,
            command=tuple(self._render(resource, part) for part in resource.command),
            labels={**given, **self._identity.labels(resource.alias)},
            network=self._identity.network,
            restart=resource.restart,
            volumes=volumes,
            tmpfs={SCRATCH_PATH: SCRATCH_OPTIONS} if resource.scratch_storage else {},
            healthcheck=self._healthcheck(resource),
        )

    def _healthcheck(self, resource: ResourceSpec) -> Healthcheck | None:
        """A shell runs the check: catalogue entries contain `$(...)`."""
        if not resource.healthcheck:
            return None
        every = resource.health_every
        return Healthcheck(
            command=" ".join(self._render(resource, part) for part in resource.healthcheck),
            interval_ns=positive_duration(every) if every else _HEALTH_EVERY_NS,
            timeout_ns=2 * _SECOND,
            retries=2,
            start_period_ns=1 * _SECOND,
        )

    def _render(self, resource: ResourceSpec, template: str) -> str:
        return render(template, self._identity.run_id, resource.alias)
