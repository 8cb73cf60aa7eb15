"""`pulse_read`: logs, files and read-only programs of a container, bounded and without a shell (7.2, 7.3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from patrol.clock import NS, Clock, from_rfc3339
from patrol.collect.engine import READ_LIMIT, Engine
from patrol.errors import EngineError
from patrol.findings.ledger import RunView
from patrol.reading.command import Outcome, Reading, classify_argv, classify_command
from patrol.schema import obj, text
from patrol.tools.registry import Arguments, Code, Tool, ToolResult, failure, success

ACTIONS = ("exec", "file", "find", "tail", "logs")
LINES = 500
DEPTH = "6"
SCHEMA = obj(
    {
        "action": text("What to read", enum=ACTIONS),
        "resource_id": text("The id of a running container"),
        "command": text("For exec: one read-only command, no shell syntax"),
        "path": text("For file, find and tail: an absolute path"),
        "pattern": text("For find: a name pattern"),
        "lines": {"type": "integer", "maximum": LINES, "description": "For tail and logs"},
        "since": text("For logs: a time such as 2026-11-30T12:00:00Z"),
    },
    required=("action", "resource_id"),
)


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads inside of the containers that one investigation may look into."""

    view: RunView
    engine: Engine
    clock: Clock

    def tool(self) -> Tool:
        return Tool("pulse_read", "Read logs, files or the output of a read-only command.", SCHEMA, self.read)

    def read(self, arguments: Arguments) -> ToolResult:
        """One bounded read; a command that might change something is refused and nothing runs."""
        container = self._container(str(arguments["resource_id"]))
        if isinstance(container, ToolResult):
            return container
        try:
            if arguments["action"] == "logs":
                return self._logs(container, arguments)
            reading = _reading(arguments)
            if not reading.allowed:
                return _refused(reading)
            code, output = self.engine.run(container, reading.argv)
        except EngineError as exc:
            return failure(Code.EXECUTION_FAILED, exc.message)
        return success(exit_code=code, output=output, cut=len(output) >= READ_LIMIT)

    def _container(self, token: str) -> str | ToolResult:
        wanted = token.strip().lower()
        found = [one for one in self.view.identities if wanted in one.ids]
        resource = self.view.resources[found[0].resource_id] if len(found) == 1 else None
        if resource is None or resource.docker is None:
            return failure(Code.NOT_FOUND, "no container has that id")
        if resource.id not in self.view.in_scope:
            return failure(
                Code.POLICY_BLOCKED, f"{resource.name} is not part of this investigation", blocked=True
            )
        return resource.docker.container_id

    def _logs(self, container: str, arguments: Arguments) -> ToolResult:
        since = arguments.get("since")
        try:
            since_ns = from_rfc3339(str(since)) if since else None
        except ValueError:
            return failure(Code.INVALID_INPUT, "since has to look like 2026-11-30T12:00:00Z")
        if since_ns is not None and since_ns > self.clock.now_ns() + 60 * NS:
            return failure(Code.INVALID_INPUT, "since lies in the future")
        output = self.engine.logs(container, lines=_lines(arguments), since_ns=since_ns)
        return success(output=output, cut=len(output) >= READ_LIMIT)


def _lines(arguments: Arguments) -> int:
    lines = arguments.get("lines")
    return min(max(lines, 1), LINES) if isinstance(lines, int) else 100


def _reading(arguments: Arguments) -> Reading:
    if arguments["action"] == "exec":
        return classify_command(str(arguments.get("command", "")))
    path = str(arguments.get("path", ""))
    if not path.startswith("/"):
        return Reading(Outcome.REFUSED)
    vectors: Mapping[str, list[str]] = {
        "file": ["head", "-c", str(READ_LIMIT), "--", path],
        "tail": ["tail", "-n", str(_lines(arguments)), "--", path],
        "find": ["find", path, "-maxdepth", DEPTH, "-name", str(arguments.get("pattern", "*"))],
    }
    return classify_argv(vectors[str(arguments["action"])])


def _refused(reading: Reading) -> ToolResult:
    if reading.outcome is Outcome.SENSITIVE:
        return failure(Code.SENSITIVE, "secrets may be kept there; nothing was read", blocked=True)
    message = (
        "only commands that are known to read may run, as plain words without shell syntax; nothing was run"
    )
    return failure(Code.POLICY_BLOCKED, message, blocked=True)
