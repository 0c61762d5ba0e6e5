"""Params and results that do not fit their LSP types: which field it is, and how to go on.

Invariant: what is said about a misfit names fields as they are on the wire, never Python's.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from cattrs import transform_error
from lsprotocol import types
from pygls.exceptions import JsonRpcException

if TYPE_CHECKING:
    from cattrs import Converter

_MISSING = "required field missing"


def params(converter: Converter, kind: type[Any], method: str, raw: Any) -> Any:
    """Return the params of a message of the LSP type ``kind``; ``raw`` is plain JSON.

    What does not fit in ``initialize`` is left out: otherwise one new value in a list of
    abilities would keep a newer editor out. Elsewhere it raises ``JsonRpcException`` with
    a message that names the first field at fault, and the others in ``data.detail``.
    """
    whole = {"jsonrpc": "2.0", "id": 0, "method": method}
    if raw is not None:
        whole["params"] = raw
    try:
        return converter.structure(whole, kind).params
    except Exception as error:
        if method == types.INITIALIZE and _pruned(raw, error):
            return params(converter, kind, method, raw)
        first, *more = _faults(error)
        data = {"detail": "\n".join(more)} if more else None
        code = types.ErrorCodes.InvalidParams.value
        raise JsonRpcException(first, code, data) from error


def _faults(error: Exception) -> list[str]:
    found = []
    for what, path in _places(error):
        name = path.removeprefix(".") or "params"
        found.append(f"{name} is missing" if what == _MISSING else f"{name} does not fit")
    return found


def _pruned(raw: Any, error: Exception) -> bool:
    """Take out what does not fit, put in what is missing; say whether that was anything."""
    if not isinstance(raw, dict):
        return False
    required: dict[str, Any] = {"capabilities": {}, "processId": None, "rootUri": None}
    if missing := required.keys() - raw.keys():
        raw.update({name: required[name] for name in missing})
        return True
    changed = False
    # From behind, so that indexes into the lists stay true.
    for _, path in reversed(_places(error)):
        steps = re.findall(r"(\w+)|\[(\d+)\]", path)
        changed |= _removed(raw, [name or int(index) for name, index in steps])
    return changed


def _places(error: Exception) -> list[tuple[str, str]]:
    places = []
    for text in transform_error(error):
        what, _, path = text.rpartition(" @ $")
        wire_path = re.sub(r"_(\w?)", lambda found: found[1].upper(), path)
        places.append((what, wire_path.removeprefix(".params")))
    return places


def _removed(raw: Any, steps: list[str | int]) -> bool:
    # What is missing cannot be removed; then the thing that should have held it goes.
    while steps:
        holder = raw
        try:
            for step in steps[:-1]:
                holder = holder[step]
            del holder[steps[-1]]
        except (LookupError, TypeError):
            steps = steps[:-1]
        else:
            return True
    return False
