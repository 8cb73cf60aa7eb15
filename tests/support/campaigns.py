"""Builds whole evidence trees for tests, with the contract's own functions: numbers are invented, rules are
kept.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from contract.catalogue import Catalogue, build_catalogue
from contract.checksums import format_sums
from contract.comparison import compare_trials
from contract.contribution import (
    EVIDENCE_CLASS,
    SCHEMA_VERSION,
    ContributionBundle,
    ContributionChallenge,
    ContributionExecution,
    ContributionFailureCount,
    ContributionPrivacy,
    ContributionRun,
    ContributionSafety,
    ContributionScore,
    evidence_digest,
    run_order,
)
from contract.manifest import Manifest, manifest_digest
from contract.qualification import qualify
from contract.record import Record, encode_indented
from contract.score import CostEstimate
from contract.submission import SCHEMA_VERSION as SUBMISSION_VERSION
from contract.submission import AbortedAttempt, Contributor, DeclaredCampaign, MachineClass, Submission
from contract.timestamps import Timestamp

ROOT = Path(__file__).parent.parent.parent
NOW = Timestamp("2026-12-08T00:00:00Z").instant_ns
REVISION = "4b9f62d0c0ffee0123456789abcdef0123456789"
README = b"# Campaign\n\nRun on a quiet machine.\n"
TWO = ("watch.docker-unhealthy", "watch.healthy-mixed")


def catalogue(root: Path = ROOT) -> Catalogue:
    files = sorted((root / "scenarios").glob("*.json"))
    return build_catalogue((path.name, path.read_bytes()) for path in files)


def always(_: Manifest, __: int) -> bool:
    return True


def never(_: Manifest, __: int) -> bool:
    return False


@dataclass(frozen=True)
class Campaign:
    """An invented campaign: who, which model, how often, and which runs pass."""

    login: str = "ada-l"
    model: str = "openai:smollm2-135m-instruct-q4_1"
    route: str = "local_model_server"
    pulse_version: str = "reference-patrol/0.1.0"
    track: str = "watch"
    scenarios: Sequence[str] = TWO
    repeats: int = 3
    passes: Callable[[Manifest, int], bool] = always
    day: int = 1
    seed: str = ""
    affiliation: str = ""
    overrides: Mapping[str, str] = field(default_factory=dict)
    readme: bytes = README
    supersedes: str = ""
    attempt: int = 1
    aborted: Sequence[str] = ()

    @property
    def control(self) -> bool:
        return self.model.startswith("control:")

    @property
    def exported(self) -> Timestamp:
        return Timestamp(f"2026-12-{self.day:02d}T12:00:00Z")


def digest_of(*parts: object) -> str:
    return hashlib.sha256("|".join(map(str, parts)).encode()).hexdigest()


def make_run(campaign: Campaign, manifest: Manifest, index: int) -> ContributionRun:
    passed = campaign.passes(manifest, index)
    faults = len(manifest.faults)
    found = faults if passed else 0
    provider, _, name = campaign.model.partition(":")
    source = (campaign.login, campaign.model, campaign.day, campaign.seed, manifest.id, index)
    ratio = 1.0 if passed or not faults else 0.0
    tokens = (5121 + 31 * index, 412 + index)
    metered = campaign.route == "metered_api"
    run = ContributionRun(
        evidence_digest_sha256="",
        source_report_sha256=digest_of("report", *source),
        source_replay_sha256=digest_of("replay", *source),
        scenario_id=manifest.id,
        scenario_version=manifest.version,
        manifest_digest=manifest_digest(manifest),
        track=manifest.track,
        model=campaign.model,
        provider=provider,
        harness_git_sha=REVISION,
        harness_git_dirty=False,
        pulse_version=campaign.pulse_version,
        captured_at=Timestamp(f"2026-12-{campaign.day:02d}T{index % 12:02d}:{index % 60:02d}:05Z"),
        challenge_bound=False,
        passed=passed,
        execution=ContributionExecution(
            preflight_passed=True, collection_passed=True, model_patrol_passed=True
        ),
        score=ContributionScore(
            faults=faults,
            true_positives=found,
            missed_faults=faults - found,
            false_positives=0 if passed or faults else 1,
            recall=ratio,
            resource_accuracy=ratio,
            resource_type_accuracy=ratio,
            category_accuracy=ratio,
            severity_accuracy=ratio,
            evidence_grounding=ratio,
            recommendation_safety=ratio,
            investigation_completion=0.0,
            investigation_grounding=0.0,
            root_cause_grounding=0.0,
            affected_resource_grounding=0.0,
            findings_per_causal_group=ratio if faults else 0.0,
            tool_calls=4,
            failed_tool_calls=0,
            duplicate_tool_calls=0,
            input_tokens=tokens[0],
            output_tokens=tokens[1],
            cost=CostEstimate(
                provider=provider,
                model=name,
                usd=(tokens[0] / 1e6) * 2.0 + (tokens[1] / 1e6) * 10.0 if metered else 0.0,
                known=metered,
                billing_basis=campaign.route,
                budget_applicable=metered,
                input_usd_per_mtok=2.0 if metered else 0.0,
                output_usd_per_mtok=10.0 if metered else 0.0,
            ),
            collection_latency_ms=2100,
            patrol_latency_ms=41200 + 100 * index,
            end_to_end_latency_ms=45200 + 300 * index,
        ),
        safety=ContributionSafety(
            post_patrol_oracle_count=1,
            post_patrol_oracle_passed=True,
            revert_oracle_count=1,
            revert_oracle_passed=True,
            teardown_passed=True,
            second_cleanup_noop=True,
            inventory_unchanged=True,
        ),
        failure_counts=ContributionFailureCount(
            hard_failures=0, gate_failures=0 if passed else 9, run_errors=0
        ),
    )
    return resealed(run)


def resealed(run: ContributionRun, **changes: Any) -> ContributionRun:
    """The run with changes and the digest that belongs to them."""
    changed = run.model_copy(update=changes)
    return changed.model_copy(update={"evidence_digest_sha256": evidence_digest(changed)})


def make_contribution(campaign: Campaign, known: Catalogue) -> ContributionBundle:
    manifests = [known.get(name) for name in campaign.scenarios]
    runs = [make_run(campaign, one, index) for one in manifests for index in range(campaign.repeats)]
    return contribution_of(runs, campaign.exported, campaign.track, known)


def contribution_of(
    runs: Sequence[ContributionRun], exported: Timestamp, track: str, known: Catalogue
) -> ContributionBundle:
    """A contribution over these runs, with the comparison and verdict that follow from them."""
    ordered = tuple(sorted(runs, key=run_order))
    comparison = qualify(compare_trials((run.trial for run in ordered), exported), track, known)
    return ContributionBundle(
        schema_version=SCHEMA_VERSION,
        generated_at=exported,
        evidence_class=EVIDENCE_CLASS,
        notice="Made for a test.",
        network_upload_performed=False,
        privacy=ContributionPrivacy(
            allowlist_only=True, manual_review_required_before_sharing=True, excluded=("logs",)
        ),
        challenge=ContributionChallenge(
            bound_at_run=False, consistent_across_runs=True, explanation="There is none."
        ),
        runs=ordered,
        comparison=comparison,
    )


def make_submission(campaign: Campaign, contribution: bytes) -> Submission:
    return Submission(
        schema_version=SUBMISSION_VERSION,
        contribution_sha256=hashlib.sha256(contribution).hexdigest(),
        contributor=Contributor(login=campaign.login, affiliation=campaign.affiliation),
        environment=MachineClass(
            os="Debian 12",
            architecture="x86_64",
            virtualisation="kvm",
            docker_engine="20.10.24",
            accelerator="",
            accelerator_memory="",
        ),
        campaign=DeclaredCampaign(
            track=campaign.track,
            runs_per_scenario=dict.fromkeys(campaign.scenarios, campaign.repeats),
            attempt=campaign.attempt,
            aborted=tuple(AbortedAttempt(at=campaign.exported, reason=reason) for reason in campaign.aborted),
        ),
        overrides=dict(campaign.overrides),
        supersedes=campaign.supersedes,
        consent=True,
    )


def sealed(contribution: bytes, submission: bytes, readme: bytes = README) -> dict[str, bytes]:
    """The four files of a bundle, with sums that fit."""
    files = {"contribution.json": contribution, "README.md": readme, "submission.json": submission}
    return {**files, "SHA256SUMS": format_sums(files)}


class Tree:
    """An evidence tree in a folder of its own: the project's scenarios, policy and models, and added
    bundles.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        shutil.copytree(ROOT / "scenarios", root / "scenarios")
        (root / "evidence").mkdir()
        for name in ("policy.json", "models.json"):
            shutil.copyfile(ROOT / "evidence" / name, root / "evidence" / name)
        self.catalogue = catalogue(root)

    def add(self, campaign: Campaign | None = None, **changes: Any) -> Path:
        """Write the bundle of a campaign; the folder that it stands in."""
        campaign = replace(campaign or Campaign(), **changes)
        contribution = make_contribution(campaign, self.catalogue)
        return self.write(campaign, encode_indented(contribution))

    def add_contribution(self, contribution: ContributionBundle, campaign: Campaign | None = None) -> Path:
        """Write a bundle around a contribution, right or wrong."""
        return self.write(campaign or Campaign(), encode_indented(contribution))

    def write(
        self, campaign: Campaign, contribution: bytes, submission: Submission | bytes | None = None
    ) -> Path:
        made = submission if submission is not None else make_submission(campaign, contribution)
        document = encode_indented(made) if isinstance(made, Record) else made
        files = sealed(contribution, document, campaign.readme)
        name = hashlib.sha256(contribution).hexdigest()[:16]
        parent = "controls" if campaign.control else f"community/{campaign.login}"
        folder = self.root / "evidence" / parent / name
        folder.mkdir(parents=True)
        for file, data in files.items():
            (folder / file).write_bytes(data)
        return folder

    def export(self, folder: Path, campaign: Campaign | None = None) -> Path:
        """Write what an export writes: the draft has neither a contributor nor consent."""
        campaign = campaign or Campaign()
        contribution = encode_indented(make_contribution(campaign, self.catalogue))
        full = make_submission(campaign, contribution)
        draft = full.model_copy(
            update={"contributor": Contributor(login="", affiliation=""), "consent": False}
        )
        folder.mkdir(parents=True)
        for file, data in sealed(contribution, encode_indented(draft), campaign.readme).items():
            (folder / file).write_bytes(data)
        return folder


def typical(tree: Tree) -> None:
    """What the registry holds at first: one small model and two controls, all on the reference runtime."""
    image = {
        "lab_image": "pulse-qual-lab:1",
        "runtime.max_tokens": "512",
        "runtime.prefill": "<tool_call>\\n",
        "runtime.tool_choice": "required",
    }
    tree.add(passes=lambda manifest, index: not manifest.faults and index == 1, overrides=image)
    control = Campaign(route="control", overrides=image)
    tree.add(control, model="control:reference")
    tree.add(control, model="control:silent", passes=lambda manifest, _: not manifest.faults)


def full(tree: Tree) -> None:
    """Beside that, some models against Pulse: several contributors, ties, gaps in coverage, all three
    tracks.
    """
    typical(tree)
    every = tuple(manifest.id for manifest in tree.catalogue.track("watch"))
    pulse = Campaign(pulse_version="6.2.0", scenarios=every)
    tree.add(pulse, login="grace", model="anthropic:claude-sonnet-5", route="metered_api", repeats=30, day=2)
    for day, login in enumerate(("alan", "barbara"), 3):
        tree.add(
            pulse, login=login, model="ollama:qwen3:8b", repeats=5, day=day,
            passes=lambda manifest, index: bool(manifest.faults) and index != 3,
        )  # fmt: skip
    tree.add(pulse, login="ken", model="deepseek:deepseek-v4-flash", route="metered_api", repeats=30, day=5)
    tree.add(
        pulse, login="linus", model="ollama:llama4:8b", scenarios=every[:2], day=6,
        passes=lambda _, index: index > 0, affiliation="Example University",
    )  # fmt: skip
    for track in ("investigation", "remediation"):
        names = tuple(manifest.id for manifest in tree.catalogue.track(track))
        tree.add(
            pulse, login="grace", model="anthropic:claude-sonnet-5", route="metered_api", track=track,
            scenarios=names, day=7,
        )  # fmt: skip
