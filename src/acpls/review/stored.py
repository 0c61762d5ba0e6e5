"""The review as a JSON value and back, so that it outlives the run of the server.

Nothing of it is taken on trust when it comes back: a change is what it was only while its
file has the bytes that it had (D20), and any JSON gives a review, if an empty one.

Invariant: pure. What cannot be read is left out, and what a file held before is never made up.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypeAlias, get_args

from acpls.events import UTF_8, Form
from acpls.review.change import Source
from acpls.review.checkpoints import Checkpoint, Step
from acpls.review.composing import NOBODY, Author
from acpls.review.held import NO_FILE, UNKNOWN, Held
from acpls.review.records import StoredChange, StoredHunk, recorded
from acpls.text.encodings import codec_named

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from acpls.review.checkpoints import Checkpoints
    from acpls.review.ledger import Ledger

    Names: TypeAlias = Callable[[str], tuple[str, str] | None]

LIMIT_BYTES: Final = 8 * 1024 * 1024
"""Of all texts, as UTF-8; of what is beyond, only the hashes are kept."""

MOST_STEPS: Final = 20_000
"""Of all checkpoints; the oldest are left out."""

MOST_HUNKS: Final = 100_000
"""Of all changes; of those beyond it is not kept whose each hunk was."""

TOO_LARGE: Final = "the text before it was too large to be kept"

_VERSION: Final = 1
_CONTENT = re.compile(r"[0-9a-f]{64}|")
_LAST_S: Final = 253_402_300_799.0
_SOURCES: Final = {source: source for source in get_args(Source)}


@dataclass(frozen=True, slots=True)
class Stored:
    """What was stored. ``folders``: where its files may lie; ``places``: folders, with their
    paths without symbolic links; ``sessions``: by the keys that authors have here, their
    agents and what these call them.
    """

    changes: tuple[StoredChange, ...] = ()
    checkpoints: tuple[Checkpoint, ...] = ()
    folders: tuple[str, ...] = ()
    places: Mapping[str, str] = field(default_factory=dict)
    sessions: Mapping[str, tuple[str, str]] = field(default_factory=dict)


def stand_in(agent: str, native: str) -> str:
    """The key of a session of an earlier run, which no session of this one has."""
    return f"{agent}/{native}"


# --- into JSON ---------------------------------------------------------------------------


def dump(
    ledger: Ledger,
    checkpoints: Checkpoints,
    names: Names,
    *,
    folders: Iterable[str] = (),
    places: Mapping[str, str] | None = None,
    again: Iterable[StoredChange] = (),
) -> dict[str, Any]:
    """What is under review, and all checkpoints, as a JSON value.

    ``names`` gives a session's agent, and what this calls it. ``again``: changes that came
    out of such a value, and are to be in this one as they were.
    """
    room = _Room()
    changes = [*map(recorded, ledger.files.values()), *again]
    turns = [*checkpoints.all, *checkpoints.open.values()]
    turns.reverse()
    rows = [_checkpoint_row(turn, names, room) for turn in turns if turn.steps]
    return {
        "version": _VERSION,
        "folders": list(folders),
        "places": dict(places or {}),
        "changes": [_change_row(change, names, room) for change in changes],
        "checkpoints": [row for row in reversed(rows) if row["files"]],
    }


@dataclass(slots=True)
class _Room:
    """How much more may be stored."""

    bytes: int = LIMIT_BYTES
    steps: int = MOST_STEPS
    hunks: int = MOST_HUNKS

    def has_for(self, text: str) -> bool:
        size = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
        fits = size <= self.bytes
        self.bytes -= size if fits else 0
        return fits


def _change_row(change: StoredChange, names: Names, room: _Room) -> dict[str, Any]:
    base = None if change.base is UNKNOWN else _held_row(change.base, room)
    reasons = dict(change.reasons)
    if base is None and change.base is not UNKNOWN:
        reasons[""] = TOO_LARGE
    hunks = change.hunks if len(change.hunks) <= room.hunks else ()
    room.hunks -= len(hunks)
    authors = list(dict.fromkeys(hunk.author for hunk in hunks))
    row = {
        "path": change.path,
        "author": _author_row(change.author, names),
        "base": base,
        "target": _held_row(change.target, room),
        "source": change.source,
        "authors": [_author_row(author, names) for author in authors],
        "hunks": [
            [h.start, h.end, h.first, h.last, authors.index(h.author), int(h.shared)] for h in hunks
        ],
        "reasons": reasons,
        "movedFrom": change.moved_from,
        "movedTo": change.moved_to,
        "copiedFrom": change.copied_from,
    }
    return {key: value for key, value in row.items() if value}


def _checkpoint_row(turn: Checkpoint, names: Names, room: _Room) -> dict[str, Any]:
    files: dict[str, list[list[Any]]] = {}
    for path, steps in turn.steps.items():
        room.steps -= len(steps)
        rows = [_step_row(step, room) for step in steps]
        if room.steps >= 0 and None not in rows:
            files[path] = [row for row in rows if row is not None]
    return {
        "session": _author_row(Author(turn.session), names),
        "title": turn.title,
        "at": turn.at_s,
        "files": files,
    }


def _step_row(step: Step, room: _Room) -> list[Any] | None:
    before = None if step.before is None else _held_row(step.before.bare(), room)
    after = _held_row(step.after.bare(), room)
    return None if after is None else [before, after]


def _held_row(held: Held, room: _Room) -> dict[str, Any] | None:
    """What a file held; ``None`` where that takes more room than there is."""
    row: dict[str, Any] = {}
    if held.is_missing:
        return {"missing": True}
    if held.content is not None:
        row["content"] = held.content
    if held.opaque is not None:
        row["opaque"] = held.opaque
    elif held.text is not None and room.has_for(held.text):
        row["text"] = held.text
    elif held.text is not None and held.content is None:
        return None
    if held.form != UTF_8:
        form = held.form
        row["form"] = [form.encoding, form.bom, form.guessed, form.mode]
    return row


def _author_row(author: Author, names: Names) -> list[str | None] | None:
    name = names(author.session)
    return None if name is None else [*name, author.tool_call]


# --- out of JSON -------------------------------------------------------------------------


def load(value: object) -> Stored:
    """What a JSON value says was under review; whatever in it cannot be read is left out."""
    if not isinstance(value, dict) or value.get("version") != _VERSION:
        return Stored()
    sessions: dict[str, tuple[str, str]] = {}
    changes = [_change(row, sessions) for row in _list(value.get("changes"))]
    turns = [_checkpoint(row, sessions) for row in _list(value.get("checkpoints"))]
    return Stored(
        tuple(change for change in changes if change is not None),
        tuple(turn for turn in turns if turn is not None and turn.steps),
        tuple(folder for folder in _list(value.get("folders")) if isinstance(folder, str)),
        dict(_texts(value.get("places"))),
        sessions,
    )


def _change(row: object, sessions: dict[str, tuple[str, str]]) -> StoredChange | None:
    if not isinstance(row, dict):
        return None
    path, target = _text(row.get("path")), _held(row.get("target"))
    if not path or target is None or target.text is not None:
        return None
    authors = [_author(author, sessions) for author in _list(row.get("authors"))]
    hunks = [_hunk(hunk, authors) for hunk in _list(row.get("hunks"))]
    reasons = row.get("reasons")
    base = _held(row.get("base"))
    return StoredChange(
        path,
        _author(row.get("author"), sessions),
        UNKNOWN if base is None else base,
        target,
        "unknown" if base is None else _SOURCES.get(_text(row.get("source")) or "", "store"),
        () if None in hunks else tuple(hunk for hunk in hunks if hunk is not None),
        dict(_texts(reasons)),
        _text(row.get("movedFrom")),
        _text(row.get("movedTo")),
        _text(row.get("copiedFrom")),
    )


def _checkpoint(row: object, sessions: dict[str, tuple[str, str]]) -> Checkpoint | None:
    if not isinstance(row, dict):
        return None
    author = _author(row.get("session"), sessions)
    if author == NOBODY:
        return None
    files = row.get("files")
    steps: dict[str, tuple[Step, ...]] = {}
    for path, rows in files.items() if isinstance(files, dict) else ():
        found = [_step(step) for step in _list(rows)]
        if found and isinstance(path, str) and None not in found:
            steps[path] = tuple(step for step in found if step is not None)
    at_s = row.get("at")
    is_time = isinstance(at_s, int | float) and 0 <= at_s <= _LAST_S
    title = _text(row.get("title")) or ""
    return Checkpoint("", author.session, title, steps, at_s if is_time else None)


def _step(row: object) -> Step | None:
    match row:
        case [before, after]:
            held = _held(after)
            return None if held is None else Step(_held(before), held)
        case _:
            return None


def _held(row: object) -> Held | None:
    """What a file held; ``None`` where that cannot be read, which is not the same as no file."""
    if row == {"missing": True}:
        return NO_FILE
    if not isinstance(row, dict):
        return None
    text, opaque, content = (_text(row.get(key)) for key in ("text", "opaque", "content"))
    form = _form(row.get("form"))
    if form is None or (content is not None and not _CONTENT.fullmatch(content)):
        return None
    if opaque is not None:
        return None if content is None else Held(None, form, content, opaque)
    return None if text is None and content is None else Held(text, form, content)


def _form(row: object) -> Form | None:
    match row:
        case None:
            return UTF_8
        case [str(encoding), bool(bom), bool(guessed), None | int() as mode]:
            fits = codec_named(encoding) is not None and 0 <= (mode or 0) <= 0o7777
            return Form(encoding, bom, guessed, mode) if fits else None
        case _:
            return None


def _author(row: object, sessions: dict[str, tuple[str, str]]) -> Author:
    match row:
        case [str(agent), str(native), None | str() as call]:
            key = stand_in(agent, native)
            sessions[key] = agent, native
            return Author(key, call)
        case _:
            return NOBODY


def _hunk(row: object, authors: list[Author]) -> StoredHunk | None:
    match row:
        case [int(start), int(end), int(first), int(last), int(whose), int(shared)]:
            if 0 <= start <= end and 0 <= first <= last and 0 <= whose < len(authors):
                return StoredHunk(start, end, first, last, authors[whose], bool(shared))
            return None
        case _:
            return None


def _texts(value: object) -> Iterator[tuple[str, str]]:
    for key, text in value.items() if isinstance(value, dict) else ():
        if isinstance(key, str) and isinstance(text, str):
            yield key, text


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
