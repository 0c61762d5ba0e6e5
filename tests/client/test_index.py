"""Entries of the index: small, and as they were put."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acpls.client import index as module
from acpls.client.index import (
    ABSENT,
    LINK,
    PIPE,
    Entry,
    Index,
    has_digest,
    is_asked,
    is_other,
    is_settled,
    is_walked,
    state_of,
    unpacked,
    unseen,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

STATE = unseen(0o644)
DIGEST = bytes(range(32))

entries = st.builds(
    Entry,
    st.binary(min_size=len(STATE), max_size=len(STATE)),
    st.just(b"") | st.binary(min_size=32, max_size=32),
    st.booleans(),
    st.booleans(),
    st.booleans(),
    st.booleans(),
    st.sampled_from([b"", b"b" * 20, b"b" * 32]),
)


def status(
    size: int = 1, mtime: int = 2, ctime: int = 3, inode: int = 4, mode: int = 0o100644
) -> os.stat_result:
    values: Sequence[float] = (mode, inode, 0, 1, 0, 0, size, 0, 0, 0)
    return os.stat_result(values, {"st_mtime_ns": mtime, "st_ctime_ns": ctime})


@given(entry=entries)
def test_an_entry_is_unpacked_as_it_was_packed(entry: Entry) -> None:
    packed = entry.packed()
    assert unpacked(packed) == entry
    assert is_walked(packed) is entry.walked
    assert is_asked(packed) is entry.asked
    assert has_digest(packed) is bool(entry.digest)
    settled = entry.walked and not entry.again and not entry.unsure
    assert is_settled(packed, entry.state) is settled
    assert not is_settled(packed, bytes(reversed(STATE)) + b"x")


def test_no_entry_and_no_file_are_nothing() -> None:
    assert ABSENT.is_absent
    assert unpacked(ABSENT.packed()) == ABSENT
    for packed in (None, b""):
        assert not is_walked(packed)
        assert not is_asked(packed)
        assert not has_digest(packed)
        assert not is_settled(packed, STATE)


@pytest.mark.parametrize(
    "changed",
    [{"size": 9}, {"mtime": 9}, {"ctime": 9}, {"inode": 9}, {"mode": 0o100755}, {"mtime": -1}],
)
def test_a_state_is_another_when_anything_is(changed: dict[str, int]) -> None:
    state, other = state_of(status()), state_of(status(**changed))
    assert state != other
    alike = not {"size", "mtime", "inode"} & set(changed)
    assert Entry(state).resembles(Entry(other)) is alike


def test_a_state_holds_what_no_sane_file_has() -> None:
    odd = status(size=-1, mtime=-(10**18), ctime=32_503_680_000_000_000_000, inode=1 << 70)
    assert len(state_of(odd)) == len(STATE)
    entry = Entry(state_of(status(size=5, mode=0o100750)))
    assert (entry.size_bytes, entry.mode) == (5, 0o750)
    assert unseen(None) != state_of(status())


def test_windows_tells_size_and_time_when_it_lists_a_folder(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "_POSIX", False)
    assert state_of(status()) == state_of(status(ctime=9, inode=9, mode=0o100755))
    assert state_of(status()) != state_of(status(size=9))
    assert state_of(status()) != state_of(status(mtime=9))


def test_what_is_no_file_is_told_from_what_is_one() -> None:
    for entry, is_file in ((ABSENT, False), (LINK, False), (PIPE, False), (Entry(STATE), True)):
        packed = entry.packed()
        assert unpacked(packed) == entry
        assert entry.is_file is is_file
        assert is_other(packed) is (entry in {LINK, PIPE})
        assert not is_settled(packed, state_of(status()))
    assert not is_other(None)
    assert not LINK.is_absent
    assert not is_other(Entry(state_of(status())).packed())


def test_entries_are_kept_by_folder_and_name(tmp_path: Path) -> None:
    index, folder = Index(), str(tmp_path)
    one, two = Entry(STATE, DIGEST), Entry(STATE, again=True)
    place = f"{folder}{os.sep}f"
    assert index.get(place) is None
    index.forget_absent(place)
    assert index.swap(folder, "f", None, one)
    assert index.packed(place) == one.packed()
    assert index.swap(folder, "f", one.packed(), two)
    assert index.get(place) == two
    assert index.folder(folder) == {"f": two.packed()}
    copy = index.folder(folder)
    assert not index.swap(folder, "f", one.packed(), one)
    assert not index.swap(folder, "f", None, one)
    assert index.get(place) == two
    assert index.swap(folder, "f", two.packed(), one)
    assert index.swap(folder, "g", None, ABSENT)
    assert copy == {"f": two.packed()}
    assert list(index.contents()) == [DIGEST.hex()]
    index.forget_absent(place)
    assert index.get(place) == one
    other = f"{folder}{os.sep}g"
    assert index.get(other) == ABSENT
    index.forget_absent(other)
    assert index.get(other) is None
    assert not index.swap(f"{folder}{os.sep}d", "f", b"", one)
    assert index.swap(folder, "f", one.packed(), ABSENT)
    index.forget_absent(place)
    assert list(index.folders(folder)) == []


def test_folders_of_a_root_are_not_those_of_its_neighbour() -> None:
    index = Index()
    for place in ("/a/f", "/a/b/f", "/ab/f", "/f"):
        index.swap(*os.path.split(place.replace("/", os.sep)), None, Entry(STATE))
    folders = [place.replace("/", os.sep) for place in ("/a", "/a/b")]
    assert list(index.folders(folders[0])) == folders
    assert len(list(index.folders(os.sep))) == 4


def test_only_one_of_many_threads_takes_the_place_of_an_entry() -> None:
    index, packed = Index(), Entry(STATE).packed()
    index.swap("d", "f", None, Entry(STATE))
    barrier = threading.Barrier(8)
    taken: list[bool] = []

    def swap() -> None:
        barrier.wait()
        taken.append(index.swap("d", "f", packed, ABSENT))

    threads = [threading.Thread(target=swap) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert taken.count(True) == 1
    assert taken.count(False) == 7
