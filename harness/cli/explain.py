"""Says what failures mean: of a code, of a captured run, or all codes there are."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import click

from contract.codes import CODES, Code, code_of
from contract.errors import UsageError
from contract.report import load_report
from harness.artifacts import REPORT
from harness.captures import read_listed
from harness.cli.plain import safe, table


def explain(what: str | None, *, as_json: bool) -> int:
    """Explain a code, a run's folder or its report.json, or list all codes."""
    if what is None:
        return _list(as_json)
    if what in CODES:
        return _print([(what, CODES[what])], as_json)
    path = Path(what)
    if path.is_dir():
        path = path / REPORT
    if not path.exists():
        raise UsageError(
            f"{what!r} is neither a failure code nor a captured run",
            hint="`patrol-qualify explain` lists codes",
        )
    return _explain_run(path, as_json)


def _explain_run(path: Path, as_json: bool) -> int:
    content, _ = read_listed(path)
    report = load_report(content, str(path))
    score = report.score
    entries = [*score.hard_failures, *score.gate_failures]
    entries += [f"error: {text}" for text in report.errors]
    entries += [f"teardown: {text}" for text in report.teardown.errors]
    if not entries and not as_json:
        click.echo(f"{report.run_id} passed: there is nothing to explain")
    return _print([(entry, code_of(entry)) for entry in entries], as_json)


def _print(entries: Sequence[tuple[str, Code | None]], as_json: bool) -> int:
    if as_json:
        click.echo(json.dumps([_member(entry, code) for entry, code in entries], indent=2))
        return 0
    for entry, code in entries:
        click.echo(safe(entry))
        if code is not None:
            click.echo(f"  kind     {code.kind.value}\n  meaning  {code.meaning}\n  do       {code.act}")
    return 0


def _member(entry: str, code: Code | None) -> dict[str, str]:
    if code is None:
        return {"entry": entry}
    return {"entry": entry, "code": code.code, "kind": code.kind, "meaning": code.meaning, "act": code.act}


def _list(as_json: bool) -> int:
    if as_json:
        return _print([(name, code) for name, code in CODES.items()], as_json)
    click.echo(
        table(("code", "kind", "meaning"), [(c.code, c.kind.value, c.meaning) for c in CODES.values()])
    )
    return 0
