"""A folder of manifests as one value (manifest format, section 1)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field

from contract.errors import PatrolQualificationError
from contract.manifest import Manifest, load_manifest, manifest_digest
from contract.text import shown


class CatalogueError(PatrolQualificationError):
    """A folder of manifests cannot be used."""

    exit_code = 2


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Valid manifests with distinct ids, sorted by id; never empty."""

    manifests: tuple[Manifest, ...]
    # The manifest digest of each id; asked for with every run of every bundle, hence taken once.
    digests: dict[str, str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "digests", {one.id: manifest_digest(one) for one in self.manifests})

    def get(self, scenario_id: str) -> Manifest:
        """The manifest with this id; CatalogueError when there is none."""
        for manifest in self.manifests:
            if manifest.id == scenario_id:
                return manifest
        known = ", ".join(manifest.id for manifest in self.manifests)
        raise CatalogueError(f"no scenario {shown(scenario_id)}", hint=f"known: {known}")

    def track(self, track: str) -> tuple[Manifest, ...]:
        """The manifests of one track."""
        return tuple(manifest for manifest in self.manifests if manifest.track == track)

    @property
    def digest(self) -> str:
        """The catalogue's own digest: SHA-256 over a line `<id> <manifest digest>` for each manifest."""
        lines = "".join(f"{name} {digest}\n" for name, digest in self.digests.items())
        return hashlib.sha256(lines.encode()).hexdigest()


def is_manifest_name(name: str) -> bool:
    """Whether a file of this name in a catalogue folder is a manifest."""
    return name.endswith(".json") and not name.endswith(".schema.json")


def build_catalogue(files: Iterable[tuple[str, bytes]]) -> Catalogue:
    """Load every manifest among `(name, bytes)` pairs; other names are skipped.

    Raises ManifestError for the first bad one, CatalogueError for two with one id and for none at all.
    """
    named: dict[str, tuple[str, Manifest]] = {}
    for name, document in files:
        if not is_manifest_name(name):
            continue
        manifest = load_manifest(document, name)
        if manifest.id in named:
            other = named[manifest.id][0]
            raise CatalogueError(
                f"id {shown(manifest.id)} also stands in {other}", where=name, hint="ids are unique"
            )
        named[manifest.id] = (name, manifest)
    if not named:
        raise CatalogueError("no manifest found", hint="a catalogue is a folder of *.json manifests")
    return Catalogue(tuple(named[scenario_id][1] for scenario_id in sorted(named)))
