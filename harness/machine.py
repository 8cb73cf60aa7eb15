"""What kind of machine the harness runs on, as coarse as an environment class needs it."""

from __future__ import annotations

import re
from pathlib import Path

_GUEST = re.compile(r"^flags\s*:.*\bhypervisor\b", re.MULTILINE)


def virtualisation(root: Path = Path("/")) -> str:
    """`container`, `wsl`, `vm` or `bare-metal` on Linux, empty where it cannot be told."""
    kernel = _text(root / "proc/sys/kernel/osrelease").lower()
    if not kernel:
        return ""
    if any((root / marker).exists() for marker in (".dockerenv", "run/.containerenv")):
        return "container"
    if "container=" in _text(root / "proc/1/environ"):
        return "container"
    if "microsoft" in kernel:
        return "wsl"
    return "vm" if _GUEST.search(_text(root / "proc/cpuinfo")) else "bare-metal"


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
