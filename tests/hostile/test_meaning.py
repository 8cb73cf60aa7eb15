"""Well-formed evidence that claims what its own numbers, the catalogue, or other evidence do not bear out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from campaigns import (
    Campaign,
    Tree,
    contribution_of,
    make_contribution,
    make_run,
    make_submission,
    never,
    resealed,
)
from spoiling import checked, rules_of, spoil_json, spoil_submission

from contract.contribution import ContributionBundle, ContributionRun
from contract.record import encode_indented
from contract.timestamps import Timestamp

EXPORTED = Campaign().exported


def runs_of(tree: Tree, campaign: Campaign | None = None) -> list[ContributionRun]:
    return list(make_contribution(campaign or Campaign(), tree.catalogue).runs)


def rebuilt(tree: Tree, change: Callable[[ContributionRun], ContributionRun], **named: Any) -> None:
    """A bundle in which every run was changed, and every digest and sum made to fit again."""
    runs = [change(run) for run in runs_of(tree)]
    tree.add_contribution(contribution_of(runs, named.get("exported", EXPORTED), "watch", tree.catalogue))


def scored(run: ContributionRun, **changes: Any) -> ContributionRun:
    return resealed(run, score=run.score.model_copy(update=changes))


INVENTED: dict[str, Callable[[ContributionRun], ContributionRun]] = {
    "sums that do not add up": lambda run: scored(run, missed_faults=run.score.missed_faults + 1),
    "recall that is not the ratio": lambda run: scored(run, recall=0.5),
    "a rate above one": lambda run: scored(run, severity_accuracy=1.5),
    "a rate below zero": lambda run: scored(run, evidence_grounding=-0.5),
    "a negative count": lambda run: scored(run, input_tokens=-1),
    "a negative latency": lambda run: scored(run, patrol_latency_ms=-5),
    "passed with a hard failure": lambda run: resealed(
        run, failure_counts=run.failure_counts.model_copy(update={"hard_failures": 1})
    ),
    "passed with a run error": lambda run: resealed(
        run, failure_counts=run.failure_counts.model_copy(update={"run_errors": 1})
    ),
    "passed with failed teardown": lambda run: resealed(
        run, safety=run.safety.model_copy(update={"teardown_passed": False})
    ),
    "failed without a failure": lambda run: resealed(run, passed=False),
    "passed with a false positive": lambda run: scored(run, false_positives=3),
    "more failed than all tool calls": lambda run: scored(run, failed_tool_calls=9),
    "a fault that the scenario does not have": lambda run: scored(run, faults=2, true_positives=2),
    "a cost that nothing explains": lambda run: scored(
        run, cost=run.score.cost.model_copy(update={"usd": 0.5, "known": True})
    ),
    "passed beyond the budget": lambda run: scored(run, end_to_end_latency_ms=10**9),
}


@pytest.mark.parametrize("change", INVENTED.values(), ids=INVENTED.keys())
def test_valid_digests_around_invented_numbers_are_refused(
    change: Callable[[ContributionRun], ContributionRun], tree: Tree
) -> None:
    rebuilt(tree, change)
    assert rules_of(tree) >= {"PQ051"}
    assert checked(tree).exit_code == 1


def test_the_evidence_digest_of_another_run_is_refused(tree: Tree) -> None:
    def swap(document: dict[str, Any]) -> None:
        first, second = document["runs"][:2]
        first["evidence_digest_sha256"] = second["evidence_digest_sha256"]

    spoil_json(tree, swap)
    assert "PQ050" in rules_of(tree)


def test_an_edited_number_no_longer_fits_its_digest(tree: Tree) -> None:
    spoil_json(tree, lambda document: document["runs"][0]["score"].update(collection_latency_ms=1))
    assert rules_of(tree) >= {"PQ050"}


def edited(*path: Any, value: Any) -> Callable[[dict[str, Any]], None]:
    def change(document: dict[str, Any]) -> None:
        inner: Any = document["comparison"]
        for step in path[:-1]:
            inner = inner[step]
        assert inner[path[-1]] != value
        inner[path[-1]] = value

    return change


SUMMARIES = {
    "more runs": edited("models", 0, "runs", value=60),
    "fewer false positives": edited("models", 0, "false_positives", value=-1),
    "a better lower bound": edited("models", 0, "pass_rate", "lower", value=0.99),
    "a faster percentile": edited("models", 0, "p95_latency_ms", value=1),
    "another scenario's runs": edited("scenarios", 0, "runs", value=30),
    "another model": edited("models", 0, "model", value="openai:other"),
    "other revisions": edited("git_shas", value=["0000000"]),
    "no scenario": edited("scenarios", value=[]),
}


@pytest.mark.parametrize("change", SUMMARIES.values(), ids=SUMMARIES.keys())
def test_a_summary_that_does_not_follow_is_refused(
    change: Callable[[dict[str, Any]], None], tree: Tree
) -> None:
    spoil_json(tree, change)
    assert rules_of(tree) & {"PQ052"}


def test_a_verdict_that_does_not_follow_is_refused(tree: Tree) -> None:
    spoil_json(tree, edited("qualification", 0, "qualified", value=True))
    assert rules_of(tree) == {"PQ053"}


def test_the_best_run_moved_to_the_top_is_refused(tree: Tree) -> None:
    spoil_json(tree, lambda document: document["runs"].reverse())
    assert "PQ054" in rules_of(tree)


def test_a_self_made_scenario_is_refused(tree: Tree) -> None:
    rebuilt(tree, lambda run: resealed(run, manifest_digest="ab" * 32))
    assert "PQ040" in rules_of(tree)


def test_the_digest_of_one_scenario_under_the_name_of_another_is_refused(tree: Tree) -> None:
    easy = runs_of(tree)[-1].manifest_digest
    rebuilt(tree, lambda run: resealed(run, manifest_digest=easy))
    assert "PQ040" in rules_of(tree)


def test_another_version_of_a_scenario_is_refused(tree: Tree) -> None:
    rebuilt(tree, lambda run: resealed(run, scenario_version=2))
    assert "PQ040" in rules_of(tree)


def test_a_track_that_does_not_match_is_refused(tree: Tree) -> None:
    rebuilt(tree, lambda run: resealed(run, track="investigation"))
    assert "PQ040" in rules_of(tree)


def test_two_tracks_in_one_bundle_are_refused(tree: Tree) -> None:
    other = make_run(Campaign(track="investigation"), tree.catalogue.track("investigation")[0], 0)
    runs = [*runs_of(tree), other]
    tree.add_contribution(contribution_of(runs, EXPORTED, "watch", tree.catalogue))
    assert "PQ041" in rules_of(tree)


@pytest.mark.parametrize("member", ["pulse_version", "harness_git_sha"])
def test_a_mix_of_versions_or_revisions_is_refused(member: str, tree: Tree) -> None:
    runs = runs_of(tree)
    runs[0] = resealed(runs[0], **{member: "0123456"})
    tree.add_contribution(contribution_of(runs, EXPORTED, "watch", tree.catalogue))
    assert rules_of(tree) == {"PQ042"}


@pytest.mark.parametrize("member", ["pulse_version", "harness_git_sha"])
def test_runs_that_name_no_version_are_refused(member: str, tree: Tree) -> None:
    rebuilt(tree, lambda run: resealed(run, **{member: ""}))
    assert "PQ042" in rules_of(tree)


def test_a_dirty_harness_is_refused(tree: Tree) -> None:
    rebuilt(tree, lambda run: resealed(run, harness_git_dirty=True))
    assert rules_of(tree) == {"PQ043"}


TIMES = {
    "captured after the export": "2026-12-02T00:00:00Z",
    "captured in the year 1": "0001-01-01T00:00:00Z",
    "captured in the year 9999": "9999-12-31T23:59:59Z",
    "captured before the format": "2019-01-01T00:00:00+02:00",
}


@pytest.mark.parametrize("moment", TIMES.values(), ids=TIMES.keys())
def test_an_impossible_time_is_refused(moment: str, tree: Tree) -> None:
    rebuilt(tree, lambda run: resealed(run, captured_at=Timestamp(moment)))
    assert rules_of(tree) == {"PQ044"}


def test_an_export_from_the_future_is_refused(tree: Tree) -> None:
    rebuilt(tree, lambda run: run, exported=Timestamp("2027-06-01T00:00:00Z"))
    assert rules_of(tree) == {"PQ044"}


def test_a_challenge_that_nobody_issued_is_refused(tree: Tree) -> None:
    made = contribution_of(
        [resealed(run, challenge_bound=True) for run in runs_of(tree)], EXPORTED, "watch", tree.catalogue
    )
    bound = {"nonce": "self-made-nonce-0001", "bound_at_run": True}
    challenge = made.challenge.model_copy(update=bound)
    tree.add_contribution(made.model_copy(update={"challenge": challenge}))
    assert rules_of(tree) == {"PQ045"}


def test_a_challenge_bound_on_some_runs_only_is_refused(tree: Tree) -> None:
    runs = runs_of(tree)
    runs[0] = resealed(runs[0], challenge_bound=True)
    tree.add_contribution(contribution_of(runs, EXPORTED, "watch", tree.catalogue))
    assert "PQ034" in rules_of(tree)


CONSTANTS = {
    "another evidence class": lambda document: document.update(evidence_class="pulse-certified"),
    "an upload": lambda document: document.update(network_upload_performed=True),
    "no allow-list": lambda document: document["privacy"].update(allowlist_only=False),
    "nothing excluded": lambda document: document["privacy"].update(excluded=[]),
    "no runs": lambda document: document.update(runs=[]),
    "no model": lambda document: document["runs"][0].update(model=""),
    "a short digest": lambda document: document["runs"][0].update(source_report_sha256="abc"),
    "an upper-case digest": lambda document: document["runs"][0].update(source_report_sha256="A" * 64),
    "a digest with a line end": lambda document: document["runs"][0].update(
        source_report_sha256="a" * 64 + "\n"
    ),
}


@pytest.mark.parametrize("change", CONSTANTS.values(), ids=CONSTANTS.keys())
def test_a_broken_promise_of_the_format_is_refused(
    change: Callable[[dict[str, Any]], object], tree: Tree
) -> None:
    spoil_json(tree, change)
    assert "PQ034" in rules_of(tree)


def test_a_control_among_the_community_is_refused(tree: Tree) -> None:
    campaign = Campaign(model="control:reference", route="control")
    contribution = encode_indented(make_contribution(campaign, tree.catalogue))
    tree.write(Campaign(), contribution, make_submission(campaign, contribution))
    assert rules_of(tree) == {"PQ046"}


@pytest.mark.parametrize("mark", ["provider", "cost provider", "route"])
def test_a_control_that_hides_behind_a_models_name_is_refused(mark: str, tree: Tree) -> None:
    def disguise(run: ContributionRun) -> ContributionRun:
        if mark == "provider":
            return resealed(run, provider="Control")
        member = "provider" if mark == "cost provider" else "billing_basis"
        return scored(run, cost=run.score.cost.model_copy(update={member: "control"}))

    rebuilt(tree, disguise)
    assert "PQ046" in rules_of(tree)


def test_a_model_among_the_controls_is_refused(tree: Tree) -> None:
    contribution = encode_indented(make_contribution(Campaign(), tree.catalogue))
    folder = tree.write(Campaign(model="control:reference"), contribution)
    assert folder.parent.name == "controls"
    assert "PQ046" in rules_of(tree)


def test_the_same_run_twice_in_one_bundle_is_refused(tree: Tree) -> None:
    runs = runs_of(tree)
    contribution = contribution_of([*runs, runs[0]], EXPORTED, "watch", tree.catalogue)
    tree.add_contribution(contribution, replace(Campaign(), repeats=4))
    assert "PQ060" in rules_of(tree)


@pytest.mark.parametrize("member", ["source_report_sha256", "source_replay_sha256"])
def test_anothers_report_or_replay_is_refused(member: str, tree: Tree) -> None:
    theirs = runs_of(tree)[0]
    tree.add()
    campaign = Campaign(login="bob", seed="bob")
    runs = runs_of(tree, campaign)
    runs[0] = resealed(runs[0], **{member: getattr(theirs, member)})
    tree.add_contribution(contribution_of(runs, EXPORTED, "watch", tree.catalogue), campaign)
    assert rules_of(tree) == {"PQ060"}


def test_a_copy_of_anothers_bundle_is_refused(tree: Tree) -> None:
    tree.add()
    contribution = encode_indented(make_contribution(Campaign(), tree.catalogue))
    tree.write(Campaign(login="mallory"), contribution)
    assert rules_of(tree) == {"PQ060"}


DECLARATIONS: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "another contribution": (lambda one: one.update(contribution_sha256="ab" * 32), "PQ070"),
    "another contributor": (lambda one: one["contributor"].update(login="bob"), "PQ071"),
    "no contributor": (lambda one: one["contributor"].update(login=""), "PQ071"),
    "no consent": (lambda one: one.update(consent=False), "PQ072"),
    "no campaign": (lambda one: one["campaign"].update(runs_per_scenario={}), "PQ073"),
    "more declared than run": (
        lambda one: one["campaign"]["runs_per_scenario"].update({"watch.docker-unhealthy": 30}),
        "PQ073",
    ),
    "another track": (lambda one: one["campaign"].update(track="remediation"), "PQ073"),
    "attempt nought": (lambda one: one["campaign"].update(attempt=0), "PQ073"),
    "corrects nothing": (lambda one: one.update(supersedes="0" * 16), "PQ061"),
    "corrects a path": (lambda one: one.update(supersedes="../../policy"), "PQ061"),
}


@pytest.mark.parametrize(("change", "rule"), DECLARATIONS.values(), ids=DECLARATIONS.keys())
def test_a_submission_that_does_not_fit_is_refused(
    change: Callable[[dict[str, Any]], object], rule: str, tree: Tree
) -> None:
    spoil_submission(tree, change)
    assert rules_of(tree) == {rule}


def test_a_failing_campaign_is_evidence_like_any_other(tree: Tree) -> None:
    tree.add(passes=never)
    assert rules_of(tree) == set()


def test_fewer_runs_than_declared_are_accepted_when_the_aborted_attempt_is_told(tree: Tree) -> None:
    def change(document: dict[str, Any]) -> None:
        document["campaign"]["runs_per_scenario"]["watch.docker-unhealthy"] = 30
        document["campaign"]["aborted"] = [{"at": "2026-12-01T00:00:00Z", "reason": "power cut"}]

    spoil_submission(tree, change)
    assert rules_of(tree) == set()


def test_nothing_is_published_of_a_tree_in_which_one_bundle_is_refused(tree: Tree) -> None:
    from campaigns import NOW

    from generator.check import check_tree

    tree.add(login="good")
    spoil_json(tree, lambda document: document.update(evidence_class="x"), seed="bad")
    assert check_tree(tree.root, NOW).registry is None


def test_a_bundle_is_verified_by_verification_alone(tree: Tree) -> None:
    from campaigns import NOW

    from generator.check import check_tree
    from generator.verified import VerifiedBundle

    tree.add()
    registry = check_tree(tree.root, NOW).registry
    assert registry is not None
    real = registry.bundles[0]
    forged: dict[str, Any] = {name: getattr(real, name) for name in VerifiedBundle.__slots__}
    with pytest.raises(TypeError, match="only verification"):
        VerifiedBundle(**{**forged, "sealed_by": object()})


def test_the_bundle_of_a_contribution_is_what_was_read(tree: Tree) -> None:
    from campaigns import NOW

    from generator.check import check_tree

    tree.add()
    registry = check_tree(tree.root, NOW).registry
    assert registry is not None
    assert isinstance(registry.bundles[0].contribution, ContributionBundle)
