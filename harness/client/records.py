"""What the harness reads of a server's answers: unknown members are ignored, absent ones are zero."""

# ruff: noqa: N815 - the members are named as the server names them

from __future__ import annotations

from pydantic import Field

from contract.record import RawJson, Record


class Version(Record):
    """GET /api/version (Pulse API, section 2.1)."""

    version: str = ""
    build: str = ""
    runtime: str = ""

    @property
    def is_reference(self) -> bool:
        """Whether this is the reference runtime, which is not a Pulse."""
        return self.runtime == "reference"


class PreflightEvidence(Record):
    """The server's last proof that a route can call tools; `model` is the bare name."""

    success: bool = False
    provider: str = ""
    model: str = ""
    tool_call_observed: bool = False
    duration_ms: int = 0
    cause: str = ""
    message: str = ""
    summary: str = ""
    recorded_at_unix: int = 0


class Settings(Record):
    """GET /api/settings/ai (Pulse API, section 2.2)."""

    enabled: bool = False
    model: str = ""
    patrol_model: str = ""
    patrol_enabled: bool = False
    codex_subscription_enabled: bool = False
    claude_subscription_enabled: bool = False
    openai_base_url: str = ""
    zai_base_url: str = ""
    request_timeout_seconds: int = 0
    patrol_preflight: PreflightEvidence | None = None
    reference_runtime: dict[str, str] = Field(default_factory=dict)


class Readiness(Record):
    """Whether Patrol could run now; `model` may be the full route or the bare name."""

    status: str = ""
    ready: bool = False
    cause: str = ""
    summary: str = ""
    provider: str = ""
    model: str = ""


class PatrolStatus(Record):
    """GET /api/ai/patrol/status (Pulse API, section 2.5)."""

    runtime_state: str = ""
    running: bool = False
    current_run_id: str = ""
    enabled: bool = False
    readiness: Readiness = Readiness()


class Autonomy(Record):
    """GET /api/ai/patrol/autonomy (Pulse API, section 2.6)."""

    autonomy_level: str = ""
    effective_autonomy_level: str = ""

    @property
    def effective(self) -> str:
        """The level that applies."""
        return self.effective_autonomy_level or self.autonomy_level


class DockerProjection(Record):
    """What the server's collector knows of a container."""

    containerState: str = ""
    health: str = ""
    restartCount: int = 0
    containerId: str = ""


class AnyResource(Record):
    """One entry of GET /api/resources, of whatever kind (Pulse API, section 2.7)."""

    id: str = ""
    type: str = ""
    name: str = ""
    status: str = ""


class Resource(AnyResource):
    """A resource with what is known of its container; `None` for everything that is no container."""

    docker: DockerProjection | None = None


class PageMeta(Record):
    """Where a page stands among its fellows; absent on old servers."""

    page: int = 0
    total: int = 0
    totalPages: int = 0


class ResourcePage(Record):
    """Which page of GET /api/resources this is; the resources are read one by one."""

    meta: PageMeta = PageMeta()


class RunAccepted(Record):
    """The answer to POST /api/ai/patrol/run; old servers give no `run_id`."""

    success: bool = False
    run_id: str = ""
    message: str = ""


class PlanIdentity(Record):
    """What binds a decision to exactly one plan."""

    planHash: str = ""


class ActionRequest(Record):
    """What an action asks for."""

    resourceId: str = ""
    capabilityName: str = ""


class ActionOrigin(Record):
    """Where an action came from."""

    surface: str = ""
    findingId: str = ""
    investigationId: str = ""


class VerificationOutcome(Record):
    """What the server itself says about the effect; never the truth that is scored against."""

    status: str = ""


class ActionAudit(Record):
    """The durable record of an action (Pulse API, section 2.13)."""

    id: str = ""
    state: str = ""
    request: ActionRequest = ActionRequest()
    plan: PlanIdentity = PlanIdentity()
    origin: ActionOrigin | None = None
    approvals: tuple[RawJson, ...] = ()
    verificationOutcome: VerificationOutcome = VerificationOutcome()


class ActionAnswer(Record):
    """GET /api/actions/{id} without what nothing is decided on."""

    audit: ActionAudit = ActionAudit()
