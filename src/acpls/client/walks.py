"""The walks through roots: what they find, and what they say of files that nobody asked for.

Plain functions that block; walks are made one after the other, all else is for any thread.

Invariant: a file that some walk would have seen, and that is not in the index, was not there
when it was last told of. It does not matter under which root the walk was made.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from acpls.client import git
from acpls.client.index import state_of, unpacked
from acpls.client.sweeping import Caps, Stopped, Sweep
from acpls.client.walking import Walk, next_moment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acpls.client.ignoring import Ignoring
    from acpls.client.index import Index
    from acpls.client.store import Store

_MOST_PROBLEMS: Final = 3
# How often the store is told which of its bytes are still needed.
_USE_S: Final = 6 * 3600.0


@dataclass(frozen=True, slots=True)
class Walked:
    """What a walk found. ``candidates``: paths that are to be looked at, one by one, spelled
    under the roots as these were given; most of them have changed. ``problem``: what could
    not be done, told only once. ``real_roots``: the roots without symbolic links.
    """

    candidates: tuple[str, ...]
    problem: str | None
    real_roots: tuple[str, ...]


class Walks:
    """All walks of a server, which share an index and a store.

    A walk that is under way when ``stop`` is set ends soon, and no other begins.
    """

    def __init__(
        self,
        index: Index,
        store: Store,
        ignoring: Ignoring,
        caps: Caps,
        stop: threading.Event,
    ) -> None:
        self._index = index
        self._store = store
        self._ignoring = ignoring
        self._caps = caps
        self._walking = threading.Lock()
        self._walks: dict[str, Walk] = {}
        self._kept: dict[str, tuple[int, int]] = {}
        self._relinked: dict[str, str] = {}
        self._said: dict[str, frozenset[str]] = {}
        self._used_s = 0.0
        self._stop = stop

    def was_absent(self, place: str) -> bool:
        """Whether a file that is not in the index was not there when it could have been seen."""
        return any(
            _is_below(place, root) and walk.has_seen(place)
            for root, walk in list(self._walks.items())
        )

    def take_relinked(self, path: str) -> str | None:
        """The place of the file that was at a path, where the last walk found that the path
        leads elsewhere now; it is given once.
        """
        return self._relinked.pop(path, None)

    def walk(self, roots: tuple[str, ...]) -> Walked:
        """Look through all files of the roots, and name those that differ from what was told.

        What was never seen is taken into the index as it is, and not named, when no walk has
        come there before; except for files that changed while this one did, since what these
        held before is not known.
        """
        with self._walking:
            real_roots = tuple(map(os.path.realpath, filter(os.path.isabs, roots)))
            found: dict[str, str] = {}
            problems: dict[str, None] = {}
            sweeps: list[Sweep] = []
            began_ns = next_moment()
            self._relinked.clear()
            for root, real in _outermost(roots):
                if any(real in sweep.walk.levels for sweep in sweeps):
                    continue
                sweep = self._sweep(real, began_ns)
                sweeps.append(sweep)
                try:
                    sweep.run(real_roots)
                except Stopped:
                    return Walked((), "the server is ending", real_roots)
                if real in sweep.walk.levels:
                    self._walks[real] = sweep.walk
                    self._kept[real] = sweep.kept_files, sweep.kept_bytes
                for place, path in sweep.differing.items():
                    spelled = _joined(root, path[len(real) :])
                    found.setdefault(place, spelled)
                    if place in sweep.relinked:
                        self._relinked[spelled] = place
                self._find_blobs(sweep.bare)
                problems.update(dict.fromkeys(self._news(root, real, sweep)))
            self._use_store()
            return Walked(tuple(found.values()), "; ".join(problems) or None, real_roots)

    def _sweep(self, root: str, began_ns: int) -> Sweep:
        walk = Walk(root, self._ignoring, self._index.folder, self._walks.get(root))
        return Sweep(
            walk,
            self.was_absent,
            self._index,
            self._store,
            self._caps,
            began_ns,
            self._stop.is_set,
            self._kept.get(root, (0, 0)),
        )

    def _find_blobs(self, bare: list[str]) -> None:
        """Note which files without content are as they were committed."""
        found = git.blobs(bare, self._stop) if bare else {}
        for place in bare:
            folder, name = os.path.split(place)
            packed = self._index.packed(place)
            with contextlib.suppress(OSError):
                # It may have changed between the walk and Git's answer.
                if packed and packed.startswith(state_of(os.lstat(place))):
                    blob = bytes.fromhex(found.get(place, ""))
                    entry = replace(unpacked(packed), asked=True, blob=blob)
                    self._index.swap(folder, name, packed, entry)

    def _news(self, root: str, real: str, sweep: Sweep) -> Iterator[str]:
        """What could not be done, as far as the last walk of this root could do it."""
        problems = list(_problems(root, sweep))
        said = self._said.get(real, frozenset())
        self._said[real] = frozenset(problems)
        return (problem for problem in problems if problem not in said)

    def _use_store(self) -> None:
        now_s = time.time()
        if now_s - self._used_s > _USE_S:
            # What was put by the first walk is young; others may fill the store since.
            if self._used_s:
                self._store.use(self._index.contents())
            self._used_s = now_s
        self._store.trim()


def _outermost(roots: tuple[str, ...]) -> list[tuple[str, str]]:
    """The roots, each as given and without symbolic links, what is in another one after it."""
    reals: dict[str, str] = {}
    for root in filter(os.path.isabs, roots):
        reals.setdefault(os.path.realpath(root), root)
    return sorted(((root, real) for real, root in reals.items()), key=lambda pair: len(pair[1]))


def _is_below(path: str, folder: str) -> bool:
    return path.startswith(folder.rstrip(os.sep) + os.sep)


def _joined(folder: str, rest: str) -> str:
    return f"{folder.rstrip(os.sep)}{os.sep}{rest.lstrip(os.sep)}".rstrip(os.sep)


def _problems(root: str, sweep: Sweep) -> Iterator[str]:
    if sweep.is_full:
        yield f"{root} has so many files that changes of some can be seen and not undone"
    left_out = list(sweep.walk.left_out.items())
    for folder, reason in left_out[:_MOST_PROBLEMS]:
        yield f"{_joined(root, folder[len(sweep.walk.root) :])} {reason}"
    if len(left_out) > _MOST_PROBLEMS:
        yield f"{root} has {len(left_out) - _MOST_PROBLEMS} more folders that are not looked at"
