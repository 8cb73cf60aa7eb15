"""The authoring schema: what an editor would complain about, beyond what the loader demands."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import jsonschema

from contract.errors import UsageError
from contract.faults import Fault
from contract.manifest import ManifestError
from harness.resources import MAX_MANIFEST_BYTES, manifest_paths, read_bounded


def check_authoring(folder: Path) -> None:
    """Check every manifest of a catalogue folder against the schema beside it; a folder without one passes.

    Raises ManifestError with all faults of the first manifest that has any (manifest format, section 6).
    """
    schemas = sorted(folder.glob("*.schema.json"))
    if not schemas:
        return
    validator = _validator(schemas[0])
    for path in manifest_paths(folder):
        document = json.loads(read_bounded(path, MAX_MANIFEST_BYTES))
        errors = sorted(
            validator.iter_errors(document), key=lambda error: list(map(str, error.absolute_path))
        )
        if errors:
            raise ManifestError([_fault(error) for error in errors], where=str(path))


def _validator(path: Path) -> jsonschema.Draft202012Validator:
    try:
        schema = json.loads(read_bounded(path, MAX_MANIFEST_BYTES))
        jsonschema.Draft202012Validator.check_schema(schema)
    except (ValueError, jsonschema.SchemaError) as exc:
        raise UsageError("is no JSON Schema", where=str(path)) from exc
    return jsonschema.Draft202012Validator(schema)


def _fault(error: jsonschema.ValidationError) -> Fault:
    return Fault(_pointer(list(error.absolute_path)), error.message, "see the authoring schema beside it")


def _pointer(parts: Sequence[object]) -> str:
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in parts)
