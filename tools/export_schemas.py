"""Write the JSON Schemas of the exchanged formats from their records.

    python tools/export_schemas.py           write contract/schemas/*.json
    python tools/export_schemas.py --check   only compare; exit code 1 when one differs

A schema describes what a writer writes. The reader decides, not the schema: it is more forgiving, because an
absent member and a `null` stand for the zero value, and it refuses what JSON Schema cannot see (duplicate
members, the spelling of numbers).
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from contract import comparison, contribution_rules, replay, report, submission, truth
from contract.comparison_records import ComparisonReport
from contract.contribution_records import ContributionBundle
from contract.record import OMIT, Record
from contract.replay import ReplayBundle
from contract.report import RunReport
from contract.shapes import Array, Mapping, Pointer, Raw, Scalar, Shape
from contract.structs import INT64_MAX, INT64_MIN, Struct, members
from contract.submission import Submission
from contract.truth import GroundTruth

FOLDER = Path(__file__).parent.parent / "contract" / "schemas"

FORMATS: dict[str, tuple[type[Record], str]] = {
    "report": (RunReport, report.SCHEMA_VERSION),
    "ground-truth": (GroundTruth, truth.SCHEMA_VERSION),
    "replay": (ReplayBundle, replay.SCHEMA_VERSION),
    "comparison": (ComparisonReport, comparison.SCHEMA_VERSION),
    "contribution": (ContributionBundle, contribution_rules.SCHEMA_VERSION),
    "submission": (Submission, submission.SCHEMA_VERSION),
}

DIGEST = {"type": "string", "pattern": "^[a-f0-9]{64}$", "minLength": 64, "maxLength": 64}
# What the rules of a format demand beyond its types: `record.member` to what replaces the type's schema.
RULES: dict[str, dict[str, Any]] = {
    "ComparisonReport.schema_version": {"const": comparison.SCHEMA_VERSION},
    "ContributionBundle.evidence_class": {"const": contribution_rules.EVIDENCE_CLASS},
    "ContributionBundle.network_upload_performed": {"const": False},
    "ContributionPrivacy.allowlist_only": {"const": True},
    "ContributionPrivacy.manual_review_required_before_sharing": {"const": True},
    "ContributionRun.evidence_digest_sha256": DIGEST,
    "ContributionRun.source_report_sha256": DIGEST,
    "ContributionRun.source_replay_sha256": DIGEST,
    "ContributionRun.manifest_digest": DIGEST,
    "ContributionChallenge.nonce": {"type": "string", "pattern": "^[A-Za-z0-9._-]{16,128}$"},
}
NOT_EMPTY = {"ContributionBundle.runs", "ContributionPrivacy.excluded"}

SCALARS: dict[str, dict[str, Any]] = {
    "a string": {"type": "string"},
    "a whole number": {"type": "integer", "minimum": INT64_MIN, "maximum": INT64_MAX},
    "a number": {"type": "number"},
    "true or false": {"type": "boolean"},
    "a time": {
        "type": "string",
        "format": "date-time",
        "pattern": r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$",
    },
}


def schema_text(name: str) -> str:
    """The schema of one format, as it is committed."""
    record, version = FORMATS[name]
    definitions: dict[str, Any] = {}
    root = _object(record, definitions, closed=name != "report")
    root["properties"]["schema_version"] = {"const": version}
    document = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:patrol-qualification:{version.replace('/', ':')}",
        "title": f"{name}.json, {version}",
        **root,
        "$defs": dict(sorted(definitions.items())),
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _object(record: type[Record], definitions: dict[str, Any], *, closed: bool) -> dict[str, Any]:
    properties, required = {}, []
    for name, shape in members(record).items():
        rule = f"{record.__name__}.{name}"
        properties[name] = RULES.get(rule) or _value(shape, definitions, closed=closed)
        if rule in NOT_EMPTY:
            properties[name] = {**properties[name], "minItems": 1}
        if not isinstance(shape, Pointer) and OMIT not in record.model_fields[name].metadata:
            required.append(name)
    description = " ".join((record.__doc__ or "").split())
    return {
        "description": description,
        "type": "object",
        **({"additionalProperties": False} if closed else {}),
        "required": required,
        "properties": properties,
    }


def _value(shape: Shape, definitions: dict[str, Any], *, closed: bool) -> dict[str, Any]:
    match shape:
        case Scalar(name=name):
            return dict(SCALARS[name])
        case Pointer(target=target):
            return _value(target, definitions, closed=closed)
        case Array(item=item, nullable=nullable):
            kind: Any = ["array", "null"] if nullable else "array"
            return {"type": kind, "items": _value(item, definitions, closed=closed)}
        case Mapping(item=item, nullable=nullable):
            kind = ["object", "null"] if nullable else "object"
            return {"type": kind, "additionalProperties": _value(item, definitions, closed=closed)}
        case Struct(record=record):
            return _reference(record, definitions, closed=closed)
        case Raw():
            return {}
    raise TypeError(f"no schema for {shape!r}")


def _reference(record: Any, definitions: dict[str, Any], *, closed: bool) -> dict[str, Any]:
    name = record.__name__
    if name not in definitions:
        definitions[name] = {}  # taken before its members, which may mention it
        definitions[name] = _object(record, definitions, closed=closed)
    return {"$ref": f"#/$defs/{name}"}


def main(arguments: list[str]) -> int:
    """Write or compare all schemas."""
    stale = []
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in FORMATS:
        path = FOLDER / f"{name}.schema.json"
        text = schema_text(name)
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        stale.append(path.name)
        if "--check" not in arguments:
            path.write_text(text, encoding="utf-8")
    for file in stale:
        print(f"{file}: {'differs' if '--check' in arguments else 'written'}")
    return 1 if stale and "--check" in arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
