"""The state of reading one document: how strict, and the faults found so far."""

from __future__ import annotations

from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache
from typing import Any, Final

from contract.faults import Fault, pointer
from contract.jsontext import Node
from contract.text import fold

BAD: Final[Any] = object()  # in place of a value that could not be read; its fault is noted
_GUESSED: Final = 48  # a longer name is no slip of the pen
_KINDS: Final = {
    "object": "an object",
    "array": "an array",
    "string": "a string",
    "number": "a number",
    "true": "a boolean",
    "false": "a boolean",
    "null": "null",
}


@dataclass(slots=True)
class Reading:
    """One document's source text, whether unknown members are ignored, and what is wrong with it."""

    text: str
    lenient: bool
    faults: list[Fault] = field(default_factory=list)

    def fault(self, where: str, message: str, hint: str = "") -> Any:
        """Note a fault and give the value that stands for it."""
        self.faults.append(Fault(where, message, hint))
        return BAD

    def expected(self, what: str, node: Node, where: str) -> Any:
        """Note that a value has the wrong JSON type."""
        return self.fault(where, f"expected {what}, found {_KINDS[node.kind]}")


def declared_members(
    node: Node, where: str, names: frozenset[str], reading: Reading
) -> list[tuple[str, Node]]:
    """The declared members of an object, each once; anything else is noted as a fault or ignored.

    A duplicate or a case variant of a declared name is a fault for every reader, another unknown member only
    for a strict one.
    """
    seen: dict[str, Node] = {}
    for name, value in node.members:
        if name in seen:
            reading.fault(pointer(where, name), "the member stands twice", "keep one of the two")
        elif name in names:
            seen[name] = value
        else:
            _undeclared(name, where, names, reading)
    return list(seen.items())


def _undeclared(name: str, where: str, names: frozenset[str], reading: Reading) -> None:
    variant = _by_fold(names).get(fold(name))
    if variant is not None:
        reading.fault(pointer(where, name), f"the member is spelled {variant!r}", f"rename it to {variant!r}")
    elif not reading.lenient:
        near = len(name) <= _GUESSED and get_close_matches(name, sorted(names), n=1)
        hint = f"did you mean {near[0]!r}?" if near else "remove it"
        reading.fault(pointer(where, name), "the format knows no such member", hint)


@cache
def _by_fold(names: frozenset[str]) -> dict[str, str]:
    return {fold(name): name for name in names}
