"""What can go wrong in the runtime, each with the code that clients branch on."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from contract.errors import EnvironmentMissingError, PatrolQualificationError, UsageError

__all__ = ["ApiError", "Cause", "EndpointError", "EngineError", "ProviderError", "StoreError", "UsageError"]


class Cause(StrEnum):
    """Why a model could not be asked (reference runtime, section 8)."""

    AUTH = "provider_auth"
    BILLING = "provider_billing"
    RATE_LIMITED = "provider_rate_limited"
    CONNECTION = "provider_connection"
    UNAVAILABLE = "model_unavailable"
    NO_TOOLS = "model_unsupported_tools"
    TOOL_CHOICE = "tool_choice_rejected"
    CONTEXT = "context_window_too_small"
    INTERRUPTED = "interrupted"
    INTERNAL = "internal_error"


class ProviderError(EnvironmentMissingError):
    """The model gave no usable answer; `cause` says which kind of failure it was."""

    def __init__(self, cause: Cause, message: str, *, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.cause = cause


class EndpointError(UsageError):
    """The named Docker context cannot be used, or was not named."""


class EngineError(EnvironmentMissingError):
    """The Docker engine gave no usable answer."""


class StoreError(EnvironmentMissingError):
    """The durable state cannot be opened, or would be written twice."""


class ApiError(PatrolQualificationError):
    """A request that is refused: HTTP status, stable code, and details for the client to branch on.

    `agent_style` chooses the envelope `{error: code, message}` (Pulse API, section 1) over Patrol's own.
    """

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        *,
        details: Mapping[str, str] | None = None,
        agent_style: bool = False,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.details = dict(details or {})
        self.agent_style = agent_style
