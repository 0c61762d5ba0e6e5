"""The JSON that editors are answered with (docs/protocol.md), made of the hub's values.

Ranges are LSP ranges of whole lines, so they hold in every position encoding.

Invariant: pure; reads the state and changes nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, assert_never

from acpls.session import content as c
from acpls.session.state import Message, Notice, OtherEntry, ToolCall
from acpls.text import uris
from acpls.text.lines import LineIndex

if TYPE_CHECKING:
    from acpls.follow import Place
    from acpls.hub.state import Agent, State
    from acpls.questions import Question
    from acpls.review.ledger import ReviewedFile, ReviewHunk
    from acpls.session.state import Entry, Session, Terminal

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
        entry["authMethods"] = [{"id": id_, "name": name} for id_, name in facts.auth_methods]
        entry["capabilities"] = {
            "embeddedContext": facts.embedded_context,
            "close": facts.can_close,
        }
    return entry


def session_entry(session: Session) -> Shape:
    """A session entry."""
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
    )


def snapshot(state: State, session: Session) -> Shape:
    """The whole of a session, as ``acpls.session.get`` answers it."""
    return {
        **session_entry(session),
        "seq": session.seq,
        "entries": [entry(state, e) for e in session.entries.values()],
        "plans": [plan(session, key) for key in session.plans],
        "options": options(session),
        "commands": commands(session),
        "usage": usage(session),
        "terminals": [terminal(t) for t in session.terminals.values()],
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
    )


# --- entries -------------------------------------------------------------------------------


def entry(state: State, of: Entry) -> Shape:
    """An entry of a session."""
    match of:
        case Message():
            blocks = [block(b) for b in joined(of.blocks)]
            return {"entry": of.id, "type": "message", "role": of.role, "content": blocks}
        case ToolCall():
            return {"entry": of.id, "type": "toolCall", **tool_call(state, of)}
        case Notice():
            return {"entry": of.id, "type": "notice", **notice(of)}
        case OtherEntry():
            return {"entry": of.id, "type": "other", "payload": of.payload}
        case _:
            assert_never(of)


def notice(of: Notice) -> Shape:
    """A notice."""
    return lean(severity=of.severity, title=of.title, description=of.description)


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
        case c.ResourceLink(uri, name, title, mime_type):
            return lean(type="resource_link", uri=uri, name=name, title=title, mimeType=mime_type)
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
    )


def blocks_of(call: ToolCall) -> list[c.Block]:
    """The content blocks of a tool call, without its diffs and terminals."""
    other = (c.Fragment, c.Patch, c.TerminalRef, c.OtherContent)
    return [item for item in call.content if not isinstance(item, other)]


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
        case c.OtherContent(payload):
            return {"type": "other", "payload": payload}
        case c.Text(text) if len(text) > TEXT_LIMIT:
            return {"type": "text", "text": text[:TEXT_LIMIT], "size": len(text)}
        case _:
            return block(item)


# --- questions, review, places ---------------------------------------------------------------


def question(state: State, of: Question) -> Shape:
    """A question, with what it is about."""
    return lean(
        question=of.key,
        session=of.session,
        title=of.title,
        description=of.description,
        subject=_subject(of.subject),
        options=[{"option": o.option, "name": o.name, "kind": o.kind} for o in of.options],
        state="open" if of.open else "settled",
        by=of.by,
        preview=_preview(state, of),
    )


def _subject(subject: c.Subject) -> Shape | None:
    match subject:
        case None:
            return None
        case c.AboutToolCall(call):
            return {"type": "toolCall", "toolCall": call}
        case c.AboutCommand(command, cwd, call):
            return lean(type="command", command=command, cwd=cwd, toolCall=call)
        case c.OtherContent(payload):
            return {"type": "other", "payload": payload}
        case _:
            assert_never(subject)


def _preview(state: State, of: Question) -> list[Shape] | None:
    if not isinstance(of.subject, c.AboutToolCall):
        return None
    call = of.subject.tool_call
    return [
        {"uri": uris.from_path(file.path), "patch": unified(file)}
        for file in state.ledger.pending(of.session)
        if any(hunk.author.tool_call == call for hunk in file.hunks)
    ] or None


def unified(file: ReviewedFile) -> str:
    """The pending hunks of a file as a unified diff without context lines.

    A side without lines is given the number of the line before it, and a side without a
    file is called /dev/null, as diff and Git do.
    """
    shift = 0
    out = [
        f"--- {'/dev/null' if file.base is None else file.path}\n",
        f"+++ {'/dev/null' if file.target is None else file.path}\n",
    ]
    for pending in file.hunks:
        h = pending.hunk
        old = h.start + bool(h.old)
        new = h.start + shift + bool(h.new)
        out.append(f"@@ -{old},{len(h.old)} +{new},{len(h.new)} @@\n")
        out += [_patch_line("-", line) for line in h.old]
        out += [_patch_line("+", line) for line in h.new]
        shift += len(h.new) - len(h.old)
    return "".join(out)


def _patch_line(sign: str, line: str) -> str:
    if line.endswith("\n"):
        return f"{sign}{line}"
    return f"{sign}{line}\n\\ No newline at end of file\n"


def change(state: State, file: ReviewedFile) -> Shape:
    """A change in review."""
    return lean(
        change=file.key,
        uri=uris.from_path(file.path),
        operation=file.operation,
        session=file.author.session,
        toolCall=file.author.tool_call,
        state="pending" if file.hunks else "unclear",
        hunks=[hunk(state, file, h) for h in file.hunks],
        reason="; ".join(file.reasons.values()) or None,
    )


def hunk(state: State, file: ReviewedFile, pending: ReviewHunk) -> Shape:
    """A hunk, where it stands in the open document, or in the file."""
    buffer = state.buffer_at(file.path)
    on_disk = file.target if file.written else file.base
    text = (on_disk or "") if buffer is None else buffer.text
    at = state.ledger.standing(file, pending, text)
    h = pending.hunk
    return lean(
        hunk=pending.key,
        state="pending" if at.conflict is None else "conflict",
        applied=at.applied,
        baseRange=lines(h.start, h.end),
        range=lines(at.start, at.end),
        baseText="".join(h.old),
        newText="".join(h.new),
        reason=at.conflict,
        # What several sessions did to the same lines is nobody's own.
        session=pending.author.session or None,
        toolCall=pending.author.tool_call,
    )


def place(state: State, of: Place) -> Shape:
    """A place of the trail."""
    row = 0 if of.line is None else clip(state, of.path, of.line)
    return lean(
        uri=uris.from_path(of.path),
        range=lines(row, row),
        reason=of.reason,
        toolCall=of.tool_call,
    )
