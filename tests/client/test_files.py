"""The files of a host: what is told of them, in which order, and what no fault may spoil."""

from __future__ import annotations

import os
import shutil
import stat
import sys
import threading
import time
from collections import Counter
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import anyio
import psutil
import pytest

from acpls.client import disk, git
from acpls.client.baselines import Baselines, Walked
from acpls.client.files import Files
from acpls.client.filework import _PLACES
from acpls.client.lanes import THREADS
from acpls.effects import (
    CompareWithHead,
    LoadReview,
    ReadFile,
    ReadStored,
    StoreReview,
    SyncFiles,
    WatchFiles,
    WriteFile,
)
from acpls.events import (
    UTF_8,
    FileNoticed,
    FileRead,
    FilesSynced,
    FileWritten,
    Form,
    HeadCompared,
    HeadMoved,
    ReviewLoaded,
    StoredRead,
)
from acpls.text.codec import decode

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

pytestmark = pytest.mark.anyio

EventT = TypeVar("EventT")

PAUSE = "import signal; signal.pause()"


@dataclass
class Desk:
    """Files, the root that they work in, and everything that was told so far."""

    root: Path
    files: Files = field(init=False)
    events: list[Any] = field(default_factory=list)
    news: anyio.Event = field(default_factory=anyio.Event)

    def take(self, event: object) -> None:
        self.events.append(event)
        self.news.set()

    @property
    def roots(self) -> tuple[str, ...]:
        return (str(self.root),)

    def read(self, name: str, token: object = "read") -> None:
        self.files.perform(ReadFile(token, str(self.root / name), self.roots))

    def write(self, name: str, text: str | None, token: object = "write", **how: Any) -> None:
        self.files.perform(WriteFile(token, str(self.root / name), text, self.roots, **how))

    def watch(self) -> None:
        self.files.perform(WatchFiles(self.roots))

    def sync(self, token: object = "sync", roots: tuple[str, ...] | None = None) -> None:
        self.files.perform(SyncFiles(token, roots or self.roots))

    async def synced(self, token: object = "sync") -> FilesSynced:
        self.sync(token)
        return await self.until(lambda: [e for e in self.of(FilesSynced) if e.token == token])

    def of(self, kind: type[EventT]) -> list[EventT]:
        return [event for event in self.events if isinstance(event, kind)]

    async def wait(self, kind: type[EventT], count: int = 1) -> EventT:
        return await self.until(lambda: self.of(kind)[count - 1 :])

    async def until(self, found: Callable[[], list[EventT]]) -> EventT:
        with anyio.fail_after(8):
            while not (hits := found()):
                self.news = anyio.Event()
                await self.news.wait()
        return hits[0]

    def noticed(self) -> dict[str, tuple[str | None, str | None]]:
        """What each file was and is, as it was last told without being asked for."""
        return {
            Path(e.disk.path).relative_to(self.root).as_posix(): (
                None if e.earlier.disk is None else e.earlier.disk.text,
                e.disk.text,
            )
            for e in self.of(FileNoticed)
        }

    async def notices(self, wanted: dict[str, tuple[str | None, str | None]]) -> None:
        await self.until(lambda: [1] if wanted.items() <= self.noticed().items() else [])


@asynccontextmanager
async def desk(folder: Path, state: Path | None = None) -> AsyncIterator[Desk]:
    """Files with a root, and with a folder for what lasts."""
    root = folder / "root"
    root.mkdir(exist_ok=True)
    async with anyio.create_task_group() as tasks:
        it = Desk(root)
        it.files = Files(tasks, it.take, state or folder / "state")
        try:
            yield it
        finally:
            await it.files.aclose()


# --- reading and writing -----------------------------------------------------------------------


async def test_a_read_tells_what_the_file_was_when_it_was_last_told_of(tmp_path: Path) -> None:
    async with desk(tmp_path) as it:
        file = it.root / "a"
        file.write_text("one\ntwo\n")
        it.read("a")
        assert (await it.wait(FileRead)).earlier.how == "first"
        it.read("a")
        assert (await it.wait(FileRead, 2)).earlier.how == "same"
        file.write_text("one\n2\n")
        it.read("a")
        third = await it.wait(FileRead, 3)
        assert third.disk.text == "one\n2\n"
        assert third.earlier.how == "store"
        assert third.earlier.disk is not None
        assert third.earlier.disk.text == "one\ntwo\n"
        assert third.earlier.hunks is not None
        assert [(h.old, h.new) for h in third.earlier.hunks] == [(("two\n",), ("2\n",))]


async def test_a_write_tells_what_others_made_of_the_file_before_it(tmp_path: Path) -> None:
    async with desk(tmp_path) as it:
        (it.root / "a").write_text("ours")
        it.read("a")
        await it.wait(FileRead)
        (it.root / "a").write_text("theirs")
        it.write("a", "written")
        written = await it.wait(FileWritten)
        assert written.problem is None
        assert written.before.text == "theirs"
        assert written.earlier.disk is not None
        assert written.earlier.disk.text == "ours"
        assert written.after is not None
        assert written.after.text == "written"
        # What was written is what was told.
        it.read("a")
        assert (await it.wait(FileRead, 2)).earlier.how == "same"
        await it.synced()
        assert it.of(FileNoticed) == []


async def test_a_write_that_is_refused_tells_what_others_did_all_the_same(tmp_path: Path) -> None:
    async with desk(tmp_path) as it:
        (it.root / "a").write_text("one")
        it.read("a")
        content = (await it.wait(FileRead)).disk.content
        (it.root / "a").write_text("two")
        it.write("a", "three", expected=content)
        written = await it.wait(FileWritten)
        assert written.problem == "has changed on disk"
        assert written.earlier.changed
        assert (it.root / "a").read_text() == "two"
        it.read("a")
        assert (await it.wait(FileRead, 2)).earlier.how == "same"


async def test_stored_bytes_are_written_back_as_they_were(tmp_path: Path) -> None:
    data = b"\x00\xff\r\nno text"
    async with desk(tmp_path) as it:
        (it.root / "a").write_bytes(data)
        await it.synced()
        (it.root / "a").unlink()
        await it.synced(2)
        before = it.of(FileNoticed)[0].earlier.disk
        assert before is not None
        it.write("a", None, expected=None, stored=before.content)
        assert (await it.wait(FileWritten)).problem is None
        assert (it.root / "a").read_bytes() == data


async def test_bytes_that_are_not_stored_are_not_written(tmp_path: Path) -> None:
    async with desk(tmp_path) as it:
        (it.root / "a").write_text("kept")
        it.write("a", None, stored="0" * 64)
        problem = (await it.wait(FileWritten)).problem
        assert problem == "cannot be restored: its text is not stored any more"
        assert (it.root / "a").read_text() == "kept"


async def test_a_bug_in_the_store_is_as_if_nothing_were_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def trip(*_: object) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr("acpls.client.store.Store.get", trip)
    async with desk(tmp_path) as it:
        it.files.perform(ReadStored("stored", (("0" * 64, UTF_8),)))
        assert await it.wait(StoredRead) == StoredRead("stored", {})


async def test_stored_texts_are_given_back_in_their_form(tmp_path: Path) -> None:
    forms = {
        "a": (Form("utf-16-le", bom=True), "\ufeffé\r\n".encode("utf-16-le"), "é\r\n"),
        "b": (Form("iso8859-1"), b"\xe9", "é"),
        "c": (UTF_8, "é".encode(), "é"),
        "d": (UTF_8, b"\xff", None),
        "e": (Form("no such"), b"1", None),
    }
    async with desk(tmp_path) as it:
        for name, (_, data, _) in forms.items():
            (it.root / name).write_bytes(data)
            it.read(name, name)
        await it.wait(FileRead, len(forms))
        hashes = {str(e.token): str(e.disk.content) for e in it.of(FileRead)}
        wanted = tuple((hashes[name], form) for name, (form, _, _) in forms.items())
        it.files.perform(ReadStored("stored", (*wanted, ("0" * 64, UTF_8), ("../x", UTF_8))))
        texts = (await it.wait(StoredRead)).texts
        assert texts == {
            hashes[name]: text for name, (_, _, text) in forms.items() if text is not None
        }


async def test_one_path_is_used_in_order_of_arrival(tmp_path: Path) -> None:
    async with desk(tmp_path) as it:
        for number in range(20):
            it.write("f", str(number), number)
            it.read("x/../f", number)
        await it.wait(FileRead, 20)
        kinds = [(type(e), e.token) for e in it.events]
        assert kinds == [(kind, n) for n in range(20) for kind in (FileWritten, FileRead)]
        assert [e.disk.text for e in it.of(FileRead)] == [str(n) for n in range(20)]
        assert [e.before.text for e in it.of(FileWritten)] == [None, *map(str, range(19))]


async def test_different_paths_do_not_wait_for_each_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate, look = threading.Event(), Baselines.look

    def slow(self: Baselines, path: str, roots: tuple[str, ...]) -> Any:
        if path.endswith("slow"):
            gate.wait(8)
        return look(self, path, roots)

    monkeypatch.setattr(Baselines, "look", slow)
    async with desk(tmp_path) as it:
        # A few paths share a lock, by chance.
        slow_one = lock_of(it.root / "slow")
        fast = next(n for n in map(str, range(99)) if lock_of(it.root / n) != slow_one)
        it.read("slow", "slow")
        it.read(fast, "fast")
        assert (await it.wait(FileRead)).token == "fast"
        gate.set()
        await it.wait(FileRead, 2)


def lock_of(path: Path) -> int:
    return hash(os.path.normcase(os.path.realpath(path))) % _PLACES


async def test_one_file_is_used_in_one_thread_however_it_is_spelled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_work: Counter[str] = Counter()
    most = 0
    write = disk.write

    def slow(effect: WriteFile, *rest: Any) -> FileWritten:
        nonlocal most
        place = str(Path(effect.path).resolve())
        at_work[place] += 1
        most = max(most, at_work[place])
        done = write(effect, *rest)
        at_work[place] -= 1
        return done

    monkeypatch.setattr(disk, "write", slow)
    async with desk(tmp_path) as it:
        (it.root / "a").write_text("start")
        (it.root / "d").symlink_to(it.root)
        for name in ("1", "2"):
            (it.root / name).symlink_to("a")
        await it.synced()
        spelled = ("a", "1", "2", "d/a", "d/1")
        for number in range(40):
            it.write(spelled[number % 5], str(number), number)
        await it.wait(FileWritten, 40)
        assert most == 1
        assert [e.problem for e in it.of(FileWritten)] == [None] * 40
        texts = ["start", *(e.after.text for e in it.of(FileWritten) if e.after)]
        assert [e.before.text for e in it.of(FileWritten)] == texts[:-1]
        await it.synced(2)
        assert it.of(FileNoticed) == []


@pytest.mark.parametrize("path", ["a\0b", "/a\0b", "", "a"])
async def test_a_path_that_is_none_is_answered(tmp_path: Path, path: str) -> None:
    async with desk(tmp_path) as it:
        it.files.perform(ReadFile("read", path, it.roots))
        it.files.perform(WriteFile("write", path, "1", it.roots))
        read, written = await it.wait(FileRead), await it.wait(FileWritten)
        assert read.disk.problem == written.problem == "is not an absolute path"
        assert not read.disk.inside
        assert read.earlier.how == written.earlier.how == "first"


async def test_of_very_many_files_only_some_are_read_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each may be long, and what else is done in threads must not wait for all of them."""
    at_work, most, look = set[str](), 0, Baselines.look
    full, gate = threading.Event(), threading.Event()

    def slow(self: Baselines, path: str, roots: tuple[str, ...]) -> Any:
        nonlocal most
        at_work.add(path)
        most = max(most, len(at_work))
        if len(at_work) == THREADS:
            full.set()
        gate.wait(8)
        at_work.remove(path)
        return look(self, path, roots)

    monkeypatch.setattr(Baselines, "look", slow)
    async with desk(tmp_path) as it:
        for number in range(100):
            it.read(str(number), number)
        await anyio.to_thread.run_sync(full.wait)
        await anyio.wait_all_tasks_blocked()
        gate.set()
        await it.wait(FileRead, 100)
        assert most == THREADS


@pytest.mark.parametrize("how", ["walked", "not looked at"])
@pytest.mark.parametrize("data", [b"\0 no text", b"text\n" * 600_000, b"\0" * 3_000_000])
async def test_what_a_write_replaces_can_be_brought_back(
    tmp_path: Path, data: bytes, how: str
) -> None:
    """Whatever it was, and however large: nobody else has the bytes then."""
    async with desk(tmp_path) as it:
        (it.root / "a").write_bytes(data)
        if how == "walked":
            await it.synced()
        it.write("a", None)
        written = await it.wait(FileWritten)
        assert written.problem == (None if b"text" in data[:4] else written.before.problem)
        if written.problem is not None:
            it.write("a", None, expected=written.before.content)
            written = await it.wait(FileWritten, 2)
            assert written.problem is None
        assert not written.earlier.changed
        assert not (it.root / "a").exists()
        it.write("a", None, expected=None, stored=written.before.content)
        await it.until(lambda: [e for e in it.of(FileWritten)[1:] if e.before.is_missing])
        assert (it.root / "a").read_bytes() == data


async def test_d32_what_was_guessed_of_a_file_is_not_guessed_anew_at_a_write(
    tmp_path: Path,
) -> None:
    """A short rest of a text would be taken for something else."""
    old = "# Читает файл настроек и проверяет, верно ли каждое значение\n"
    short = "имя\n".encode("cp1251")
    async with desk(tmp_path) as it:
        (it.root / "a").write_bytes(old.encode("cp1251"))
        it.read("a")
        form = (await it.wait(FileRead)).disk.form
        assert (form.encoding, form.guessed) == ("cp1251", True)
        assert decode(short) != decode(short, form)
        (it.root / "a").write_bytes(short)
        it.write("a", "имя имя\n")
        written = await it.wait(FileWritten)
        assert written.problem is None
        assert written.before.text == "имя\n"
        assert written.earlier.disk is not None
        assert written.earlier.disk.text == old
        assert (it.root / "a").read_bytes() == "имя имя\n".encode("cp1251")


# --- looking at everything ---------------------------------------------------------------------


async def test_the_first_look_tells_nothing_and_the_next_what_has_changed(tmp_path: Path) -> None:
    async with desk(tmp_path) as it:
        for name in ("changed", "gone", "same"):
            (it.root / name).write_text(name)
        (it.root / ".gitignore").write_text("ignored\n")
        began_s = time.time()
        first = await it.synced("first")
        assert first.real_roots == (str(it.root.resolve()),)
        assert began_s <= first.at_s <= time.time()
        assert first.problem is None
        assert it.of(FileNoticed) == []
        (it.root / "changed").write_text("2")
        (it.root / "gone").unlink()
        (it.root / "ignored").write_text("3")
        (it.root / "deep" / "er").mkdir(parents=True)
        (it.root / "deep" / "er" / "new").write_text("4")
        await it.synced("second")
        assert it.noticed() == {
            "changed": ("changed", "2"),
            "gone": ("gone", None),
            "deep/er/new": (None, "4"),
        }
        assert {e.token for e in it.of(FileNoticed)} == {"second"}
        assert isinstance(it.events[-1], FilesSynced)
        assert it.files.synced is None


async def test_a_read_that_was_asked_for_before_is_told_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path) as it:
        (it.root / "a").write_text("1")
        await it.synced("first")
        gate, look = threading.Event(), Baselines.look

        def slow(self: Baselines, path: str, roots: tuple[str, ...]) -> Any:
            if not gate.is_set():
                gate.wait(8)
            return look(self, path, roots)

        monkeypatch.setattr(Baselines, "look", slow)
        (it.root / "a").write_text("2")
        it.read("a")
        it.sync("second")
        it.write("a", "3", "later")
        gate.set()
        await it.until(lambda: [e for e in it.of(FilesSynced) if e.token == "second"])
        await it.wait(FileWritten)
        # The change is told once, by the read; the look on the way of the walk sees no news.
        assert it.of(FileRead)[0].earlier.changed
        assert it.of(FileNoticed) == []
        assert not it.of(FileWritten)[0].earlier.changed


class Gated:
    """Walks that wait at a gate; counts them, and how many went at a time."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, candidates: tuple[str, ...] = ()) -> None:
        self.gate = threading.Event()
        self.walked: list[tuple[str, ...]] = []
        self.most = 0
        self._under_way = 0
        self._candidates = candidates
        monkeypatch.setattr(Baselines, "walk", lambda _, roots: self._walk(roots))

    def _walk(self, roots: tuple[str, ...]) -> Walked:
        self.walked.append(roots)
        self._under_way += 1
        self.most = max(self.most, self._under_way)
        self.gate.wait(8)
        self._under_way -= 1
        return Walked(self._candidates, None, roots)


async def test_walks_go_one_after_the_other_and_those_that_wait_for_the_same_are_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gated = Gated(monkeypatch)
    async with desk(tmp_path) as it:
        other = (str(tmp_path),)
        it.sync(1)
        await anyio.wait_all_tasks_blocked()
        for token, roots in ((2, it.roots), (3, other), (4, it.roots), (5, other)):
            it.sync(token, roots)
        assert it.files.synced is not None
        gated.gate.set()
        await it.wait(FilesSynced, 5)
        assert [e.token for e in it.of(FilesSynced)] == [1, 2, 4, 3, 5]
        assert gated.walked == [it.roots, it.roots, other]
        assert gated.most == 1
        assert it.files.synced is None


async def test_a_prompt_waits_for_all_walks_that_were_asked_for_before_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that joins a walk that waits waits for those behind it as well."""
    gated = Gated(monkeypatch)
    async with desk(tmp_path) as it:
        other = (str(tmp_path),)
        it.sync(1)
        await anyio.wait_all_tasks_blocked()
        for token, roots in ((2, it.roots), (3, other), (4, it.roots)):
            it.sync(token, roots)
        synced = it.files.synced
        assert synced is not None
        gated.gate.set()
        await synced.wait()
        assert {e.token for e in it.of(FilesSynced)} == {1, 2, 3, 4}


async def test_a_bug_in_a_walk_is_a_problem_of_that_walk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async with desk(tmp_path) as it:

        def trip(*_: object) -> None:
            raise RuntimeError("a bug")

        with monkeypatch.context() as patch:
            patch.setattr(Baselines, "walk", trip)
            synced = await it.synced(1)
        assert synced.problem == "the files cannot be looked through: a bug"
        assert synced.real_roots == it.roots
        assert "RuntimeError: a bug" in caplog.text
        assert (await it.synced(2)).problem is None


async def test_what_a_walk_of_our_own_could_not_do_is_told_with_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    problems: list[str | None] = ["one", "two", None]
    monkeypatch.setattr(Baselines, "walk", lambda _, roots: Walked((), problems.pop(0), roots))
    async with desk(tmp_path) as it:
        it.files.unsure(it.roots)
        # Otherwise both would be one walk.
        await anyio.wait_all_tasks_blocked()
        assert (await it.synced(1)).problem == "one; two"
        assert (await it.synced(2)).problem is None


async def test_a_bug_in_a_look_is_a_problem_of_that_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async with desk(tmp_path) as it:
        (it.root / "a").write_text("1")
        await it.synced(1)
        (it.root / "a").write_text("2")

        def trip(*_: object) -> None:
            raise RuntimeError("a bug")

        with monkeypatch.context() as patch:
            for name in ("look", "keep", "saw"):
                patch.setattr(Baselines, name, trip)
            it.read("a")
            assert (await it.wait(FileRead)).disk.problem == "cannot be used: a bug"
            assert (await it.synced(2)).problem is None
            it.write("a", "3")
            # It is written, whatever cannot be remembered of it.
            assert (await it.wait(FileWritten)).problem is None
        assert (it.root / "a").read_text() == "3"
        assert caplog.text.count("RuntimeError: a bug") == 4


async def test_a_bug_in_a_write_is_a_problem_of_that_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def trip(*_: object) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr("acpls.client.disk.write", trip)
    async with desk(tmp_path) as it:
        it.write("a", "1")
        written = await it.wait(FileWritten)
        assert written.problem == "cannot be used: a bug"
        assert written.before.problem == "cannot be used: a bug"


async def test_the_loop_goes_on_while_many_files_are_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await anyio.lowlevel.checkpoint()
            ticks += 1

    async with desk(tmp_path) as it, anyio.create_task_group() as tasks:
        for number in range(300):
            (it.root / str(number)).write_text("1\n" * 100)
        tasks.start_soon(tick)
        counted = [ticks]
        for token in range(2):
            await it.synced(token)
            counted.append(ticks)
            for number in range(300):
                (it.root / str(number)).write_text("2\n" * 100)
        tasks.cancel_scope.cancel()
    assert min(b - a for a, b in pairwise(counted)) > 50
    assert len(it.of(FileNoticed)) == 300


async def test_the_loop_goes_on_while_a_walk_stands_still(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gated = Gated(monkeypatch)
    async with desk(tmp_path) as it:
        it.sync()
        it.read("a")
        it.write("b", "1")
        for _ in range(100):
            await anyio.lowlevel.checkpoint()
        await it.wait(FileRead)
        await it.wait(FileWritten)
        assert it.of(FilesSynced) == []
        gated.gate.set()
        await it.wait(FilesSynced)


async def test_a_path_without_links_has_the_queue_of_the_one_with_them(tmp_path: Path) -> None:
    async with desk(tmp_path) as it:
        (tmp_path / "link").symlink_to(it.root)
        it.sync(1, (str(tmp_path / "link"),))
        await it.wait(FilesSynced)
        lane = it.files._lane
        assert lane(str(tmp_path / "link" / "x" / ".." / "a")) == lane(str(it.root / "a"))
        assert lane(str(tmp_path / "link-2")) != lane(str(it.root))


# --- watching ----------------------------------------------------------------------------------


async def test_what_others_change_is_told_with_what_it_was(tmp_path: Path) -> None:
    async with desk(tmp_path) as it:
        (it.root / "a").write_text("1")
        (it.root / "b").write_text("1")
        await it.synced()
        it.watch()
        (it.root / "a").write_text("2")
        await it.notices({"a": ("1", "2")})
        (it.root / "b").unlink()
        (it.root / "c").write_text("3")
        await it.notices({"b": ("1", None), "c": (None, "3")})
        assert {e.token for e in it.of(FileNoticed)} == {None}


async def test_our_own_writes_are_no_news_nor_is_what_is_ignored(tmp_path: Path) -> None:
    async with desk(tmp_path) as it:
        (it.root / ".gitignore").write_text("ignored\n")
        await it.synced()
        it.watch()
        (it.root / "before").write_text("1")
        await it.notices({"before": (None, "1")})
        for number in range(5):
            it.write("a", str(number))
        (it.root / "ignored").write_text("1")
        (it.root / "node_modules").mkdir()
        (it.root / "node_modules" / "a").write_text("1")
        await it.wait(FileWritten, 5)
        (it.root / "after").write_text("1")
        await it.notices({"after": (None, "1")})
        assert set(it.noticed()) == {"before", "after"}


async def test_whole_folders_that_come_and_go_are_told_by_their_files(tmp_path: Path) -> None:
    async with desk(tmp_path) as it:
        (it.root / "old" / "deep").mkdir(parents=True)
        (it.root / "old" / "deep" / "a").write_text("1")
        (tmp_path / "new" / "deep").mkdir(parents=True)
        (tmp_path / "new" / "deep" / "b").write_text("2")
        await it.synced()
        it.watch()
        await anyio.wait_all_tasks_blocked()
        (it.root / "old").rename(tmp_path / "away")
        (tmp_path / "new").rename(it.root / "new")
        await it.notices({"old/deep/a": ("1", None), "new/deep/b": (None, "2")})


def told(it: Desk) -> int:
    return sum(isinstance(e, FileNoticed) and e.disk.text == "2" for e in it.events)


async def test_each_of_thousands_of_changes_is_told_once(tmp_path: Path) -> None:
    many = 2000
    async with desk(tmp_path) as it:
        for number in range(many):
            (it.root / str(number)).write_text("1")
        await it.synced()
        it.watch()
        for number in range(many):
            (it.root / str(number)).write_text("2")
        await it.until(lambda: [1] if told(it) >= many else [])
        assert it.noticed() == {str(number): ("1", "2") for number in range(many)}
        counted = Counter(e.disk.path for e in it.of(FileNoticed) if e.disk.text == "2")
        assert set(counted.values()) == {1}


async def test_the_files_of_a_root_that_is_removed_are_told_to_be_gone(tmp_path: Path) -> None:
    async with desk(tmp_path) as it:
        (it.root / "sub").mkdir()
        (it.root / "sub" / "a").write_text("1")
        await it.synced()
        it.watch()
        (it.root / "b").write_text("2")
        await it.notices({"b": (None, "2")})
        shutil.rmtree(it.root)
        await it.notices({"sub/a": ("1", None), "b": ("2", None)})
        (it.root / "sub").mkdir(parents=True)
        (it.root / "sub" / "a").write_text("3")
        await it.notices({"sub/a": (None, "3")})


async def test_a_root_that_is_away_for_a_while_is_no_news(tmp_path: Path) -> None:
    """As a drive is that is unmounted; nobody has removed its files."""
    async with desk(tmp_path) as it:
        (it.root / "a").write_text("1")
        await it.synced(1)
        it.watch()
        (it.root / "b").write_text("2")
        await it.notices({"b": (None, "2")})
        it.root.rename(tmp_path / "away")
        await it.synced(2)
        (tmp_path / "away").rename(it.root)
        (it.root / "a").write_text("3")
        await it.notices({"a": ("1", "3")})
        assert len(it.of(FileNoticed)) == 2


async def test_no_more_is_told_when_nothing_is_to_be_watched(tmp_path: Path) -> None:
    async with desk(tmp_path) as it:
        await it.synced(1)
        it.watch()
        (it.root / "a").write_text("1")
        await it.notices({"a": (None, "1")})
        it.files.perform(WatchFiles(()))
        await anyio.wait_all_tasks_blocked()
        (it.root / "b").write_text("1")
        await it.synced(2)
        assert [e.token for e in it.of(FileNoticed)] == [None, 2]


async def test_a_commit_is_told_and_files_are_compared_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, ...]] = []

    def matches(paths: tuple[str, ...], _: object) -> frozenset[str]:
        asked.append(paths)
        return frozenset(paths[:1])

    monkeypatch.setattr(git, "head_matches", matches)
    async with desk(tmp_path) as it:
        (it.root / ".git" / "logs").mkdir(parents=True)
        it.watch()
        await anyio.wait_all_tasks_blocked()
        (it.root / ".git" / "logs" / "HEAD").write_text("x")
        assert (await it.wait(HeadMoved)).root == str(it.root)
        it.files.perform(CompareWithHead("token", ("/a", "/b")))
        assert await it.wait(HeadCompared) == HeadCompared("token", frozenset({"/a"}))
        assert asked == [("/a", "/b")]
        assert it.of(FileNoticed) == []


async def test_what_is_told_again_before_it_was_looked_at_is_looked_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate, looked = threading.Event(), list[str]()
    look = Baselines.look

    def slow(self: Baselines, path: str, roots: tuple[str, ...]) -> Any:
        gate.wait(8)
        looked.append(path)
        return look(self, path, roots)

    monkeypatch.setattr(Baselines, "look", slow)
    async with desk(tmp_path) as it:
        path = str(it.root / "a")
        it.read("a")
        for _ in range(3):
            it.files.changed([path], frozenset())
        gate.set()
        it.read("a")
        await it.wait(FileRead, 2)
        assert looked == [path] * 3


async def test_what_cannot_be_compared_is_not_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def trip(*_: object) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr(git, "head_matches", trip)
    async with desk(tmp_path) as it:
        it.files.perform(CompareWithHead("token", ("/a",)))
        assert await it.wait(HeadCompared) == HeadCompared("token", frozenset())


# --- what lasts --------------------------------------------------------------------------------


async def test_a_review_is_there_for_the_next_run(tmp_path: Path) -> None:
    async with desk(tmp_path) as it:
        for number in range(50):
            it.files.perform(StoreReview(("/a", "/b"), {"number": number}))
        it.files.perform(LoadReview("same run", ("/a", "/b")))
        assert (await it.wait(ReviewLoaded)).value == {"number": 49}
        it.files.perform(StoreReview(("/a", "/b"), {"number": 50}))
    async with desk(tmp_path) as it:
        it.files.perform(LoadReview("next run", ("/b", "/a")))
        assert await it.wait(ReviewLoaded) == ReviewLoaded("next run", {"number": 50})
        it.files.perform(LoadReview("another", ("/b",)))
        assert (await it.wait(ReviewLoaded, 2)).value is None


async def test_a_bug_in_a_review_is_as_if_there_were_none(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path) as it:
        it.files.perform(StoreReview(("/a",), object()))
        it.files.perform(LoadReview("token", ("/a",)))
        assert (await it.wait(ReviewLoaded)).value is None
        assert "TypeError" in caplog.text

        def trip(*_: object) -> None:
            raise RuntimeError("a bug")

        monkeypatch.setattr("acpls.client.shelf.Shelf.get", trip)
        it.files.perform(LoadReview("token", ("/a",)))
        assert (await it.wait(ReviewLoaded, 2)).value is None


async def test_without_a_folder_for_what_lasts_it_lasts_as_long_as_the_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    async with anyio.create_task_group() as tasks:
        it = Desk(tmp_path)
        it.files = Files(tasks, it.take)
        (it.root / "a").write_text("1")
        it.read("a")
        await it.wait(FileRead)
        (it.root / "a").write_text("2")
        it.read("a")
        assert (await it.wait(FileRead, 2)).earlier.how == "store"
        (folder,) = temporary.iterdir()
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        await it.files.aclose()
    assert list(temporary.iterdir()) == []


async def test_two_servers_share_what_files_held(tmp_path: Path) -> None:
    async with desk(tmp_path) as one, desk(tmp_path) as two:
        for number in range(30):
            (one.root / str(number)).write_text(f"{number} before")
        for it in (one, two):
            it.sync(1)
        for it in (one, two):
            await it.wait(FilesSynced)
        for number in range(30):
            one.write(str(number), f"{number} after")
        await one.wait(FileWritten, 30)
        two.sync(2)
        await two.wait(FilesSynced, 2)
        assert two.noticed() == {str(n): (f"{n} before", f"{n} after") for n in range(30)}
        content = two.of(FileNoticed)[0].disk.content
        assert content is not None
        shutil.rmtree(two.root)
        two.root.mkdir()
        one.files.perform(ReadStored("stored", ((content, UTF_8),)))
        assert content in (await one.wait(StoredRead)).texts


async def test_a_state_folder_that_cannot_be_written_costs_what_files_held_and_no_more(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "state").write_text("in the way")
    async with desk(tmp_path) as it:
        (it.root / "a").write_text("1")
        assert (await it.synced(1)).problem is None
        (it.root / "a").write_text("2")
        await it.synced(2)
        (noticed,) = it.of(FileNoticed)
        assert noticed.earlier.how == "lost"
        it.write("a", "3")
        assert (await it.wait(FileWritten)).problem is None
        it.files.perform(StoreReview(it.roots, {}))
        it.files.perform(LoadReview("token", it.roots))
        assert (await it.wait(ReviewLoaded)).value is None
        levels = [record.levelname for record in caplog.records]
        assert levels == ["WARNING", "WARNING"]


# --- the end -----------------------------------------------------------------------------------


async def test_closing_finishes_what_was_asked_for(tmp_path: Path) -> None:
    async with desk(tmp_path) as it:
        for number in range(20):
            it.write(f"f{number % 3}", str(number))
        it.files.perform(StoreReview(("/a",), 1))
        await it.files.aclose()
        assert len(it.of(FileWritten)) == 20
        assert (it.root / "f1").read_text() == "19"
        assert len(list((tmp_path / "state" / "reviews").iterdir())) == 1


async def test_closing_abandons_walks_and_questions_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gated = Gated(monkeypatch)

    def matches(*_: object) -> frozenset[str]:
        gated.gate.wait(8)
        return frozenset()

    monkeypatch.setattr(git, "head_matches", matches)
    async with desk(tmp_path) as it:
        for token in range(3):
            it.sync(token)
            it.files.perform(CompareWithHead(token, ()))
        it.watch()
        await anyio.wait_all_tasks_blocked()
        with anyio.fail_after(1):
            await it.files.aclose()
        it.sync("after")
        await anyio.wait_all_tasks_blocked()
        assert it.events == []
        gated.gate.set()


async def test_closing_ends_a_git_that_does_not_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D53: of a walk, of a question, and of a look for a text that only Git has."""
    programs = tmp_path / "programs"
    programs.mkdir()
    fake, asked = programs / "git", tmp_path / "asked"
    fake.write_text(f"#!/bin/sh\necho $$ >> {asked}\nexec {sys.executable} -c '{PAUSE}'\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")

    def answering() -> list[psutil.Process]:
        while not asked.exists() or asked.read_text().count("\n") < 2:
            threading.Event().wait(0.01)
        return [psutil.Process(int(number)) for number in asked.read_text().split()]

    async with desk(tmp_path) as it:
        (it.root / ".git").mkdir()
        (it.root / "large").write_bytes(b"x" * 3_000_000)
        it.sync()
        it.files.perform(CompareWithHead("token", (str(it.root / "large"),)))
        processes = await anyio.to_thread.run_sync(answering)
        with anyio.fail_after(1):
            await it.files.aclose()
        assert it.events == []
        _, alive = await anyio.to_thread.run_sync(psutil.wait_procs, processes, 5)
        assert alive == []


async def test_closing_in_the_middle_of_many_looks_ends_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gated = Gated(monkeypatch, tuple(str(tmp_path / "root" / str(n)) for n in range(10_000)))
    gated.gate.set()
    looked = threading.Event()
    look = Baselines.look

    def count(self: Baselines, path: str, roots: tuple[str, ...]) -> Any:
        looked.set()
        return look(self, path, roots)

    monkeypatch.setattr(Baselines, "look", count)
    async with desk(tmp_path) as it:
        it.sync()
        await anyio.to_thread.run_sync(looked.wait)
        with anyio.fail_after(1):
            await it.files.aclose()
        assert it.of(FilesSynced) == []


async def test_a_walk_of_real_files_ends_early(tmp_path: Path) -> None:
    """The thread itself stops, so that no work goes on behind the back of whoever closed."""
    async with desk(tmp_path) as it:
        for number in range(300):
            (it.root / str(number)).mkdir()
            (it.root / str(number) / "f").write_text("1")
        await it.synced(1)
        it.files.look_no_more()
        walked = await anyio.to_thread.run_sync(it.files.walk, it.roots)
        assert walked.candidates == ()
        assert walked.problem == "the server is ending"


def test_closing_leaves_no_thread(tmp_path: Path) -> None:
    async def run() -> None:
        async with desk(tmp_path) as it:
            (it.root / "a").write_text("1")
            await it.synced(1)
            it.watch()
            (it.root / "a").write_text("2")
            await it.notices({"a": ("1", "2")})
            it.files.perform(CompareWithHead("token", (str(it.root / "a"),)))
            await it.wait(HeadCompared)

    before = set(threading.enumerate())
    anyio.run(run)
    # Those of anyio end by themselves, soon after their loop.
    for thread in set(threading.enumerate()) - before:
        thread.join(2)
    assert set(threading.enumerate()) <= before
