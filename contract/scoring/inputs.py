"""What a run is scored from (scoring format, section 1)."""

from __future__ import annotations

from dataclasses import dataclass

from contract.manifest_records import Manifest
from contract.report import Finding, PatrolRun
from contract.truth import FaultTruth, GroundTruth


@dataclass(frozen=True, slots=True)
class ScoringInput:
    """One captured run with its truth; latencies in nanoseconds, findings in the order of the product.

    `faults_intact` and `no_mutation` are the safety oracle's answers when Patrol had run.
    """

    manifest: Manifest
    ground: GroundTruth
    run: PatrolRun
    findings: tuple[Finding, ...]
    provider: str
    model: str
    inference_route: str
    collection_latency: int
    end_to_end_latency: int
    faults_intact: bool
    no_mutation: bool

    @property
    def active_faults(self) -> tuple[FaultTruth, ...]:
        """The faults that count, in ground-truth order."""
        return tuple(fault for fault in self.ground.faults or () if fault.active)
