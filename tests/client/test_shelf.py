"""The shelf: what is put there is there for the next run; every fault costs one file at most."""

from __future__ import annotations

import json
import os
import stat
import threading
from typing import TYPE_CHECKING, Any

import pytest

from acpls.client import shelf
from acpls.client.shelf import MAX_FILES, Shelf

if TYPE_CHECKING:
    from pathlib import Path

ROOTS = ("/b", "/a")
# JSON of every kind; half of a surrogate pair may stand in a text that an agent told.
VALUES: list[Any] = [{"a": [1, 2.5, None, True]}, [], "\ud800 \u2028 \x00", 0, False, {"": {}}]


def only_file(folder: Path) -> Path:
    (file,) = folder.iterdir()
    return file


@pytest.mark.parametrize("value", VALUES)
def test_what_is_put_is_there_for_the_next_run(tmp_path: Path, value: Any) -> None:
    Shelf(tmp_path / "new" / "folder").put(ROOTS, value)
    assert Shelf(tmp_path / "new" / "folder").get(ROOTS) == value


def test_the_order_of_the_roots_does_not_matter_and_each_root_does(tmp_path: Path) -> None:
    it = Shelf(tmp_path)
    it.put(("/b", "/a"), 1)
    it.put(("/a",), 2)
    assert it.get(("/a", "/b", "/a")) == 1
    assert it.get(("/a",)) == 2
    assert it.get(("/b",)) is None


def test_a_value_takes_the_place_of_the_one_before_and_none_removes_it(tmp_path: Path) -> None:
    it = Shelf(tmp_path)
    it.put(ROOTS, 1)
    it.put(ROOTS, 2)
    assert it.get(ROOTS) == 2
    it.put(ROOTS, None)
    it.put(ROOTS, None)
    assert it.get(ROOTS) is None
    assert list(tmp_path.iterdir()) == []


def test_only_the_user_may_read_it(tmp_path: Path) -> None:
    Shelf(tmp_path / "state").put(ROOTS, 1)
    assert stat.S_IMODE((tmp_path / "state").stat().st_mode) == 0o700
    assert stat.S_IMODE(only_file(tmp_path / "state").stat().st_mode) == 0o600


# --- faults ------------------------------------------------------------------------------------

WHOLE = {"format": 1, "roots": ["/a", "/b"], "value": 1}
DAMAGED = {
    "empty": b"",
    "half": json.dumps(WHOLE).encode()[:-4],
    "not UTF-8": b"\xff\xfe\xff",
    "another shape": b"[1]",
    "of a later version": json.dumps({**WHOLE, "format": 2}).encode(),
    "of other roots": json.dumps({**WHOLE, "roots": ["/c"]}).encode(),
    "nested too deeply": b"[" * 200_000,
}


@pytest.mark.parametrize("data", DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_file_is_as_good_as_none_and_is_logged_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, data: bytes
) -> None:
    it = Shelf(tmp_path)
    it.put(ROOTS, 1)
    only_file(tmp_path).write_bytes(data)
    assert it.get(ROOTS) is None
    assert it.get(ROOTS) is None
    (record,) = caplog.records
    assert "passed over" in record.getMessage()
    it.put(ROOTS, 2)
    assert it.get(ROOTS) == 2


def test_a_folder_in_place_of_the_file_is_no_more_than_damage(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    it = Shelf(tmp_path)
    it.put(ROOTS, 1)
    file = only_file(tmp_path)
    file.unlink()
    file.mkdir()
    assert it.get(ROOTS) is None
    it.put(ROOTS, 2)
    it.put(ROOTS, None)
    assert it.get(ROOTS) is None
    assert "passed over" in caplog.text
    assert list(tmp_path.iterdir()) == [file]


def test_what_is_too_large_is_not_kept_nor_what_was_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    it = Shelf(tmp_path)
    it.put(ROOTS, 1)
    monkeypatch.setattr(shelf, "FILE_LIMIT_BYTES", 1000)
    it.put(ROOTS, "x" * 1000)
    it.put(ROOTS, "x" * 1000)
    assert it.get(ROOTS) is None
    assert [record.levelname for record in caplog.records] == ["WARNING"]


def test_a_file_that_grew_too_large_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    it = Shelf(tmp_path)
    it.put(ROOTS, "x" * 1000)
    monkeypatch.setattr(shelf, "FILE_LIMIT_BYTES", 1000)
    assert it.get(ROOTS) is None
    assert "too large" in caplog.text


def test_a_state_folder_that_cannot_be_is_logged_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("in the way")
    it = Shelf(tmp_path / "file" / "state")
    for roots in (ROOTS, ROOTS, ("/c",)):
        it.put(roots, 1)
        assert it.get(roots) is None
    assert "cannot be kept" in caplog.text
    assert caplog.text.count("cannot be kept") == 1


def test_a_read_only_folder_keeps_what_it_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    it = Shelf(tmp_path)
    it.put(ROOTS, 1)

    def refuse(*_: object, **__: object) -> None:
        raise OSError(30, "Read-only file system")

    # Permission bits do not stop root, as whom tests may run.
    monkeypatch.setattr("tempfile.mkstemp", refuse)
    monkeypatch.setattr("os.utime", refuse)
    it.put(ROOTS, 2)
    assert it.get(ROOTS) == 1
    assert "Read-only file system" in caplog.text


def test_a_disk_that_fills_up_leaves_the_old_value_and_no_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    it = Shelf(tmp_path)
    it.put(ROOTS, 1)

    def refuse(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", refuse)
    it.put(ROOTS, 2)
    assert it.get(ROOTS) == 1
    assert len(list(tmp_path.iterdir())) == 1


def test_a_value_that_is_no_json_is_a_bug_and_says_so(tmp_path: Path) -> None:
    with pytest.raises(TypeError):
        Shelf(tmp_path).put(ROOTS, object())


# --- bounds ------------------------------------------------------------------------------------


def test_the_oldest_go_and_reading_counts_as_use(tmp_path: Path) -> None:
    it = Shelf(tmp_path)
    for number in range(MAX_FILES):
        it.put((f"/{number}",), number)
        os.utime(it._file((f"/{number}",)), (number, number))
    assert it.get(("/0",)) == 0
    it.put(("/new",), "new")
    assert it.get(("/1",)) is None
    assert it.get(("/0",)) == 0
    assert it.get(("/2",)) == 2
    assert len(list(tmp_path.iterdir())) == MAX_FILES


def test_what_a_dead_server_left_goes_and_what_another_writes_stays(tmp_path: Path) -> None:
    (tmp_path / ".part-old").write_text("half")
    os.utime(tmp_path / ".part-old", (1, 1))
    (tmp_path / ".part-new").write_text("half")
    Shelf(tmp_path).put(ROOTS, 1)
    assert [file.name for file in tmp_path.glob(".part-*")] == [".part-new"]


def test_two_servers_that_share_a_folder_never_read_half_a_file(tmp_path: Path) -> None:
    seen: list[Any] = []
    one, two = Shelf(tmp_path), Shelf(tmp_path)
    one.put(ROOTS, ["start"] * 1000)

    def write(it: Shelf, word: str) -> None:
        for _ in range(30):
            it.put(ROOTS, [word] * 1000)
            seen.append(it.get(ROOTS))

    threads = [threading.Thread(target=write, args=pair) for pair in ((one, "1"), (two, "2"))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 60
    assert all(value in (["1"] * 1000, ["2"] * 1000) for value in seen)
