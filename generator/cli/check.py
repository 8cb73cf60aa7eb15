"""patrol-evidence check: every rule over every file, all findings at once."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import click

from contract.errors import UsageError
from generator.cli.options import as_of_option, now_ns, output_options, root_option

if TYPE_CHECKING:
    from generator.check import Verdict
    from generator.findings import Finding


@click.command()
@click.argument("paths", nargs=-1, metavar="[PATH]...", type=click.Path(path_type=Path))
@root_option
@as_of_option
@output_options
def check(paths: tuple[Path, ...], root: Path, as_of: int | None, as_json: bool, quiet: bool) -> None:
    """Check every digest and recompute every derived number.

    Without PATH everything below evidence/ is checked. With PATH (a bundle, a contributor's folder) all
    of it is still read, because bundles are compared with each other, but only what lies below PATH is told.
    A path that does not exist or holds no evidence is an error. Exit code 0: it holds; 1: refused.
    """
    from generator.check import check_tree
    from generator.rules import REGISTRY

    wanted = [_inside(root, path) for path in paths]
    verdict = check_tree(root, as_of if as_of is not None else now_ns())
    findings = tuple(
        one for one in verdict.findings if one.rule.group == REGISTRY or _below(one.path, wanted)
    )
    bundles = [place for place in verdict.places if _below(str(place.path), wanted)]
    if not bundles and not findings:
        raise UsageError(
            f"{', '.join(map(str, paths)) or root / 'evidence'} holds no bundle to check",
            hint="name a folder below evidence/, or none to check everything",
        )
    if as_json:
        click.echo(json.dumps(_as_json(verdict, findings, len(bundles)), indent=2))
    elif findings or not quiet:
        click.echo(_as_text(findings, len(bundles)), err=bool(findings))
    sys.exit(1 if findings else 0)


def _inside(root: Path, path: Path) -> PurePosixPath:
    """A path of the command line as it stands below the root, without following any link."""
    base = Path(os.path.abspath(root))  # noqa: PTH100 (resolve() would follow links)
    choices = (path,) if path.is_absolute() else (Path.cwd() / path, base / path)
    for choice in choices:
        plain = Path(os.path.normpath(choice))
        if plain.is_relative_to(base) and os.path.lexists(plain):
            return PurePosixPath(plain.relative_to(base).as_posix())
    raise UsageError(
        f"{path} does not exist below {root}",
        hint="name a folder below evidence/, or none to check everything",
    )


def _below(path: str, wanted: list[PurePosixPath]) -> bool:
    return not wanted or any(PurePosixPath(path).is_relative_to(one) for one in wanted)


def _as_text(findings: tuple[Finding, ...], bundles: int) -> str:
    from generator.findings import summary

    return "\n".join([summary(findings, bundles), *([told(findings)] if findings else [])])


def told(findings: tuple[Finding, ...]) -> str:
    """Every finding with its place, its rule, why, and how to mend it."""
    lines = []
    for one in findings:
        lines += ["", one.where, f"  {one.rule_id} {one.rule.name}: {one.what}"]
        lines += [f"  why:  {one.rule.why}", f"  mend: {one.rule.mend}"]
    return "\n".join(lines)


def _as_json(verdict: Verdict, findings: tuple[Finding, ...], bundles: int) -> dict[str, object]:
    from generator.rules import RULESET_VERSION

    return {
        "ruleset": RULESET_VERSION,
        "held": not findings,
        "bundles": bundles,
        "findings": [
            {
                "rule": one.rule_id,
                "name": one.rule.name,
                "path": one.path,
                "pointer": one.pointer,
                "what": one.what,
                "why": one.rule.why,
                "mend": one.rule.mend,
            }
            for one in findings
        ],
    }
