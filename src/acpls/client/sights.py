"""Sees what is at paths that agents name: a file or not, inside the roots or not.

Plain functions that block; run them in a thread. Nothing is remembered of what is seen here.

Invariant: nothing outside of the roots is read, and nothing is raised for what is on disk.
"""

from __future__ import annotations

import os
import stat
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from acpls.client import looking
from acpls.events import Seen

if TYPE_CHECKING:
    from acpls.effects import LookAt

TEXT_LIMIT_BYTES: Final = 2 * 1024 * 1024
"""The text of a larger file is not read (2 MiB)."""


def look_at(effect: LookAt) -> tuple[Seen, ...]:
    """What is at the paths of the effect, in their order."""
    roots = tuple(os.path.realpath(root) for root in effect.roots if Path(root).is_absolute())
    seen = [_look(path, roots, effect.roots) for path in effect.paths]
    first = next((n for n, one in enumerate(seen) if one.kind == "file" and one.inside), None)
    if effect.text and first is not None:
        seen[first] = replace(seen[first], text=_text(seen[first].path, effect.roots))
    return tuple(seen)


def _look(path: str, roots: tuple[str, ...], spelled: tuple[str, ...]) -> Seen:
    # Another machine's shares are not asked because an agent named one: Windows would log in.
    is_share = path.startswith(("\\\\", "//")) and not path.startswith(spelled)
    if is_share or not Path(path).is_absolute():
        return Seen(path, "missing", inside=False)
    try:
        status = os.stat(path)  # noqa: PTH116 -- a str may be no path of this system
        real = Path(os.path.realpath(path))
    except (OSError, ValueError):
        return Seen(path, "missing", inside=False)
    inside = any(real.is_relative_to(root) for root in roots)
    if stat.S_ISREG(status.st_mode):
        return Seen(path, "file", inside)
    return Seen(path, "folder" if stat.S_ISDIR(status.st_mode) else "other", inside)


def _text(path: str, roots: tuple[str, ...]) -> str | None:
    try:
        if Path(path).stat().st_size > TEXT_LIMIT_BYTES:
            return None
        return looking.read(path, roots).text
    except OSError:
        return None
