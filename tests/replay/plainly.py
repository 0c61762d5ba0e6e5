"""What an agent said of a session, read from its lines as plainly as can be.

Nothing of acpls is used for it, so that it tells when a dialect or the session loses, doubles
or mixes up something that an account would only show to somebody who looks closely.
"""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from acpls.session import entries
from acpls.session.content import Text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from acpls.session.state import Session

# Of a tool call: the names on the wire and in the session.
_FIELDS = {
    "title": "title",
    "kind": "kind",
    "status": "status",
    "rawInput": "raw_input",
    "rawOutput": "raw_output",
}
_EMPTY = {"title": "", "kind": "other", "status": "pending"}
_FINISHED = {"completed", "failed"}
_OURS = {"cancelled", "ended"}
_ROLES = {"agent_message": "agent", "agent_thought": "thought"}


@dataclass(slots=True)
class Call:
    """A tool call: the fields told last, and how many items and places it has."""

    fields: dict[str, Any] = field(default_factory=dict)
    items: int = 0
    places: int = 0


@dataclass(slots=True)
class Plain:
    """A session without the user's words. ``texts``: by role and id; those without ids are
    joined under ``None``. ``others``: how many pieces of messages are no text.
    """

    texts: dict[tuple[str, str | None], str] = field(default_factory=dict)
    others: int = 0
    calls: dict[str, Call] = field(default_factory=dict)
    terminals: dict[str, tuple[bytes, int | None]] = field(default_factory=dict)
    plan: list[tuple[str, str]] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)
    usage: tuple[int, int] | None = None
    title: str | None = None


# --- read from the lines -----------------------------------------------------------------


def said(messages: Iterable[dict[str, Any]], native: str) -> Plain:
    """What these messages of an agent's say of the session ``native``."""
    plain = Plain()
    for message in messages:
        params, result = message.get("params"), message.get("result")
        if isinstance(params, dict) and params.get("sessionId") == native:
            if message["method"] == "session/update":
                _update(plain, params["update"])
            elif message["method"] == "session/request_permission":
                _call(plain, params.get("toolCall") or params["subject"]["toolCall"])
        elif isinstance(result, dict) and result.get("sessionId", native) == native:
            commands = result.get("availableCommands")
            if commands is not None:
                plain.commands = [x["name"] for x in commands]
    return plain


def _update(plain: Plain, it: dict[str, Any]) -> None:
    match it["sessionUpdate"]:
        case "agent_message_chunk" | "agent_thought_chunk" as kind:
            key = (_ROLES[kind.removesuffix("_chunk")], it.get("messageId"))
            _piece(plain, key, it["content"])
        case "agent_message" | "agent_thought" as kind:
            if "content" in it:
                key = (_ROLES[kind], it["messageId"])
                plain.texts[key] = ""
                for piece in it["content"]:
                    _piece(plain, key, piece)
        case "tool_call" | "tool_call_update":
            _call(plain, it)
        case "tool_call_content_chunk":
            plain.calls.setdefault(it["toolCallId"], Call()).items += 1
        case "terminal_update":
            output = it.get("output")
            data = None if output is None else base64.b64decode(output["data"])
            _terminal(plain, it["terminalId"], data, b"", it.get("exitStatus"))
        case "terminal_output_chunk":
            _terminal(plain, it["terminalId"], None, base64.b64decode(it["data"]), None)
        case "plan":
            plain.plan = [(x["content"], x["status"]) for x in it["entries"]]
        case "plan_update":
            plain.plan = [(x["content"], x["status"]) for x in it["plan"]["entries"]]
        case "available_commands_update":
            plain.commands = [x["name"] for x in it["availableCommands"] if "name" in x]
        case "usage_update":
            plain.usage = (it["used"], it["size"])
        case "session_info_update":
            plain.title = it.get("title", plain.title)
        case _:
            pass


def _piece(plain: Plain, key: tuple[str, str | None], piece: dict[str, Any]) -> None:
    if piece["type"] != "text":
        plain.others += 1
    elif piece["text"] or key[1] is not None:
        # Gemini's way to say that its mode is another one now; no other agent has the words.
        said = re.sub(r"^\[MODE_UPDATE\] \w+$", "", piece["text"])
        if said:
            plain.texts[key] = plain.texts.get(key, "") + said


def _call(plain: Plain, it: dict[str, Any]) -> None:
    call = plain.calls.setdefault(it["toolCallId"], Call())
    for name in _FIELDS:
        if it.get(name) is not None:
            call.fields[name] = it[name]
    if it.get("content") is not None:
        call.items = len(it["content"])
    if it.get("locations") is not None:
        call.places = len(it["locations"])
    for name, told in (it.get("_meta") or {}).items():
        match name:
            case "terminal_info":
                _terminal(plain, told["terminal_id"], None, b"", None)
            case "terminal_output":
                _terminal(plain, told["terminal_id"], None, told["data"].encode(), None)
            case "terminal_exit":
                status = {"exitCode": told["exit_code"]}
                _terminal(plain, told["terminal_id"], None, b"", status)
            case _:
                pass


def _terminal(
    plain: Plain, terminal: str, whole: bytes | None, more: bytes, status: dict[str, Any] | None
) -> None:
    before, code = plain.terminals.get(terminal, (b"", None))
    if status is not None:
        code = status.get("exitCode")
    plain.terminals[terminal] = ((before if whole is None else whole) + more, code)


# --- read from the session ----------------------------------------------------------------


def held(session: Session) -> Plain:
    """What a session holds, in the same words."""
    plain = Plain(
        commands=[x.name for x in session.commands],
        usage=None if session.usage is None else (session.usage.used, session.usage.size),
        title=session.title,
        plan=[(x.content, x.status) for steps in session.plans.values() for x in steps],
        terminals={
            x.id: (bytes(x.output), None if x.exit is None else x.exit.code)
            for x in session.terminals.values()
        },
    )
    for entry in session.entries.values():
        match entry:
            case entries.Message(role="agent" | "thought" as role, id=name):
                told = None if name.startswith("made-") else name.rstrip("'")
                texts = [x.text for x in entry.blocks if isinstance(x, Text)]
                plain.texts[role, told] = plain.texts.get((role, told), "") + "".join(texts)
                plain.others += len(entry.blocks) - len(texts)
            case entries.ToolCall():
                fields = {
                    name: getattr(entry, ours)
                    for name, ours in _FIELDS.items()
                    if getattr(entry, ours) not in (None, _EMPTY.get(name))
                }
                plain.calls[entry.id] = Call(fields, len(entry.content), len(entry.locations))
            case _:
                pass
    return plain


def alike(said_of_it: Plain, held_of_it: Plain) -> Plain:
    """What was said, less what a tool call is from the start, and with tool calls that a
    turn left open as ``cancelled`` or ``ended``, which the agent need not say.
    """
    for name, call in said_of_it.calls.items():
        ours = held_of_it.calls.get(name, Call()).fields
        status = ours.get("status")
        if status in _OURS and call.fields.get("status") not in _FINISHED:
            call.fields["status"] = status
        call.fields = {k: v for k, v in call.fields.items() if v != _EMPTY.get(k)}
    return said_of_it
