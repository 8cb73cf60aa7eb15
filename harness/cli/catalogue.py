"""The commands about scenarios."""

from __future__ import annotations

import json
from pathlib import Path

import click

from contract.catalogue import Catalogue
from contract.manifest import Manifest, manifest_digest
from harness.cli.plain import table
from harness.resources import load_catalogue


def validate(folder: Path, *, as_json: bool, quiet: bool) -> int:
    """Load the whole catalogue and hold it against the authoring schema; what is wrong is raised."""
    from harness.authoring import check_authoring

    catalogue = load_catalogue(folder, faults_exit=1)
    check_authoring(folder)
    if as_json:
        _print_json(catalogue)
    elif not quiet:
        click.echo(f"{len(catalogue.manifests)} scenarios are valid; catalogue {catalogue.digest[:16]}")
    return 0


def list_scenarios(folder: Path, *, as_json: bool, quiet: bool) -> int:
    """Show what could be run."""
    catalogue = load_catalogue(folder)
    if as_json:
        _print_json(catalogue)
    elif quiet:
        click.echo("\n".join(manifest.id for manifest in catalogue.manifests))
    else:
        head = ("scenario", "track", "mode", "faults", "repeats", "digest")
        click.echo(table(head, [_row(manifest) for manifest in catalogue.manifests]))
    return 0


def _row(manifest: Manifest) -> tuple[str, ...]:
    repeat = manifest.repeat
    return (
        manifest.id,
        manifest.track,
        manifest.patrol.mode,
        str(len(manifest.faults or ())),
        f"{repeat.development}/{repeat.nightly}/{repeat.qualification}",
        manifest_digest(manifest)[:12],
    )


def _print_json(catalogue: Catalogue) -> None:
    scenarios = [
        {
            "id": manifest.id,
            "version": manifest.version,
            "title": manifest.title,
            "track": manifest.track,
            "mode": manifest.patrol.mode,
            "faults": len(manifest.faults or ()),
            "repeat": manifest.repeat.model_dump(),
            "digest": manifest_digest(manifest),
        }
        for manifest in catalogue.manifests
    ]
    click.echo(json.dumps({"catalogue_digest": catalogue.digest, "scenarios": scenarios}, indent=2))
