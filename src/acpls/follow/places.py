"""A place in a file, and the one point where an agent's line becomes a row.

Agents count lines from one (ACP), editors rows from zero (LSP). Lines may be left out, 0,
negative, or past the end; some agents know no better.

Invariant: no other module adds or takes away one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from acpls.session.content import Fragment
from acpls.text.lines import body, split_lines

if TYPE_CHECKING:
    from acpls.follow.hints import Hint
    from acpls.text.patch import FilePatch

    Rows = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a file, and why the agent is there (the kind of its tool call).

    ``line`` is zero-based, ``None`` when only the file is known; ``end`` is its last row, itself
    included. ``outside``: of all folders in which the session may work.
    """

    path: str
    line: int | None
    reason: str
    tool_call: str | None = None
    end: int | None = None
    outside: bool = False

    @property
    def spot(self) -> tuple[str, int | None]:
        """What of it is on the screen."""
        return self.path, self.line


def placed(hint: Hint, text: str | None, hunk: Rows | None = None) -> Rows | None:
    """The first and last row of a hint; ``None`` when only the file is known.

    ``text`` is what the file holds, ``None`` where that is not known; then nothing is cut off
    at its end. ``hunk``: the rows of what the call changed, where that was found out.
    """
    rows = None if text is None else rows_of(text)
    if hint.line is not None:
        if not hint.sure and rows is not None and hint.line > rows:
            return None
        first = row(hint.line, rows)
        return first, row(hint.line + max(hint.count or 1, 1) - 1, rows)
    found = hunk or (None if hint.change is None else _changed(hint.change, text))
    if found is None or rows is None:
        return found
    return min(found[0], rows - 1), min(max(found), rows - 1)


def rows_of(text: str) -> int:
    """How many lines a text has, at least 1; what a last line ending begins is none."""
    return max(len(split_lines(text)), 1)


def row(line: int, rows: int | None) -> int:
    """The row of a line that counts from one, inside a text of so many rows."""
    found = max(line - 1, 0)
    return found if rows is None else min(found, rows - 1)


def _changed(change: Fragment | FilePatch, text: str | None) -> Rows | None:
    """The rows that a claimed change is about, by the claim and the text."""
    if isinstance(change, Fragment):
        return None if text is None else _fragment(change, text)
    if not change.hunks:
        return None
    hunk = change.hunks[0]
    before = 0
    for tag, _ in hunk.lines:
        if tag != " ":
            break
        before += 1
    added = sum(tag == "+" for tag, _ in hunk.lines)
    start = hunk.start + before
    return start, start + max(added, 1) - 1


def _fragment(change: Fragment, text: str) -> Rows | None:
    old, new = change.old or "", change.new
    # Before it is made the old text is there, afterwards the new one, and some of it in both.
    here = next((side for side in (new, old) if side and side in text), None)
    if here is None:
        return None
    start = len(split_lines(text[: text.index(here)] + "x")) - 1
    ours, theirs = split_lines(here), split_lines(old if here is new else new)
    same = 0
    if theirs:
        # A whole file as the fragment begins where the two sides differ.
        while same < min(len(ours), len(theirs)) and body(ours[same]) == body(theirs[same]):
            same += 1
    return start + same, start + max(len(ours) - 1, same)
