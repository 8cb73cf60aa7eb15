"""One SQLite file in WAL mode, migrated by its version, written whole transaction by whole transaction."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from patrol.errors import StoreError

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
    """
    CREATE TABLE investigation (
        id TEXT PRIMARY KEY, finding_id TEXT NOT NULL, number INTEGER NOT NULL,
        state TEXT NOT NULL CHECK (state IN ('open', 'done')), record TEXT NOT NULL
    ) STRICT;
    CREATE INDEX investigation_newest ON investigation (finding_id, number DESC);
    CREATE TABLE action (
        id TEXT PRIMARY KEY, request_id TEXT NOT NULL UNIQUE, number INTEGER NOT NULL,
        state TEXT NOT NULL, revision INTEGER NOT NULL, record TEXT NOT NULL
    ) STRICT;
    CREATE TABLE action_event (
        number INTEGER PRIMARY KEY AUTOINCREMENT, action_id TEXT NOT NULL REFERENCES action (id),
        record TEXT NOT NULL
    ) STRICT;
    CREATE TRIGGER action_event_kept BEFORE UPDATE ON action_event
        BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
    CREATE TRIGGER action_event_stays BEFORE DELETE ON action_event
        BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
    """,
)


class Database:
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
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """All of it or nothing; nobody else writes meanwhile."""
        with self._lock:
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield self._db
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")

    def rows(self, query: str, *values: object) -> list[tuple[str, ...]]:
        """The rows of a query, read under the same lock."""
        with self._lock:
            return self._db.execute(query, values).fetchall()
