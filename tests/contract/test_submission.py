"""The declaration beside a contribution."""

from __future__ import annotations

import pytest

from contract.faults import DecodeError
from contract.submission import (
    AbortedAttempt,
    DeclaredCampaign,
    MachineClass,
    Submission,
    decode_submission,
    draft,
    encode_submission,
)
from contract.timestamps import Timestamp

MACHINE = MachineClass(
    os="Debian GNU/Linux 12",
    architecture="x86_64",
    virtualisation="none",
    docker_engine="20.10.24",
    accelerator="",
    accelerator_memory="",
)
CAMPAIGN = DeclaredCampaign(
    track="watch",
    runs_per_scenario={"watch.tin-loom": 3},
    attempt=2,
    aborted=(AbortedAttempt(at=Timestamp("2031-01-01T00:00:00Z"), reason="power cut"),),
)


def drafted() -> Submission:
    return draft("0" * 64, MACHINE, CAMPAIGN, {"lab_image": "pulse-qual-lab:1"})


def test_a_draft_has_neither_contributor_nor_consent() -> None:
    submission = drafted()
    assert submission.schema_version == "patrol.qualification.submission/v1"
    assert (submission.contributor.login, submission.consent, submission.supersedes) == ("", False, "")


def test_a_draft_without_overrides_is_as_pinned() -> None:
    assert draft("0" * 64, MACHINE, CAMPAIGN).overrides == {}


def test_what_is_written_is_read_back() -> None:
    assert decode_submission(encode_submission(drafted())) == drafted()


def test_a_class_cannot_be_claimed() -> None:
    document = encode_submission(drafted()).replace(b'"consent": false', b'"consent": false,\n  "class": "x"')
    with pytest.raises(DecodeError, match="no such member") as caught:
        decode_submission(document)
    assert caught.value.faults[0].where == "/class"
