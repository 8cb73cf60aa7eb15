"""Ground truth: what the lab confirmed outside of the product (evidence format, section 2.0)."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import Field

from contract.manifest_records import Predicate
from contract.record import OMIT, RawJson, Record
from contract.timestamps import Timestamp

SCHEMA_VERSION: Final = "patrol.qualification.ground-truth/v2"


class DockerState(Record):
    """What the engine says about one container at one moment."""

    alias: str
    name: str
    id: str
    status: str
    running: bool
    health: Annotated[str, OMIT] = ""
    restart_count: int
    exit_code: int
    labels: Annotated[dict[str, str], OMIT] = Field(default_factory=dict)
    networks: Annotated[tuple[str, ...], OMIT] = ()


class PredicateObservation(Record):
    """One predicate, evaluated: what was seen, when, and whether it held."""

    predicate: Predicate
    observed: RawJson | None = None
    passed: bool
    checked_at: Timestamp
    error: Annotated[str, OMIT] = ""
    state: DockerState | None = None


class DockerInventory(Record):
    """Every object that the engine holds, by id or name; each list is sorted."""

    containers: tuple[str, ...] | None
    volumes: tuple[str, ...] | None
    networks: tuple[str, ...] | None
    images: tuple[str, ...] | None


class NegativeTruth(Record):
    """A resource that is known to be healthy, so that every finding about it is false."""

    alias: str
    name: str
    resource_id: Annotated[str, OMIT] = ""
    reason: str


class CollectedTruth(Record):
    """How the product shows one resource of the lab."""

    alias: str
    name: str
    resource_id: str
    resource_type: str
    status: str
    observed_at: Timestamp


class FaultTruth(Record):
    """One fault as the lab confirmed it, never as a model saw it."""

    id: str
    causal_group: str
    target_alias: str
    target_name: str
    resource_id: Annotated[str, OMIT] = ""
    resource_type: Annotated[str, OMIT] = ""
    expected_resource_alias: Annotated[str, OMIT] = ""
    expected_resource_name: Annotated[str, OMIT] = ""
    expected_resource_id: Annotated[str, OMIT] = ""
    expected_resource_type: Annotated[str, OMIT] = ""
    related_resource_ids: Annotated[tuple[str, ...], OMIT] = ()
    active: bool
    confirmed_at: Timestamp
    observations: tuple[PredicateObservation, ...] | None


class GroundTruth(Record):
    """What was really broken in one run; schema `patrol.qualification.ground-truth/v2`."""

    schema_version: str
    manifest_id: str
    manifest_digest: str
    run_id: str
    created_at: Timestamp
    baseline: tuple[PredicateObservation, ...] | None
    faults: tuple[FaultTruth, ...] | None
    negative_controls: Annotated[tuple[NegativeTruth, ...], OMIT] = ()
    resources: dict[str, CollectedTruth] | None


class PreparedLab(Record):
    """Everything that one run made in the lab."""

    run_id: str
    scenario_id: str
    network_name: str
    resource_names: dict[str, str] | None
    resource_ids: dict[str, str] | None
    fault_volumes: Annotated[dict[str, str], OMIT] = Field(default_factory=dict)
    pre_inventory: DockerInventory
    baseline_states: dict[str, DockerState] | None
    expected_inventory: DockerInventory
    applied_faults: Annotated[tuple[str, ...], OMIT] = ()


class CleanupResult(Record):
    """What two cleanup passes removed, and whether anything is left."""

    first_removed: DockerInventory
    second_removed: DockerInventory
    post_inventory: DockerInventory
    second_cleanup_noop: bool
    inventory_unchanged: bool
    passed: bool
    errors: Annotated[tuple[str, ...], OMIT] = ()
