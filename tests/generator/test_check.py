"""What the checker holds, refuses and says."""

from __future__ import annotations

import json
from pathlib import Path

from campaigns import NOW, Campaign, Tree
from click.testing import CliRunner, Result

from generator.check import check_tree
from generator.cli import main

AS_OF = "2026-12-08T00:00:00Z"


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, list(arguments))


def rules_of(tree: Tree) -> set[str]:
    return {finding.rule_id for finding in check_tree(tree.root, NOW).findings}


def test_honest_evidence_holds(typical_tree: Tree) -> None:
    verdict = check_tree(typical_tree.root, NOW)
    assert verdict.findings == ()
    assert verdict.registry is not None
    assert len(verdict.registry.bundles) == 3


def test_one_changed_byte_of_any_file_is_refused_by_name(typical_tree: Tree) -> None:
    for file in sorted((typical_tree.root / "evidence").rglob("*.*")) + sorted(
        (typical_tree.root / "evidence").rglob("SHA256SUMS")
    ):
        if file.name in {"policy.json", "models.json"}:
            continue
        whole = file.read_bytes()
        file.write_bytes(whole[:-2] + bytes([whole[-2] ^ 1]) + whole[-1:])
        findings = check_tree(typical_tree.root, NOW).findings
        assert any(file.parent.name in finding.path for finding in findings), file
        if file.name != "SHA256SUMS":
            assert any(finding.path.endswith(f"/{file.name}") for finding in findings), file
        file.write_bytes(whole)
    assert check_tree(typical_tree.root, NOW).findings == ()


def test_all_faults_are_told_at_once_with_rule_place_and_mend(tree: Tree) -> None:
    folder = tree.add()
    (folder / "notes.txt").write_text("hello")
    (folder / "README.md").write_text("changed")
    (folder / "submission.json").unlink()
    told = run("check", "--root", str(tree.root), "--as-of", AS_OF)
    assert told.exit_code == 1
    for part in ("notes.txt", "README.md", "submission.json", "PQ008", "PQ022", "mend:", "why:"):
        assert part in told.stderr
    assert told.stderr.startswith("Refused: 3 faults")
    assert told.stdout == ""


def test_nothing_to_check_is_an_error(tree: Tree) -> None:
    empty = run("check", "--root", str(tree.root), "--as-of", AS_OF)
    assert empty.exit_code == 2
    assert "no bundle to check" in empty.stderr


def test_a_mistyped_path_is_an_error(typical_tree: Tree) -> None:
    missing = run("check", "evidnce", "--root", str(typical_tree.root))
    assert missing.exit_code == 2
    assert "evidnce" in missing.stderr


def test_a_tree_without_evidence_is_refused(tmp_path: Path) -> None:
    told = run("check", "--root", str(tmp_path))
    assert told.exit_code == 1
    assert "PQ001" in told.stderr


def test_a_path_limits_what_is_told_but_not_what_is_compared(tree: Tree) -> None:
    good = tree.add()
    bad = tree.add(login="bob", seed="other")
    (bad / "README.md").write_text("changed")
    kept = run("check", str(good), "--root", str(tree.root), "--as-of", AS_OF)
    assert kept.exit_code == 0
    assert kept.stdout.startswith("1 bundle verified")
    refused = run("check", str(bad.parent), "--root", str(tree.root), "--as-of", AS_OF)
    assert refused.exit_code == 1


def test_json_names_every_finding(tree: Tree) -> None:
    (tree.add() / "README.md").write_text("changed")
    told = run("check", "--root", str(tree.root), "--as-of", AS_OF, "--json")
    shown = json.loads(told.stdout)
    assert told.exit_code == 1
    assert shown["held"] is False
    assert [finding["rule"] for finding in shown["findings"]] == ["PQ022"]
    assert shown["findings"][0]["mend"]


def test_quiet_says_nothing_when_it_holds(typical_tree: Tree) -> None:
    told = run("check", "--root", str(typical_tree.root), "--as-of", AS_OF, "--quiet")
    assert (told.exit_code, told.output) == (0, "")


def test_a_run_that_stands_in_two_bundles_is_refused_in_both(tree: Tree) -> None:
    first = tree.add(login="ada-l", seed="same")
    second = tree.add(login="ada-l", seed="same", repeats=4)
    paths = {finding.path for finding in check_tree(tree.root, NOW).findings}
    assert rules_of(tree) == {"PQ060"}
    assert {first.name, second.name} == {path.split("/")[3] for path in paths}


def test_a_correction_names_an_own_earlier_bundle(tree: Tree) -> None:
    first = tree.add(login="ada-l")
    tree.add(login="ada-l", seed="again", supersedes=first.name)
    assert rules_of(tree) == set()
    tree.add(login="bob", seed="other", supersedes=first.name)
    assert rules_of(tree) == {"PQ061"}


def test_an_unfinished_campaign_has_to_say_why(tree: Tree) -> None:
    from campaigns import make_contribution, make_submission

    from contract.record import encode_indented

    campaign = Campaign()
    document = encode_indented(make_contribution(campaign, tree.catalogue))
    made = make_submission(campaign, document)
    declared = made.campaign.model_copy(update={"runs_per_scenario": dict.fromkeys(campaign.scenarios, 30)})
    tree.write(campaign, document, made.model_copy(update={"campaign": declared}))
    assert rules_of(tree) == {"PQ073"}
