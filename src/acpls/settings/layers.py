"""One layer of raw settings: what of it can be used, and the words for what cannot.

Invariant: pure; any JSON value goes in, and nothing is raised.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from typing import Any

from acpls.settings.keys import KEYS, Each, Joined, Node, Value


def usable(raw: object, node: Node, path: str, problems: list[str]) -> Any:
    """Give the part of a raw value that can be used; ``None``: nothing of it."""
    if raw is None:
        return None
    if node is None:
        problems.append(f"{path} has no effect in this version")
        return None
    if isinstance(node, Value):
        if node.fits(raw):
            return raw
        problems.append(f"{path} must be {node.wanted}; it is ignored")
        return None
    if isinstance(node, Joined):
        return node.usable(raw, path, problems)
    if not isinstance(raw, Mapping):
        problems.append(f"{path or 'the settings'} must be an object; ignored")
        return None
    taken = {}
    for key, value in raw.items():
        place = place_of(path, key)
        if isinstance(node, Each):
            if not node.fits(key):
                problems.append(f"{place} must be {node.wanted}; it is ignored")
                continue
            below = node.of
        elif key in node:
            below = node[key]
        else:
            problems.append(_unknown(key, node, path))
            continue
        part = usable(value, below, place, problems)
        if part is not None:
            taken[key] = part
    return taken


def nested(layer: Mapping[str, object]) -> dict[str, Any]:
    """Unfold dotted keys, as editors with flat settings write them."""
    unfolded: dict[str, Any] = {}
    for key, value in layer.items():
        # No setting lies deeper than ``agents.NAME.env.NAME``.
        head, *rest = str(key).split(".", 3)
        part: object = value
        for name in reversed(rest):
            part = {name: part}
        unfolded = joined(unfolded, {head: part})
    return unfolded


def joined(low: Mapping[str, Any], high: Mapping[str, Any]) -> dict[str, Any]:
    """Lay one object over another, key by key."""
    result = dict(low)
    for key, value in high.items():
        below = result.get(key)
        if isinstance(below, Mapping) and isinstance(value, Mapping):
            result[key] = joined(below, value)
        elif isinstance(below, tuple) and isinstance(value, tuple):
            # Lists of JSON are no tuples: these are what ``Joined`` gave.
            result[key] = below + value
        else:
            result[key] = value
    return result


# --- the words of warnings -----------------------------------------------------------


def place_of(path: str, key: object) -> str:
    """The dotted name of a key below ``path``, short and printable."""
    # A key is the user's text: it may be long, and a warning is one short line.
    name = "".join(letter if letter.isprintable() else "?" for letter in str(key))[:40] or '""'
    return f"{path}.{name}" if path else name


def _unknown(key: object, node: Mapping[str, Node], path: str) -> str:
    place = place_of(path, key)
    # Beside it first; then anywhere, for a key that was put at the wrong level.
    beside = {_plain(name): place_of(path, name) for name in node}
    anywhere = {_plain(name.rpartition(".")[2]): name for name in _dotted(KEYS)}
    for names in (beside, anywhere):
        near = difflib.get_close_matches(_plain(str(key)), names, n=1)
        if near:
            return f'unknown setting "{place}"; did you mean "{names[near[0]]}"?'
    return f'unknown setting "{place}"; it is ignored'


def _plain(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()


def _dotted(node: Mapping[str, Node], path: str = "") -> Iterator[str]:
    for name, below in node.items():
        place = place_of(path, name)
        yield place
        if isinstance(below, Mapping):
            yield from _dotted(below, place)
