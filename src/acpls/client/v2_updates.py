"""What agents of ACP 2 tell about a session, one reader for each kind of ``session/update``.

Invariant: nothing is made up, and a reader changes nothing but the state of that session.
"""

from __future__ import annotations

import base64
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from acpls.client import lift, lift_session
from acpls.client import v2_content as pieces
from acpls.client.dialect import Misfit
from acpls.session import updates
from acpls.wire import model as common
from acpls.wire import v2 as wire
from acpls.wire.fields import MISSING, Missing, one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from acpls.client.v2_state import SessionState
    from acpls.session.content import Block, Json
    from acpls.session.updates import Role, Update

    Reader = Callable[[SessionState, Json], tuple[Update, ...]]

ROLES: Final[dict[str, Role]] = {
    "user_message": "user",
    "user_message_chunk": "user",
    "agent_message": "agent",
    "agent_message_chunk": "agent",
    "agent_thought": "thought",
    "agent_thought_chunk": "thought",
}


# --- messages and state --------------------------------------------------------------


def _chunk(_: SessionState, update: Json) -> tuple[Update, ...]:
    kind = update["sessionUpdate"]
    message, text = update.get("messageId"), lift.bare_text(update.get("content"))
    if text is not None and isinstance(message, str) and message:
        return (updates.MessageGrew(message, ROLES[kind], text),)
    it = lift.read(wire.ContentChunk, update, kind)
    return (updates.MessageGrew(it.message_id, ROLES[kind], lift.block(it.content)),)


def _message(_: SessionState, update: Json) -> tuple[Update, ...]:
    kind = update["sessionUpdate"]
    it = lift.read(wire.Message, update, kind)
    content = lift.patched(_blocks(it.content), None)
    meta = lift.meta(update, None)
    return (updates.MessageSet(it.message_id, ROLES[kind], content, meta),)


def _session_message(_: SessionState, update: Json) -> tuple[Update, ...]:
    it = lift.read(wire.SessionMessage, update, "session_message")
    return (
        updates.SessionMessageSet(
            it.message_id,
            lift.patched(it.sender_session_id, None),
            lift.patched(it.recipient_session_id, None),
            lift.patched(_blocks(it.content), None),
            lift.meta(update, None),
        ),
    )


def _session_message_chunk(_: SessionState, update: Json) -> tuple[Update, ...]:
    it = lift.read(wire.ContentChunk, update, "session_message_chunk")
    return (updates.SessionMessageGrew(it.message_id, lift.block(it.content)),)


def _blocks(given: list[Any] | Missing | None) -> tuple[Block, ...] | Missing | None:
    return tuple(map(lift.block, given)) if isinstance(given, list) else given


def _state(_: SessionState, update: Json) -> tuple[Update, ...]:
    it = lift.read(wire.StateUpdate, update, "state_update")
    work = None if it.background is None else tuple(map(_background, it.background))
    if it.state != "idle":
        return (updates.TurnChanged(it.state, background=work),)
    if it.error is None:
        return (updates.TurnChanged(it.state, it.stop_reason, background=work),)
    error, code = one_line(it.error.message), it.error.code
    return (updates.TurnChanged(it.state, it.stop_reason, error, work, error_code=code),)


def _background(
    it: wire.BackgroundTerminal
    | wire.BackgroundToolCall
    | wire.BackgroundSubagent
    | wire.BackgroundOther,
) -> updates.Background:
    match it:
        case wire.BackgroundTerminal():
            return updates.Background("terminal", it.terminal_id)
        case wire.BackgroundToolCall():
            return updates.Background("tool_call", it.tool_call_id)
        case wire.BackgroundSubagent():
            return updates.Background("subagent", it.session_id)
        case other:
            return updates.Background(other.type)


def _subagent(_: SessionState, update: Json) -> tuple[Update, ...]:
    it = lift.read(wire.SubagentUpdate, update, "subagent_update")
    state = it.state.state if isinstance(it.state, wire.StateUpdate) else it.state
    patch = updates.SubagentPatched(
        it.session_id,
        title=lift.patched(it.title, None),
        description=lift.patched(it.description, None),
        state=lift.patched(state, None),
        cwd=lift.patched(it.cwd, None),
        can_cancel=pieces.can_cancel(it.capabilities),
        meta=lift.meta(update, None),
    )
    return (patch,)


def _replayed(state: SessionState, _: Json) -> tuple[Update, ...]:
    state.replaying = False
    return (updates.ReplayEnded(),)


# --- tool calls and terminals --------------------------------------------------------


def _tool_call(state: SessionState, update: Json) -> tuple[Update, ...]:
    it = lift.read(wire.ToolCallUpdate, update, "tool_call_update")
    return (pieces.patched(it, update, state.cwd),)


def _tool_call_item(state: SessionState, update: Json) -> tuple[Update, ...]:
    it = lift.read(wire.ToolCallContentChunk, update, "tool_call_content_chunk")
    return (updates.ToolCallGrew(it.tool_call_id, pieces.content(it.content, state.cwd)),)


def _terminal(_: SessionState, update: Json) -> tuple[Update, ...]:
    it = lift.read(wire.TerminalUpdate, update, "terminal_update")
    output, how, size = it.output, it.exit_status, it.size
    data: bytes | None | Missing = MISSING
    if isinstance(output, wire.TerminalOutput):
        # The schema forgives broken output here, but not in a chunk.
        with suppress(Misfit):
            data = _decoded(output.data, "")
    else:
        data = output
    ended = lift.ended(how) if isinstance(how, common.TerminalExitStatus) else how
    room = (size.cols, size.rows) if isinstance(size, wire.TerminalSize) else size
    patch = updates.TerminalPatched(
        it.terminal_id,
        command=lift.patched(it.command, None),
        cwd=lift.patched(it.cwd, None),
        output=lift.patched(data, None),
        exit=lift.patched(ended, None),
        size=lift.patched(room, None),
        can_cancel=pieces.can_cancel(it.capabilities),
        meta=lift.meta(update, None),
    )
    return (patch,)


def _terminal_output(_: SessionState, update: Json) -> tuple[Update, ...]:
    kind = "terminal_output_chunk"
    it = lift.read(wire.TerminalOutputChunk, update, kind)
    return (updates.TerminalGrew(it.terminal_id, _decoded(it.data, kind)),)


def _decoded(data: str, where: str) -> bytes:
    try:
        return base64.b64decode(data, validate=True)
    except ValueError:
        raise Misfit(f"{where}: data: is not base64") from None


# --- the rest ------------------------------------------------------------------------


def _plan(_: SessionState, update: Json) -> tuple[Update, ...]:
    plan = lift.read(wire.PlanUpdate, update, "plan_update").plan
    if isinstance(plan, wire.PlanItems):
        return (lift_session.plan(plan.plan_id, plan.entries),)
    return (updates.Other(update),)


def _commands(_: SessionState, update: Json) -> tuple[Update, ...]:
    it = lift.read(wire.AvailableCommandsUpdate, update, "available_commands_update")
    return (updates.CommandsSet(lift_session.commands(it.available_commands)),)


def _config(_: SessionState, update: Json) -> tuple[Update, ...]:
    it = lift.read(wire.ConfigOptionUpdate, update, "config_option_update")
    return (updates.OptionsSet(lift_session.options(it.config_options)),)


def _info(_: SessionState, update: Json) -> tuple[Update, ...]:
    return (lift_session.info(update, None),)


# What a replay repeats ...
_CONTENT: Final[Mapping[str, Reader]] = {
    "user_message_chunk": _chunk,
    "agent_message_chunk": _chunk,
    "agent_thought_chunk": _chunk,
    "user_message": _message,
    "agent_message": _message,
    "agent_thought": _message,
    "session_message": _session_message,
    "session_message_chunk": _session_message_chunk,
    "tool_call_update": _tool_call,
    "tool_call_content_chunk": _tool_call_item,
    "terminal_update": _terminal,
    "terminal_output_chunk": _terminal_output,
    "plan_update": _plan,
    **lift_session.COMPACTIONS,
    "replay_complete": _replayed,
}
CONTENT: Final = frozenset(_CONTENT)

# ... and what says how the session is now.
READERS: Final[Mapping[str, Reader]] = {
    **_CONTENT,
    "state_update": _state,
    "available_commands_update": _commands,
    "config_option_update": _config,
    "session_info_update": _info,
    **lift_session.PRESENT,
    "subagent_update": _subagent,
}
