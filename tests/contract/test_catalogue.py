"""Laws of a folder of manifests."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from contract.catalogue import CatalogueError, build_catalogue
from contract.manifest import ManifestError, manifest_digest

GOLDEN: dict[str, Any] = json.loads((Path(__file__).parents[1] / "golden/golden.json").read_text())


def document(scenario_id: str) -> bytes:
    return json.dumps({**json.loads(GOLDEN["minimal_manifest"]), "id": scenario_id}).encode()


def test_manifests_are_sorted_by_id_whatever_their_files_are_called() -> None:
    catalogue = build_catalogue([("1.json", document("watch.b-two")), ("2.json", document("watch.a-one"))])
    assert [manifest.id for manifest in catalogue.manifests] == ["watch.a-one", "watch.b-two"]
    assert catalogue.get("watch.b-two") is catalogue.manifests[1]
    assert catalogue.track("watch") == catalogue.manifests
    assert catalogue.track("remediation") == ()


def test_other_files_are_not_looked_into() -> None:
    others = [("x.schema.json", b"?"), ("README.md", b"?"), ("x.JSON", b"?"), ("x.json.bak", b"?")]
    assert len(build_catalogue([*others, ("a.json", document("watch.a-one"))]).manifests) == 1


def test_one_bad_manifest_fails_the_whole_catalogue_and_is_named() -> None:
    with pytest.raises(ManifestError) as caught:
        build_catalogue([("a.json", document("watch.a-one")), ("b.json", b"{")])
    assert caught.value.where == "b.json"


def test_two_manifests_with_one_id_are_refused() -> None:
    with pytest.raises(CatalogueError, match=r"also stands in a\.json"):
        build_catalogue([("a.json", document("watch.a-one")), ("b.json", document("watch.a-one"))])


def test_an_empty_catalogue_is_refused() -> None:
    with pytest.raises(CatalogueError, match="no manifest"):
        build_catalogue([("x.schema.json", b"{}")])


def test_an_unknown_scenario_is_refused_with_the_known_ones() -> None:
    with pytest.raises(CatalogueError) as caught:
        build_catalogue([("a.json", document("watch.a-one"))]).get("watch.other")
    assert "watch.a-one" in caught.value.hint


def test_the_digest_of_a_catalogue_covers_ids_and_manifest_digests() -> None:
    catalogue = build_catalogue([("b.json", document("watch.b-two")), ("a.json", document("watch.a-one"))])
    lines = "".join(f"{manifest.id} {manifest_digest(manifest)}\n" for manifest in catalogue.manifests)
    assert catalogue.digest == hashlib.sha256(lines.encode()).hexdigest()
    assert list(catalogue.digests) == ["watch.a-one", "watch.b-two"]
