"""The works that change files: rename, document, create, move, delete.

Each change is shown as a diff, asked about where the mode says so, and then made on the
text as it is at that moment, so that what the user typed meanwhile is not lost.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from acpls.demo.diffs import hunks
from acpls.demo.docstrings import documented
from acpls.demo.files import Sorry, text_of
from acpls.demo.permission import permitted
from acpls.demo.terms import Change, Place, Text
from acpls.demo.words import file_word, tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from acpls.demo.terms import Call
    from acpls.demo.turn import Turn

_READ_LIMIT = 200
"""Files that are asked of the editor one by one; with more, only those that match on disk."""

_STEP_PAUSE_S = 0.25
_ALL_EDITS = "Allow all edits in this session"
_ALL_DELETIONS = "Allow all deletions in this session"


def rename(turn: Turn, rest: str) -> None:
    """Rename an identifier in every text file of the workspace."""
    names = re.search(r"`?([^\W\d]\w*)`?\s+(?:to|into|as)\s+`?([^\W\d]\w*)`?", rest)
    if not names:
        raise Sorry("Tell me both names, like this: `rename OLD to NEW`.")
    old, new = names[1], names[2]
    if old == new:
        raise Sorry(f"`{old}` has that name already.")
    whole = re.compile(rf"\b{old}\b")
    turn.think(f"I look for `{old}` everywhere first, then I ask before I change anything.")
    search = turn.begin(f"Search for {old}", "search", raw_input={"pattern": old})
    texts = _texts_with(turn, whole)
    places = [
        Place(path, text.count("\n", 0, found.start()) + 1)
        for path, text in texts
        for found in whole.finditer(text)
    ]
    listed = "\n".join(f"{turn.workspace.shown(one.path)}:{one.line}" for one in places)
    turn.call(
        search.id,
        status="completed",
        places=places,
        content=[Text(listed or "Not found.")],
    )
    if not texts:
        turn.say(f"There is no `{old}` in this workspace, so there is nothing to rename.")
        return
    amount = f"{_count(len(places), 'place')} in {_count(len(texts), 'file')}"
    turn.say(f"`{old}` stands in {amount}.")
    changes = [Change("modify", path, text, whole.sub(new, text)) for path, text in texts]
    whole_call = turn.begin(
        f"Rename {old} to {new} ({amount})",
        "edit",
        status="pending",
        places=[Place(change.path, line) for change in changes for line in _lines(change)[:1]],
        content=changes,
        raw_input={"old": old, "new": new},
    )
    if not permitted(turn, whole_call, "edit", always=_ALL_EDITS):
        return
    # The diffs move to the calls of the single files, so that no change is told twice.
    turn.call(whole_call.id, status="in_progress", content=[Text(amount)])
    done = [_edit(turn, path, lambda text: whole.sub(new, text)) for path, _ in texts]
    failed = [path for (path, _), change in zip(texts, done, strict=True) if change is None]
    turn.call(whole_call.id, status="failed" if failed else "completed")
    lines = [
        f"`{turn.workspace.shown(change.path)}:{line}`"
        for change in done
        if change
        for line in _lines(change)
    ]
    if lines:
        turn.say(f"Renamed `{old}` to `{new}`: {', '.join(lines)}.")
    if failed:
        left = ", ".join(f"`{turn.workspace.shown(path)}`" for path in failed)
        turn.say(f"I could not change {left}.")


def document(turn: Turn, rest: str) -> None:
    """Add docstrings to one Python file."""
    function, path = _documentable(turn, rest)
    shown = turn.workspace.shown(path)
    call = turn.begin(f"Read {shown}", "read", places=[Place(path, 1)])
    text = turn.read(path, to_edit=True)
    turn.call(call.id, status="completed")
    new = documented(text, path.stem, function)
    if new == text:
        turn.say(f"`{shown}` has all its docstrings already.")
        return

    def remake(now: str) -> str:
        return documented(now, path.stem, function)

    change = Change("modify", path, text, new)
    call = turn.begin(
        f"Edit {shown}", "edit", status="pending", places=_places(change), content=[change]
    )
    if not permitted(turn, call, "edit", always=_ALL_EDITS):
        return
    turn.call(call.id, status="in_progress")
    made = _made(turn, call, path, remake)
    if made:
        lines = ", ".join(f"`{shown}:{line}`" for line in _lines(made))
        turn.say(f"I added what was missing: {lines}.")
    else:
        turn.say(f"I could not change `{shown}`.")


def create(turn: Turn, rest: str) -> None:
    """Create a text file."""
    head, _, given = re.sub(r"\s+with\s+", "\0", rest, count=1, flags=re.IGNORECASE).partition("\0")
    words = tokens(head)
    if not words:
        raise Sorry("Tell me its name, like this: `create notes.md with Buy milk`.")
    path = turn.workspace.inside(file_word(words[0]))
    shown = turn.workspace.shown(path)
    if path.exists():
        raise Sorry(f"`{shown}` exists already, and I do not overwrite it.")
    text = given if given.endswith("\n") else f"{given or _first_text(path)}\n"
    call = turn.begin(
        f"Create {shown}",
        "edit",
        status="pending",
        places=[Place(path, 1)],
        content=[Change("add", path, new=text)],
    )
    if permitted(turn, call, "edit", always=_ALL_EDITS):
        turn.call(call.id, status="in_progress")
        turn.write(path, text)
        turn.call(call.id, status="completed")
        turn.say(f"`{shown}` is there now, see `{shown}:1`.")


def move(turn: Turn, rest: str) -> None:
    """Move or rename a file, on the disk."""
    names = re.fullmatch(r"(.+?)\s+(?:to|into)\s+(.+)", rest, re.DOTALL | re.IGNORECASE)
    if not names:
        raise Sorry("Tell me both places, like this: `move A to B`.")
    source = turn.workspace.existing(file_word(tokens(names[1])[-1]))
    wanted = file_word(tokens(names[2])[0])
    target = turn.workspace.inside(wanted)
    if wanted.endswith("/") or target.is_dir():
        target /= source.name
    shown, new = turn.workspace.shown(source), turn.workspace.shown(target)
    if target.exists():
        raise Sorry(f"`{new}` exists already, and I do not overwrite it.")
    call = turn.begin(
        f"Move {shown} to {new}",
        "move",
        status="pending",
        places=[Place(source)],
        content=[Change("move", target, origin=source)],
        raw_input={"from": str(source), "to": str(target)},
    )
    if permitted(turn, call, "edit", always=_ALL_EDITS):
        turn.call(call.id, status="in_progress")
        target.parent.mkdir(parents=True, exist_ok=True)
        source.rename(target)
        turn.call(call.id, status="completed", places=[Place(target)])
        turn.say(f"`{shown}` is `{new}` now.")


def delete(turn: Turn, rest: str) -> None:
    """Delete a text file, on the disk."""
    words = tokens(rest)
    if not words:
        raise Sorry("Tell me which, like this: `delete FILE`.")
    path = turn.workspace.existing(file_word(words[0]))
    shown = turn.workspace.shown(path)
    text = text_of(path)
    if text is None:
        raise Sorry(f"`{shown}` is not a text file, so I leave it alone.")
    call = turn.begin(
        f"Delete {shown}",
        "delete",
        status="pending",
        places=[Place(path)],
        content=[Change("delete", path, old=text)],
    )
    if permitted(turn, call, "delete", always=_ALL_DELETIONS):
        turn.call(call.id, status="in_progress")
        path.unlink()
        turn.call(call.id, status="completed")
        turn.say(f"`{shown}` is gone.")


def _texts_with(turn: Turn, whole: re.Pattern[str]) -> list[tuple[Path, str]]:
    on_disk = [(path, text_of(path)) for path in turn.workspace.files()]
    paths = [path for path, text in on_disk if text is not None]
    if len(paths) > _READ_LIMIT:
        paths = [path for path, text in on_disk if text is not None and whole.search(text)]
    found = []
    for path in paths:
        try:
            text = turn.read(path, to_edit=True)
        except Sorry:  # what the editor keeps to itself is left alone
            continue
        if whole.search(text):
            found.append((path, text))
    return found


def _edit(turn: Turn, path: Path, remake: Callable[[str], str]) -> Change | None:
    """Edit one file that may be edited; ``None`` if that failed."""
    shown = turn.workspace.shown(path)
    call = turn.begin(f"Edit {shown}", "edit", places=[Place(path)])
    return _made(turn, call, path, remake)


def _made(turn: Turn, call: Call, path: Path, remake: Callable[[str], str]) -> Change | None:
    try:
        text = turn.read(path, to_edit=True)
        change = Change("modify", path, text, remake(text))
        if change.new == text:
            turn.call(call.id, status="completed", content=[Text("Nothing is left to change.")])
            return change
        turn.call(call.id, content=[change], places=_places(change))
        turn.pause(_STEP_PAUSE_S)
        turn.write(path, change.new)
    except (Sorry, OSError) as error:
        turn.fail(call.id, str(error))
        return None
    turn.call(call.id, status="completed")
    return change


def _documentable(turn: Turn, rest: str) -> tuple[str | None, Path]:
    """The function that is meant, if one is, and its file."""
    function: str | None = None
    if not rest and turn.attached:
        return None, turn.attached[0]
    for word in map(file_word, tokens(rest)):
        if "." in word or "/" in word:
            path = turn.workspace.existing(word)
            if path.suffix != ".py":
                raise Sorry(f"`{turn.workspace.shown(path)}` is not Python; I document Python.")
            return function, path
        name = word.removesuffix("()")
        function = name if name.isidentifier() else function
    for path in turn.workspace.files():
        text = text_of(path) if path.suffix == ".py" else None
        if text is None:
            continue
        try:
            if documented(text, path.stem, function) != text:
                return function, path
        except Sorry:
            continue
    missing = f"no function `{function}` without a docstring" if function else "nothing to document"
    raise Sorry(f"I find {missing} here. Name a file, like this: `document FILE`.")


def _places(change: Change) -> Sequence[Place]:
    return [Place(change.path, line) for line in _lines(change)]


def _lines(change: Change) -> list[int]:
    return [line for hunk in hunks(change.old, change.new) for line in hunk.places]


def _first_text(path: Path) -> str:
    title = path.stem.replace("_", " ").replace("-", " ").strip().capitalize() or path.name
    return {".py": f'"""{title}."""', ".md": f"# {title}"}.get(path.suffix, title)


def _count(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"
