"""How one investigation is judged (scoring format, section 12)."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field

from contract.codes import failure
from contract.manifest_records import InvestigationSpec
from contract.report import InvestigationSession
from contract.scoring.sections import AFFECTED, ROOT_CAUSE, names_all
from contract.text import is_blank, lower
from contract.truth import GroundTruth


@dataclass(slots=True)
class Judgement:
    """What one investigation achieved, and the failures that it adds."""

    completed: bool = False
    grounded: bool = False
    root_cause: bool = False
    affected: bool = False
    hard: list[str] = field(default_factory=list)
    gate: list[str] = field(default_factory=list)

    def fail(self, code: str, text: str) -> None:
        """Add a hard failure."""
        self.hard.append(failure(code, text))


def evidence_calls(session: InvestigationSession) -> int:
    """How often the model looked; sessions of older servers only list what they found."""
    return session.evidence_call_count or len(session.evidence_ids or ())


def judge(
    finding_id: str, session: InvestigationSession, spec: InvestigationSpec, ground: GroundTruth
) -> Judgement:
    """Hold one investigation against the manifest's expectations."""
    found = Judgement()
    found.completed = _judge_status(found, finding_id, session, spec)
    summary_holds = _judge_terms(found, session, spec)
    summary_holds &= _judge_grounding(found, session, spec, ground)
    enough = _judge_evidence(found, session, spec)
    _judge_limits(found, session, spec)
    found.grounded = found.completed and summary_holds and enough
    return found


def _judge_status(
    found: Judgement, finding_id: str, session: InvestigationSession, spec: InvestigationSpec
) -> bool:
    if not spec.require_completed_status or session.status == "completed":
        return True
    found.fail(
        "investigation-status",
        f"investigation {session.id} of finding {finding_id} ended as {_quoted(session.status)}",
    )
    return False


def _judge_terms(found: Judgement, session: InvestigationSession, spec: InvestigationSpec) -> bool:
    summary = lower(session.summary)
    before = len(found.hard)
    for term in spec.required_summary_terms:
        if lower(term) not in summary:
            found.fail("summary-term-missing", f"{_of(session)} lacks {_quoted(term)}")
    for group in spec.required_summary_term_groups:
        if not any(term and lower(term) in summary for term in group or ()):
            found.fail("summary-group-missing", f"{_of(session)} has none of {_listed(group or ())}")
    for term in spec.forbidden_summary_terms:
        if term and lower(term) in summary:
            found.fail("summary-term-forbidden", f"{_of(session)} says {_quoted(term)}")
    return len(found.hard) == before and not is_blank(summary)


def _judge_grounding(
    found: Judgement, session: InvestigationSession, spec: InvestigationSpec, ground: GroundTruth
) -> bool:
    root, affected = spec.root_cause_resources, spec.affected_resources
    found.root_cause = names_all(session.summary, ROOT_CAUSE, root, ground)
    found.affected = names_all(session.summary, AFFECTED, affected, ground)
    if not found.root_cause:
        found.fail("root-cause-ungrounded", f"{_of(session)} does not name all of {_listed(root)}")
    if not found.affected:
        found.fail("affected-ungrounded", f"{_of(session)} does not name all of {_listed(affected)}")
    return found.root_cause and found.affected


def _judge_evidence(found: Judgement, session: InvestigationSession, spec: InvestigationSpec) -> bool:
    calls = evidence_calls(session)
    if calls >= spec.min_evidence:
        return True
    found.fail(
        "too-few-evidence-calls",
        f"investigation {session.id} made {calls} evidence calls, at least {spec.min_evidence} are demanded",
    )
    return False


def _judge_limits(found: Judgement, session: InvestigationSession, spec: InvestigationSpec) -> None:
    for code, value, most, noun in (
        ("evidence-calls", evidence_calls(session), spec.max_evidence_calls, "evidence calls"),
        ("tools-used", len(session.tools_used or ()), spec.max_tools_used, "tools"),
    ):
        if 0 < most < value:
            text = f"investigation {session.id} used {value} {noun}, at most {most} are allowed"
            found.gate.append(failure(code, text))


def _of(session: InvestigationSession) -> str:
    return f"the summary of investigation {session.id}"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _listed(terms: Iterable[str]) -> str:
    return f"[{' '.join(map(_quoted, terms))}]"
