"""The catalogues that evidence may refer to: the present one, and every released one that policy keeps."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from contract.catalogue import Catalogue
from contract.manifest import Manifest
from generator.cohort import Cohort


@dataclass(frozen=True, slots=True)
class Scenario:
    """A manifest and its digest, computed once."""

    manifest: Manifest
    digest: str

    @property
    def page(self) -> str:
        return f"scenarios/{self.manifest.id}.md"


@dataclass(frozen=True)
class Catalogues:
    """Known catalogues, the present one first; each can frame a cohort."""

    known: tuple[Catalogue, ...]
    _tracks: dict[tuple[str, str], tuple[Scenario, ...]] = field(default_factory=dict, repr=False)
    _whole: dict[tuple[str, str], Catalogue] = field(default_factory=dict, repr=False)
    _by_digest: dict[str, Scenario] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        for catalogue in self.known:
            for track in sorted({manifest.track for manifest in catalogue.manifests}):
                scenarios = _scenarios(catalogue, track)
                key = (track, track_digest(scenarios))
                self._tracks.setdefault(key, scenarios)
                self._whole.setdefault(key, catalogue)
                self._by_digest.update((one.digest, one) for one in scenarios)

    @property
    def present(self) -> tuple[Scenario, ...]:
        """The scenarios of the present catalogue, sorted by id."""
        if not self.known:
            return ()
        digests = self.known[0].digests
        return tuple(Scenario(manifest, digests[manifest.id]) for manifest in self.known[0].manifests)

    def home(self, track: str, runs: Iterable[tuple[str, str]]) -> str | None:
        """The digest of the first known track that holds all these (scenario id, manifest digest), or
        None.
        """
        asked = frozenset(runs)
        for (name, digest), scenarios in self._tracks.items():
            if name == track and asked <= {(one.manifest.id, one.digest) for one in scenarios}:
                return digest
        return None

    def scenario(self, manifest_digest: str) -> Scenario | None:
        """The scenario with this manifest digest in any known catalogue."""
        return self._by_digest.get(manifest_digest)

    def track_of(self, cohort: Cohort) -> tuple[Manifest, ...]:
        """The scenarios that a cohort's track asks for; KeyError for a cohort that no known catalogue
        frames.
        """
        return tuple(one.manifest for one in self._tracks[cohort.track, cohort.catalogue])

    def whole(self, cohort: Cohort) -> Catalogue:
        """The known catalogue whose track frames this cohort; KeyError when there is none."""
        return self._whole[cohort.track, cohort.catalogue]


def _scenarios(catalogue: Catalogue, track: str) -> tuple[Scenario, ...]:
    digests = catalogue.digests
    return tuple(Scenario(manifest, digests[manifest.id]) for manifest in catalogue.track(track))


def track_digest(scenarios: Sequence[Scenario]) -> str:
    """SHA-256 over a line `<id> <digest>` for each scenario of a track: what makes two catalogues
    comparable.
    """
    lines = "".join(f"{one.manifest.id} {one.digest}\n" for one in scenarios)
    return hashlib.sha256(lines.encode()).hexdigest()
