"""The store of bytes: what is given back is what was put, or nothing."""

from __future__ import annotations

import hashlib
import logging
import os
import stat
import threading
import time
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from acpls.client import store as module
from acpls.client.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable

BLOCK = 4096


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "state" / "store"


def blob(folder: Path, content: str) -> Path:
    return folder / content[:2] / content[2:]


def age(file: Path, hours: float) -> None:
    then_s = time.time() - hours * 3600
    os.utime(file, (then_s, then_s))


def is_new(file: Path) -> bool:
    return time.time() - file.stat().st_mtime < 600


@given(data=st.binary() | st.binary(min_size=1).map(lambda part: part * 3000))
@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_come_back(data: bytes, tmp_path: Path) -> None:
    """D20: what an earlier run kept is given back by its hash, and so it is what was meant."""
    content = Store(tmp_path / "store").put(data)
    assert content == hashlib.sha256(data).hexdigest()
    # Another server, or this one's next run.
    assert Store(tmp_path / "store").get(content) == data


def test_what_was_never_put_is_not_there(folder: Path) -> None:
    store = Store(folder)
    assert store.get(hashlib.sha256(b"never").hexdigest()) is None
    store.put(b"one")
    (folder.parent / "secret").write_bytes(zlib.compress(b"secret"))
    for name in ("", "../../secret", "..", str(folder.parent / "secret"), "A" * 64):
        assert store.get(name) is None


def test_only_the_user_can_read_it(folder: Path) -> None:
    content = Store(folder).put(b"secret")
    file = blob(folder, content)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


@pytest.mark.parametrize(
    "damage",
    [
        lambda packed: b"",
        lambda packed: packed[:-1],
        lambda packed: packed[:5],
        lambda packed: b"\0" * len(packed),
        lambda packed: zlib.compress(b"other bytes"),
    ],
)
def test_a_damaged_blob_is_none_and_is_put_again(
    folder: Path, damage: Callable[[bytes], bytes]
) -> None:
    store = Store(folder)
    content = store.put(b"bytes" * 100)
    file = blob(folder, content)
    file.write_bytes(damage(file.read_bytes()))
    assert store.get(content) is None
    store.put(b"bytes" * 100)
    assert store.get(content) == b"bytes" * 100


def test_an_empty_file_that_a_crash_left_is_put_again(folder: Path) -> None:
    store = Store(folder)
    content = store.put(b"bytes")
    blob(folder, content).write_bytes(b"")
    store.put(b"bytes")
    assert store.get(content) == b"bytes"


def test_a_blob_that_would_fill_the_memory_is_damaged(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(folder)
    content = store.put(b"\0" * 1_000_000)
    monkeypatch.setattr(module, "_LONGEST_BYTES", 1000)
    assert store.get(content) is None


def test_a_folder_that_cannot_be_written_costs_one_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_bytes(b"")
    store = Store(tmp_path / "file" / "store")
    with caplog.at_level(logging.INFO):
        for data in (b"one", b"two"):
            content = store.put(data)
            assert content == hashlib.sha256(data).hexdigest()
            assert store.get(content) is None
        store.use([content])
        store.trim()
    (record,) = caplog.records
    assert record.levelname == "WARNING"
    assert str(tmp_path / "file" / "store") in record.getMessage()


def test_a_write_that_fails_leaves_nothing_behind(
    folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    store = Store(folder)
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", refuse)
        content = store.put(b"bytes")
    assert [file for file in folder.rglob("*") if file.is_file()] == []
    assert "No space left on device" in caplog.text
    store.put(b"bytes")
    assert store.get(content) == b"bytes"


# --- what goes first -----------------------------------------------------------------


def filled(folder: Path, limit_bytes: int) -> tuple[Store, list[str]]:
    """A store with ten blobs of one block each, the first of which was used last."""
    store = Store(folder, limit_bytes)
    contents = [store.put(f"{number}".encode()) for number in range(10)]
    for number, content in enumerate(contents):
        age(blob(folder, content), hours=2 + number)
    return store, contents


def left(store: Store, contents: list[str], folder: Path) -> list[int]:
    return [n for n, content in enumerate(contents) if blob(folder, content).exists()]


def test_what_was_not_used_for_the_longest_time_goes_first(folder: Path) -> None:
    store, contents = filled(folder, 8 * BLOCK)
    store.trim()
    # There is some room again, so that the next walk need not trim.
    assert left(store, contents, folder) == [0, 1, 2, 3, 4, 5, 6]


def test_nothing_goes_within_the_limit(folder: Path) -> None:
    store, contents = filled(folder, 10 * BLOCK)
    store.trim()
    assert left(store, contents, folder) == list(range(10))


def test_what_is_got_put_or_named_is_used(folder: Path) -> None:
    store, contents = filled(folder, 5 * BLOCK)
    store.get(contents[9])
    store.put(b"8")
    store.use([contents[7], hashlib.sha256(b"never").hexdigest()])
    store.trim()
    assert left(store, contents, folder) == [0, 7, 8, 9]


def test_a_time_of_use_in_the_future_is_not_believed(folder: Path) -> None:
    store = Store(folder)
    file = blob(folder, store.put(b"one"))
    age(file, hours=-1000)
    store.use([file.parent.name + file.name])
    assert is_new(file)


def test_a_trim_is_cheap_until_there_is_reason(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[str] = []
    entries = module._entries

    def noted(path: str) -> list[os.DirEntry[str]]:
        looked.append(path)
        return entries(path)

    monkeypatch.setattr(module, "_entries", noted)
    store, _ = filled(folder, 100 * BLOCK)
    store.trim()
    assert looked[0] == str(folder)
    looked.clear()
    for number in range(6):
        store.put(f"more {number}".encode())
        store.trim()
    assert looked == []
    store.put(b"and more")
    store.trim()
    assert looked
    looked.clear()
    # Other servers may have put something meanwhile.
    now_s = time.time()
    monkeypatch.setattr(time, "time", lambda: now_s + 4000)
    store.trim()
    assert looked


def test_what_crashes_left_is_removed_when_it_is_old(folder: Path) -> None:
    store, contents = filled(folder, 100 * BLOCK)
    old = blob(folder, contents[0]).with_name(".part-1-1")
    young = blob(folder, contents[1]).with_name(".part-1-2")
    for part in (old, young):
        part.write_bytes(b"part")
    age(old, hours=2)
    (folder / "a file").write_bytes(b"")
    store.trim()
    assert (old.exists(), young.exists()) == (False, True)


def test_a_blob_that_cannot_be_removed_stays(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store, contents = filled(folder, 5 * BLOCK)
    stuck = blob(folder, contents[9])
    unlink = Path.unlink

    def refuse(path: Path, missing_ok: bool = False) -> None:
        if path == stuck:
            raise PermissionError(13, "Permission denied")
        unlink(path, missing_ok)

    monkeypatch.setattr(Path, "unlink", refuse)
    store.trim()
    assert left(store, contents, folder) == [0, 1, 2, 9]


def test_what_goes_while_it_is_looked_through_is_no_matter(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another server may trim at the same time."""
    store, contents = filled(folder, 5 * BLOCK)
    entries = module._entries

    def gone(path: str) -> list[os.DirEntry[str]]:
        found = entries(path)
        if path == str(blob(folder, contents[0]).parent):
            blob(folder, contents[0]).unlink()
        return found

    monkeypatch.setattr(module, "_entries", gone)
    store.trim()
    assert left(store, contents, folder) == [1, 2, 3, 4]


def test_many_threads_put_the_same_bytes(folder: Path) -> None:
    stores = [Store(folder), Store(folder)]
    barrier = threading.Barrier(8)
    contents: list[str] = []

    def put(store: Store) -> None:
        barrier.wait()
        contents.extend(store.put(f"{number}".encode() * 1000) for number in range(30))

    threads = [threading.Thread(target=put, args=(stores[n % 2],)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(contents)) == 30
    assert all(stores[0].get(content) is not None for content in contents)
    assert not [file for file in folder.rglob("*") if file.name.startswith(".")]
