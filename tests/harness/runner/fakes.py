"""A lab and a server that do what a test tells them, and remember what they were asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from contract.manifest import FaultSpec, Manifest, Predicate
from contract.record import RawJson, zero
from contract.report import Finding, InvestigationSession, PatrolRun
from contract.timestamps import Timestamp
from contract.truth import CleanupResult, DockerInventory, PredicateObservation, PreparedLab
from harness.client.errors import DeadlineError
from harness.client.pulse import ActionView
from harness.client.records import (
    Autonomy,
    DockerProjection,
    PatrolStatus,
    Readiness,
    Resource,
    Settings,
    Version,
)

RUN_ID = "q-20260714-150405-deadbeef"
START_NS = Timestamp("2026-07-14T15:04:05Z").instant_ns
VERSION = Version(version="6.0.0")
SETTINGS = Settings(enabled=True, patrol_enabled=True, model="openai:gpt-4o")
READINESS = Readiness(status="ready", ready=True, provider="openai", model="gpt-4o")
EMPTY = DockerInventory(containers=(), volumes=(), networks=(), images=("image",))
READY = DockerInventory(containers=("c1", "c2"), volumes=("v",), networks=("n",), images=("image",))


class FakeClock:
    """Time that passes only by waiting, and a little with each look."""

    def __init__(self) -> None:
        self.ns = 0
        self.on_sleep: Callable[[], None] = lambda: None

    def now(self) -> Timestamp:
        seconds, rest = divmod(START_NS + self.ns, 10**9)
        minute, second = divmod(seconds - START_NS // 10**9, 60)
        return Timestamp(f"2026-07-14T15:{4 + minute:02}:{5 + second if second < 55 else 59:02}.{rest:09}Z")

    def monotonic_ns(self) -> int:
        self.ns += 1_000_000
        return self.ns

    def sleep(self, seconds: float) -> None:
        self.on_sleep()
        self.ns += int(seconds * 1e9)


@dataclass(frozen=True)
class FakeChange:
    alias: str
    member: str
    before: str
    after: str


@dataclass
class FakeLab:
    """Holds every predicate unless told otherwise; `trouble` maps a method to what it raises."""

    manifest: Manifest
    clock: FakeClock
    label: str = "context:lab"
    prepared: PreparedLab | None = None
    trouble: dict[str, Exception] = field(default_factory=dict)
    unmet: Callable[[Predicate, str], bool] = lambda predicate, moment: False
    moment: str = "baseline"
    now_there: DockerInventory = READY
    residue: bool = False
    changed: tuple[FakeChange, ...] = ()
    calls: list[str] = field(default_factory=list)

    def versions(self) -> dict[str, str]:
        return {"docker_engine": "20.10.24", "lab_image": "image"}

    def prepare(self) -> PreparedLab:
        self._call("pre_inventory")
        names = {one.alias: f"pulse-qual-{RUN_ID}-{one.alias}" for one in self.manifest.resources or ()}
        self.prepared = PreparedLab(
            run_id=RUN_ID,
            scenario_id=self.manifest.id,
            network_name="net",
            resource_names=names,
            resource_ids={alias: f"id-{alias}" for alias in names},
            pre_inventory=EMPTY,
            baseline_states={},
            expected_inventory=READY,
        )
        self._call("prepare")
        return self.prepared

    def inject(self, fault: FaultSpec) -> None:
        self.moment = "fault"
        self._call("inject", fault.id)

    def revert(self, fault: FaultSpec) -> None:
        self.moment = "revert"
        self._call("revert", fault.id)

    def observe(self, predicates: Sequence[Predicate]) -> tuple[PredicateObservation, ...]:
        self._call("observe", self.moment)
        seen: list[PredicateObservation] = []
        for predicate in predicates:
            held = not self.unmet(predicate, self.moment)
            seen.append(
                PredicateObservation(
                    predicate=predicate,
                    observed=predicate.value if held else RawJson('"other"'),
                    passed=held,
                    checked_at=self.clock.now(),
                )
            )
            if not held:
                break
        return tuple(seen)

    def inventory(self) -> DockerInventory:
        self._call("inventory")
        return self.now_there

    def changes(self) -> tuple[FakeChange, ...]:
        self._call("changes")
        return self.changed

    def cleanup(self) -> CleanupResult:
        self._call("cleanup")
        return zero(CleanupResult).model_copy(
            update={
                "post_inventory": READY if self.residue else EMPTY,
                "second_cleanup_noop": True,
                "inventory_unchanged": not self.residue,
                "passed": not self.residue,
                "errors": ("inventory differs",) if self.residue else (),
            }
        )

    def _call(self, method: str, detail: str = "") -> None:
        self.calls.append(f"{method} {detail}".strip())
        if method in self.trouble:
            raise self.trouble[method]


@dataclass
class FakePulse:
    """A server in perfect order, whose answers a test may replace."""

    manifest: Manifest
    clock: FakeClock
    base_url: str = "http://127.0.0.1:7655"
    trouble: dict[str, Exception] = field(default_factory=dict)
    the_version: Version = VERSION
    the_settings: Settings = SETTINGS
    the_readiness: Readiness = READINESS
    level: str = ""
    projections: dict[str, DockerProjection] = field(default_factory=dict)
    the_runs: list[PatrolRun] = field(default_factory=list)
    findings_lists: list[tuple[Finding, ...]] = field(default_factory=list)
    sessions: dict[str, InvestigationSession] = field(default_factory=dict)
    the_actions: list[ActionView] = field(default_factory=list)
    posts: list[tuple[str, ...]] = field(default_factory=list)
    scopes: list[tuple[str, ...]] = field(default_factory=list)

    def version(self) -> Version:
        self._may("version")
        return self.the_version

    def settings(self) -> Settings:
        self._may("settings")
        return self.the_settings

    def status(self) -> PatrolStatus:
        self._may("status")
        return PatrolStatus(enabled=True, readiness=self.the_readiness)

    def autonomy(self) -> Autonomy:
        return Autonomy(effective_autonomy_level=self.level or self.manifest.patrol.mode)

    def findings(self) -> tuple[Finding, ...]:
        self._may("findings")
        return self.findings_lists.pop(0) if len(self.findings_lists) > 1 else self.findings_lists[0]

    def wait_for_resources(
        self,
        names: Mapping[str, str],
        timeout_ns: int,
        poll_ns: int,
        validate: Callable[[Mapping[str, Resource]], str],
    ) -> dict[str, Resource]:
        self._may("wait_for_resources")
        found = {
            alias: Resource(
                id=f"res-{alias}",
                type="app-container",
                name=name,
                status="running",
                docker=self.projections.get(alias, self._truth(alias)),
            )
            for alias, name in names.items()
        }
        objection = validate(found)
        if objection:
            raise DeadlineError(objection)
        return found

    def trigger_and_wait(self, resource_ids: Sequence[str], timeout_ns: int) -> PatrolRun:
        self._may("trigger_and_wait")
        self.scopes.append(tuple(resource_ids))
        return self.the_runs.pop(0)

    def wait_for_investigation(self, finding_id: str, timeout_ns: int) -> InvestigationSession:
        self._may("wait_for_investigation")
        return self.sessions[finding_id]

    def actions(self, view: Literal["pending", "settled"]) -> tuple[RawJson, ...]:
        self._may(f"actions {view}")
        return (RawJson(f'{{"view":"{view}"}}'),)

    def action(self, action_id: str) -> ActionView:
        return self.the_actions[0]

    def decide(
        self, action_id: str, outcome: Literal["approved", "rejected"], reason: str, plan_hash: str
    ) -> None:
        self.posts.append(("decide", action_id, outcome, reason, plan_hash))

    def execute(self, action_id: str, reason: str, plan_hash: str) -> None:
        self.posts.append(("execute", action_id, reason, plan_hash))

    def wait_for_action(self, action_id: str, timeout_ns: int) -> ActionView:
        return self.the_actions[-1]

    def _truth(self, alias: str) -> DockerProjection:
        """What an honest collector shows while the manifest's faults are active."""
        values = {"docker.health": "healthy", "docker.running": True, "docker.restart_count": 0}
        for fault in self.manifest.faults or ():
            for predicate in fault.oracle or ():
                if predicate.target == alias:
                    values[predicate.probe] = predicate.value.value
        return DockerProjection(
            containerState="running" if values["docker.running"] else "exited",
            health=str(values["docker.health"]),
            restartCount=4 if values["docker.restart_count"] else 0,
        )

    def _may(self, method: str) -> None:
        if method in self.trouble:
            raise self.trouble[method]
