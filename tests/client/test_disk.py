"""Files written for the hub: confined, exact to the byte, and never worse than before."""

from __future__ import annotations

import errno
import os
import stat
from itertools import product
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from acpls.client import disk
from acpls.client.disk import content_of
from acpls.effects import WriteFile
from acpls.events import UTF_8, Disk, FileWritten, Form

in_one_folder = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
BOM = b"\xef\xbb\xbf"
RUSSIAN = """\
# Читает файл настроек и проверяет, верно ли каждое значение
# Если файла нет, берутся обычные настройки, потом это пишется в журнал
name = 'имя'  # это проверка
"""


def write(
    path: Path,
    text: str | None,
    expected: str | bytes | None | Literal["anything"] = "anything",
    *,
    roots: tuple[str, ...] | None = None,
    keep_endings: bool = False,
    form: Form | None = None,
    stored: bytes | None = None,
    kept: bool = True,
) -> FileWritten:
    """``expected``: what the file must hold; ``stored``: what is to be written, if ``kept``."""
    if expected is not None and expected != "anything":
        expected = content_of(expected if isinstance(expected, bytes) else expected.encode())
    effect = WriteFile(
        "t",
        str(path),
        text,
        (str(path.parent),) if roots is None else roots,
        expected,
        keep_endings,
        form,
        None if stored is None else content_of(stored),
    )
    done = disk.write(effect, stored if kept else None)
    assert (done.token, done.path) == ("t", str(path))
    return done


def read(path: Path) -> Disk:
    return disk.read(str(path), (str(path.parent),))


# --- what is written -----------------------------------------------------------------


def test_a_new_file_gets_its_folders_and_the_usual_mode(tmp_path: Path) -> None:
    file = tmp_path / "a" / "b" / "f"
    old = os.umask(0o027)
    try:
        done = write(file, "text", None, roots=(str(tmp_path),))
    finally:
        os.umask(old)
    after = Disk(str(file), "text", form=Form(mode=0o640), content=content_of(b"text"))
    assert done == FileWritten("t", str(file), Disk(str(file), None), None, after)
    assert file.read_text() == "text"
    assert stat.S_IMODE(file.stat().st_mode) == 0o640


def test_mode_survives_and_nothing_else_is_left(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_text("old")
    file.chmod(0o751)
    inode = file.stat().st_ino
    done = write(file, "new", "old", form=Form(mode=0o600))
    assert done.problem is None
    assert done.before.text == "old"
    assert done.after == read(file)
    assert done.after.text == "new"
    assert file.read_text() == "new"
    assert stat.S_IMODE(file.stat().st_mode) == 0o751
    assert file.stat().st_ino != inode  # replaced as a whole, never half written
    assert [p.name for p in tmp_path.iterdir()] == ["f"]


def test_a_file_that_holds_the_text_already_is_not_touched(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_bytes(b"a\r\nb\r\n")
    before = file.stat()
    done = write(file, "a\nb\n", keep_endings=True)
    assert (done.problem, done.after) == (None, done.before)
    assert file.stat() == before


@pytest.mark.parametrize("mode", [0o755, 0o644, 0o600, 0o444])
@pytest.mark.parametrize("stored", [None, b"a\0b"])
def test_d52_a_file_that_comes_back_has_its_mode(
    mode: int, stored: bytes | None, tmp_path: Path
) -> None:
    file = tmp_path / "f"
    done = write(file, "#!/bin/sh\n", None, form=Form(mode=mode), stored=stored)
    assert done.problem is None
    assert done.after is not None
    assert done.after.form.mode == mode
    assert stat.S_IMODE(file.stat().st_mode) == mode
    assert file.read_bytes() == (stored or b"#!/bin/sh\n")


def test_a_file_that_comes_back_does_not_run_as_somebody_else(tmp_path: Path) -> None:
    assert write(tmp_path / "f", "x", None, form=Form(mode=0o4755)).problem is None
    assert stat.S_IMODE((tmp_path / "f").stat().st_mode) == 0o755


def test_d34_the_text_is_written_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "f"
    for text in ("a\n", "a\n\n", "a", "", "a\r\n\n\r"):
        assert write(file, text).problem is None
        assert file.read_bytes() == text.encode()


# --- what is refused -----------------------------------------------------------------


def test_d42_d43_nothing_is_written_outside(tmp_path: Path) -> None:
    inside, outside = tmp_path / "work", tmp_path / "workshop"
    for folder in (inside, outside):
        folder.mkdir()
    (outside / "f").write_text("x")
    (inside / "folder").symlink_to(outside)
    (inside / "dangling").symlink_to(outside / "new")
    (inside / "f").symlink_to(outside / "f")
    paths = [inside / name for name in ("folder/new", "dangling", "f", "../workshop/f")]
    for path, text in product([*paths, outside / "f"], ["new", None]):
        done = write(path, text, roots=(str(inside),))
        assert done.problem == "is outside of the workspace folders"
        assert not done.before.inside
        assert done.after is None
        assert write(path, text, roots=()).problem == "is outside of the workspace folders"
        assert write(path, None, roots=(str(inside),), stored=b"x").problem == done.problem
    assert [p.name for p in outside.iterdir()] == ["f"]
    assert (outside / "f").read_text() == "x"
    assert sorted(p.name for p in inside.iterdir()) == ["dangling", "f", "folder"]


@pytest.mark.parametrize("stored", [None, b"bytes"])
def test_d50_a_read_only_file_is_left_alone(stored: bytes | None, tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_text("old")
    file.chmod(0o444)
    for text in ("new", "old", None):
        done = write(file, text, "old", stored=stored)
        assert (done.problem, done.after) == ("is read-only (mode 0444)", None)
    assert file.read_text() == "old"
    assert stat.S_IMODE(file.stat().st_mode) == 0o444


def test_d50_a_file_that_only_others_may_write_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "f"
    file.write_text("old")
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert write(file, "new").problem == "cannot be written: permission denied"
    assert write(file, None).problem == "cannot be removed: permission denied"
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
    gone = write(file, None, "theirs")
    assert (gone.problem, gone.after) == (None, Disk(str(file), None))
    assert not file.exists()
    assert write(file, None, None).problem is None
    assert write(file, None).problem is None
    # The same text in other bytes is another content.
    file.write_bytes(BOM + b"theirs")
    assert write(file, "new", "theirs").problem == "has changed on disk"
    assert write(file, "new", BOM + b"theirs").problem is None
    assert file.read_bytes() == BOM + b"new"


@pytest.mark.parametrize("data", [b"a\0b", b"\xef\xbb\xbf\xff", "größer".encode() + b"\xfc"])
def test_d32_what_is_no_text_is_never_written_as_text(data: bytes, tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_bytes(data)
    problem = read(file).problem
    assert problem is not None
    assert write(file, "new").problem == problem
    assert write(file, "new", data, form=UTF_8).problem == problem
    # Nor does it go unseen.
    assert write(file, None).problem == problem
    assert file.read_bytes() == data
    assert write(file, None, b"other").problem == "has changed on disk"
    assert write(file, None, data).problem is None
    assert not file.exists()


def test_bytes_of_the_store_come_back_over_anything(tmp_path: Path) -> None:
    file = tmp_path / "f"
    for before, data in [
        (None, b"a\0b"),
        (b"a\0b", b"\xff\xfe\xfd"),
        (b"\xff", b"t\r\n"),
        (b"t", b""),
    ]:
        file.unlink(missing_ok=True)
        if before is not None:
            file.write_bytes(before)
        done = write(file, "ignored", before, stored=data, keep_endings=True)
        assert done.problem is None
        assert done.after is not None
        assert done.after.content == content_of(data)
        assert file.read_bytes() == data
    assert write(file, None, b"other", stored=b"x").problem == "has changed on disk"
    for kept in (False, True):
        lost = WriteFile("t", str(file), "x", (str(tmp_path),), stored=content_of(b"lost"))
        done = disk.write(lost, b"damaged" if kept else None)
        assert done.problem == "cannot be restored: its text is not stored any more"
        assert done.after is None
    assert file.read_bytes() == b""


def test_nothing_is_written_that_could_not_be_read_again(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_text("old")
    big = "x" * (disk.LIMIT_BYTES + 1)
    why = "was not written: it is too large (16.0 MiB, the limit is 16)"
    assert write(file, big).problem == why
    assert write(file, None, stored=big.encode()).problem == why
    for text in ("a\0b", "\ud83d"):
        problem = write(file, text).problem
        assert problem is not None
        assert problem.startswith("was not written: the text has ")
    folder = write(tmp_path, "x", roots=(str(tmp_path),), stored=b"x")
    assert folder.problem == "is a folder"
    assert file.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["f"]


def test_d51_a_file_has_no_files_below_it(tmp_path: Path) -> None:
    (tmp_path / "f").touch()
    nowhere = write(tmp_path / "f" / "below", "x", roots=(str(tmp_path),))
    assert nowhere.problem in (
        "cannot be written: not a directory",
        "cannot be written: file exists",
    )


# --- encodings and endings -----------------------------------------------------------


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
        ("old".encode("utf-16"), "\ufeffnew", "new".encode("utf-16")),
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


@pytest.mark.parametrize(
    ("form", "data"),
    [
        (Form(bom=True), BOM + "ä\n".encode()),
        (Form("utf-16-be", bom=True), b"\xfe\xff\0\xe4\0\n"),
        (Form("cp1252"), b"\xe4\n"),
        (Form("gb18030", bom=True), "\ufeffä\n".encode("gb18030")),
    ],
)
@pytest.mark.parametrize("before", [None, b"x", BOM + b"x", "xö".encode("latin-1")])
def test_a_text_stands_in_its_file_as_it_is_told_to(
    form: Form, data: bytes, before: bytes | None, tmp_path: Path
) -> None:
    file = tmp_path / "f"
    if before is not None:
        file.write_bytes(before)
    done = write(file, "ä\n", before, form=form)
    assert done.problem is None
    assert done.after is not None
    assert done.after.text == "ä\n"
    assert file.read_bytes() == data


def test_d32_a_legacy_file_stays_in_its_encoding_or_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "f"
    data = RUSSIAN.encode("koi8-r")
    file.write_bytes(data)
    done = write(file, RUSSIAN.replace("имя", "файл"), data)
    assert done.problem is None
    assert done.before.form == Form("koi8-r", guessed=True, mode=done.before.form.mode)
    assert done.after is not None
    assert (done.after.text, done.after.form) == (RUSSIAN.replace("имя", "файл"), done.before.form)
    assert file.read_bytes() == RUSSIAN.replace("имя", "файл").encode("koi8-r")
    file.write_bytes(data)
    assert write(file, RUSSIAN + "щ").problem == (
        "was not written: nothing declares its encoding (koi8-r), "
        "so it is not known how to write 'щ' (U+0449) in it"
    )
    assert write(file, RUSSIAN + "щ", form=Form("koi8-r", guessed=True)).problem is not None
    file.write_bytes(b"# coding: koi8-r\n")
    assert write(file, "# coding: koi8-r\nщ").problem is None
    assert write(file, "# coding: koi8-r\nщ中").problem == (
        "was not written: its encoding (koi8-r) cannot hold '中' (U+4E2D)"
    )
    assert file.read_bytes() == "# coding: koi8-r\nщ".encode("koi8-r")


def test_d32_what_is_known_of_a_guess_outlives_a_write(tmp_path: Path) -> None:
    """So little is left that on its own it would be taken for something else."""
    file = tmp_path / "f"
    file.write_bytes((RUSSIAN + "// да\n").encode("koi8-r"))
    form = read(file).form
    done = write(file, "// да\n", form=form)
    assert done.problem is None
    assert done.after is not None
    assert (done.after.text, done.after.form) == ("// да\n", form)
    assert disk.read(str(file), (str(tmp_path),), form) == done.after
    # What is there is read as it was seen, too.
    effect = WriteFile("t", str(file), "// да, да\n", (str(tmp_path),))
    done = disk.write(effect, seen=form)
    assert (done.problem, done.before.form) == (None, form)
    assert file.read_bytes() == "// да, да\n".encode("koi8-r")
    # Another form may hold other characters; what they mean in this one is not known.
    file.write_bytes(RUSSIAN.encode("cp1251"))
    assert write(file, RUSSIAN, form=Form("koi8-r", guessed=True)).problem is not None
    assert write(file, RUSSIAN, form=Form("koi8-r")).problem is None
    assert file.read_bytes() == RUSSIAN.encode("koi8-r")


@in_one_folder
@given(data=st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
def test_what_was_read_is_written_back_to_the_byte(data: bytes, tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_bytes(data)
    seen = read(file)
    assert seen.content == content_of(data)
    if seen.text is None:
        assert write(file, "x").problem == seen.problem
        assert file.read_bytes() == data
    else:
        assert write(file, seen.text, data, keep_endings=True).problem is None
        assert file.read_bytes() == data
        if not seen.form.guessed and not seen.text.startswith("\ufeff"):
            file.unlink()
            assert write(file, seen.text, None, form=seen.form).problem is None
            assert file.read_bytes() == data
    file.write_bytes(b"something else")
    assert write(file, None, stored=data).problem is None
    assert file.read_bytes() == data


def test_d26_writing_keeps_endings_when_told_to(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_bytes(BOM + b"a\r\nb\nc\r\n")
    assert write(file, "a\nb\nC\n", keep_endings=True).problem is None
    assert file.read_bytes() == BOM + b"a\r\nb\nC\r\n"
    assert write(file, "a\nb\n").problem is None
    assert file.read_bytes() == BOM + b"a\nb\n"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "cp1252", "gb18030"])
@in_one_folder
@given(
    bodies=st.lists(st.sampled_from(["a", "b", "", "ä", "# x"]), min_size=1, max_size=8),
    endings=st.lists(st.sampled_from(["\n", "\r\n", "\r"]), min_size=8, max_size=8),
    mixed=st.booleans(),
    last=st.booleans(),
    bom=st.booleans(),
    at=st.integers(0, 7),
)
def test_d25_only_the_lines_that_changed_get_other_bytes(
    encoding: str,
    bodies: list[str],
    endings: list[str],
    mixed: bool,
    last: bool,
    bom: bool,
    at: int,
    tmp_path: Path,
) -> None:
    """Whatever the encoding and the endings, and with plain line feeds from the agent."""
    file = tmp_path / "f"
    endings = endings if mixed else endings[:1] * 8
    # An empty line after a lone CR would make one ending of two.
    lines = [body or "-" for body in bodies]
    ended = [line + ending for line, ending in zip(lines, endings, strict=False)]
    if not last:
        ended[-1] = lines[-1]
    head = f"# coding: {encoding}" + endings[0]
    mark = "\ufeff".encode(encoding) if encoding != "cp1252" and (bom or "16" in encoding) else b""
    file.write_bytes(mark + "".join([head, *ended]).encode(encoding))
    at %= len(lines)
    plain = [f"# coding: {encoding}", *lines]
    plain[at + 1] = "new"
    done = write(file, "\n".join(plain) + ("\n" if last else ""), keep_endings=True)
    assert done.problem is None
    got = file.read_bytes()
    before = mark + "".join([head, *ended[:at]]).encode(encoding) + "new".encode(encoding)
    after = "".join(ended[at + 1 :]).encode(encoding)
    assert got.startswith(before)
    assert got.endswith(after)
    between = got[len(before) : len(got) - len(after)].decode(encoding)
    assert between in (["\n", "\r\n", "\r"] if last or at + 1 < len(lines) else [""])


# --- links, owners, attributes -------------------------------------------------------


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
    done = write(link, "newer", "new")
    assert done.problem is None
    assert done.after is not None
    assert done.after.place == str(file)
    assert link.is_symlink()
    assert (file.read_text(), file.stat().st_ino) == ("newer", inode)
    (tmp_path / "dangling").symlink_to("made")
    assert write(tmp_path / "dangling", "x", None).problem is None
    assert (tmp_path / "made").read_text() == "x"
    assert (tmp_path / "dangling").is_symlink()


def test_removing_a_link_spares_what_it_names(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("x")
    (tmp_path / "link").symlink_to("f")
    done = write(tmp_path / "link", None, "x")
    assert (done.problem, done.after) == (None, Disk(str(tmp_path / "link"), None))
    assert [p.name for p in tmp_path.iterdir()] == ["f"]


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
    monkeypatch.setattr(os, "listxattr", unsupported)
    assert write(file, "newest").problem is None
    assert (file.read_text(), file.stat().st_ino != inode) == ("newest", True)
    monkeypatch.delattr(os, "listxattr")
    assert write(file, "last").problem is None
    assert file.read_text() == "last"


def unsupported(_: object) -> list[str]:
    raise OSError(errno.ENOTSUP, "Operation not supported")


@pytest.mark.parametrize("what", ["owner", "folder"])
def test_d52_a_file_that_cannot_be_replaced_equally_is_overwritten(
    what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "f"
    file.write_text("old")
    inode = file.stat().st_ino
    if what == "owner":
        owners = iter([(0, 0), (4711, 4711)])
        monkeypatch.setattr(disk, "_owner", lambda _: next(owners))
    else:
        monkeypatch.setattr(os, "access", lambda path, _: Path(path) == file)
    assert write(file, "new").problem is None
    assert (file.read_text(), file.stat().st_ino) == ("new", inode)
    assert [p.name for p in tmp_path.iterdir()] == ["f"]


# --- in the last moment --------------------------------------------------------------


@pytest.mark.parametrize("links", [1, 2])
@pytest.mark.parametrize("theirs", ["theirs", "the same length", None])
def test_a_change_in_the_last_moment_wins(
    links: int, theirs: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "f"
    file.write_text("old, and of it ")
    if links == 2:
        (tmp_path / "twin").hardlink_to(file)
    replace = disk._may_replace

    def meanwhile(*arguments: Any) -> bool:
        file.unlink() if theirs is None else file.write_text(theirs)
        return replace(*arguments) if theirs else links == 1

    monkeypatch.setattr(disk, "_may_replace", meanwhile)
    done = write(file, "new", "old, and of it ")
    assert done.problem == ("has changed on disk" if theirs else "is not there any more")
    assert done.after is not None
    assert done.after.text == theirs
    assert not list(tmp_path.glob(".acpls*"))


@pytest.mark.parametrize("readable", [True, False])
def test_a_folder_that_is_renamed_meanwhile_keeps_nothing_of_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, readable: bool
) -> None:
    """The file went with it, and so did the part that was to take its place."""
    folder = tmp_path / "d"
    folder.mkdir()
    (folder / "f").write_text("one")
    write_all = disk._write_all

    def meanwhile(*arguments: Any) -> None:
        write_all(*arguments)
        folder.rename(tmp_path / "moved")

    monkeypatch.setattr(disk, "_write_all", meanwhile)
    access = os.access
    monkeypatch.setattr(
        os, "access", lambda path, mode: access(path, mode) and (readable or mode != os.R_OK)
    )
    result = write(folder / "f", "two")
    assert result.problem is not None
    assert (tmp_path / "moved" / "f").read_text() == "one"
    left = sorted(file.name[:7] for file in (tmp_path / "moved").iterdir())
    assert left == (["f"] if readable else [".acpls-", "f"])
    assert not folder.exists()


def test_a_file_is_replaced_where_folders_have_no_numbers_as_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "f"
    file.write_text("one")
    inode = file.stat().st_ino
    monkeypatch.setattr(os, "supports_dir_fd", set())
    assert write(file, "two").problem is None
    assert (file.read_text(), file.stat().st_ino != inode) == ("two", True)
    assert list(tmp_path.iterdir()) == [file]


def test_d42_a_new_file_is_not_made_behind_a_link_that_is_laid_in_the_last_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    for folder in (root / "d", outside):
        folder.mkdir(parents=True)
    make = Path.mkdir

    def meanwhile(self: Path, **options: Any) -> None:
        make(self, **options)
        (root / "d").rmdir()
        (root / "d").symlink_to(outside)

    monkeypatch.setattr(Path, "mkdir", meanwhile)
    assert write(root / "d" / "f", "new", roots=(str(root),)).problem == "has changed on disk"
    assert list(outside.iterdir()) == []


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


@pytest.mark.parametrize("text", ["new", None])
def test_it_is_not_called_done_unless_the_file_shows_it(
    text: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "f"
    file.write_text("old")
    carry_out = disk._carry_out

    def undone(*arguments: Any) -> None:
        carry_out(*arguments)
        file.write_text("theirs")

    monkeypatch.setattr(disk, "_carry_out", undone)
    done = write(file, text)
    problem = "does not hold what was written" if text else "is there again"
    assert (done.problem, done.after) == (problem, read(file))


# --- when the system fails -----------------------------------------------------------


@pytest.mark.parametrize("existed", [0, 1, 2])
def test_a_full_disk_loses_nothing(
    existed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither when the file is new, nor when it is replaced, nor with a second name."""
    file = tmp_path / "f"
    if existed:
        file.write_text("old, and longer")
    if existed == 2:
        (tmp_path / "twin").hardlink_to(file)
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        done = write(file, "new")
    assert done.problem == "cannot be written: no space left on device"
    assert done.after == (done.before if existed else Disk(str(file), None))
    assert [p.read_text() for p in tmp_path.iterdir()] == ["old, and longer"] * existed


def full(_: int) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("text", ["x", None])
def test_a_read_only_file_system_is_said_so(
    text: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    if text is None:
        (tmp_path / "f").touch()
    monkeypatch.setattr(Path, "mkdir", refuse)
    monkeypatch.setattr(Path, "unlink", refuse)
    assert write(tmp_path / "f", text).problem == "is read-only (the whole file system is)"


def test_d51_a_file_in_a_closed_folder_is_not_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    (tmp_path / "f").write_text("x")
    monkeypatch.setattr(Path, "unlink", refuse)
    done = write(tmp_path / "f", None, "x")
    assert done.problem == "cannot be removed: permission denied"
    assert done.after == done.before


def test_half_a_surrogate_pair_is_not_written(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_text("old")
    problem = write(file, "\ud83d").problem
    assert problem is not None
    assert "surrogate" in problem
    assert file.read_text() == "old"
