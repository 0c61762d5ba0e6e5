"""Nothing of a form that is filled in is kept: neither what is read nor what is overwritten."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

import pytest

from acpls.client.filework import FileWork
from acpls.effects import ReadFile, WriteFile
from acpls.events import FIRST, SAME, FileNoticed, Form

if TYPE_CHECKING:
    from pathlib import Path

MARK = "hunter2"


def kept(state: Path) -> bytes:
    packed = [path.read_bytes() for path in state.rglob("*") if path.is_file()]
    return b"".join(zlib.decompress(data) for data in packed)


@pytest.mark.parametrize(("name", "private"), [("form-q1.toml", True), ("other.toml", False)])
@pytest.mark.parametrize("linked", [False, True])
def test_forms_are_read_and_written_without_a_trace(
    tmp_path: Path, name: str, private: bool, linked: bool
) -> None:
    root, state = tmp_path / "ws", tmp_path / "state"
    path = real = root / ".acp" / name
    real.parent.mkdir(parents=True)
    if linked:
        path = root / "link"
        path.symlink_to(real)
    work, roots = FileWork(state), (str(root),)
    written = work.write(
        WriteFile(1, str(path), f"{MARK} 1", roots, expected=None, form=Form(mode=0o600))
    )
    assert written.problem is None
    assert real.stat().st_mode & 0o777 == 0o600
    real.write_text(f"{MARK} 2")
    read = work.read(ReadFile(2, str(path), roots))
    assert read.disk.text == f"{MARK} 2"
    assert (read.earlier in (FIRST, SAME)) == private
    real.write_text(f"{MARK} 3")
    assert isinstance(work.notice(str(path), roots, None), FileNoticed) != private
    taken = work.write(WriteFile(3, str(real), None, roots))
    assert (taken.problem, real.exists()) == (None, False)
    assert (MARK.encode() in kept(state)) != private


def test_a_path_that_is_none_is_no_form(tmp_path: Path) -> None:
    read = FileWork(tmp_path).read(ReadFile(1, "/ws/\0/.acp/form-q1.toml", ("/ws",)))
    assert read.disk.text is None
