"""What a run is to do, decided before anything is touched."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from contract.challenge import normalise_challenge
from contract.errors import UsageError
from contract.manifest import Manifest, manifest_digest
from contract.names import is_run_id
from harness.client.routes import Route
from harness.git import Revision

OBSERVE = "observe"


@dataclass(frozen=True, slots=True)
class RunPlan:
    """One run of one scenario; `versions` are facts and settings that have no field elsewhere.

    Raises UsageError for what must not be run (runner, section 1).
    """

    manifest: Manifest
    run_id: str
    revision: Revision
    expected_version: str = ""
    expected_route: Route | None = None
    authorize_remediation: bool = False
    challenge: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not is_run_id(self.run_id):
            raise UsageError(
                f"{self.run_id!r} is no run id", hint="3 to 96 of a-z, 0-9, dot, dash, underscore"
            )
        check_authority(self.manifest, self.authorize_remediation)
        normalise_challenge(self.challenge)

    @property
    def digest(self) -> str:
        """The digest of the manifest."""
        return manifest_digest(self.manifest)


def check_authority(manifest: Manifest, authorize_remediation: bool) -> None:
    """UsageError if a scenario changes things beyond its own fault without having been told that it may."""
    remediation = manifest.remediation
    if remediation is not None and remediation.decision != OBSERVE and not authorize_remediation:
        raise UsageError(
            f"its decision is {remediation.decision!r}, which changes the lab beyond the injected fault",
            where=manifest.id,
            hint="add --authorize-remediation",
        )
