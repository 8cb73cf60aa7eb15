"""Rules of the Pro tracks' objects: investigation, remediation (manifest format, sections 5.7 and 5.8)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from contract.faults import Fault
from contract.manifest_checks import Lab, duration_rule, not_one_of, predicate_rules
from contract.manifest_records import InvestigationSpec, Manifest, RemediationSpec
from contract.text import is_blank, shown

DECISIONS: Final = ("observe", "reject", "approve_execute", "await_autonomous")


def investigation_rules(manifest: Manifest, lab: Lab) -> Iterator[Fault]:
    """Every rule that the investigation object breaks; a forbidden object is not looked into."""
    wanted = manifest.track in ("investigation", "remediation")
    yield from _presence(wanted, manifest.investigation, "investigation", manifest.track)
    if wanted and manifest.investigation is not None:
        yield from _investigation_rules(manifest.investigation, lab)


def remediation_rules(manifest: Manifest, lab: Lab) -> Iterator[Fault]:
    """Every rule that the remediation object breaks; a forbidden object is not looked into."""
    wanted = manifest.track == "remediation"
    yield from _presence(wanted, manifest.remediation, "remediation", manifest.track)
    if wanted and manifest.remediation is not None:
        yield from _remediation_rules(manifest.remediation, lab)


def _presence(wanted: bool, spec: object | None, name: str, track: str) -> Iterator[Fault]:
    if wanted and spec is None:
        yield Fault(f"/{name}", f"track {shown(track)} needs this object", "say what the track is judged by")
    if not wanted and spec is not None:
        yield Fault(f"/{name}", f"track {shown(track)} has no such object", "remove it or change the track")


def _investigation_rules(spec: InvestigationSpec, lab: Lab) -> Iterator[Fault]:
    where = "/investigation"
    if spec.min_evidence < 1:
        yield Fault(f"{where}/min_evidence_calls", "no evidence is demanded", "demand at least one call")
    groups = spec.required_summary_term_groups
    if not spec.required_summary_terms and not groups:
        text = "nothing is demanded of the summary"
        yield Fault(
            f"{where}/required_summary_terms", text, "list terms, or groups of which one term must occur"
        )
    for at, group in enumerate(groups):
        if not group:
            yield Fault(f"{where}/required_summary_term_groups/{at}", "an empty group", "list its terms")
        elif any(is_blank(term) for term in group):
            yield Fault(f"{where}/required_summary_term_groups/{at}", "a blank term", "remove it")
    yield from lab.all_unknown(spec.root_cause_resources, f"{where}/root_cause_resources")
    yield from lab.all_unknown(spec.affected_resources, f"{where}/affected_resources")


def _remediation_rules(spec: RemediationSpec, lab: Lab) -> Iterator[Fault]:
    where = "/remediation"
    yield from lab.unknown(spec.action_target, f"{where}/action_target")
    if not spec.expected_capabilities:
        yield Fault(f"{where}/expected_capabilities", "no capability is expected", "list at least one")
    if spec.decision not in DECISIONS:
        yield not_one_of(f"{where}/decision", spec.decision, DECISIONS)
    yield from duration_rule(spec.action_timeout, f"{where}/action_timeout")
    if spec.decision != "observe":
        if not spec.postconditions:
            yield Fault(f"{where}/postconditions", "no postcondition", "say how the lab knows that it worked")
        if is_blank(spec.decision_reason):
            yield Fault(f"{where}/decision_reason", "a decision without reason", "say why")
    if spec.require_lifecycle_verification and not spec.allowed_verification_statuses:
        text = "lifecycle verification is required, but no status is allowed"
        yield Fault(f"{where}/allowed_verification_statuses", text, "allow at least one, such as verified")
    yield from predicate_rules(spec.postconditions, lab, f"{where}/postconditions")
