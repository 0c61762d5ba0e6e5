"""Files that an agent moved or copied: two changes that are told as one.

Where a file went away and the same is somewhere else, the *arrival* is compared with what
the file was at its old place, and the *departure* is hidden. Taken back as a whole, both are
what they are without each other: one file is removed, and one comes back.

Invariant: a move is one only while there is no file at the old place and one at the new.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

from acpls.review.held import NO_FILE, UNKNOWN

if TYPE_CHECKING:
    from collections.abc import MutableMapping

    from acpls.review.change import Change
    from acpls.review.composing import Keys

    Files = MutableMapping[str, Change]

_Held: TypeAlias = tuple[str, str]


@dataclass(slots=True)
class Halves:
    """What sessions took away from paths and brought to others in their turns, as it seems:
    the paths, by the session and by what the file held.
    """

    gone: dict[_Held, dict[str, None]] = field(default_factory=dict)
    new: dict[_Held, dict[str, None]] = field(default_factory=dict)

    def forget(self, session: str) -> None:
        """The turn of a session is over."""
        for half in (self.gone, self.new):
            for key in [key for key in half if key[0] == session]:
                del half[key]


def pair(files: Files, path: str, halves: Halves, keys: Keys) -> list[str]:
    """See whether what happened to the file at ``path`` was one half of a move, the other half
    of which is in the same turn. The paths come back whose changes are told otherwise now.
    """
    change = files.get(path)
    if change is None:
        return []
    if _is_gone(change):
        assert change.went is not None
        held, mine, others = change.went[0], halves.gone, halves.new
    else:
        held, mine, others = change.target, halves.new, halves.gone
        if not _is_new(change) or change.base is UNKNOWN:
            return []
    what = held.content or held.text
    if what is None or held.text == "":
        # Empty files are all alike.
        return []
    key = change.author.session, what
    mine.setdefault(key, {})[path] = None
    known = [files[other] for other in others.get(key, ()) if other in files]
    # A file that kept its name is a better guess than any other.
    known.sort(key=lambda other: _name(other.path) != _name(path))
    for other in known:
        gone, there = (change, other) if mine is halves.gone else (other, change)
        if _is_moved(gone, there):
            del mine[key][path], others[key][other.path]
            return _join(gone, there, keys)
    return []


def pair_as_said(files: Files, old: str, new: str, keys: Keys) -> list[str]:
    """The agent says that it moved a file: so it did, where one is gone and one is new."""
    gone, there = files.get(old), files.get(new)
    if gone is None or there is None or not (_is_gone(gone) and _is_new(there)):
        return []
    return _join(gone, there, keys)


def copied_as_said(files: Files, old: str, new: str) -> list[str]:
    """The agent says that it copied a file: so the new one is a copy."""
    there = files.get(new)
    if there is None or not there.base.is_missing or there.target.is_missing:
        return []
    if old == there.copied_from:
        return []
    there.copied_from = old
    return [new]


def part(files: Files, arrival: Change, keys: Keys) -> None:
    """The file at the new place is a new one, and the one at the old place is gone.

    Where there are lines of the user's in the new file, it is theirs as well.
    """
    departure = files.get(arrival.moved_from or "")
    is_shared = departure is None or not arrival.base.is_like(departure.base)
    _part(departure, arrival, keys, is_shared=is_shared or _is_shared(arrival))


def send_back(files: Files, arrival: Change, keys: Keys) -> Change | None:
    """The same, so that both are taken back next: the lines of the user's in the new file go
    with it to the old place. The change at the old place comes back, if that can be done.
    """
    departure = files.get(arrival.moved_from or "")
    if departure is None or departure.base is UNKNOWN or _is_shared(arrival):
        return None
    if not arrival.base.is_like(departure.base):
        departure.base = replace(arrival.base, form=departure.base.form)
        departure.begin(departure.author, keys)
    _part(departure, arrival, keys, is_shared=False)
    return departure


def tidy(files: Files, change: Change, keys: Keys) -> None:
    """What happened to a file may have been the end of a move."""
    if change.moved_to is not None and not change.target.is_missing:
        arrival = files.get(change.moved_to)
        change.moved_to = None
        if arrival is not None:
            part(files, arrival, keys)
    if change.moved_from is not None and change.target.is_missing:
        departure = files.get(change.moved_from)
        if departure is not None:
            # It may be moved once more, from the place between.
            departure.went = change.went
        part(files, change, keys)


def mend(files: Files, keys: Keys) -> list[str]:
    """What was loaded may be one half of a move; the paths that are told otherwise then."""
    told: list[str] = []
    for change in list(files.values()):
        departure = files.get(change.moved_from or "")
        arrival = files.get(change.moved_to or "")
        if change.moved_from and (departure is None or departure.moved_to != change.path):
            part(files, change, keys)
            told.append(change.path)
        if change.moved_to and (arrival is None or arrival.moved_from != change.path):
            change.moved_to = None
            told.append(change.path)
    return told


def _part(departure: Change | None, arrival: Change, keys: Keys, *, is_shared: bool) -> None:
    if departure is not None:
        departure.moved_to = None
    arrival.moved_from, arrival.base = None, NO_FILE
    arrival.begin(arrival.author, keys)
    arrival.hunks = tuple(replace(pending, shared=is_shared) for pending in arrival.hunks)


def _join(gone: Change, there: Change, keys: Keys) -> list[str]:
    """One change of both: what the file was at its old place, and is at the new one."""
    assert gone.went is not None
    now = there.target
    there.base, there.source = gone.base, gone.source
    there.begin(there.author, keys)
    there.target, there.hunks = gone.went
    there.moved_from, gone.moved_to = gone.path, there.path
    there.copied_from = None
    there.reasons.update(gone.reasons)
    gone.reasons.clear()
    there.agent_wrote(now, there.author, keys)
    return [gone.path, there.path]


def _is_moved(gone: Change, there: Change) -> bool:
    """Whether a file is still just what another was when it went."""
    if not (_is_gone(gone) and _is_new(there)):
        return False
    assert gone.went is not None
    return gone.went[0].is_like(there.target)


def _is_gone(change: Change) -> bool:
    return change.target.is_missing and change.went is not None and change.moved_to is None


def _is_new(change: Change) -> bool:
    is_new = change.base.is_missing or change.base is UNKNOWN
    return is_new and not change.target.is_missing and change.moved_from is None


def _is_shared(change: Change) -> bool:
    return any(pending.shared for pending in change.hunks)


def _name(path: str) -> str:
    return path.replace("\\", "/").rsplit("/", 1)[-1]
