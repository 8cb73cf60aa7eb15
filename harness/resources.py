"""What the harness reads from disk besides captures: the scenario catalogue and the price table."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from contract.catalogue import Catalogue, build_catalogue, is_manifest_name
from contract.errors import PatrolQualificationError, UsageError
from contract.pricing import PriceTable

MAX_MANIFEST_BYTES = 1024 * 1024
DEFAULT_CATALOGUE = Path("scenarios")


def load_catalogue(folder: Path, *, faults_exit: int = 2) -> Catalogue:
    """Read every manifest of a flat folder; the first faulty one fails all (manifest format, section 1).

    Raises UsageError for a folder that cannot be read, or what is wrong with a manifest, which then ends the
    command with `faults_exit`: a bad catalogue is bad usage, except where it was the question.
    """
    documents = [(str(path), read_bounded(path, MAX_MANIFEST_BYTES)) for path in manifest_paths(folder)]
    try:
        return build_catalogue(documents)
    except PatrolQualificationError as exc:
        exc.exit_code = faults_exit
        raise


def manifest_paths(folder: Path) -> tuple[Path, ...]:
    """The manifests of a catalogue folder, sorted; UsageError when it cannot be read."""
    try:
        return tuple(sorted(path for path in folder.iterdir() if _is_manifest(path)))
    except OSError as exc:
        raise UsageError(
            f"the catalogue folder cannot be read: {exc.strerror or exc}",
            where=str(folder),
            hint="name the folder with the manifests with --catalog",
        ) from exc


def read_bounded(path: Path, limit: int) -> bytes:
    """Read a file of at most `limit` bytes; UsageError when it is longer or unreadable."""
    try:
        with path.open("rb") as file:
            content = file.read(limit + 1)
    except OSError as exc:
        raise UsageError(f"cannot be read: {exc.strerror or exc}", where=str(path)) from exc
    if len(content) > limit:
        raise UsageError(f"is longer than {limit} bytes", where=str(path))
    return content


def load_prices() -> PriceTable:
    """The price table that comes with the contract."""
    return PriceTable.from_bytes((files("contract") / "data" / "prices.json").read_bytes())


def _is_manifest(path: Path) -> bool:
    return is_manifest_name(path.name) and not path.is_dir()
