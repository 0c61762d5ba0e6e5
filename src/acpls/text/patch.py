r"""Git patches: read from text, and laid on a whole text or taken off it again.

Lines are those of ``acpls.text.endings``, and their kinds of endings are not compared.

Invariant: parsing and fitting never raise. What cannot be read is a problem that says
where; what does not fit is ``None``.
"""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Final

from acpls.text.endings import cut, line_break, most_common

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


@dataclass(frozen=True, slots=True)
class PatchHunk:
    r"""One run of lines.

    ``start`` is the zero-based line of the old file where the header puts it: a hint. Each
    line is a tag, one of ``" "``, ``"-"`` and ``"+"``, and its text without the ``\n``.
    ``old_ends`` and ``new_ends`` are false when the last line of that side is marked as
    the end of a file without a final newline.
    """

    start: int
    lines: tuple[tuple[str, str], ...]
    old_ends: bool = True
    new_ends: bool = True


@dataclass(frozen=True, slots=True)
class FilePatch:
    """What a patch does to one file; a path is ``None`` where the patch says ``/dev/null``.

    No hunks and not ``binary``: the text stays as it is, or the file is empty.
    """

    old_path: str | None
    new_path: str | None
    hunks: tuple[PatchHunk, ...]
    binary: bool = False


def parse(text: str) -> tuple[tuple[FilePatch, ...], tuple[str, ...]]:
    """The files of a Git patch, and sentences about those that had to be left out.

    Paths stand as in ACP's ``git_patch``, absolute and without prefix; ``a/`` and ``b/``
    are taken off where they occur. What stands around the files is passed over.
    """
    if "\r\n" in text and text.count("\n") == text.count("\r\n"):
        # All lines end so, the headers too: it came with the patch, not from the files.
        text = text.replace("\r\n", "\n")
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    files: list[FilePatch] = []
    problems: list[str] = []
    at = _next_file(lines, 0)
    while at < len(lines):
        found, at = _file(lines, at)
        if isinstance(found, FilePatch):
            files.append(found)
        else:
            problems.append(found)
        at = _next_file(lines, at)
    return tuple(files), tuple(problems)


def forwards(patch: FilePatch, text: str, *, exact: bool = False) -> str | None:
    """``text`` with the patch applied, or ``None`` when it does not fit in just one way.

    A hunk goes to the line it claims, moved by as much as the hunk before it was, or else
    to the only place where its old lines stand; ``exact`` allows the claimed line only.
    Kinds of line endings are not compared, and the text's own are written. A missing file
    is ``""``: a patch that makes a file fits nothing else, one that deletes gives it.
    """
    if patch.binary or (patch.old_path is None and text):
        return None
    result = _apply(patch.hunks, text, exact=exact)
    return None if patch.new_path is None and result else result


def backwards(patch: FilePatch, text: str, *, exact: bool = False) -> str | None:
    """``text`` with the patch undone; see ``forwards``."""
    hunks = []
    grown = 0
    for hunk in patch.hunks:
        lines = tuple((_UNDONE[tag], line) for tag, line in hunk.lines)
        start = hunk.start + grown
        hunks.append(PatchHunk(start, lines, hunk.new_ends, hunk.old_ends))
        grown += sum(_GROWS[tag] for tag, _ in hunk.lines)
    undone = replace(patch, old_path=patch.new_path, new_path=patch.old_path, hunks=tuple(hunks))
    return forwards(undone, text, exact=exact)


_UNDONE: Final = {" ": " ", "-": "+", "+": "-"}
_GROWS: Final = {" ": 0, "-": -1, "+": 1}


# --- reading -------------------------------------------------------------------------

_HUNK: Final = re.compile(r"@@ -([0-9]+)(?:,([0-9]+))? \+([0-9]+)(?:,([0-9]+))? @@")
_QUOTED: Final = re.compile(r'"((?:[^"\\]|\\.)*)"')
_ESCAPE: Final = re.compile(rb'\\([abtnvfr"\\]|[0-3][0-7]{2})')
_ESCAPES: Final = dict(zip(b'abtnvfr"\\', b'\a\b\t\n\v\f\r"\\', strict=True))
_DIGITS: Final = 9

# Of two headers that name the same side the first in this table counts.
_OLD_NAMES: Final = ("--- ", "rename from ", "copy from ")
_NEW_NAMES: Final = ("+++ ", "rename to ", "copy to ")
_MISSING: Final = ("new file mode ", "deleted file mode ")
_BINARY: Final = ("Binary files ", "GIT binary patch")
_HEADS: Final = (*_OLD_NAMES, *_NEW_NAMES, *_MISSING, *_BINARY)


def _next_file(lines: Sequence[str], at: int) -> int:
    while at < len(lines) and not _is_file(lines, at):
        at += 1
    return at


def _is_file(lines: Sequence[str], at: int) -> bool:
    if lines[at].startswith("diff --git "):
        return True
    # A removed and an added line can look like these two; a hunk does not follow those.
    first = tuple(line[:4] for line in lines[at : at + 3])
    return first[:2] == ("--- ", "+++ ") and first[2:] == ("@@ -",)


def _file(lines: Sequence[str], at: int) -> tuple[FilePatch | str, int]:
    """The file whose header is at ``at``, or what is wrong with it, and where to go on."""
    first = at + 1
    heads, at = _heads(lines, at)
    old, new = _names(heads)
    if old == "" or new == "" or (old is None and new is None):
        return f"the patch does not say at line {first} which file it is for", at
    binary = any(begin in heads for begin in _BINARY)
    hunks: list[PatchHunk] = []
    while not binary and at < len(lines) and lines[at].startswith("@@"):
        hunk, at = _hunk(lines, at)
        if isinstance(hunk, str):
            return f"{new or old}: {hunk}", at
        hunks.append(hunk)
    if hunks and at < len(lines) and lines[at][:1] in _GROWS and not _is_file(lines, at):
        return f"{new or old}: line {at + 1} is more than its hunk's header says", at
    return FilePatch(old, new, tuple(hunks), binary), at


def _heads(lines: Sequence[str], at: int) -> tuple[dict[str, str], int]:
    """The headers of one file by how they begin, and the line behind them."""
    heads: dict[str, str] = {}
    while at < len(lines) and not lines[at].startswith("@@"):
        if lines[at].startswith("diff --git "):
            if heads:
                break
            heads["diff"] = lines[at].removeprefix("diff --git ")
        elif lines[at].startswith(_HEADS):
            for begin in _HEADS:
                if lines[at].startswith(begin):
                    heads.setdefault(begin, lines[at].removeprefix(begin))
        at += 1
        if "GIT binary patch" in heads:
            # What follows is code that can look like anything but a header.
            while at < len(lines) and not lines[at].startswith("diff --git "):
                at += 1
    return heads, at


def _names(heads: dict[str, str]) -> tuple[str | None, str | None]:
    """The old and the new path; ``None`` for a missing file, ``""`` for no name."""
    names = _two_names(heads.get("diff", ""))
    old = _name(heads, _OLD_NAMES, names[0], _MISSING[0])
    new = _name(heads, _NEW_NAMES, names[1], _MISSING[1])
    if (old or "a/").startswith("a/") and (new or "b/").startswith("b/"):
        return old and old[2:], new and new[2:]
    return old, new


def _name(heads: dict[str, str], begins: Sequence[str], name: str, missing: str) -> str | None:
    for begin in begins:
        if begin in heads:
            name = heads[begin]
            break
    path = _unquoted(name)
    return None if missing in heads or path == "/dev/null" else path


def _two_names(header: str) -> tuple[str, str]:
    """The two names of a ``diff --git`` line, as they stand there; empty when unclear.

    Spaces in them are not quoted. But names that differ, as in a rename, have headers of
    their own, so here both are the same but for a prefix.
    """
    half = len(header) // 2
    old, new = header[:half], header[half + 1 :]
    if header[half:-half] == " " and old.replace("a/", "b/", 1) == new.replace("a/", "b/", 1):
        return old, new
    return "", ""


def _unquoted(name: str) -> str:
    """A path as Git writes it, in plain text; ``""`` when its quotes are wrong."""
    if not name.startswith('"'):
        # A tab is never part of an unquoted name: behind it Git puts nothing, others a date.
        return name.partition("\t")[0]
    quoted = _QUOTED.match(name)
    if quoted is None:
        return ""
    # Octal escapes are bytes of UTF-8, so the whole name has to become bytes first.
    raw = _ESCAPE.sub(
        lambda escape: bytes(
            [_ESCAPES[ord(escape[1])] if len(escape[1]) == 1 else int(escape[1], 8)]
        ),
        quoted[1].encode("utf-8", "surrogatepass"),
    )
    return raw.decode("utf-8", "replace")


def _hunk(lines: Sequence[str], at: int) -> tuple[PatchHunk | str, int]:
    """The hunk whose header is at ``at``, or what is wrong with it, and where to go on."""
    header = f"the hunk at line {at + 1} of the patch"
    match = _HUNK.match(lines[at])
    at += 1
    if match is None:
        return f"{header} has a header that cannot be read", at
    numbers = match.groups("1")
    if max(map(len, numbers)) > _DIGITS:
        return f"{header} has line numbers that are too large", at
    start, old_left, _, new_left = map(int, numbers)
    # Where the old side is empty, the header names the line before it.
    start = max(0, start - 1) if old_left else start
    body: list[tuple[str, str]] = []
    old_ends = new_ends = True
    while at < len(lines) and (old_left or new_left or lines[at].startswith("\\")):
        row = lines[at]
        tag, line = row[:1], row[1:]
        if tag not in _GROWS and not row.strip("\r"):
            # Some programs take the one space of an empty line away.
            tag, line = " ", row
        if tag == "\\" and body:
            old_ends = old_ends and body[-1][0] == "+"
            new_ends = new_ends and body[-1][0] == "-"
        elif (
            tag not in _GROWS
            or (tag != "+" and not (old_left and old_ends))
            or (tag != "-" and not (new_left and new_ends))
        ):
            return f"{header} does not have the lines that its header says", at
        else:
            body.append((tag, line))
            old_left -= tag != "+"
            new_left -= tag != "-"
        at += 1
    if old_left or new_left:
        return f"{header} has fewer lines than its header says", at
    return PatchHunk(start, tuple(body), old_ends, new_ends), at


# --- fitting -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Rows:
    """A text by its lines; the last ending is ``""`` when the text does not end with one."""

    bodies: list[str]
    endings: list[str]

    @property
    def ends(self) -> bool:
        return not self.endings or self.endings[-1] != ""

    def fits(self, hunk: PatchHunk, old: list[str], at: int) -> bool:
        end = at + len(old)
        if self.bodies[at:end] != old:
            return False
        if hunk.old_ends and hunk.new_ends:
            # It says nothing about the end of the file, so that stays as it is.
            return True
        return end == len(self.bodies) and self.ends is hunk.old_ends

    def place(
        self, hunk: PatchHunk, old: list[str], hint: int, floor: int, *, exact: bool
    ) -> int | None:
        last = len(self.bodies) - len(old)
        if floor <= hint <= last and self.fits(hunk, old, hint):
            return hint
        if exact:
            return None
        fitting = (
            at
            for at in range(floor, last + 1)
            # Ends first: in a file of equal lines whole comparisons would take for ever.
            if not old or (self.bodies[at], self.bodies[at + len(old) - 1]) == (old[0], old[-1])
            if self.fits(hunk, old, at)
        )
        found = list(islice(fitting, 2))
        return found[0] if len(found) == 1 else None


def _apply(hunks: Sequence[PatchHunk], text: str, *, exact: bool) -> str | None:
    claimed = [_claimed(hunk) for hunk in hunks]
    bodies, endings = cut(text, line_break(text, (body for one in claimed for _, body in one)))
    common = most_common(endings, _first_ending(hunks))
    if bodies[-1]:
        endings.append("")
    else:
        bodies.pop()
    rows = _Rows(bodies, endings)
    result: list[str] = []
    result_endings: list[str] = []
    result_ends = rows.ends
    done = moved = 0
    for hunk, lines in zip(hunks, claimed, strict=True):
        old = [body for tag, body in lines if tag != "+"]
        at = rows.place(hunk, old, hunk.start + moved, done, exact=exact)
        if at is None or (exact and at != hunk.start):
            return None
        moved = at - hunk.start
        result += bodies[done:at]
        result_endings += endings[done:at]
        done = at + len(old)
        for body, ending in _replaced(lines, endings[at:done]):
            result.append(body)
            result_endings.append(ending)
        if not (hunk.old_ends and hunk.new_ends):
            result_ends = hunk.new_ends
    result += bodies[done:]
    result_endings += endings[done:]
    if not result:
        return ""
    ends = [ending or common for ending in result_endings]
    whole = "".join(map(str.__add__, result, ends))
    return whole if result_ends else whole.removesuffix(ends[-1])


def _claimed(hunk: PatchHunk) -> list[tuple[str, str]]:
    r"""The lines of a hunk without the ``\r`` that belongs to a line ending."""
    data = set()
    for other, ends in (("+", hunk.old_ends), ("-", hunk.new_ends)):
        numbers = [number for number, (tag, _) in enumerate(hunk.lines) if tag != other]
        data.update([] if ends else numbers[-1:])
    return [
        (tag, line if number in data else line.removesuffix("\r"))
        for number, (tag, line) in enumerate(hunk.lines)
    ]


def _first_ending(hunks: Sequence[PatchHunk]) -> str:
    added = (line for hunk in hunks for tag, line in hunk.lines if tag == "+")
    return "\r\n" if next(added, "").endswith("\r") else "\n"


def _replaced(lines: list[tuple[str, str]], endings: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The new lines; one that takes the place of an old line takes its ending too."""
    at = 0
    free: deque[str] = deque()
    for tag, body in lines:
        if tag == "+":
            yield body, free.popleft() if free else ""
            continue
        if tag == " ":
            free.clear()
            yield body, endings[at]
        else:
            free.append(endings[at])
        at += 1
