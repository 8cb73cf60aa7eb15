"""What a run may claim, from accepted outcomes only and never from prose (reference runtime, section 6.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from patrol.findings.ledger import Ledger
from patrol.records import Finding, RunRecord, RunStatus, ToolCall

ALL_HEALTHY = "All healthy"
FIRST_CALLS = 100
INPUT_LIMIT = 16 * 1024
OUTPUT_LIMIT = 2 * 1024


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that kept the analysis from being complete."""

    summary: str
    detail: str
    cause: str


@dataclass(frozen=True, slots=True)
class Account:
    """The countable truth of one run; `owned` are the findings it reported or assessed, as they are now."""

    ledger: Ledger
    owned: tuple[Finding, ...]
    faults: tuple[Fault, ...]
    resources_checked: int
    complete: bool

    @property
    def active(self) -> tuple[Finding, ...]:
        return tuple(one for one in self.owned if one.active)

    @property
    def all_clear(self) -> bool:
        """Every condition of section 6.1 at once."""
        book = self.ledger
        return (
            self.complete
            and self.resources_checked > 0
            and not self.faults
            and not self.active
            and not book.uncertain
            and not book.without_verdict
            and book.rejected == 0
        )

    @property
    def status(self) -> RunStatus:
        if self.faults or not self.complete or self.resources_checked == 0:
            return "error"
        if any(one.severity == "critical" for one in self.active):
            return "critical"
        if self.active or self.ledger.uncertain:
            return "issues_found"
        return "healthy"

    @property
    def summary(self) -> str:
        """One line: counts by severity, uncertain ones, or why there is nothing to count."""
        if self.all_clear:
            return ALL_HEALTHY
        counted = _counted(self.active, len(self.ledger.uncertain))
        if counted:
            return counted
        if self.faults:
            plural = "" if len(self.faults) == 1 else "s"
            return f"Analysis incomplete ({len(self.faults)} error{plural})"
        return "No accepted findings" if self.ledger.rejected else "Analysis incomplete"


def _counted(active: Sequence[Finding], uncertain: int) -> str:
    critical = sum(one.severity == "critical" for one in active)
    parts = [(critical, "critical"), (len(active) - critical, "warning"), (uncertain, "uncertain")]
    return " and ".join(f"{number} {word}" for number, word in parts if number)


def sections(account: Account) -> str:
    """The two sections of an analysis that core writes itself."""
    book = account.ledger
    lines = ["### Infrastructure Status", account.summary + "."]
    if account.resources_checked:
        lines.append(f"{account.resources_checked} resources in scope were looked at.")
    if account.all_clear:
        lines.append("No findings reported - all clear.")
    lines += [f"- {one.severity}: {one.title} ({one.resource_name})" for one in account.active]
    counts = (
        f"{len(book.new)} new, {len(book.reconfirmed)} reconfirmed, {len(book.resolved)} resolved, "
        f"{len(book.uncertain)} uncertain, {book.rejected} rejected."
    )
    return "\n".join([*lines, "", "### Actions Taken", counts])


def analysis(account: Account, narrative: str) -> str | None:
    """Core's sections, then the model's own words as it wrote them; None when no model concluded anything."""
    if not narrative.strip():
        return None
    return f"{sections(account)}\n\n### Model Narrative (unverified, verbatim)\n{narrative}"


def fill(draft: RunRecord, account: Account, narrative: str) -> dict[str, object]:
    """The members of a record that follow from the account."""
    book = account.ledger
    first = account.faults[0] if account.faults else None
    detail = "; ".join(one.detail for one in account.faults)
    return {
        "resources_checked": account.resources_checked,
        "docker_checked": sum(one.docker is not None for one in book.view.scoped),
        "hosts_checked": sum(one.docker is None for one in book.view.scoped),
        "new_findings": len(book.new),
        "existing_findings": len(book.reconfirmed),
        "rejected_findings": book.rejected,
        "resolved_findings": len(book.resolved),
        "findings_summary": account.summary,
        "finding_ids": book.finding_ids,
        "finding_assessments": tuple(book.assessments.values()) or None,
        "error_count": len(account.faults),
        "status": account.status,
        "error_summary": first.summary if first else None,
        "error_detail": detail if first else None,
        "error_cause": first.cause if first else None,
        "ai_analysis": analysis(account, narrative),
        "untrusted_metadata_ignored": _echoes_a_label(account, narrative) or None,
    }


def _echoes_a_label(account: Account, narrative: str) -> bool:
    """Whether the model's words repeat a long label value; noted, never edited."""
    values = (value for one in account.ledger.view.scoped for value in one.labels.values())
    return any(len(value) >= 24 and value in narrative for value in values)


def stored_calls(calls: Sequence[ToolCall]) -> dict[str, object]:
    """The first hundred calls with bounded texts, and the true count."""
    kept = tuple(
        call.model_copy(
            update={"input": _cut(call.input, INPUT_LIMIT), "output": _cut(call.output, OUTPUT_LIMIT)}
        )
        for call in calls[:FIRST_CALLS]
    )
    truncated = True if len(calls) > FIRST_CALLS else None
    return {"tool_calls": kept, "tool_call_count": len(calls), "tool_calls_truncated": truncated}


def _cut(text: str, limit: int) -> str:
    data = text.encode()
    return text if len(data) <= limit else data[:limit].decode(errors="ignore")
