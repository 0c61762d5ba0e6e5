"""The JSON for changes under review, and places (docs/protocol.md).

Invariant: pure; reads the state and changes nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from acpls.hub import holding
from acpls.hub.shapes import clip, lean, lines
from acpls.review import placing
from acpls.review.change import WHOLE
from acpls.text import uris
from acpls.text.diff import diff
from acpls.text.lines import split_lines

if TYPE_CHECKING:
    from collections.abc import Iterable

    from acpls.follow import Place
    from acpls.hub.state import State
    from acpls.review.change import Change
    from acpls.review.composing import ReviewHunk
    from acpls.review.placing import Standing

    Shape = dict[str, Any]


def uri(state: State, place: str) -> str:
    """The URI by which the editor calls the file at a place."""
    return uris.from_path(state.paths.theirs(place))


def sides(state: State, of: Change) -> Shape:
    """The two sides of a change, for a diff view; ``None`` for no file and for no text."""
    buffer, current = state.buffer_at(of.path), of.target.text
    # What is only proposed is in no document yet, and a file that is gone has no text,
    # whatever its document still shows.
    if buffer is not None and current is not None and not of.proposed:
        current = buffer.text
    return {
        "operation": of.operation,
        "base": of.base.text,
        "current": current,
        "patch": unified(of),
        **lean(
            oldUri=_old_uri(state, of),
            before=of.source,
            reason=of.stale or of.opaque,
        ),
    }


def _old_uri(state: State, of: Change) -> str | None:
    """Where a file was moved or copied from."""
    old = of.moved_from or of.copied_from
    return None if old is None else uri(state, old)


def unified(change: Change) -> str:
    """The pending hunks of a change as a unified diff without context lines.

    A side without lines is given the number of the line before it, and a side without a
    file is called /dev/null, as diff and Git do.
    """
    shift = 0
    before, after = change.moved_from or change.path, change.path
    out = [
        f"--- {'/dev/null' if change.base.is_missing else before}\n",
        f"+++ {'/dev/null' if change.target.is_missing else after}\n",
    ]
    hunks = [pending.hunk for pending in change.hunks]
    if change.stale is not None and change.base.text is not None:
        # It is one whole, and can still be compared.
        hunks = [*diff(change.base.text, change.target.text or "")]
    for h in hunks:
        if h == WHOLE:
            continue
        old = h.start + bool(h.old)
        new = h.start + shift + bool(h.new)
        out.append(f"@@ -{old},{len(h.old)} +{new},{len(h.new)} @@\n")
        out += patch_lines("-", h.old)
        out += patch_lines("+", h.new)
        shift += len(h.new) - len(h.old)
    return "".join(out)


def patch_lines(sign: str, lines: Iterable[str]) -> list[str]:
    """Lines of a text as those of a patch."""
    missing = "\n\\ No newline at end of file\n"
    return [f"{sign}{line}{'' if line.endswith(chr(10)) else missing}" for line in lines]


def change(state: State, of: Change) -> Shape:
    """A change in review."""
    pending = "unclear"
    if of.hunks:
        pending = "pending" if of.stale is None else "stale"
    told = [*of.reasons.values(), *filter(None, [of.opaque if of.hunks else None])]
    return lean(
        change=of.key,
        uri=uri(state, of.path),
        oldUri=_old_uri(state, of),
        operation=of.operation,
        session=of.author.session or None,
        toolCall=None if of.held else of.author.tool_call,
        state=pending,
        before=of.source,
        hunks=hunks(state, of),
        reason="; ".join(told) or None,
    )


def hunks(state: State, of: Change) -> list[Shape]:
    """The hunks of a change, where they stand in the open document, or in the file."""
    buffer = state.buffer_at(of.path)
    on_disk = (of.base if of.proposed else of.target).text or ""
    text = reference = on_disk
    if buffer is not None:
        text = reference = buffer.text
        if buffer.dirty:
            reference = state.origins.get(buffer.uri, buffer.saved_text)
    standings = placing.standing(of, text, reference)
    rows = split_lines(text) if any(at.conflict for at in standings) else []
    waits = holding.waits(state, of)
    return [
        _hunk(state, of, pending, at, rows, waits=waits)
        for pending, at in zip(of.hunks, standings, strict=True)
    ]


def hunks_at(state: State, place: str) -> list[Shape]:
    """The hunks of all changes of one file."""
    found = state.ledger.at(place)
    return [shape for of in found if not of.is_hidden for shape in hunks(state, of)]


def _hunk(
    state: State, of: Change, pending: ReviewHunk, at: Standing, rows: list[str], *, waits: bool
) -> Shape:
    h, whole = pending.hunk, pending.hunk == WHOLE
    fixed = placing.kept_only(of, pending)
    if fixed is None and at.conflict is not None and at.applied:
        # Until it is saved it cannot be told what of this is the user's.
        fixed = placing.SHARED
    return lean(
        hunk=pending.key,
        change=of.key,
        operation=None if of.operation == "modify" else of.operation,
        state="pending" if at.conflict is None else "conflict",
        applied=at.applied,
        shared=pending.shared or None,
        whole=whole or None,
        keepOnly=None if fixed is None else True,
        placed=None if at.placed else False,
        waits=waits or None,
        decided=state.decided.get(pending.key),
        baseRange=lines(h.start, h.end),
        range=lines(at.start, at.end),
        baseText="".join(h.old),
        newText="".join(h.new),
        currentText=None if at.conflict is None else "".join(rows[at.start : at.end]),
        reason=fixed or at.conflict or (of.opaque if whole else None),
        # What several sessions did to the same lines is nobody's own.
        session=pending.author.session or None,
        toolCall=None if of.held else pending.author.tool_call,
    )


def place(state: State, of: Place) -> Shape:
    """A place of the trail."""
    row = 0 if of.line is None else clip(state, of.path, of.line)
    return lean(
        uri=uri(state, of.path),
        range=lines(row, row),
        reason=of.reason,
        toolCall=of.tool_call,
    )
