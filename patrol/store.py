"""Durable state in one SQLite file: settings, runs, findings. It survives being killed at any moment."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from patrol.errors import StoreError
from patrol.records import Finding, RunRecord

MIGRATIONS: tuple[str, ...] = (
    """
    CREATE TABLE setting (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
    CREATE TABLE run (
        id TEXT PRIMARY KEY, started_ns INTEGER NOT NULL,
        state TEXT NOT NULL CHECK (state IN ('accepted', 'done')), record TEXT NOT NULL
    ) STRICT;
    CREATE INDEX run_newest ON run (state, started_ns DESC);
    CREATE TABLE finding (
        id TEXT PRIMARY KEY, resource_id TEXT NOT NULL, active INTEGER NOT NULL, record TEXT NOT NULL
    ) STRICT;
    CREATE INDEX finding_resource ON finding (active, resource_id);
    """,
)


class Store:
    """One connection, one lock; every change is a transaction of its own."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._lock = threading.RLock()
        try:
            self._db = sqlite3.connect(path, check_same_thread=False, isolation_level=None, timeout=10)
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=FULL")
            self._migrate()
        except sqlite3.Error as exc:
            raise StoreError(f"cannot open the state ({exc})", where=str(path)) from exc

    def close(self) -> None:
        with self._lock:
            self._db.close()

    def _migrate(self) -> None:
        version = int(self._db.execute("PRAGMA user_version").fetchone()[0])
        if version > len(MIGRATIONS):
            raise StoreError(
                f"the state is of version {version}, this runtime knows {len(MIGRATIONS)}",
                hint="use the newer runtime, or another --data folder",
            )
        for number, script in enumerate(MIGRATIONS[version:], start=version + 1):
            self._db.executescript(f"BEGIN; {script}; PRAGMA user_version={number}; COMMIT;")

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield self._db
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")

    def _rows(self, query: str, *values: object) -> list[tuple[str, ...]]:
        with self._lock:
            return self._db.execute(query, values).fetchall()

    # Settings ---------------------------------------------------------------------------------------------

    def setting(self, name: str) -> object:
        """The stored value, or None."""
        rows = self._rows("SELECT value FROM setting WHERE name = ?", name)
        return json.loads(rows[0][0]) if rows else None

    def put_setting(self, name: str, value: object) -> None:
        with self._transaction() as db:
            db.execute("INSERT OR REPLACE INTO setting VALUES (?, ?)", (name, json.dumps(value)))

    # Runs -------------------------------------------------------------------------------------------------

    def reserve_run(self, started_ns: int, draft: RunRecord) -> None:
        """Remember that a run was accepted, before anybody is told so."""
        with self._transaction() as db:
            db.execute(
                "INSERT INTO run VALUES (?, ?, 'accepted', ?)",
                (draft.id, started_ns, draft.model_dump_json()),
            )

    def update_draft(self, draft: RunRecord) -> None:
        """Keep what an unfinished run has done so far, for the case that it is interrupted."""
        with self._transaction() as db:
            db.execute(
                "UPDATE run SET record = ? WHERE id = ? AND state = 'accepted'",
                (draft.model_dump_json(), draft.id),
            )

    def finish_run(self, record: RunRecord) -> None:
        """Write the one terminal record of an accepted run. Raises StoreError on a second one."""
        with self._transaction() as db:
            changed = db.execute(
                "UPDATE run SET state = 'done', record = ? WHERE id = ? AND state = 'accepted'",
                (record.model_dump_json(), record.id),
            ).rowcount
            if changed != 1:
                raise StoreError(f"the run {record.id} was not accepted, or has ended before")

    def unfinished_runs(self) -> list[RunRecord]:
        rows = self._rows("SELECT record FROM run WHERE state = 'accepted' ORDER BY started_ns")
        return [RunRecord.model_validate_json(row[0]) for row in rows]

    def runs(self, limit: int) -> list[RunRecord]:
        """Completed runs, newest first."""
        rows = self._rows(
            "SELECT record FROM run WHERE state = 'done' ORDER BY started_ns DESC LIMIT ?", limit
        )
        return [RunRecord.model_validate_json(row[0]) for row in rows]

    def run(self, run_id: str) -> RunRecord | None:
        """A completed run, or None."""
        rows = self._rows("SELECT record FROM run WHERE state = 'done' AND id = ?", run_id)
        return RunRecord.model_validate_json(rows[0][0]) if rows else None

    # Findings ---------------------------------------------------------------------------------------------

    def put_finding(self, finding: Finding) -> None:
        with self._transaction() as db:
            db.execute(
                "INSERT OR REPLACE INTO finding VALUES (?, ?, ?, ?)",
                (finding.id, finding.resource_id, int(finding.active), finding.model_dump_json()),
            )

    def finding(self, finding_id: str) -> Finding | None:
        rows = self._rows("SELECT record FROM finding WHERE id = ?", finding_id)
        return Finding.model_validate_json(rows[0][0]) if rows else None

    def active_findings(self, resource_ids: Sequence[str] | None = None) -> list[Finding]:
        """Active findings, critical first, then by id; of the given resources only, or of all."""
        rows = self._rows("SELECT record FROM finding WHERE active = 1 ORDER BY id")
        found = [Finding.model_validate_json(row[0]) for row in rows]
        wanted = None if resource_ids is None else set(resource_ids)
        kept = [one for one in found if wanted is None or one.resource_id in wanted]
        return sorted(kept, key=lambda one: one.severity != "critical")

    def resolved_findings(self, limit: int) -> list[Finding]:
        rows = self._rows("SELECT record FROM finding WHERE active = 0 ORDER BY id LIMIT ?", limit)
        return [Finding.model_validate_json(row[0]) for row in rows]
