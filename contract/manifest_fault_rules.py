"""Rules of a manifest's faults (manifest format, section 5.3)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from contract.faults import Fault
from contract.manifest_checks import (
    Lab,
    bad_identifier,
    duration_rule,
    must_be_true,
    not_one_of,
    predicate_rules,
)
from contract.manifest_records import FaultSpec, InjectorSpec, Manifest
from contract.text import is_identifier, shown

FILL: Final = "fill_scratch_storage"
INJECTORS: Final = frozenset(
    {"marker_enable", "health_process_stop", "stop", "disconnect_network", "kill", FILL}
)


def fault_rules(manifest: Manifest, lab: Lab) -> Iterator[Fault]:
    """Every rule that the faults of a manifest break."""
    seen: set[str] = set()
    for at, spec in enumerate(manifest.faults or ()):
        where = f"/faults/{at}"
        if spec.id in seen:
            yield Fault(f"{where}/id", f"fault id {shown(spec.id)} stands twice", "fault ids are unique")
        seen.add(spec.id)
        yield from _fault_rules(spec, lab, where)


def _fault_rules(spec: FaultSpec, lab: Lab, where: str) -> Iterator[Fault]:
    if not is_identifier(spec.id):
        yield bad_identifier(f"{where}/id", spec.id)
    if not spec.causal_group:
        yield Fault(
            f"{where}/causal_group", "no causal group", "name what the fault's symptoms have in common"
        )
    yield from lab.unknown(spec.target, f"{where}/target")
    yield from _injector_rules(spec.injector, lab, f"{where}/injector")
    if not spec.oracle:
        yield Fault(f"{where}/oracle", "no oracle", "say how the lab knows that the fault is active")
    yield from predicate_rules(spec.oracle, lab, f"{where}/oracle")
    yield from _expected_rules(spec, lab, f"{where}/expected_finding")
    yield from predicate_rules(spec.revert_oracle, lab, f"{where}/revert_oracle")
    yield from duration_rule(spec.detect_within, f"{where}/detect_within", optional=True)
    if not spec.required:
        yield must_be_true(f"{where}/required")
    yield from lab.all_unknown(spec.related_resources, f"{where}/related_resources")
    if spec.target in spec.related_resources:
        yield Fault(f"{where}/related_resources", "the target is listed as related to itself", "remove it")


def _injector_rules(injector: InjectorSpec, lab: Lab, where: str) -> Iterator[Fault]:
    if injector.kind not in INJECTORS:
        yield not_one_of(f"{where}/kind", injector.kind, INJECTORS)
    yield from lab.unknown(injector.resource, f"{where}/resource")
    if injector.kind == FILL:
        if injector.resource not in lab.scratch:
            text = f"{shown(injector.resource)} has no scratch storage to fill"
            yield Fault(f"{where}/resource", text, "set scratch_storage: true")
        if injector.value:
            yield Fault(f"{where}/value", "the driver alone decides how much is filled", "remove the value")


def _expected_rules(spec: FaultSpec, lab: Lab, where: str) -> Iterator[Fault]:
    expected = spec.expected_finding
    empty = [name for name in ("resource_types", "categories", "severities") if not getattr(expected, name)]
    if empty:
        yield Fault(f"{where}/{empty[0]}", f"empty: {', '.join(empty)}", "list at least one each")
    yield from lab.unknown(expected.resource, f"{where}/resource")
    unrelated = expected.resource not in (spec.target, *spec.related_resources)
    if unrelated and expected.resource in lab.aliases:
        text = f"{shown(expected.resource)} is neither the target nor related to it"
        yield Fault(f"{where}/resource", text, "list it in related_resources")
    if expected.max_primary_findings < 1:
        yield Fault(f"{where}/max_primary_findings", "less than one finding is expected", "write 1 or more")
