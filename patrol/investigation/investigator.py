"""Starts investigations of a run's findings, a few at a time, and closes what was left open."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

from patrol.clock import rfc3339
from patrol.errors import Cause
from patrol.investigation.policy import should_investigate
from patrol.investigation.records import Investigation
from patrol.investigation.run import Desk, InvestigationRun
from patrol.records import Finding, RunRecord
from patrol.settings import SettingsDesk

AT_ONCE = 3


@dataclass(slots=True)
class Investigator:
    """At most three investigations run at the same time; the others wait their turn."""

    desk: Desk
    settings: SettingsDesk
    _places: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(AT_ONCE))
    _workers: list[threading.Thread] = field(default_factory=list)

    def consider(self, record: RunRecord) -> int:
        """Open an investigation for each finding of a stored run that is due; gives how many."""
        autonomy = self.settings.autonomy()
        now_ns = self.desk.watcher.clock.now_ns()
        found = [self.desk.watcher.store.finding(key) for key in record.finding_ids]
        due = [
            one for one in found if one is not None and should_investigate(one, autonomy.effective, now_ns)
        ]
        for finding in due:
            self._open(finding)
        return len(due)

    def close_orphans(self) -> int:
        """End investigations that an earlier process left open, as interrupted."""
        orphans = self.desk.store.unfinished()
        for one in orphans:
            ended = {
                "status": "failed",
                "outcome": "failed",
                "error": f"{Cause.INTERRUPTED.value}: the runtime ended before the investigation did",
                "completed_at": self._now(),
            }
            self.desk.store.update(one.model_copy(update=ended))
            told = {"investigation_status": "failed", "investigation_outcome": "failed"}
            self.desk.watcher.store.amend_finding(one.finding_id, **told)
        return len(orphans)

    def newest(self, finding_id: str) -> Investigation | None:
        """The newest investigation of a finding, its action as it stands now."""
        found = self.desk.store.newest(finding_id)
        if found is None or found.action is None:
            return found
        state = self.desk.broker.view(found.action.action_id).state
        return found.model_copy(update={"action": found.action.model_copy(update={"state": state})})

    def join(self, seconds: float) -> None:
        """Wait a little for what runs; what hangs longer is closed at the next start."""
        for worker in self._workers:
            worker.join(timeout=seconds)

    def _open(self, finding: Finding) -> None:
        attempt = finding.investigation_attempts + 1
        ident = f"inv_{finding.id}_{finding.last_run_id}"
        record = Investigation(
            id=ident,
            finding_id=finding.id,
            session_id=f"session_{ident}",
            status="pending",
            started_at=self._now(),
        )
        self.desk.store.open(record)
        self.desk.watcher.store.amend_finding(
            finding.id,
            investigation_status="pending",
            investigation_attempts=attempt,
            last_investigated_at=record.started_at,
        )
        worker = threading.Thread(
            target=self._work, args=(finding, record), name="investigation", daemon=True
        )
        self._workers = [one for one in self._workers if one.is_alive()] + [worker]
        worker.start()

    def _work(self, finding: Finding, record: Investigation) -> None:
        with self._places:
            InvestigationRun(self.desk, finding, record, self.settings.autonomy()).execute()

    def _now(self) -> str:
        return rfc3339(self.desk.watcher.clock.now_ns())
