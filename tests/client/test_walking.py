"""The walk through a root: which files it sees, and what it leaves out."""

from __future__ import annotations

import contextlib
import os
import stat
import time
from typing import TYPE_CHECKING, Any

import pytest

from acpls.client import walking
from acpls.client.ignoring import Ignoring
from acpls.client.index import Entry, unseen
from acpls.client.walking import (
    Folder,
    Walk,
    is_at,
    is_fresh,
    is_young,
    next_moment,
    read_regular,
)

if TYPE_CHECKING:
    from pathlib import Path

SECOND_NS = 1_000_000_000


class Tree:
    """A root that is walked again and again."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.ignoring = Ignoring()
        self.known: dict[str, dict[str, bytes]] = {}
        self.walk: Walk | None = None

    def write(self, *names: str) -> None:
        for name in names:
            file = self.root / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(b"")

    def folders(self, **options: Any) -> list[Folder]:
        self.walk = Walk(
            str(self.root),
            self.ignoring,
            lambda folder: dict(self.known.get(folder, {})),
            self.walk,
            **options,
        )
        return list(self.walk.folders())

    def files(self, **options: Any) -> set[str]:
        return {
            os.path.relpath(f"{folder.path}{os.sep}{name}", self.root)
            for folder in self.folders(**options)
            for name, _ in folder.files
        }

    def passed_over(self, *names: str) -> set[str]:
        assert self.walk is not None
        return {name for name in names if self.walk.passes_over(str(self.root / name))}


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    root = tmp_path / "root"
    root.mkdir()
    return Tree(root)


def test_near_folders_come_before_far_ones(tree: Tree) -> None:
    tree.write("a/b/c/f", "a/f", "f", "d/e/f")
    depths = [folder.path.count(os.sep) for folder in tree.folders()]
    assert depths == sorted(depths)
    assert tree.files() == {"a/b/c/f", "a/f", "f", "d/e/f"}


def test_what_is_ignored_is_told_apart(tree: Tree) -> None:
    tree.write("f", "f.log", "build/f", "d/.git/HEAD", "d/g", ".gitignore")
    (tree.root / ".gitignore").write_text("*.log\nbuild/\n")
    top, below = tree.folders()
    assert {name for name, _ in top.files} == {"f", ".gitignore"}
    assert top.ignored == {"f.log", "build"}
    assert {name for name, _ in below.files} == {"g"}
    assert below.ignored == {".git"}


def test_links_are_named_and_not_followed(tree: Tree, tmp_path: Path) -> None:
    tree.write("d/f")
    (tree.root / "to folder").symlink_to(tree.root / "d")
    (tree.root / "to file").symlink_to(tree.root / "d" / "f")
    (tree.root / "to nothing").symlink_to(tmp_path / "nothing")
    (tree.root / "d" / "up").symlink_to(tree.root)
    top, below = tree.folders()
    assert sorted(top.links) == ["to file", "to folder", "to nothing"]
    assert below.links == ["up"]
    assert tree.files() == {"d/f"}


def test_pipes_and_the_like_are_named(tree: Tree) -> None:
    tree.write("f")
    os.mkfifo(tree.root / "pipe")
    (top,) = tree.folders()
    assert top.others == ["pipe"]
    assert tree.files() == {"f"}


def test_our_own_folder_is_not_walked(tree: Tree) -> None:
    tree.write("own/f", "f")
    tree.ignoring = Ignoring((str(tree.root / "own"),))
    assert tree.files() == {"f"}
    tree.root = tree.root / "own"
    tree.walk = None
    assert tree.files() == set()
    assert tree.walk is not None
    assert list(tree.walk.left_out.values()) == ["is where acpls keeps what files held"]


def test_what_was_seen_once_is_known_while_it_cannot_be_looked_at(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree.write("a/b/f", "c/f")
    scandir = os.scandir
    closed: set[str] = set()

    def refuse(path: str) -> Any:
        if os.path.relpath(path, tree.root) in closed:
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    def seen(*names: str) -> set[str]:
        tree.folders()
        assert tree.walk is not None
        return {name for name in names if tree.walk.has_seen(str(tree.root / name))}

    monkeypatch.setattr(os, "scandir", refuse)
    names = ("f", "a/f", "a/b/f", "a/b/new/f", "c/f", "new/f", "a/.git/f", os.fsdecode(b"a/\xff"))
    closed.add("c")
    first = {"f", "a/f", "a/b/f", "a/b/new/f", "new/f"}
    assert seen(*names) == first
    closed.add("a")
    (tree.root / "new").mkdir()
    closed.add("new")
    for _ in range(2):
        assert seen(*names) == first
    (tree.root / "new").rmdir()
    closed.clear()
    assert seen(*names) == {*first, "c/f"}
    assert tree.walk is not None
    assert tree.walk.kept == {}


@pytest.mark.parametrize("shows_paths", [True, False])
def test_whether_an_open_file_is_where_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shows_paths: bool
) -> None:
    monkeypatch.setattr(walking, "_SHOWS_PATHS", shows_paths and walking._SHOWS_PATHS)
    folder, file = tmp_path / "d", tmp_path / "d" / "f (deleted)"
    folder.mkdir()
    file.write_bytes(b"1")
    place = str(file)

    with file.open("rb") as opened:
        descriptor = opened.fileno()
        assert is_at(descriptor, place)
        file.rename(tmp_path / "away")
        assert not is_at(descriptor, place)
        (tmp_path / "away").rename(file)
        folder.rename(tmp_path / "moved")
        folder.symlink_to(tmp_path / "moved")
        assert not is_at(descriptor, place)
        with pytest.raises(FileNotFoundError):
            read_regular(place, 10)
        folder.unlink()
        (tmp_path / "moved").rename(folder)
        assert is_at(descriptor, place)
        assert not is_at(-1, place)


def test_states_are_those_of_the_files(tree: Tree) -> None:
    tree.write("f")
    (tree.root / "f").write_bytes(b"four")
    ((name, status),) = tree.folders()[0].files
    assert name == "f"
    assert (status.st_size, status.st_ino) == (4, (tree.root / "f").stat().st_ino)


def test_a_file_that_goes_while_its_folder_is_listed(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree.write("f", "g", "d/f")
    within = tree.ignoring.within

    def late(*arguments: Any) -> Any:
        (tree.root / "f").unlink(missing_ok=True)
        (tree.root / "d" / "f").unlink(missing_ok=True)
        if (tree.root / "d").exists():
            (tree.root / "d").rmdir()
        return within(*arguments)

    monkeypatch.setattr(tree.ignoring, "within", late)
    assert tree.files() == {"g"}
    assert tree.walk is not None
    assert tree.walk.left_out == {}


def test_a_file_whose_state_cannot_be_had_may_have_been_there(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree.write("f", "g")
    scandir = os.scandir

    class Entry:
        name = "f"

        def is_dir(self, *, follow_symlinks: bool) -> bool:
            return False

        def is_symlink(self) -> bool:
            return False

        def stat(self, *, follow_symlinks: bool) -> os.stat_result:
            raise PermissionError(13, "Permission denied")

    def listed(path: str) -> Any:
        with scandir(path) as entries:
            found = [entry for entry in entries if entry.name != "f"]
        return contextlib.nullcontext([Entry(), *found])

    monkeypatch.setattr(os, "scandir", listed)
    assert tree.files() == {"g"}
    assert tree.passed_over("f", "g", "new") == {"f"}
    assert tree.passed_over(os.fsdecode(b"\xff")) == {os.fsdecode(b"\xff")}


def test_too_many_files_are_left_out(tree: Tree) -> None:
    tree.write(*(f"d/f{number}" for number in range(5)), "e/f", "d/d/f", "f")
    assert len(tree.files(most=5)) < 8
    assert tree.walk is not None
    assert set(tree.walk.left_out.values()) == {"is not looked at, because there are so many files"}
    assert str(tree.root / "d" / "d") in tree.walk.left_out
    assert tree.passed_over("d/d/new", "d/d/x/new", "d/new") == {"d/d/new", "d/d/x/new"}


def test_what_a_walk_would_not_have_seen(tree: Tree) -> None:
    tree.write(".gitignore", "d/f", "build/f", "d/.gitignore")
    (tree.root / ".gitignore").write_text("*.log\nbuild/\n")
    (tree.root / "d" / ".gitignore").write_text("secret\n")
    tree.folders()
    ignored = {
        "a.log",
        "d/a.log",
        "d/secret",
        "build/new",
        "build/x/new",
        "new/build/f",
        "d/node_modules/x/f",
        "d/secret/f",
    }
    # What is below a new folder is only ignored as far as the rules are known for it.
    ignored -= {"new/build/f"}
    seen = {"new", "d/new", "new/folder/new", "secret"}
    assert tree.passed_over(*ignored, *seen) == ignored
    assert tree.walk is not None
    assert tree.walk.passes_over(str(tree.root))
    assert tree.walk.passes_over(str(tree.root.parent / "elsewhere" / "deep" / "f"))
    walk = Walk(str(tree.root / "missing"), tree.ignoring, lambda _: {})
    assert list(walk.folders()) == []
    assert walk.passes_over(str(tree.root / "missing" / "f"))
    assert walk.left_out == {
        str(tree.root / "missing"): "cannot be read: no such file or directory"
    }


def test_rules_are_not_asked_again_for_what_was_walked(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree.write("walked", "new", ".gitignore")
    (tree.root / ".gitignore").write_text("walked\nnew\n")
    tree.known = {str(tree.root): {"walked": Entry(unseen(0), walked=True).packed()}}
    # In a first walk they are, and after a change of the rules.
    assert tree.files() == {".gitignore"}
    assert tree.files() == {"walked", ".gitignore"}
    (tree.root / ".gitignore").write_text("walked\nother\n")
    assert tree.files() == {"new", ".gitignore"}


# --- reading -------------------------------------------------------------------------


@pytest.mark.parametrize("size", [0, 1, 9, 10])
def test_a_file_is_read_with_the_state_that_it_had(tmp_path: Path, size: int) -> None:
    file = tmp_path / "f"
    file.write_bytes(b"x" * size)
    read = read_regular(str(file), 10)
    assert read is not None
    assert read[0] == b"x" * size
    assert read[1].st_mtime_ns == file.stat().st_mtime_ns


def test_what_is_not_read(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_bytes(b"x" * 11)
    assert read_regular(str(file), 10) is None
    assert read_regular(str(tmp_path), 10) is None
    (tmp_path / "link").symlink_to(file)
    with pytest.raises(OSError, match="link"):
        read_regular(str(tmp_path / "link"), 100)
    with pytest.raises(FileNotFoundError):
        read_regular(str(tmp_path / "missing"), 10)
    with pytest.raises(NotADirectoryError):
        read_regular(str(file / "f"), 10)


@pytest.mark.parametrize(
    ("pieces", "read"),
    [
        ([b"12", b"34", b""], b"1234"),
        ([b"12345", b"67890", b""], b"1234567890"),
        ([b"12345", b"67890x", b""], None),
        ([b"", b""], b""),
    ],
)
def test_a_file_may_grow_and_come_in_pieces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pieces: list[bytes], read: bytes | None
) -> None:
    (tmp_path / "f").write_bytes(b"12")
    coming = iter(pieces)
    monkeypatch.setattr(os, "read", lambda *_: next(coming))
    found = read_regular(str(tmp_path / "f"), 10)
    assert (found and found[0]) == read


# --- times ---------------------------------------------------------------------------


def test_what_changed_before_a_moment_is_not_young(tmp_path: Path) -> None:
    file = tmp_path / "f"
    for _ in range(5):
        file.write_bytes(b"before")
        before = file.stat()
        moment = next_moment()
        assert not is_young(before, moment)
        file.write_bytes(b"after")
        assert is_young(file.stat(), moment)


def test_a_moment_comes_when_the_clock_is_set_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time_ns", lambda: 2**62)
    assert next_moment() == 2**62 + 1


def test_a_moment_comes_without_a_ticking_clock_as_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(walking, "_TICKING_CLOCK", None)
    (tmp_path / "f").write_bytes(b"before")
    moment = next_moment()
    assert not is_young((tmp_path / "f").stat(), moment)
    assert moment <= time.time_ns()


def dated(mtime_ns: int, ctime_ns: int) -> os.stat_result:
    values = (stat.S_IFREG, 1, 0, 1, 0, 0, 0, 0, 0, 0)
    return os.stat_result(values, {"st_mtime_ns": mtime_ns, "st_ctime_ns": ctime_ns})


NOW_NS = 1_700_000_000 * SECOND_NS + 5


@pytest.mark.parametrize(
    ("ctime_ns", "young"),
    [
        (NOW_NS, True),
        (NOW_NS + SECOND_NS, True),
        (NOW_NS - 1, False),
        # A file system that keeps whole seconds: it may have been just now.
        (NOW_NS - 5, True),
        (NOW_NS - 5 - SECOND_NS, True),
        (NOW_NS - 5 - 2 * SECOND_NS, False),
    ],
)
def test_when_a_file_is_young(ctime_ns: int, young: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    # Any program may set the one time, and none the other.
    assert is_young(dated(NOW_NS - SECOND_NS * 1000, ctime_ns), NOW_NS) is young
    monkeypatch.setattr(walking, "_POSIX", False)
    assert is_young(dated(ctime_ns, 0), NOW_NS) is young


@pytest.mark.parametrize(
    ("mtime_s", "ctime_s", "fresh"),
    [
        (-100.0, -100.0, False),
        (-100.0, -1.0, True),
        (-1.0, -100.0, True),
        (1.0, -100.0, True),
        # A time that is far ahead was set, and whoever writes sets it back.
        (100.0, -100.0, False),
        (-100.0, 100.0, True),
    ],
)
def test_when_a_file_may_change_and_look_the_same(
    mtime_s: float, ctime_s: float, fresh: bool
) -> None:
    status = dated(NOW_NS + int(mtime_s * SECOND_NS), NOW_NS + int(ctime_s * SECOND_NS))
    assert is_fresh(status, NOW_NS) is fresh
