"""What an agent says about files, and what its words mean for a file as it is now.

An agent's diff is a claim, not an edit: it may come before the agent writes, after it, or
not fit at all, and it may show a piece of a file without saying where.

Invariant: a claim is taken for a change to be made only where its old text stands apart
from its new one, and for a change that was made only where its new text stands (D07). What
could be several places is taken for none.
"""

from __future__ import annotations

import posixpath
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, get_args

from acpls.session.content import FileChange, Fragment, Patch, ToolContent
from acpls.text.endings import Evened, apart, plain
from acpls.text.patch import FilePatch, backwards, forwards

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_Reported: TypeAlias = Literal["add", "modify", "delete", "move", "copy"]
Operation: TypeAlias = Literal["edit", "opaque"] | _Reported


@dataclass(frozen=True, slots=True)
class Claim:
    """One thing that an agent says about one file.

    ``operation`` is ``"edit"`` for a fragment, ``"opaque"`` for what cannot be shown as
    text (``reason`` tells why), else ACP 2's word. ``said`` is ``None`` when the agent did
    not show the text. ``old_path`` is where the text of a moved or copied file comes from.
    A move is two claims, the other being a ``"delete"`` of the old path; its ``new_path``
    is where the text went.
    """

    path: str
    operation: Operation
    said: Fragment | FilePatch | None = None
    old_path: str | None = None
    new_path: str | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Resolved:
    """What a claim comes to: the whole text before and after, ``None`` for no file.

    ``written``: the disk already holds ``target``. Then ``base`` is taken back from it,
    and is ``None`` where nothing shows the text before: for a file overwritten whole, for
    one deleted or moved without a patch. Who saw the text before knows better. Line
    endings that differed from the file's common kind may be lost in such a base.
    """

    path: str
    base: str | None
    target: str | None
    written: bool


@dataclass(frozen=True, slots=True)
class Unclear:
    """A claim that is shown and never applied; ``reason`` completes "cannot be placed:"."""

    path: str
    reason: str


def pieces(content: Iterable[ToolContent]) -> tuple[Claim, ...]:
    """The claims in a tool call's content, in an order in which none loses text.

    A patch's ``changes`` decide which files and operations there are; a file that only the
    patch shows becomes an opaque claim. Content that is no diff gives nothing.
    """
    claims: list[Claim] = []
    for item in content:
        if isinstance(item, Fragment):
            claims.append(Claim(item.path, "edit", item))
        elif isinstance(item, Patch):
            claims += _claims_of(item)
    return tuple(claims)


def resolve(
    claim: Claim,
    disk: str | None,
    finished: bool,  # noqa: FBT001 -- it is the tool call's state, not a mode of this function
    line: int | None = None,
    *,
    old_disk: str | None = None,
) -> Resolved | Unclear:
    """What a claim means for a file whose text is ``disk`` now (``None``: no file).

    ``finished``: the tool call is reported completed; it decides only where the text
    allows both, that the change is still to be made and that it was made. ``line`` is the
    agent's hint, one-based, and decides between places after that. ``old_disk`` is the
    text at the claim's ``old_path``.

    Kinds of line endings are not compared. What is written has the file's own kind, and
    everything outside the change stays as it is (D25, D26). A byte order mark belongs to
    the file: no text here has one, and that of a claim is passed over (D30).
    """
    path, said = claim.path, _unmarked(claim.said, disk)
    if claim.operation == "opaque":
        return Unclear(path, claim.reason)
    if isinstance(said, Fragment):
        return _edited(path, said, disk, finished=finished, line=line)
    if claim.operation == "delete":
        undone = backwards(said, "") if said is not None and disk is None else None
        return Resolved(path, undone if disk is None else disk, None, disk is None)
    if claim.operation in _TWO_PATHS:
        return _arrived(path, said, disk, old_disk, finished=finished)
    if said is not None:
        return _patched(path, said, disk, finished=finished)
    if claim.operation == "add" and disk is not None and finished:
        return Resolved(path, None, disk, written=True)
    return Unclear(path, claim.reason or _NO_TEXT)


_BOM: Final = "\ufeff"
_STRAY: Final = "the patch shows a file that is not among the changes"
_NO_FILE: Final = "the file does not exist"
_NO_TEXT: Final = "the agent did not show the text"
_MISFIT: Final = "the patch does not fit the file"
_KINDS: Final = {
    "binary": "the file is binary",
    "directory": "it is a directory",
    "symlink": "it is a symbolic link",
}
_OPERATIONS: Final[dict[str, _Reported]] = {word: word for word in get_args(_Reported)}
_TWO_PATHS: Final = {"move", "copy"}


# --- from content to claims ----------------------------------------------------------


def _claims_of(patch: Patch) -> list[Claim]:
    paths = [_normal(change.path or "") for change in patch.changes]
    shown: list[list[FilePatch]] = [[] for _ in paths]
    stray: list[Claim] = []
    for file in patch.files:
        name = file.new_path or file.old_path or ""
        number = _number_of(_normal(name), paths)
        if number is None:
            stray.append(Claim(name, "opaque", reason=_STRAY))
        else:
            shown[number].append(file)
    claims = map(_claims, patch.changes, shown, [patch.problems] * len(shown))
    return [*chain.from_iterable(claims), *stray]


def _number_of(name: str, paths: Sequence[str]) -> int | None:
    if name in paths:
        return paths.index(name)
    # A path that has lost its root still names a file, as long as there is only one.
    ends = [number for number, path in enumerate(paths) if path.endswith(f"/{name}")]
    return ends[0] if len(ends) == 1 else None


def _normal(path: str) -> str:
    return posixpath.normpath(path.replace("\\", "/"))


def _claims(change: FileChange, files: Sequence[FilePatch], problems: Sequence[str]) -> list[Claim]:
    path, old_path = change.path or "", change.old_path
    reason = _opaque(change, files)
    if reason is not None:
        return [Claim(path or old_path or "", "opaque", reason=reason)]
    operation = _OPERATIONS[change.operation]
    if operation not in _TWO_PATHS or old_path is None:
        reason = f"the patch cannot be read: {problems[0]}" if problems else _NO_TEXT
        return [Claim(path, operation, file, reason=reason) for file in files or (None,)]
    there = Claim(path, operation, files[0] if files else None, old_path=old_path)
    if operation == "copy":
        return [there]
    return [there, Claim(old_path, "delete", new_path=path)]


def _opaque(change: FileChange, files: Sequence[FilePatch]) -> str | None:
    """Why a change cannot be shown as text, if so."""
    if change.operation not in _OPERATIONS or change.path is None:
        return f"the operation {change.operation!r} is not known"
    if change.file_type not in {None, "text"}:
        kind = str(change.file_type)
        return _KINDS.get(kind, f"files of type {kind!r} are not known")
    if any(file.binary for file in files):
        return _KINDS["binary"]
    if change.operation in _TWO_PATHS and change.old_path is None:
        return "the agent did not say where the file comes from"
    return None


def _unmarked(said: Fragment | FilePatch | None, disk: str | None) -> Fragment | FilePatch | None:
    """A claim without the byte order mark that it begins with."""
    if isinstance(said, Fragment):
        old = (said.old or "").removeprefix(_BOM)
        if said.old and (not old or old == said.old or said.old in (disk or "")):
            return said
        return replace(said, old=old, new=said.new.removeprefix(_BOM))
    if said is None or not said.hunks or said.hunks[0].start:
        return said
    first, *others = said.hunks
    lines = tuple((tag, line.removeprefix(_BOM)) for tag, line in first.lines)
    return replace(said, hunks=(replace(first, lines=lines), *others))


# --- patches -------------------------------------------------------------------------


def _patched(
    path: str, patch: FilePatch, disk: str | None, *, finished: bool
) -> Resolved | Unclear:
    if patch.old_path is None:
        new = forwards(patch, "")
        return Unclear(path, _MISFIT) if new is None else _overwritten(path, new, disk)
    if disk is None:
        return Unclear(path, _NO_FILE)
    # Where the patch says is better than where it happens to fit as well.
    for exact in (True, False):
        target = forwards(patch, disk, exact=exact)
        base = backwards(patch, disk, exact=exact)
        if target == disk:
            return Resolved(path, disk, disk, written=True)
        if target is not None and (base is None or not finished):
            return Resolved(path, disk, target, written=False)
        if base is not None:
            return Resolved(path, base, disk, written=True)
    return Unclear(path, _MISFIT)


def _arrived(
    path: str,
    said: FilePatch | None,
    disk: str | None,
    old_disk: str | None,
    *,
    finished: bool,
) -> Resolved | Unclear:
    """What a move or a copy means for the new path."""
    if old_disk is None:
        if disk is None:
            return Unclear(path, "the text at the old path is not known")
        if said is None or backwards(said, disk) is not None:
            return Resolved(path, None, disk, written=True)
        return Unclear(path, _MISFIT)
    target = old_disk if said is None else forwards(said, old_disk)
    if target is None:
        return Unclear(path, _MISFIT)
    if disk is not None and plain(disk) == plain(target):
        return Resolved(path, None, disk, written=True)
    if disk is not None and finished:
        return Unclear(path, "another text is at the new path")
    return Resolved(path, disk, target, written=False)


# --- fragments -----------------------------------------------------------------------


def _edited(
    path: str, said: Fragment, disk: str | None, *, finished: bool, line: int | None
) -> Resolved | Unclear:
    if not said.old:
        return _overwritten(path, said.new, disk)
    if disk is None:
        # The first version has no other word for a deleted file.
        gone = finished and not said.new
        return Resolved(path, said.old, None, written=True) if gone else Unclear(path, _NO_FILE)
    old, new = plain(said.old), plain(said.new)
    text = Evened.of(disk, old, new)
    if old == new and old in text.plain:
        return Resolved(path, disk, disk, written=True)
    if text.plain == old:
        return Resolved(path, disk, text.swapped(0, old, said.new), written=False)
    if text.plain == new:
        return Resolved(path, text.swapped(0, new, said.old), disk, written=True)
    olds, news = apart(text.plain, old, new)
    if news and (finished or not olds):
        at = text.one_of(news, line)
        if at is None:
            return Unclear(path, f"the new text occurs {_times(news)}")
        return Resolved(path, text.swapped(at, new, said.old), disk, written=True)
    if olds:
        at = text.one_of(olds, line)
        if at is None:
            return Unclear(path, f"the old text occurs {_times(olds)}")
        return Resolved(path, disk, text.swapped(at, old, said.new), written=False)
    if not new:
        return Unclear(path, "the old text is not in the file, and a deletion leaves no trace")
    return Unclear(path, "neither the old text nor the new text is in the file")


def _overwritten(path: str, new: str, disk: str | None) -> Resolved:
    """What a whole new text means; agents say "new" of files that exist, too."""
    if disk is None:
        return Resolved(path, None, new, written=False)
    text = Evened.of(disk, plain(new))
    if text.plain == plain(new):
        return Resolved(path, None, disk, written=True)
    return Resolved(path, disk, text.swapped(0, text.plain, new), written=False)


def _times(places: list[int]) -> str:
    return "twice" if len(places) == 2 else f"{len(places)} times"
