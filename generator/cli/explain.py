"""patrol-evidence explain: one rule, or the list of all."""

from __future__ import annotations

import json
from dataclasses import asdict

import click

from contract.errors import UsageError
from generator.rules import RULES, Rule


@click.command()
@click.argument("rule_id", required=False, metavar="[RULE]")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def explain(rule_id: str | None, as_json: bool) -> None:
    """Say what RULE (such as PQ022) demands, why, and how to mend a breach; without RULE, list all."""
    if rule_id is None:
        shown = list(RULES.values())
    elif rule_id.upper() in RULES:
        shown = [RULES[rule_id.upper()]]
    else:
        raise UsageError(f"there is no rule {rule_id!r}", hint="`patrol-evidence explain` lists all rules")
    if as_json:
        click.echo(
            json.dumps([{**asdict(rule), "severity": rule.severity.value} for rule in shown], indent=2)
        )
    elif rule_id is None:
        for rule in shown:
            click.echo(f"{rule.id}  {rule.name:<20} {rule.demand}")
    else:
        click.echo(_full(shown[0]))


def _full(rule: Rule) -> str:
    return (
        f"{rule.id} {rule.name}\n\n{rule.demand}\n\nWhy:   {rule.why}\nMend:  {rule.mend}\n"
        f"Good:  {rule.good}\nBad:   {rule.bad}"
    )
