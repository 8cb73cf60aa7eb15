"""The small part of JSON Schema that tool arguments use, checked with every fault named."""

from __future__ import annotations

from collections.abc import Mapping

Schema = Mapping[str, object]
TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "boolean": (bool,),
    "object": (dict,),
}


def text(description: str, *, enum: tuple[str, ...] = ()) -> dict[str, object]:
    """The schema of a string, optionally one of `enum`."""
    return {"type": "string", "description": description, **({"enum": list(enum)} if enum else {})}


def obj(properties: Mapping[str, Schema], *, required: tuple[str, ...] = ()) -> dict[str, object]:
    """The schema of a closed object."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(required),
        "additionalProperties": False,
    }


def properties_of(schema: Schema) -> Mapping[str, Schema]:
    found = schema.get("properties")
    return found if isinstance(found, Mapping) else {}


def enums_of(schema: Schema) -> dict[str, tuple[str, ...]]:
    """The enum of each property that has one."""
    found = {name: rule.get("enum") for name, rule in properties_of(schema).items()}
    return {name: tuple(enum) for name, enum in found.items() if isinstance(enum, list)}


def faults(arguments: Mapping[str, object], schema: Schema) -> tuple[str, ...]:
    """Everything that keeps `arguments` from fitting `schema`, as short texts that name the argument."""
    known = properties_of(schema)
    required = schema.get("required")
    missing = [name for name in required if name not in arguments] if isinstance(required, list) else []
    found = [f"{name} is missing" for name in missing]
    found += [f"{name} is not an argument of this tool" for name in arguments if name not in known]
    for name, rule in known.items():
        if name in arguments:
            found += _value_faults(name, arguments[name], rule)
    return tuple(found)


def _value_faults(name: str, value: object, rule: Schema) -> list[str]:
    wanted = str(rule.get("type", "string"))
    if not isinstance(value, TYPES[wanted]) or (wanted == "integer" and isinstance(value, bool)):
        return [f"{name} has to be of type {wanted}"]
    enum = rule.get("enum")
    if isinstance(enum, list) and value not in enum:
        return [f"{name} has to be one of {', '.join(map(str, enum))}"]
    maximum = rule.get("maximum")
    if isinstance(maximum, int) and isinstance(value, int) and value > maximum:
        return [f"{name} may be at most {maximum}"]
    return []
