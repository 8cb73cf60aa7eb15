"""What is wrong with one document: every fault with its place, reported together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from contract.errors import PatrolQualificationError
from contract.text import printable

_LISTED: Final = 50  # a hostile document has as many faults as it likes


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault: a JSON pointer into the document (empty: the whole of it), what is wrong, how to mend it."""

    where: str
    message: str
    hint: str = ""

    def __str__(self) -> str:
        text = f"{printable(self.where)}: {self.message}" if self.where else self.message
        return f"{text} ({self.hint})" if self.hint else text


def pointer(where: str, name: str | int) -> str:
    """The JSON pointer of a member or element (RFC 6901)."""
    return f"{where}/{str(name).replace('~', '~0').replace('/', '~1')}"


class DocumentError(PatrolQualificationError):
    """A document has faults; `faults` holds all of them in document order."""

    def __init__(self, faults: Iterable[Fault], *, where: str = "") -> None:
        self.faults = tuple(faults)
        if not self.faults:
            raise ValueError("a document error needs at least one fault")
        if len(self.faults) == 1:
            only = self.faults[0]
            path = printable(only.where)
            place = f"{where}#{path}" if where and path else where or path
            super().__init__(only.message, where=place, hint=only.hint)
        else:
            lines = "".join(f"\n  {fault}" for fault in self.faults[:_LISTED])
            if len(self.faults) > _LISTED:
                lines += f"\n  and {len(self.faults) - _LISTED} more"
            super().__init__(f"{len(self.faults)} faults:{lines}", where=where)


class DecodeError(DocumentError):
    """Bytes are not a document of the wanted format."""
