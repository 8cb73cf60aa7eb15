"""Durable settings, runs and findings. They survive the process being killed at any moment."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from patrol.database import Database
from patrol.errors import StoreError
from patrol.records import Finding, RunRecord


class Store:
    """What Watch remembers, over one database."""

    def __init__(self, path: Path) -> None:
        self.database = Database(path)

    def close(self) -> None:
        self.database.close()

    # Settings ---------------------------------------------------------------------------------------------

    def setting(self, name: str) -> object:
        """The stored value, or None."""
        rows = self.database.rows("SELECT value FROM setting WHERE name = ?", name)
        return json.loads(rows[0][0]) if rows else None

    def put_setting(self, name: str, value: object) -> None:
        with self.database.transaction() as db:
            db.execute("INSERT OR REPLACE INTO setting VALUES (?, ?)", (name, json.dumps(value)))

    # Runs -------------------------------------------------------------------------------------------------

    def reserve_run(self, started_ns: int, draft: RunRecord) -> None:
        """Remember that a run was accepted, before anybody is told so."""
        with self.database.transaction() as db:
            db.execute(
                "INSERT INTO run VALUES (?, ?, 'accepted', ?)",
                (draft.id, started_ns, draft.model_dump_json()),
            )

    def update_draft(self, draft: RunRecord) -> None:
        """Keep what an unfinished run has done so far, for the case that it is interrupted."""
        with self.database.transaction() as db:
            db.execute(
                "UPDATE run SET record = ? WHERE id = ? AND state = 'accepted'",
                (draft.model_dump_json(), draft.id),
            )

    def finish_run(self, record: RunRecord) -> None:
        """Write the one terminal record of an accepted run. Raises StoreError on a second one."""
        with self.database.transaction() as db:
            changed = db.execute(
                "UPDATE run SET state = 'done', record = ? WHERE id = ? AND state = 'accepted'",
                (record.model_dump_json(), record.id),
            ).rowcount
            if changed != 1:
                raise StoreError(f"the run {record.id} was not accepted, or has ended before")

    def unfinished_runs(self) -> list[RunRecord]:
        rows = self.database.rows("SELECT record FROM run WHERE state = 'accepted' ORDER BY started_ns")
        return [RunRecord.model_validate_json(row[0]) for row in rows]

    def runs(self, limit: int) -> list[RunRecord]:
        """Completed runs, newest first."""
        rows = self.database.rows(
            "SELECT record FROM run WHERE state = 'done' ORDER BY started_ns DESC LIMIT ?", limit
        )
        return [RunRecord.model_validate_json(row[0]) for row in rows]

    def run(self, run_id: str) -> RunRecord | None:
        """A completed run, or None."""
        rows = self.database.rows("SELECT record FROM run WHERE state = 'done' AND id = ?", run_id)
        return RunRecord.model_validate_json(rows[0][0]) if rows else None

    # Findings ---------------------------------------------------------------------------------------------

    def put_finding(self, finding: Finding) -> None:
        with self.database.transaction() as db:
            db.execute(
                "INSERT OR REPLACE INTO finding VALUES (?, ?, ?, ?)",
                (finding.id, finding.resource_id, int(finding.active), finding.model_dump_json()),
            )

    def amend_finding(self, finding_id: str, **changes: object) -> None:
        """Change members of a finding as it is now, whoever else has written it meanwhile."""
        with self.database.transaction() as db:
            rows = db.execute("SELECT record FROM finding WHERE id = ?", (finding_id,)).fetchall()
            if rows:
                known = Finding.model_validate_json(rows[0][0])
                changed = Finding.model_validate({**dict(known), **changes})
                db.execute(
                    "UPDATE finding SET active = ?, record = ? WHERE id = ?",
                    (int(changed.active), changed.model_dump_json(), finding_id),
                )

    def finding(self, finding_id: str) -> Finding | None:
        rows = self.database.rows("SELECT record FROM finding WHERE id = ?", finding_id)
        return Finding.model_validate_json(rows[0][0]) if rows else None

    def active_findings(self, resource_ids: Sequence[str] | None = None) -> list[Finding]:
        """Active findings, critical first, then by id; of the given resources only, or of all."""
        rows = self.database.rows("SELECT record FROM finding WHERE active = 1 ORDER BY id")
        found = [Finding.model_validate_json(row[0]) for row in rows]
        wanted = None if resource_ids is None else set(resource_ids)
        kept = [one for one in found if wanted is None or one.resource_id in wanted]
        return sorted(kept, key=lambda one: one.severity != "critical")

    def resolved_findings(self, limit: int) -> list[Finding]:
        rows = self.database.rows("SELECT record FROM finding WHERE active = 0 ORDER BY id LIMIT ?", limit)
        return [Finding.model_validate_json(row[0]) for row in rows]
