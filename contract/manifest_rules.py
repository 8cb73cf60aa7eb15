"""What a manifest must hold beyond its form; all faults are found together (manifest format, section 5)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from contract.faults import Fault, pointer
from contract.manifest_checks import (
    Lab,
    bad_identifier,
    duration_rule,
    must_be_true,
    not_one_of,
    predicate_rules,
    projection_rules,
)
from contract.manifest_fault_rules import fault_rules
from contract.manifest_pro_rules import investigation_rules, remediation_rules
from contract.manifest_records import Manifest, PatrolSpec, ResourceSpec
from contract.names import RESERVED_LABEL_PREFIX
from contract.redaction import sanitize
from contract.text import is_blank, is_identifier, shown
from contract.walk import texts
from contract.wilson import FLOOR, runs_needed

SCHEMA_VERSION: Final = "patrol.qual/v1"
TRACKS: Final = ("watch", "investigation", "remediation")
DRIVERS: Final = ("docker", "replay")
MODES: Final = ("monitor", "approval", "autonomous")
MIN_PERFECT_RUNS: Final = runs_needed(0)  # 22: the fewest that can qualify when all of them pass


def validate(manifest: Manifest) -> tuple[Fault, ...]:
    """Every rule that a manifest breaks, in a fixed order; empty when it is valid."""
    lab = Lab.of(manifest)
    return (
        *_identity_rules(manifest),
        *_resource_rules(manifest),
        *_lab_rules(manifest, lab),
        *fault_rules(manifest, lab),
        *projection_rules(manifest),
        *_run_rules(manifest, lab),
        *_security_rules(manifest),
        *investigation_rules(manifest, lab),
        *remediation_rules(manifest, lab),
        *_duration_rules(manifest),
        *_repeat_rules(manifest),
        *_redaction_rules(manifest),
    )


def _identity_rules(manifest: Manifest) -> Iterator[Fault]:
    if manifest.schema_version != SCHEMA_VERSION:
        yield Fault(
            "/schema_version", f"unknown format {shown(manifest.schema_version)}", f"write {SCHEMA_VERSION}"
        )
    if not is_identifier(manifest.id):
        yield bad_identifier("/id", manifest.id)
    if manifest.version < 1:
        yield Fault("/version", "the version is not positive", "count from 1")
    blank = [name for name in ("title", "description", "owner") if is_blank(getattr(manifest, name))]
    if blank:
        yield Fault(
            f"/{blank[0]}", f"blank: {', '.join(blank)}", "say what is broken, how it is known, whose it is"
        )
    if manifest.track not in TRACKS:
        yield not_one_of("/track", manifest.track, TRACKS)
    if manifest.lab.driver not in DRIVERS:
        yield not_one_of("/lab/driver", manifest.lab.driver, DRIVERS)


def _resource_rules(manifest: Manifest) -> Iterator[Fault]:
    resources = manifest.resources or ()
    if not resources:
        yield Fault("/resources", "no resource", "declare at least one container")
    seen: set[str] = set()
    for at, resource in enumerate(resources):
        where = f"/resources/{at}"
        if not is_identifier(resource.alias):
            yield bad_identifier(f"{where}/alias", resource.alias)
        if resource.alias in seen:
            yield Fault(f"{where}/alias", f"alias {shown(resource.alias)} stands twice", "aliases are unique")
        seen.add(resource.alias)
        yield from _container_rules(resource, manifest.lab.image, where)


def _container_rules(resource: ResourceSpec, lab_image: str, where: str) -> Iterator[Fault]:
    if resource.kind != "container":
        yield not_one_of(f"{where}/kind", resource.kind, ("container",))
    if not resource.image and not lab_image:
        yield Fault(f"{where}/image", "neither the resource nor the lab names an image", "set lab.image")
    for key in resource.labels:
        if key.startswith(RESERVED_LABEL_PREFIX):
            text = f"labels under {RESERVED_LABEL_PREFIX} belong to the lab"
            yield Fault(pointer(f"{where}/labels", key), text, "rename the label")


def _lab_rules(manifest: Manifest, lab: Lab) -> Iterator[Fault]:
    if not manifest.baseline:
        yield Fault("/baseline", "no baseline", "say how the lab knows that it is healthy")
    yield from predicate_rules(manifest.baseline, lab, "/baseline")
    for at, control in enumerate(manifest.negative_controls):
        yield from lab.unknown(control.resource, f"/negative_controls/{at}/resource")
    yield from predicate_rules(manifest.teardown.predicates, lab, "/teardown/predicates")


def _run_rules(manifest: Manifest, lab: Lab) -> Iterator[Fault]:
    if not manifest.collection.sources:
        yield Fault("/collection/sources", "no source", "list what collects, such as docker")
    if not manifest.collection.require_exact_name:
        yield must_be_true("/collection/require_exact_name")
    patrol = manifest.patrol
    if patrol.mode not in MODES:
        yield not_one_of("/patrol/mode", patrol.mode, MODES)
    yield from _scope_rules(patrol, lab)
    if not patrol.require_real_model:
        yield must_be_true("/patrol/require_real_model")
    elif manifest.lab.driver == "replay":
        yield Fault("/lab/driver", "a replay has no real model, which every scenario requires", "use docker")
    if not patrol.require_tool_call_evidence and not _may_answer_without_tools(manifest):
        text = "only a healthy watch scenario with negative controls may be answered without tool calls"
        yield Fault("/patrol/require_tool_call_evidence", text, "set it to true")


def _scope_rules(patrol: PatrolSpec, lab: Lab) -> Iterator[Fault]:
    where = "/patrol/scope_resources"
    if patrol.scope_resources and not patrol.scoped:
        yield Fault(where, "a scope is listed, but the run is not scoped", "set scoped: true")
    yield from lab.all_unknown(patrol.scope_resources, where)
    if len(set(patrol.scope_resources)) < len(patrol.scope_resources):
        yield Fault(where, "an alias stands twice", "list each once")


def _may_answer_without_tools(manifest: Manifest) -> bool:
    return (
        manifest.track == "watch"
        and not manifest.faults
        and bool(manifest.negative_controls)
        and not manifest.patrol.require_existing_reconfirmation
    )


def _security_rules(manifest: Manifest) -> Iterator[Fault]:
    security, teardown = manifest.security, manifest.teardown
    if manifest.faults and not security.require_fault_intact_after_patrol and not _repairs_itself(manifest):
        text = "only an autonomous remediation may end the fault"
        yield Fault("/security/require_fault_intact_after_patrol", text, "set it to true")
    if not security.require_no_unexpected_mutation:
        yield must_be_true("/security/require_no_unexpected_mutation")
    if not (teardown.require_second_cleanup_noop and teardown.require_inventory_unchanged):
        text = "require_second_cleanup_noop and require_inventory_unchanged must both be true"
        yield Fault("/teardown", text, "a scenario that leaves something behind cannot be repeated")


def _repairs_itself(manifest: Manifest) -> bool:
    decision = manifest.remediation.decision if manifest.remediation else ""
    return (manifest.track, manifest.patrol.mode, decision) == (
        "remediation",
        "autonomous",
        "await_autonomous",
    )


def _duration_rules(manifest: Manifest) -> Iterator[Fault]:
    collection, budgets = manifest.collection, manifest.budgets
    yield from duration_rule(collection.convergence_timeout, "/collection/convergence_timeout")
    yield from duration_rule(collection.poll_interval, "/collection/poll_interval")
    yield from duration_rule(manifest.patrol.run_timeout, "/patrol/run_timeout")
    yield from duration_rule(budgets.collection_latency_p95, "/budgets/collection_latency_p95")
    yield from duration_rule(budgets.patrol_latency_p95, "/budgets/patrol_latency_p95")
    yield from duration_rule(budgets.end_to_end_latency_p95, "/budgets/end_to_end_latency_p95")


def _repeat_rules(manifest: Manifest) -> Iterator[Fault]:
    repeat = manifest.repeat
    if min(repeat.development, repeat.nightly, repeat.qualification) < 1:
        yield Fault("/repeat", "a repeat count is not positive", "count from 1")
    if not repeat.development <= repeat.nightly <= repeat.qualification:
        yield Fault("/repeat", "repeats must not fall from development to nightly to qualification")
    if 0 < repeat.qualification < MIN_PERFECT_RUNS:
        text = f"{repeat.qualification} runs cannot show a pass rate of {FLOOR}, even if all of them pass"
        yield Fault("/repeat/qualification", text, f"write {MIN_PERFECT_RUNS} or more")


def _redaction_rules(manifest: Manifest) -> Iterator[Fault]:
    for where, text in texts(manifest):
        if sanitize(text) != text:
            yield Fault(where, "redaction would take this for a secret and change it", "reword it")
