"""How a run can end badly: because of the subject, or because of everything else."""

from __future__ import annotations

from contract.errors import InvalidRunError, PatrolQualificationError


class SubjectError(PatrolQualificationError):
    """The subject did not do what it was asked: the run counts against it."""


class PreflightError(InvalidRunError):
    """The server is not in the state that the scenario needs; the subject was not asked."""


class OracleError(InvalidRunError):
    """The lab did not reach the state that the scenario needs."""


class CollectionError(InvalidRunError):
    """The server's collector does not show the lab as it is."""
