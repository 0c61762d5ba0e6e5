"""The inotify of Linux: what is watched, what is told of it, and what is not."""

from __future__ import annotations

import ctypes
import errno
import gc
import logging
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import pytest

from acpls.client import inotify
from acpls.client.hints import ADDED, DELETED, MODIFIED
from acpls.client.ignoring import Ignoring
from acpls.client.inotify import Inotify
from acpls.client.watching import open_notifier
from git_repository import Repository

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.needs("inotify", found=sys.platform == "linux")

Told = set[tuple[int, str]]


class Watched:
    """A root that is watched, and what was told of it since it was last asked."""

    def __init__(self, root: Path, *inner: str) -> None:
        self.root = root
        self.ignoring = Ignoring()
        self.stop = threading.Event()
        roots = (str(root), *(str(root / name) for name in inner))
        self.it = Inotify(roots, (), self.ignoring.folders)

    def told(self) -> Told:
        """All that was told by now, with names in the root."""
        found: Told = set()
        while not isinstance(raw := self.it.watch(1, 1, 0, self.stop), str):
            found |= raw
        assert raw == "timeout"
        return {(kind, os.path.relpath(path, self.root)) for kind, path in found}

    @property
    def folders(self) -> set[str]:
        return {os.path.relpath(folder, self.root) for folder in self.it._numbers}

    def write(self, name: str, text: str = "1") -> Path:
        file = self.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Watched]:
    root = tmp_path / "root"
    (root / "d" / "e").mkdir(parents=True)
    (root / "build").mkdir()
    (root / ".gitignore").write_text("build/\n")
    it = Watched(root)
    yield it
    it.it.close()


def test_what_happens_to_files_is_told(watched: Watched) -> None:
    file = watched.write("d/e/f")
    assert watched.told() == {(ADDED, "d/e/f"), (MODIFIED, "d/e/f")}
    file.read_text()
    list((watched.root / "d").iterdir())
    assert watched.told() == set()
    with file.open("a") as opened:
        opened.write("2")
        opened.flush()
        assert watched.told() == {(MODIFIED, "d/e/f")}
    file.chmod(0o600)
    assert watched.told() == {(MODIFIED, "d/e/f")}
    file.rename(watched.root / "g\nh")
    assert watched.told() == {(DELETED, "d/e/f"), (ADDED, "g\nh")}
    (watched.root / "g\nh").unlink()
    assert watched.told() == {(DELETED, "g\nh")}
    (watched.root / "link").symlink_to("d")
    watched.write("link/f")
    assert watched.told() >= {(ADDED, "link"), (ADDED, "d/f")}


def test_what_is_ignored_is_not_watched(watched: Watched) -> None:
    """D53: a build, or packages that are installed, must not cost anything."""
    assert watched.folders == {".", "d", "d/e"}
    watched.write("build/f")
    watched.write("d/build/f")
    watched.write("node_modules/a/f")
    told = watched.told()
    assert not any(path.startswith(("build/", "node_modules/")) for _, path in told)
    assert watched.folders == {".", "d", "d/e"}
    # What the rules say may change, and then other folders are meant.
    watched.write(".gitignore", "e\n")
    watched.told()
    assert watched.folders == {".", "d", "build", "d/build"}
    watched.write("build/g")
    watched.write("d/e/g")
    assert {path for _, path in watched.told()} == {"build/g"}


def test_folders_that_come_are_watched_with_all_that_is_in_them(
    watched: Watched, tmp_path: Path
) -> None:
    watched.write("new/a/b/f")
    (tmp_path / "tree" / "c").mkdir(parents=True)
    (tmp_path / "tree").rename(watched.root / "tree")
    (watched.root / "d").rename(watched.root / "moved")
    told = watched.told()
    assert {(ADDED, "new"), (ADDED, "tree"), (DELETED, "d"), (ADDED, "moved")} <= told
    inner = {"new", "new/a", "new/a/b", "tree", "tree/c", "moved", "moved/e"}
    assert watched.folders == {".", *inner}
    for name in inner:
        watched.write(f"{name}/g")
    assert {path for _, path in watched.told()} == {f"{name}/g" for name in inner}


def test_folders_that_go_are_not_watched_any_more(watched: Watched, tmp_path: Path) -> None:
    (watched.root / "d").rename(tmp_path / "away")
    assert watched.told() == {(DELETED, "d")}
    (tmp_path / "away" / "e" / "f").write_text("1")
    assert watched.told() == set()
    watched.write("d/e/f")
    watched.told()
    shutil.rmtree(watched.root / "d")
    assert (DELETED, "d") in watched.told()
    assert watched.folders == {"."}
    # The name may be that of another one before it is told that the old one went.
    held = os.open(watched.root, os.O_RDONLY)
    try:
        for number in range(3):
            (watched.root / "d").mkdir()
            inner = os.open(watched.root / "d", os.O_RDONLY)
            watched.told()
            (watched.root / "d").rmdir()
            (watched.root / "d").mkdir()
            watched.told()
            watched.write(f"d/{number}")
            assert (ADDED, f"d/{number}") in watched.told()
            os.close(inner)
            shutil.rmtree(watched.root / "d")
            watched.told()
    finally:
        os.close(held)
    assert watched.folders == {"."}


def test_an_empty_folder_may_be_replaced_by_another(watched: Watched) -> None:
    (watched.root / "a").mkdir()
    (watched.root / "b" / "c").mkdir(parents=True)
    watched.told()
    (watched.root / "b").rename(watched.root / "a")
    watched.told()
    watched.write("a/f")
    watched.write("a/c/f")
    assert {path for _, path in watched.told()} == {"a/f", "a/c/f"}
    assert watched.folders == {".", "d", "d/e", "a", "a/c"}


def test_a_root_in_an_ignored_folder_and_one_in_another(tmp_path: Path) -> None:
    (tmp_path / "node_modules" / "mine" / "d").mkdir(parents=True)
    (tmp_path / "a" / "b").mkdir(parents=True)
    it = Watched(tmp_path, "node_modules/mine", "a")
    try:
        assert it.folders == {".", "a", "a/b", "node_modules/mine", "node_modules/mine/d"}
        it.write("node_modules/mine/e/f")
        it.write("a/c/f")
        it.write("node_modules/other/f")
        it.told()
        assert it.folders >= {"a/c", "node_modules/mine/e"}
        assert "node_modules/other" not in it.folders
    finally:
        it.it.close()


@pytest.mark.needs("git")
def test_of_a_repository_its_head_is_watched(watched: Watched) -> None:
    repository = Repository(watched.root)
    watched.write("f")
    watched.told()
    repository.commit("f")
    repository.git("checkout", "-q", "-b", "a/b")
    paths = {path for _, path in watched.told()}
    assert paths >= {".git/HEAD", ".git/logs"}
    assert watched.folders >= {".git", ".git/logs", ".git/refs/heads", ".git/refs/heads/a"}
    assert ".git/objects" not in watched.folders
    watched.write("f", "2")
    repository.commit("f")
    paths = {path for _, path in watched.told()}
    assert paths >= {"f", ".git/logs/HEAD", ".git/refs/heads/a/b"}
    watched.write(".git/objects/x")
    watched.told()
    assert not any(folder.startswith(".git/objects") for folder in watched.folders)


def test_all_of_a_folder_that_lies_elsewhere_is_watched(tmp_path: Path) -> None:
    root, heads = tmp_path / "root", tmp_path / "git" / "refs" / "heads"
    root.mkdir()
    (heads / "a").mkdir(parents=True)
    it = Inotify((str(root),), (str(heads),), Ignoring().folders)
    try:
        (heads / "b" / "node_modules").mkdir(parents=True)
        it.watch(1, 1, 0, threading.Event())
        names = {os.path.relpath(folder, heads) for folder in it._numbers}
        assert names >= {".", "a", "b", "b/node_modules"}
    finally:
        it.close()


def test_a_root_that_goes_is_told(tmp_path: Path) -> None:
    for how in ("removed", "moved"):
        root = tmp_path / how
        root.mkdir()
        it = Watched(root)
        if how == "removed":
            root.rmdir()
        else:
            root.rename(tmp_path / "away")
        assert (DELETED, ".") in it.told()
        it.it.close()
        it.it.close()


# --- limits ------------------------------------------------------------------------------------


def test_more_than_can_be_told_is_said_and_everything_is_watched_again(
    watched: Watched, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    read = os.read

    def full(descriptor: int, size: int) -> bytes:
        data = read(descriptor, size)
        monkeypatch.setattr(os, "read", read)
        assert data
        # The folder that came is in what was lost.
        return inotify._EVENT.pack(-1, inotify._OVERFLOW, 0, 0)

    watched.write("new/d/f")
    (watched.root / "d").rename(tmp_path / "away")
    watched.write("d/f")
    monkeypatch.setattr(os, "read", full)
    assert watched.it.watch(1, 1, 1000, watched.stop) == "overflow"
    assert watched.folders >= {"new", "new/d"}
    watched.write("new/d/g")
    watched.write("d/g")
    (tmp_path / "away" / "other").write_text("1")
    told = watched.told()
    assert told >= {(ADDED, "new/d/g"), (ADDED, "d/g")}
    assert not any("other" in path for _, path in told)


def test_so_many_changes_come_in_pieces(watched: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inotify, "_READ_BYTES", 512)
    for number in range(200):
        watched.write(f"d/{number}")
    first = watched.it.watch(1, 1, 1000, watched.stop)
    assert not isinstance(first, str)
    assert 0 < len(first) < 400
    rest = {path for _, path in watched.told()}
    told = {os.path.relpath(path, watched.root) for _, path in first} | rest
    assert told == {f"d/{number}" for number in range(200)}


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [r.getMessage() for r in caplog.records if r.levelno >= logging.WARNING]


def test_of_very_many_folders_the_nearest_are_watched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("a/b/c", "d"):
        (tmp_path / name).mkdir(parents=True)
    monkeypatch.setattr(inotify, "MAX_FOLDERS", 3)
    it = Watched(tmp_path)
    try:
        assert it.folders == {".", "a", "d"}
        (line,) = warnings(caplog)
        assert line.startswith(f"only 3 folders of {tmp_path} are watched, so that other changes")
        it.write("new/e/f")
        it.told()
        assert it.folders == {".", "a", "d"}
        shutil.rmtree(tmp_path / "d")
        it.told()
        it.write("late/e/f")
        it.told()
        assert it.folders == {".", "a", "late"}
        assert len(warnings(caplog)) == 1
    finally:
        it.it.close()


def test_what_the_system_does_not_allow_is_left_out(
    watched: Watched, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("new", "other"):
        (watched.root / name).mkdir()

    def refuse(*_: object) -> int:
        ctypes.set_errno(errno.ENOSPC)
        return -1

    with monkeypatch.context() as patch:
        patch.setattr(watched.it, "_system", type("System", (), {"inotify_add_watch": refuse})())
        watched.told()
    assert watched.folders == {".", "d", "d/e"}
    (line,) = warnings(caplog)
    assert line.startswith("the system lets 3 folders be watched and no more, so that other")
    watched.write("d/f")
    assert (ADDED, "d/f") in watched.told()


def test_a_watcher_that_the_system_does_not_give(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class System:
        def __init__(self, *_: object, **__: object) -> None:
            ctypes.set_errno(errno.EMFILE)

        def inotify_init1(self, _: int) -> int:
            return -1

    monkeypatch.setattr(ctypes, "CDLL", System)
    with pytest.raises(OSError, match="Too many open files"):
        open_notifier((str(tmp_path),), Ignoring().folders)


def test_where_there_is_no_such_thing_watchfiles_does_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda *_, **__: object())
    _, notifier = open_notifier((str(tmp_path),), Ignoring().folders)
    assert notifier is not None
    assert not isinstance(notifier, Inotify)
    notifier.close()


def descriptors() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def test_a_root_that_goes_in_the_last_moment_is_said_to_be_missing(tmp_path: Path) -> None:
    gc.collect()
    before = descriptors()
    with pytest.raises(FileNotFoundError):
        Inotify((str(tmp_path / "no"),), (), Ignoring().folders)
    assert descriptors() == before


# --- the end -----------------------------------------------------------------------------------


def test_whoever_waits_comes_back_when_it_is_closed(watched: Watched) -> None:
    told: list[Any] = []

    def wait() -> None:
        told.append(watched.it.watch(50, 50, 60_000, watched.stop))

    thread = threading.Thread(target=wait)
    thread.start()
    while not watched.it._is_waiting:
        thread.join(0.001)
    watched.it.close()
    thread.join(5)
    assert told == ["stop"]
    assert watched.it.watch(50, 50, 60_000, watched.stop) == "stop"


def test_nobody_waits_for_the_rest_of_a_burst_when_it_ends(watched: Watched) -> None:
    watched.write("f")
    watched.stop.set()
    assert watched.it.watch(60_000, 1, 1000, watched.stop) == "stop"


@pytest.mark.anyio
async def test_the_loop_goes_on_while_it_begins(tmp_path: Path) -> None:
    """Nothing that it calls keeps other threads from running."""
    for number in range(2000):
        (tmp_path / f"{number % 50}" / str(number)).mkdir(parents=True)
    ticks = 0
    done = anyio.Event()

    async def tick() -> None:
        nonlocal ticks
        while not done.is_set():
            await anyio.lowlevel.checkpoint()
            ticks += 1

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(tick)
        it = await anyio.to_thread.run_sync(lambda: Watched(tmp_path))
        done.set()
    assert len(it.folders) == 2051
    assert ticks > 50
    it.it.close()


@pytest.mark.parametrize("how", ["closed", "cancelled"])
def test_ending_a_start_that_takes_long_leaves_nothing_open(tmp_path: Path, how: str) -> None:
    code = """
import os, sys, threading, anyio
from acpls.client.watching import Watching
gate, begun = threading.Event(), threading.Event()
class Heard:
    def folders(self, root, start=None):
        yield root
        begun.set()
        gate.wait(10)
    def unsure(self, roots): pass
async def main():
    before = len(os.listdir("/proc/self/fd"))
    async with anyio.create_task_group() as tasks:
        it = Watching(tasks, Heard())
        it.watch((sys.argv[1],))
        await anyio.to_thread.run_sync(begun.wait)
        with anyio.fail_after(1):
            if sys.argv[2] == "closed":
                await it.aclose()
            else:
                tasks.cancel_scope.cancel()
    gate.set()
    for thread in threading.enumerate():
        if thread is not threading.main_thread() and thread.name == "AnyIO worker thread":
            await anyio.to_thread.run_sync(lambda: None)
    while len(os.listdir("/proc/self/fd")) > before:
        await anyio.to_thread.run_sync(lambda: None)
    print("closed")
anyio.run(main)
"""
    command = [sys.executable, "-c", code, str(tmp_path), how]
    ran = subprocess.run(command, capture_output=True, text=True, check=True, timeout=15)
    assert ran.stdout == "closed\n"
