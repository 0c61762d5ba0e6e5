"""The steps that do something to files behind the client's back, as agents' own tools do.

Invariant: nothing here says a word on the wire.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

    from acpls.testing.shapes import Json
    from acpls.testing.turns import Turn


def write(path: Path, step: Json) -> None:
    """What a ``write`` step wants on the disk."""
    data = bytes.fromhex(step["hex"]) if "hex" in step else _encoded(step)
    path.parent.mkdir(parents=True, exist_ok=True)
    if not step.get("renamed"):
        path.write_bytes(data)
        return
    handle, name = tempfile.mkstemp(dir=path.parent)
    with os.fdopen(handle, "wb") as file:
        file.write(data)
    if path.exists():
        Path(name).chmod(path.stat().st_mode & 0o7777)
    Path(name).replace(path)


def _encoded(step: Json) -> bytes:
    text: str = step["text"]
    return text.encode(step.get("encoding", "utf-8"))


def _remove(turn: Turn, step: Json) -> None:
    turn.resolve(step["remove"]).unlink()


def _move(turn: Turn, step: Json) -> None:
    new = turn.resolve(step["to"])
    new.parent.mkdir(parents=True, exist_ok=True)
    turn.resolve(step["move"]).replace(new)


def _chmod(turn: Turn, step: Json) -> None:
    turn.resolve(step["chmod"]).chmod(int(step["bits"], 8))


def _symlink(turn: Turn, step: Json) -> None:
    turn.resolve(step["symlink"]).symlink_to(step["to"])


def _run(turn: Turn, step: Json) -> None:
    done = subprocess.run(
        step["run"],
        cwd=turn.session.cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=True,
    )
    turn.keep(step, done.stdout.decode(errors="replace"))


DOING: Final[dict[str, Callable[[Turn, Json], None]]] = {
    "remove": _remove,
    "move": _move,
    "chmod": _chmod,
    "symlink": _symlink,
    "run": _run,
}
