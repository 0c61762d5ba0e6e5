"""What stands inside the tool calls of ACP 2."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from acpls.client import lift
from acpls.session.content import (
    UNSET,
    FileChange,
    OtherContent,
    Patch,
    SessionRef,
    TerminalRef,
    Unset,
)
from acpls.text import patch as git
from acpls.wire import model as common
from acpls.wire import v2 as wire
from acpls.wire.fields import MISSING, Missing, one_line

if TYPE_CHECKING:
    from acpls.session.content import Json, ToolContent
    from acpls.session.updates import ToolCallPatched

GIT_PATCH: Final = "git_patch"

# An agent sends a patch again with every update of its tool call.
_parsed = lru_cache(maxsize=8)(git.parse)


def patched(it: wire.ToolCallUpdate, update: Json, cwd: str | None) -> ToolCallPatched:
    """A tool call or a change of one; ``update`` is what it was read from."""
    return lift.tool_call(
        it,
        it.content,
        content,
        cwd,
        None,
        can_cancel=can_cancel(it.capabilities),
        meta=lift.meta(update, None),
    )


def can_cancel(it: wire.CancelCapability | Missing | None) -> bool | Unset:
    """Whether something can be stopped by itself, as far as it is told."""
    if it is MISSING:
        return UNSET
    return it is not None and it.cancel is not None


def content(
    it: common.Content | wire.Diff | common.Terminal | wire.SessionReference | Json,
    cwd: str | None,
) -> ToolContent:
    """An item of a tool call's content; one of an unknown kind as it came."""
    match it:
        case common.Content():
            return lift.block(it.content)
        case wire.Diff():
            return _diff(it, cwd)
        case common.Terminal():
            return TerminalRef(it.terminal_id)
        case wire.SessionReference():
            return SessionRef(it.session_id)
        case other:
            return OtherContent(other)


def _diff(it: wire.Diff, cwd: str | None) -> Patch:
    changes = tuple([_change(x, cwd) for x in it.changes])
    if it.patch is None:
        return Patch(changes)
    if it.patch.format != GIT_PATCH:
        problem = one_line(f"cannot read patches of the format {it.patch.format}")
        return Patch(changes, problems=(problem,))
    files, problems = _parsed(it.patch.text)
    return Patch(changes, files, problems)


def _change(
    it: wire.PathChange | wire.PathPairChange | wire.OtherChange, cwd: str | None
) -> FileChange:
    old = None if isinstance(it, wire.PathChange) else it.old_path
    return FileChange(
        it.operation,
        None if it.path is None else lift.resolved(it.path, cwd),
        None if old is None else lift.resolved(old, cwd),
        it.file_type,
    )
