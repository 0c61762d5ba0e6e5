"""Files read and written for the hub: confined, exact to the byte, never worse than before."""

from __future__ import annotations

import errno
import os
import socket
import stat
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from acpls.client import disk
from acpls.effects import WriteFile
from acpls.events import Disk, FileWritten

in_one_folder = settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
BOM = b"\xef\xbb\xbf"


def write(
    path: Path,
    text: str | None,
    expected: str | None | Literal["anything"] = "anything",
    *,
    roots: tuple[str, ...] | None = None,
    keep_endings: bool = False,
) -> FileWritten:
    where = (str(path.parent),) if roots is None else roots
    done = disk.write(WriteFile("t", str(path), text, where, expected, keep_endings))
    assert (done.token, done.path) == ("t", str(path))
    return done


def read(path: Path, *roots: Path) -> Disk:
    return disk.read(str(path), tuple(map(str, roots or (path.parent,))))


# --- reading -------------------------------------------------------------------------


def test_bytes_become_text_without_any_translation(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_bytes("a\r\nb\rc\n\x0b\u2028ä".encode())
    assert read(file) == Disk(str(file), "a\r\nb\rc\n\x0b\u2028ä")
    file.write_bytes(BOM + b"x")
    assert read(file) == Disk(str(file), "x", bom=True)
    file.write_bytes(b"")
    assert read(file) == Disk(str(file), "")


def test_d35_a_missing_file_has_neither_text_nor_problem(tmp_path: Path) -> None:
    assert read(tmp_path / "f") == Disk(str(tmp_path / "f"), None)
    (tmp_path / "file").touch()
    assert read(tmp_path / "file" / "f", tmp_path).problem is None


@pytest.mark.parametrize("data", [b"\xff", b"a\0b", "ä".encode("latin-1"), b"\xed\xa0\x80"])
def test_what_is_no_text_is_not_read_and_never_rewritten(data: bytes, tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_bytes(data)
    assert read(file) == Disk(str(file), None, "is not UTF-8 text")
    assert write(file, "new").problem == "is not UTF-8 text"
    assert write(file, None).problem == "is not UTF-8 text"
    assert file.read_bytes() == data


def test_d51_every_failure_has_its_true_cause(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert read(tmp_path, tmp_path).problem == "is a folder"
    big = tmp_path / "big"
    with big.open("wb") as file:
        file.truncate(disk.LIMIT_BYTES + 1)
    assert read(big).problem == "is too large (16.0 MiB, the limit is 16)"
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
        patch.setattr(os, "open", _denied)
        assert read(big).problem == "cannot be read: permission denied"
    nowhere = write(big / "below", "x", roots=(str(tmp_path),))
    assert nowhere.problem in (
        "cannot be written: not a directory",
        "cannot be written: file exists",
    )


def test_a_socket_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("s")
        assert read(tmp_path / "s").problem == "cannot be read: no such device or address"


def _denied(*_: object, **__: object) -> int:
    raise PermissionError(errno.EACCES, "Permission denied")


# --- containment ---------------------------------------------------------------------


def test_d43_containment_is_by_components_and_empty_roots_deny(tmp_path: Path) -> None:
    inside, sibling = tmp_path / "work", tmp_path / "workshop"
    for folder in (inside, sibling):
        folder.mkdir()
        (folder / "f").write_text("x")
    outside = Disk(str(sibling / "f"), None, "is outside of the workspace folders", inside=False)
    assert read(sibling / "f", inside) == outside
    assert disk.read(str(inside / "f"), ()).inside is False
    assert disk.read(str(inside / "f"), ("",)).inside is False
    assert read(inside / ".." / "workshop" / "f", inside).inside is False
    assert read(inside / ".." / "workshop" / "f", inside, sibling).text == "x"
    done = write(sibling / "f", "new", roots=(str(inside),))
    assert done.problem == "is outside of the workspace folders"
    assert done.before == outside
    assert (sibling / "f").read_text() == "x"


def test_d42_links_are_followed_before_it_is_decided(tmp_path: Path) -> None:
    inside, outside = tmp_path / "in", tmp_path / "out"
    inside.mkdir()
    outside.mkdir()
    (inside / "folder").symlink_to(outside)
    (inside / "dangling").symlink_to(outside / "new")
    (inside / "secret").symlink_to(outside / "secret")
    (outside / "secret").write_text("s")
    for name in ("folder/new", "dangling", "secret"):
        assert read(inside / name, inside).inside is False
        assert write(inside / name, "x", roots=(str(inside),)).problem is not None
        assert write(inside / name, None, roots=(str(inside),)).problem is not None
    assert sorted(p.name for p in outside.iterdir()) == ["secret"]
    assert (outside / "secret").read_text() == "s"
    linked_root = tmp_path / "link"
    linked_root.symlink_to(outside)
    assert read(outside / "secret", linked_root).text == "s"


# --- writing -------------------------------------------------------------------------


def test_a_new_file_gets_its_folders_and_the_usual_mode(tmp_path: Path) -> None:
    file = tmp_path / "a" / "b" / "f"
    old = os.umask(0o027)
    try:
        done = write(file, "text", None, roots=(str(tmp_path),))
    finally:
        os.umask(old)
    assert done == FileWritten("t", str(file), Disk(str(file), None), None)
    assert file.read_text() == "text"
    assert stat.S_IMODE(file.stat().st_mode) == 0o640


def test_mode_survives_and_nothing_else_is_left(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_text("old")
    file.chmod(0o751)
    inode = file.stat().st_ino
    done = write(file, "new", "old")
    assert done.problem is None
    assert done.before.text == "old"
    assert file.read_text() == "new"
    assert stat.S_IMODE(file.stat().st_mode) == 0o751
    assert file.stat().st_ino != inode  # replaced as a whole, never half written
    assert [p.name for p in tmp_path.iterdir()] == ["f"]


def test_d52_hard_links_and_symbolic_links_stay_what_they_are(tmp_path: Path) -> None:
    file, twin, link = tmp_path / "f", tmp_path / "twin", tmp_path / "link"
    file.write_text("a longer old text")
    twin.hardlink_to(file)
    assert write(file, "new").problem is None
    assert twin.read_text() == "new"
    assert file.samefile(twin)
    twin.unlink()
    link.symlink_to("f")
    inode = file.stat().st_ino
    assert write(link, "newer").problem is None
    assert link.is_symlink()
    assert (file.read_text(), file.stat().st_ino) == ("newer", inode)
    (tmp_path / "dangling").symlink_to("made")
    assert write(tmp_path / "dangling", "x", None).problem is None
    assert (tmp_path / "made").read_text() == "x"


def test_d52_extended_attributes_survive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "f"
    file.write_text("old")
    inode = file.stat().st_ino
    monkeypatch.setattr(os, "listxattr", lambda _: ["user.mine", "security.selinux"])
    assert write(file, "new").problem is None
    assert file.stat().st_ino == inode
    monkeypatch.setattr(os, "listxattr", lambda _: ["security.selinux"])
    assert write(file, "newer").problem is None
    assert file.stat().st_ino != inode
    inode = file.stat().st_ino
    monkeypatch.setattr(os, "listxattr", _unsupported)
    assert write(file, "newest").problem is None
    assert (file.read_text(), file.stat().st_ino != inode) == ("newest", True)


def _unsupported(_: object) -> list[str]:
    raise OSError(errno.ENOTSUP, "Operation not supported")


@pytest.mark.parametrize("what", ["owner", "folder"])
def test_d52_a_file_that_cannot_be_replaced_equally_is_overwritten(
    what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "f"
    file.write_text("old")
    inode = file.stat().st_ino
    if what == "owner":
        monkeypatch.setattr(os, "geteuid", lambda: 4711)
    else:
        monkeypatch.setattr(os, "access", lambda path, _: Path(path) == file)
    assert write(file, "new").problem is None
    assert (file.read_text(), file.stat().st_ino) == ("new", inode)


def test_d50_a_read_only_file_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_text("old")
    file.chmod(0o444)
    assert write(file, "new", "old").problem == "is read-only (mode 0444)"
    assert write(file, None, "old").problem == "is read-only (mode 0444)"
    assert file.read_text() == "old"
    assert stat.S_IMODE(file.stat().st_mode) == 0o444


def test_a_file_that_only_others_may_write_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "f"
    file.write_text("old")
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert write(file, "new").problem == "cannot be written: permission denied"
    assert file.read_text() == "old"


def test_what_is_expected_is_checked(tmp_path: Path) -> None:
    file = tmp_path / "f"
    assert write(file, "new", "old").problem == "is not there any more"
    assert not file.exists()
    file.write_text("theirs")
    assert write(file, "new", "old").problem == "has changed on disk"
    assert write(file, "new", None).problem == "exists already"
    assert write(file, None, "old").problem == "has changed on disk"
    assert file.read_text() == "theirs"
    assert write(file, None, "theirs").problem is None
    assert not file.exists()
    assert write(file, None, None).problem is None
    assert write(file, None).problem is None


def test_removing_a_link_spares_what_it_names(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("x")
    (tmp_path / "link").symlink_to("f")
    assert write(tmp_path / "link", None, "x").problem is None
    assert [p.name for p in tmp_path.iterdir()] == ["f"]


@pytest.mark.parametrize("links", [1, 2])
def test_a_change_in_the_last_moment_wins(
    links: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "f"
    file.write_text("old")
    if links == 2:
        (tmp_path / "twin").hardlink_to(file)
    replace = disk._may_replace

    def meanwhile(*arguments: Any) -> bool:
        file.write_text("theirs")
        return replace(*arguments)

    monkeypatch.setattr(disk, "_may_replace", meanwhile)
    assert write(file, "new", "old").problem == "has changed on disk"
    assert file.read_text() == "theirs"
    assert not list(tmp_path.glob(".acpls*"))


def test_a_file_that_appears_in_the_last_moment_wins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "f"
    make = Path.mkdir

    def meanwhile(self: Path, **options: Any) -> None:
        make(self, **options)
        file.write_text("theirs")

    monkeypatch.setattr(Path, "mkdir", meanwhile)
    assert write(file, "new", None).problem == "exists already"
    assert file.read_text() == "theirs"


@pytest.mark.parametrize("existed", [True, False])
def test_a_full_disk_loses_nothing(
    existed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "f"
    if existed:
        file.write_text("old")
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", _full)
        assert write(file, "new").problem == "cannot be written: no space left on device"
    assert [p.read_text() for p in tmp_path.iterdir()] == (["old"] if existed else [])


def _full(_: int) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_read_only_file_system_is_said_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(Path, "mkdir", refuse)
    assert write(tmp_path / "f", "x").problem == "is read-only (the whole file system is)"


def test_half_a_surrogate_pair_is_not_written(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_text("old")
    problem = write(file, "\ud83d").problem
    assert problem is not None
    assert "surrogate" in problem
    assert file.read_text() == "old"


@pytest.mark.parametrize(
    ("before", "text", "after"),
    [
        (BOM + b"old", "new", BOM + b"new"),
        (BOM + b"old", "\ufeffnew", BOM + b"new"),
        (b"old", "\ufeffnew", BOM + b"new"),
        (None, "\ufeffnew", BOM + b"new"),
        (None, "new", b"new"),
        (b"old", "new", b"new"),
        (BOM + BOM + b"old", "\ufeffold", BOM + BOM + b"old"),
        (BOM + BOM + b"old", "old", BOM + b"old"),
    ],
)
def test_d30_one_byte_order_mark(
    before: bytes | None, text: str, after: bytes, tmp_path: Path
) -> None:
    file = tmp_path / "f"
    if before is not None:
        file.write_bytes(before)
    assert write(file, text).problem is None
    assert file.read_bytes() == after


@in_one_folder
@given(data=st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
def test_what_was_read_is_written_back_to_the_byte(data: bytes, tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_bytes(data)
    seen = read(file)
    if seen.text is None:
        assert write(file, "x").problem == seen.problem
        assert file.read_bytes() == data
        return
    assert write(file, seen.text, seen.text, keep_endings=True).problem is None
    assert file.read_bytes() == data
    if not seen.text.startswith("\ufeff"):
        write(file, "something else", seen.text)
        write(file, seen.text, "something else", keep_endings=True)
        assert file.read_bytes() == data


def test_d26_writing_keeps_endings_when_told_to(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_bytes(BOM + b"a\r\nb\nc\r\n")
    assert write(file, "a\nb\nC\n", keep_endings=True).problem is None
    assert file.read_bytes() == BOM + b"a\r\nb\nC\r\n"
    assert write(file, "a\nb\n").problem is None
    assert file.read_bytes() == BOM + b"a\nb\n"
