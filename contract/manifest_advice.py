"""What the loader accepts, and what will still go wrong when the scenario is run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from contract.durations import DurationError, positive_duration
from contract.faults import Fault
from contract.manifest_checks import projected_predicates
from contract.manifest_records import Manifest, Predicate
from contract.names import container_name, is_lab_name
from contract.text import is_blank, shown

_EXAMPLE_RUN: Final = "q-20260714-150405-deadbeef"


def advise(manifest: Manifest) -> tuple[Fault, ...]:
    """Warnings about a valid manifest, in a fixed order; none of them makes it invalid."""
    return (
        *_resource_advice(manifest),
        *_predicate_advice(manifest),
        *_injector_advice(manifest),
        *_control_advice(manifest),
        *_duration_advice(manifest.patrol.investigation_timeout, "/patrol/investigation_timeout", "10m"),
    )


def _resource_advice(manifest: Manifest) -> Iterator[Fault]:
    for at, resource in enumerate(manifest.resources or ()):
        name = container_name(resource.name, _EXAMPLE_RUN, resource.alias)
        if resource.name and not is_lab_name(name, _EXAMPLE_RUN):
            text = f"the lab will refuse the name {shown(name)}"
            yield Fault(f"/resources/{at}/name", text, "begin it with pulse-qual- and hold ${run_id} in it")
        yield from _duration_advice(resource.health_every, f"/resources/{at}/health_every", "2s")


def _duration_advice(text: str, where: str, default: str) -> Iterator[Fault]:
    try:
        positive_duration(text or default)
    except DurationError as exc:
        yield Fault(where, f"{exc.message}; the default {default} would be used", exc.hint)


def _predicate_advice(manifest: Manifest) -> Iterator[Fault]:
    for where, predicate in projected_predicates(manifest):
        if not _can_be_projected(predicate):
            text = f"the monitor's view can never satisfy {predicate.probe} {predicate.value.text}"
            yield Fault(f"{where}/value", text, "health is a text, running true or false, a count a number")
    if not manifest.teardown.predicates:
        yield Fault("/teardown/predicates", "nothing is observed after removal", "add inventory.same_as_pre")


def _can_be_projected(predicate: Predicate) -> bool:
    value = predicate.value.value
    if predicate.probe == "docker.health":
        return isinstance(value, str)
    if predicate.probe == "docker.running":
        return isinstance(value, bool)
    if predicate.probe == "docker.restart_count":
        whole = isinstance(value, int) and not isinstance(value, bool)
        return whole and predicate.operator in ("eq", "gte")
    return True


def _injector_advice(manifest: Manifest) -> Iterator[Fault]:
    marked = {resource.alias for resource in manifest.resources or () if resource.fault_volume}
    for at, spec in enumerate(manifest.faults or ()):
        if spec.injector.kind == "marker_enable" and spec.injector.resource not in marked:
            text = f"{shown(spec.injector.resource)} has no fault volume for the marker"
            yield Fault(f"/faults/{at}/injector/resource", text, "set fault_volume: true")


def _control_advice(manifest: Manifest) -> Iterator[Fault]:
    for at, control in enumerate(manifest.negative_controls):
        if is_blank(control.reason):
            yield Fault(f"/negative_controls/{at}/reason", "no reason", "say why nothing is wrong with it")
