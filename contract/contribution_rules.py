"""What every contribution must keep, whatever its runs say (evidence format, sections 5.3, 5.4 and 5.6)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from contract.challenge import identity_problem, is_challenge
from contract.codes import CODES
from contract.comparison import SCHEMA_VERSION as COMPARISON_VERSION
from contract.contribution_records import ContributionBundle, ContributionRun
from contract.faults import Fault
from contract.text import is_blank

SCHEMA_VERSION: Final = "patrol.qualification.contribution/v1"
EVIDENCE_CLASS: Final = "community-candidate"

_DIGEST: Final = re.compile("[a-f0-9]{64}")


@dataclass(frozen=True, slots=True)
class ContributionFault:
    """One rule broken at one place: a code of the code table, a JSON pointer, what is wrong, how to act."""

    code: str
    pointer: str
    message: str
    hint: str

    @property
    def fault(self) -> Fault:
        """The same without its code, for an error that lists faults."""
        return Fault(self.pointer, f"{self.code}: {self.message}", self.hint)


def broken(code: str, pointer: str, message: str) -> ContributionFault:
    """A fault whose hint is the code table's advice; KeyError for an unknown code."""
    return ContributionFault(code, pointer, message, CODES[code].act)


def structural_faults(bundle: ContributionBundle) -> tuple[ContributionFault, ...]:
    """Every breach of the rules that a writer checks before it writes."""
    return (
        *_constant_faults(bundle),
        *_challenge_faults(bundle),
        *(fault for at, run in enumerate(bundle.runs) for fault in _run_faults(f"/runs/{at}", run)),
    )


def identity_faults(bundle: ContributionBundle) -> tuple[ContributionFault, ...]:
    """Every name of a run that must not be published as it is."""
    return tuple(
        fault for at, run in enumerate(bundle.runs) for fault in run_identity_faults(f"/runs/{at}", run)
    )


def run_identity_faults(where: str, run: ContributionRun) -> Iterator[ContributionFault]:
    """The names of one run that must not be published as they are."""
    for name, text in (
        ("harness_git_sha", run.harness_git_sha),
        ("model", run.model),
        ("provider", run.provider),
        ("pulse_version", run.pulse_version),
        ("scenario_id", run.scenario_id),
        ("score/cost/model", run.score.cost.model),
        ("score/cost/provider", run.score.cost.provider),
    ):
        if problem := identity_problem(text):
            yield broken("identity", f"{where}/{name}", f"the name {problem}")


def _constant_faults(bundle: ContributionBundle) -> Iterator[ContributionFault]:
    privacy = bundle.privacy
    for pointer, found, wanted in (
        ("/schema_version", bundle.schema_version, SCHEMA_VERSION),
        ("/comparison/schema_version", bundle.comparison.schema_version, COMPARISON_VERSION),
        ("/evidence_class", bundle.evidence_class, EVIDENCE_CLASS),
        ("/network_upload_performed", bundle.network_upload_performed, False),
        ("/privacy/allowlist_only", privacy.allowlist_only, True),
        (
            "/privacy/manual_review_required_before_sharing",
            privacy.manual_review_required_before_sharing,
            True,
        ),
    ):
        if found != wanted:
            yield broken("format-constant", pointer, f"is {found!r}, the format demands {wanted!r}")
    if not privacy.excluded:
        yield broken("format-constant", "/privacy/excluded", "does not say what was left out")
    if not bundle.runs:
        yield broken("format-constant", "/runs", "holds no run")


def _challenge_faults(bundle: ContributionBundle) -> Iterator[ContributionFault]:
    challenge = bundle.challenge
    if not is_challenge(challenge.nonce):
        yield broken("challenge", "/challenge/nonce", "is not 16 to 128 plain characters")
    if challenge.bound_at_run and is_blank(challenge.nonce):
        yield broken(
            "challenge", "/challenge/nonce", "is empty, although the runs are said to be bound to it"
        )
    if challenge.bound_at_run and not challenge.consistent_across_runs:
        yield broken(
            "challenge", "/challenge/consistent_across_runs", "is false, although the runs are bound"
        )
    for at, run in enumerate(bundle.runs):
        if run.challenge_bound != challenge.bound_at_run:
            yield broken("challenge", f"/runs/{at}/challenge_bound", "differs from the bundle's bound_at_run")


def _run_faults(where: str, run: ContributionRun) -> Iterator[ContributionFault]:
    for name in ("scenario_id", "model", "manifest_digest", "harness_git_sha"):
        if is_blank(getattr(run, name)):
            yield broken("run-incomplete", f"{where}/{name}", "is empty")
    for name in ("evidence_digest_sha256", "manifest_digest", "source_report_sha256", "source_replay_sha256"):
        digest = getattr(run, name)
        may_be_empty = name == "source_replay_sha256" and not digest
        if not may_be_empty and _DIGEST.fullmatch(digest) is None:
            yield broken("run-incomplete", f"{where}/{name}", "is not 64 lower-case hexadecimal digits")
