"""Investigations, the newest of a finding first."""

from __future__ import annotations

from patrol.database import Database
from patrol.errors import StoreError
from patrol.investigation.records import Investigation

OPEN = ("pending", "running")


class InvestigationStore:
    """What is remembered of investigations, over one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def open(self, record: Investigation) -> None:
        """Remember an investigation before it begins."""
        with self._database.transaction() as db:
            number = db.execute("SELECT count(*) FROM investigation").fetchone()[0]
            db.execute(
                "INSERT INTO investigation VALUES (?, ?, ?, 'open', ?)",
                (record.id, record.finding_id, number, record.model_dump_json()),
            )

    def update(self, record: Investigation) -> None:
        """Keep the progress of an open one, or end it. Raises StoreError when it has ended before."""
        state = "open" if record.status in OPEN else "done"
        with self._database.transaction() as db:
            changed = db.execute(
                "UPDATE investigation SET state = ?, record = ? WHERE id = ? AND state = 'open'",
                (state, record.model_dump_json(), record.id),
            ).rowcount
        if changed != 1:
            raise StoreError(f"the investigation {record.id} has ended before")

    def newest(self, finding_id: str) -> Investigation | None:
        rows = self._database.rows(
            "SELECT record FROM investigation WHERE finding_id = ? ORDER BY number DESC LIMIT 1", finding_id
        )
        return Investigation.model_validate_json(rows[0][0]) if rows else None

    def unfinished(self) -> list[Investigation]:
        rows = self._database.rows("SELECT record FROM investigation WHERE state = 'open' ORDER BY number")
        return [Investigation.model_validate_json(row[0]) for row in rows]
