"""What is done with single files, reviews and questions to Git: the part that blocks.

Invariant: nothing here raises; what goes wrong is in the event, or is as if there were nothing.
"""

from __future__ import annotations

import logging
import os
import shutil
import tempfile
import threading
from dataclasses import replace
from functools import cached_property
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acpls.client import disk
from acpls.client.looking import look
from acpls.client.shelf import Shelf
from acpls.events import (
    ChoicesLoaded,
    Disk,
    FileNoticed,
    FileRead,
    FileWritten,
    HeadCompared,
    LookedAt,
    PermissionKept,
    PermissionsRead,
    ReviewLoaded,
    Seen,
    StoredRead,
)
from acpls.forms import is_form_file
from acpls.text.codec import Decoded, decode_as

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acpls.client.baselines import Baselines, Walked
    from acpls.client.choices import Choices
    from acpls.client.looking import Look
    from acpls.client.permits import Permits
    from acpls.client.store import Store
    from acpls.effects import (
        CompareWithHead,
        KeepPermission,
        LoadReview,
        LookAt,
        ReadFile,
        ReadPermissions,
        ReadStored,
        WriteFile,
    )

# More than there are threads, so that hardly one waits for another's file.
_PLACES = 64

_logger = logging.getLogger(__name__)


class FileWork:
    """Works with the files that ``state`` holds, or with a folder that goes with ``forget``.

    For any thread; one file is in one thread at a time, however it is spelled.
    """

    def __init__(self, state: Path | None) -> None:
        self._state = state
        self._temporary: Path | None = None
        self._making = threading.Lock()
        self._at_work = tuple(threading.Lock() for _ in range(_PLACES))
        self._made: tuple[Store, Baselines] | None = None
        self._stop = threading.Event()

    # --- files ----------------------------------------------------------------------------

    def read(self, effect: ReadFile) -> FileRead:
        """Read a file, and tell what it was before."""
        try:
            with self._alone(effect.path):
                if _is_private(effect.path):
                    return FileRead(effect.token, look(effect.path, effect.roots).disk)
                seen, earlier = self._baselines.look(effect.path, effect.roots)
        except Exception as problem:
            _logger.exception("%s: it could not be read", effect.path)
            return FileRead(effect.token, _failed(effect.path, problem))
        return FileRead(effect.token, seen, earlier)

    def write(self, effect: WriteFile) -> FileWritten:
        """Write a file, and tell what others had made of it."""
        seen: list[Look] = []

        def keep(looked: Look) -> None:
            seen.append(looked)
            try:
                self._baselines.keep(looked)
            except Exception:
                # It is written, whatever cannot be remembered of it.
                _logger.exception("%s: what it held cannot be kept", effect.path)

        with self._alone(effect.path):
            try:
                if _is_private(effect.path):
                    return disk.write(effect)
                stored = None if effect.stored is None else self._store.get(effect.stored)
                form = self._baselines.form(effect.path)
                written = disk.write(effect, stored, form, keep)
            except Exception as problem:
                _logger.exception("%s: it could not be written", effect.path)
                failed = _failed(effect.path, problem)
                return FileWritten(effect.token, effect.path, failed, failed.problem)
            try:
                (looked,) = seen
                earlier = self._baselines.saw(looked)
                if written.after is not None:
                    self._baselines.wrote(written.after)
            except Exception:
                # It is on the disk; that has to be told.
                _logger.exception("%s: what it held cannot be remembered", effect.path)
                return written
            return replace(written, earlier=earlier)

    def look_at(self, effect: LookAt) -> LookedAt:
        """See what is at paths."""
        from acpls.client.sights import look_at  # noqa: PLC0415  not needed to start

        try:
            return LookedAt(effect.token, look_at(effect))
        except Exception:
            _logger.exception("places cannot be looked at")
            return LookedAt(effect.token, tuple(Seen(path, "missing") for path in effect.paths))

    def notice(self, path: str, roots: tuple[str, ...], token: object) -> FileNoticed | bool:
        """Look at a file; tell it if it has changed, else whether it was ever known."""
        if self._stop.is_set() or _is_private(path):
            return True
        try:
            with self._alone(path):
                seen, earlier = self._baselines.look(path, roots)
        except Exception:
            _logger.exception("%s: it could not be looked at", path)
            return True
        if earlier.changed:
            return FileNoticed(seen, earlier, token)
        return not seen.is_missing

    def walk(self, roots: tuple[str, ...]) -> Walked:
        """Look through all files of the roots. Raises whatever is wrong with us."""
        return self._baselines.walk(roots)

    def is_ignored(self, path: str, roots: tuple[str, ...]) -> bool:
        """Whether nobody wants to hear of a path."""
        return self._baselines.is_ignored(path, roots)

    def folders(self, root: str, start: str | None = None) -> Iterator[str]:
        """The folders of which somebody wants to hear; there are no more once it is closed."""
        return takewhile(lambda _: not self._stop.is_set(), self._baselines.folders(root, start))

    # --- the store, Git, reviews ----------------------------------------------------------

    def read_stored(self, effect: ReadStored) -> StoredRead:
        """Give back texts of the store."""
        texts: dict[str, str] = {}
        for content, form in effect.wanted:
            try:
                data = self._store.get(content)
                text = None if data is None else decode_as(data, form)
            except Exception:
                _logger.exception("a stored text cannot be read")
                continue
            if isinstance(text, Decoded):
                texts[content] = text.text
        return StoredRead(effect.token, texts)

    def compare(self, effect: CompareWithHead) -> HeadCompared:
        """Compare files with the last commit."""
        from acpls.client import git  # noqa: PLC0415  not everybody has it

        try:
            return HeadCompared(effect.token, git.head_matches(effect.paths, self._stop))
        except Exception:
            _logger.exception("files cannot be compared with the last commit")
            return HeadCompared(effect.token, frozenset())

    def load(self, effect: LoadReview) -> ReviewLoaded:
        """Give back what was stored for the roots."""
        try:
            return ReviewLoaded(effect.token, self._shelf.get(effect.roots))
        except Exception:
            _logger.exception("the stored review cannot be read")
            return ReviewLoaded(effect.token, None)

    def store(self, roots: tuple[str, ...], value: Any) -> None:
        """Keep a review for the next run."""
        try:
            self._shelf.put(roots, value)
        except Exception:
            _logger.exception("the review cannot be stored")

    # --- choices --------------------------------------------------------------------------

    def load_choices(self) -> ChoicesLoaded:
        """Give back what was chosen in earlier runs."""
        try:
            return ChoicesLoaded(self._choices.load())
        except Exception:
            _logger.exception("the choices cannot be read")
            return ChoicesLoaded({})

    def keep_choice(self, name: str, value: Any) -> None:
        """Remember a choice."""
        try:
            self._choices.keep(name, value)
        except Exception:
            _logger.exception("a choice cannot be kept")

    # --- permissions ----------------------------------------------------------------------

    def read_permissions(self, effect: ReadPermissions) -> PermissionsRead:
        """Give back what is remembered, and where paths are."""
        try:
            stored, stamp = self._permits.read()
            from acpls.client.permits import places  # noqa: PLC0415  see ``_permits``

            return PermissionsRead(effect.token, places(effect.paths), stored, stamp)
        except Exception:
            _logger.exception("what is remembered of permissions cannot be read")
            return PermissionsRead(effect.token, {}, None, 0)

    def keep_permission(self, effect: KeepPermission) -> PermissionKept:
        """Remember a rule, or forget it."""
        try:
            problem, stamp = self._permits.keep(effect.key, effect.value)
        except Exception:
            _logger.exception("a permission cannot be remembered")
            problem, stamp = "a mistake in acpls; its log says more", 0
        return PermissionKept(effect.token, effect.key, stamp, problem)

    # --- the end --------------------------------------------------------------------------

    def close(self) -> None:
        """Let walks, looks and questions to Git come to nothing from now on."""
        self._stop.set()

    def forget(self) -> None:
        """Remove what was only for this run."""
        if self._temporary is not None:
            shutil.rmtree(self._temporary, ignore_errors=True)

    @property
    def _store(self) -> Store:
        return self._memory()[0]

    @property
    def _baselines(self) -> Baselines:
        return self._memory()[1]

    @cached_property
    def _choices(self) -> Choices:
        from acpls.client.choices import Choices  # noqa: PLC0415  not needed to start

        return Choices(self._folder() / "choices.json")

    @cached_property
    def _permits(self) -> Permits:
        # No agent may ever ask for a permission.
        from acpls.client.permits import Permits  # noqa: PLC0415  see above

        return Permits(self._folder() / "permissions")

    @cached_property
    def _shelf(self) -> Shelf:
        return Shelf(self._folder() / "reviews")

    def _memory(self) -> tuple[Store, Baselines]:
        with self._making:
            if self._made is None:
                # They take a moment to import, and an editor without agents needs none.
                from acpls.client.baselines import Baselines  # noqa: PLC0415  see above
                from acpls.client.store import Store  # noqa: PLC0415  see above

                folder = self._folder()
                store = Store(folder / "contents")
                own = (os.path.realpath(folder),)
                self._made = store, Baselines(store, own=own, stop=self._stop)
            return self._made

    def _alone(self, path: str) -> threading.Lock:
        """What to hold while one works with a file; others may have to wait for it as well."""
        try:
            place = os.path.realpath(path)
        except (OSError, ValueError):
            place = path
        return self._at_work[hash(os.path.normcase(place)) % _PLACES]

    def _folder(self) -> Path:
        if self._state is None:
            self._state = self._temporary = Path(tempfile.mkdtemp(prefix="acpls-"))
        return self._state


def _is_private(path: str) -> bool:
    """Whether nothing of a file may be kept: it is a form that the user fills in."""
    try:
        return is_form_file(os.path.realpath(path))
    except (OSError, ValueError):
        return is_form_file(path)


def _failed(path: str, problem: Exception) -> Disk:
    """What is told of a file when a bug of ours keeps it from being used."""
    return Disk(path, None, f"cannot be used: {problem}")
