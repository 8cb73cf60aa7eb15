"""One scenario with all that surrounds it; the subject does everything right unless a test says otherwise."""

from __future__ import annotations

from typing import Any

from contract.manifest import FaultSpec, Manifest
from contract.pricing import PriceTable
from contract.record import RawJson, zero
from contract.report import ActionReference, Finding, InvestigationSession, PatrolRun, ToolCall
from contract.timestamps import Timestamp
from harness.client.pulse import ActionView
from harness.client.reading import read_record
from harness.client.records import ActionAnswer
from harness.git import Revision
from harness.runner.plan import RunPlan
from harness.runner.run import Runner, RunOutcome
from tests.harness.runner.fakes import RUN_ID, FakeClock, FakeLab, FakePulse


class World:
    """One scenario, a lab, a server, a clock; by default a subject that does everything right."""

    def __init__(self, manifest: Manifest, prices: PriceTable) -> None:
        self.manifest = manifest
        self.clock = FakeClock()
        self.lab = FakeLab(manifest, self.clock)
        self.pulse = FakePulse(manifest, self.clock)
        self.prices = prices
        self.authorize_remediation = True
        good = tuple(self.good_finding(fault) for fault in manifest.faults or ())
        self.pulse.findings_lists = [(), good]
        self.pulse.the_runs = [self.run_record(finding_ids=tuple(finding.id for finding in good))]

    def with_manifest(self, **sections: Any) -> World:
        """The same world with members of the manifest's sections replaced, like patrol={"scoped": True}."""
        changed = {
            name: getattr(self.manifest, name).model_copy(update=members)
            for name, members in sections.items()
        }
        return World(self.manifest.model_copy(update=changed), self.prices)

    def good_finding(self, fault: FaultSpec, **changes: Any) -> Finding:
        expected = fault.expected_finding
        finding = Finding(
            id=f"finding-{fault.id}",
            key="health-check-failed",
            severity=(expected.severities or ("warning",))[0],
            category=(expected.categories or ("reliability",))[0],
            resource_id=f"res-{expected.resource}",
            resource_name=f"pulse-qual-{RUN_ID}-{expected.resource}",
            resource_type="app-container",
            title="The health check fails",
            description="It answers no longer.",
            recommendation=" ".join(expected.allowed_advice) or "inspect the logs",
            evidence=" ".join(expected.required_evidence) or "state unhealthy",
            detected_at=Timestamp("2026-07-14T15:04:30Z"),
            last_seen_at=Timestamp("2026-07-14T15:04:30Z"),
        )
        return finding.model_copy(update=changes)

    def run_record(self, **changes: Any) -> PatrolRun:
        call = ToolCall(
            id="call-1",
            tool_name="pulse_query",
            input="{}",
            output="{}",
            success=True,
            start_time=1,
            end_time=2,
            duration_ms=1,
        )
        record = zero(PatrolRun).model_copy(
            update={
                "id": "1796",
                "started_at": Timestamp("2026-07-14T15:04:20Z"),
                "completed_at": Timestamp("2026-07-14T15:04:31Z"),
                "duration_ms": 11_000,
                "status": "issues_found",
                "finding_ids": (),
                "input_tokens": 100,
                "output_tokens": 20,
                "ai_analysis": "One thing is wrong.",
                "tool_calls": (call,),
                "tool_call_count": 1,
            }
        )
        return record.model_copy(update=changes)

    def session(self, finding_id: str, **changes: Any) -> InvestigationSession:
        spec = self.manifest.investigation
        assert spec is not None
        words = [
            *spec.required_summary_terms,
            *(group[0] for group in spec.required_summary_term_groups if group),
        ]
        name = f"pulse-qual-{RUN_ID}-"
        summary = (
            " ".join(words)
            + "\n## Root Cause\n"
            + " ".join(name + alias for alias in spec.root_cause_resources)
            + "\n## Affected Resources\n"
            + " ".join(name + alias for alias in spec.affected_resources)
        )
        action = None
        if self.manifest.remediation is not None:
            action = ActionReference(
                action_id="act_1",
                resource_id=f"res-{self.manifest.remediation.action_target}",
                capability_name=(self.manifest.remediation.expected_capabilities or ("",))[0],
                state="pending_approval",
                plan=RawJson('{"planHash":"sha256:aa"}'),
            )
        session = zero(InvestigationSession).model_copy(
            update={
                "id": "inv-1",
                "finding_id": finding_id,
                "status": "completed",
                "evidence_call_count": max(spec.min_evidence, 1),
                "tools_used": ("pulse_query",),
                "summary": summary,
                "action": action,
            }
        )
        return session.model_copy(update=changes)

    def action_view(self, state: str = "pending_approval", **changes: Any) -> ActionView:
        spec = self.manifest.remediation
        assert spec is not None
        audit: dict[str, Any] = {
            "id": "act_1",
            "state": state,
            "request": {
                "resourceId": f"res-{spec.action_target}",
                "capabilityName": (spec.expected_capabilities or ("",))[0],
            },
            "plan": {"planHash": "sha256:aa"},
            "origin": {
                "surface": "patrol",
                "findingId": self.pulse.findings_lists[-1][0].id,
                "investigationId": "inv-1",
            },
            "approvals": [],
            "verificationOutcome": {"status": "verified" if state == "completed" else "unknown"},
        }
        raw = RawJson.of({"audit": {**audit, **changes}})
        return ActionView(raw, read_record(ActionAnswer, raw.text, "/api/actions/act_1").audit)

    def investigated(self) -> World:
        """Add the investigation of the one finding, and an action that ends as the scenario wants it."""
        finding = self.pulse.findings_lists[-1][0]
        self.pulse.sessions = {finding.id: self.session(finding.id)}
        spec = self.manifest.remediation
        if spec is not None:
            lease = {"actor": "policy", "policyLease": {"digest": "d"}}
            approvals = [lease] if spec.decision == "await_autonomous" else []
            after = "rejected" if spec.decision == "reject" else "completed"
            self.pulse.the_actions = [
                self.action_view(approvals=approvals),
                self.action_view(after, approvals=approvals),
            ]
        return self

    def plan(self, **changes: Any) -> RunPlan:
        given: dict[str, Any] = {
            "manifest": self.manifest,
            "run_id": RUN_ID,
            "revision": Revision("a" * 40, False),
            "authorize_remediation": self.authorize_remediation,
            **changes,
        }
        return RunPlan(**given)

    def run(self, **changes: Any) -> RunOutcome:
        runner = Runner(self.plan(**changes), self.lab, self.pulse, clock=self.clock, prices=self.prices)
        return runner.run()
