"""The client that the runner uses: the endpoints, and waiting for what they show."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from contract.errors import PatrolQualificationError
from contract.report import InvestigationSession, PatrolRun
from harness.client.deadline import Deadline
from harness.client.errors import AmbiguousNameError, DeadlineError, HTTPError
from harness.client.pulse import ActionView, PulseEndpoints, match_names
from harness.client.records import Resource
from harness.client.triggering import Pace, trigger_and_wait
from harness.clock import CancelledRunError

INVESTIGATION_POLL: Final = 2.0
ACTION_POLL: Final = 1.0
TERMINAL_ACTIONS: Final = frozenset({"completed", "failed", "rejected", "expired"})
_OPEN_INVESTIGATIONS: Final = frozenset({"", "pending", "running"})
_NEVER_BETTER: Final = frozenset({401, 403})


class PulseClient(PulseEndpoints):
    """All that the runner asks of a Pulse server (Pulse API, section 3)."""

    def wait_for_resources(
        self,
        names: Mapping[str, str],
        timeout_ns: int,
        poll_ns: int,
        validate: Callable[[Mapping[str, Resource]], str],
    ) -> dict[str, Resource]:
        """Wait until each name is shown exactly once and `validate` has no objection; alias to resource.

        Errors of single requests are waited out. Raises DeadlineError, AmbiguousNameError, HTTPError 401/403.
        """
        deadline = Deadline(self.clock, timeout_ns, "collection of the lab")
        pace = Pace(poll_ns / 1e9)
        while True:
            found, last = self._look(names, validate)
            if found is not None:
                return found
            deadline.pause(pace.next(), last)

    def _look(
        self, names: Mapping[str, str], validate: Callable[[Mapping[str, Resource]], str]
    ) -> tuple[dict[str, Resource] | None, str]:
        try:
            matched = match_names(names, self.list_resources())
        except (AmbiguousNameError, CancelledRunError):
            raise
        except PatrolQualificationError as exc:
            if isinstance(exc, HTTPError) and exc.status in _NEVER_BETTER:
                raise
            return None, str(exc)
        missing = sorted(set(names.values()) - {resource.name for resource in matched.values()})
        if missing:
            return None, f"names not exposed: {', '.join(missing)}"
        objection = validate(matched)
        return (None, f"exposed but did not converge: {objection}") if objection else (matched, "")

    def trigger_and_wait(self, resource_ids: Sequence[str], timeout_ns: int) -> PatrolRun:
        """Trigger a run and wait for exactly its record."""
        return trigger_and_wait(self, resource_ids, timeout_ns)

    def wait_for_investigation(self, finding_id: str, timeout_ns: int) -> InvestigationSession:
        """Wait until the investigation of a finding has ended, however it did."""
        deadline = Deadline(self.clock, timeout_ns, f"the end of the investigation of finding {finding_id}")
        pace = Pace(INVESTIGATION_POLL)
        while True:
            session = self.investigation(finding_id)
            if session is not None and session.status not in _OPEN_INVESTIGATIONS:
                return session
            deadline.pause(pace.next(), "not begun" if session is None else f"status {session.status!r}")

    def wait_for_action(self, action_id: str, timeout_ns: int) -> ActionView:
        """Wait until an action has reached a terminal state; any read error is raised."""
        deadline = Deadline(self.clock, timeout_ns, f"the end of action {action_id}")
        pace = Pace(ACTION_POLL)
        while True:
            view = self.action(action_id)
            if view.audit.state in TERMINAL_ACTIONS:
                return view
            deadline.pause(pace.next(), f"state {view.audit.state!r}")


__all__ = ["DeadlineError", "PulseClient"]
