"""What the rules of a manifest share: its aliases, references to them, predicates."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from contract.durations import DurationError, positive_duration
from contract.faults import Fault
from contract.manifest_records import Manifest, Predicate
from contract.predicates import OPERATORS, PROBES
from contract.text import shown

SCRATCH_PROBE: Final = "docker.scratch_available_bytes"
_PROJECTED: Final = ("docker.health", "docker.running")


@dataclass(frozen=True, slots=True)
class Lab:
    """The names that a manifest may refer to; an ill-formed alias is known all the same."""

    aliases: frozenset[str]
    scratch: frozenset[str]

    @classmethod
    def of(cls, manifest: Manifest) -> Lab:
        """The lab that a manifest declares."""
        resources = manifest.resources or ()
        return cls(
            frozenset(resource.alias for resource in resources),
            frozenset(resource.alias for resource in resources if resource.scratch_storage),
        )

    def unknown(self, alias: str, where: str) -> Iterator[Fault]:
        """A fault when nothing carries this alias."""
        if alias not in self.aliases:
            yield Fault(
                where,
                f"no resource has the alias {shown(alias)}",
                f"known: {', '.join(sorted(self.aliases)[:12])}",
            )

    def all_unknown(self, aliases: Iterable[str], where: str) -> Iterator[Fault]:
        """A fault for each alias of a list that nothing carries."""
        for at, alias in enumerate(aliases):
            yield from self.unknown(alias, f"{where}/{at}")


def not_one_of(where: str, value: str, allowed: Iterable[str]) -> Fault:
    """The fault of a word outside of its set."""
    return Fault(where, f"unknown word {shown(value)}", f"use one of {', '.join(sorted(allowed))}")


def must_be_true(where: str) -> Fault:
    """The fault of a promise that every scenario has to make."""
    return Fault(where, "this must be true", "no scenario may do without it")


def bad_identifier(where: str, value: str) -> Fault:
    """The fault of a text that is no identifier."""
    hint = "3 to 96 of a-z, 0-9, dot, dash, underscore, beginning with a letter or digit"
    return Fault(where, f"{shown(value)} is not an identifier", hint)


def duration_rule(text: str, where: str, *, optional: bool = False) -> Iterator[Fault]:
    """A fault when a text is no positive duration."""
    if optional and not text:
        return
    try:
        positive_duration(text)
    except DurationError as exc:
        yield Fault(where, exc.message, exc.hint)


def predicate_rules(predicates: Sequence[Predicate] | None, lab: Lab, where: str) -> Iterator[Fault]:
    """Rule 5 of the manifest format's section 5, for each predicate of a list."""
    for at, predicate in enumerate(predicates or ()):
        place = f"{where}/{at}"
        yield from lab.unknown(predicate.target, f"{place}/target")
        if predicate.probe not in PROBES:
            yield not_one_of(f"{place}/probe", predicate.probe, PROBES)
        if predicate.operator not in OPERATORS:
            yield not_one_of(f"{place}/operator", predicate.operator, OPERATORS)
        if predicate.value.is_absent:
            yield Fault(f"{place}/value", "the predicate has no value", "give one, null if need be")
        yield from duration_rule(predicate.timeout, f"{place}/timeout", optional=True)
        if predicate.probe == SCRATCH_PROBE and predicate.target not in lab.scratch:
            yield Fault(
                f"{place}/target",
                f"{shown(predicate.target)} has no scratch storage",
                "set scratch_storage: true",
            )


def projected_predicates(manifest: Manifest) -> Iterator[tuple[str, Predicate]]:
    """The predicates that are also compared with what the monitor shows, each with its place.

    Those are every fault's oracle and the baseline of the negative controls (runner format, section 2.4).
    """
    controls = {control.resource for control in manifest.negative_controls}
    for at, predicate in enumerate(manifest.baseline or ()):
        if predicate.target in controls:
            yield f"/baseline/{at}", predicate
    for at, spec in enumerate(manifest.faults or ()):
        for number, predicate in enumerate(spec.oracle or ()):
            yield f"/faults/{at}/oracle/{number}", predicate


def projection_rules(manifest: Manifest) -> Iterator[Fault]:
    """Health and running are compared for equality with the monitor's view, whatever the operator says."""
    for where, predicate in projected_predicates(manifest):
        if predicate.probe in _PROJECTED and predicate.operator != "eq":
            text = f"{predicate.probe} is compared with the monitor's view, which knows only eq"
            yield Fault(f"{where}/operator", text, "say what the value is, not what it is not")
