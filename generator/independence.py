"""Who counts as unrelated: contributors that share neither a login nor an affiliation."""

from __future__ import annotations

from collections.abc import Iterable

from contract.text import fold


def unrelated_groups(people: Iterable[tuple[str, str]]) -> tuple[frozenset[str], ...]:
    """Group logins that are related, given (login, affiliation or empty) of every bundle; groups are
    sorted.
    """
    groups: list[tuple[set[str], set[str]]] = []
    for login, affiliation in people:
        keys = {f"login {login}"} | ({f"affiliation {fold(affiliation)}"} if affiliation else set())
        logins = {login}
        apart = []
        for known, members in groups:
            if known & keys:
                keys |= known
                logins |= members
            else:
                apart.append((known, members))
        groups = [*apart, (keys, logins)]
    return tuple(sorted((frozenset(logins) for _, logins in groups), key=sorted))
