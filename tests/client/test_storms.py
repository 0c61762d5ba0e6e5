"""An agent does its worst to files while others read, write and look through them.

Whatever it does: what is told of a file begins with what was told of it last, each change is
told once, and in the end all that is there was told.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from random import Random
from subprocess import CalledProcessError
from typing import TYPE_CHECKING, Any

import anyio
import pytest

from acpls.client.files import Files
from acpls.client.ignoring import is_utf_8
from acpls.effects import ReadFile, SyncFiles, WatchFiles, WriteFile
from acpls.events import FileNoticed, FileRead, FilesSynced, FileWritten
from acpls.text.diff import Edit, apply_edits
from acpls.text.lines import split_lines
from git_repository import Repository

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from acpls.events import Disk, Earlier
    from acpls.text.diff import Hunk

pytestmark = pytest.mark.anyio

LONG = "L" * 255
NAMES = (
    *("a", "b", "c", "d/e", "d/f", "d/g/h", "Case", "case", "grün", "two\nlines", LONG, "hard"),
    *("link", "link/a", "pipe", "kind", "kind/in", "many/3", "build/3", "missing"),
)

# It takes a folder, a number that its choices hang from, how many steps it takes and their kinds.
AGENT = r"""
import os, random, sys, threading
root, seed, steps, wanted = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]
os.chdir(root)
R = random.Random(seed)
LONG = "L" * 255
NAMES = ["a", "b", "c", "d/e", "d/f", "d/g/h", "Case", "case", "gr\u00fcn", "two\nlines", LONG]
count = 0

def text():
    global count
    count += 1
    body = f"{os.getpid()} {count}\n"
    kind = R.random()
    if kind < 0.1: return b""
    if kind < 0.2: return b"\0" + body.encode()
    if kind < 0.3: return ("gr\u00f6\u00dfe " + body).encode("latin-1")
    if kind < 0.4: return (body * 9).replace("\n", "\r\n").encode()
    return (body + "line\n" * R.randint(0, 30)).encode()

def folders(name):
    os.makedirs(os.path.dirname(name) or ".", exist_ok=True)

def in_place(name):
    folders(name)
    open(name, "wb").write(text())

def replace(name):
    folders(name)
    open("part~", "wb").write(text())
    os.replace("part~", name)

def slowly(name):
    folders(name)
    with open(name, "wb", buffering=0) as file:
        for _ in range(3):
            file.write(text())
            threading.Event().wait(0.01)

def append(name): open(name, "ab").write(text())
def remove(name): os.unlink(name)
def mode(name): os.chmod(name, R.choice([0o644, 0o755, 0o600]))
def date(name): os.utime(name, (1, R.choice([1, 10**9, 4 * 10**9])))

def keep_date(name):
    was = os.stat(name)
    with open(name, "r+b") as file:
        file.seek(was.st_size // 2)
        file.write(R.choice([b"x", b"y"]))
    os.utime(name, ns=(was.st_atime_ns, was.st_mtime_ns))

def circle(_):
    for old, new in (("a", "circle~"), ("b", "a"), ("c", "b"), ("circle~", "c")):
        os.rename(old, new)

def folder(_): os.rename(*R.sample(["d", "moved"], 2))
def case(_): os.rename(*R.sample(["Case", "case"], 2))

def clear(name):
    if os.path.isdir(name) and not os.path.islink(name):
        for inner in os.listdir(name): os.unlink(f"{name}/{inner}")
        os.rmdir(name)
    elif os.path.lexists(name): os.unlink(name)

def link(_):
    clear("link")
    targets = ["a", "b", "d", "../outside/secret", "../outside", "link", "no", "."]
    os.symlink(R.choice(targets), "link")

def kind(_):
    clear("kind")
    match R.randint(0, 3):
        case 0: open("kind", "wb").write(text())
        case 1: os.symlink("a", "kind")
        case 2: os.mkfifo("kind")
        case 3:
            os.mkdir("kind")
            open("kind/in", "wb").write(text())

def hard(_):
    clear("hard")
    os.link("a", "hard")

def many(_):
    clear("many")
    os.mkdir("many")
    for number in range(R.choice([10, 600])): open(f"many/{number}", "wb").write(text())

def build(_):
    os.makedirs("build", exist_ok=True)
    for number in range(300): open(f"build/{number}", "wb").write(text())

def odd(_): open(b"odd\xff", "wb").write(text())

KINDS = [in_place, replace, slowly, append, remove, mode, date, keep_date, circle, folder, case]
KINDS += [link, kind, hard, many, build, odd]
KINDS = [known for known in KINDS if known.__name__ in wanted or not wanted]
for _ in range(steps):
    try: R.choice(KINDS)(R.choice(NAMES))
    except OSError: pass
    if R.random() < 0.3: threading.Event().wait(0.01)
"""


def content(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def applied(text: str, hunks: tuple[Hunk, ...]) -> str:
    """The text with the hunks, done another way than by the review."""
    starts = [0]
    for line in split_lines(text):
        starts.append(starts[-1] + len(line))
    edits = [Edit(starts[h.start], starts[h.end], "".join(h.new)) for h in hunks]
    return apply_edits(text, edits)


@dataclass
class Account:
    """What was told of each file, and what does not fit together."""

    told: dict[str, str | None] = field(default_factory=dict)
    faults: list[Any] = field(default_factory=list)

    def take(self, event: object) -> None:
        match event:
            case FileRead(_, disk, earlier) | FileNoticed(disk, earlier):
                self.see(disk, earlier)
            case FileWritten():
                self.see(event.before, event.earlier)
                after = event.after
                if after is not None and after.inside and (after.content or after.is_missing):
                    self.told[after.place] = after.content

    def see(self, disk: Disk, earlier: Earlier) -> None:
        unseen = (disk.problem or "").startswith(("cannot", "is too large"))
        if not disk.inside or (unseen and not earlier.changed):
            return
        was, now = self.told.get(disk.place), disk.content
        before = earlier.disk
        right = {
            "same": now == was,
            "first": was is None,
            # What was a link or a pipe is no text that was lost.
            "lost": was is None and before is not None and before.problem is not None,
        }.get(earlier.how, before is not None and before.content == was and was != now)
        if before is not None and earlier.hunks is not None:
            right = right and applied(before.text or "", earlier.hunks) == disk.text
        if not right:
            self.faults.append((disk.place, was, earlier.how, before, now))
        self.told[disk.place] = now

    def compare(self, held: dict[str, str]) -> None:
        """All that is there was told, and of all else that it is gone."""
        told = {place: now for place, now in self.told.items() if now and "/build/" not in place}
        for place in told.keys() | held.keys():
            if told.get(place) != held.get(place):
                self.faults.append(("in the end", place, told.get(place), held.get(place)))


@dataclass
class Storm:
    """Files that are watched, read and written, and the account of what is told."""

    root: Path
    roots: tuple[str, ...]
    account: Account = field(default_factory=Account)
    files: Files = field(init=False)
    answers: set[object] = field(default_factory=set)
    news: anyio.Event = field(default_factory=anyio.Event)
    noticed: int = 0
    is_over: bool = False

    def take(self, event: Any) -> None:
        self.account.take(event)
        self.noticed += isinstance(event, FileNoticed)
        if not isinstance(event, FileNoticed):
            self.answers.add(getattr(event, "token", None))
        self.news.set()

    async def ask(self, effect: ReadFile | WriteFile | SyncFiles) -> None:
        self.files.perform(effect)
        with anyio.fail_after(15):
            while effect.token not in self.answers:
                self.news = anyio.Event()
                await self.news.wait()

    async def sync(self, roots: tuple[str, ...] | None = None) -> None:
        await self.ask(SyncFiles(object(), roots or self.roots))

    def held(self) -> dict[str, str]:
        """What is in the root, but for what is ignored and what is no file."""
        found: dict[str, str] = {}
        for folder, inner, names in os.walk(self.root):
            left_out = {".git", "build", *(name for name in inner if name.endswith("~"))}
            inner[:] = [name for name in inner if name not in left_out]
            for name in names:
                file = Path(folder, name)
                is_told = is_utf_8(name) and not name.endswith("~")
                if is_told and file.is_file() and not file.is_symlink():
                    found[str(file)] = content(file.read_bytes())
        return found


@asynccontextmanager
async def storm(tmp_path: Path, *roots: str) -> AsyncIterator[Storm]:
    """A root whose files were looked at and are watched; in the end all has to add up."""
    root, outside = tmp_path / "root", tmp_path / "outside"
    for folder in (root / "d" / "g", outside):
        folder.mkdir(parents=True)
    (tmp_path / "alias").symlink_to(root)
    for name in ("secret", "a", "e"):
        (outside / name).write_text("secret")
    (root / ".gitignore").write_text("build/\n*~\n")
    for name in NAMES[:8]:
        (root / name).write_text("start\n")
    async with anyio.create_task_group() as tasks:
        it = Storm(root, tuple(str(tmp_path / name) for name in roots or ("root",)))
        it.files = Files(tasks, it.take, tmp_path / "state")
        await it.sync()
        it.account.told = dict(it.held())
        assert it.noticed == 0
        it.files.perform(WatchFiles(it.roots))
        yield it
        await it.sync()
        it.account.compare(it.held())
        assert it.account.faults == []
        with anyio.fail_after(1):
            await it.files.aclose()


async def others(it: Storm, number: int) -> None:
    """Read, write and look, as agents and sessions do, until the weather is over."""
    choice = Random(number)
    for step in cycle(range(40)):
        if it.is_over:
            break
        path = f"{choice.choice(it.roots)}{os.sep}{choice.choice(NAMES)}"
        if step == 0:
            await it.sync((choice.choice(it.roots),))
        elif step % 4:
            await it.ask(ReadFile(object(), path, it.roots))
        else:
            text = None if step % 12 == 0 else f"ours {number} {choice.random()}\n"
            await it.ask(WriteFile(object(), path, text, it.roots))


async def weather(it: Storm, seed: int, steps: int, *kinds: str) -> None:
    """Two agents and some others, until the agents have taken all their steps."""

    async def agent(number: int) -> None:
        command = [sys.executable, "-c", AGENT, str(it.root), str(number), str(steps), *kinds]
        await anyio.run_process(command)

    it.is_over = False
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(others, it, seed)
        async with anyio.create_task_group() as agents:
            for number in (2 * seed, 2 * seed + 1):
                agents.start_soon(agent, number)
        it.is_over = True


@pytest.fixture(autouse=True)
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is read outside of the root, by whoever looks at files."""
    found: list[str] = []
    read = os.read

    def noted(descriptor: int, size: int) -> bytes:
        data = read(descriptor, size)
        if b"secret" in data:
            found.append(data.decode("utf-8", "replace"))
        return data

    monkeypatch.setattr(os, "read", noted)
    return found


@pytest.mark.parametrize("roots", [("root",), ("root/d", "alias", "root"), ("alias",)])
async def test_d04_whatever_an_agent_does_adds_up(
    tmp_path: Path, roots: tuple[str, ...], opened: list[str]
) -> None:
    """D03, D53: with roots in each other, and with roots that are links."""
    async with storm(tmp_path, *roots) as it:
        await weather(it, len(roots), 35)
        assert it.noticed > 0
    assert opened == []


@pytest.mark.parametrize(
    "kinds",
    [
        ("in_place", "replace", "remove", "circle"),
        ("keep_date", "date", "in_place", "mode"),
        ("folder", "case", "in_place", "replace"),
        ("kind", "link", "hard", "in_place"),
        ("slowly", "append"),
    ],
    ids=" ".join,
)
async def test_each_way_to_change_files_adds_up(
    tmp_path: Path, kinds: tuple[str, ...], opened: list[str]
) -> None:
    async with storm(tmp_path) as it:
        await weather(it, len(kinds), 60, *kinds)
        assert it.noticed > 0
    assert opened == []


@pytest.mark.needs("git")
async def test_what_git_does_to_many_files_adds_up(tmp_path: Path) -> None:
    async with storm(tmp_path) as it:
        for number in range(300):
            file = it.root / f"src{number % 10}" / str(number)
            file.parent.mkdir(exist_ok=True)
            file.write_text(f"one {number}\n")
        repository = Repository(it.root)
        repository.git("add", "-A")
        repository.git("commit", "-qm", "one")
        repository.git("checkout", "-qb", "other")
        for number in range(0, 300, 2):
            (it.root / f"src{number % 10}" / str(number)).write_text(f"two {number}\n")
        (it.root / "src1" / "1").unlink()
        repository.git("add", "-A")
        repository.git("commit", "-qm", "two")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(others, it, 1)
            for branch in ("main", "other", "main"):
                with suppress(CalledProcessError):
                    await anyio.to_thread.run_sync(repository.git, "checkout", "-qf", branch)
            (it.root / "src2" / "2").write_text("three\n")
            for what in (("push", "-qu"), ("pop", "-q")):
                # It may find what others have written in its way.
                with suppress(CalledProcessError):
                    await anyio.to_thread.run_sync(repository.git, "stash", *what)
            it.is_over = True


async def test_a_build_that_writes_thousands_of_ignored_files_is_no_news(tmp_path: Path) -> None:
    async with storm(tmp_path) as it:
        command = [sys.executable, "-c", AGENT, str(it.root), "1", "7", "build"]
        await anyio.run_process(command)
        (it.root / "a").write_text("built")
        while not it.noticed:
            it.news = anyio.Event()
            await it.news.wait()
        assert it.noticed == 1
        assert len(list((it.root / "build").iterdir())) == 300


async def test_d53_a_root_around_our_own_folder_does_not_feed_itself(tmp_path: Path) -> None:
    """What we keep of a file is in no root, or each thing kept would be one more to keep."""
    async with storm(tmp_path, "") as it:
        (it.root / "a").write_text("two\n")
        while not it.noticed:
            it.news = anyio.Event()
            await it.news.wait()
        await it.sync()
        await it.sync()
        assert it.noticed == 1
        kept = it.files._work._baselines._index.folders(str(tmp_path / "state"))
        assert list(kept) == []


async def test_a_file_of_gigabytes_is_not_read(tmp_path: Path) -> None:
    async with storm(tmp_path) as it:
        with (it.root / "huge").open("wb") as file:
            file.truncate(3 * 1024**3)
        with anyio.fail_after(3):
            await it.sync()
            await it.ask(ReadFile("read", str(it.root / "huge"), it.roots))
        (it.root / "huge").unlink()
        await it.sync()
        # That it came and went is told, and nothing of what it held.
        assert [fault[2] for fault in it.account.faults] == ["store", "lost"]
        it.account.faults.clear()


async def test_a_store_that_is_full_loses_texts_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is told which files changed, and of none a text that it did not have."""

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    async with storm(tmp_path) as it:
        (it.root / "a").write_text("two\n")
        await it.sync()
        monkeypatch.setattr("acpls.client.store.Store._write", full)
        (it.root / "a").write_text("three\n")
        (it.root / "b").write_text("three\n")
        await it.sync()
        assert it.noticed == 3
        assert it.account.faults == []
        (it.root / "a").write_text("four\n")
        await it.sync()
        (lost,) = it.account.faults
        assert lost[2:4] == ("lost", None)
        it.account.faults.clear()


@pytest.mark.needs("/dev/shm", found=Path("/dev/shm").is_dir())
async def test_a_root_on_another_file_system_is_as_any_other(tmp_path: Path) -> None:
    folder = Path("/dev/shm") / f"acpls-{os.getpid()}-{tmp_path.name}"
    try:
        async with storm(folder) as it:
            await weather(it, 5, 30)
    finally:
        shutil.rmtree(folder)


async def test_two_servers_that_share_a_store_tell_the_same(tmp_path: Path) -> None:
    async with storm(tmp_path) as it, anyio.create_task_group() as tasks:
        other = Storm(it.root, it.roots)
        other.files = Files(tasks, other.take, tmp_path / "state")
        await other.sync()
        other.account.told = dict(other.held())
        await weather(it, 7, 30)
        await other.sync()
        await other.sync()
        other.account.compare(other.held())
        assert other.account.faults == []
        await other.files.aclose()


def test_the_account_finds_what_does_not_add_up(tmp_path: Path) -> None:
    """A test of the test: each kind of fault is one."""
    from acpls.events import SAME, Disk, Earlier  # noqa: PLC0415  only for this one

    def seen(*steps: tuple[str | None, Earlier]) -> list[Any]:
        account = Account({"f": "1"})
        for now, earlier in steps:
            account.see(Disk("f", None, content=now), earlier)
        account.compare({"f": "2"})
        return account.faults

    def was(now: str | None) -> Earlier:
        return Earlier("store", Disk("f", None, content=now))

    assert seen(("2", was("1"))) == []
    assert seen(("1", SAME), (None, was("1")), ("2", was(None))) == []
    for steps in (
        [("2", SAME)],
        [("2", was("0"))],
        [("2", Earlier("first"))],
        [("2", Earlier("lost"))],
        [("1", was("1")), ("2", was("1"))],
        [("2", was("1")), ("2", was("2"))],
        [("1", SAME)],
    ):
        assert seen(*steps) != []
    assert FilesSynced("token").problem is None
    assert tmp_path.exists()
