"""The registry's own two files: what each class demands, and which names mean the same model."""

from __future__ import annotations

from typing import Annotated

from contract.record import OMIT, Record

POLICY_VERSION = "patrol.qualification.policy/v1"
MODELS_VERSION = "patrol.qualification.models/v1"


class CampaignPins(Record):
    """The campaign that boards compare: released harness, catalogue and Pulse release; empty where none is
    pinned.
    """

    catalogue_digest: str
    pulse_version: str
    harness_git_sha: str

    @property
    def complete(self) -> bool:
        return bool(self.catalogue_digest and self.pulse_version and self.harness_git_sha)


class ReleasedCatalogue(Record):
    """A catalogue that evidence may refer to: its digest and the folder that keeps its manifests."""

    digest: str
    folder: str
    released: str


class TestedDemands(Record):
    """What Community tested demands beyond valid evidence: nothing; and after how many days it is out of
    date.
    """

    valid_days: int


class ValidatedDemands(Record):
    """What Community validated demands; rates and shares are between 0 and 1, counts are of distinct ones."""

    lower_bound: float
    contributors: int
    environment_classes: int
    largest_share: float
    valid_days: int


class CertifiedDemands(Record):
    """What Pulse certified demands beside every gate of the comparison format: signatures of distinct
    owners.
    """

    lower_bound: float
    signatures: int
    valid_days: int


class Policy(Record):
    """evidence/policy.json: one version of what the classes demand."""

    schema_version: str
    version: int
    campaign: CampaignPins
    catalogues: tuple[ReleasedCatalogue, ...]
    community_tested: TestedDemands
    community_validated: ValidatedDemands
    pulse_certified: CertifiedDemands


class Model(Record):
    """One model: canonical id, name, family, what pins its weights (empty: a movable alias), and its
    routes' names.
    """

    id: str
    name: str
    family: str
    parameters: str
    revision: str
    aliases: tuple[str, ...]
    note: Annotated[str, OMIT] = ""


class Models(Record):
    """evidence/models.json: every model that is known under more than one name or deserves a better one."""

    schema_version: str
    models: tuple[Model, ...]
