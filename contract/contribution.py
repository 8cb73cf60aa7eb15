"""The allow-listed export of a campaign: build, write, read and check it (evidence format, section 5)."""

from __future__ import annotations

from typing import Final

from contract.contribution_build import ExportError, ReportSource, build_contribution, build_run
from contract.contribution_check import check_contribution
from contract.contribution_records import (
    ContributionBundle,
    ContributionChallenge,
    ContributionExecution,
    ContributionFailureCount,
    ContributionPrivacy,
    ContributionRun,
    ContributionSafety,
    ContributionScore,
    evidence_digest,
    run_order,
)
from contract.contribution_rules import (
    EVIDENCE_CLASS,
    SCHEMA_VERSION,
    ContributionFault,
    identity_faults,
    structural_faults,
)
from contract.faults import DocumentError, Fault
from contract.record import decode_strict, encode_indented

__all__ = [
    "EVIDENCE_CLASS",
    "MAX_BYTES",
    "SCHEMA_VERSION",
    "ContributionBundle",
    "ContributionChallenge",
    "ContributionError",
    "ContributionExecution",
    "ContributionFailureCount",
    "ContributionFault",
    "ContributionPrivacy",
    "ContributionRun",
    "ContributionSafety",
    "ContributionScore",
    "ExportError",
    "ReportSource",
    "build_contribution",
    "build_run",
    "check_contribution",
    "decode_contribution",
    "encode_contribution",
    "evidence_digest",
    "run_order",
    "validate_contribution",
]

MAX_BYTES: Final = 4 * 1024 * 1024


class ContributionError(DocumentError):
    """A contribution breaks the rules of its format; `faults` holds every reason."""


def decode_contribution(document: bytes) -> ContributionBundle:
    """Read contribution.json without judging what it says.

    Raises ContributionError beyond 4 MiB, DecodeError with every fault of its form.
    """
    _check_size(document)
    return decode_strict(ContributionBundle, document)


def validate_contribution(bundle: ContributionBundle) -> tuple[ContributionFault, ...]:
    """Every breach of sections 5.4 and 5.6; empty when the contribution may be written and published."""
    return (*structural_faults(bundle), *identity_faults(bundle))


def encode_contribution(bundle: ContributionBundle) -> bytes:
    """The content of contribution.json. Raises ContributionError unless it is valid and below 4 MiB."""
    if faults := validate_contribution(bundle):
        raise ContributionError(fault.fault for fault in faults)
    document = encode_indented(bundle)
    _check_size(document)
    return document


def _check_size(document: bytes) -> None:
    if len(document) > MAX_BYTES:
        size = f"{len(document)} bytes, at most {MAX_BYTES} are allowed"
        raise ContributionError([Fault("", size, "export fewer runs into one bundle")])
