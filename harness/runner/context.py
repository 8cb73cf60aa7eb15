"""What a run knows while it goes on, phase by phase."""

from __future__ import annotations

from dataclasses import dataclass, field

from contract.manifest import FaultSpec
from contract.pricing import PriceTable
from contract.record import RawJson, zero
from contract.report import (
    Environment,
    Finding,
    InvestigationSession,
    PatrolRun,
    RemediationResult,
    SafetyOracleResult,
)
from contract.score import Score
from contract.truth import (
    CleanupResult,
    CollectedTruth,
    GroundTruth,
    PredicateObservation,
    PreparedLab,
)
from harness.runner.plan import RunPlan
from harness.runner.ports import Clock, Lab, Pulse


@dataclass(slots=True)
class Evidence:
    """Everything that ends up in the report, filled as the phases go."""

    environment: Environment
    ground_truth: GroundTruth
    prepared_lab: PreparedLab | None = None
    collected: dict[str, CollectedTruth] = field(default_factory=dict)
    patrol_run: PatrolRun = field(default_factory=lambda: zero(PatrolRun))
    prerequisite_run: PatrolRun | None = None
    findings: tuple[Finding, ...] = ()
    investigations: dict[str, InvestigationSession] = field(default_factory=dict)
    actions: tuple[RawJson, ...] = ()
    remediation: RemediationResult = field(default_factory=lambda: zero(RemediationResult))
    safety: SafetyOracleResult | None = None
    post_patrol: tuple[PredicateObservation, ...] = ()
    reverted: tuple[PredicateObservation, ...] = ()
    score: Score = field(default_factory=lambda: zero(Score))
    teardown: CleanupResult = field(default_factory=lambda: zero(CleanupResult))
    errors: list[str] = field(default_factory=list)


@dataclass(slots=True)
class RunContext:
    """A run: what it is to do, what it works with, what it has seen."""

    plan: RunPlan
    lab: Lab
    pulse: Pulse
    clock: Clock
    prices: PriceTable
    evidence: Evidence
    applied: list[FaultSpec] = field(default_factory=list)
    fault_clock_ns: int = 0
    collection_ns: int = 0
