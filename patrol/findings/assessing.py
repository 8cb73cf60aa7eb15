"""`patrol_assess_finding`, `patrol_get_findings`: what becomes of known findings (reference runtime, 6)."""

from __future__ import annotations

from dataclasses import dataclass

from patrol.clock import Clock, rfc3339
from patrol.collect.metrics import Thresholds
from patrol.findings.ledger import Ledger
from patrol.findings.verifiers import Live, Outcome, verify
from patrol.records import Assessment, Finding
from patrol.schema import obj, text
from patrol.store import Store
from patrol.tools.registry import Arguments, Code, Tool, ToolResult, failure, success

VERDICTS = ("present", "resolved", "uncertain")
FRAGMENT = 8
ASSESS_SCHEMA = obj(
    {
        "finding_id": text("The id of an existing finding"),
        "verdict": text("Whether the fault is still there", enum=VERDICTS),
        "evidence": text("What you observed in this run"),
        "reason": text("Why that leads to the verdict"),
    },
    required=("finding_id", "verdict", "evidence", "reason"),
)
GET_SCHEMA = obj(
    {
        "resource_id": text("Only findings of this resource"),
        "severity": text("Only findings of this severity", enum=("info", "watch", "warning", "critical")),
    }
)
SHOWN = (
    *("id", "key", "severity", "category", "resource_id", "resource_name", "resource_type"),
    *("title", "description", "detected_at"),
)


def shown(finding: Finding) -> dict[str, object]:
    """What a model is shown of an existing finding."""
    whole = finding.as_json()
    return {name: whole[name] for name in SHOWN}


@dataclass(frozen=True, slots=True)
class Assessor:
    """Takes verdicts about existing findings of one run."""

    ledger: Ledger
    store: Store
    source: Live
    clock: Clock
    thresholds: Thresholds

    def tools(self) -> tuple[Tool, Tool]:
        return (
            Tool("patrol_get_findings", "List active findings in scope.", GET_SCHEMA, self.get),
            Tool(
                "patrol_assess_finding",
                "Say of one existing finding whether its fault is present, resolved or uncertain.",
                ASSESS_SCHEMA,
                self.assess,
            ),
        )

    def seed(self) -> list[Finding]:
        """The active findings of exactly this scope, from now on presented."""
        found = self.store.active_findings(sorted(self.ledger.view.in_scope))
        self.ledger.present(found)
        return found

    def get(self, arguments: Arguments) -> ToolResult:
        found = [
            one
            for one in self.store.active_findings(sorted(self.ledger.view.in_scope))
            if arguments.get("resource_id") in (None, "", one.resource_id)
            and arguments.get("severity") in (None, "", one.severity)
        ]
        self.ledger.present(found)
        return success(count=len(found), findings=[shown(one) for one in found])

    def assess(self, arguments: Arguments) -> ToolResult:
        """Check one verdict and apply it; a refused verdict leaves the finding without one."""
        said = {name: str(value).strip() for name, value in arguments.items()}
        blank = [name for name in ("finding_id", "verdict", "evidence", "reason") if not said.get(name)]
        if blank:
            return failure(Code.INVALID_INPUT, f"these may not be blank: {', '.join(blank)}")
        finding = self._finding(said["finding_id"])
        if isinstance(finding, ToolResult):
            return finding
        if finding.id in self.ledger.assessments:
            return failure(
                Code.ACTION_NOT_ALLOWED, "this finding has its verdict of this run", finding_id=finding.id
            )
        if said["verdict"] == "resolved":
            contradiction = self._contradiction(finding)
            if contradiction:
                return failure(Code.ACTION_NOT_ALLOWED, contradiction, finding_id=finding.id)
        return self._apply(finding, said)

    def _finding(self, token: str) -> Finding | ToolResult:
        if token in self.ledger.new:
            reason = "new_finding_reported_this_run"
            return success(finding_id=token, applied=False, reason=reason)
        active = {one.id: one for one in self.store.active_findings(sorted(self.ledger.view.in_scope))}
        matches = [
            one for key, one in active.items() if key == token or (len(token) >= FRAGMENT and token in key)
        ]
        if len(matches) == 1:
            return matches[0]
        valid = [key for key in active if key not in self.ledger.new]
        return failure(Code.NOT_FOUND, "no active finding in scope has that id", valid_ids=valid)

    def _contradiction(self, finding: Finding) -> str:
        outcome = verify(finding, self.source, self.clock.now_ns(), self.thresholds)
        if outcome in (Outcome.FAILING, Outcome.UNKNOWN):
            return f"an independent look at the resource says: {outcome.value}; give another verdict"
        return ""

    def _apply(self, finding: Finding, said: dict[str, str]) -> ToolResult:
        now = rfc3339(self.clock.now_ns())
        assessment = Assessment.model_validate({**said, "finding_id": finding.id, "assessed_at": now})
        self.ledger.assessments[finding.id] = assessment
        self.ledger.presented.setdefault(finding.id, finding)
        if assessment.verdict == "present":
            self._confirm(finding, assessment, now)
        elif assessment.verdict == "resolved":
            self._resolve(finding, assessment, now)
        return success(finding_id=finding.id, verdict=assessment.verdict, applied=True)

    def _confirm(self, finding: Finding, assessment: Assessment, now: str) -> None:
        self.ledger.reconfirmed[finding.id] = None
        raised = finding.times_raised + (finding.id not in self.ledger.reported)
        seen = {"last_seen_at": now, "evidence": assessment.evidence, "times_raised": raised}
        self.store.put_finding(finding.model_copy(update={**seen, "last_run_id": self.ledger.view.run_id}))

    def _resolve(self, finding: Finding, assessment: Assessment, now: str) -> None:
        self.ledger.resolved[finding.id] = None
        self.ledger.reconfirmed.pop(finding.id, None)
        gone = {"resolved_at": now, "resolve_reason": assessment.reason}
        self.store.put_finding(finding.model_copy(update={**gone, "last_run_id": self.ledger.view.run_id}))
