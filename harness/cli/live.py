"""The live commands: gates, then runs strictly one after the other, then the worst verdict as exit code."""

from __future__ import annotations

import fcntl
import json
import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import click

from contract.catalogue import Catalogue
from contract.errors import EnvironmentMissingError, PatrolQualificationError
from contract.manifest import Manifest
from contract.names import default_run_id
from contract.report import RunReport
from contract.text import fold_equal
from harness.artifacts import FILE_MODE, FOLDER_MODE, capture, write_folder
from harness.cli.gates import (
    Campaign,
    LiveOptions,
    Trial,
    pass_gates,
    require_authorization,
    select_one,
    select_track,
)
from harness.cli.plain import safe
from harness.cli.subject import Subject, Subjects, subjects
from harness.cli.terminal import progress
from harness.clock import Cancellation, SystemClock
from harness.lab.lab import open_lab
from harness.machine import virtualisation
from harness.resources import load_catalogue, load_prices
from harness.runner.journal import Watcher
from harness.runner.plan import RunPlan
from harness.runner.run import Runner, RunOutcome, Verdict, judge

Select = Callable[[LiveOptions, Catalogue], tuple[Manifest, ...]]

__all__ = ["LiveOptions", "run_live", "run_suite"]


def run_live(options: LiveOptions) -> int:
    """Run one scenario as often as asked; returns the exit code."""
    return _run(options, select_one)


def run_suite(options: LiveOptions) -> int:
    """Run every scenario of a track; returns the exit code."""
    return _run(options, select_track)


def _run(options: LiveOptions, select: Select) -> int:
    catalogue = load_catalogue(options.catalog)
    require_authorization(options)
    campaign = pass_gates(options, select(options, catalogue))
    cancellation = Cancellation()
    with cancellation.on_signals(lambda text: click.echo(f"patrol-qualify: {text}", err=True)):
        return CampaignRun(campaign, cancellation).run()


class CampaignRun:
    """One invocation of a live command."""

    def __init__(self, campaign: Campaign, cancellation: Cancellation) -> None:
        self._campaign = campaign
        self._cancellation = cancellation
        self._clock = SystemClock(cancellation)
        self._prices = load_prices()
        self._worst = 0

    def run(self) -> int:
        """Run all trials; the worst verdict is the exit code, a signal's own when one ended it."""
        try:
            self._run_all()
        except PatrolQualificationError as exc:
            # Whatever ended the campaign, something left in a lab is what the operator must hear of.
            if self._worst != Verdict.RESIDUE.exit_code:
                raise
            click.echo(f"patrol-qualify: {safe(str(exc))}", err=True)
        return self._worst

    def _run_all(self) -> None:
        options = self._campaign.options
        options.artifacts.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
        with (
            only_one(options.artifacts),
            subjects(self._campaign, self._clock, self._cancellation) as given,
        ):
            for trial in self._fitting(given):
                for _ in range(trial.repeats):
                    self._cancellation.check()
                    self._one(trial, given)

    def _fitting(self, given: Subjects) -> tuple[Trial, ...]:
        """The trials that the server's mode allows; the others are named and count as failed."""
        if self._campaign.options.embedded or not self._campaign.options.qualification_track:
            return self._campaign.trials
        with given.subject(self._campaign.trials[0].manifest) as subject:
            level = subject.pulse.autonomy().effective
        fits = {"autonomous": ("full", "autonomous")}
        fitting = []
        for trial in self._campaign.trials:
            mode = trial.manifest.patrol.mode
            if any(fold_equal(level, name) for name in fits.get(mode, (mode,))):
                fitting.append(trial)
            else:
                click.echo(f"[SKIP] scenario={trial.manifest.id} needs autonomy {mode}, server is in {level}")
                self._worst = max(self._worst, Verdict.FAILED.exit_code)
        return tuple(fitting)

    def _one(self, trial: Trial, given: Subjects) -> None:
        quiet = self._campaign.options.quiet
        with progress(quiet=quiet) as watcher, given.subject(trial.manifest) as subject:
            outcome = self._measure(trial, subject, watcher)
        report, verdict, folder, problem = self._store(outcome)
        self._worst = max(self._worst, verdict.exit_code)
        announce(self._campaign.options, report, verdict, folder, problem)
        if outcome.cancelled is not None:
            raise outcome.cancelled

    def _measure(self, trial: Trial, subject: Subject, watcher: Watcher) -> RunOutcome:
        options = self._campaign.options
        plan = RunPlan(
            manifest=trial.manifest,
            run_id=default_run_id(datetime.now(UTC), secrets.token_bytes(4)),
            revision=self._campaign.revision,
            expected_version=options.expected_pulse_version,
            expected_route=subject.route,
            authorize_remediation=options.authorize_remediation,
            challenge=self._campaign.challenge,
            versions={"virtualisation": virtualisation()},
        )
        with open_lab(
            trial.target,
            trial.manifest,
            plan.run_id,
            image_override=options.lab_image,
            clock=self._clock,
        ) as lab:
            return Runner(
                plan,
                lab,
                subject.pulse,
                clock=self._clock,
                prices=self._prices,
                watcher=watcher,
                shield=self._cancellation.shielded,
            ).run()

    def _store(self, outcome: RunOutcome) -> tuple[RunReport, Verdict, Path, str]:
        folder = self._campaign.options.artifacts / outcome.report.run_id
        stored = capture(outcome.report, self._clock.now())
        try:
            write_folder(folder, stored.files)
        except PatrolQualificationError as exc:
            verdict = max(outcome.verdict, Verdict.INVALID, key=lambda one: one.exit_code)
            return stored.report, verdict, folder, f"report: {exc}"
        return stored.report, judge(stored.report, outcome.failures), folder, ""


def announce(options: LiveOptions, report: RunReport, verdict: Verdict, folder: Path, problem: str) -> None:
    """Print one run's line, and beneath it on standard error why it did not pass."""
    score, passed = report.score, verdict is Verdict.PASSED
    reasons = [*(problem,) * bool(problem), *score.hard_failures, *score.gate_failures, *report.errors]
    reasons += [f"teardown: {text}" for text in report.teardown.errors]
    if options.json:
        line = {
            "run_id": report.run_id,
            "scenario": report.manifest.id,
            "model": report.environment.model,
            "verdict": verdict.value,
            "passed": passed,
            "recall": score.recall,
            "false_positives": score.false_positives,
            "failures": reasons,
            "artifacts": str(folder),
        }
        click.echo(json.dumps(line))
    elif not (options.quiet and passed):
        click.echo(run_line(report, folder, passed=passed))
    if not passed and not options.json:
        state = "" if verdict is Verdict.FAILED else f"{verdict.value}: "
        for reason in reasons:
            click.echo(f"  {state}{safe(reason)}", err=True)


def run_line(report: RunReport, folder: Path, *, passed: bool) -> str:
    """The line of a run (runner, section 7)."""
    score = report.score
    return (
        f"[{'PASS' if passed else 'FAIL'}] {report.run_id} scenario={report.manifest.id} "
        f"model={safe(report.environment.model)} recall={score.recall * 100:.1f}% "
        f"fp={score.false_positives} artifacts={folder}"
    )


@contextmanager
def only_one(artifacts: Path) -> Iterator[None]:
    """Hold a lock, so that no two campaigns of one artifacts folder break containers at the same time."""
    descriptor = os.open(artifacts / ".lock", os.O_WRONLY | os.O_CREAT, FILE_MODE)
    with os.fdopen(descriptor, "w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as exc:
            raise EnvironmentMissingError(
                "another campaign is under way", where=str(artifacts), hint="wait for it; runs are serial"
            ) from exc
        yield
