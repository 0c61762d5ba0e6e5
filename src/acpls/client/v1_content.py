"""What stands inside the tool calls of ACP 1."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acpls.client import lift
from acpls.session import updates
from acpls.session.content import UNSET, Exit, Fragment, OtherContent, TerminalRef
from acpls.wire import model as common
from acpls.wire import v1 as wire

if TYPE_CHECKING:
    from acpls.session.content import Json, ToolContent
    from acpls.session.updates import Update


def content(
    it: common.Content | wire.Diff | common.Terminal | Json, cwd: str | None
) -> ToolContent:
    """An item of a tool call's content; one of an unknown kind as it came."""
    match it:
        case common.Content():
            return lift.block(it.content)
        case wire.Diff():
            return Fragment(lift.resolved(it.path, cwd), it.old_text, it.new_text)
        case common.Terminal():
            return TerminalRef(it.terminal_id)
        case other:
            return OtherContent(other)


def terminals(given: object) -> tuple[Update, ...]:
    """What the agent tells of its own terminals, by the convention inside ``_meta``."""
    told: list[Update] = []
    meta = lift.read(wire.ToolCallMeta, given, "_meta")
    if (made := meta.terminal_info) is not None:
        cwd = UNSET if made.cwd is None else made.cwd
        told.append(updates.TerminalPatched(made.terminal_id, cwd=cwd))
    if (printed := meta.terminal_output) is not None:
        data = printed.data.encode(errors="replace")
        told.append(updates.TerminalGrew(printed.terminal_id, data))
    if (ended := meta.terminal_exit) is not None:
        how = Exit(ended.exit_code, ended.signal)
        told.append(updates.TerminalPatched(ended.terminal_id, exit=how))
    return tuple(told)
