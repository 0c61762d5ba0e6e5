"""The watcher: real folders and the real watcher; scripted ones where the order is forced."""

from __future__ import annotations

import logging
import os
import queue
import shutil
import subprocess
import sys
import threading
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import anyio
import pytest

from acpls.client import hints, watching
from acpls.client.hints import Ground
from acpls.client.watching import Watching, open_notifier

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable, Iterator
    from pathlib import Path

pytestmark = pytest.mark.anyio


@pytest.fixture(params=[False, True] if sys.platform == "linux" else [False], autouse=True)
def has_inotify(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Where the system has inotify all is the same with it and without it."""
    has = bool(request.param)
    monkeypatch.setattr(watching, "_HAS_INOTIFY", has)
    return has


@dataclass
class Heard:
    """A listener that writes down what it hears."""

    ignored: set[str] = field(default_factory=set)
    paths: list[str] = field(default_factory=list)
    gone: set[str] = field(default_factory=set)
    roots: list[tuple[str, ...]] = field(default_factory=list)
    heads: list[str] = field(default_factory=list)
    news: anyio.Event = field(default_factory=anyio.Event)

    def folders(self, root: str, start: str | None = None) -> Iterator[str]:
        for folder, inner, _ in os.walk(start or root):
            inner[:] = sorted(set(inner) - self.ignored - {".git"})
            yield folder

    def is_ignored(self, path: str, roots: tuple[str, ...]) -> bool:
        return bool(self.ignored & set(path.split("/")))

    def changed(self, paths: Iterable[str], gone: frozenset[str]) -> None:
        self.paths += sorted(paths)
        self.gone |= gone
        self.news.set()

    def unsure(self, roots: tuple[str, ...]) -> None:
        self.roots.append(roots)
        self.news.set()

    def head_moved(self, root: str) -> None:
        self.heads.append(root)
        self.news.set()

    async def until(self, holds: Callable[[], object]) -> None:
        with anyio.fail_after(8):
            while not holds():
                self.news = anyio.Event()
                await self.news.wait()

    async def path(self, path: Path) -> None:
        await self.until(lambda: str(path) in self.paths)


@asynccontextmanager
async def hearing(*roots: Path, **how: Any) -> AsyncIterator[tuple[Heard, Watching]]:
    """A watcher of these roots that has begun."""
    heard = Heard()
    async with anyio.create_task_group() as tasks:
        it = Watching(tasks, heard, **how)
        try:
            if roots:
                it.watch(tuple(map(str, roots)))
                await heard.until(lambda: heard.roots)
                heard.roots.clear()
            yield heard, it
        finally:
            await it.aclose()


# --- what is told ------------------------------------------------------------------------------


async def test_files_that_come_change_and_go_are_told(tmp_path: Path) -> None:
    async with hearing(tmp_path) as (heard, _):
        for do in (
            lambda: (tmp_path / "a").write_text("1"),
            lambda: (tmp_path / "a").write_text("2"),
            lambda: (tmp_path / "a").chmod(0o600),
            (tmp_path / "a").unlink,
        ):
            heard.paths.clear()
            do()
            await heard.path(tmp_path / "a")
        assert heard.roots == []


async def test_a_file_that_is_renamed_is_told_under_both_names(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("1")
    async with hearing(tmp_path) as (heard, _):
        (tmp_path / "a").rename(tmp_path / "b")
        await heard.path(tmp_path / "a")
        await heard.path(tmp_path / "b")


async def test_reading_tells_nothing(tmp_path: Path) -> None:
    (tmp_path / "read").write_text("1")
    async with hearing(tmp_path) as (heard, _):
        (tmp_path / "read").read_text()
        (tmp_path / "written").write_text("1")
        await heard.path(tmp_path / "written")
        assert set(heard.paths) == {str(tmp_path / "written")}


async def test_what_is_ignored_is_dropped(tmp_path: Path) -> None:
    (tmp_path / "node_modules").mkdir()
    async with hearing(tmp_path) as (heard, _):
        heard.ignored.add("node_modules")
        (tmp_path / "node_modules" / "a").write_text("1")
        (tmp_path / "node_modules" / "new").mkdir()
        (tmp_path / "b").write_text("1")
        await heard.path(tmp_path / "b")
        assert set(heard.paths) == {str(tmp_path / "b")}
        assert heard.roots == []


async def test_a_folder_that_comes_leaves_its_root_unsure(tmp_path: Path) -> None:
    """A watcher hears of a folder too late to hear of what was put into it."""
    root, elsewhere = tmp_path / "root", tmp_path / "elsewhere"
    root.mkdir()
    (elsewhere / "sub").mkdir(parents=True)
    (elsewhere / "sub" / "f").write_text("1")
    async with hearing(root) as (heard, _):
        (root / "x" / "y").mkdir(parents=True)
        (root / "x" / "y" / "f").write_text("1")
        await heard.until(lambda: heard.roots)
        heard.roots.clear()
        elsewhere.rename(root / "moved")
        await heard.until(lambda: heard.roots)
        assert set(heard.roots) == {(str(root),)}
        assert str(root / "moved") not in heard.paths


async def test_a_folder_that_goes_is_told_by_its_name(tmp_path: Path) -> None:
    """Whoever knows what was in it can tell it from a file."""
    root = tmp_path / "root"
    (root / "sub").mkdir(parents=True)
    (root / "sub" / "f").write_text("1")
    async with hearing(root) as (heard, _):
        (root / "sub").rename(tmp_path / "away")
        await heard.path(root / "sub")
        assert heard.gone == {str(root / "sub")}


async def test_what_came_and_went_at_once_was_no_folder(tmp_path: Path) -> None:
    """So editors save a file: they write another one and rename it."""
    (tmp_path / "there").write_text("1")
    (tmp_path / "folder").mkdir()
    raw = {
        (hints.ADDED, str(tmp_path / "part")),
        (hints.DELETED, str(tmp_path / "part")),
        (hints.DELETED, str(tmp_path / "there")),
        (hints.DELETED, str(tmp_path / "gone")),
        (hints.MODIFIED, str(tmp_path / "changed")),
        (hints.MODIFIED, str(tmp_path / "folder")),
    }
    found = hints.sift(raw, Ground.of((str(tmp_path),)), lambda _: False)
    assert found.paths == {str(tmp_path / n) for n in ("part", "there", "gone", "changed")}
    assert found.gone == {str(tmp_path / "gone")}
    assert not found.is_unsure


async def test_a_large_burst_leaves_the_root_unsure_instead_of_naming_each(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    many = hints.MAX_PATHS + 1
    raw = {(hints.ADDED, str(tmp_path / "a" / str(number))) for number in range(many)}
    ground = Ground.of((str(tmp_path),))
    assert hints.sift(raw, ground, lambda _: False) == hints.Hints(is_unsure=True)
    assert hints.sift(raw, ground, lambda _: True) == hints.Hints()
    few = set(sorted(raw)[1:])
    assert len(hints.sift(few, ground, lambda _: False).paths) == hints.MAX_PATHS


async def test_thousands_of_files_at_once_are_told_or_their_root_is_unsure(tmp_path: Path) -> None:
    async with hearing(tmp_path) as (heard, _):
        for number in range(5000):
            (tmp_path / str(number)).write_text("1")
        everything = {str(tmp_path / str(number)) for number in range(5000)}
        await heard.until(lambda: heard.roots or everything <= set(heard.paths))
        (tmp_path / "last").write_text("1")
        await heard.until(lambda: str(tmp_path / "last") in heard.paths or len(heard.roots) > 1)


async def test_paths_are_spelled_as_their_root_was_given(tmp_path: Path) -> None:
    """Some systems tell paths without symbolic links, whatever they were asked to watch."""
    real = tmp_path / "real"
    real.mkdir()
    (tmp_path / "link").symlink_to(real)
    async with hearing(tmp_path / "link") as (heard, _):
        (real / "a").write_text("1")
        await heard.path(tmp_path / "link" / "a")
    ground = Ground.of((str(tmp_path / "link"),))
    assert ground.place(str(real / "a")) == (str(tmp_path / "link"), "a")
    assert ground.place(str(tmp_path / "link-2")) is None


async def test_a_root_in_a_root_is_the_one_that_counts(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    ground = Ground.of((str(tmp_path), str(tmp_path / "in")))
    assert ground.place(str(tmp_path / "in" / "a")) == (str(tmp_path / "in"), "a")
    assert Ground.of(("/",)).place("/a") == ("/", "a")


async def test_a_link_to_a_folder_is_not_gone_through(tmp_path: Path) -> None:
    """A folder with two names is told of by one of them; the one through a link is undone."""
    root, outside = tmp_path / "root", tmp_path / "outside"
    (root / "sub").mkdir(parents=True)
    outside.mkdir()
    (root / "link").symlink_to(root / "sub")
    (root / "out").symlink_to(outside)
    async with hearing(root) as (heard, _):
        (outside / "b").write_text("1")
        (root / "sub" / "a").write_text("1")
        await heard.path(root / "sub" / "a")
        assert set(heard.paths) == {str(root / "sub" / "a")}
    raw = {(hints.MODIFIED, str(root / name / "x")) for name in ("link", "out", "sub")}
    found = hints.sift(raw, Ground.of((str(root),)), lambda _: False)
    assert found.paths == {str(root / "sub" / "x")}


# --- repositories ------------------------------------------------------------------------------


def commit(git: Path, *changed: str) -> None:
    """Change files below the folder of a repository."""
    for name in changed:
        (git / name).parent.mkdir(parents=True, exist_ok=True)
        with (git / name).open("a") as file:
            file.write("x\n")


@pytest.mark.parametrize("name", ["HEAD", "logs/HEAD", "refs/heads/a/b", "packed-refs"])
async def test_a_commit_or_a_checkout_is_told_once(tmp_path: Path, name: str) -> None:
    git = tmp_path / ".git"
    commit(git, "HEAD", "logs/HEAD", "refs/heads/a/b", "objects/12/34", "index")
    async with hearing(tmp_path) as (heard, _):
        commit(git, "index", "objects/12/34", name, "refs/heads/c.lock")
        await heard.until(lambda: heard.heads)
        assert heard.heads == [str(tmp_path)]
        assert heard.paths == []


async def test_what_git_writes_besides_is_no_news(tmp_path: Path) -> None:
    commit(tmp_path / ".git", "HEAD")
    names = ("index", "index.lock", "refs/heads/a.lock", "refs/tags/a", "objects/1/2", "x/HEAD")
    raw = {(hints.ADDED, str(tmp_path / ".git" / name)) for name in names}
    assert hints.sift(raw, Ground.of((str(tmp_path),)), lambda _: False) == hints.Hints()


async def test_the_repository_may_begin_above_the_root(tmp_path: Path) -> None:
    commit(tmp_path / ".git", "HEAD", "logs/HEAD")
    (tmp_path / "sub").mkdir()
    async with hearing(tmp_path / "sub") as (heard, _):
        (tmp_path / "a").write_text("1")
        commit(tmp_path / ".git", "logs/HEAD")
        await heard.until(lambda: heard.heads)
        assert heard.heads == [str(tmp_path / "sub")]
        assert heard.paths == []


async def test_the_repository_may_lie_elsewhere(tmp_path: Path) -> None:
    """A working tree beside another, or a submodule, has a file that says where."""
    tree = tmp_path / "tree"
    tree.mkdir()
    commit(tmp_path / "main", "worktrees/tree/logs/HEAD", "logs/HEAD")
    (tree / ".git").write_text("gitdir: ../main/worktrees/tree\n")
    async with hearing(tree) as (heard, _):
        commit(tmp_path / "main", "worktrees/tree/logs/HEAD")
        await heard.until(lambda: heard.heads)
        assert heard.heads == [str(tree)]


@pytest.mark.parametrize("content", ["", "gitdir: /nowhere", "\0\0\0", "gitdir: \0", "gitdir: .."])
async def test_a_strange_file_in_place_of_the_repository_is_harmless(
    tmp_path: Path, content: str
) -> None:
    (tmp_path / ".git").write_text(content)
    async with hearing(tmp_path) as (heard, _):
        (tmp_path / "a").write_text("1")
        await heard.path(tmp_path / "a")


# --- scripted ----------------------------------------------------------------------------------


class Script:
    """A watcher that tells what it is told to."""

    def __init__(self, order: list[str], name: str) -> None:
        self._told: queue.Queue[set[tuple[int, str]] | str | Exception] = queue.Queue()
        self._order = order
        self._name = name

    def tell(self, *paths: Path) -> None:
        self._told.put({(hints.MODIFIED, str(path)) for path in paths})

    def say(self, word: str) -> None:
        self._told.put(word)

    def fail(self, problem: Exception) -> None:
        self._told.put(problem)

    def watch(
        self, debounce_ms: int, step_ms: int, timeout_ms: int, stop: threading.Event, /
    ) -> set[tuple[int, str]] | str:
        while not stop.is_set():
            try:
                told = self._told.get(timeout=0.01)
            except queue.Empty:
                continue
            if isinstance(told, Exception):
                raise told
            return told
        return "stop"

    def close(self) -> None:
        self._order.append(f"close {self._name}")


class Opener:
    """Makes scripted watchers; may be told to wait or to fail first."""

    def __init__(self) -> None:
        self.order: list[str] = []
        self.made: list[Script] = []
        self.gates: list[threading.Event] = []
        self.problems: list[Exception | None] = []

    def __call__(self, roots: tuple[str, ...], _: object) -> tuple[Ground, Script]:
        name = str(len(self.order))
        if self.gates:
            self.gates.pop(0).wait(8)
        if self.problems and (problem := self.problems.pop(0)) is not None:
            self.order.append(f"fail {name}")
            raise problem
        self.order.append(f"open {name}")
        self.made.append(Script(self.order, name))
        return Ground.of(roots), self.made[-1]


async def gone(it: Watching) -> None:
    """Wait until nothing is watched any more."""
    with anyio.fail_after(8):
        while it._turns:
            await it._turns[0].done.wait()


async def test_another_set_is_watched_before_the_old_one_is_ended(tmp_path: Path) -> None:
    one, two, both = tmp_path / "1", tmp_path / "2", tmp_path
    one.mkdir()
    two.mkdir()
    opener = Opener()
    async with hearing(both, opened=opener) as (heard, it):
        gate = threading.Event()
        opener.gates.append(gate)
        it.watch((str(two),))
        opener.made[0].tell(one / "a", two / "a")
        # The old one still tells, but only of what is wanted.
        await heard.path(two / "a")
        gate.set()
        await heard.until(lambda: heard.roots)
        # What happened in between is looked for.
        assert heard.roots == [(str(two),)]
        opener.made[1].tell(two / "b")
        await heard.path(two / "b")
        assert heard.paths == [str(two / "a"), str(two / "b")]
        assert opener.order[:2] == ["open 0", "open 1"]
        assert set(opener.order[2:]) == {"close 0"}


async def test_the_last_of_many_sets_wins(tmp_path: Path) -> None:
    for name in "abc":
        (tmp_path / name).mkdir()
    async with hearing(tmp_path) as (heard, it):
        for name in "abcab":
            it.watch((str(tmp_path / name),))
        # Each that begins leaves the roots unsure, the last one when there is no other any more.
        await heard.until(lambda: heard.roots and len(it._turns) == 1)
        assert heard.roots[-1] == (str(tmp_path / "b"),)
        for name in "abc":
            (tmp_path / name / "f").write_text("1")
        await heard.path(tmp_path / "b" / "f")
        assert set(heard.paths) == {str(tmp_path / "b" / "f")}
        assert len(it._turns) == 1


async def test_the_same_set_again_changes_nothing_and_none_ends_it(tmp_path: Path) -> None:
    opener = Opener()
    async with hearing(tmp_path, opened=opener) as (heard, it):
        it.watch((str(tmp_path),))
        opener.made[0].tell(tmp_path / "a")
        await heard.path(tmp_path / "a")
        assert opener.order == ["open 0"]
        it.watch(())
        await gone(it)
        assert set(opener.order) == {"open 0", "close 0"}
        it.watch((str(tmp_path),))
        await heard.until(lambda: heard.roots)
        assert len(opener.made) == 2


async def test_heads_that_move_fast_are_told_at_a_pace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "HEAD_PAUSE_S", 0.05)
    opener = Opener()
    async with hearing(tmp_path, opened=opener) as (heard, _):
        head = tmp_path / ".git" / "HEAD"
        for number in range(5):
            opener.made[0].tell(head, tmp_path / str(number))
        await heard.path(tmp_path / "4")
        await heard.until(lambda: heard.heads)
        told = len(heard.heads)
        assert told < 5
        opener.made[0].tell(head)
        await heard.until(lambda: len(heard.heads) > told)


async def test_more_than_can_be_told_leaves_everything_unsure(tmp_path: Path) -> None:
    opener = Opener()
    async with hearing(tmp_path, opened=opener) as (heard, _):
        opener.made[0].say("timeout")
        opener.made[0].tell(tmp_path / "a")
        await heard.path(tmp_path / "a")
        assert heard.roots == []
        opener.made[0].say("overflow")
        await heard.until(lambda: heard.heads and heard.roots)
        assert heard.roots == [(str(tmp_path),)]
        assert heard.heads == [str(tmp_path)]


async def test_closing_forgets_the_head_that_was_to_be_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "HEAD_PAUSE_S", 60.0)
    opener = Opener()
    async with hearing(tmp_path, opened=opener) as (heard, _):
        opener.made[0].tell(tmp_path / ".git" / "HEAD", tmp_path / "a")
        await heard.path(tmp_path / "a")
    assert heard.heads == []


# --- faults ------------------------------------------------------------------------------------


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [r.getMessage() for r in caplog.records if r.levelno >= logging.WARNING]


async def test_a_watcher_that_cannot_be_started_is_one_line_in_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    opener = Opener()
    opener.problems += [OSError("OS file watch limit reached"), ImportError("no watchfiles")]
    async with hearing(opened=opener) as (heard, it):
        for _ in range(2):
            it.watch((str(tmp_path),))
            await gone(it)
        assert heard.roots == []
        (line,) = warnings(caplog)
        assert "OS file watch limit reached" in line
        # Whoever wishes for it again gets another try.
        it.watch((str(tmp_path),))
        await heard.until(lambda: heard.roots)


@pytest.mark.parametrize("often", [4, 5])
async def test_a_folder_that_goes_while_the_watcher_starts_is_no_reason_to_give_up(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, often: int
) -> None:
    opener = Opener()
    opener.problems += [FileNotFoundError(2, "No path was found.")] * often
    async with hearing(opened=opener, retry_s=0.001) as (heard, it):
        it.watch((str(tmp_path),))
        await (heard.until(lambda: heard.roots) if often == 4 else gone(it))
        assert len(opener.made) == (often == 4)
        assert len(warnings(caplog)) == (often == 5)


async def test_when_two_at_a_time_are_too_many_the_old_one_makes_room(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "a").mkdir()
    opener = Opener()
    async with hearing(tmp_path, opened=opener) as (heard, it):
        opener.problems.append(OSError("OS file watch limit reached"))
        it.watch((str(tmp_path / "a"),))
        await heard.until(lambda: heard.roots)
        order = list(dict.fromkeys(opener.order))
        assert [step.split()[0] for step in order] == ["open", "fail", "close", "open"]
        assert warnings(caplog) == []


async def test_a_watcher_that_breaks_is_one_line_in_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    opener = Opener()
    async with hearing(tmp_path, opened=opener) as (_, it):
        opener.made[0].fail(RuntimeError("it broke"))
        await gone(it)
        (line,) = warnings(caplog)
        assert line.endswith("it broke")


async def test_a_root_that_is_not_there_yet_is_waited_for(tmp_path: Path) -> None:
    late = tmp_path / "late"
    async with hearing(late, retry_s=0.01) as (heard, _):
        late.mkdir()
        await heard.until(lambda: heard.roots)
        (late / "a").write_text("1")
        await heard.path(late / "a")


async def test_a_root_beside_one_that_is_missing_is_watched_and_the_other_later(
    tmp_path: Path,
) -> None:
    here, late = tmp_path / "here", tmp_path / "late"
    here.mkdir()
    async with hearing(here, late) as (heard, _):
        (here / "a").write_text("1")
        await heard.path(here / "a")
        late.mkdir()
        await heard.until(lambda: heard.roots)
        (late / "b").write_text("1")
        await heard.path(late / "b")


@pytest.mark.parametrize("how", ["removed", "moved"])
async def test_a_root_that_vanishes_leaves_it_unsure_and_may_come_again(
    tmp_path: Path, how: str
) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (root / "a").write_text("1")
    async with hearing(root, retry_s=0.01) as (heard, _):
        if how == "removed":
            shutil.rmtree(root)
        else:
            root.rename(tmp_path / "away")
        await heard.until(lambda: heard.roots)
        heard.roots.clear()
        root.mkdir()
        await heard.until(lambda: heard.roots)
        (root / "b").write_text("1")
        await heard.path(root / "b")


async def test_a_folder_that_may_not_be_read_does_not_spoil_the_rest(tmp_path: Path) -> None:
    (tmp_path / "secret").mkdir(mode=0o000)
    async with hearing(tmp_path) as (heard, _):
        (tmp_path / "a").write_text("1")
        await heard.path(tmp_path / "a")
    (tmp_path / "secret").chmod(0o700)


# --- the end -----------------------------------------------------------------------------------


# By itself in a process: threads of other tests take a moment to end.
COUNTING = """
import sys, threading
import anyio, psutil
from acpls.client import watching
from acpls.client.watching import Watching

def foreign():
    return psutil.Process().num_threads() - threading.active_count()

class Heard:
    def __init__(self): self.begun = anyio.Event()
    def unsure(self, roots): self.begun.set()
    def folders(self, root, start=None): return [root]

watching._HAS_INOTIFY = "inotify" in sys.argv
async def main():
    counted = [foreign()]
    async with anyio.create_task_group() as tasks:
        heard = Heard()
        it = Watching(tasks, heard)
        it.watch((sys.argv[1],))
        await heard.begun.wait()
        counted.append(foreign())
        with anyio.fail_after(1):
            await it.aclose()
        with anyio.fail_after(5):
            while foreign() > counted[0]:
                await anyio.to_thread.run_sync(foreign)
    print(*counted)

anyio.run(main)
"""


def test_closing_leaves_no_thread_of_the_watcher(tmp_path: Path, has_inotify: bool) -> None:
    """Its own, where it has one, is none that Python started."""
    how = "inotify" if has_inotify else "watchfiles"
    command = [sys.executable, "-c", COUNTING, str(tmp_path), how]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    assert ran.stdout == ("0 0\n" if has_inotify else "0 1\n")


async def test_closing_does_not_wait_for_a_start_that_takes_long(tmp_path: Path) -> None:
    gate = threading.Event()
    opener = Opener()
    opener.gates.append(gate)
    async with hearing(opened=opener) as (heard, it):
        it.watch((str(tmp_path),))
        await anyio.lowlevel.checkpoint()
        with anyio.fail_after(1):
            await it.aclose()
        assert heard.roots == []
        gate.set()


async def test_being_cancelled_ends_it_as_well(tmp_path: Path) -> None:
    heard = Heard()
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            it = Watching(tasks, heard)
            it.watch((str(tmp_path),))
            await heard.until(lambda: heard.roots)
            cancelled_s = anyio.current_time()
            tasks.cancel_scope.cancel()
    assert it._turns == []
    # Nobody waits until the watcher looks up by itself.
    assert anyio.current_time() - cancelled_s < watching._TIMEOUT_MS / 2000


def test_watchfiles_is_not_imported_before_it_is_used() -> None:
    code = "import sys, acpls.client.host, acpls.client.watching; print(*sys.modules)"
    modules = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert "acpls.client.watching" in modules
    assert "watchfiles" not in modules


def test_nothing_is_opened_where_no_root_is(tmp_path: Path) -> None:
    ground, notifier = open_notifier((str(tmp_path / "no"), "", "."), lambda *_: ())
    assert notifier is None
    assert ground == Ground((), (), (str(tmp_path / "no"),))
