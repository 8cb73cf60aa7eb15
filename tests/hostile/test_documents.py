"""Documents that two readers could understand differently, or that no reader should try to."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from campaigns import Tree
from spoiling import add_raw, checked, contribution_text, rules_of, spoil_json, spoil_submission

Spoil = Callable[[str], "str | bytes"]

DEEP = 100_000


def replaced(old: str, new: str) -> Spoil:
    def spoil(text: str) -> str:
        assert old in text
        return text.replace(old, new, 1)

    return spoil


NOT_ONE_DOCUMENT: dict[str, Spoil] = {
    "empty object missing its end": lambda text: text.rstrip()[:-1],
    "second document after the first": lambda text: text + "{}",
    "array": lambda _: "[]\n",
    "text": lambda _: '"hello"\n',
    "byte-order mark": lambda text: b"\xef\xbb\xbf" + text.encode(),
    "invalid utf-8": lambda text: text.encode().replace(b"Made for a test.", b"Made for \xff test."),
    "overlong utf-8": lambda text: text.encode().replace(b"Made for a test.", b"Made for \xc0\xaf test."),
    "utf-16": lambda text: text.encode("utf-16"),
    "nul bytes": lambda text: text.encode().replace(b"Made for a test.", b"Made for \x00 test."),
    "not a number": replaced('"recall": 1', '"recall": NaN'),
    "infinity": replaced('"recall": 1', '"recall": Infinity'),
    "trailing comma": lambda text: text.rstrip()[:-1] + ",}",
    "comment": lambda text: "// hello\n" + text,
    "single quotes": replaced('"Made for a test."', "'Made for a test.'"),
    "nested 200 deep": lambda text: "[" * 200 + "]" * 200,
    "nested 100 000 deep": lambda text: "[" * DEEP + "]" * DEEP,
    "objects nested 100 000 deep": lambda text: '{"a":' * DEEP + "1" + "}" * DEEP,
}

NOT_THE_FORMAT: dict[str, Spoil] = {
    "duplicate member": replaced('"notice":', '"notice": "x",\n  "notice":'),
    "duplicate member in a run": replaced('"passed": true', '"passed": true,\n      "passed": true'),
    "member of other letter case": replaced('"notice":', '"Notice":'),
    "unknown member": replaced('"notice":', '"notes": "x",\n  "notice":'),
    "unknown member in a run": replaced('"captured_at":', '"run_id": "x",\n      "captured_at":'),
    "float in place of an integer": replaced('"scenario_version": 1', '"scenario_version": 1.0'),
    "boolean in place of an integer": replaced('"scenario_version": 1', '"scenario_version": true'),
    "text in place of an integer": replaced('"scenario_version": 1', '"scenario_version": "1"'),
    "integer beyond 64 bits": replaced('"input_tokens": 5121', '"input_tokens": 99999999999999999999'),
    "integer of 5000 digits": replaced('"input_tokens": 5121', '"input_tokens": ' + "9" * 5000),
    "number beyond every double": replaced('"recall": 1', '"recall": 1e999'),
    "integer in place of a boolean": replaced('"passed": true', '"passed": 1'),
    "object in place of a text": replaced('"notice": "Made for a test."', '"notice": {}'),
    "leap second": replaced("T00:00:05Z", "T00:00:60Z"),
    "time without offset": replaced("T00:00:05Z", "T00:00:05"),
    "date of another kind": replaced("2026-12-01T00:00:05Z", "01.12.2026 00:00"),
    "thirtieth of february": replaced("2026-12-01T00:00:05Z", "2026-02-30T00:00:05Z"),
}


@pytest.mark.parametrize("spoil", NOT_ONE_DOCUMENT.values(), ids=NOT_ONE_DOCUMENT.keys())
def test_what_is_no_single_json_document_is_refused(spoil: Spoil, tree: Tree) -> None:
    text = spoil(contribution_text(tree))
    add_raw(tree, text.encode() if isinstance(text, str) else text)
    assert rules_of(tree) & {"PQ030", "PQ031"}
    assert checked(tree).exit_code == 1


@pytest.mark.parametrize("spoil", NOT_THE_FORMAT.values(), ids=NOT_THE_FORMAT.keys())
def test_what_is_not_of_the_format_is_refused(spoil: Spoil, tree: Tree) -> None:
    text = spoil(contribution_text(tree))
    add_raw(tree, text.encode() if isinstance(text, str) else text)
    assert rules_of(tree) & {"PQ030", "PQ031"}
    assert checked(tree).exit_code == 1


@pytest.mark.parametrize("size", [0, (4 << 20) + 1], ids=["empty", "over the limit"])
def test_a_file_of_impossible_size_is_refused_unread(size: int, tree: Tree) -> None:
    folder = tree.add()
    (folder / "contribution.json").write_bytes(b" " * size)
    assert rules_of(tree) >= ({"PQ011"} if not size else {"PQ005"})


def test_a_document_that_is_null_is_refused(tree: Tree) -> None:
    add_raw(tree, b"null\n")
    assert rules_of(tree) == {"PQ032"}


def test_a_lone_surrogate_is_refused(tree: Tree) -> None:
    text = contribution_text(tree).replace("Made for a test.", "Made for \\ud800 test.")
    add_raw(tree, text.encode())
    assert rules_of(tree) == {"PQ081"}


def test_minus_zero_is_another_spelling_with_another_digest(tree: Tree) -> None:
    text = contribution_text(tree).replace('"recall": 1', '"recall": -0', 1)
    add_raw(tree, text.encode())
    assert "PQ050" in rules_of(tree)


@pytest.mark.parametrize("where", ["", "runs"])
def test_a_declared_class_is_refused(where: str, tree: Tree) -> None:
    def change(document: dict[str, Any]) -> None:
        (document["runs"][0] if where else document)["class"] = "certified"

    spoil_json(tree, change)
    assert rules_of(tree) == ({"PQ031"} if where else {"PQ033"})


def test_a_class_declared_in_the_submission_is_refused(tree: Tree) -> None:
    spoil_submission(tree, lambda document: document.update({"class": "certified"}))
    assert rules_of(tree) == {"PQ033"}


@pytest.mark.parametrize("version", ["patrol.qualification.contribution/v2", "", "Patrol.Qualification/v1"])
def test_an_unknown_version_is_refused(version: str, tree: Tree) -> None:
    spoil_json(tree, lambda document: document.update(schema_version=version))
    assert rules_of(tree) == {"PQ032"}


def test_an_unknown_version_of_the_submission_is_refused(tree: Tree) -> None:
    spoil_submission(tree, lambda document: document.update(schema_version="submission/v9"))
    assert rules_of(tree) == {"PQ032"}


@pytest.mark.parametrize("name", ["policy.json", "models.json"])
@pytest.mark.parametrize("content", [b"", b"null", b"{}", b"[]", b"\xff", b'{"x": 1}'])
def test_broken_grounds_are_refused_and_nothing_is_believed_on_them(
    name: str, content: bytes, tree: Tree
) -> None:
    tree.add()
    (tree.root / "evidence" / name).write_bytes(content)
    assert rules_of(tree) & {"PQ090", "PQ091", "PQ011"}
    assert checked(tree).exit_code == 1


def test_an_alias_that_captures_another_models_name_is_refused(tree: Tree) -> None:
    path = tree.root / "evidence" / "models.json"
    text = path.read_text().replace(
        '"models": [',
        '"models": [{"id": "thief", "name": "T", "family": "T", "parameters": "", "revision": "",'
        ' "aliases": ["openai:smollm2-135m-instruct-q4_1"]},',
    )
    path.write_text(text)
    tree.add()
    assert rules_of(tree) == {"PQ091"}


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("id", "index"),
        ("id", ".."),
        ("id", "-a"),
        ("id", "a" * 5000),
        ("name", "<script>alert(1)</script>"),
        ("name", "{{7*7}}"),
        ("name", "a|b"),
        ("name", "\x1b[31m"),
        ("name", "a\u202eb"),
        ("name", "Sm\u043ell"),
        ("name", ""),
        ("family", "[x](javascript:1)"),
        ("parameters", "\n::error::"),
        ("revision", "a\u200bb"),
        ("note", "<img onerror=x>"),
        ("aliases", ["control:reference"]),
        ("aliases", ["x", "x"]),
        ("aliases", ["openai:\u043e"]),
    ],
)
def test_a_model_entry_that_could_spoil_a_page_is_refused(member: str, value: object, tree: Tree) -> None:
    tree.add()
    path = tree.root / "evidence" / "models.json"
    document = json.loads(path.read_text())
    document["models"][0][member] = value
    path.write_text(json.dumps(document))
    assert rules_of(tree) == {"PQ091"}
    assert checked(tree).exit_code == 1


@pytest.mark.parametrize("pin", ["catalogue_digest", "pulse_version", "harness_git_sha"])
@pytest.mark.parametrize("value", ["zz", "\x1b[31m"])
def test_a_pin_that_nothing_can_equal_is_refused(pin: str, value: str, tree: Tree) -> None:
    tree.add()
    path = tree.root / "evidence" / "policy.json"
    document = json.loads(path.read_text())
    document["campaign"][pin] = value if pin != "pulse_version" else f"{value}\n"
    path.write_text(json.dumps(document))
    assert rules_of(tree) == {"PQ090"}


def test_a_broken_manifest_is_refused(tree: Tree) -> None:
    tree.add()
    (tree.root / "scenarios" / "watch.extra.json").write_text("{}")
    assert rules_of(tree) == {"PQ092"}
