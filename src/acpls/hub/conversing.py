"""Conversation documents are opened, kept up to date, and sent from.

An open document is edited through the editor, one edit at a time, and only its text
proves an edit; one that is not open is written on disk.
"""

from __future__ import annotations

import posixpath
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from acpls.conversation.document import Conversation, document, draft, edits, sent_lines
from acpls.conversation.render import render
from acpls.effects import (
    After,
    FailCommand,
    ReadFile,
    ReplyCommand,
    ShowDocument,
    WriteFile,
)
from acpls.hub import agents, editing, sessions, telling
from acpls.hub.state import CannotDo
from acpls.hub.tokens import ForConversation, IgnoreFile
from acpls.session.content import Text
from acpls.text import uris
from acpls.text.diff import apply_edits

if TYPE_CHECKING:
    from acpls.conversation.render import Rendering
    from acpls.events import FileRead, FileWritten
    from acpls.hub.editing import OwnEdit
    from acpls.hub.state import Effects, State
    from acpls.session.state import Session

FOLDER = ".acp"
# Text is gathered for so long before an open document, or a file on disk, is touched.
EDIT_DELAY_S = 0.08
DISK_DELAY_S = 0.5
RETRY_DELAY_S = 0.03
# After so many refused edits in a row the document is tried less often.
PATIENCE = 30
PATIENT_DELAY_S = 2.0
# After so many, an edit that only inserts no longer insists on the version it was made for.
INSISTING = 3
FAILED = -32603


def rendering(state: State, session: Session) -> Rendering:
    """The session as it should stand in its document now."""
    title = state.agent(session.agent).title
    questions = state.questions.shown_in(session.key, session.agent)
    return render(session, title, [telling.told(state, question) for question in questions])


def open_document(
    state: State,
    session: Session,
    ticket: object,
    quote: str = "",
    question: str | None = None,
) -> Effects:
    """Make the session's document, if there is none, add ``quote`` to its draft, show it,
    at the line of ``question`` where one is named.
    """
    conversation = state.conversations.get(session.key)
    if conversation is None:
        name = re.sub(r"[^A-Za-z0-9_-]+", "-", f"{session.agent}-{state.launch}-{session.key}")
        path = posixpath.join(session.cwd, FOLDER, f"{name}.md")
        conversation = Conversation(session.key, path, uris.from_path(path))
        state.conversations[session.key] = conversation
    if quote:
        conversation.quotes = (*conversation.quotes, quote)
    token = ForConversation(session.key, ticket=ticket, show=True, question=question)
    yield ReadFile(token, conversation.path, (session.cwd,))


def touch(state: State, key: str) -> Effects:
    """Something that the document shows has changed."""
    conversation = state.conversations.get(key)
    if conversation is None or conversation.due or conversation.edit is not None:
        return
    conversation.due = True
    is_open = state.buffers.get(conversation.uri) is not None
    delay = EDIT_DELAY_S if is_open else DISK_DELAY_S
    yield After(delay, ForConversation(key))


def time_passed(state: State, token: ForConversation) -> Effects:
    """Text has been gathered long enough."""
    if token.show:
        yield from _show(state, token)
        return
    conversation = state.conversations[token.session]
    conversation.due = False
    yield from _write(state, conversation)


def _write(state: State, conversation: Conversation) -> Effects:
    if conversation.edit is not None:
        return
    session = state.sessions[conversation.session]
    token = ForConversation(session.key)
    buffer = state.buffers.get(conversation.uri)
    if buffer is None:
        yield ReadFile(token, conversation.path, (session.cwd,))
        return
    conversation.rendering = rendering(state, session)
    wanted = edits(buffer.text, conversation, conversation.rendering.lines)
    if not wanted:
        _is_written(conversation, len(conversation.quotes), conversation.sent)
        return
    inserts = all(edit.start == edit.end for edit in wanted)
    insists = conversation.refusals < INSISTING or not inserts
    token = replace(token, quotes=len(conversation.quotes), sent=conversation.sent)
    effect = editing.ask(state, token, buffer, wanted, versioned=insists)
    conversation.edit = effect.number
    yield effect


def fetch(state: State, session: Session) -> Effects:
    """Write the document now, where there is one."""
    conversation = state.conversations.get(session.key)
    if conversation is not None:
        yield from _write(state, conversation)


def _is_written(conversation: Conversation, quotes: int, sent: tuple[str, ...] | None) -> None:
    """The document holds the rendering, what was sent when it was planned, and so many of
    the quotes.
    """
    conversation.edit = None
    conversation.refusals = 0
    if sent is not None:
        conversation.sent = None
    conversation.quotes = conversation.quotes[quotes:]
    assert conversation.rendering is not None
    conversation.head = conversation.rendering.lines


def came_to_nothing(state: State, token: ForConversation, *_: object, **__: object) -> Effects:
    """The edit came to nothing: plan anew in a moment."""
    conversation = state.conversations[token.session]
    conversation.edit = None
    conversation.refusals += 1
    conversation.due = True
    delay = RETRY_DELAY_S if conversation.refusals < PATIENCE else PATIENT_DELAY_S
    yield After(delay, ForConversation(token.session))


def buffer_changed(state: State, uri: str, own: OwnEdit | None = None) -> Effects:
    """The document changed or was closed, by our edit or by the user's hand."""
    for conversation in state.conversations.values():
        if conversation.uri != uri:
            continue
        buffer = state.buffers.get(uri)
        if buffer is None:
            conversation.edit = None
        elif conversation.edit is not None:
            made = own if own is not None else state.edits.get(conversation.edit)
            if made is None:
                # The document was opened anew.
                conversation.edit = None
            else:
                assert isinstance(made.token, ForConversation)
                if own is None and _lacks(buffer.text, conversation, made.token):
                    continue
                editing.over(state, conversation.edit)
                _is_written(conversation, made.token.quotes, made.token.sent)
        yield from touch(state, conversation.session)


def read(state: State, token: ForConversation, event: FileRead) -> Effects:
    """The document's file was read: write it, and show it if somebody waits for that."""
    conversation, disk = state.conversations[token.session], event.disk
    session = state.sessions[token.session]
    if state.buffers.get(conversation.uri) is not None:
        yield from _show(state, token)
        yield from touch(state, token.session)
        return
    if disk.problem is not None:
        if token.ticket is not None:
            message = f"The conversation cannot be read: it {disk.problem}"
            yield FailCommand(token.ticket, FAILED, message)
        return
    conversation.rendering = rendering(state, session)
    head = conversation.rendering.lines
    if disk.text is None:
        text = _edited(document(head), conversation, head)
        ignore = posixpath.join(posixpath.dirname(conversation.path), ".gitignore")
        yield WriteFile(IgnoreFile(), ignore, "*\n", (session.cwd,), expected=None)
    else:
        text = _edited(disk.text, conversation, head)
    if text == disk.text:
        _is_written(conversation, len(conversation.quotes), conversation.sent)
        yield from _show(state, token)
    else:
        writing = replace(token, quotes=len(conversation.quotes), sent=conversation.sent)
        yield WriteFile(writing, conversation.path, text, (session.cwd,), expected=disk.content)


def _lacks(text: str, conversation: Conversation, token: ForConversation) -> bool:
    """Whether a document has not yet all that the edit of this token was planned for."""
    assert conversation.rendering is not None
    planned = replace(conversation, sent=token.sent, quotes=conversation.quotes[: token.quotes])
    return bool(edits(text, planned, conversation.rendering.lines))


def _edited(text: str, conversation: Conversation, head: tuple[str, ...]) -> str:
    return apply_edits(text, edits(text, conversation, head))


def written(state: State, token: ForConversation, event: FileWritten) -> Effects:
    """The document's file was written, or somebody else was faster."""
    conversation = state.conversations[token.session]
    if event.problem is None:
        if state.buffers.get(conversation.uri) is None:
            _is_written(conversation, token.quotes, token.sent)
        yield from _show(state, token)
        return
    conversation.refusals += 1
    if conversation.refusals < INSISTING:
        cwd = state.sessions[token.session].cwd
        yield ReadFile(token, conversation.path, (cwd,))
    elif token.ticket is not None:
        message = f"The conversation cannot be written: it {event.problem}"
        yield FailCommand(token.ticket, FAILED, message)


def _show(state: State, token: ForConversation) -> Effects:
    if token.show:
        conversation = state.conversations[token.session]
        shown = rendering(state, state.sessions[token.session])
        line = shown.questions.get(token.question or "")
        if line is None:
            line = len(conversation.head) + 2
        elif token.tries < PATIENCE and _is_to_come(state, conversation, shown, line):
            yield from touch(state, token.session)
            yield After(EDIT_DELAY_S, replace(token, tries=token.tries + 1))
            return
        yield ShowDocument(conversation.uri, line, line, take_focus=True)
        yield ReplyCommand(token.ticket, {"uri": conversation.uri})


def _is_to_come(state: State, conversation: Conversation, shown: Rendering, line: int) -> bool:
    """Whether the document is open and does not have this line yet."""
    buffer = state.buffers.get(conversation.uri)
    if buffer is None:
        return False
    has = buffer.text.split("\n")
    return line >= len(has) or has[line].rstrip("\r") != shown.lines[line]


def send(state: State, session: Session, ticket: object) -> Effects:
    """Send what stands under the document's last heading. Raises ``CannotDo``."""
    conversation = state.conversations.get(session.key)
    buffer = None if conversation is None else state.buffers.get(conversation.uri)
    if conversation is None or buffer is None:
        message = "The conversation is not open; acpls.session.openConversation opens it"
        raise CannotDo(message, field="uri")
    if conversation.sent is not None:
        message = "The last prompt is still on its way into the document; try again"
        raise CannotDo(message)
    text = draft(buffer.text, conversation.head)
    if not text:
        message = "Nothing is written under the last heading of the conversation"
        raise CannotDo(message)
    if session.over:
        message = "The session is over; acpls.session.new starts another"
        raise CannotDo(message, field="session")
    if session.state == "lost":
        agents.meant(state, session.agent)
    conversation.sent = sent_lines(buffer.text, conversation.head)
    yield from sessions.prompt(state, session, (Text(text),), ticket)
