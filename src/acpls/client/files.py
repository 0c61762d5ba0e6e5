"""The files: read, written and watched, and what is remembered of them.

All that is done with one path is done in order of arrival, in threads, and what comes of it is
told in that order.

Invariant: nothing blocks the event loop, and each effect with a token is answered, whatever
goes wrong; only the end of the server leaves walks and questions to Git unanswered.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import anyio
import anyio.to_thread

from acpls.client.filework import FileWork
from acpls.client.lanes import Lanes
from acpls.client.syncing import Syncing
from acpls.client.watching import Watching
from acpls.effects import (
    CompareWithHead,
    KeepChoice,
    KeepPermission,
    LoadChoices,
    LoadReview,
    LookAt,
    ReadFile,
    ReadPermissions,
    ReadStored,
    StoreReview,
    SyncFiles,
    WatchFiles,
    WriteFile,
)
from acpls.events import FileNoticed, HeadMoved, PermissionsRead

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from anyio.abc import TaskGroup

    from acpls.client.syncing import Walked
    from acpls.events import (
        ChoicesLoaded,
        FileRead,
        FilesSynced,
        FileWritten,
        HeadCompared,
        LookedAt,
        PermissionKept,
        ReviewLoaded,
        StoredRead,
    )

    FileEffect: TypeAlias = (
        ReadFile
        | WriteFile
        | SyncFiles
        | WatchFiles
        | CompareWithHead
        | ReadStored
        | StoreReview
        | LoadReview
        | LookAt
        | KeepChoice
        | LoadChoices
        | ReadPermissions
        | KeepPermission
    )
    FileEvent: TypeAlias = (
        FileRead
        | FileWritten
        | FileNoticed
        | FilesSynced
        | HeadMoved
        | HeadCompared
        | StoredRead
        | ReviewLoaded
        | LookedAt
        | ChoicesLoaded
        | PermissionsRead
        | PermissionKept
    )

PERMISSIONS_LIMIT_S = 3.0
"""After this the user is asked, though it is not known what the rules would say."""

# How many questions are put to Git at a time.
_ASKED_AT_ONCE = 2
# In how many threads paths are looked up at a time.
_LOOKED_AT_ONCE = 4


@dataclass(frozen=True, slots=True)
class _FolderWent:
    """What went was no file that is known, and may have been a folder."""

    roots: tuple[str, ...]


class Files:
    """Performs the effects on files. ``tasks`` must outlive it; ``emit`` must not block.

    ``state``: the user's folder for what is to last; without one it lasts until ``aclose``.
    """

    def __init__(
        self, tasks: TaskGroup, emit: Callable[[FileEvent], None], state: Path | None = None
    ) -> None:
        self._tasks = tasks
        self._emit = emit
        self._work = FileWork(state)
        self._lanes: Lanes[FileEvent | _FolderWent] = Lanes(tasks, self.tell)
        self._syncing = Syncing(tasks, self)
        self._watching = Watching(tasks, self)
        self._watched: tuple[str, ...] = ()
        self._noticing: set[str] = set()
        # How roots are spelled without symbolic links, by how they were given.
        self._real: dict[str, str] = {}
        self._unstored: dict[frozenset[str], tuple[tuple[str, ...], Any]] = {}
        self._asking: set[anyio.CancelScope] = set()
        self._git: anyio.CapacityLimiter | None = None
        self._looking: anyio.CapacityLimiter | None = None
        # Set when the last look at permissions was told of.
        self._looked: anyio.Event | None = None

    def perform(self, effect: FileEffect) -> None:
        """Start what the effect says; never blocks and never raises for what is on disk."""
        work = self._work
        match effect:
            case ReadFile(_, path):
                self._lanes.add(self._lane(path), partial(work.read, effect))
            case LookAt(text=text):
                # Texts are for places, and where an agent is now must not be told before where
                # it was.
                self._lanes.add(LookAt if text else object(), partial(work.look_at, effect))
            case LoadChoices():
                self._lanes.add(KeepChoice, work.load_choices)
            case KeepChoice(name, value):
                self._lanes.add(KeepChoice, partial(work.keep_choice, name, value))
            case WriteFile(_, path):
                self._lanes.add(self._lane(path), partial(work.write, effect))
            case SyncFiles(token, roots):
                self._syncing.ask(roots, token)
            case WatchFiles(roots):
                self._watched = roots
                self._watching.watch(roots)
            case CompareWithHead():
                self._tasks.start_soon(self._compare, effect)
            case ReadStored():
                self._lanes.add(object(), partial(work.read_stored, effect))
            case StoreReview(roots, value):
                self._store(roots, value)
            case LoadReview(_, roots):
                self._lanes.add(frozenset(roots), partial(work.load, effect))
            case ReadPermissions():
                self._tasks.start_soon(self._read_permissions, effect)
            case KeepPermission():
                self._lanes.add(KeepPermission, partial(work.keep_permission, effect))

    @property
    def synced(self) -> anyio.Event | None:
        """Set when all ``SyncFiles`` so far are over; ``None`` when none is under way."""
        return self._syncing.synced

    def look_no_more(self) -> None:
        """Begin to end the walks, the watching and the questions to Git."""
        self._work.close()
        self._syncing.end()
        self._watching.watch(())
        for scope in self._asking:
            scope.cancel()

    async def aclose(self) -> None:
        """Finish what was asked for, and end all else."""
        self.look_no_more()
        await self._watching.aclose()
        await self._lanes.wait()
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(self._work.forget)

    def _lane(self, path: str) -> str:
        """One name for the spellings of one path that are to be expected."""
        spelled = os.path.normpath(path)
        for root, real in self._real.items():
            if root != real and spelled.startswith(root + os.sep):
                spelled = real + spelled[len(root) :]
        return os.path.normcase(spelled)

    def _store(self, roots: tuple[str, ...], value: Any) -> None:
        key = frozenset(roots)
        if key not in self._unstored:
            self._lanes.add(key, partial(self._store_last, key))
        # What waits to be stored is not worth it any more.
        self._unstored[key] = roots, value

    def _store_last(self, key: frozenset[str]) -> None:
        self._work.store(*self._unstored.pop(key))

    async def _compare(self, effect: CompareWithHead) -> None:
        self._git = self._git or anyio.CapacityLimiter(_ASKED_AT_ONCE)
        scope = anyio.CancelScope()
        self._asking.add(scope)
        try:
            with scope:
                told = await anyio.to_thread.run_sync(
                    self._work.compare, effect, abandon_on_cancel=True, limiter=self._git
                )
                self._emit(told)
        finally:
            self._asking.discard(scope)

    async def _read_permissions(self, effect: ReadPermissions) -> None:
        """In a thread that nobody waits for too long: a file system may not answer. What came of
        it is told in the order in which it was asked for, since questions keep theirs.
        """
        self._looking = self._looking or anyio.CapacityLimiter(_LOOKED_AT_ONCE)
        before, self._looked = self._looked, anyio.Event()
        done = self._looked
        told = PermissionsRead(effect.token, {}, None, 0)
        try:
            with anyio.move_on_after(PERMISSIONS_LIMIT_S):
                told = await anyio.to_thread.run_sync(
                    self._work.read_permissions,
                    effect,
                    abandon_on_cancel=True,
                    limiter=self._looking,
                )
            if before is not None:
                await before.wait()
            self._emit(told)
        finally:
            done.set()

    # --- for the walks ------------------------------------------------------------------

    def walk(self, roots: tuple[str, ...]) -> Walked:
        """Look through the roots; blocks."""
        return self._work.walk(roots)

    def walked(self, roots: tuple[str, ...], real_roots: tuple[str, ...]) -> None:
        """Learn how the roots are spelled without symbolic links."""
        if len(roots) == len(real_roots):
            self._real.update(zip(roots, real_roots, strict=True))

    def look(self, path: str, roots: tuple[str, ...], token: object) -> anyio.Event:
        """Look at a file, after all else that is to be done with it."""

        def notice() -> FileNoticed | None:
            noticed = self._work.notice(path, roots, token)
            return None if isinstance(noticed, bool) else noticed

        return self._lanes.add(self._lane(path), notice)

    def tell(self, event: FileEvent | _FolderWent) -> None:
        """Tell what came of something."""
        if isinstance(event, _FolderWent):
            self._syncing.check(event.roots)
        else:
            self._emit(event)

    # --- for the watching ---------------------------------------------------------------

    def folders(self, root: str, start: str | None = None) -> Iterable[str]:
        """The folders in a root, or in one of its folders, that are not ignored; blocks."""
        return self._work.folders(root, start)

    def is_ignored(self, path: str, roots: tuple[str, ...]) -> bool:
        """Whether nobody wants to hear of a path; blocks."""
        return self._work.is_ignored(path, roots)

    def changed(self, paths: Iterable[str], gone: frozenset[str]) -> None:
        """Look at what the system told of."""
        for path in paths:
            # One look sees all that happened before it.
            if path not in self._noticing:
                self._noticing.add(path)
                work = partial(self._notice, path, self._watched, may_be_folder=path in gone)
                self._lanes.add(self._lane(path), work)

    def unsure(self, roots: tuple[str, ...]) -> None:
        """Look through all that is watched."""
        self._syncing.check(roots)

    def head_moved(self, root: str) -> None:
        """Tell of a commit."""
        self._emit(HeadMoved(root))

    def _notice(
        self, path: str, roots: tuple[str, ...], *, may_be_folder: bool
    ) -> FileNoticed | _FolderWent | None:
        self._noticing.discard(path)
        noticed = self._work.notice(path, roots, None)
        if isinstance(noticed, FileNoticed):
            return noticed
        return None if noticed or not may_be_folder else _FolderWent(roots)
