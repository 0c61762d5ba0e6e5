"""Files that agents read and write through us (ACP 1, ``fs/*``)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from acpls.effects import ReadFile, SaveDocument, SendAnswer, ShowReview, WriteFile
from acpls.events import Earlier
from acpls.hub import changes, editing, holding, in_step, places, verdicts, write_questions
from acpls.hub.holding import HeldWrite
from acpls.hub.state import Saving, Unsaved
from acpls.hub.tokens import ForAgent, ForWrite, SavedWrite
from acpls.review.composing import Author
from acpls.review.held import of_disk
from acpls.session.asks import Done, Failure, FileText
from acpls.text.diff import diff, edits_between, rebase
from acpls.text.endings import Evened, plain
from acpls.text.lines import split_lines

if TYPE_CHECKING:
    from acpls.events import (
        Disk,
        DocumentSaved,
        FileRead,
        FileReadAsked,
        FileWriteAsked,
        FileWritten,
    )
    from acpls.hub.state import Effects, State
    from acpls.review.held import Held
    from acpls.text.buffers import Buffer

INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
# The code and the wording by which agents recognise a file that is not there.
NOT_FOUND = -32002


# --- reading --------------------------------------------------------------------------


def read_asked(state: State, event: FileReadAsked) -> Effects:
    """A document with unsaved changes is read from the editor, all else from the disk."""
    session = state.session_of(event.agent, event.session)
    if session is None:
        yield SendAnswer(event.agent, event.request, _no_session())
        return
    token = ForAgent(event.agent, event.request, session.key, event.line, event.limit)
    yield ReadFile(token, event.path, state.roots_of(session))


def read(state: State, token: ForAgent, event: FileRead) -> Effects:
    """Answer with the document when it has unsaved changes or no file, else with the file."""
    whole = _contents(state, event.disk)
    if isinstance(whole, Failure):
        yield SendAnswer(token.agent, token.request, whole)
        return
    state.read_by[token.session, event.disk.place] = whole
    yield SendAnswer(token.agent, token.request, FileText(_part(whole, token)))
    session, path = state.sessions[token.session], event.disk.path
    yield from places.served(state, session, "read", path, token.line, token.limit)


def _contents(state: State, disk: Disk) -> str | Failure:
    if not disk.inside:
        return Failure(INVALID_PARAMS, f"{disk.path} lies outside of the workspace")
    buffer = state.buffer_at(disk.path)
    if buffer is not None and (buffer.dirty or disk.problem is not None):
        return buffer.text
    if disk.problem is not None:
        return Failure(INTERNAL_ERROR, f"{disk.path}: {disk.problem}")
    if disk.text is None:
        return Failure(NOT_FOUND, f"Resource not found: {disk.path}: no such file (ENOENT)")
    return disk.text


def _part(text: str, token: ForAgent) -> str:
    """The lines that the agent asked for; its first line is line 1."""
    if token.line is None and token.limit is None:
        return text
    start = max((token.line or 1) - 1, 0)
    end = None if token.limit is None else start + max(token.limit, 0)
    return "".join(split_lines(text)[start:end])


# --- writing --------------------------------------------------------------------------


def write_asked(state: State, event: FileWriteAsked) -> Effects:
    """An agent wants a file to hold a text: look at the file and its document first."""
    session = state.session_of(event.agent, event.session)
    if session is None:
        yield SendAnswer(event.agent, event.request, _no_session())
        return
    token = ForWrite(event.agent, event.request, session.key, event.path, event.text)
    yield ReadFile(token, event.path, state.roots_of(session))


def look(state: State, token: ForWrite, event: FileRead) -> Effects:
    """The file is known: hold the write, ask the user, or carry it out."""
    disk, buffer = event.disk, state.buffer_at(event.disk.path)
    own = None if buffer is None else state.saving.get(buffer.uri)
    asked: Effects | None
    if buffer is not None and own is not None:
        # What the document holds is not the user's but an earlier write.
        state.saving[buffer.uri] = replace(own, next=(*own.next, token))
        return
    if not disk.inside:
        asked = write_questions.outside(state, token, disk)
    elif disk.problem is not None:
        yield from fail(token, disk.path, disk.problem)
        return
    elif state.review_mode == "before" and (token.session, disk.place) not in state.foregone:
        yield from _hold(state, token, disk)
        return
    else:
        asked = _unsaved_question(state, token, disk)
    if asked is None:
        yield from carry_out(state, token, disk)
    else:
        # Nothing is being written until there is an answer.
        yield from asked


def _hold(state: State, token: ForWrite, disk: Disk) -> Effects:
    base, buffer = of_disk(disk), state.buffer_at(disk.path)
    assert base is not None
    old = disk.text
    if buffer is not None and buffer.dirty:
        # Unsaved lines that the agent was given are not its own.
        old = state.read_by.get((token.session, disk.place), old)
    if old is not None and old != disk.text:
        base = base.with_text(old, base.form)
    target = base.with_text(_styled(old, token.text), base.form)
    if old == target.text:
        yield from carry_out(state, token, disk)
        return
    write = HeldWrite(token.agent, token.request, token.session, disk)
    author = Author(token.session, f"request {token.request}")
    yield from holding.hold(state, write, disk.place, base, target, author)


def _unsaved_question(state: State, token: ForWrite, disk: Disk) -> Effects | None:
    """Ask the user where the agent's text and unsaved lines are about the same (D11)."""
    buffer = state.buffer_at(disk.path)
    if buffer is None or not buffer.dirty or disk.text is None:
        return None
    started = state.read_by.get((token.session, disk.place), disk.text)
    wanted = diff(started, _styled(started, token.text))
    placed = rebase(wanted, started, buffer.text)
    if all(at.state != "conflict" for at in placed):
        return None
    return write_questions.unsaved(state, token, disk)


def carry_out(state: State, token: ForWrite, disk: Disk, *, roots: tuple[str, ...] = ()) -> Effects:
    """Bring the text to the disk: by way of the editor, where that saves documents for us and
    has this one open without unsaved changes.
    """
    buffer = state.buffer_at(disk.path)
    session = state.sessions[token.session]
    if buffer is not None and not roots and _by_editor(state, buffer, disk):
        text = _styled(disk.text, token.text)
        if text != buffer.text:
            held = of_disk(disk)
            assert held is not None
            state.saving[buffer.uri] = Saving(token, held, text)
            yield editing.ask(state, token, buffer, edits_between(buffer.text, text))
            return
    write = ForAgent(token.agent, token.request, token.session)
    allowed = (*state.roots_of(session), *roots)
    yield WriteFile(write, disk.path, token.text, allowed, keep_endings=True)


def _by_editor(state: State, buffer: Buffer, disk: Disk) -> bool:
    return (
        state.editor.save
        and not buffer.dirty
        and buffer.text == disk.text
        and disk.place not in state.verdicts
        and not editing.under_way(state, buffer.uri)
    )


def _styled(old: str | None, new: str) -> str:
    """The new text with the line endings of the old one, where it has plain ones."""
    if old is None or "\r\n" in new:
        return new
    text = Evened.of(old, plain(new))
    return text.swapped(0, text.plain, new)


# --- by way of the editor -------------------------------------------------------------


def edited(token: ForWrite, uri: str) -> Effects:
    """The document holds the agent's text: have it saved."""
    yield SaveDocument(token, uri)


def came_to_nothing(state: State, token: ForWrite, *_: object, **__: object) -> Effects:
    """The editor did not make the edit: the disk it is."""
    yield from _on_disk_instead(state, token)


def document_saved(state: State, token: ForWrite, event: DocumentSaved) -> Effects:
    """The editor saved the document, which the file has to show; else the disk is written."""
    if _saving(state, token) is None:
        return
    if event.problem is None:
        yield ReadFile(SavedWrite(token), token.path, state.all_roots())
    else:
        yield from _on_disk_instead(state, token)


def seen_saved(state: State, token: SavedWrite, event: FileRead) -> Effects:
    """The file was read after the document was saved."""
    write = token.write
    uri = _saving(state, write)
    if uri is None:
        return
    if event.disk.text != state.saving[uri].saved:
        yield from _on_disk_instead(state, write)
        return
    yield SendAnswer(write.agent, write.request, Done())
    yield from _is_there(state, write.session, write.path)
    yield from _go_on(state, uri)


def _on_disk_instead(state: State, token: ForWrite) -> Effects:
    write = ForAgent(token.agent, token.request, token.session)
    roots = state.roots_of(state.sessions[token.session])
    yield WriteFile(write, token.path, token.text, roots, keep_endings=True)
    uri = _saving(state, token)
    assert uri is not None
    yield from _go_on(state, uri)


def _saving(state: State, token: ForWrite) -> str | None:
    """The document that the editor saves for this write, until its file is written."""
    return next((uri for uri, own in state.saving.items() if own.write is token), None)


def _go_on(state: State, uri: str) -> Effects:
    for token in state.saving.pop(uri).next:
        yield ReadFile(token, token.path, state.roots_of(state.sessions[token.session]))


# --- on disk --------------------------------------------------------------------------


def written(state: State, token: ForAgent, event: FileWritten) -> Effects:
    """Success is answered only when the file was seen to hold the text."""
    problem, author = event.problem, Author(token.session)
    if problem is None and (event.after is None or event.after.content is None):
        problem = "the file does not hold the text"
    if problem is not None:
        failure = Failure(INTERNAL_ERROR, f"{event.path}: {problem}")
        yield SendAnswer(token.agent, token.request, failure)
        if event.after is not None and event.after.content != event.before.content:
            # It is another text than it was all the same.
            earlier = Earlier("store", event.before)
            yield from changes.noticed(state, event.after, earlier, whose=author)
        return
    assert event.after is not None
    answer: Done | Failure = Done()
    if token.left_out:
        answer = Failure(INTERNAL_ERROR, f"{event.path}: {token.left_out}")
    yield SendAnswer(token.agent, token.request, answer)
    place, now, before = event.after.place, of_disk(event.after), of_disk(event.before)
    assert now is not None
    if before is None or not before.is_like(now):
        dirty = (buffer := state.buffer_at(place)) is not None and buffer.dirty
        if token.kept and not dirty:
            # The user has seen it and said yes.
            state.ledger.others_wrote(place, now, shares=False)
            state.checkpoints.note(token.session, place, before, now)
            state.changed_by.add((token.session, place))
        else:
            known = {hunk.key for _, hunk in state.ledger.hunks()}
            before = _started(state, token, place, event.before)
            yield from changes.agent_wrote(state, place, before, now, author, "ledger")
            if token.kept:
                # It comes into the document as well, as far as it can.
                news = [found for found in state.ledger.hunks() if found[1].key not in known]
                yield from verdicts.give(state, news, "keep", None)
    state.saw(place, event.after.text)
    yield ShowReview(place)
    yield from in_step.bring(state, place)
    yield from _is_there(state, token.session, event.path)


def _is_there(state: State, session: str, path: str) -> Effects:
    """The agent is where it has written."""
    yield from places.served(state, state.sessions[session], "edit", path, None, None)


def _started(state: State, token: ForAgent, place: str, disk: Disk) -> Held | None:
    """What the agent's edit started from.

    Where it was given a document's unsaved text, the user's unsaved lines are in what it
    wrote, and must not count as its change: it is as if they had been on disk before.
    """
    held, buffer = of_disk(disk), state.buffer_at(place)
    started = state.read_by.get((token.session, place))
    if held is None or buffer is None or not buffer.dirty or started in {None, disk.text}:
        return held
    assert started is not None
    change, known = state.ledger.files.get(place), state.unsaved.get(place)
    on_disk = known.disk if known is not None else held if change is None else change.base
    origin = state.origins.get(buffer.uri, buffer.saved_text)
    state.ledger.saved(place, started, origin, shares=True)
    state.origins[buffer.uri] = started
    change = state.ledger.files.get(place)
    state.unsaved[place] = Unsaved(started if change is None else change.base.text, on_disk)
    return held.with_text(started, held.form)


def fail(token: ForWrite, path: str, reason: str) -> Effects:
    """Refuse a write, and say why."""
    yield SendAnswer(token.agent, token.request, Failure(INTERNAL_ERROR, f"{path}: {reason}"))


def _no_session() -> Failure:
    return Failure(INVALID_PARAMS, "no such session is open here")
