"""Forms as documents, for editors that draw none: opened, sent from, and taken away.

Invariant: the file of a form is gone when the form is settled; what the user typed into its
document and did not send stays in the editor.
"""

from __future__ import annotations

import posixpath
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from acpls.effects import (
    ChangeFile,
    FailCommand,
    ReadFile,
    ReplyCommand,
    ShowDocument,
    ShowQuestions,
    TellUser,
    WriteFile,
)
from acpls.events import Form as FileForm
from acpls.forms import filled, is_text_of
from acpls.forms import written as text_of
from acpls.hub import editing, forms, telling
from acpls.hub.conversing import FAILED, FOLDER
from acpls.hub.putting import put_next
from acpls.hub.state import CannotDo
from acpls.hub.tokens import ForForm, IgnoreFile
from acpls.questions import ACCEPT
from acpls.text import uris
from acpls.text.diff import edits_between

if TYPE_CHECKING:
    from acpls.events import Disk, FileRead, FileWritten
    from acpls.forms import Form, Problem
    from acpls.hub.state import Effects, State
    from acpls.questions import Question

INVALID_PARAMS: Final = -32602
SENT: Final = "# This was sent, and is not needed any more.\n"
# Nobody else on this machine is to read what is written there.
_PRIVATE: Final = FileForm(mode=0o600)


@dataclass(slots=True)
class FormDocument:
    """The document of a question's form.

    ``text`` is what it held when it was written, ``line`` (zero-based) has the first value.
    ``tried``: it was to be sent; from then on it is said what is wrong. ``sent``: what it said
    when it was.
    """

    question: str
    path: str
    uri: str
    root: str
    text: str
    line: int
    tried: bool = False
    sent: str | None = None


def at(state: State, uri: str) -> tuple[Question, FormDocument] | None:
    """The open question whose form is filled in in this document."""
    for document in state.form_documents.values():
        question = state.questions.all[document.question]
        if question.open and document.uri == uri:
            return question, document
    return None


def problems(state: State, uri: str) -> tuple[Problem, ...]:
    """What is wrong in an open document that was to be sent."""
    found, buffer = at(state, uri), state.buffers.get(uri)
    if found is None or buffer is None or not found[1].tried:
        return ()
    return filled(_form(found[0]), buffer.text).problems


def _form(question: Question) -> Form:
    assert question.form is not None
    return question.form


# --- opened ----------------------------------------------------------------------------


def open_document(state: State, question: Question, ticket: object = None) -> Effects:
    """Write the form's document, if there is none, and show it. Raises ``CannotDo``."""
    forms.settled_already(question)
    document = state.form_documents.get(question.key)
    if document is None:
        document = state.form_documents[question.key] = _document(state, question)
    token = ForForm(question.key, ticket)
    if state.buffer_at(document.path) is not None:
        yield from _show(state, document, token)
        return
    roots, folder = (document.root,), posixpath.dirname(document.path)
    ignore = posixpath.join(folder, ".gitignore")
    yield WriteFile(IgnoreFile(), ignore, "*\n", roots, expected=None)
    yield WriteFile(token, document.path, document.text, roots, expected=None, form=_PRIVATE)


def _document(state: State, question: Question) -> FormDocument:
    session = state.sessions.get(question.session)
    root = session.cwd if session is not None else next(iter(state.editor.roots), None)
    if root is None:
        raise CannotDo("The editor has not said yet in which folder it works")
    # Two servers may work in one folder, and each has a first question.
    path = posixpath.join(root, FOLDER, f"form-{state.launch}-{question.key}.toml")
    text, line = text_of(_form(question), telling.source(state, question))
    return FormDocument(question.key, path, uris.from_path(path), root, text, line)


def written(state: State, token: ForForm, event: FileWritten) -> Effects:
    """The file was written, is there already, or was taken away."""
    document, question = state.form_documents[token.question], state.questions.all[token.question]
    buffer = state.buffer_at(document.path)
    if token.removes:
        if event.problem is not None:
            message = f"The file of a form stays where it is: it {event.problem}"
            yield TellUser("error", message, document.path)
        elif buffer is not None:
            # There is no file any more, so nothing of the document is saved.
            buffer.saved_text = ""
        return
    if not question.open:
        message = f"The question was settled already, by {question.by}"
        yield FailCommand(token.ticket, INVALID_PARAMS, message, field="question")
    elif event.problem is not None and event.before.text is None:
        message = f"The form cannot be written: it {event.problem}"
        yield FailCommand(token.ticket, FAILED, message)
        if token.ticket is None:
            yield TellUser("error", message, document.path)
    else:
        yield from _show(state, document, token)


def _show(state: State, document: FormDocument, token: ForForm) -> Effects:
    if not state.editor.links:
        name = posixpath.basename(document.path)
        yield TellUser("error", f"Open {FOLDER}/{name} to fill in the form", document.path)
    yield ShowDocument(document.uri, document.line, document.line, take_focus=True)
    yield ReplyCommand(token.ticket, {"uri": document.uri})


# --- sent ------------------------------------------------------------------------------


def send(state: State, question: Question, ticket: object) -> Effects:
    """Send what the document says, saved or not. Raises ``CannotDo``."""
    forms.settled_already(question)
    document = state.form_documents.get(question.key)
    if document is None:
        message = "The form is not open; acpls.form.open opens it"
        raise CannotDo(message, field="question")
    buffer = state.buffer_at(document.path)
    if buffer is not None:
        yield from _submit(state, question, document, buffer.text, ticket)
    else:
        yield ReadFile(ForForm(question.key, ticket), document.path, (document.root,))


def read(state: State, token: ForForm, event: FileRead) -> Effects:
    """The file of a form was read that is to be sent and is not open."""
    document, question = state.form_documents[token.question], state.questions.all[token.question]
    try:
        yield from _send_file(state, question, document, event.disk, token.ticket)
    except CannotDo as cannot:
        yield FailCommand(token.ticket, INVALID_PARAMS, cannot.message, field=cannot.field)


def _send_file(
    state: State, question: Question, document: FormDocument, disk: Disk, ticket: object
) -> Effects:
    forms.settled_already(question)
    if disk.text is None:
        why = disk.problem or "is gone; acpls.form.open writes it anew"
        raise CannotDo(f"The form's file {why}")
    yield from _submit(state, question, document, disk.text, ticket)


def _submit(
    state: State, question: Question, document: FormDocument, text: str, ticket: object
) -> Effects:
    found = filled(_form(question), text)
    document.tried = True
    if found.problems:
        yield ShowQuestions()
        first, more = found.problems[0], len(found.problems) - 1
        message = f"Line {first.line + 1}: {first.message}{f' (and {more} more)' if more else ''}"
        raise CannotDo(message, field=f"content.{first.field}" if first.field else "content")
    document.sent = text
    yield from state.questions.settle(question, "editor", ACCEPT, content=found.content)
    yield ReplyCommand(ticket, {})
    yield from put_next(state)


# --- taken away ------------------------------------------------------------------------


def settled(state: State, question: Question) -> Effects:
    """The form is settled, however that was: its file goes."""
    document = state.form_documents.get(question.key)
    if document is None:
        return
    buffer = state.buffer_at(document.path)
    typed = buffer is not None and not is_text_of(document.text, buffer.text)
    sent = buffer is not None and buffer.text == document.sent
    if buffer is not None and sent and not state.editor.deletes:
        # Who saves all documents must not bring to disk what was meant for the agent.
        emptied = edits_between(buffer.text, SENT)
        yield editing.ask(state, ForForm(question.key), buffer, emptied)
    if typed and question.by != "editor":
        message = "A form is not waited for any more; what you wrote stays in the editor"
        yield TellUser("error", message, question.title)
    elif buffer is not None and (sent or not buffer.dirty) and state.editor.deletes:
        number = state.number("edit")
        state.file_edits[number] = ForForm(question.key, removes=True)
        yield ChangeFile(number, buffer.uri)
        return
    yield from remove(state, ForForm(question.key, removes=True))


def not_emptied(*_: object, **__: object) -> Effects:
    """The editor did not make the edit: what was sent stays in the document."""
    return iter(())


def remove(state: State, token: ForForm) -> Effects:
    """Take the file away, where the editor has not done so."""
    document = state.form_documents[token.question]
    yield WriteFile(token, document.path, None, (document.root,))
