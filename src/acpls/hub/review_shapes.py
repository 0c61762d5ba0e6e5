"""The JSON for questions, changes under review, and places (docs/protocol.md).

Invariant: pure; reads the state and changes nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, assert_never

from acpls.hub.shapes import clip, lean, lines
from acpls.session import content as c
from acpls.text import uris

if TYPE_CHECKING:
    from acpls.follow import Place
    from acpls.hub.state import State
    from acpls.questions import Question
    from acpls.review.ledger import ReviewedFile, ReviewHunk

    Shape = dict[str, Any]


def question(state: State, of: Question) -> Shape:
    """A question, with what it is about."""
    return lean(
        question=of.key,
        session=of.session or None,
        agent=of.agent,
        title=of.title,
        description=of.description,
        subject=_subject(of.subject),
        options=[{"option": o.option, "name": o.name, "kind": o.kind} for o in of.options],
        state="open" if of.open else "settled",
        by=of.by,
        url=of.url,
        preview=_preview(state, of),
    )


def _subject(subject: c.Subject) -> Shape | None:
    match subject:
        case None:
            return None
        case c.AboutToolCall(call):
            return {"type": "toolCall", "toolCall": call}
        case c.AboutCommand(command, cwd, call, terminal):
            return lean(type="command", command=command, cwd=cwd, toolCall=call, terminal=terminal)
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
