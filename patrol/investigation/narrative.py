"""What an investigation has to say, section by section (reference runtime, section 9)."""

from __future__ import annotations

import re

from patrol.records import Finding

SECTIONS = ("Investigation Summary", "Root Cause", "Affected Resources", "Recommendation", "Conclusion")
NEEDS_ATTENTION = "NEEDS_ATTENTION"


def has_diagnosis(text: str) -> bool:
    """Whether something stands under `### Root Cause`."""
    found = re.search(
        r"^###\s*Root Cause\s*$(.*?)(?=^###\s|\Z)", text, re.MULTILINE | re.DOTALL | re.IGNORECASE
    )
    return found is not None and bool(found[1].strip())


def fallback(finding: Finding) -> str:
    """What is said where the model said nothing: what was found, and that a person has to look."""
    told = {
        SECTIONS[0]: f"{finding.title}. The investigation gave no account of its own.",
        SECTIONS[1]: f"{NEEDS_ATTENTION}: not determined.",
        SECTIONS[2]: f"{finding.resource_name} ({finding.resource_id})",
        SECTIONS[3]: "A person has to look into this.",
        SECTIONS[4]: NEEDS_ATTENTION,
    }
    return "\n\n".join(f"### {name}\n{text}" for name, text in told.items())
