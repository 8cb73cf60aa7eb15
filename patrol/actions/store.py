"""Actions and their append-only history; every change of state is compare-and-set."""

from __future__ import annotations

from collections.abc import Sequence

from patrol.actions.records import Audit, Event
from patrol.database import Database


class ActionStore:
    """What is remembered of actions, over one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def insert(self, audit: Audit, event: Event) -> Audit:
        """Keep a new action, or give the one that the same request has led to before."""
        with self._database.transaction() as db:
            known = db.execute(
                "SELECT record FROM action WHERE request_id = ?", (audit.request.request_id,)
            ).fetchone()
            if known is not None:
                return Audit.model_validate_json(known[0])
            number = db.execute("SELECT count(*) FROM action").fetchone()[0]
            db.execute(
                "INSERT INTO action VALUES (?, ?, ?, ?, ?, ?)",
                (
                    audit.id,
                    audit.request.request_id,
                    number,
                    audit.state,
                    audit.decision_revision,
                    audit.model_dump_json(),
                ),
            )
            db.execute(
                "INSERT INTO action_event (action_id, record) VALUES (?, ?)",
                (audit.id, event.model_dump_json()),
            )
        return audit

    def get(self, action_id: str) -> Audit | None:
        rows = self._database.rows("SELECT record FROM action WHERE id = ?", action_id)
        return Audit.model_validate_json(rows[0][0]) if rows else None

    def listed(self, states: Sequence[str], limit: int) -> list[Audit]:
        """Actions in one of these states, newest first."""
        rows = self._database.rows("SELECT record FROM action ORDER BY number DESC")
        found = (Audit.model_validate_json(row[0]) for row in rows)
        return [one for one in found if one.state in states][:limit]

    def events(self, action_id: str) -> list[Event]:
        rows = self._database.rows(
            "SELECT record FROM action_event WHERE action_id = ? ORDER BY number", action_id
        )
        return [Event.model_validate_json(row[0]) for row in rows]

    def transition(self, before: Audit, after: Audit, event: Event) -> Audit | None:
        """Put `after` in the place of `before`; None when somebody else has changed it since."""
        stored = after.model_copy(update={"decision_revision": before.decision_revision + 1})
        with self._database.transaction() as db:
            changed = db.execute(
                "UPDATE action SET state = ?, revision = ?, record = ?"
                " WHERE id = ? AND state = ? AND revision = ?",
                (
                    stored.state,
                    stored.decision_revision,
                    stored.model_dump_json(),
                    stored.id,
                    before.state,
                    before.decision_revision,
                ),
            ).rowcount
            if changed != 1:
                return None
            db.execute(
                "INSERT INTO action_event (action_id, record) VALUES (?, ?)",
                (stored.id, event.model_dump_json()),
            )
        return stored
