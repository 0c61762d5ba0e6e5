"""What agents of ACP 1 tell about a session, one reader for each kind of ``session/update``.

Invariant: a reader changes nothing but the state of that session.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from acpls.client import lift, lift_session
from acpls.client import v1_content as pieces
from acpls.client.v1_state import MODE
from acpls.session import updates
from acpls.session.content import UNSET, Text
from acpls.wire import v1 as wire

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from acpls.client.v1_state import SessionState
    from acpls.session.content import Block, Json
    from acpls.session.updates import Role, Update

    Reader = Callable[[SessionState, Json], tuple[Update, ...]]

PLAN: Final = "plan"

ROLES: Final[dict[str, Role]] = {
    "user_message_chunk": "user",
    "agent_message_chunk": "agent",
    "agent_thought_chunk": "thought",
}


def tool_call(state: SessionState, it: wire.ToolCallUpdate, update: Json) -> tuple[Update, ...]:
    """A tool call, or a change of one; ``update`` is what it was read from."""
    state.awaiting = False
    state.saw_tool_call(it.tool_call_id)
    meta = lift.meta(update, UNSET)
    patch = lift.tool_call(it, it.content, pieces.content, state.cwd, UNSET, meta=meta)
    return (patch,) if meta is UNSET else (*pieces.terminals(meta), patch)


# --- readers -------------------------------------------------------------------------


def _chunk(state: SessionState, update: Json) -> tuple[Update, ...]:
    kind = update["sessionUpdate"]
    role = ROLES[kind]
    block, message = _piece(update, kind)
    if role == "user" and state.awaiting:
        # The agent repeats the prompt, which the session has already.
        return ()
    if message is None:
        if isinstance(block, Text) and not block.text:
            # Sent for the sake of its ``_meta``. It must not begin a message; who stores what
            # agents say gets it all the same.
            return (updates.InfoPatched(),)
        message = state.message(role)
    else:
        state.break_message()
    state.awaiting = False
    return (updates.MessageGrew(message, role, block),)


def _piece(update: Json, kind: str) -> tuple[Block, str | None]:
    """The block of a chunk, and the id of its message where it has one."""
    content = update.get("content")
    if (text := lift.bare_text(content)) is not None:
        message = update.get("messageId")
        return text, message if isinstance(message, str) and message else None
    if isinstance(content, str):
        update = {**update, "content": {"type": "text", "text": content}}
    it = lift.read(wire.ContentChunk, update, kind)
    return lift.block(it.content), it.message_id


def _tool_call(state: SessionState, update: Json) -> tuple[Update, ...]:
    kind = update["sessionUpdate"]
    shape = wire.ToolCall if kind == "tool_call" else wire.ToolCallUpdate
    return tool_call(state, lift.read(shape, update, kind), update)


def _plan(state: SessionState, update: Json) -> tuple[Update, ...]:
    state.awaiting = False
    state.break_message()
    return (lift_session.plan(PLAN, lift.read(wire.Plan, update, "plan").entries),)


def _commands(_: SessionState, update: Json) -> tuple[Update, ...]:
    it = lift.read(wire.AvailableCommandsUpdate, update, "available_commands_update")
    return (updates.CommandsSet(lift_session.commands(it.available_commands)),)


def _mode(state: SessionState, update: Json) -> tuple[Update, ...]:
    mode = lift.read(wire.CurrentModeUpdate, update, "current_mode_update").current_mode_id
    state.chose(MODE, mode)
    return (updates.OptionChanged(state.mode_option(), mode),)


def _config(state: SessionState, update: Json) -> tuple[Update, ...]:
    it = lift.read(wire.ConfigOptionUpdate, update, "config_option_update")
    state.set_config(it.config_options)
    return (updates.OptionsSet(state.options()),)


def _info(_: SessionState, update: Json) -> tuple[Update, ...]:
    return (lift_session.info(update, UNSET),)


READERS: Final[Mapping[str, Reader]] = {
    "user_message_chunk": _chunk,
    "agent_message_chunk": _chunk,
    "agent_thought_chunk": _chunk,
    "tool_call": _tool_call,
    "tool_call_update": _tool_call,
    "plan": _plan,
    "available_commands_update": _commands,
    "current_mode_update": _mode,
    "config_option_update": _config,
    "session_info_update": _info,
    **lift_session.PRESENT,
    **lift_session.COMPACTIONS,
}

# What a replay repeats. The rest says how the session is now.
CONTENT: Final = frozenset(
    {
        *ROLES,
        "tool_call",
        "tool_call_update",
        "plan",
        "plan_update",
        "plan_removed",
        *lift_session.COMPACTIONS,
    }
)
