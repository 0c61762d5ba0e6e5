"""What is remembered of permissions lasts, for several servers; a fault costs one rule."""

from __future__ import annotations

import errno
import json
import os
import stat
import threading
import time
from typing import TYPE_CHECKING, Any

import anyio
import pytest

from acpls.client import files, permits
from acpls.client.files import Files
from acpls.client.permits import FILES_LIMIT, Permits, places
from acpls.effects import KeepPermission, ReadPermissions
from acpls.events import PermissionKept, PermissionsRead
from acpls.permissions import Remembered, dump

if TYPE_CHECKING:
    from pathlib import Path


def rule(name: str = "a", **fields: Any) -> Remembered:
    return Remembered("user", "allow", "demo", ("fetch",), name, **fields)


def keep(it: Permits, *rules: Remembered) -> None:
    for each in rules:
        assert it.keep(each.key, dump(each))[0] is None


def names(it: Permits) -> list[str]:
    stored, _ = it.read()
    assert stored is not None
    return sorted(value["name"] for value in stored)


def test_what_is_kept_is_there_for_the_next_run(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "folder"
    assert Permits(folder).read()[0] == ()
    whole = rule(commands=("make \ud800",), roots=("/a",), cwd="/a", digest="d")
    keep(Permits(folder), whole)
    assert [{**value} for value in Permits(folder).read()[0] or ()] == [
        json.loads(json.dumps(dump(whole)))
    ]
    assert Permits(folder).keep(whole.key, None)[0] is None
    assert Permits(folder).keep(whole.key, None)[0] is None
    assert names(Permits(folder)) == []


def test_only_the_user_may_read_it(tmp_path: Path) -> None:
    keep(Permits(tmp_path / "state"), rule())
    (file,) = (tmp_path / "state").iterdir()
    assert stat.S_IMODE((tmp_path / "state").stat().st_mode) == 0o700
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_two_servers_lose_nothing_of_each_other(tmp_path: Path) -> None:
    servers = [Permits(tmp_path) for _ in range(4)]

    def remember(at: int) -> None:
        keep(servers[at], *(rule(f"{at}-{n}") for n in range(10)))

    threads = [threading.Thread(target=remember, args=(at,)) for at in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    wanted = sorted(f"{at}-{n}" for at in range(4) for n in range(10))
    assert [names(server) for server in servers] == [wanted] * 4
    servers[0].keep(rule("1-1").key, None)
    assert "1-1" not in names(servers[2])


def test_stamps_rise_with_the_time(tmp_path: Path) -> None:
    it = Permits(tmp_path)
    stamps = [it.read()[1], it.keep(rule().key, dump(rule()))[1], it.read()[1]]
    assert stamps == sorted(set(stamps))


@pytest.mark.parametrize(
    "damaged",
    [
        b"",
        b"{",
        b"\xff",
        b"[]",
        b'{"format": 1}',
        b'{"format": "9"}',
        b"[" * 100_000,
        json.dumps(dump(rule("another"))).encode(),
        b" " * permits.FILE_LIMIT_BYTES + b"{}",
    ],
)
def test_what_is_damaged_is_set_aside(
    tmp_path: Path, damaged: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    it = Permits(tmp_path)
    keep(it, rule("a"), rule("b"))
    file = tmp_path / f"{rule('a').key}.json"
    file.write_bytes(damaged)
    assert names(it) == ["b"]
    assert names(it) == ["b"]
    (said,) = caplog.messages
    assert "is damaged and is set aside" in said
    assert not file.exists()
    assert file.with_suffix(".damaged").read_bytes() == damaged
    keep(it, rule("a"))
    assert names(it) == ["a", "b"]


def test_a_rule_of_a_later_version_is_passed_over_and_stays(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    keep(Permits(tmp_path), rule("a"))
    file = tmp_path / f"p{'0' * 16}.json"
    file.write_text('{"format": 2, "anything": 1}')
    it = Permits(tmp_path)
    assert names(it) == names(it) == ["a"]
    assert file.exists()
    (said,) = caplog.messages
    assert "of a later version" in said


def test_other_files_and_folders_are_left_alone(tmp_path: Path) -> None:
    for name in ("README", "x.json", ".part-x", "p1.txt"):
        (tmp_path / name).write_text("{")
    (tmp_path / "p2.json").mkdir()
    assert names(Permits(tmp_path)) == []
    assert len(list(tmp_path.iterdir())) == 5
    assert names(Permits(tmp_path / "README")) == []


def test_a_rule_that_changes_on_disk_is_read_anew(tmp_path: Path) -> None:
    it = Permits(tmp_path)
    keep(it, rule("a"))
    assert names(it) == ["a"]
    file = tmp_path / f"{rule('a').key}.json"
    file.write_text("{")
    assert names(it) == []


def test_the_oldest_go_first(tmp_path: Path) -> None:
    it = Permits(tmp_path)
    for number in range(FILES_LIMIT + 2):
        one = rule(str(number))
        file = tmp_path / f"{one.key}.json"
        file.write_text(json.dumps(dump(one)))
        os.utime(file, (1_000 + number, 1_000 + number))
    old = tmp_path / ".part-old"
    old.write_text("")
    os.utime(old, (1_000, 1_000))
    for number in range(30):
        (tmp_path / f"p{number}.damaged").write_text("")
    keep(it, rule("last"))
    found = names(it)
    assert len(found) == FILES_LIMIT
    assert not {"0", "1", "2"} & set(found)
    assert "last" in found
    assert not old.exists()
    assert len(list(tmp_path.glob("*.damaged"))) == 20


def test_what_cannot_be_written_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    it = Permits(tmp_path)
    large = rule("a" * permits.FILE_LIMIT_BYTES)
    assert it.keep(large.key, dump(large))[0] == "it is larger than 256 KiB"
    monkeypatch.setattr(os, "fsync", full)
    problem, _ = it.keep(rule().key, dump(rule()))
    assert problem == f"{tmp_path}: No space left on device"
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_read_is_said_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def denied(*_: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(os, "scandir", denied)
    it = Permits(tmp_path)
    assert it.read()[0] is None
    assert it.read()[0] is None
    assert caplog.messages == [f"{tmp_path} cannot be read: Permission denied"]


# --- where paths are ---------------------------------------------------------------------------


def test_paths_are_found_through_all_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = tmp_path / "real"
    real.mkdir()
    (tmp_path / "link").symlink_to(real)
    (real / "up").symlink_to("../other")
    monkeypatch.setenv("HOME", str(tmp_path / "link"))
    wanted = {
        str(tmp_path / "link" / "new" / "file"): str(real / "new" / "file"),
        str(tmp_path / "link" / "up" / "x"): str(tmp_path / "other" / "x"),
        str(tmp_path / "link" / ".." / "a"): str(tmp_path / "a"),
        "~": str(real),
        "~/x": str(real / "x"),
    }
    assert places([*wanted, "relative", "", "~nobody-of-this-name/x", "/a\0b"]) == wanted


# --- as effects --------------------------------------------------------------------------------


class Desk:
    """``told``: the events so far."""

    def __init__(self) -> None:
        self.told: list[Any] = []
        self._news = anyio.Event()

    def emit(self, event: Any) -> None:
        self.told.append(event)
        self._news.set()

    async def next(self, count: int) -> Any:
        with anyio.fail_after(10):
            while len(self.told) < count:
                self._news = anyio.Event()
                await self._news.wait()
        return self.told[count - 1]


@pytest.mark.anyio
async def test_what_is_kept_is_read_with_where_paths_are(tmp_path: Path) -> None:
    desk, key = Desk(), rule().key
    (real,) = places([str(tmp_path / "x")]).values()
    async with anyio.create_task_group() as tasks:
        it = Files(tasks, desk.emit, tmp_path)
        it.perform(KeepPermission("keep", key, dump(rule())))
        kept = await desk.next(1)
        assert kept == PermissionKept("keep", key, kept.stamp)
        it.perform(ReadPermissions("read", (str(tmp_path / "x"),)))
        read = await desk.next(2)
        assert isinstance(read, PermissionsRead)
        assert read.token == "read"
        assert read.places == {str(tmp_path / "x"): real}
        assert [value["name"] for value in read.stored or ()] == ["a"]
        assert read.stamp > kept.stamp
        it.perform(KeepPermission("drop", key, None))
        await desk.next(3)
        it.perform(ReadPermissions("read", ()))
        assert (await desk.next(4)).stored == ()
        await it.aclose()


@pytest.mark.anyio
async def test_what_was_read_is_told_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Questions are put in the order of their arrival, however long each is looked at."""
    second = threading.Event()

    def look(paths: Any) -> dict[str, str]:
        if "/first" in paths:
            assert second.wait(10)
        else:
            second.set()
        return {}

    monkeypatch.setattr(permits, "places", look)
    desk = Desk()
    async with anyio.create_task_group() as tasks:
        it = Files(tasks, desk.emit, tmp_path)
        it.perform(ReadPermissions(1, ("/first",)))
        it.perform(ReadPermissions(2, ("/second",)))
        await desk.next(2)
        assert [event.token for event in desk.told] == [1, 2]
        await it.aclose()


@pytest.mark.anyio
async def test_a_bug_of_ours_is_as_if_nothing_were_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def trip(*_: object) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr(Permits, "read", trip)
    monkeypatch.setattr(Permits, "keep", trip)
    desk = Desk()
    async with anyio.create_task_group() as tasks:
        it = Files(tasks, desk.emit, tmp_path)
        it.perform(ReadPermissions("read", ("/a",)))
        assert await desk.next(1) == PermissionsRead("read", {}, None, 0)
        it.perform(KeepPermission("keep", "p1", {}))
        kept = await desk.next(2)
        assert (kept.token, kept.problem) == ("keep", "a mistake in acpls; its log says more")
        await it.aclose()
    assert "a bug" in caplog.text


@pytest.mark.anyio
async def test_a_file_system_that_does_not_answer_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The user is asked in the end; a question that nobody sees would hold the agent up."""
    answers = threading.Event()
    monkeypatch.setattr(files, "PERMISSIONS_LIMIT_S", 0.05)
    monkeypatch.setattr(permits, "places", lambda _: answers.wait(20) and {})
    desk = Desk()
    before = time.monotonic()
    async with anyio.create_task_group() as tasks:
        it = Files(tasks, desk.emit, tmp_path)
        it.perform(ReadPermissions("read", ("/a",)))
        assert await desk.next(1) == PermissionsRead("read", {}, None, 0)
        answers.set()
        await it.aclose()
    assert time.monotonic() - before < 10
