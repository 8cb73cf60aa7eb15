"""The session safety state machine (assistant safety, sections 1 to 5 and 9)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum

RECOVERY_TTL_NS = 10 * 60 * 1_000_000_000


class Kind(StrEnum):
    """What a tool does to the world, as far as this machine is concerned."""

    RESOLVE = "resolve"
    READ = "read"
    WRITE = "write"
    USER_INPUT = "user_input"


class State(StrEnum):
    """Where a session stands."""

    RESOLVING = "RESOLVING"
    READING = "READING"
    WRITING = "WRITING"
    VERIFYING = "VERIFYING"


REASONS = {
    State.RESOLVING: "POLICY_BLOCKED: a change needs a target that this session has found to exist",
    State.VERIFYING: "POLICY_BLOCKED: the last change is not verified, so no further change is possible yet",
}
FINAL_REASON = (
    "POLICY_BLOCKED: the last change has not been verified, so nothing can be concluded about it yet"
)


@dataclass(frozen=True, slots=True)
class Blocked:
    """A refusal by state: what was attempted, where the session stood, and the boundary that was met."""

    state: State
    reason: str
    tool_name: str = ""
    tool_kind: str = ""
    recoverable: bool = True
    code: str = "FSM_BLOCKED"

    def payload(self, recovery_id: str = "") -> dict[str, object]:
        """The tool result that the model gets (assistant safety, section 4)."""
        details = {
            "state": self.state.value,
            "tool": self.tool_name,
            "tool_kind": self.tool_kind,
            "recoverable": self.recoverable,
            "recovery_id": recovery_id,
        }
        error = {"code": self.code, "message": self.reason, "blocked": True, "retryable": True}
        return {"ok": False, "error": {**error, "details": details}}


@dataclass(slots=True)
class Recovery:
    """A blocked attempt that a later success of the same tool makes good."""

    recovery_id: str
    error_code: str
    tool: str
    created_at: int
    attempts: int = 1


@dataclass(slots=True)
class SafetyMachine:
    """One session's state; `now` gives nanoseconds. Nothing here runs a tool."""

    now: Callable[[], int]
    state: State = State.RESOLVING
    wrote_this_episode: bool = False
    read_after_write: bool = False
    consecutive_verify_blocks: int = 0
    last_write_tool: str = ""
    last_write_at: int | None = None
    last_read_tool: str = ""
    last_read_at: int | None = None
    _recoveries: dict[tuple[str, str], Recovery] = field(default_factory=dict)
    _tracked: int = 0

    def can_execute(self, kind: str, tool: str) -> Blocked | None:
        """None when a call of this kind is allowed now; an unknown kind counts as a write (section 2.1)."""
        if kind in (Kind.RESOLVE, Kind.READ, Kind.USER_INPUT):
            return None
        reason = REASONS.get(self.state)
        if reason is None:
            return None
        if self.state is State.VERIFYING:
            self.consecutive_verify_blocks += 1
        return Blocked(self.state, reason, tool, str(kind))

    def on_success(self, kind: str, tool: str) -> None:
        """Take note of a call that succeeded (section 2.2); every other outcome changes nothing."""
        if kind == Kind.USER_INPUT:
            return
        if kind in (Kind.RESOLVE, Kind.READ):
            self._read(tool)
        else:
            self._wrote(tool)

    def _read(self, tool: str) -> None:
        self.last_read_tool, self.last_read_at = tool, self.now()
        if self.state is State.RESOLVING:
            self.state = State.READING
        elif self.state is State.VERIFYING:
            self.read_after_write = True
            self.consecutive_verify_blocks = 0

    def _wrote(self, tool: str) -> None:
        self.state = State.VERIFYING
        self.wrote_this_episode, self.read_after_write = True, False
        self.last_write_tool, self.last_write_at = tool, self.now()

    def can_final_answer(self) -> Blocked | None:
        """None unless the last change is still unverified."""
        if self.state is State.VERIFYING and not self.read_after_write:
            return Blocked(self.state, FINAL_REASON)
        return None

    def complete_verification(self) -> None:
        """Leave VERIFYING once a read has followed the write; otherwise nothing happens."""
        if self.state is State.VERIFYING and self.read_after_write:
            self.state = State.READING
            self.read_after_write = False
            self.consecutive_verify_blocks = 0

    def track_pending_recovery(self, code: str, tool: str) -> str:
        """Remember a blocked attempt; a repeated block of the same tool and code counts another attempt."""
        self._expire()
        known = self._recoveries.get((tool, code))
        if known is not None:
            known.attempts += 1
            return known.recovery_id
        self._tracked += 1
        recovery = Recovery(f"{tool}-{self._tracked}", code, tool, self.now())
        self._recoveries[tool, code] = recovery
        return recovery.recovery_id

    def check_recovery_success(self, tool: str) -> Recovery | None:
        """Clear what is pending for `tool` after it succeeded, and give the oldest of it."""
        self._expire()
        mine = [key for key in self._recoveries if key[0] == tool]
        cleared = [self._recoveries.pop(key) for key in mine]
        return min(cleared, key=lambda recovery: recovery.created_at, default=None)

    def pending_recoveries(self) -> tuple[Recovery, ...]:
        """What is still pending, oldest first."""
        return tuple(sorted(self._recoveries.values(), key=lambda recovery: recovery.created_at))

    def _expire(self) -> None:
        oldest = self.now() - RECOVERY_TTL_NS
        self._recoveries = {k: r for k, r in self._recoveries.items() if r.created_at >= oldest}

    def reset(self) -> None:
        """Forget everything, pending recoveries included."""
        self.reset_keep_progress()
        self.state = State.RESOLVING
        self.last_write_tool = self.last_read_tool = ""
        self.last_write_at = self.last_read_at = None
        self._recoveries.clear()

    def reset_keep_progress(self) -> None:
        """Begin a new episode on the targets that are already known."""
        if self.state is State.VERIFYING:
            self.state = State.READING
        self.wrote_this_episode = self.read_after_write = False
        self.consecutive_verify_blocks = 0

    def as_json(self) -> dict[str, object]:
        """The serialised members; pending recoveries are not among them (section 1)."""
        return {
            "state": self.state.value,
            "wrote_this_episode": self.wrote_this_episode,
            "read_after_write": self.read_after_write,
            "consecutive_verify_blocks": self.consecutive_verify_blocks,
            "last_write_tool": self.last_write_tool,
            "last_write_at": self.last_write_at,
            "last_read_tool": self.last_read_tool,
            "last_read_at": self.last_read_at,
        }
