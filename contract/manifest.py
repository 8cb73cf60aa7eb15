"""From bytes to a valid `Manifest`, and to the digest that names it (manifest format, sections 2 and 9)."""

from __future__ import annotations

import hashlib

from contract.faults import DocumentError, Fault
from contract.manifest_records import (
    BudgetSpec,
    CollectionSpec,
    ExpectedFinding,
    FaultSpec,
    GateSpec,
    InjectorSpec,
    InvestigationSpec,
    LabSpec,
    Manifest,
    NegativeControl,
    PatrolSpec,
    Predicate,
    RemediationSpec,
    RepeatSpec,
    ResourceSpec,
    SecuritySpec,
    TeardownSpec,
)
from contract.manifest_rules import SCHEMA_VERSION, validate
from contract.record import DecodeError, decode_strict, encode_compact

__all__ = [
    "SCHEMA_VERSION",
    "BudgetSpec",
    "CollectionSpec",
    "ExpectedFinding",
    "FaultSpec",
    "GateSpec",
    "InjectorSpec",
    "InvestigationSpec",
    "LabSpec",
    "Manifest",
    "ManifestError",
    "NegativeControl",
    "PatrolSpec",
    "Predicate",
    "RemediationSpec",
    "RepeatSpec",
    "ResourceSpec",
    "SecuritySpec",
    "TeardownSpec",
    "canonical_bytes",
    "decode_manifest",
    "load_manifest",
    "manifest_digest",
    "validate",
]


class ManifestError(DocumentError):
    """A document is no valid manifest; `faults` holds every reason."""


def decode_manifest(document: bytes) -> Manifest:
    """Read a manifest without judging what it says.

    Raises DecodeError; unlike other documents, a manifest must be valid UTF-8 to the last byte.
    """
    try:
        document.decode()
    except UnicodeDecodeError as exc:
        fault = Fault("", f"byte {exc.start} is not valid UTF-8", "save the file as UTF-8")
        raise DecodeError([fault]) from exc
    return decode_strict(Manifest, document)


def load_manifest(document: bytes, where: str = "") -> Manifest:
    """Read a manifest and check every rule; `where` names the document in errors.

    Raises ManifestError with all faults: those of its form, or else those of its meaning.
    """
    try:
        manifest = decode_manifest(document)
    except DecodeError as exc:
        raise ManifestError(exc.faults, where=where) from exc
    if faults := validate(manifest):
        raise ManifestError(faults, where=where)
    return manifest


def canonical_bytes(manifest: Manifest) -> bytes:
    """The bytes that the digest is taken of: one line, declared order, no newline."""
    return encode_compact(manifest)


def manifest_digest(manifest: Manifest) -> str:
    """Lower-case hex SHA-256 of the canonical bytes: the identity of a scenario."""
    return hashlib.sha256(canonical_bytes(manifest)).hexdigest()
