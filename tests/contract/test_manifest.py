"""Laws of loading manifests and of their digests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from contract.manifest import (
    Manifest,
    ManifestError,
    canonical_bytes,
    decode_manifest,
    load_manifest,
    manifest_digest,
)
from contract.record import DecodeError, encode_indented, zero

GOLDEN: dict[str, Any] = json.loads((Path(__file__).parents[1] / "golden/golden.json").read_text())
# Accepted by the reference; an exchanged file never holds them (manifest format, M1).
STRICTER = {
    "field-name case folded",
    "field-name with Kelvin sign / long s folding",
    "duplicate member: last wins",
    "duplicate object member merges",
}


@pytest.mark.parametrize("case", GOLDEN["manifest_cases"], ids=lambda case: case["name"])
def test_manifests_are_accepted_as_the_reference_does(case: dict[str, Any]) -> None:
    document = case["input"].encode()
    if case["accepted"] and case["name"] not in STRICTER:
        assert manifest_digest(load_manifest(document)) == case["digest"]
    else:
        with pytest.raises(ManifestError):
            load_manifest(document)


@pytest.mark.parametrize("case", GOLDEN["digests"], ids=lambda case: case["name"])
def test_canonical_bytes_are_those_of_the_reference(case: dict[str, Any]) -> None:
    manifest = load_manifest(case["input"].encode())
    assert canonical_bytes(manifest).decode() == case["canonical"]
    assert manifest_digest(manifest) == case["sha256"]


@pytest.mark.parametrize("case", GOLDEN["digests"], ids=lambda case: case["name"])
def test_a_digest_survives_a_written_report(case: dict[str, Any]) -> None:
    manifest = load_manifest(case["input"].encode())
    assert manifest_digest(decode_manifest(encode_indented(manifest))) == case["sha256"]


def test_the_empty_manifest_has_the_known_digest() -> None:
    assert (
        manifest_digest(zero(Manifest)) == "358cf18a7f49e23efccfdc1287bcda4d5ecec60e5843d808f3077f35d8ac8e5e"
    )
    assert decode_manifest(b"null") == zero(Manifest)


def test_a_manifest_is_valid_utf8_to_the_last_byte() -> None:
    with pytest.raises(DecodeError, match="byte 10"):
        decode_manifest(b'{"title":"\xff"}')


def test_an_error_names_the_file_and_every_fault() -> None:
    with pytest.raises(ManifestError) as caught:
        load_manifest(b"{}", "x.json")
    text = str(caught.value)
    assert text.startswith("x.json: ")
    for place in (
        "/schema_version",
        "/id",
        "/resources",
        "/baseline",
        "/patrol/mode",
        "/repeat",
        "/teardown",
    ):
        assert f"\n  {place}: " in text


def test_faults_of_form_come_before_those_of_meaning() -> None:
    with pytest.raises(ManifestError) as caught:
        load_manifest(b'{"titel":"x"}', "x.json")
    assert [fault.where for fault in caught.value.faults] == ["/titel"]
