"""Everything that the pages show, derived once from the verified registry."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from contract.manifest import Manifest
from generator.board import Board, LeaderboardRow, boards, row_of
from generator.classes import QualificationClass
from generator.cohort import Track
from generator.identity import Directory, ModelIdentity
from generator.layout import Kind
from generator.pool import Pool, pools
from generator.registry import Registry
from generator.verified import VerifiedBundle


@dataclass(frozen=True)
class SiteView:
    """The verified registry at one moment: `as_of_ns` decides what is out of date, nothing else does."""

    registry: Registry
    as_of_ns: int

    @cached_property
    def directory(self) -> Directory:
        return Directory(self.registry.models)

    @cached_property
    def pools(self) -> tuple[Pool, ...]:
        """The pools of models; controls are never among them."""
        return pools(self._of(Kind.COMMUNITY), self.directory)

    @cached_property
    def control_pools(self) -> tuple[Pool, ...]:
        return pools(self._of(Kind.CONTROL), self.directory)

    def _of(self, kind: Kind) -> tuple[VerifiedBundle, ...]:
        return tuple(bundle for bundle in self.registry.bundles if bundle.place.kind is kind)

    @cached_property
    def rows(self) -> Mapping[Track, tuple[LeaderboardRow, ...]]:
        days = self.registry.policy.community_tested.valid_days
        return {
            track: tuple(
                row_of(pool, self.scenario_ids(pool), self.as_of_ns, days)
                for pool in self.pools
                if pool.cohort.track == track.value
            )
            for track in Track
        }

    def manifests(self, pool: Pool) -> tuple[Manifest, ...]:
        """The scenarios that a pool's cohort asks for, sorted by id."""
        return self.registry.catalogues.track_of(pool.cohort)

    def scenario_ids(self, pool: Pool) -> tuple[str, ...]:
        return tuple(manifest.id for manifest in self.manifests(pool))

    @cached_property
    def boards(self) -> Mapping[Track, tuple[Board, ...]]:
        return {track: boards(rows) for track, rows in self.rows.items()}

    def tables(
        self, track: Track, qualification: QualificationClass, *, reference: bool
    ) -> tuple[Board, ...]:
        """The tables of one section of a board page."""
        return tuple(
            board
            for board in self.boards[track]
            if board.qualification is qualification and board.cohort.is_reference is reference
        )

    @cached_property
    def models(self) -> tuple[ModelIdentity, ...]:
        """Every model with verified runs, sorted by name."""
        found = {pool.model.id: pool.model for pool in self.pools}
        return tuple(sorted(found.values(), key=lambda model: (model.name.lower(), model.id)))

    def rows_of(self, model: ModelIdentity) -> tuple[LeaderboardRow, ...]:
        """A model's rows over all tracks: the newest cohort first, Pulse before the reference runtime."""
        rows = [row for track in Track for table in self.boards[track] for row in table.rows]
        own = [row for row in rows if row.pool.model.id == model.id]
        return tuple(sorted(own, key=lambda row: row.pool.cohort.is_reference))

    @cached_property
    def bundles(self) -> tuple[VerifiedBundle, ...]:
        """Every bundle, the newest export first."""
        return tuple(
            sorted(
                self.registry.bundles,
                key=lambda bundle: (-bundle.contribution.generated_at.instant_ns, bundle.id),
            )
        )
