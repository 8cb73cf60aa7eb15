"""Pools, gates, boards and claims over invented campaigns."""

from __future__ import annotations

from dataclasses import replace

import pytest
from campaigns import NOW, Campaign, Tree, full, never

from contract.timestamps import Timestamp
from generator import claims
from generator.board import Board
from generator.check import check_tree
from generator.classes import QualificationClass
from generator.cohort import Cohort, Track
from generator.gates import Gate, scenario_standings, validated_gates
from generator.identity import Directory, slug
from generator.independence import unrelated_groups
from generator.pages.front import missing
from generator.pages.models import distance
from generator.view import SiteView

PULSE = Campaign(pulse_version="6.2.0")


def view_of(tree: Tree, as_of_ns: int = NOW) -> SiteView:
    verdict = check_tree(tree.root, NOW)
    assert verdict.registry is not None, verdict.findings
    return SiteView(verdict.registry, as_of_ns)


def every_watch(tree: Tree) -> tuple[str, ...]:
    return tuple(manifest.id for manifest in tree.catalogue.track("watch"))


def the_board(view: SiteView, *, reference: bool = False) -> Board:
    (board,) = view.tables(Track.WATCH, QualificationClass.TESTED, reference=reference)
    return board


def gates_of(view: SiteView) -> dict[str, Gate]:
    (pool,) = view.pools
    return {gate.id: gate for gate in validated_gates(pool, view.manifests(pool), view.registry.policy)}


def test_runs_of_one_model_by_several_people_are_pooled(tree: Tree) -> None:
    tree.add(PULSE, login="ada-l")
    tree.add(PULSE, login="bob", seed="b")
    (pool,) = view_of(tree).pools
    assert len(pool.runs) == 12
    assert len(pool.people) == 2


def test_what_differs_in_cohort_route_or_overrides_is_never_pooled(tree: Tree) -> None:
    tree.add(PULSE)
    tree.add(PULSE, pulse_version="6.3.0", seed="version")
    tree.add(PULSE, route="metered_api", seed="route")
    tree.add(PULSE, overrides={"temperature": "1"}, seed="override")
    tree.add(seed="runtime")
    assert len(view_of(tree).pools) == 5


def test_failing_runs_count(tree: Tree) -> None:
    tree.add(PULSE)
    tree.add(PULSE, passes=never, seed="bad")
    (pool,) = view_of(tree).pools
    assert (pool.total.passed, pool.total.runs) == (6, 12)


def test_controls_are_on_no_board(typical_tree: Tree) -> None:
    view = view_of(typical_tree)
    assert [pool.model.name for pool in view.pools] == ["SmolLM2 135M Instruct Q4_1"]
    assert len(view.control_pools) == 2


def test_the_reference_runtime_stands_apart_from_pulse(tree: Tree) -> None:
    full(tree)
    view = view_of(tree)
    assert not any(row.pool.cohort.is_reference for row in the_board(view).rows)
    assert all(row.pool.cohort.is_reference for row in the_board(view, reference=True).rows)


def test_rank_follows_the_lower_bound_and_ties_share_it(tree: Tree) -> None:
    full(tree)
    rows = the_board(view_of(tree)).rows
    bounds = [row.total.pass_rate.lower for row in rows if row.complete]
    assert bounds == sorted(bounds, reverse=True)
    assert [(row.rank, row.tied) for row in rows] == [(1, True), (1, True), (3, False), (0, False)]


def test_more_runs_beat_a_few_lucky_ones(tree: Tree) -> None:
    every = every_watch(tree)
    tree.add(PULSE, scenarios=every, model="openai:lucky", repeats=1)
    tree.add(
        PULSE,
        scenarios=every,
        model="openai:steady",
        repeats=20,
        passes=lambda _, index: index != 7,
        seed="s",
    )
    rows = the_board(view_of(tree)).rows
    assert [row.pool.model.name for row in rows] == ["openai:steady", "openai:lucky"]
    assert rows[0].total.pass_rate.estimate < rows[1].total.pass_rate.estimate


def test_a_model_that_ran_only_some_scenarios_is_not_ranked(tree: Tree) -> None:
    tree.add(PULSE)
    (row,) = the_board(view_of(tree)).rows
    assert (row.covered, row.scenarios, row.rank) == (2, 7, 0)


def test_within_a_tie_the_faster_comes_first_and_unknown_cost_last(tree: Tree) -> None:
    every = every_watch(tree)
    tree.add(PULSE, scenarios=every, model="zeta:a", route="metered_api", seed="1")
    tree.add(PULSE, scenarios=every, model="alpha:b", route="local_model_server", seed="2")
    rows = the_board(view_of(tree)).rows
    assert [row.pool.model.name for row in rows] == ["zeta:a", "alpha:b"]


@pytest.mark.parametrize("route", ["local_model_server", "local_subscription_agent", "coding_plan_allowance"])
def test_cost_is_not_reported_where_no_call_is_metered(route: str, tree: Tree) -> None:
    tree.add(PULSE, route=route)
    (pool,) = view_of(tree).pools
    assert pool.total.p95_cost_usd is None


def test_a_row_is_out_of_date_after_its_days(tree: Tree) -> None:
    tree.add(PULSE)
    fresh = Timestamp("2027-11-30T00:00:00Z").instant_ns
    stale = Timestamp("2027-12-03T00:00:00Z").instant_ns
    assert not the_board(view_of(tree, fresh)).rows[0].expired
    assert the_board(view_of(tree, stale)).rows[0].expired


def test_every_gate_names_what_is_missing(tree: Tree) -> None:
    tree.add(PULSE)
    gates = gates_of(view_of(tree))
    for gate in gates.values():
        assert gate.held is (gate.missing == "")
    assert gates["enough-runs"].seen == "0 of 7 scenarios"
    assert gates["contributors"].missing == "at least 2 more unrelated contributors"
    assert gates["environments"].missing == "at least 1 more environment class"
    assert not gates["pinned-campaign"].held


def test_enough_clean_runs_hold_the_gates_of_runs(tree: Tree) -> None:
    tree.add(PULSE, scenarios=every_watch(tree), repeats=30)
    view = view_of(tree)
    gates = gates_of(view)
    for name in ("enough-runs", "pass-rate", "fault-recall", "false-positives", "hard-failures"):
        assert gates[name].held, name
    (pool,) = view.pools
    standings = scenario_standings(pool, view.manifests(pool), view.registry.policy.community_validated)
    assert all(one.more_runs == 0 for one in standings)


def test_a_false_positive_puts_the_class_out_of_reach(tree: Tree) -> None:
    tree.add(PULSE, scenarios=every_watch(tree), repeats=30, passes=lambda manifest, _: bool(manifest.faults))
    gates = gates_of(view_of(tree))
    assert not gates["false-positives"].held
    assert "out of reach" in gates["false-positives"].missing


def test_the_reference_runtime_can_never_hold_the_gate_of_the_pinned_campaign(tree: Tree) -> None:
    tree.add(scenarios=every_watch(tree), repeats=30)
    view = view_of(tree)
    gate = gates_of(view)["pinned-campaign"]
    assert not gate.held
    assert "not Pulse" in gate.seen
    (pool,) = view.pools
    gates = validated_gates(pool, view.manifests(pool), view.registry.policy)
    assert distance(gates, ()).startswith("These runs cannot get there")


def test_an_empty_track_holds_no_gate(tree: Tree) -> None:
    tree.add(PULSE)
    view = view_of(tree)
    with pytest.raises(ValueError, match="qualifies nobody"):
        validated_gates(view.pools[0], (), view.registry.policy)


def test_people_of_one_affiliation_count_as_one() -> None:
    people = [("a", "X Ltd"), ("b", ""), ("c", "x LTD"), ("a", ""), ("d", "Y")]
    assert unrelated_groups(people) == (frozenset("ac"), frozenset("b"), frozenset("d"))


def test_relation_passes_through_a_third_person() -> None:
    assert unrelated_groups([("a", "X"), ("b", "Y"), ("a", "Y")]) == (frozenset("ab"),)


def test_nothing_is_recommended_without_a_class(tree: Tree) -> None:
    full(tree)
    view = view_of(tree)
    answers = [claims.answer(track, view.rows[track]) for track in Track]
    assert {answer.standing for answer in answers} == {claims.Standing.TESTED}
    assert claims.headline(answers).startswith("None yet")


def test_an_empty_registry_says_so(tree: Tree) -> None:
    view = view_of(tree)
    answers = [claims.answer(track, view.rows[track]) for track in Track]
    assert claims.headline(answers).startswith("None yet")
    assert "Nothing has been measured" in claims.explanation(answers)
    assert len(missing(view, answers, [])) == 7


@pytest.mark.parametrize(
    ("qualification", "standing"),
    [
        (QualificationClass.VALIDATED, claims.Standing.CANDIDATES),
        (QualificationClass.CERTIFIED, claims.Standing.CERTIFIED),
    ],
)
def test_a_class_is_named_only_while_it_is_current_and_as_pinned(
    qualification: QualificationClass, standing: claims.Standing, tree: Tree
) -> None:
    tree.add(PULSE)
    (row,) = view_of(tree).rows[Track.WATCH]
    classed = replace(row, qualification=qualification)
    assert claims.answer(Track.WATCH, [classed]).standing is standing
    assert claims.answer(Track.WATCH, [classed]).named == (classed,)
    assert claims.answer(Track.WATCH, [replace(classed, expired=True)]).named == ()


def test_a_cohort_is_named_by_what_makes_it() -> None:
    one = Cohort("watch", "a" * 64, "6.2.0", "b" * 40)
    assert one.id != replace(one, pulse_version="6.2.1").id
    assert one.title == "Pulse 6.2.0, harness bbbbbbb"
    assert replace(one, pulse_version="reference-patrol/0.1.0").title.startswith("Reference runtime 0.1.0")


def test_an_alias_renames_without_touching_evidence(tree: Tree) -> None:
    directory = Directory(view_of(tree).registry.models)
    known = directory.identify("openai:smollm2-135m-instruct-q4_1")
    assert (known.id, known.name) == ("smollm2-135m-instruct-q4-1", "SmolLM2 135M Instruct Q4_1")
    assert directory.identify("other:model").entry is None


def test_no_two_names_share_a_page() -> None:
    names = ["a:b", "a-b", "A:b", "a.b", "a:b:", "ab"]
    assert len({slug(name) for name in names}) == len(names)


def test_older_catalogues_stay_checkable(tree: Tree) -> None:
    import json
    import shutil

    tree.add(PULSE)
    kept = tree.root / "evidence" / "catalogues" / "first"
    shutil.copytree(tree.root / "scenarios", kept)
    path = tree.root / "evidence" / "policy.json"
    policy = json.loads(path.read_text())
    policy["catalogues"] = [{"digest": tree.catalogue.digest, "folder": "first", "released": "2026-12-01"}]
    path.write_text(json.dumps(policy))
    changed = tree.root / "scenarios" / "watch.docker-unhealthy.json"
    changed.write_text(changed.read_text().replace('"version": 1', '"version": 2', 1))
    view = view_of(tree)
    (pool,) = view.pools
    assert {manifest.version for manifest in view.manifests(pool)} == {1}
    (kept / "watch.docker-unhealthy.json").write_text(changed.read_text())
    assert {one.rule_id for one in check_tree(tree.root, NOW).findings} == {"PQ092"}
