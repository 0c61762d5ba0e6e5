"""Where a tool call may be, by all that its agent says of it, best first.

Locations come before diffs, and diffs before the raw input. What is in the raw input has no
schema: only names that mean a file in every agent that was seen are looked at, and never a
working directory.

Invariant: pure; says nothing of whether there is such a file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from acpls.session.content import Fragment, Patch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from acpls.session.content import ToolContent
    from acpls.session.state import ToolCall
    from acpls.text.patch import FilePatch

    Resolve: TypeAlias = Callable[[str], str]

MOST_HINTS: Final = 8
"""So many are looked at; an agent that names hundreds of files is at none of them."""

_PATHS: Final = (
    "path",
    "file_path",
    "filePath",
    "filepath",
    "filename",
    "fileName",
    "file",
    "absolute_path",
    "target_file",
    "notebook_path",
)
_LINES: Final = ("line", "line_number", "lineNumber", "start_line", "startLine")
_ENDS: Final = ("end_line", "endLine")
# Where some put the arguments of a tool whose name stands beside them.
_WITHIN: Final = ("arguments", "args", "input", "params", "patch")
# What a command or a page calls a path is not where the agent is.
_ELSEWHERE: Final = frozenset({"execute", "fetch", "think", "switch_mode"})
_PATCHED = re.compile(r"^\*\*\* (?:Update|Add) File: (.+)$", re.MULTILINE)
_PATCH_BEGINS: Final = "*** Begin Patch"
_LONGEST_PATH: Final = 4096


@dataclass(frozen=True, slots=True)
class Hint:
    """A file, and what is known of the place in it.

    ``line``: one-based, as the agent counts; ``count``: how many lines from there.
    ``sure``: it is a line; else it may be something else when the file has no such line.
    ``change``: what changes in the file, from which the line can be told.
    """

    path: str
    line: int | None = None
    count: int | None = None
    sure: bool = True
    change: Fragment | FilePatch | None = None


def hints(call: ToolCall, resolve: Resolve) -> tuple[Hint, ...]:
    """Where the tool call may be, best first, each file once.

    ``resolve`` makes an absolute path of the editor's of one that stands in the raw input.
    """
    located = [Hint(at.path, at.line) for at in reversed(call.locations)]
    changed = [hint for item in call.content for hint in _changes(item)]
    raw = [] if call.kind in _ELSEWHERE else list(_raw(call.raw_input, resolve))
    found: dict[str, Hint] = {}
    for hint in (*located, *changed, *raw):
        known = found.setdefault(hint.path, hint)
        # Another source may know what this one left out; a place in the file is taken whole.
        if known.line is None and known.change is None:
            found[hint.path] = hint
    return tuple(found.values())[:MOST_HINTS]


def _changes(item: ToolContent) -> Iterator[Hint]:
    match item:
        case Fragment(path):
            yield Hint(path, change=item)
        case Patch(changes, files):
            patches = {file.new_path: file for file in files}
            for change in changes:
                if change.path is not None:
                    yield Hint(change.path, change=patches.get(change.path))
        case _:
            pass


def _raw(raw: object, resolve: Resolve, *, within: bool = False) -> Iterator[Hint]:
    if isinstance(raw, str) and raw.startswith(_PATCH_BEGINS):
        yield from (Hint(resolve(path.strip())) for path in _PATCHED.findall(raw))
    elif isinstance(raw, Mapping):
        named = next(filter(_is_path, map(raw.get, _PATHS)), None)
        if named is not None:
            yield _with_line(Hint(resolve(named)), raw)
        for key in () if within else _WITHIN:
            yield from _raw(raw.get(key), resolve, within=True)


def _is_path(value: object) -> bool:
    return isinstance(value, str) and 0 < len(value) <= _LONGEST_PATH and "\n" not in value


def _with_line(hint: Hint, raw: Mapping[str, Any]) -> Hint:
    line = _first(raw, _LINES)
    if line is not None:
        end = _first(raw, _ENDS)
        return replace(hint, line=line, count=None if end is None else max(end - line + 1, 1))
    offset, limit = _number(raw.get("offset")), _number(raw.get("limit"))
    if offset is not None and limit is not None:
        # Most count it in lines and from one, but there is no word for that.
        return replace(hint, line=offset, count=limit, sure=False)
    return hint


def _first(raw: Mapping[str, Any], keys: tuple[str, ...]) -> int | None:
    return next((found for key in keys if (found := _number(raw.get(key))) is not None), None)


def _number(value: object) -> int | None:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if type(value) is int else None
