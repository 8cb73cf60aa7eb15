"""Governed actions: bound to one plan, decided by a person or a lease, run once, verified apart."""

from __future__ import annotations

import sqlite3
import threading
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from patrol.actions.broker import SERVICE
from patrol.actions.checks import EMERGENCY_STOP, LOCKS
from patrol.actions.planning import RESTART, START, STOP, Capability, capabilities, make_plan, plan_hash
from patrol.actions.policy import POLICY_ACTOR, holds, lease, may_authorize
from patrol.actions.records import ActionRequest, Actor, Audit, Origin
from patrol.actions.verification import verify
from patrol.clock import rfc3339
from patrol.config import ProviderSettings, TurnLimits
from patrol.errors import ApiError, EngineError
from patrol.runtime import RuntimePlan, build_runtime
from patrol.settings import Autonomy
from patrol.store import Store
from tests.patrol.fakes import START_NS, Bench, FakeClock, FakeEngine, FakeModel, calls, no_help

ADMIN = Actor(subject_id="admin", kind="user")
TOKEN = Actor(subject_id="token", kind="api_token")


@pytest.fixture
def broken(bench: Bench) -> Bench:
    """`api` is unhealthy and has a finding."""
    bench.engine.add("api", health="unhealthy")
    bench.run(FakeModel(calls(bench.report("api"))), "api")
    return bench


def submit(bench: Bench, request_id: str = "req-1", chosen: Capability = RESTART, **changed: Any) -> Audit:
    resource = bench.collector.collect().resources[bench.resource_id("api")]
    request = ActionRequest(
        request_id=request_id,
        resource_id=resource.id,
        capability_name=chosen.name,
        reason=changed.get("reason", "it is unhealthy"),
        requested_by="patrol",
        actor=SERVICE,
    )
    origin = Origin(
        surface="patrol",
        finding_id=bench.store.active_findings()[0].id,
        investigation_id="inv-1",
        proposal_id="prop-1",
        evidence_ids=("e-1",),
    )
    return bench.runtime.broker.submit(request, origin, resource, chosen)


def approve(bench: Bench, audit: Audit, sent: str | None = None, actor: Actor = ADMIN) -> Audit:
    return bench.runtime.broker.decide(audit.id, True, "go", sent, actor)


def reject(bench: Bench, audit: Audit) -> Audit:
    return bench.runtime.broker.decide(audit.id, False, "no", audit.plan.plan_hash, ADMIN)


def execute(bench: Bench, audit: Audit, sent: str | None = None, actor: Actor = ADMIN) -> Audit:
    return bench.runtime.broker.execute(audit.id, sent, actor)


def kinds(bench: Bench, audit: Audit) -> list[str]:
    return [one.kind for one in bench.runtime.broker.actions.events(audit.id)]


def test_an_approved_restart_runs_once_and_is_verified(broken: Bench) -> None:
    audit = submit(broken)
    assert (audit.state, broken.engine.operated) == ("pending_approval", [])
    approve(broken, audit, audit.plan.plan_hash)
    assert broken.engine.operated == []
    ended = execute(broken, audit, audit.plan.plan_hash)
    assert (ended.state, ended.verification_outcome.status) == ("completed", "verified")
    assert broken.engine.operated == [(broken.engine.inspected["api"]["Id"], "restart")]
    assert kinds(broken, audit) == ["planned", "decision", "dispatch", "verification"]
    assert ended.attempt is not None
    assert ended.attempt.before.health == "unhealthy"
    assert broken.store.active_findings() == []
    resolved = broken.store.resolved_findings(1)[0]
    assert (resolved.investigation_outcome, audit.id in str(resolved.resolve_reason)) == (
        "fix_verified",
        True,
    )


def test_a_rejected_action_changes_nothing_and_is_final(broken: Bench) -> None:
    audit = submit(broken)
    assert reject(broken, audit).state == "rejected"
    with pytest.raises(ApiError):
        approve(broken, audit)
    with pytest.raises(ApiError):
        execute(broken, audit)
    assert broken.engine.operated == []
    assert broken.store.active_findings()[0].investigation_outcome == "fix_rejected"


def test_a_restart_that_does_not_help_is_never_called_verified(broken: Bench) -> None:
    broken.engine.effect = no_help
    audit = submit(broken)
    approve(broken, audit)
    ended = execute(broken, audit)
    assert (ended.state, ended.verification_outcome.status) == ("completed", "failed")
    assert "still failing" in str(ended.verification_outcome.evidence_summary)
    active = broken.store.active_findings()
    assert [one.investigation_outcome for one in active] == ["fix_verification_failed"]


def starting(engine: FakeEngine, container_id: str, operation: str) -> None:
    no_help(engine, container_id, operation)
    engine.inspected["api"]["State"]["Health"]["Status"] = "starting"


def vanish(engine: FakeEngine, container_id: str, operation: str) -> None:
    engine.inspected.clear()


def unchanged(engine: FakeEngine, container_id: str, operation: str) -> None:
    """The command says yes and does nothing."""


def refuse(engine: FakeEngine, container_id: str, operation: str) -> None:
    raise EngineError("no such operation today")


@pytest.mark.parametrize(
    ("effect", "state", "status"),
    [
        (starting, "completed", "unverified"),
        (vanish, "completed", "unverified"),
        (unchanged, "completed", "failed"),
        (refuse, "failed", "unknown"),
    ],
)
def test_command_success_is_not_verification(broken: Bench, effect: Any, state: str, status: str) -> None:
    broken.engine.effect = effect
    audit = submit(broken)
    approve(broken, audit)
    ended = execute(broken, audit)
    assert (ended.state, ended.verification_outcome.status) == (state, status)
    assert len(broken.engine.operated) == 1
    assert [one.resolved_at for one in broken.store.active_findings()] == [None]


def test_an_engine_that_cannot_be_read_afterwards_is_inconclusive(broken: Bench) -> None:
    def fall_silent(engine: FakeEngine, container_id: str, operation: str) -> None:
        engine.broken = True

    broken.engine.effect = fall_silent
    audit = submit(broken)
    approve(broken, audit)
    assert execute(broken, audit).verification_outcome.status == "unverified"


def code_of(attempt: Any) -> tuple[int, str]:
    with pytest.raises(ApiError) as refused:
        attempt()
    assert refused.value.agent_style
    return refused.value.status, refused.value.code


def test_another_hash_is_refused_at_both_doors(broken: Bench) -> None:
    audit = submit(broken)
    other = "sha256:" + "0" * 64
    assert code_of(lambda: approve(broken, audit, other)) == (409, "action_plan_identity_mismatch")
    approve(broken, audit)
    assert code_of(lambda: execute(broken, audit, other)) == (409, "action_plan_identity_mismatch")
    assert broken.engine.operated == []


def test_a_machine_neither_decides_nor_executes(broken: Bench) -> None:
    audit = submit(broken)
    assert code_of(lambda: approve(broken, audit, actor=TOKEN)) == (403, "action_approval_forbidden")
    assert code_of(lambda: approve(broken, audit, actor=POLICY_ACTOR)) == (403, "action_approval_forbidden")
    approve(broken, audit)
    for actor in (TOKEN, SERVICE):
        assert code_of(lambda actor=actor: execute(broken, audit, actor=actor)) == (
            403,
            "action_execution_forbidden",
        )


def test_order_and_finality_of_states(broken: Bench) -> None:
    audit = submit(broken)
    assert code_of(lambda: execute(broken, audit)) == (409, "action_not_approved")
    approve(broken, audit)
    assert code_of(lambda: approve(broken, audit)) == (409, "action_not_pending")
    assert code_of(lambda: reject(broken, audit)) == (409, "action_decision_conflict")
    execute(broken, audit)
    assert code_of(lambda: execute(broken, audit)) == (409, "action_execution_final")
    assert code_of(lambda: approve(broken, audit)) == (409, "action_not_pending")
    assert len(broken.engine.operated) == 1


def test_an_unknown_action_is_404(broken: Bench) -> None:
    assert code_of(lambda: broken.runtime.broker.view("act_0")) == (404, "action_not_found")


def test_a_plan_lives_five_minutes(broken: Bench) -> None:
    audit, approved = submit(broken, "a"), submit(broken, "b", reason="again")
    approve(broken, approved)
    broken.clock.advance(299)
    assert broken.runtime.broker.view(audit.id).state == "pending_approval"
    broken.clock.advance(2)
    assert code_of(lambda: approve(broken, audit)) == (409, "action_plan_expired")
    assert code_of(lambda: execute(broken, approved)) == (409, "action_plan_expired")
    assert [one.state for one in broken.runtime.broker.listed(("expired",), 9)] == ["expired", "expired"]
    assert kinds(broken, audit)[-1] == "expired"
    assert broken.engine.operated == []


def drift(bench: Bench) -> dict[str, Any]:
    return bench.engine.inspected["api"]


@pytest.mark.parametrize(
    "change",
    [
        {"state": "exited"},
        {"started": "2026-12-01T00:00:00Z"},
        {"test": ["CMD-SHELL", "wget http://other/"]},
    ],
)
def test_what_is_no_longer_what_the_plan_relied_on_is_refused(broken: Bench, change: dict[str, Any]) -> None:
    audit = submit(broken)
    early = submit(broken, "b", reason="again")
    approve(broken, early)
    broken.engine.add("api", **{"health": "unhealthy", **change})
    assert code_of(lambda: approve(broken, audit)) == (409, "action_replan_required")
    assert code_of(lambda: execute(broken, early)) == (409, "action_plan_drift")
    assert broken.engine.operated == []


def test_flapping_health_is_no_drift(broken: Bench) -> None:
    audit = submit(broken)
    broken.engine.add("api", health="starting", restarts=1)
    approve(broken, audit)
    assert execute(broken, audit).state == "completed"


def test_a_container_of_the_same_name_is_another(broken: Bench) -> None:
    audit = submit(broken)
    approve(broken, audit)
    drift(broken)["Id"] = "f" * 64
    broken.collector.collect()
    assert code_of(lambda: execute(broken, audit)) == (409, "action_plan_drift")


def test_stops_and_locks_hold_at_both_doors(broken: Bench) -> None:
    audit, approved = submit(broken, "a"), submit(broken, "b", reason="again")
    approve(broken, approved)
    for name, value, code in (
        (EMERGENCY_STOP, True, "action_execution_unavailable"),
        (LOCKS, [broken.resource_id("api")], "resource_remediation_locked"),
    ):
        broken.store.put_setting(name, value)
        assert code_of(lambda: approve(broken, audit)) == (409, code)
        assert code_of(lambda: execute(broken, approved)) == (409, code)
        broken.store.put_setting(name, None)
    assert execute(broken, approved).state == "completed"


def test_a_closed_channel_and_a_silent_engine_execute_nothing(broken: Bench) -> None:
    audit = submit(broken)
    approve(broken, audit)
    broken.engine.broken = True
    assert code_of(lambda: execute(broken, audit)) == (409, "action_execution_unavailable")
    broken.engine.broken = False
    object.__setattr__(broken.runtime.broker.guard, "commands", False)
    assert code_of(lambda: execute(broken, audit)) == (409, "action_execution_unavailable")
    assert broken.engine.operated == []


def test_a_stored_plan_that_was_tampered_with_is_refused(broken: Bench) -> None:
    audit = submit(broken)
    forged = audit.model_copy(update={"plan": audit.plan.model_copy(update={"policy_decision": "anything"})})
    event = broken.runtime.broker.actions.events(audit.id)[0]
    assert broken.runtime.broker.actions.transition(audit, forged, event) is not None
    assert code_of(lambda: approve(broken, audit)) == (409, "action_plan_drift")


def test_the_same_request_gives_the_same_action(broken: Bench) -> None:
    first = submit(broken)
    broken.clock.advance(10)
    assert submit(broken) == first
    assert len(broken.runtime.broker.listed(("pending_approval",), 9)) == 1


def test_two_simultaneous_executions_dispatch_once(broken: Bench) -> None:
    audit = submit(broken)
    approve(broken, audit)
    together, outcomes = threading.Barrier(4), list[str]()

    def attempt() -> None:
        together.wait()
        try:
            outcomes.append(execute(broken, audit).state)
        except ApiError as refused:
            outcomes.append(refused.code)

    threads = [threading.Thread(target=attempt) for _ in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert outcomes.count("completed") == 1
    assert set(outcomes) <= {"completed", "action_already_executing", "action_execution_final"}
    assert len(broken.engine.operated) == 1


def test_the_history_is_append_only(broken: Bench) -> None:
    audit = submit(broken)
    for statement in ("UPDATE action_event SET record = '{}'", "DELETE FROM action_event"):
        with (
            pytest.raises(sqlite3.IntegrityError, match="append-only"),
            broken.store.database.transaction() as db,
        ):
            db.execute(statement)
    assert kinds(broken, audit) == ["planned"]


@pytest.mark.parametrize(
    ("effect", "state", "status"), [(None, "failed", "failed"), ("healed", "completed", "verified")]
)
def test_an_interrupted_execution_is_read_back_and_never_sent_again(
    broken: Bench, effect: str | None, state: str, status: str
) -> None:
    audit = submit(broken)
    approve(broken, audit)

    def die(engine: FakeEngine, container_id: str, operation: str) -> None:
        raise KeyboardInterrupt

    broken.engine.effect = die
    with pytest.raises(KeyboardInterrupt):
        execute(broken, audit)
    assert broken.runtime.broker.view(audit.id).state == "executing"
    if effect:
        broken.engine.add("api", health="healthy", started="2026-12-24T12:00:00Z")
    assert broken.runtime.broker.recover() == 1
    ended = broken.runtime.broker.view(audit.id)
    assert (ended.state, ended.verification_outcome.status) == (state, status)
    assert len(broken.engine.operated) == 1
    assert broken.runtime.broker.recover() == 0


# Plans and policies ---------------------------------------------------------------------------------------


def test_the_hash_changes_with_each_hashed_field_and_not_with_times(broken: Bench) -> None:
    audit = submit(broken)
    resource = broken.collector.collect().resources[broken.resource_id("api")]
    later = make_plan(audit.request, resource, RESTART, now_ns=broken.clock.now_ns() + 10**12)
    assert later.planned_at != audit.plan.planned_at
    assert (later.plan_hash, later.action_id) == (audit.plan.plan_hash, audit.plan.action_id)
    assert plan_hash(audit.plan, audit.request) == audit.plan.plan_hash
    free = {"request_id", "planned_at", "expires_at", "plan_hash", "preflight"}
    for name, value in dict(audit.plan).items():
        if name not in free:
            other = (not value) if isinstance(value, bool) else f"{value}x"
            changed = audit.plan.model_copy(update={name: other})
            assert plan_hash(changed, audit.request) != audit.plan.plan_hash, name
    for name in ("request_id", "resource_id", "capability_name", "reason", "requested_by"):
        asked = audit.request.model_copy(update={name: "x"})
        assert plan_hash(audit.plan, asked) != audit.plan.plan_hash, name


def test_capabilities_follow_state_source_and_channel(broken: Bench) -> None:
    resource = broken.collector.collect().resources[broken.resource_id("api")]
    assert capabilities(resource, commands=True) == (STOP, RESTART)
    assert capabilities(resource, commands=False) == ()
    assert capabilities(resource.model_copy(update={"source_status": "stale"}), commands=True) == ()
    assert resource.docker is not None
    for state, offered in (("exited", (START,)), ("created", (START,)), ("paused", ()), ("restarting", ())):
        docker = resource.docker.model_copy(update={"container_state": state})
        assert capabilities(resource.model_copy(update={"docker": docker}), commands=True) == offered


ELEVATED = Capability("resize", "x", "elevated")


@pytest.mark.parametrize(
    ("level", "unlocked", "permitted"),
    [
        ("monitor", False, set()),
        ("monitor", True, set()),
        ("approval", True, set()),
        ("assisted", False, {"restart"}),
        ("assisted", True, {"restart"}),
        ("full", False, {"restart"}),
        ("full", True, {"restart", "resize"}),
    ],
)
def test_auto_authorization_truth_table(level: str, unlocked: bool, permitted: set[str]) -> None:
    mode = Autonomy(level, unlocked)
    assert {one.name for one in (RESTART, STOP, START, ELEVATED) if may_authorize(mode, one)} == permitted


def test_a_lease_is_for_one_plan_one_level_and_one_minute(broken: Bench) -> None:
    audit = submit(broken)
    mode = Autonomy("full", True)
    given = lease(audit, "full", START_NS)
    assert holds(given, audit, mode, START_NS)
    assert not holds(given, audit, mode, START_NS + 60 * 10**9)
    assert not holds(given, audit, Autonomy("approval", True), START_NS)
    assert not holds(
        given.model_copy(update={"expires_at": rfc3339(START_NS + 10**12)}), audit, mode, START_NS
    )
    other = audit.model_copy(update={"plan": audit.plan.model_copy(update={"plan_hash": "sha256:x"})})
    assert not holds(given, other, mode, START_NS)


def test_policy_runs_what_the_mode_permits_without_a_person(broken: Bench) -> None:
    broken.runtime.service.desk.put_autonomy({"autonomy_level": "full", "full_mode_unlocked": True})
    audit = submit(broken)
    ended = broken.runtime.broker.authorize(audit.id, RESTART)
    assert ended is not None
    assert (ended.state, ended.verification_outcome.status) == ("completed", "verified")
    approval = ended.approvals[0]
    assert (approval.actor.kind, approval.policy_lease is not None) == ("policy", True)
    assert kinds(broken, audit) == ["planned", "policy", "dispatch", "verification"]
    assert code_of(lambda: broken.runtime.broker.authorize(audit.id, RESTART))[1] == "action_not_pending"
    assert len(broken.engine.operated) == 1


@pytest.mark.parametrize("level", ["monitor", "approval"])
def test_policy_leaves_the_rest_to_a_person(broken: Bench, level: str) -> None:
    broken.runtime.service.desk.put_autonomy({"autonomy_level": level})
    audit = submit(broken)
    assert broken.runtime.broker.authorize(audit.id, RESTART) is None
    assert broken.runtime.broker.view(audit.id).state == "pending_approval"
    assert broken.engine.operated == []


def test_a_stop_is_verified_by_its_own_postcondition(broken: Bench) -> None:
    audit = submit(broken, chosen=STOP)
    approve(broken, audit)
    assert execute(broken, audit).verification_outcome.status == "verified"
    assert [one.investigation_outcome for one in broken.store.active_findings()] == ["fix_verified"]


def test_an_end_of_the_runtime_leaves_a_verification_open(broken: Bench) -> None:
    audit = submit(broken)
    stop = threading.Event()
    stop.set()
    assert audit.plan.preflight is not None
    outcome, _ = verify(
        broken.collector, audit.request.resource_id, "restart", audit.plan.preflight, broken.clock, stop
    )
    assert outcome.status == "unverified"


# Every path -----------------------------------------------------------------------------------------------


class Lifecycle(RuleBasedStateMachine):
    """Random orders of decisions, executions, expiries and changes of the world, against one rule."""

    bench: Bench

    @initialize()
    def begin(self) -> None:
        self.bench = type(self).fresh()
        self.audit = submit(self.bench)
        self.approved = self.rejected = self.late = self.drifted = False
        self.expected = 0

    @staticmethod
    def fresh() -> Bench:
        raise NotImplementedError

    def attempt(self, act: Any) -> bool:
        try:
            act()
        except ApiError:
            return False
        return True

    @rule(sent=st.sampled_from(["right", "wrong", None]), actor=st.sampled_from([ADMIN, TOKEN]))
    def approves(self, sent: str | None, actor: Actor) -> None:
        hashes = {"right": self.audit.plan.plan_hash, "wrong": "sha256:0", None: None}
        done = self.attempt(lambda: approve(self.bench, self.audit, hashes[sent], actor))
        possible = sent != "wrong" and actor is ADMIN and not (self.approved or self.rejected or self.late)
        assert done == (possible and not self.drifted)
        self.approved |= done

    @rule()
    def rejects(self) -> None:
        done = self.attempt(lambda: reject(self.bench, self.audit))
        assert done == (not (self.approved or self.rejected or self.late))
        self.rejected |= done

    @rule(sent=st.sampled_from(["right", "wrong"]))
    def executes(self, sent: str) -> None:
        named = self.audit.plan.plan_hash if sent == "right" else "sha256:0"
        done = self.attempt(lambda: execute(self.bench, self.audit, named))
        possible = self.approved and sent == "right" and not self.late and not self.drifted
        assert done == (possible and self.expected == 0)
        self.expected += done
        self.drifted |= done

    @rule()
    def time_passes(self) -> None:
        self.bench.clock.advance(301)
        self.late = True

    @rule()
    def restarts(self) -> None:
        assert self.bench.runtime.broker.recover() == 0

    @rule()
    def container_changes(self) -> None:
        self.bench.engine.add("api", health="unhealthy", started=rfc3339(self.bench.clock.now_ns()))
        self.drifted = True

    @invariant()
    def runs_at_most_once_and_only_when_it_may(self) -> None:
        if hasattr(self, "audit"):
            assert len(self.bench.engine.operated) == self.expected <= 1


def test_no_path_runs_twice_late_rejected_or_by_another_hash(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    opened: list[Store] = []

    def fresh() -> Bench:
        folder = tmp_path_factory.mktemp("life")
        engine, clock, store = FakeEngine(), FakeClock(), Store(folder / "s.sqlite3")
        opened.append(store)
        plan = RuntimePlan(
            folder, "control:reference", "approval", 5, ProviderSettings(), TurnLimits(), commands=True
        )
        bench = Bench(engine, clock, store, build_runtime(plan, engine, clock, store))
        engine.add("api", health="unhealthy")
        bench.run(FakeModel(calls(bench.report("api"))), "api")
        return bench

    machine = type("Made", (Lifecycle,), {"fresh": staticmethod(fresh)})
    run_state_machine_as_test(
        machine, settings=settings(max_examples=40, stateful_step_count=12, deadline=None)
    )
    for store in opened:
        store.close()
