"""Where things stand in a tree of evidence, and how big each may be."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from pathlib import PurePosixPath

EVIDENCE = PurePosixPath("evidence")
SCENARIOS = PurePosixPath("scenarios")
POLICY = EVIDENCE / "policy.json"
MODELS = EVIDENCE / "models.json"
CATALOGUES = EVIDENCE / "catalogues"

CONTRIBUTION = "contribution.json"
README = "README.md"
SUBMISSION = "submission.json"
SUMS = "SHA256SUMS"
SEALED = (README, CONTRIBUTION, SUBMISSION)
"""The names that SHA256SUMS of a bundle lists, in its order."""

LIMITS = {CONTRIBUTION: 4 << 20, README: 64 << 10, SUBMISSION: 64 << 10, SUMS: 4 << 10}
"""Largest size of each file of a bundle, in bytes."""
REGISTRY_LIMIT = 1 << 20
"""Largest size of policy, models and manifests, in bytes."""

BUNDLE_ID = re.compile(r"[0-9a-f]{16}")
LOGIN = re.compile(r"[a-z0-9](?:-?[a-z0-9]){0,38}")

ROOT_FILES = frozenset({"policy.json", "models.json", "README.md"})
LATER = {
    "certified": "certificates",
    "challenges": "challenges",
    "withdrawn": "withdrawals",
    "trust": "certifier keys",
}
"""Folders that the layout reserves, and for what; the present rule set accepts nothing in them yet."""


class Kind(Enum):
    """Which side of the house a bundle belongs to."""

    COMMUNITY = "community"
    CONTROL = "controls"


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """Where a bundle stands: below community/<contributor>/<id> or controls/<id>."""

    contributor: str
    id: str

    @property
    def kind(self) -> Kind:
        return Kind.COMMUNITY if self.contributor else Kind.CONTROL

    @property
    def path(self) -> PurePosixPath:
        return EVIDENCE / self.kind.value / self.contributor / self.id
