"""Files as they are seen: where they truly are, what they hold, and why they cannot be read."""

from __future__ import annotations

import errno
import hashlib
import os
import socket
import stat
from typing import TYPE_CHECKING

import pytest

from acpls.client import disk, walking
from acpls.client.looking import Look, look
from acpls.events import Disk, Form

if TYPE_CHECKING:
    from pathlib import Path

BOM = b"\xef\xbb\xbf"
RUSSIAN = """\
# Читает файл настроек и проверяет, верно ли каждое значение
# Если файла нет, берутся обычные настройки, потом это пишется в журнал
name = 'имя'  # это проверка
"""


def read(path: Path, *roots: Path) -> Disk:
    return disk.read(str(path), tuple(map(str, roots or (path.parent,))))


def held(file: Path, text: str | None, **form: object) -> Disk:
    """The file as it must be seen, with its mode and the hash of its bytes as they are."""
    mode = stat.S_IMODE(file.stat().st_mode)
    content = hashlib.sha256(file.read_bytes()).hexdigest()
    return Disk(str(file), text, form=Form(**form, mode=mode), content=content)  # type: ignore[arg-type]  # any field


# --- what a file holds ---------------------------------------------------------------


def test_bytes_become_text_without_any_translation(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_bytes("a\r\nb\rc\n\x0b\u2028ä".encode())
    file.chmod(0o751)
    assert read(file) == held(file, "a\r\nb\rc\n\x0b\u2028ä")
    file.write_bytes(BOM + b"x")
    assert read(file) == held(file, "x", bom=True)
    file.write_bytes(b"")
    assert read(file) == held(file, "")
    assert read(file).form.mode == 0o751


def test_d32_a_legacy_file_is_text_in_its_own_encoding(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_bytes(RUSSIAN.encode("koi8-r"))
    assert read(file) == held(file, RUSSIAN, encoding="koi8-r", guessed=True)
    file.write_bytes(("# coding: cp1251\n" + RUSSIAN).encode("cp1251"))
    assert read(file) == held(file, "# coding: cp1251\n" + RUSSIAN, encoding="cp1251")
    file.write_bytes(RUSSIAN.encode("utf-16"))
    assert read(file) == held(file, RUSSIAN, encoding="utf-16-le", bom=True)
    file.write_bytes("für".encode("latin-1"))
    seen = Form("cp1251", guessed=True)
    assert disk.read(str(file), (str(tmp_path),), seen).text == "fьr"


def test_d35_a_missing_file_has_neither_text_nor_problem(tmp_path: Path) -> None:
    assert read(tmp_path / "f") == Disk(str(tmp_path / "f"), None)
    (tmp_path / "file").touch()
    assert read(tmp_path / "file" / "f", tmp_path).is_missing


def test_a_look_has_the_bytes_and_the_state_that_they_were_read_in(tmp_path: Path) -> None:
    file, root = tmp_path / "f", (str(tmp_path),)
    file.write_bytes(b"text")
    seen = look(str(file), root)
    assert seen == Look(held(file, "text"), file, file.stat(), b"text")
    # The bytes of what is no text are known too, and so is when they change.
    file.write_bytes(b"a\0b")
    seen = look(str(file), root)
    assert (seen.data, seen.disk.text, seen.disk.problem) == (b"a\0b", None, "is binary")
    assert seen.disk.content == hashlib.sha256(b"a\0b").hexdigest()
    assert seen.disk.form.mode == stat.S_IMODE(file.stat().st_mode)
    assert look(str(tmp_path / "none"), root) == Look(
        Disk(str(tmp_path / "none"), None), tmp_path / "none"
    )
    folder = look(str(tmp_path), root)
    assert (folder.data, folder.disk.content) == (None, None)
    assert folder.status is not None
    assert stat.S_ISDIR(folder.status.st_mode)


# --- why it cannot be read -----------------------------------------------------------


def test_d51_every_failure_has_its_true_cause(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert read(tmp_path, tmp_path).problem == "is a folder"
    big = tmp_path / "big"
    with big.open("wb") as file:
        file.truncate(disk.LIMIT_BYTES + 1)
    assert read(big).problem == "is too large (16.0 MiB, the limit is 16)"
    assert read(big).content is None
    os.mkfifo(tmp_path / "fifo")
    assert read(tmp_path / "fifo").problem == "is not a regular file"
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    assert read(tmp_path / "loop").problem == "cannot be read: too many levels of symbolic links"
    assert disk.read("relative", (str(tmp_path),)).problem == "is not an absolute path"
    assert disk.read("/a\0b", ("/",)).problem == "is not an absolute path"
    unspeakable = disk.read("/\ud800", ("/",))
    assert unspeakable.problem == "has a name that this system cannot have"
    assert not unspeakable.inside
    with monkeypatch.context() as patch:
        patch.setattr(os, "open", denied)
        assert read(big).problem == "cannot be read: permission denied"
    for data, problem in [
        (b"a\0b", "is binary"),
        ("größer".encode() + b"\xfc", "has bytes that are not UTF-8, the first at offset 8"),
        (BOM + b"\xff", "is marked as utf-8 and is not"),
    ]:
        big.write_bytes(data)
        assert read(big).problem == problem


def denied(*_: object, **__: object) -> int:
    raise PermissionError(errno.EACCES, "Permission denied")


def test_a_file_that_grows_while_it_is_read_is_not_read_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "f"
    file.write_text("x")
    piece = b"x" * 1024 * 1024
    monkeypatch.setattr(os, "read", lambda *_: piece)
    assert read(file).problem == "is too large (17.0 MiB, the limit is 16)"


def test_a_socket_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("s")
        assert read(tmp_path / "s").problem == "cannot be read: no such device or address"


# --- containment ---------------------------------------------------------------------


def test_d43_containment_is_by_components_and_empty_roots_deny(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside, sibling = tmp_path / "work", tmp_path / "workshop"
    for folder in (inside, sibling):
        folder.mkdir()
        (folder / "f").write_text("x")
    outside = Disk(str(sibling / "f"), None, "is outside of the workspace folders", inside=False)
    assert read(sibling / "f", inside) == outside
    assert disk.read(str(inside / "f"), ()).inside is False
    monkeypatch.chdir(inside)
    for relative in ("", ".", "../work"):
        assert disk.read(str(inside / "f"), (relative,)).inside is False
    assert read(inside / ".." / "workshop" / "f", inside).inside is False
    assert read(inside / ".." / "workshop" / "f", inside, sibling).text == "x"


def test_d42_links_are_followed_before_it_is_decided(tmp_path: Path) -> None:
    inside, outside = tmp_path / "in", tmp_path / "out"
    inside.mkdir()
    outside.mkdir()
    (inside / "folder").symlink_to(outside)
    (inside / "dangling").symlink_to(outside / "new")
    (inside / "secret").symlink_to(outside / "secret")
    (outside / "secret").write_text("s")
    for name in ("folder/new", "dangling", "secret"):
        seen = look(str(inside / name), (str(inside),))
        assert (seen.disk.inside, seen.disk.text, seen.disk.content) == (False, None, None)
        assert (seen.data, seen.status) == (None, None)
    linked_root = tmp_path / "link"
    linked_root.symlink_to(outside)
    assert read(outside / "secret", linked_root).text == "s"


def test_a_file_is_one_place_however_it_is_spelled(tmp_path: Path) -> None:
    file = tmp_path / "folder" / "f"
    file.parent.mkdir()
    file.write_text("x")
    (tmp_path / "link").symlink_to("folder")
    (tmp_path / "name").symlink_to("folder/f")
    assert read(file, tmp_path).real is None
    for other in (
        tmp_path / "link" / "f",
        tmp_path / "name",
        tmp_path / "link" / ".." / "folder" / "f",
    ):
        seen = read(other, tmp_path)
        assert (seen.path, seen.real, seen.place) == (str(other), str(file), str(file))
    gone = read(tmp_path / "link" / "none", tmp_path)
    assert (gone.is_missing, gone.place) == (True, str(file.parent / "none"))


@pytest.mark.parametrize("shows_paths", [True, False])
@pytest.mark.parametrize("often", [1, 9])
def test_d42_a_link_that_is_laid_in_the_last_moment_leads_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shows_paths: bool, often: int
) -> None:
    """A folder on the way to the file becomes a link when it is decided already."""
    root, outside = tmp_path / "root", tmp_path / "outside"
    for folder in (root / "d", outside):
        folder.mkdir(parents=True)
        (folder / "f").write_text(folder.name)
    opened, swaps = os.open, [""] * often

    def late(path: str | Path, *rest: int) -> int:
        if swaps:
            swaps.pop()
            (root / "d").rename(tmp_path / "away")
            (root / "d").symlink_to(outside)
            try:
                return opened(path, *rest)
            finally:
                if len(swaps) > 0:
                    (root / "d").unlink()
                    (tmp_path / "away").rename(root / "d")
        return opened(path, *rest)

    monkeypatch.setattr(walking, "_SHOWS_PATHS", shows_paths and walking._SHOWS_PATHS)
    monkeypatch.setattr(os, "open", late)
    looked = look(str(root / "d" / "f"), (str(root),))
    assert looked.data is None
    if often == 1:
        assert not looked.disk.inside
    else:
        assert looked.disk.problem == "cannot be read: its folder is being moved"


def test_a_link_that_leads_to_itself_is_told_apart(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    for path in (tmp_path / "loop", tmp_path / "loop" / "f"):
        looked = look(str(path), (str(tmp_path),))
        assert looked.is_link
        assert looked.status is None
        assert (looked.disk.problem or "").startswith("cannot be read: too many levels")
