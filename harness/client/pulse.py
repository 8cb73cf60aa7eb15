"""Every endpoint of a Pulse server that the harness uses, one method each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Final, Literal
from urllib.parse import quote

import httpx

from contract.record import RawJson
from contract.report import Finding, InvestigationSession, PatrolRun
from harness.client.deadline import Deadline
from harness.client.errors import AmbiguousNameError, HTTPError, ReplyError
from harness.client.reading import array_items, read_array, read_record
from harness.client.records import (
    ActionAnswer,
    ActionAudit,
    AnyResource,
    Autonomy,
    PatrolStatus,
    PreflightEvidence,
    Resource,
    ResourcePage,
    RunAccepted,
    Settings,
    Version,
)
from harness.client.transport import Body, Params, Transport
from harness.clock import Clock

PAGE_SIZE: Final = 100
MAX_PAGES: Final = 200
PATIENCE_NS: Final = 120 * 10**9
RUNS: Final = "/api/ai/patrol/runs"
NOT_FOUND: Final = 404


@dataclass(frozen=True, slots=True)
class ActionView:
    """An action as the server told it: its whole text, and the part that decisions rest on."""

    raw: RawJson
    audit: ActionAudit


class PulseEndpoints:
    """One request per method; each raises a subclass of PatrolQualificationError (Pulse API, section 2)."""

    def __init__(
        self,
        base_url: str,
        user: str,
        password: str,
        *,
        clock: Clock,
        breakable: Callable[[], AbstractContextManager[None]] = nullcontext,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self.clock = clock
        self._transport = Transport(
            base_url, user, password, clock=clock, breakable=breakable, transport=transport
        )

    @property
    def base_url(self) -> str:
        """The server's address, without credentials."""
        return self._transport.base_url

    def close(self) -> None:
        """Close the connections."""
        self._transport.close()

    def version(self) -> Version:
        """Who the server says it is."""
        return read_record(Version, self._get("/api/version"), "/api/version")

    def settings(self) -> Settings:
        """The model settings."""
        path = "/api/settings/ai"
        return read_record(Settings, self._get(path), path)

    def update_settings(self, changes: Mapping[str, object], *, seconds: float = 60.0) -> Settings:
        """Change only the given settings within so many seconds; the answer is all of them."""
        path = "/api/settings/ai/update"
        return read_record(Settings, self._transport.put(path, changes, seconds=seconds), path)

    def preflight(self) -> PreflightEvidence:
        """Have the server prove now that its route can call tools; blocks while the model loads."""
        path = "/api/ai/patrol/preflight"
        return read_record(PreflightEvidence, self._post(path, {}), path)

    def status(self) -> PatrolStatus:
        """What Patrol is doing, and whether it could."""
        path = "/api/ai/patrol/status"
        return read_record(PatrolStatus, self._get(path), path)

    def autonomy(self) -> Autonomy:
        """How much Patrol may do by itself."""
        path = "/api/ai/patrol/autonomy"
        return read_record(Autonomy, self._get(path), path)

    def list_resources(self) -> tuple[Resource, ...]:
        """All resources of the server, page after page, each id once."""
        path = "/api/resources"
        found: dict[str, Resource] = {}
        for page in range(1, MAX_PAGES + 1):
            text = self._get(path, {"page": page, "limit": PAGE_SIZE})
            meta = read_record(ResourcePage, text, path).meta
            items = array_items(text, path, "data")
            found.update((one.id, one) for one in (_resource(item, path) for item in items))
            if page >= meta.totalPages or not items:
                return tuple(found.values())
        raise ReplyError(f"more than {MAX_PAGES * PAGE_SIZE} resources", where=path)

    def findings(self) -> tuple[Finding, ...]:
        """The active findings."""
        path = "/api/ai/patrol/findings"
        return read_array(Finding, self._get(path, {"limit": 500}), path)

    def start_run(self, resource_ids: Sequence[str]) -> RunAccepted:
        """Trigger a Patrol run, scoped to the ids if there are any."""
        path = "/api/ai/patrol/run"
        body: Body = {"resource_ids": list(resource_ids)} if resource_ids else {}
        return read_record(RunAccepted, self._transport.post(path, body), path)

    def runs(self) -> tuple[PatrolRun, ...]:
        """The newest completed runs."""
        return read_array(PatrolRun, self._get(RUNS, {"limit": 100, "include": "tool_calls"}), RUNS)

    def run(self, run_id: str) -> PatrolRun | None:
        """A completed run with its tool calls; `None` while there is no record of it."""
        path = f"{RUNS}/{quote(run_id, safe='')}"
        text = self._get_or_none(path, {"include": "tool_calls"})
        return None if text is None else read_record(PatrolRun, text, path)

    def investigation(self, finding_id: str) -> InvestigationSession | None:
        """The investigation of a finding; `None` while there is none."""
        path = f"/api/ai/findings/{quote(finding_id, safe='')}/investigation"
        text = self._get_or_none(path)
        return None if text is None else read_record(InvestigationSession, text, path)

    def actions(self, view: Literal["pending", "settled"]) -> tuple[RawJson, ...]:
        """The actions of a view, as the server tells them."""
        path = "/api/actions"
        text = self._get(path, {"view": view, "limit": 500})
        return tuple(RawJson.checked(item) for item in array_items(text, path, "actions"))

    def action(self, action_id: str) -> ActionView:
        """One action with its audit."""
        path = f"/api/actions/{quote(action_id, safe='')}"
        text = self._get(path)
        return ActionView(RawJson.checked(text), read_record(ActionAnswer, text, path).audit)

    def decide(
        self, action_id: str, outcome: Literal["approved", "rejected"], reason: str, plan_hash: str
    ) -> None:
        """Approve or reject exactly the plan with this hash."""
        self._act(action_id, "decision", {"outcome": outcome, "reason": reason, "planHash": plan_hash})

    def execute(self, action_id: str, reason: str, plan_hash: str) -> None:
        """Execute exactly the plan with this hash; answers when the action has ended."""
        self._act(action_id, "execute", {"reason": reason, "planHash": plan_hash})

    def _act(self, action_id: str, verb: str, body: Body) -> None:
        if not body["planHash"]:
            raise ValueError("an action is only ever decided together with the hash of its plan")
        self._transport.post(f"/api/actions/{quote(action_id, safe='')}/{verb}", body)

    def _get(self, path: str, params: Params | None = None) -> str:
        patience = Deadline(self.clock, PATIENCE_NS, "an answer within the server's rate limit")
        return patience.ask(lambda: self._transport.get(path, params))

    def _get_or_none(self, path: str, params: Params | None = None) -> str | None:
        try:
            return self._get(path, params)
        except HTTPError as exc:
            if exc.status == NOT_FOUND:
                return None
            raise

    def _post(self, path: str, body: Body) -> str:
        return self._transport.post(path, body)


def _resource(text: str, path: str) -> Resource:
    """A resource; one whose container part is of another shape than ours keeps its identity alone."""
    try:
        return read_record(Resource, text, path)
    except ReplyError:
        identity = read_record(AnyResource, text, path)
        return Resource(**identity.model_dump())


def match_names(names: Mapping[str, str], resources: Sequence[Resource]) -> dict[str, Resource]:
    """The resource of each alias whose exact name the server shows; AmbiguousNameError when several do.

    Pulse API, section 2.7.
    """
    matched: dict[str, Resource] = {}
    for alias, name in names.items():
        found = [resource for resource in resources if resource.name == name]
        if len(found) > 1:
            ids = ", ".join(sorted(resource.id for resource in found))
            raise AmbiguousNameError(f"{len(found)} resources are named {name!r}: {ids}", where=alias)
        if found:
            matched[alias] = found[0]
    return matched
