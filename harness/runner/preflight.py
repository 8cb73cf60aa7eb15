"""Phase 1: is this server in the state that the scenario needs? (runner, section 2.1)"""

from __future__ import annotations

from typing import Final

from contract.challenge import normalise_challenge
from contract.manifest import Manifest
from contract.record import zero
from contract.report import Environment
from contract.text import fold_equal, lower, trim
from harness.client.lease import check_route
from harness.client.records import PatrolStatus, Settings, Version
from harness.client.routes import CONTROL, Route, effective_route, route_kind
from harness.runner.context import RunContext
from harness.runner.errors import PreflightError
from harness.runner.plan import RunPlan
from harness.runner.ports import Clock, Lab, Pulse

_AUTONOMOUS: Final = frozenset({"autonomous", "full"})


def attributed_environment(plan: RunPlan, lab: Lab, pulse: Pulse, clock: Clock) -> Environment:
    """What is known before the server has been asked, so that even a failed run can be attributed."""
    route = plan.expected_route
    return zero(Environment).model_copy(
        update={
            "git_sha": plan.revision.sha,
            "git_dirty": plan.revision.dirty,
            "pulse_base_url": pulse.base_url,
            "docker_target": lab.label,
            "model": str(route) if route else "",
            "provider": route.provider if route else "",
            "community_challenge_nonce": normalise_challenge(plan.challenge),
            "captured_at": clock.now(),
            "versions": dict(plan.versions),
        }
    )


def preflight(context: RunContext) -> None:
    """Ask the server who it is and whether Patrol could run, and record the answers."""
    pulse, plan, manifest = context.pulse, context.plan, context.plan.manifest
    settings, status, version = pulse.settings(), pulse.status(), pulse.version()
    _check_version(version, plan.expected_version)
    route = effective_route(settings)
    provider = lower(trim(status.readiness.provider)) or Route.parse(route).provider
    if manifest.patrol.require_real_model:
        _check_subject(settings, status, version, provider)
    _check_mode(manifest, pulse.autonomy().effective)
    if plan.expected_route is not None:
        check_route(plan.expected_route, settings, status)
    runtime = {f"runtime.{name}": value for name, value in settings.reference_runtime.items()}
    named = {"runtime": version.runtime} if version.runtime else {}
    before = context.evidence.environment
    context.evidence.environment = before.model_copy(
        update={
            "pulse_version": version.version,
            "model": route,
            "provider": provider,
            "inference_route": route_kind(provider, settings),
            "captured_at": context.clock.now(),
            "versions": {**before.versions, **named, **runtime},
        }
    )


def _check_version(version: Version, expected: str) -> None:
    if not version.version:
        raise PreflightError("the server does not say which version it is")
    if expected and version.version != expected:
        raise PreflightError(
            f"the server is version {version.version!r}, expected {expected!r}",
            hint="correct --expected-pulse-version or update the server",
        )


def _check_subject(settings: Settings, status: PatrolStatus, version: Version, provider: str) -> None:
    """A real model, or one of the built-in controls on the reference runtime."""
    ready = status.readiness
    if not (settings.enabled and settings.patrol_enabled):
        raise PreflightError(
            "AI or Patrol is switched off on the server", hint="enable Patrol in its settings"
        )
    if not ready.ready:
        reason = ready.summary or ready.cause or ready.status or "no reason given"
        raise PreflightError(f"Patrol is not ready: {reason}", hint="see the server's Patrol readiness")
    if not provider or not effective_route(settings):
        raise PreflightError("the server names no model", hint="choose one with --model")
    if provider == "demo":
        raise PreflightError("the server runs in demo mode, which asks no model")
    if provider == CONTROL and not version.is_reference:
        raise PreflightError("only the reference runtime has controls; this server claims one")


def _check_mode(manifest: Manifest, effective: str) -> None:
    wanted = manifest.patrol.mode
    both_autonomous = lower(wanted) in _AUTONOMOUS and lower(effective) in _AUTONOMOUS
    if not (both_autonomous or fold_equal(wanted, effective)):
        raise PreflightError(
            f"the scenario needs autonomy {wanted!r}, the server is in {effective!r}",
            hint="change the server's Patrol autonomy, or use --embedded",
        )
