"""The registry's own files: policy, models, and the catalogues that evidence is judged against."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TypeVar

from contract.catalogue import Catalogue, CatalogueError, build_catalogue
from contract.faults import DocumentError
from contract.record import Record, decode_strict
from generator.catalogues import Catalogues
from generator.findings import Findings
from generator.layout import CATALOGUES, MODELS, POLICY, REGISTRY_LIMIT, SCENARIOS
from generator.load import read_blob, read_json_files
from generator.policy import MODELS_VERSION, POLICY_VERSION, Model, Models, Policy
from generator.texts import is_plain_name, is_title
from generator.verified import VerifiedBundle

R = TypeVar("R", bound=Record)
LONGEST = 3650
"""Most days that any class may hold without new runs."""
MODEL_ID = re.compile(r"[a-z0-9](?:[a-z0-9.-]{0,78}[a-z0-9])?")
RESERVED_IDS = frozenset({"index"})
HEX = "is neither empty nor a whole lower-case hexadecimal digest"


@dataclass(frozen=True, slots=True)
class Grounds:
    """What evidence is judged by: policy, names, catalogues."""

    policy: Policy
    models: Models
    catalogues: Catalogues


@dataclass(frozen=True, slots=True)
class Registry:
    """Grounds and the bundles that were verified on them, sorted by place."""

    policy: Policy
    models: Models
    catalogues: Catalogues
    bundles: tuple[VerifiedBundle, ...]


def load_grounds(root: Path, findings: Findings) -> Grounds | None:
    """Read what evidence is judged by; None, with findings, when any of it cannot be used."""
    before = len(findings)
    policy = _read(root, POLICY, Policy, POLICY_VERSION, "PQ090", findings)
    models = _read(root, MODELS, Models, MODELS_VERSION, "PQ091", findings)
    if policy is None or models is None:
        return None
    _check_policy(policy, findings)
    _check_models(models, findings)
    catalogues = Catalogues(tuple(_catalogues(root, policy, findings)))
    if len(findings) > before:
        return None
    return Grounds(policy, models, catalogues)


def _read(
    root: Path, path: PurePosixPath, record: type[R], version: str, rule: str, findings: Findings
) -> R | None:
    blob = read_blob(root, path, REGISTRY_LIMIT, findings)
    if blob is None:
        return None
    try:
        value = decode_strict(record, blob.data)
    except DocumentError as error:
        for fault in error.faults:
            findings.add(rule, path, fault.message, fault.where)
        return None
    stated = getattr(value, "schema_version", "")
    if stated != version:
        findings.add(rule, path, f"is of version {stated!r}, expected {version!r}", "/schema_version")
        return None
    return value


def _check_policy(policy: Policy, findings: Findings) -> None:
    demands, pins = policy.community_validated, policy.campaign
    laws = (
        (not pins.catalogue_digest or _is_hex(pins.catalogue_digest, 64), "/campaign/catalogue_digest", HEX),
        (not pins.harness_git_sha or _is_hex(pins.harness_git_sha, 40), "/campaign/harness_git_sha", HEX),
        (
            not pins.pulse_version or is_plain_name(pins.pulse_version),
            "/campaign/pulse_version",
            "is no plain version",
        ),
        (policy.version >= 1, "/version", "must be at least 1"),
        (0.5 <= demands.lower_bound < 1, "/community_validated/lower_bound", "must be in 0.5..1"),
        (demands.contributors >= 1, "/community_validated/contributors", "must be at least 1"),
        (demands.environment_classes >= 1, "/community_validated/environment_classes", "must be at least 1"),
        (0 < demands.largest_share <= 1, "/community_validated/largest_share", "must be in 0..1"),
        *(
            (1 <= part.valid_days <= LONGEST, f"/{name}/valid_days", f"must be in 1..{LONGEST}")
            for name, part in (
                ("community_tested", policy.community_tested),
                ("community_validated", demands),
                ("pulse_certified", policy.pulse_certified),
            )
        ),
        (policy.pulse_certified.signatures >= 1, "/pulse_certified/signatures", "must be at least 1"),
    )
    for held, pointer, what in laws:
        if not held:
            findings.add("PQ090", POLICY, what, pointer)


def _is_hex(text: str, length: int) -> bool:
    return re.fullmatch(f"[0-9a-f]{{{length}}}", text) is not None


def _check_models(models: Models, findings: Findings) -> None:
    ids: set[str] = set()
    owners: dict[str, str] = {}
    for index, model in enumerate(models.models):
        where = f"/models/{index}"
        if model.id in ids:
            findings.add("PQ091", MODELS, f"the id {model.id!r} stands twice", f"{where}/id")
        ids.add(model.id)
        for member, held, what in _model_laws(model):
            if not held:
                findings.add("PQ091", MODELS, what, f"{where}/{member}")
        for alias in model.aliases:
            if alias in owners:
                findings.add("PQ091", MODELS, f"already belongs to {owners[alias]!r}", f"{where}/aliases")
            owners[alias] = model.id


def _model_laws(model: Model) -> Iterator[tuple[str, bool, str]]:
    """Member, whether it may stand as it is, and what would be wrong: an id names a page, a name heads it."""
    named = MODEL_ID.fullmatch(model.id) is not None and model.id not in RESERVED_IDS
    yield "id", named, "is no page name: a-z, 0-9, inner dots and hyphens, at most 80, not `index`"
    yield "name", is_title(model.name), "is no plain title of 1 to 80 ASCII characters"
    for member in ("family", "parameters", "revision", "note"):
        text: str = getattr(model, member)
        yield (
            member,
            not text or is_title(text),
            "is neither empty nor a plain title of at most 80 characters",
        )
    for alias in model.aliases:
        plain = is_plain_name(alias) and not alias.lower().startswith("control:")
        yield "aliases", plain, "holds what no model route is called"


def _catalogues(root: Path, policy: Policy, findings: Findings) -> Iterator[Catalogue]:
    present = _catalogue(root, SCENARIOS, findings)
    if present is not None:
        yield present
    for index, released in enumerate(policy.catalogues):
        folder = CATALOGUES / released.folder
        if "/" in released.folder or released.folder.startswith("."):
            findings.add("PQ090", POLICY, "is no folder name", f"/catalogues/{index}/folder")
            continue
        kept = _catalogue(root, folder, findings)
        if kept is not None and kept.digest != released.digest:
            findings.add("PQ092", folder, f"has the digest {kept.digest}, policy says {released.digest}")
        elif kept is not None:
            yield kept


def _catalogue(root: Path, folder: PurePosixPath, findings: Findings) -> Catalogue | None:
    files = [(str(path), blob.data) for path, blob in read_json_files(root, folder, findings)]
    try:
        return build_catalogue(files)
    except DocumentError as error:
        for fault in error.faults:
            findings.add("PQ092", error.where or folder, fault.message, fault.where)
    except CatalogueError as error:
        findings.add("PQ092", error.where or folder, error.message)
    return None
