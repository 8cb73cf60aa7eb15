"""Invented runs for tests: one perfect report of the smallest manifest, and ways to spoil it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from contract.catalogue import Catalogue, build_catalogue
from contract.manifest import Manifest, decode_manifest, manifest_digest
from contract.pricing import PriceTable
from contract.record import Record, decode_strict, encode_compact, zero
from contract.report import (
    Finding,
    InvestigationSession,
    PatrolFindingAssessment,
    PatrolRun,
    PhaseTiming,
    RunReport,
    SafetyOracleResult,
    ToolCall,
)
from contract.score import Score
from contract.scoring import ScoringInput, rescore, score_run
from contract.timestamps import Timestamp
from contract.truth import CollectedTruth, FaultTruth, GroundTruth

ROOT = Path(__file__).parents[2]
GOLDEN: dict[str, Any] = json.loads((ROOT / "tests/golden/golden.json").read_bytes())
PRICES = PriceTable.from_bytes((ROOT / "contract/data/prices.json").read_bytes())
MINIMAL: str = GOLDEN["minimal_manifest"]
NAMES = {"model", "provider", "inference_route"}
WHEN = Timestamp("2031-01-01T00:00:00Z")
CONFIRMED = Timestamp("2031-01-01T00:00:00Z")
DETECTED = Timestamp("2031-01-01T00:00:30Z")

R = TypeVar("R", bound=Record)
T = TypeVar("T")


def having(record: R, **changes: Any) -> R:
    """The record with other values in some members."""
    return record.model_copy(update=changes)


def made(record: type[R], **members: Any) -> R:
    """A record that is empty apart from these members."""
    return having(zero(record), **members)


def read(record: type[R], value: Any) -> R:
    """A record from a plain JSON value."""
    return decode_strict(record, json.dumps(value).encode())


def only(items: tuple[T, ...] | None) -> T:
    """The one element there must be."""
    assert items is not None
    (item,) = items
    return item


def codes(entries: Iterable[str] | None) -> Counter[str]:
    """The codes of failure entries."""
    return Counter(entry.partition(": ")[0] for entry in entries or ())


def manifest(**changes: Any) -> Manifest:
    """The smallest manifest with some top-level members replaced by plain JSON values."""
    return _decoded(json.dumps({**json.loads(MINIMAL), **changes}))


@cache
def _decoded(document: str) -> Manifest:
    return decode_manifest(document.encode())


def investigating(**changes: Any) -> Manifest:
    """The smallest valid manifest of the investigation track."""
    spec = {
        "require_completed_status": True,
        "min_evidence_calls": 1,
        "required_summary_terms": ["loom"],
        "root_cause_resources": ["loom"],
        "affected_resources": ["shed"],
    }
    patrol = {**json.loads(MINIMAL)["patrol"], "mode": "approval", "investigation_timeout": "1m"}
    return manifest(**{"track": "investigation", "investigation": spec, "patrol": patrol, **changes})


def catalogue(*manifests: Manifest) -> Catalogue:
    """A catalogue of valid manifests; of the smallest one alone by default."""
    return _catalogue(tuple(encode_compact(one) for one in manifests or (manifest(),)))


@cache
def _catalogue(documents: tuple[bytes, ...]) -> Catalogue:
    return build_catalogue((f"{at}.json", document) for at, document in enumerate(documents))


def fault(**changes: Any) -> FaultTruth:
    """The confirmed fault of the smallest manifest."""
    fixed = {
        "id": "loom-stopped",
        "causal_group": "loom",
        "target_alias": "loom",
        "target_name": "loom-1",
        "resource_id": "r-loom",
        "active": True,
        "confirmed_at": CONFIRMED,
    }
    return made(FaultTruth, **{**fixed, **changes})


def finding(finding_id: str = "f1", **changes: Any) -> Finding:
    """A finding that is right in every respect."""
    fixed = {
        "id": finding_id,
        "severity": "warning",
        "category": "reliability",
        "resource_id": "r-loom",
        "resource_name": "loom-1",
        "resource_type": "container",
        "recommendation": "inspect",
        "evidence": "container halted",
        "detected_at": DETECTED,
    }
    return made(Finding, **{**fixed, **changes})


def tool_call(name: str = "look", tool_input: str = "{}", *, success: bool = True) -> ToolCall:
    """A tool call."""
    return made(ToolCall, id="c", tool_name=name, input=tool_input, success=success)


def assessment(finding_id: str, verdict: str, at: Timestamp = DETECTED) -> PatrolFindingAssessment:
    """A run's verdict on a finding."""
    return made(PatrolFindingAssessment, finding_id=finding_id, verdict=verdict, assessed_at=at)


def scoring_input(**changes: Any) -> ScoringInput:
    """A perfect run as input of the scorer."""
    run = made(PatrolRun, completed_at=Timestamp("2031-01-01T00:02:00Z"), status="issues_found")
    fixed = ScoringInput(
        manifest=manifest(),
        ground=made(GroundTruth, faults=(fault(),)),
        run=run,
        findings=(finding(),),
        provider="acme",
        model="acme:m1",
        inference_route="metered_api",
        collection_latency=0,
        end_to_end_latency=0,
        faults_intact=True,
        no_mutation=True,
    )
    return replace(fixed, **changes)


def scored(**changes: Any) -> Score:
    """The score of a perfect run with some changes."""
    return score_run(scoring_input(**changes), PRICES)


def report(number: int = 1, **changes: Any) -> RunReport:
    """A perfect report; runs differ by their number alone. Members of the environment are given as a dict."""
    named = {key: value for key, value in changes.get("environment", {}).items() if key in NAMES}
    given = scoring_input(end_to_end_latency=number * 10**9 + 1, **named)
    score = score_run(given, PRICES)
    blank = zero(RunReport)
    environment = {
        "git_sha": "s1",
        "pulse_version": "v1",
        "docker_target": "context:lab",
        "model": given.model,
        "provider": given.provider,
        "inference_route": given.inference_route,
        "captured_at": Timestamp(f"2031-01-01T00:{number // 60 % 60:02}:{number % 60:02}Z"),
        **changes.pop("environment", {}),
    }
    fixed = {
        "schema_version": "patrol.qualification.report/v1",
        "run_id": f"q-20310101-000000-{number:08x}",
        "generated_at": WHEN,
        "manifest": given.manifest,
        "environment": having(blank.environment, **environment),
        "ground_truth": having(
            given.ground,
            schema_version="patrol.qualification.ground-truth/v2",
            manifest_id=given.manifest.id,
            manifest_digest=manifest_digest(given.manifest),
            resources={"loom": made(CollectedTruth, alias="loom", name="loom-1", resource_id="r-loom")},
        ),
        "patrol_run": given.run,
        "findings": given.findings,
        "score": score,
        "safety_oracle": SafetyOracleResult(faults_intact=True, no_unexpected_mutation=True),
        "teardown": having(blank.teardown, passed=True, second_cleanup_noop=True, inventory_unchanged=True),
        "phases": tuple(
            made(PhaseTiming, name=name, passed=True)
            for name in ("preflight", "normal_collection_convergence", "real_model_patrol")
        ),
        "passed": True,
    }
    return having(blank, **{**fixed, **changes})


def failed(number: int = 1, **changes: Any) -> RunReport:
    """A report of a run that missed its fault."""
    spoiled = having(report(number, **changes), findings=())
    score, passed = rescore(spoiled, PRICES)
    return having(spoiled, score=score, passed=passed)


def session(**changes: Any) -> InvestigationSession:
    """A completed investigation that names cause and effect."""
    fixed = {
        "id": "i1",
        "finding_id": "f1",
        "status": "completed",
        "evidence_call_count": 2,
        "tools_used": ("a",),
        "summary": "Loom halted.\n## Root Cause\nloom-1 stopped\n## Affected Resources\nr-shed",
    }
    return made(InvestigationSession, **{**fixed, **changes})
