"""Verdicts on hunks, carried out on the open document and on the disk.

One run at a time works on a file: it reads the disk, edits the document if it is open,
waits until the document is seen to hold the outcome, writes the disk if that is needed,
and only then moves the base. Whatever intervenes, it looks again, at most ``TRIES`` times.

Keeping makes sure that the document has the hunk (the file, where it is not open).
Rejecting makes sure that neither has it. A document is never saved.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from acpls.effects import After, ReadFile, ReplyCommand, ShowReview, TellUser, WriteFile
from acpls.hub import editing, placing
from acpls.hub.tokens import ForVerdict
from acpls.text.diff import edits_between

if TYPE_CHECKING:
    from acpls.events import Disk, FileWritten
    from acpls.hub.editing import OwnEdit
    from acpls.hub.state import Effects, State
    from acpls.review.ledger import ReviewedFile, ReviewHunk, Verdict
    from acpls.text.buffers import Buffer

TRIES = 3
RETRY_DELAY_S = 0.05


@dataclass(slots=True)
class Batch:
    """All runs of one command, which is answered when the last of them is done."""

    ticket: object
    runs: int
    done: int = 0
    left: list[dict[str, str]] = field(default_factory=list)


@dataclass(slots=True)
class VerdictRun:
    """One verdict on some hunks of one file.

    ``edit``: the edit of the document that is under way; ``disk``: what the file held when
    it was read, and ``is_open``: whether its document was open then; ``wanted``: what the
    file is made to hold; ``left``: the hunks that cannot be
    done, with the reason; ``tries``: how often something came between.
    """

    id: int
    path: str
    keys: frozenset[str]
    verdict: Verdict
    batch: Batch
    tries: int = 0
    edit: int | None = None
    disk: str | None = None
    is_open: bool = False
    wanted: str | None = None
    left: dict[str, str] = field(default_factory=dict)


def give(
    state: State, chosen: list[tuple[ReviewedFile, ReviewHunk]], verdict: Verdict, ticket: object
) -> Effects:
    """Carry out a verdict on these hunks, file by file."""
    by_path: dict[str, set[str]] = {}
    for file, hunk in chosen:
        by_path.setdefault(file.path, set()).add(hunk.key)
    batch = Batch(ticket, len(by_path))
    if not by_path:
        yield from _answer(batch)
    for path, keys in by_path.items():
        run = VerdictRun(state.number("verdict"), path, frozenset(keys), verdict, batch)
        waiting = state.verdicts.setdefault(path, [])
        waiting.append(run)
        if len(waiting) == 1:
            yield from _look(state, run)


# --- what comes of each step ----------------------------------------------------------


def read(state: State, token: ForVerdict, disk: Disk) -> Effects:
    """The disk was read: edit the document, or go on to the disk at once."""
    run = state.verdicts[token.path][0]
    buffer = state.buffer_at(run.path)
    run.disk, run.is_open = disk.text, buffer is not None
    if disk.problem is not None and (buffer is None or run.verdict == "reject"):
        yield from _give_up(state, run, f"the file {disk.problem}")
    elif buffer is None:
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
        text, left = _outcome(state, run, buffer.text)
        if left or text != buffer.text:
            return
    editing.over(state, run.edit)
    run.edit = None
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


def written(state: State, token: ForVerdict, event: FileWritten) -> Effects:
    """The disk was written, or had changed since it was read."""
    run = state.verdicts[token.path][0]
    if event.problem is not None:
        yield from _again(state, run, f"the file {event.problem}")
        return
    state.saw(run.path, run.wanted)
    buffer = state.buffer_at(run.path)
    if buffer is not None and run.wanted is None:
        # There is no file any more, so nothing of the document is saved.
        buffer.saved_text = ""
    if buffer is not None and not run.is_open:
        # It was opened meanwhile, perhaps with what the file held before.
        yield from _look(state, run)
    else:
        yield from _done(state, run)


# --- the steps ------------------------------------------------------------------------


def _look(state: State, run: VerdictRun) -> Effects:
    yield ReadFile(ForVerdict(run.path), run.path, state.all_roots())


def _to_buffer(state: State, run: VerdictRun, buffer: Buffer) -> Effects:
    # A document without changes of the user's is to hold what its file does.
    known = buffer.text if buffer.dirty or run.disk is None else run.disk
    text, left = _outcome(state, run, known)
    run.left.update(left)
    if text == buffer.text:
        yield from _to_disk(state, run)
        return
    planned = edits_between(buffer.text, text)
    effect = editing.ask(state, ForVerdict(run.path), buffer, planned)
    run.edit = effect.number
    yield effect


def _to_disk(state: State, run: VerdictRun) -> Effects:
    """Make the disk agree: always for a reject, for a keep only where no document is open."""
    run.wanted = run.disk
    if run.verdict == "reject" or not (state.buffer_at(run.path) or _agent_will(state, run)):
        run.wanted = _on_disk(state, run)
    if run.wanted == run.disk:
        yield from _done(state, run)
        return
    token, roots = ForVerdict(run.path), state.all_roots()
    yield WriteFile(token, run.path, run.wanted, roots, expected=run.disk)


def _agent_will(state: State, run: VerdictRun) -> bool:
    """Whether an agent still means to write the file; it would not find its old text then."""
    file = state.ledger.files.get(run.path)
    if file is None or file.written:
        return False
    call = state.sessions[file.author.session].tool_call(file.author.tool_call or "")
    return call is not None and not call.finished


def _on_disk(state: State, run: VerdictRun) -> str | None:
    """What the file is to hold."""
    chosen = _chosen(state, run)
    if not chosen:
        return run.disk
    file, _ = chosen[0]
    origin, outcome = file.target, file.base
    if run.verdict == "keep":
        origin, outcome = outcome, origin
    if len(chosen) == len(file.hunks) and run.disk == origin:
        unsaved = state.unsaved.get(run.path)
        rejected = run.verdict == "reject" and unsaved is not None and unsaved.base == outcome
        return unsaved.disk if unsaved is not None and rejected else outcome
    if run.disk is None:
        return None
    text, left = _outcome(state, run, run.disk)
    run.left.update(left)
    return text or (outcome and "")


def _again(state: State, run: VerdictRun, reason: str) -> Effects:
    run.tries += 1
    if run.tries >= TRIES:
        yield from _give_up(state, run, reason)
    else:
        yield After(RETRY_DELAY_S, ForVerdict(run.path))


def _give_up(state: State, run: VerdictRun, reason: str) -> Effects:
    run.left.update(dict.fromkeys(run.keys - run.left.keys(), reason))
    yield TellUser("error", f"Cannot {run.verdict} a change: {reason}"[:80], run.path)
    yield from _done(state, run)


def _done(state: State, run: VerdictRun) -> Effects:
    chosen = _chosen(state, run)
    if chosen:
        file, _ = chosen[0]
        state.ledger.settle(file, tuple(hunk for _, hunk in chosen), run.verdict)
        if run.verdict == "keep" or not file.hunks:
            state.unsaved.pop(run.path, None)
    batch = run.batch
    batch.runs -= 1
    batch.done += len(chosen)
    gone = run.keys - run.left.keys() - {hunk.key for _, hunk in chosen}
    run.left.update(dict.fromkeys(gone, "it is no longer pending"))
    batch.left += [{"hunk": key, "reason": reason} for key, reason in sorted(run.left.items())]
    yield ShowReview(run.path)
    if not batch.runs:
        yield from _answer(batch)
    waiting = state.verdicts[run.path]
    waiting.pop(0)
    if waiting:
        yield from _look(state, waiting[0])
    else:
        del state.verdicts[run.path]


def _answer(batch: Batch) -> Effects:
    yield ReplyCommand(batch.ticket, {"hunks": batch.done, "left": batch.left})


def _chosen(state: State, run: VerdictRun) -> list[tuple[ReviewedFile, ReviewHunk]]:
    """The hunks of a run that are still pending and can be done."""
    file = state.ledger.files.get(run.path)
    if file is None:
        return []
    wanted = run.keys - run.left.keys()
    return [(file, hunk) for hunk in file.hunks if hunk.key in wanted]


def _outcome(state: State, run: VerdictRun, text: str) -> tuple[str, dict[str, str]]:
    """The text with the verdict, and the hunks that cannot be placed in it."""
    chosen = _chosen(state, run)
    if not chosen:
        return text, {}
    file, hunks = chosen[0][0], [hunk for _, hunk in chosen]
    buffer = state.buffer_at(run.path)
    origin = None
    if buffer is not None and buffer.text == text:
        origin = buffer.saved_text
        if buffer.dirty:
            origin = state.origins.get(buffer.uri, origin)
    return placing.outcome(file, hunks, run.verdict, text, origin)
