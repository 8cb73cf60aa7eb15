"""Names and labels of one run's objects, and whether an object is one of them (lab format, section 2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from contract.errors import UsageError
from contract.manifest import ResourceSpec
from contract.names import (
    LAB_PREFIX,
    RESERVED_LABEL_PREFIX,
    alias_token,
    is_lab_name,
    is_run_id,
    render,
    scenario_token,
)
from harness.lab.errors import LabError

RUN_LABEL: Final = RESERVED_LABEL_PREFIX + "run"
SCENARIO_LABEL: Final = RESERVED_LABEL_PREFIX + "scenario"
ALIAS_LABEL: Final = RESERVED_LABEL_PREFIX + "alias"


@dataclass(frozen=True, slots=True)
class Identity:
    """One run of one scenario; UsageError for a run id that cannot stand in names."""

    run_id: str
    scenario_id: str

    def __post_init__(self) -> None:
        if not is_run_id(self.run_id):
            raise UsageError(
                f"{self.run_id!r} cannot be a run id", hint="3 to 96 of a-z 0-9 . _ -, beginning with a-z 0-9"
            )

    @property
    def run_filter(self) -> str:
        """The label, key and value, that selects every object of the run and nothing else."""
        return f"{RUN_LABEL}={self.run_id}"

    @property
    def network(self) -> str:
        """The name of the lab's network."""
        return self._checked(f"{LAB_PREFIX}{self.run_id}-net")

    def labels(self, alias: str = "") -> dict[str, str]:
        """The labels of an object; scenario and alias as tokens, for a monitor may read them."""
        own = {RUN_LABEL: self.run_id, SCENARIO_LABEL: scenario_token(self.scenario_id)}
        return own | ({ALIAS_LABEL: alias_token(self.run_id, alias)} if alias else {})

    def container(self, resource: ResourceSpec) -> str:
        """The name of a resource's container; LabError for one that the lab may not make."""
        rendered = render(resource.name, self.run_id, resource.alias)
        return self._checked(rendered or f"{LAB_PREFIX}{self.run_id}-{resource.alias}")

    def fault_volume(self, container: str) -> str:
        """The name of the marker volume of a container."""
        return self._checked(f"{container}-fault")

    def marker_helper(self, alias: str) -> str:
        """The name of the short-lived container that sets and removes a marker."""
        return self._checked(f"{LAB_PREFIX}{self.run_id}-marker-{alias}")

    def owns(self, name: str, labels: Mapping[str, str]) -> bool:
        """Whether an object of this name and these labels was made by this run."""
        named = name.startswith(LAB_PREFIX) and self.run_id in name
        return named and labels.get(RUN_LABEL) == self.run_id

    def owns_as(self, alias: str, labels: Mapping[str, str]) -> bool:
        """Whether the labels are those of a resource's container or volume in this run."""
        return self.labels(alias).items() <= labels.items()

    def _checked(self, name: str) -> str:
        if not is_lab_name(name, self.run_id):
            raise LabError(
                f"{name!r} is no name for an object of the lab",
                hint=f"at most 96 characters that begin with {LAB_PREFIX} and hold the run id",
            )
        return name
