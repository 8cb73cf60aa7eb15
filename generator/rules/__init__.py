"""The one table of rules: the checker, its messages and the generated reference page all read it."""

from __future__ import annotations

from generator.rules import content, files
from generator.rules.rule import REGISTRY, Rule, Severity

__all__ = ["REGISTRY", "RULES", "RULESET_VERSION", "Rule", "Severity"]

RULESET_VERSION = "1"
"""Recorded with every verdict: a verdict can only change when this or the evidence changes."""

RULES: dict[str, Rule] = {rule.id: rule for rule in (*files.TABLE, *content.TABLE)}
"""All rules by id, in the order of the reference page."""
