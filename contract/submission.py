"""What stands beside a contribution: who ran it, where, what was planned and what was overridden.

Schema `patrol.qualification.submission/v1`. A draft has no login and no consent; `patrol-evidence add` asks
for both.
"""

from __future__ import annotations

from typing import Final

from contract.record import Record, decode_strict, encode_indented
from contract.timestamps import Timestamp

SCHEMA_VERSION: Final = "patrol.qualification.submission/v1"


class Contributor(Record):
    """Who ran the campaign: a GitHub login, and an affiliation or an empty text."""

    login: str
    affiliation: str


class MachineClass(Record):
    """The kind of machine; the two accelerator members are empty for hosted routes."""

    os: str
    architecture: str
    virtualisation: str
    docker_engine: str
    accelerator: str
    accelerator_memory: str


class AbortedAttempt(Record):
    """A campaign that was begun and given up, and why."""

    at: Timestamp
    reason: str


class DeclaredCampaign(Record):
    """What was planned before the first run; attempts count from 1."""

    track: str
    runs_per_scenario: dict[str, int]
    attempt: int
    aborted: tuple[AbortedAttempt, ...]


class Submission(Record):
    """Everything about a contribution that its own format has no place for."""

    schema_version: str
    contribution_sha256: str
    contributor: Contributor
    environment: MachineClass
    campaign: DeclaredCampaign
    overrides: dict[str, str]
    supersedes: str
    consent: bool


def draft(
    contribution_sha256: str,
    environment: MachineClass,
    campaign: DeclaredCampaign,
    overrides: dict[str, str] | None = None,
) -> Submission:
    """A submission that still lacks a contributor and their consent."""
    return Submission(
        schema_version=SCHEMA_VERSION,
        contribution_sha256=contribution_sha256,
        contributor=Contributor(login="", affiliation=""),
        environment=environment,
        campaign=campaign,
        overrides=overrides or {},
        supersedes="",
        consent=False,
    )


def encode_submission(submission: Submission) -> bytes:
    """The content of submission.json."""
    return encode_indented(submission)


def decode_submission(document: bytes) -> Submission:
    """Read submission.json; DecodeError with every fault of its form."""
    return decode_strict(Submission, document)
