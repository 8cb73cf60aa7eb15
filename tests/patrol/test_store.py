"""State survives, and every accepted run has exactly one terminal record."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from patrol.database import MIGRATIONS
from patrol.errors import StoreError
from patrol.records import RunRecord
from patrol.service import PatrolService
from patrol.store import Store


def record(ident: str = "1", **more: object) -> RunRecord:
    members: dict[str, object] = {
        "id": ident,
        "started_at": "2026-11-30T00:53:00Z",
        "completed_at": "2026-11-30T12:00:00Z",
        "duration_ms": 0,
        "type": "patrol",
        "trigger_reason": "manual",
        "findings_summary": "All healthy",
        "status": "healthy",
    }
    return RunRecord.model_validate({**members, **more})


def test_a_run_is_visible_once_it_has_ended(store: Store) -> None:
    store.reserve_run(1, record())
    assert (store.run("1"), store.runs(5), len(store.unfinished_runs())) == (None, [], 1)
    store.finish_run(record())
    assert store.run("1") == record()
    assert (store.runs(5), store.unfinished_runs()) == ([record()], [])


def test_a_second_terminal_record_is_refused(store: Store) -> None:
    store.reserve_run(1, record())
    store.finish_run(record())
    with pytest.raises(StoreError, match="ended before"):
        store.finish_run(record(findings_summary="other"))
    store.update_draft(record(findings_summary="late"))
    assert store.runs(5) == [record()]


def test_a_run_that_was_not_accepted_has_no_record(store: Store) -> None:
    with pytest.raises(StoreError, match="not accepted"):
        store.finish_run(record())


def test_runs_come_newest_first_and_limited(store: Store) -> None:
    for number in (3, 1, 2):
        store.reserve_run(number, record(str(number)))
        store.finish_run(record(str(number)))
    assert [one.id for one in store.runs(2)] == ["3", "2"]


def test_settings_are_kept(store: Store) -> None:
    assert store.setting("x") is None
    store.put_setting("x", {"a": [1, None]})
    store.put_setting("x", {"a": [2]})
    assert store.setting("x") == {"a": [2]}


def test_the_database_is_in_wal_mode_and_knows_its_version(tmp_path: Path) -> None:
    store = Store(tmp_path / "s.sqlite3")
    other = sqlite3.connect(tmp_path / "s.sqlite3")
    assert other.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert other.execute("PRAGMA user_version").fetchone() == (len(MIGRATIONS),)
    other.close()
    store.close()
    assert (tmp_path / "s.sqlite3").exists()


def test_a_newer_state_is_refused_and_an_unreadable_one_too(tmp_path: Path) -> None:
    Store(tmp_path / "s.sqlite3").close()
    raw = sqlite3.connect(tmp_path / "s.sqlite3")
    raw.execute("PRAGMA user_version=99")
    raw.close()
    with pytest.raises(StoreError, match="version 99"):
        Store(tmp_path / "s.sqlite3")
    (tmp_path / "t.sqlite3").write_bytes(b"this is no database at all" * 40)
    with pytest.raises(StoreError, match="cannot open"):
        Store(tmp_path / "t.sqlite3")


KILLED = """
import os, signal, sys
from pathlib import Path
from patrol.store import Store
from tests.patrol.test_store import record
store = Store(Path(sys.argv[1]))
store.reserve_run(7, record("7", status="error", error_count=1, error_summary="Patrol run interrupted"))
store.reserve_run(8, record("8"))
store.finish_run(record("8"))
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_process_leaves_one_error_record_for_each_open_run(
    tmp_path: Path, service: PatrolService, root: Path
) -> None:
    path = tmp_path / "state.sqlite3"
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, str(path)],
        cwd=root,
        check=False,
        env={**os.environ, "PYTHONPATH": str(root)},
    )
    assert killed.returncode == -signal.SIGKILL
    assert service.close_orphans() == 1
    ended = {one.id: one for one in service.watcher.store.runs(10)}
    assert set(ended) == {"7", "8"}
    assert (ended["7"].status, ended["7"].error_summary) == ("error", "Patrol run interrupted")
    assert ended["7"].completed_at.startswith("2026-11-30T00:53:20")
    assert ended["7"].duration_ms == 20_000
    assert service.close_orphans() == 0
