"""How a lab can fail: it breaks (nothing was learned), or an object is not the lab's own."""

from __future__ import annotations

from contract.errors import InvalidRunError


class LabError(InvalidRunError):
    """The lab is not in the state that the scenario needs."""


class OwnershipError(LabError):
    """An object is not what the lab recorded, so it is left alone."""


class ProbeError(LabError):
    """A probe could not measure; that is never a value."""


class EngineError(InvalidRunError):
    """The Docker engine refused or failed a call."""


class MissingObjectError(EngineError):
    """The engine holds no such object."""


class BusyObjectError(EngineError):
    """The engine will not do it now: the object is in use, or exists already."""


class EngineTimeoutError(EngineError):
    """The engine did not answer in time."""
