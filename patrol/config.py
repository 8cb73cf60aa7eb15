"""What the runtime is told at start: by flags, and secrets by the environment alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, cast

from patrol.errors import UsageError

ToolChoice = Literal["auto", "required"]
LEVELS = ("monitor", "approval", "assisted", "full")
VERIFY_S = 60.0
OPENAI_HOST = "https://api.openai.com/v1"


@dataclass(frozen=True, slots=True)
class ProviderSettings:
    """How a model behind an OpenAI-compatible server is asked; the key never appears in a repr."""

    base_url: str = ""
    api_key: str = field(default="", repr=False)
    tool_choice: ToolChoice = "auto"
    prefill: str = ""
    temperature: float | None = None
    max_tokens: int = 1024
    request_timeout_s: float = 300.0

    @property
    def configured(self) -> bool:
        return bool(self.base_url or self.api_key)

    @property
    def url(self) -> str:
        return (self.base_url or OPENAI_HOST).rstrip("/")

    @property
    def hosted(self) -> bool:
        return self.url == OPENAI_HOST


@dataclass(frozen=True, slots=True)
class TurnLimits:
    """How many turns each pass may take; 0 tokens means no limit (reference runtime, section 5.3)."""

    scoped: int = 4
    per_flag: int = 3
    base: int = 5
    least: int = 8
    most: int = 40
    evaluation: int = 5
    sweep_most: int = 12
    run_tokens: int = 0

    def main(self, *, scoped: bool, flags: int) -> int:
        if scoped:
            return self.scoped
        return max(self.least, min(self.most, self.base + self.per_flag * flags))

    def sweep(self, findings: int) -> int:
        return min(findings + 2, self.sweep_most)


def provider_settings(environ: Mapping[str, str]) -> ProviderSettings:
    """Read `PATROL_OPENAI_*` and `PATROL_REQUEST_TIMEOUT`. Raises UsageError that names the variable."""
    choice = environ.get("PATROL_OPENAI_TOOL_CHOICE", "auto").strip().lower() or "auto"
    if choice not in ("auto", "required"):
        raise UsageError(f"{choice!r} is neither auto nor required", where="PATROL_OPENAI_TOOL_CHOICE")
    base_url = environ.get("PATROL_OPENAI_BASE_URL", "").strip()
    if base_url and not base_url.startswith(("http://", "https://")):
        raise UsageError("it has to begin with http:// or https://", where="PATROL_OPENAI_BASE_URL")
    temperature = environ.get("PATROL_OPENAI_TEMPERATURE", "").strip()
    return ProviderSettings(
        base_url=base_url,
        api_key=environ.get("PATROL_OPENAI_API_KEY", "").strip(),
        tool_choice=cast("ToolChoice", choice),
        prefill=environ.get("PATROL_OPENAI_PREFILL", ""),
        temperature=_number(environ, "PATROL_OPENAI_TEMPERATURE", 0.0, least=0.0) if temperature else None,
        max_tokens=int(_number(environ, "PATROL_OPENAI_MAX_TOKENS", 1024, least=1)),
        request_timeout_s=_number(environ, "PATROL_REQUEST_TIMEOUT", 300, least=1),
    )


def turn_limits(environ: Mapping[str, str]) -> TurnLimits:
    """Read `PATROL_SCOPED_TURNS` and `PATROL_RUN_TOKEN_LIMIT`. Raises UsageError that names the variable."""
    return TurnLimits(
        scoped=int(_number(environ, "PATROL_SCOPED_TURNS", 4, least=1)),
        run_tokens=int(_number(environ, "PATROL_RUN_TOKEN_LIMIT", 0, least=0)),
    )


def verify_seconds(environ: Mapping[str, str]) -> float:
    """Read `PATROL_VERIFY_SECONDS`: how long the effect of an action is waited for, 60 s at most."""
    seconds = _number(environ, "PATROL_VERIFY_SECONDS", VERIFY_S, least=1)
    if seconds > VERIFY_S:
        raise UsageError(f"{seconds:g} is more than {VERIFY_S:g}", where="PATROL_VERIFY_SECONDS")
    return seconds


def _number(environ: Mapping[str, str], name: str, default: float, *, least: float) -> float:
    text = environ.get(name, "").strip()
    if not text:
        return default
    try:
        value = float(text)
    except ValueError:
        raise UsageError(f"{text!r} is not a number", where=name) from None
    if not least <= value < 1e9:
        raise UsageError(f"{text} is out of range (at least {least:g})", where=name)
    return value
