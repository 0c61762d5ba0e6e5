"""This machine's files and programs, for ``programs`` to decide about."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

from acpls.client import programs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_POSIX = os.name == "posix"
_HEAD_BYTES = 16 * 1024


def found(
    argv: Sequence[str], env: Mapping[str, str], cwd: str | None
) -> programs.Program | programs.Missing:
    """Say what to start for ``argv`` with this whole environment in this folder."""
    if (problem := programs.unusable(argv, env)) is not None:
        return programs.Missing(f"it cannot be started like this: {problem}", "")
    machine = _machine(env, cwd)
    if not machine.files.is_folder(machine.cwd):
        return programs.Missing(f"the folder {cwd!r} to start in does not exist", "")
    return programs.resolve(argv[0], argv[1:], machine)


def path_of(command: str, env: Mapping[str, str], cwd: str) -> str | None:
    """Find a program's absolute path; ``None``: there is no such program."""
    path = programs.locate(command, _machine(env, cwd))
    return None if isinstance(path, programs.Missing) else path


def folder_of(cwd: str | None) -> str:
    """The absolute path of the folder that is meant by ``cwd``; ``None``: our own."""
    try:
        here = Path.cwd()
    except OSError:
        # Ours was removed; what is started in it may live all the same.
        here = Path("/")
    return str(here / (cwd or ""))


def _machine(env: Mapping[str, str], cwd: str | None) -> programs.Machine:
    return programs.Machine(env, folder_of(cwd), _Files(), windows=not _POSIX)


class _Files:
    """The files of this machine, as looking programs up needs them."""

    def is_file(self, path: str) -> bool:
        """Whether there is a file that is no folder."""
        with contextlib.suppress(OSError, ValueError):
            return Path(path).is_file()
        return False

    def is_folder(self, path: str) -> bool:
        """Whether there is a folder."""
        with contextlib.suppress(OSError, ValueError):
            return Path(path).is_dir()
        return False

    def may_run(self, path: str) -> bool:
        """Whether we may execute the file."""
        return not _POSIX or os.access(path, os.X_OK)

    def head(self, path: str) -> str:
        """The first 16 KiB of a file, ``""`` where it cannot be read."""
        with contextlib.suppress(OSError, ValueError), Path(path).open("rb") as file:
            return file.read(_HEAD_BYTES).decode(errors="replace")
        return ""
