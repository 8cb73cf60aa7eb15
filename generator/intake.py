"""Takes an exported campaign into the tree: verified first, then placed whole or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from contract.checksums import ChecksumError, format_sums, verify
from contract.errors import PatrolQualificationError, UsageError
from contract.faults import DocumentError
from contract.submission import Contributor, Submission, decode_submission, encode_submission
from generator.across import check_across
from generator.check import check_tree
from generator.findings import Finding, Findings
from generator.layout import BUNDLE_ID, CONTRIBUTION, EVIDENCE, LIMITS, LOGIN, README, SUBMISSION, SUMS, Place
from generator.load import Blob, LoadedBundle, read_blob
from generator.registry import Grounds, Registry
from generator.verified import VerifiedBundle
from generator.verify import verify as verify_bundle


class RefusedError(PatrolQualificationError):
    """An export, or the tree that it is for, breaks rules; `findings` holds all of them."""

    def __init__(self, message: str, findings: tuple[Finding, ...]) -> None:
        super().__init__(message)
        self.findings = findings


@dataclass(frozen=True, slots=True)
class Candidate:
    """A verified bundle that is not in the tree yet, and its four files."""

    bundle: VerifiedBundle
    files: Mapping[str, bytes]

    @property
    def place(self) -> Place:
        return self.bundle.place


def read_export(folder: Path) -> dict[str, bytes]:
    """The files of an export, sealed as its SHA256SUMS says.

    Raises UsageError when the folder is no export, RefusedError when a file is not plain or not as sealed.
    """
    findings = Findings()
    names = [name for name in LIMITS if os.path.lexists(folder / name)]
    for name in (CONTRIBUTION, README, SUBMISSION, SUMS):
        if name not in names:
            hint = "name the folder that `patrol-qualify export-contribution` wrote"
            raise UsageError(f"{folder} holds no {name}", hint=hint)
    blobs = {name: read_blob(folder, PurePosixPath(name), LIMITS[name], findings) for name in names}
    files = {name: blob.data for name, blob in blobs.items() if blob is not None}
    if not len(findings):
        try:
            verify(files, exact=False)
        except ChecksumError as error:
            findings.add("PQ022", SUMS, error.message)
    if len(findings):
        raise RefusedError(f"{folder} is not as it was exported", findings.sorted())
    return files


def read_draft(files: Mapping[str, bytes]) -> Submission:
    """The draft that the export wrote; RefusedError with what is wrong with it."""
    try:
        return decode_submission(files[SUBMISSION])
    except DocumentError as error:
        findings = Findings()
        for fault in error.faults:
            findings.add("PQ031", SUBMISSION, fault.message, fault.where)
        raise RefusedError("the draft of submission.json cannot be read", findings.sorted()) from error


def complete(draft: Submission, login: str, affiliation: str, supersedes: str) -> Submission:
    """The draft with a contributor and their consent. Raises UsageError for what is no login or bundle id."""
    if not LOGIN.fullmatch(login):
        raise UsageError(
            f"{login!r} is no GitHub login", hint="letters, digits and single hyphens, lower case"
        )
    if supersedes and not BUNDLE_ID.fullmatch(supersedes):
        raise UsageError(
            f"{supersedes!r} is no bundle id", hint="16 hexadecimal digits, as in the folder's name"
        )
    change = {
        "contributor": Contributor(login=login, affiliation=affiliation),
        "supersedes": supersedes or draft.supersedes,
        "consent": True,
    }
    return draft.model_copy(update=change)


def prepare(
    root: Path, files: Mapping[str, bytes], submission: Submission, *, control: bool, now_ns: int
) -> Candidate:
    """Verify the completed bundle as it would stand in the tree, and beside all that already stand there.

    Raises RefusedError when the tree or the bundle breaks a rule.
    """
    verdict = check_tree(root, now_ns)
    if verdict.findings or verdict.registry is None:
        raise RefusedError("the evidence that is already there is refused", verdict.findings)
    sealed = {
        CONTRIBUTION: files[CONTRIBUTION],
        README: files[README],
        SUBMISSION: encode_submission(submission),
    }
    sealed[SUMS] = format_sums(sealed)
    blobs = {name: Blob.of(data) for name, data in sealed.items()}
    place = Place("" if control else submission.contributor.login, blobs[CONTRIBUTION].sha256[:16])
    if any(known.id == place.id for known in verdict.places):
        raise UsageError(f"{place.id} is already there", hint="a bundle is added once; nothing was changed")
    bundle = _judge(verdict.registry, LoadedBundle(place, blobs), now_ns)
    return Candidate(bundle, sealed)


def _judge(registry: Registry, loaded: LoadedBundle, now_ns: int) -> VerifiedBundle:
    findings = Findings()
    grounds = Grounds(registry.policy, registry.models, registry.catalogues)
    _, bundle = verify_bundle(loaded, grounds, now_ns, findings)
    if bundle is not None:
        check_across([*registry.bundles, bundle], findings)
    if bundle is None or len(findings):
        raise RefusedError("the export is refused", findings.sorted())
    return bundle


def place_whole(root: Path, candidate: Candidate) -> Path:
    """Write the four files to a folder beside the place, sync them, and rename it into place."""
    target = root / candidate.place.path
    (root / EVIDENCE).mkdir(exist_ok=True)
    target.parent.mkdir(parents=True, exist_ok=True)
    # Outside of evidence/, so that a folder left by a power cut is never taken for a bundle.
    draft = Path(tempfile.mkdtemp(prefix=".patrol-evidence-", dir=root))
    try:
        for name, data in candidate.files.items():
            _write_synced(draft / name, data)
        draft.chmod(0o755)
        draft.rename(target)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise
    return target


def _write_synced(path: Path, data: bytes) -> None:
    with path.open("wb") as stream:
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())
    path.chmod(0o644)
