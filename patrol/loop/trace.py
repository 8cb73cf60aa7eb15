"""What of a call may be kept and shown."""

from __future__ import annotations

import json

from patrol.loop.admission import parse_arguments
from patrol.providers.base import Call

PROPOSE = "patrol_propose_action"
REDACTED = "[redacted-proposal-params]"


def traced(call: Call) -> str:
    """A call's arguments as the model wrote them, but for the parameter values of a proposal."""
    if call.name != PROPOSE:
        return call.arguments
    arguments = parse_arguments(call.arguments)
    if arguments is None:
        return json.dumps({"unreadable": REDACTED})
    if not arguments.get("params"):
        return call.arguments
    return json.dumps({**arguments, "params": REDACTED}, ensure_ascii=False)
