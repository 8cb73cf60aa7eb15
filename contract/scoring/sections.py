"""Sections of an investigation's summary, and what they must name (scoring format, section 13)."""

from __future__ import annotations

from contract.text import fold_equal, lower, trim
from contract.truth import GroundTruth

ROOT_CAUSE = "Root Cause"
AFFECTED = "Affected Resources"


def section(summary: str, heading: str) -> str:
    """The text below the first heading of this name, up to the next heading of any level; trimmed."""
    lines: list[str] = []
    inside = False
    for line in summary.split("\n"):
        bare = trim(line)
        if not bare.startswith("#"):
            lines += [line] if inside else []
        elif inside:
            break
        else:
            inside = fold_equal(trim(bare.lstrip("#")), heading)
    return trim("\n".join(lines))


def names_all(summary: str, heading: str, aliases: tuple[str, ...], ground: GroundTruth) -> bool:
    """Whether a section names each of these resources by its collected name or id."""
    if not aliases:
        return True
    text = lower(section(summary, heading))
    return bool(text) and all(_names(text, alias, ground) for alias in aliases)


def _names(text: str, alias: str, ground: GroundTruth) -> bool:
    resource = (ground.resources or {}).get(alias)
    if resource is None:
        return False
    spellings = (lower(trim(resource.name)), lower(trim(resource.resource_id)))
    return any(spelling and spelling in text for spelling in spellings)
