"""Whether submission.json is complete, bound to the contribution beside it, and honest about the campaign."""

from __future__ import annotations

from collections import Counter
from pathlib import PurePosixPath

from contract.contribution import ContributionBundle
from contract.submission import Submission
from generator.findings import Findings
from generator.layout import BUNDLE_ID, LOGIN, Kind, Place


def check_declaration(
    submission: Submission,
    contribution: ContributionBundle,
    digest: str,
    place: Place,
    path: PurePosixPath,
    findings: Findings,
) -> None:
    """Note every way in which `submission` does not fit the contribution with this digest at this place."""
    if submission.contribution_sha256 != digest:
        what = (
            f"names {submission.contribution_sha256[:16] or 'no digest'}, the contribution has {digest[:16]}"
        )
        findings.add("PQ070", path, what, "/contribution_sha256")
    login = submission.contributor.login
    if place.kind is Kind.COMMUNITY and login != place.contributor:
        what = f"names {login!r}, the folder is {place.contributor!r}"
        findings.add("PQ071", path, what, "/contributor/login")
    elif not LOGIN.fullmatch(login):
        findings.add("PQ071", path, f"{login!r} is no GitHub login in lower case", "/contributor/login")
    if not submission.consent:
        findings.add("PQ072", path, "consent is not given", "/consent")
    if submission.supersedes and not BUNDLE_ID.fullmatch(submission.supersedes):
        findings.add("PQ061", path, "is no bundle id", "/supersedes")
    _check_campaign(submission, contribution, path, findings)


def _check_campaign(
    submission: Submission, contribution: ContributionBundle, path: PurePosixPath, findings: Findings
) -> None:
    campaign = submission.campaign
    if campaign.attempt < 1:
        findings.add("PQ073", path, f"attempt {campaign.attempt}; the first one is 1", "/campaign/attempt")
    if campaign.track != contribution.runs[0].track:
        what = f"declares {campaign.track!r}, the runs are of {contribution.runs[0].track!r}"
        findings.add("PQ073", path, what, "/campaign/track")
    done = Counter((run.model, run.scenario_id) for run in contribution.runs)
    declared = campaign.runs_per_scenario
    for model in sorted({run.model for run in contribution.runs}):
        for scenario in sorted(declared.keys() | {name for owner, name in done if owner == model}):
            what = _shortfall(done[model, scenario], declared.get(scenario, 0), bool(campaign.aborted))
            if what:
                findings.add("PQ073", path, f"{scenario}: {what}", "/campaign/runs_per_scenario")


def _shortfall(done: int, declared: int, explained: bool) -> str:
    if done > declared:
        return f"{done} runs, {declared} declared"
    if done < declared and not explained:
        return f"{done} runs of {declared} declared, and no aborted attempt listed"
    return ""
