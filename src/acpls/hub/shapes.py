"""The JSON that editors are answered with (docs/protocol.md), made of the hub's values.

Ranges are LSP ranges of whole lines, so they hold in every position encoding.

Invariant: pure; reads the state and changes nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, assert_never

from acpls.session import content as c
from acpls.session.state import (
    Compaction,
    Message,
    Notice,
    OtherEntry,
    SessionMessage,
    ToolCall,
)
from acpls.text import uris
from acpls.text.lines import LineIndex

if TYPE_CHECKING:
    from acpls.hub.state import Agent, State
    from acpls.session.asks import SessionsListed
    from acpls.session.state import Entry, Session, Subagent, Terminal

    Shape = dict[str, Any]

# Longer texts inside tool calls are cut; the whole is read with acpls.output.read.
TEXT_LIMIT = 4000


def lean(**members: Any) -> Shape:
    """A JSON object without the members that are ``None``."""
    return {name: value for name, value in members.items() if value is not None}


def lines(start: int, end: int) -> Shape:
    """The range from the beginning of line ``start`` to the beginning of line ``end``."""
    return {"start": {"line": start, "character": 0}, "end": {"line": end, "character": 0}}


# --- agents and sessions -----------------------------------------------------------------


def agent(known: Agent) -> Shape:
    """An item of ``acpls.agent.list``."""
    facts = known.facts
    entry = lean(agent=known.name, title=known.title, state=known.state, message=known.message)
    if facts is not None:
        entry["protocolVersion"] = facts.protocol
        entry["info"] = {"name": facts.name, "version": facts.version}
        entry["authMethods"] = [
            lean(id=x.id, name=x.name, kind=x.kind, description=x.description)
            for x in facts.auth_methods
        ]
        entry["capabilities"] = {
            "embeddedContext": facts.embedded_context,
            "image": facts.images,
            "audio": facts.audio,
            "close": facts.can_close,
            "list": facts.can_list,
            "resume": facts.can_resume or facts.can_replay,
            "fork": facts.can_fork,
            "delete": facts.can_delete,
            "setTitle": facts.can_set_title,
            "logout": facts.can_log_out,
        }
    return entry


def session_entry(state: State, session: Session) -> Shape:
    """A session entry; ``questions`` are the keys of those that are open."""
    waiting = [question.key for question in state.questions.pending(session.key)]
    return lean(
        session=session.key,
        agent=session.agent,
        nativeId=session.native,
        cwd=session.cwd,
        title=session.title,
        state=session.state,
        stopReason=session.stop_reason,
        error=session.error,
        live=session.state != "lost",
        updatedAt=session.updated_at,
        questions=waiting or None,
        background=[lean(type=b.kind, id=b.id) for b in session.background] or None,
        meta=session.meta or None,
    )


def known_sessions(state: State, agent: str, page: SessionsListed) -> Shape:
    """A page of the sessions that an agent has; those that are open here with their keys."""
    listed = [
        lean(
            nativeId=known.session,
            session=state.natives.get((agent, known.session)),
            agent=agent,
            cwd=known.cwd,
            title=known.title,
            updatedAt=known.updated_at,
        )
        for known in page.sessions
    ]
    return lean(sessions=listed, nextCursor=page.cursor)


def snapshot(state: State, session: Session) -> Shape:
    """The whole of a session, as ``acpls.session.get`` answers it."""
    return {
        **session_entry(state, session),
        "seq": session.seq,
        "entries": [entry(state, e) for e in session.entries.values()],
        "plans": [plan(session, key) for key in session.plans],
        "options": options(session),
        "commands": commands(session),
        "usage": usage(session),
        "terminals": [terminal(t) for t in session.terminals.values()],
        "subagents": [subagent(s) for s in session.subagents.values()],
        "queue": queue(session),
    }


def queue(session: Session) -> list[Shape]:
    """The prompts not yet sent, in order."""
    return [
        {"turn": queued.turn, "content": [block(b) for b in queued.blocks]}
        for queued in session.queue
    ]


def plan(session: Session, key: str) -> Shape:
    """One plan."""
    entries = [
        {"content": e.content, "priority": e.priority, "status": e.status}
        for e in session.plans[key]
    ]
    return {"plan": key, "entries": entries}


def options(session: Session) -> list[Shape]:
    """The options of a session."""
    return [
        lean(
            option=o.option,
            name=o.name,
            type=o.type,
            value=o.value,
            category=o.category,
            description=o.description,
            choices=[
                lean(value=x.value, name=x.name, description=x.description, group=x.group)
                for x in o.choices
            ],
        )
        for o in session.options
    ]


def commands(session: Session) -> list[Shape]:
    """The slash commands of a session."""
    return [lean(name=x.name, description=x.description, hint=x.hint) for x in session.commands]


def usage(session: Session) -> Shape | None:
    """Context used and its size in tokens, and the cost."""
    if session.usage is None:
        return None
    cost = session.usage.cost
    shown = None if cost is None else {"amount": cost[0], "currency": cost[1]}
    return lean(used=session.usage.used, size=session.usage.size, cost=shown)


def terminal(term: Terminal) -> Shape:
    """A terminal without its output."""
    ended = None if term.exit is None else lean(exitCode=term.exit.code, signal=term.exit.signal)
    return lean(
        terminal=term.id,
        command=term.command,
        cwd=term.cwd,
        exitStatus=ended,
        size=len(term.text()),
        screen=None if term.size is None else {"columns": term.size[0], "rows": term.size[1]},
        cancel=term.can_cancel or None,
        meta=term.meta or None,
    )


def subagent(of: Subagent) -> Shape:
    """Another session that works for this one."""
    return lean(
        subagent=of.id,
        title=of.title,
        description=of.description,
        state=of.state,
        cwd=of.cwd,
        cancel=of.can_cancel or None,
        meta=of.meta or None,
    )


# --- entries -------------------------------------------------------------------------------


def entry(state: State, of: Entry) -> Shape:
    """An entry of a session."""
    match of:
        case Message():
            blocks = [block(b) for b in joined(of.blocks)]
            told = {"entry": of.id, "type": "message", "role": of.role, "content": blocks}
            return {**told, **lean(meta=of.meta or None)}
        case ToolCall():
            return {"entry": of.id, "type": "toolCall", **tool_call(state, of)}
        case Notice():
            return {"entry": of.id, "type": "notice", **notice(of)}
        case Compaction():
            return {"entry": of.id, "type": "compaction", **compaction(of)}
        case SessionMessage():
            return {"entry": of.id, "type": "sessionMessage", **session_message(of)}
        case OtherEntry():
            return {"entry": of.id, "type": "other", "payload": of.payload}
        case _:
            assert_never(of)


def notice(of: Notice) -> Shape:
    """A notice."""
    return lean(severity=of.severity, title=of.title, description=of.description)


def compaction(of: Compaction) -> Shape:
    """A compaction."""
    summary = [block(b) for b in joined(of.summary)]
    return lean(status=of.status, summary=summary, error=of.error, meta=of.meta or None)


def session_message(of: SessionMessage) -> Shape:
    """A message between two sessions, which are named by the agent's ids."""
    return lean(
        sender=of.sender,
        recipient=of.recipient,
        content=[block(b) for b in joined(of.blocks)],
        meta=of.meta or None,
    )


def joined(blocks: list[c.Block]) -> list[c.Block]:
    """The same blocks with neighbouring texts put together."""
    result: list[c.Block] = []
    texts: list[str] = []
    for item in blocks:
        if isinstance(item, c.Text):
            texts.append(item.text)
            continue
        if texts:
            result.append(c.Text("".join(texts)))
            texts.clear()
        result.append(item)
    if texts:
        result.append(c.Text("".join(texts)))
    return result


def block(of: c.Block) -> Shape:
    """A content block in ACP's own shape."""
    match of:
        case c.Text(text):
            return {"type": "text", "text": text}
        case c.Media(type_, data, mime_type, uri):
            return lean(type=type_, data=data, mimeType=mime_type, uri=uri)
        case c.ResourceLink():
            return lean(
                type="resource_link",
                uri=of.uri,
                name=of.name,
                title=of.title,
                mimeType=of.mime_type,
                description=of.description,
                size=of.size,
            )
        case c.Resource(uri, text, blob, mime_type):
            inner = lean(uri=uri, text=text, blob=blob, mimeType=mime_type)
            return {"type": "resource", "resource": inner}
        case c.OtherBlock(payload):
            return dict(payload)
        case _:
            assert_never(of)


def tool_call(state: State, call: ToolCall) -> Shape:
    """A tool call; long texts in it are cut, ``size`` says how long they were."""
    return lean(
        toolCall=call.id,
        title=call.title,
        name=call.name,
        kind=call.kind,
        status=call.status,
        content=[_content(item) for item in call.content],
        locations=[
            lean(
                uri=uris.from_path(at.path),
                range=None if at.line is None else lines(*_line(state, at.path, at.line)),
            )
            for at in call.locations
        ],
        cancel=call.can_cancel or None,
        meta=call.meta or None,
    )


def _line(state: State, path: str, line: int) -> tuple[int, int]:
    """A one-based line of an agent as a zero-based line range, clipped to an open document."""
    row = clip(state, path, max(line - 1, 0))
    return row, row


def clip(state: State, path: str, row: int) -> int:
    """A zero-based row no further than the last line of the document, where it is open."""
    buffer = state.buffer_at(path)
    return row if buffer is None else min(row, LineIndex(buffer.text).line_count - 1)


def _content(item: c.ToolContent) -> Shape:
    match item:
        case c.Fragment(path):
            return {"type": "diff", "changes": [{"uri": uris.from_path(path)}]}
        case c.Patch(changes):
            shown = [
                lean(
                    operation=change.operation,
                    uri=None if change.path is None else uris.from_path(change.path),
                    oldUri=None if change.old_path is None else uris.from_path(change.old_path),
                )
                for change in changes
            ]
            return {"type": "diff", "changes": shown}
        case c.TerminalRef(term):
            return {"type": "terminal", "terminal": term}
        case c.SessionRef(session):
            return {"type": "session", "session": session}
        case c.OtherContent(payload):
            return {"type": "other", "payload": payload}
        case c.Text(text) if len(text) > TEXT_LIMIT:
            return {"type": "text", "text": text[:TEXT_LIMIT], "size": len(text)}
        case _:
            return block(item)
