"""The published schemas of ACP, without their prose, to hold our messages against.

Beside them stands what is in no stable schema and that we speak all the same: fork, titles,
system prompts of version 1, and the models of older agents.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

DATA = Path(__file__).parent / "data"


@cache
def definitions(version: int) -> dict[str, Any]:
    """The ``$defs`` of a version's schema, and those that we know beside it."""
    text = (DATA / f"acp-schema-v{version}.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)["$defs"]
    text = (DATA / "acp-schema-v1-v2-unstable.json").read_text(encoding="utf-8")
    more = json.loads(text)[str(version)]
    found |= more["$defs"]
    for name, fields in more["properties"].items():
        found[name]["properties"] |= fields
    return found


def check(version: int, name: str, value: object) -> None:
    """Fail unless ``value`` is a ``name`` and has no field that a ``name`` does not have."""
    schema = {
        "$ref": f"#/$defs/{name}",
        "unevaluatedProperties": False,
        "$defs": definitions(version),
    }
    Draft202012Validator(schema).validate(value)


def shape(version: int, side: str, method: str, ending: str) -> str:
    """The definition of what ``side`` takes or gives back for a method."""
    names = [
        name
        for name, it in definitions(version).items()
        if it.get("x-side") == side and it.get("x-method") == method
    ]
    stem = {name.removesuffix("Response").removesuffix("Request") for name in names}
    (one,) = stem
    return one if one.endswith("Notification") else one + ending


def check_call(version: int, method: str, params: object) -> None:
    """Fail unless an agent takes these parameters."""
    check(version, shape(version, "agent", method, "Request"), params)


def check_result(version: int, method: str, result: object) -> None:
    """Fail unless an agent takes this as the result of its request."""
    check(version, shape(version, "client", method, "Response"), result)
