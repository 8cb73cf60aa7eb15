"""What a trigger asked for, resolved exactly or not at all (reference runtime, section 4)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from patrol.collect.projection import Identity


@dataclass(frozen=True, slots=True)
class Scope:
    """A resolved scope: `resolved` holds canonical ids, `effective` all ids of those records, both sorted."""

    requested: tuple[str, ...] = ()
    resolved: tuple[str, ...] = ()
    effective: tuple[str, ...] = ()
    unmatched: tuple[str, ...] = ()
    ambiguous: tuple[str, ...] = ()

    @property
    def usable(self) -> bool:
        return bool(self.effective) and not self.unmatched and not self.ambiguous


def resolve(requested: Sequence[str], identities: Sequence[Identity]) -> Scope:
    """Match each requested id exactly among ids, and only where none matches among aliases; never nearly."""
    matched: list[Identity] = []
    unmatched, ambiguous = set(), set()
    for asked in requested:
        token = asked.strip().lower()
        found = [one for one in identities if token in one.ids] or [
            one for one in identities if token in one.aliases
        ]
        if len(found) == 1:
            matched.append(found[0])
        elif found:
            ambiguous.add(asked)
        else:
            unmatched.add(asked)
    return _scope(requested, matched, unmatched, ambiguous)


def everything(identities: Sequence[Identity]) -> Scope:
    """The scope of a full run."""
    return _scope((), identities, (), ())


def _scope(
    requested: Sequence[str], matched: Sequence[Identity], unmatched: Iterable[str], ambiguous: Iterable[str]
) -> Scope:
    return Scope(
        requested=tuple(requested),
        resolved=tuple(sorted({one.resource_id for one in matched})),
        effective=tuple(sorted({spelling for one in matched for spelling in one.ids})),
        unmatched=tuple(sorted(unmatched)),
        ambiguous=tuple(sorted(ambiguous)),
    )
