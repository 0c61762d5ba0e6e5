"""Verdicts on hunks, carried out on the open document and on the disk.

One run at a time works on a file: it reads the disk, edits the document if it is open,
waits until the document is seen to hold the outcome, sees to it that the file does, and only
then moves the base. Whatever intervenes, it looks again, at most ``TRIES`` times.

Keeping makes sure that the document has the hunk (the file, where it is not open).
Rejecting makes sure that neither has it. A document with unsaved changes is never saved.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from acpls.effects import (
    After,
    ChangeFile,
    ReadFile,
    ReplyCommand,
    SaveDocument,
    ShowReview,
    TellUser,
    WriteFile,
)
from acpls.hub import editing, holding, in_step, stored
from acpls.hub.paths import folder_of, is_in
from acpls.hub.runs import Batch, Run
from acpls.hub.tokens import Foregone, ForVerdict
from acpls.review.held import of_disk
from acpls.text.diff import edits_between

if TYPE_CHECKING:
    from acpls.events import DocumentSaved, FileRead, FileWritten
    from acpls.hub.editing import OwnEdit
    from acpls.hub.state import Effects, State
    from acpls.review.change import Change, Verdict
    from acpls.review.composing import ReviewHunk
    from acpls.review.held import Held
    from acpls.text.buffers import Buffer

UNREAD = "the editor has to read the file again first (revert the buffer)"
LINKED = "the file is a symbolic link now"
GONE = "it is no longer pending"
NOT_BACK = "the file could not be brought back to where it was"
TRIES = 3
RETRY_DELAY_S = 0.05


def give(
    state: State,
    chosen: list[tuple[Change, ReviewHunk]],
    verdict: Verdict,
    ticket: object,
    *,
    over: bool = False,
    one: bool = False,
) -> Effects:
    """Carry out a verdict on these hunks, file by file; ``one``: a single hunk was named.

    A file that was moved goes back, or stays, when all of its change is meant.
    """
    by_path: dict[str, set[str]] = {}
    batch = Batch(ticket)
    for change, hunk in chosen:
        if holding.waits(state, change):
            batch.done += 1
            yield from holding.decide(state, change, hunk, verdict)
        else:
            by_path.setdefault(change.path, set()).add(hunk.key)
    batch.runs = len(by_path)
    if not by_path:
        yield from _answer(state, batch)
    for path, keys in by_path.items():
        moved = state.ledger.files.get(path)
        if moved is not None and not _is_moved(moved, keys, one=one):
            moved = None
        run = Run(path, frozenset(keys), verdict, batch, over, whole=moved is not None)
        if moved is not None and verdict == "reject":
            run = _back_first(state, run, moved)
        yield from start(state, run)


def start(state: State, run: Run) -> Effects:
    """Begin with a run, or let it wait for those before it."""
    waiting = state.verdicts.setdefault(run.path, [])
    waiting.append(run)
    if len(waiting) == 1:
        yield from _look(state, run)


def _is_moved(change: Change, keys: set[str], *, one: bool) -> bool:
    """Whether a verdict on these hunks is about a file's having been moved, too."""
    meant = change.is_whole or not one
    return change.moved_from is not None and meant and keys >= {p.key for p in change.hunks}


def _back_first(state: State, run: Run, change: Change) -> Run:
    """A file goes back to where it was, and only then from where it is."""
    before = {pending.key for pending in change.hunks}
    departure = state.ledger.send_back(change)
    if departure is None:
        return run
    run.keys = run.keys - before | {pending.key for pending in change.hunks}
    run.batch.runs += 1
    keys = frozenset(pending.key for pending in departure.hunks)
    return Run(departure.path, keys, "reject", run.batch, run.over, then=run)


def foregone(state: State, token: Foregone) -> Effects:
    """What was decided on before it was written has been written."""
    chosen = [found for found in state.ledger.hunks() if found[1].key in token.hunks]
    yield from give(state, chosen, token.verdict, None)


# --- what comes of each step ----------------------------------------------------------


def read(state: State, token: ForVerdict, event: FileRead) -> Effects:
    """The disk was read: edit the document, or go on to the disk at once."""
    if token.path in state.unsure:
        # What there is to decide on is known in a moment.
        yield After(RETRY_DELAY_S, token)
        return
    run, disk = state.verdicts[token.path][0], event.disk
    buffer = state.buffer_at(run.path)
    run.disk, run.is_open = disk, buffer is not None
    run.is_clean = buffer is not None and not buffer.dirty
    run.is_in_step = buffer is not None and buffer.saved_text == disk.text
    run.look()
    run.left.update(run.impossible(state))
    unseen = disk.problem is not None and disk.content is None
    if unseen and (run.verdict == "reject" or (buffer is None and run.is_text(state))):
        yield from _give_up(state, run, f"the file {disk.problem}")
    elif disk.place != run.path:
        # What is written there would land in the file that the link leads to.
        yield from _give_up(state, run, LINKED)
    elif run.dry:
        if buffer is not None and run.is_text(state):
            unread = buffer.dirty and _is_unread(state, run, buffer)
            left = run.outcome(state, buffer, buffer.text)[1]
            run.left.update(dict.fromkeys(run.keys, UNREAD) if unread else left)
        _settle(state, run, run.wanted(state, is_open=buffer is not None))
        yield from _done(state, run)
    elif buffer is None or (run.asked and not run.asked_away) or not run.is_text(state):
        yield from _to_disk(state, run)
    elif editing.under_way(state, buffer.uri):
        yield After(RETRY_DELAY_S, token)
    else:
        yield from _to_buffer(state, run, buffer)


def buffer_changed(state: State, path: str, own: OwnEdit | None = None) -> Effects:
    """The document changed, by the edit ``own`` or by the user, or it was closed: perhaps it
    holds the outcome now.
    """
    run = next(iter(state.verdicts.get(path, ())), None)
    if run is None or run.edit is None:
        return
    buffer = state.buffer_at(path)
    if own is None and buffer is not None:
        if run.edit not in state.edits:
            run.edit = None
            yield from _again(state, run, "the document was opened anew")
            return
        # Not the text that was expected, but the user may have typed meanwhile.
        text, left = run.outcome(state, buffer, buffer.text)
        if left or text != buffer.text:
            return
    editing.over(state, run.edit)
    run.edit, run.edited = None, buffer is not None
    yield from _to_disk(state, run)


def came_to_nothing(state: State, token: ForVerdict, reason: str, *, doubtful: bool) -> Effects:
    """The editor did not make the edit: look again in a moment.

    Where it is ``doubtful`` whether it did, a second edit could make things worse.
    """
    run = state.verdicts[token.path][0]
    run.edit = None
    if doubtful:
        yield from _give_up(state, run, "the document changed meanwhile; look at it again")
    else:
        yield from _again(state, run, reason)


def time_passed(state: State, token: ForVerdict) -> Effects:
    """Look again."""
    yield from _look(state, state.verdicts[token.path][0])


def document_saved(state: State, token: ForVerdict, _: DocumentSaved) -> Effects:
    """The editor saved the document, or did not: the file tells."""
    yield from _look(state, state.verdicts[token.path][0])


def file_changed(state: State, token: ForVerdict) -> Effects:
    """The editor took the file away, or did not: the disk tells."""
    yield from _look(state, state.verdicts[token.path][0])


def saved(state: State, path: str) -> bool:
    """The document is being saved; where a reject has been seen in it, the file has it now.

    Whether that was so.
    """
    run = next(iter(state.verdicts.get(path, ())), None)
    if run is None or not run.edited or run.verdict != "reject":
        return False
    _settle(state, run)
    return True


def written(state: State, token: ForVerdict, event: FileWritten) -> Effects:
    """The disk was written, or had changed since it was read."""
    run = state.verdicts[token.path][0]
    if event.problem is not None or event.after is None:
        yield from _again(state, run, f"the file {event.problem or 'cannot be read'}")
        return
    buffer = state.buffer_at(run.path)
    late = None
    if buffer is not None and not run.is_open and run.is_text(state):
        # It was opened meanwhile, perhaps with what the file held before.
        late, _ = run.outcome(state, buffer, buffer.text)
    _settle(state, run, of_disk(event.after))
    state.saw(run.path, event.after.text)
    if buffer is not None and event.after.is_missing:
        # There is no file any more, so nothing of the document is saved.
        buffer.saved_text = ""
    if buffer is None or late in {None, buffer.text}:
        yield from _done(state, run)
        yield from in_step.follow(state, run.path)
        return
    assert late is not None
    effect = editing.ask(state, token, buffer, edits_between(buffer.text, late))
    run.edit = effect.number
    yield effect


# --- the steps ------------------------------------------------------------------------


def _look(state: State, run: Run) -> Effects:
    yield ReadFile(ForVerdict(run.path), run.path, _roots(state, run))


def _roots(state: State, run: Run) -> tuple[str, ...]:
    roots = state.all_roots()
    if is_in(run.path, map(state.paths.place, roots)):
        return roots
    # The user has let an agent write outside of the workspace.
    return (*roots, folder_of(run.path))


def _is_unread(state: State, run: Run, buffer: Buffer) -> bool:
    """Whether a document cannot be edited, since its file is another than the editor read."""
    stale = run.disk is not None and buffer.saved_text != run.disk.text
    return stale and not state.editor.stale_edits


def _to_buffer(state: State, run: Run, buffer: Buffer) -> Effects:
    if _is_unread(state, run, buffer):
        if buffer.dirty:
            run.left.update(dict.fromkeys(run.keys, UNREAD))
        yield from _to_disk(state, run)
        return
    # A document without changes of the user's is to hold what its file does.
    on_disk = None if run.disk is None or buffer.dirty else run.disk.text
    text, left = run.outcome(state, buffer, buffer.text if on_disk is None else on_disk)
    run.left.update(left)
    if text == buffer.text:
        yield from _to_disk(state, run)
        return
    if run.is_clean and state.editor.deletes and not run.asked_away and run.wants_none(state):
        yield from _to_disk(state, run)
        return
    planned = edits_between(buffer.text, text)
    effect = editing.ask(state, ForVerdict(run.path), buffer, planned)
    run.edit = effect.number
    yield effect


def _to_disk(state: State, run: Run) -> Effects:
    """Make the file agree: always for a reject, for a keep only where no document is open."""
    assert run.disk is not None
    buffer, token = state.buffer_at(run.path), ForVerdict(run.path)
    wanted = run.wanted(state, is_open=buffer is not None)
    if wanted is None:
        yield from _done(state, run)
        return
    if buffer is not None and run.is_clean and not run.asked:
        run.asked = True
        if wanted.is_missing and state.editor.deletes:
            run.asked_away = True
            number = state.number("edit")
            state.file_edits[number] = token
            yield ChangeFile(number, buffer.uri)
            return
        # An editor objects to saving a document whose file has changed since it was read.
        if run.edited and run.is_in_step and state.editor.save and buffer.text == wanted.text:
            yield SaveDocument(token, buffer.uri)
            return
    yield WriteFile(
        token,
        run.path,
        wanted.text,
        _roots(state, run),
        expected=run.disk.content,
        # All letters of it were in the file, so its encoding has them, be it only guessed.
        form=replace(wanted.form, guessed=False),
        stored=wanted.content if wanted.opaque is not None else None,
    )


def _again(state: State, run: Run, reason: str) -> Effects:
    run.tries += 1
    if run.tries >= TRIES:
        yield from _give_up(state, run, reason)
    else:
        yield After(RETRY_DELAY_S, ForVerdict(run.path))


def _give_up(state: State, run: Run, reason: str) -> Effects:
    run.left.update(dict.fromkeys(run.keys - run.left.keys() - run.done, reason))
    run.batch.told = True
    yield TellUser("error", f"{run.failed}: {reason}"[:80], run.path)
    yield from _done(state, run)


def _settle(state: State, run: Run, now: Held | None = None) -> None:
    """The verdict is carried out, as far as it can be: the ledger follows."""
    for change, hunks in list(run.chosen(state)):
        run.done.update(hunk.key for hunk in hunks)
        run.carried_out(state, change, hunks, now)
    if (run.verdict == "keep" and run.done) or run.path not in state.ledger.files:
        state.unsaved.pop(run.path, None)


def _done(state: State, run: Run) -> Effects:
    _settle(state, run)
    gone = run.keys - run.left.keys() - run.done
    run.left.update(dict.fromkeys(gone, GONE))
    if not run.dry:
        yield ShowReview(run.path)
    yield from _over(state, run)
    waiting = state.verdicts[run.path]
    waiting.pop(0)
    if waiting:
        yield from _look(state, waiting[0])
    else:
        del state.verdicts[run.path]


def _over(state: State, run: Run) -> Effects:
    batch, then = run.batch, run.then
    batch.runs -= 1
    batch.take(state, run)
    if then is not None and run.left:
        then.left.update(dict.fromkeys(then.keys, NOT_BACK))
        yield from _over(state, then)
    elif then is not None:
        yield from start(state, then)
    elif not batch.runs:
        yield from _answer(state, batch)


def _answer(state: State, batch: Batch) -> Effects:
    answer = batch.answer(state)
    yield ReplyCommand(batch.ticket, answer)
    # The editor may end the next moment, and what was decided must not wait again then.
    yield from stored.store(state)
    reasons = [left["reason"] for left in batch.left if left["reason"] != GONE]
    if reasons and not batch.told and not state.editor.reviews:
        # Without a view of the review nobody would see it.
        count = f"{len(batch.left)} of {batch.done + len(batch.left)} changes"
        yield TellUser("error", f"{count} left as they are: {reasons[0]}"[:80])
