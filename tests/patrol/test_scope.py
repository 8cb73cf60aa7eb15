"""A scope is resolved exactly, or refused."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from patrol.collect.projection import Identity
from patrol.collect.scope import everything, resolve

API = Identity(
    "app-container:1", frozenset({"app-container:1", "f" * 64, "docker:m/" + "f" * 64}), frozenset({"api"})
)
WEB = Identity("app-container:2", frozenset({"app-container:2", "e" * 64}), frozenset({"web", "twin"}))
DB = Identity("app-container:3", frozenset({"app-container:3"}), frozenset({"twin", "app-container:1"}))
ALL = (API, WEB, DB)


def test_canonical_and_source_id_give_the_same_effective_scope() -> None:
    spellings = ("app-container:1", "F" * 64, f"  docker:m/{'f' * 64} ", "API")
    assert {resolve([one], ALL).effective for one in spellings} == {tuple(sorted(API.ids))}


def test_an_id_wins_over_an_alias_of_another() -> None:
    assert resolve(["app-container:1"], ALL).resolved == ("app-container:1",)


def test_an_alias_of_two_is_ambiguous() -> None:
    scope = resolve(["twin", "api"], ALL)
    assert (scope.ambiguous, scope.resolved, scope.usable) == (("twin",), ("app-container:1",), False)


def test_prefixes_and_near_misses_match_nothing() -> None:
    asked = ["f" * 63, "app-container:", "ap", "api2", ""]
    scope = resolve(asked, ALL)
    assert (set(scope.unmatched), scope.effective, scope.usable) == (set(asked), (), False)


def test_the_request_is_kept_as_it_was_and_the_rest_is_sorted() -> None:
    scope = resolve(["web", "api"], ALL)
    assert scope.requested == ("web", "api")
    assert scope.resolved == ("app-container:1", "app-container:2")


def test_a_full_run_covers_everything() -> None:
    assert everything(ALL).resolved == ("app-container:1", "app-container:2", "app-container:3")


@given(st.lists(st.text(max_size=8)))
def test_nothing_outside_of_the_known_ids_is_ever_effective(asked: list[str]) -> None:
    scope = resolve(asked, ALL)
    assert set(scope.effective) <= {spelling for one in ALL for spelling in one.ids}
    assert len(scope.unmatched) + len(scope.ambiguous) <= len(asked)
