"""Whether an observation satisfies a predicate (lab format, section 7; manifest format, section 8)."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable
from typing import Final, TypeAlias

from contract.errors import PatrolQualificationError
from contract.jsontext import NUMBER, Node, float_text, parse, string_value
from contract.rawjson import number_value
from contract.text import shown

Observed: TypeAlias = bool | int | float | str | None

PROBES: Final = frozenset(
    {
        "inventory.same_as_pre",
        "docker.exists",
        "docker.status",
        "docker.running",
        "docker.health",
        "docker.restart_count",
        "docker.exit_code",
        "docker.network_attached",
        "docker.scratch_available_bytes",
    }
)
_ORDER: Final[dict[str, Callable[[float, float], bool]]] = {
    "gte": operator.ge,
    "lte": operator.le,
    "gt": operator.gt,
    "lt": operator.lt,
}
OPERATORS: Final = frozenset({"eq", "not_eq", "in", *_ORDER})
_NUMBER: Final = re.compile(NUMBER)


class PredicateError(PatrolQualificationError):
    """A predicate cannot be decided; an undecided predicate has not passed."""


def holds(operator_name: str, value: str, observed: Observed) -> bool:
    """Whether `observed <operator> value` is true; `value` is JSON text, empty when absent.

    Numbers compare as numbers, everything else as text; arrays and objects equal nothing. Raises
    PredicateError for an unknown operator, an absent value, an order between things that are no numbers, and
    `in` without an array.
    """
    if operator_name not in OPERATORS:
        raise PredicateError(
            f"unknown operator {shown(operator_name)}", hint="use " + ", ".join(sorted(OPERATORS))
        )
    if not value:
        raise PredicateError("the predicate has no value", hint="give one, null if need be")
    wanted = parse(value)
    if operator_name in _ORDER:
        return _ORDER[operator_name](_number(observed, "observation"), _number(_plain(wanted), "value"))
    if operator_name == "in":
        if wanted.kind != "array":
            raise PredicateError(f"`in` needs an array, not {shown(value)}")
        return any(_equal(item, observed) for item in wanted.items)
    return _equal(wanted, observed) is (operator_name == "eq")


def _equal(wanted: Node, observed: Observed) -> bool:
    if wanted.kind in ("array", "object"):
        return False
    value = _plain(wanted)
    if value is None or observed is None:
        return value is observed
    if _is_number(value) and _is_number(observed):
        return value == observed
    return _text(value) == _text(observed)


def _plain(node: Node) -> Observed:
    """The value of a scalar; a container has none that could be compared."""
    if node.kind == "number":
        return number_value(node.lexeme)
    if node.kind == "string":
        return string_value(node.lexeme)
    return {"true": True, "false": False}.get(node.kind)


def _is_number(value: Observed) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _text(value: Observed) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return float_text(value) if isinstance(value, float) else str(value)


def _number(value: Observed, role: str) -> float:
    """A number, or a text that spells one as JSON would."""
    if isinstance(value, str) and _NUMBER.fullmatch(value):
        value = number_value(value)
    if isinstance(value, bool | str) or value is None or (isinstance(value, float) and math.isinf(value)):
        raise PredicateError(f"the {role} {shown(_text(value))} is not a number, so it has no order")
    return value
