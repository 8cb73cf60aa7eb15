"""The gates of Community validated over one pool, each with what is still missing; a failed gate is a
value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

from contract.manifest import Manifest
from contract.wilson import runs_needed
from generator.policy import CampaignPins, Policy, ValidatedDemands
from generator.pool import Pool
from generator.tally import Tally
from generator.wording import percent, plural, some


@dataclass(frozen=True, slots=True)
class Gate:
    """One gate: what it demands, what was seen, whether it holds, and what is missing (empty when it
    holds).
    """

    id: str
    title: str
    demand: str
    seen: str
    held: bool
    missing: str = ""


@dataclass(frozen=True, slots=True)
class ScenarioStanding:
    """One scenario's part: its runs so far, the clean runs still needed, and what no further run can mend."""

    manifest: Manifest
    tally: Tally | None
    more_runs: int
    veto: str


def clean_runs_needed(missed: int, seen: int, floor: float, per_run: int = 1) -> int:
    """How many further runs, each adding `per_run` hits, lift the lower bound of `seen` trials to `floor`.

    `missed` of the trials failed so far; they stay in the sample.
    """
    return max(0, ceil((runs_needed(missed, floor) - seen) / per_run))


def scenario_standings(
    pool: Pool, manifests: Sequence[Manifest], demands: ValidatedDemands
) -> tuple[ScenarioStanding, ...]:
    """How far each scenario of the track is from its part of Community validated."""
    tallies = pool.by_scenario()
    return tuple(_standing(manifest, tallies.get(manifest.id), demands) for manifest in manifests)


def _standing(manifest: Manifest, seen: Tally | None, demands: ValidatedDemands) -> ScenarioStanding:
    passed, runs = (seen.passed, seen.runs) if seen else (0, 0)
    needed = [
        manifest.repeat.qualification - runs,
        clean_runs_needed(runs - passed, runs, demands.lower_bound),
    ]
    faults = len(manifest.faults or ())
    if faults:
        found, total = (seen.fault_recall.success, seen.fault_recall.total) if seen else (0, 0)
        needed.append(clean_runs_needed(total - found, total, demands.lower_bound, faults))
    return ScenarioStanding(manifest, seen, max(0, *needed), _veto(seen))


def _veto(seen: Tally | None) -> str:
    if seen is None:
        return ""
    vetoes = (
        (seen.false_positives, "a false positive"),
        (seen.hard_failure_runs, "a hard failure"),
    )
    return " and ".join(text for count, text in vetoes if count)


def validated_gates(pool: Pool, manifests: Sequence[Manifest], policy: Policy) -> tuple[Gate, ...]:
    """Every gate of Community validated for one pool against its track's manifests.

    Raises ValueError for no manifests: an empty track would hold every gate.
    """
    if not manifests:
        raise ValueError("a track without scenarios qualifies nobody")
    demands = policy.community_validated
    standings = scenario_standings(pool, manifests, demands)
    return (
        _pinned(pool, policy.campaign),
        _runs(standings),
        _bound(standings, demands.lower_bound, "pass-rate", "Pass rate"),
        _bound(standings, demands.lower_bound, "fault-recall", "Fault recall"),
        _none_of(pool.total.false_positives, "false-positives", "No false positive", "false positive"),
        _none_of(pool.total.hard_failure_runs, "hard-failures", "No hard failure", "run with a hard failure"),
        _people(pool, demands.contributors),
        _environments(pool, demands.environment_classes),
        _share(pool, demands.largest_share),
        _challenges(pool),
    )


def _pinned(pool: Pool, pins: CampaignPins) -> Gate:
    reasons = []
    if pool.cohort.is_reference:
        reasons.append("the reference runtime is not Pulse")
    elif not pins.complete:
        reasons.append("no campaign is pinned yet")
    elif (pool.cohort.pulse_version, pool.cohort.harness_git_sha) != (
        pins.pulse_version,
        pins.harness_git_sha,
    ):
        reasons.append("another Pulse version or harness revision")
    if pool.is_custom:
        reasons.append("run with overrides: " + some(name for name, _ in pool.key.overrides))
    return Gate(
        "pinned-campaign", "Pinned campaign", "the pinned Pulse, harness and catalogue, nothing overridden",
        "; ".join(reasons) or "as pinned", not reasons,
        "a campaign as pinned; these runs can never count towards it" if reasons else "",
    )  # fmt: skip


def _runs(standings: Sequence[ScenarioStanding]) -> Gate:
    enough = [one for one in standings if one.tally and one.tally.runs >= one.manifest.repeat.qualification]
    missing = len(standings) - len(enough)
    return Gate(
        "enough-runs", "Enough runs", "every scenario of the track at least its qualification repeats",
        f"{len(enough)} of {len(standings)} scenarios", not missing,
        f"{sum(one.more_runs for one in standings)} more clean runs in all" if missing else "",
    )  # fmt: skip


def _bound(standings: Sequence[ScenarioStanding], floor: float, member: str, title: str) -> Gate:
    rated = [one for one in standings if member == "pass-rate" or one.manifest.faults]
    bounds = [_lower(one, member) for one in rated]
    low = sum(bound < floor for bound in bounds)
    return Gate(
        member, title, f"Wilson lower bound of at least {percent(floor)} on every scenario",
        f"lowest {percent(min(bounds, default=1), 1)}", not low,
        f"{low} of {len(bounds)} scenarios are below" if low else "",
    )  # fmt: skip


def _lower(one: ScenarioStanding, member: str) -> float:
    if one.tally is None:
        return 0.0
    return one.tally.pass_rate.lower if member == "pass-rate" else one.tally.fault_recall.lower


def _none_of(count: int, identifier: str, title: str, noun: str) -> Gate:
    seen = "none" if not count else f"{count} {noun}" + ("s" if count > 1 else "")
    return Gate(
        identifier, title, "none in this cohort", seen, not count,
        "out of reach in this cohort; a newer cohort starts anew" if count else "",
    )  # fmt: skip


def _people(pool: Pool, demanded: int) -> Gate:
    seen = len(pool.people)
    return _at_least("contributors", "Unrelated contributors", seen, demanded, "unrelated contributor")


def _environments(pool: Pool, demanded: int) -> Gate:
    seen = len(pool.environments)
    return _at_least("environments", "Environment classes", seen, demanded, "environment class")


def _at_least(identifier: str, title: str, seen: int, demanded: int, noun: str) -> Gate:
    many = f"{noun}es" if noun.endswith("s") else f"{noun}s"
    missing = (
        "" if seen >= demanded else "at least " + plural(demanded - seen, f"more {noun}", f"more {many}")
    )
    return Gate(identifier, title, f"at least {demanded}", str(seen), seen >= demanded, missing)


def _share(pool: Pool, largest: float) -> Gate:
    counts = [
        sum(len(m.runs) for m in pool.members if m.bundle.submission.contributor.login in group)
        for group in pool.people
    ]
    share = max(counts) / sum(counts)
    return Gate(
        "share", "Largest share", f"no contributor holds more than {percent(largest)} of the runs",
        f"{percent(share)}", share <= largest, "runs by others" if share > largest else "",
    )  # fmt: skip


def _challenges(pool: Pool) -> Gate:
    bound = sum(member.bundle.contribution.challenge.bound_at_run for member in pool.members)
    return Gate(
        "challenges", "Challenges", "each contributor's campaign bound to a challenge issued beforehand",
        f"{bound} of {len(pool.members)} bundles", bound == len(pool.members),
        "" if bound == len(pool.members) else "a campaign under a challenge; none has been issued yet",
    )  # fmt: skip
