"""Every change of a file is told, told once, and with what the file held before."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import sys
import tempfile
import threading
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from acpls.client import baselines as module
from acpls.client import git, sweeping, walking
from acpls.client.baselines import Baselines
from acpls.client.index import unseen
from acpls.client.looking import Look, look
from acpls.client.store import Store
from acpls.client.sweeping import Caps
from acpls.events import FIRST, SAME, Disk, Earlier
from acpls.text.diff import Hunk
from git_repository import Repository

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from acpls.client.ignoring import Level

LOST = Earlier("lost")


class World:
    """A root with files, and the baselines of a server that is told of them."""

    def __init__(self, folder: Path, caps: Caps | None = None) -> None:
        self.root = folder / "root"
        self.root.mkdir()
        self.store = Store(folder / "store")
        self.baselines = Baselines(self.store, caps)
        self.roots = (str(self.root),)

    def write(self, name: str, data: bytes) -> Path:
        file = self.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
        return file

    def path(self, name: str) -> str:
        return f"{self.root}{os.sep}{name}"

    def look(self, name: str) -> tuple[Disk, Earlier]:
        return self.baselines.look(self.path(name), self.roots)

    def earlier(self, name: str) -> Earlier:
        return self.look(name)[1]

    def walk(self) -> dict[str, tuple[Disk, Earlier]]:
        """Walk, look at each candidate, and give those that changed, by their names."""
        found: dict[str, tuple[Disk, Earlier]] = {}
        for path in self.baselines.walk(self.roots).candidates:
            disk, earlier = self.baselines.look(path, self.roots)
            if earlier.changed:
                found[os.path.relpath(path, self.root)] = disk, earlier
        return found


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def settle(patch: pytest.MonkeyPatch) -> None:
    """Take no file for one that may change and look the same, as after some seconds."""
    patch.setattr(sweeping, "is_fresh", lambda *_: False)
    patch.setattr(module, "is_fresh", lambda *_: False)


def content(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def before(earlier: Earlier) -> str | None:
    """The text that a file had, of which the bytes are known."""
    assert earlier.how == "store"
    assert earlier.disk is not None
    return earlier.disk.text


# --- any sequence --------------------------------------------------------------------

Step: TypeAlias = tuple[str, str, int]
Steps: TypeAlias = st.SearchStrategy[list[Step]]
NAMES = ("a", "b", "d", "d/a", "d/b")
CONTENTS = (b"one\n", b"two\n", b"three\n", b"", b"\0\1\0\2", "grün\n".encode("latin-1"))
# Files that are changed at the same moment and to the same length look the same.
MOMENT_NS = 1_700_000_000_000_000_000


class Model(World):
    """What is on disk and what was told, by name; a file that is missing is ``None``."""

    def __init__(self, folder: Path, moment_ns: int | None = MOMENT_NS) -> None:
        super().__init__(folder)
        self.moment_ns = moment_ns
        self.patient = False
        self.told: dict[str, bytes | None] = {}

    def held(self, name: str) -> bytes | None:
        file = self.root / name
        return file.read_bytes() if file.is_file() else None

    def step(self, what: str, name: str, number: int) -> None:
        file = self.root / name
        if what in {"write", "replace", "folder"}:
            self.make_room(name)
        match what:
            case "write":
                file.write_bytes(CONTENTS[number])
                self.date(file)
            case "replace":
                other = self.root / "part~"
                other.write_bytes(CONTENTS[number])
                self.date(other)
                other.replace(file)
            case "touch" if file.is_file():
                os.utime(file)
            case "remove" if file.is_file():
                file.unlink()
            case "rename" if file.is_file():
                self.make_room(NAMES[number % len(NAMES)])
                if file.is_file():
                    file.replace(self.root / NAMES[number % len(NAMES)])
            case "folder":
                file.unlink(missing_ok=True)
                file.mkdir()
            case "look":
                if self.patient:
                    walking.next_moment()
                self.check(name, *self.look(name))
            case "walk":
                self.check_walk()

    def date(self, file: Path) -> None:
        if self.moment_ns is not None:
            os.utime(file, ns=(self.moment_ns, self.moment_ns))

    def make_room(self, name: str) -> None:
        """Let a name be that of a file, or of none."""
        file = self.root / name
        if not file.parent.is_dir():
            file.parent.unlink(missing_ok=True)
            file.parent.mkdir()
        if file.is_dir():
            shutil.rmtree(file)

    def check(self, name: str, disk: Disk, earlier: Earlier) -> None:
        """It is told what is true, and before it what was told last."""
        was, now = self.told.get(name), self.held(name)
        if was == now:
            assert earlier == SAME
        elif was is None:
            assert earlier == Earlier("store", Disk(self.path(name), None))
        else:
            assert earlier.how == "store"
            assert earlier.disk is not None
            assert earlier.disk.content == content(was)
        assert disk.content == (None if now is None else content(now))
        self.told[name] = now

    def check_walk(self) -> None:
        """A walk names all that is different, nothing of which was told already."""
        different = {name for name in NAMES if self.told.get(name) != self.held(name)}
        candidates = self.baselines.walk(self.roots).candidates
        names = [os.path.relpath(path, self.root) for path in candidates]
        assert len(set(names)) == len(names)
        assert set(names) == different
        for path, name in zip(candidates, names, strict=True):
            self.check(name, *self.baselines.look(path, self.roots))


ALL = ("write", "write", "replace", "touch", "remove", "rename", "folder", "look", "walk")


def steps_of(whats: Sequence[str], names: Sequence[str], contents: int) -> Steps:
    step = st.tuples(st.sampled_from(whats), st.sampled_from(names), st.integers(0, contents - 1))
    return st.lists(step, max_size=12)


STEPS = steps_of(ALL, NAMES, len(CONTENTS))
# Few enough that a file is often written again with as many bytes.
FEW_STEPS = steps_of(("write", "look", "walk"), ("a", "d/a"), 2)


@given(first=STEPS, steps=STEPS, patient=st.booleans())
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_each_change_is_told_once_with_the_right_bytes(
    first: list[Step], steps: list[Step], patient: bool, tmp_path: Path
) -> None:
    """D03, D53: whatever changes files, and however often it is looked at them.

    ``patient``: nobody looks before the clock by which files are dated has ticked, so that
    no file is young and the second walk reads none of them.
    """
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory(dir=tmp_path) as folder:
        if patient:
            settle(patch)
        model = Model(Path(folder))
        model.patient = patient
        for what, name, number in first:
            if what not in {"look", "walk"}:
                model.step(what, name, number)
        assert model.baselines.walk(model.roots).candidates == ()
        model.told = {name: model.held(name) for name in NAMES}
        for step in steps:
            model.step(*step)
        model.step("walk", "", 0)
        assert model.baselines.walk(model.roots).candidates == ()


@given(first=FEW_STEPS, steps=FEW_STEPS)
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_file_system_that_keeps_whole_seconds_loses_no_change(
    first: list[Step], steps: list[Step], tmp_path: Path
) -> None:
    def state(status: os.stat_result) -> bytes:
        seconds = status.st_mtime_ns // 2_000_000_000
        return f"{status.st_size} {seconds}".encode().ljust(len(unseen(0)))

    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory(dir=tmp_path) as folder:
        patch.setattr(sweeping, "state_of", state)
        patch.setattr(module, "state_of", state)
        model = Model(Path(folder), moment_ns=None)
        for what, name, number in first:
            if what not in {"look", "walk"}:
                model.step(what, name, number)
        model.baselines.walk(model.roots)
        model.told = {name: model.held(name) for name in NAMES}
        for step in steps:
            model.step(*step)
        model.step("walk", "", 0)


# --- one file ------------------------------------------------------------------------


def test_a_file_is_compared_with_what_was_last_told(world: World) -> None:
    file = world.write("f", b"one\ntwo\n")
    assert world.look("f") == (look(str(file), world.roots).disk, FIRST)
    assert world.earlier("f") == SAME
    file.write_bytes(b"one\n2\n")
    disk, earlier = world.look("f")
    assert disk.text == "one\n2\n"
    assert before(earlier) == "one\ntwo\n"
    assert earlier.disk is not None
    assert earlier.disk.content == content(b"one\ntwo\n")
    assert earlier.hunks == (Hunk(1, 2, ("two\n",), ("2\n",)),)
    assert world.earlier("f") == SAME
    file.unlink()
    disk, earlier = world.look("f")
    assert disk.is_missing
    assert before(earlier) == "one\n2\n"
    assert earlier.hunks is None
    assert world.earlier("f") == SAME
    file.write_bytes(b"")
    assert world.earlier("f") == Earlier("store", Disk(str(file), None))


def test_a_file_that_was_told_to_be_missing_is_new(world: World) -> None:
    assert world.earlier("f") == FIRST
    file = world.write("f", b"")
    assert world.earlier("f") == Earlier("store", Disk(str(file), None))


def test_what_is_outside_is_told_and_forgotten(world: World, tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"secret")
    for _ in range(2):
        disk, earlier = world.baselines.look(str(tmp_path / "f"), world.roots)
        assert (disk.inside, disk.text, earlier) == (False, None, FIRST)


def test_what_is_no_text_is_known_by_its_bytes(world: World) -> None:
    world.write("f", b"\0\1\0")
    world.earlier("f")
    world.write("f", b"text\n")
    _, earlier = world.look("f")
    assert earlier.how == "store"
    assert earlier.disk is not None
    assert (earlier.disk.text, earlier.disk.problem) == (None, "is binary")
    assert earlier.disk.content == content(b"\0\1\0")
    assert earlier.hunks is None
    assert world.store.get(content(b"\0\1\0")) == b"\0\1\0"


def test_both_texts_are_read_in_the_encoding_that_was_guessed(world: World) -> None:
    old = "Größe und Höhe sind für Möbel üblich.\n"
    world.write("f", old.encode("latin-1"))
    disk, _ = world.look("f")
    assert disk.form.guessed
    world.write("f", "für\n".encode("latin-1"))
    disk, earlier = world.look("f")
    assert disk.text == "für\n"
    assert before(earlier) == old
    assert earlier.disk is not None
    assert earlier.disk.form.encoding == disk.form.encoding


def test_the_mode_that_a_file_had_is_known(world: World) -> None:
    file = world.write("f", b"one")
    file.chmod(0o750)
    world.earlier("f")
    file.unlink()
    earlier = world.earlier("f")
    assert earlier.disk is not None
    assert earlier.disk.form.mode == 0o750


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"a\n" * 50_001, b"b\n"),
        (b"a\n", b"b\n" * 50_001),
        (b"a\n", b"b" * 20_001),
        (b"aaaaaaa\n" * (2 * 1024 * 1024 // 8), b"aaaaaaa\n" * (2 * 1024 * 1024 // 8 + 1)),
        ("äääääää\n".encode() * (100_000), b"a\n"),
    ],
)
def test_large_texts_are_not_compared_line_by_line(world: World, old: bytes, new: bytes) -> None:
    world.write("f", old)
    world.earlier("f")
    world.write("f", new)
    _, earlier = world.look("f")
    assert before(earlier) == old.decode()
    assert earlier.hunks is None


def test_bytes_that_are_gone_from_the_store_are_lost(world: World) -> None:
    world.write("f", b"one")
    world.earlier("f")
    world.write("f", b"two")
    shutil.rmtree(world.root.parent / "store")
    assert world.earlier("f") == LOST
    assert world.earlier("f") == SAME


def test_a_folder_in_the_place_of_a_file_and_back(world: World) -> None:
    world.write("f", b"one")
    world.walk()
    (world.root / "f").unlink()
    world.write("f/inner", b"inner")
    told = world.walk()
    assert told["f"][0].problem == "is a folder"
    assert before(told["f"][1]) == "one"
    assert told["f/inner"][1] == Earlier("store", Disk(world.path("f/inner"), None))
    assert world.walk() == {}
    shutil.rmtree(world.root / "f")
    world.write("f", b"two")
    told = world.walk()
    assert told["f"][1] == Earlier("store", Disk(world.path("f"), None))
    assert before(told["f/inner"][1]) == "inner"
    assert world.walk() == {}


def test_what_cannot_be_read_is_told_when_it_can(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.write("known", b"one")
    world.write("never", b"one")
    closed = {world.path("never")}
    opened = os.open

    def refuse(path: str | Path, *rest: int) -> int:
        if str(path) in closed:
            raise PermissionError(13, "Permission denied")
        return opened(path, *rest)

    monkeypatch.setattr(os, "open", refuse)
    assert world.walk() == {}
    assert world.look("never") == (
        Disk(world.path("never"), None, "cannot be read: permission denied"),
        SAME,
    )
    closed.add(world.path("known"))
    world.write("known", b"two")
    assert world.walk() == {}
    assert world.earlier("known") == SAME
    closed.clear()
    assert before(world.walk()["known"][1]) == "one"
    assert world.earlier("never") == SAME


def test_what_was_never_seen_and_cannot_be_read_is_not_known(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    world.write("f", b"one")
    monkeypatch.setattr(os, "open", refuse)
    assert world.earlier("f") == FIRST


# --- writes of ours ------------------------------------------------------------------


def test_what_we_wrote_is_told_already(world: World) -> None:
    file = world.write("f", b"one")
    world.walk()
    file.write_bytes(b"two")
    world.baselines.wrote(look(str(file), world.roots).disk)
    assert world.walk() == {}
    assert world.earlier("f") == SAME
    file.write_bytes(b"three")
    assert before(world.earlier("f")) == "two"
    file.unlink()
    world.baselines.wrote(look(str(file), world.roots).disk)
    assert world.earlier("f") == SAME
    file.write_bytes(b"four")
    assert world.walk()["f"][1] == Earlier("store", Disk(str(file), None))


def test_what_others_wrote_right_after_us_is_told(world: World) -> None:
    """D53: our write is the before-text of theirs, even when we did not see it any more."""
    file = world.write("f", b"one")
    world.walk()
    file.write_bytes(b"ours")
    ours = look(str(file), world.roots).disk
    file.write_bytes(b"theirs")
    world.baselines.wrote(ours)
    told = world.walk()["f"]
    assert (told[0].text, before(told[1])) == ("theirs", "ours")
    file.unlink()
    world.baselines.wrote(ours)
    assert before(world.walk()["f"][1]) == "ours"


def test_what_we_could_not_read_again_is_left_as_it_was_told(world: World, tmp_path: Path) -> None:
    world.write("f", b"one")
    world.walk()
    world.write("f", b"two")
    world.baselines.wrote(Disk(world.path("f"), None, "cannot be read: permission denied"))
    assert before(world.earlier("f")) == "one"
    world.baselines.wrote(Disk(str(tmp_path / "f"), None, inside=False))
    assert world.baselines._index.get(str(tmp_path / "f")) is None


def test_what_was_seen_before_a_write_is_compared_as_well(world: World) -> None:
    """What somebody wrote between two looks of ours is known, too."""
    file = world.write("f", b"one\n")
    world.earlier("f")
    file.write_bytes(b"two\n")
    seen = look(str(file), world.roots)
    file.write_bytes(b"three\n")
    assert before(world.baselines.saw(seen)) == "one\n"
    assert world.baselines.saw(seen) == SAME
    assert before(world.earlier("f")) == "two\n"
    unread = Disk(str(file), None, "cannot be read: permission denied")
    assert world.baselines.saw(Look(unread, file)) == SAME
    assert world.baselines.saw(Look(replace(unread, inside=False), file)) == FIRST
    assert world.baselines.saw(Look(replace(unread, path=world.path("other")), file)) == FIRST
    file.unlink()
    assert before(world.baselines.saw(look(str(file), world.roots))) == "three\n"
    assert world.earlier("f") == SAME


@pytest.mark.parametrize("data", [b"more than ten\n", b"\0 more than ten", b"\0"])
@pytest.mark.parametrize("how", ["walked", "read", "unknown"])
def test_the_bytes_that_a_write_of_ours_replaces_are_kept(
    tmp_path: Path, data: bytes, how: str
) -> None:
    """However large they are, and whether or not they are text or were looked at before."""
    world = World(tmp_path, Caps(file_bytes=10))
    file = world.write("f", data)
    if how == "walked":
        assert world.walk() == {}
    elif how == "read":
        assert world.earlier("f") == FIRST
    seen = look(str(file), world.roots)
    world.baselines.keep(seen)
    file.write_bytes(b"ours")
    assert world.store.get(content(data)) == data
    assert world.baselines.saw(seen) == (FIRST if how == "unknown" else SAME)
    world.baselines.wrote(look(str(file), world.roots).disk)
    assert world.earlier("f") == SAME


# --- walks ---------------------------------------------------------------------------


def test_d04_an_edit_that_nobody_told_of_has_its_before_text(world: World) -> None:
    """D03: an unopened file is edited without a tool call, by an editor's tool or a shell."""
    world.write("src/module.py", b"a = 1\nb = 2\n")
    world.write("gone", b"gone")
    assert world.walk() == {}
    world.write("src/module.py", b"a = 1\nb = 3\n")
    (world.root / "gone").unlink()
    world.write("new", b"new")
    told = world.walk()
    assert set(told) == {"src/module.py", "gone", "new"}
    disk, earlier = told["src/module.py"]
    assert disk.text == "a = 1\nb = 3\n"
    assert before(earlier) == "a = 1\nb = 2\n"
    assert earlier.hunks == (Hunk(1, 2, ("b = 2\n",), ("b = 3\n",)),)
    assert told["gone"][0].is_missing
    assert told["new"][1] == Earlier("store", Disk(world.path("new"), None))
    assert world.walk() == {}


def test_a_first_walk_leaves_what_was_told_by_a_read(world: World) -> None:
    world.write("read", b"one")
    assert world.earlier("read") == FIRST
    assert world.earlier("missing") == FIRST
    assert world.earlier("d/missing") == FIRST
    world.write("read", b"two")
    world.write("missing", b"new")
    world.write("never read", b"one")
    told = world.walk()
    assert set(told) == {"read", "missing"}
    assert before(told["read"][1]) == "one"
    assert told["missing"][1] == Earlier("store", Disk(world.path("missing"), None))


def test_files_that_were_only_touched_are_not_named(world: World) -> None:
    files = [world.write(f"f{number}", b"one") for number in range(20)]
    world.walk()
    for file in files:
        os.utime(file, ns=(MOMENT_NS, MOMENT_NS))
    assert world.baselines.walk(world.roots).candidates == ()
    files[3].chmod(0o700)
    files[4].write_bytes(b"one")
    assert world.baselines.walk(world.roots).candidates == ()
    files[5].write_bytes(b"two")
    assert world.baselines.walk(world.roots).candidates == (str(files[5]),)


@pytest.fixture
def during_walk(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> Callable[[Callable[[], object]], None]:
    """Lets something happen once in the next walk, when the files of the root are listed."""
    ignoring = world.baselines._ignoring
    within = ignoring.within

    def let(act: Callable[[], object]) -> None:
        def act_within(folder: str, *rest: Any) -> Level:
            if folder == str(world.root):
                monkeypatch.setattr(ignoring, "within", within)
                act()
            return within(folder, *rest)

        monkeypatch.setattr(ignoring, "within", act_within)

    return let


def test_what_changes_while_the_first_walk_runs_is_lost(
    world: World, during_walk: Callable[[Callable[[], object]], None]
) -> None:
    world.write("d/changed", b"one")
    world.write("d/same", b"one")

    def act() -> None:
        world.write("d/changed", b"two")
        world.write("d/new", b"new")
        world.write("d/passing", b"passing")

    during_walk(act)
    walked = world.baselines.walk(world.roots)
    (world.root / "d" / "passing").unlink()
    names = {os.path.relpath(path, world.root): path for path in walked.candidates}
    assert set(names) == {"d/changed", "d/new", "d/passing"}
    assert world.earlier("d/changed") == LOST
    assert world.earlier("d/new") == LOST
    assert world.earlier("d/passing") == FIRST
    assert world.walk() == {}
    world.write("d/changed", b"three")
    assert before(world.walk()["d/changed"][1]) == "two"


def test_what_changes_while_a_later_walk_runs_is_known(
    world: World, during_walk: Callable[[Callable[[], object]], None]
) -> None:
    world.write("d/changed", b"one")
    world.walk()

    def act() -> None:
        world.write("d/changed", b"two")
        world.write("d/new", b"new")
        world.write("late", b"late")

    during_walk(act)
    told = world.walk() | world.walk()
    assert set(told) == {"d/changed", "d/new", "late"}
    assert before(told["d/changed"][1]) == "one"
    assert told["d/new"][1] == Earlier("store", Disk(world.path("d/new"), None))
    assert told["late"][1] == Earlier("store", Disk(world.path("late"), None))


def test_a_file_that_changes_between_its_state_and_its_bytes(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = world.write("f", b"one")
    world.write("gone", b"gone")
    grows = world.write("grows", b"one")
    world.baselines = Baselines(world.store, Caps(file_bytes=10))

    def read(place: str, limit_bytes: int) -> tuple[bytes, os.stat_result] | None:
        monkeypatch.setattr(sweeping, "read_regular", walking.read_regular)
        file.write_bytes(b"two")
        grows.write_bytes(b"more than ten bytes")
        (world.root / "gone").unlink(missing_ok=True)
        return walking.read_regular(place, limit_bytes)

    monkeypatch.setattr(sweeping, "read_regular", read)
    told = world.walk()
    assert {name: earlier for name, (_, earlier) in told.items() if name == "f"} == {"f": LOST}
    assert world.earlier("grows").how in {"same", "lost"}
    assert world.walk() == {}
    file.write_bytes(b"three")
    assert before(world.walk()["f"][1]) == "two"


def test_names_that_are_no_text_and_what_is_no_file_are_passed_over(world: World) -> None:
    with contextlib.suppress(OSError):
        (world.root / os.fsdecode(b"\xff")).write_bytes(b"one")
        (world.root / os.fsdecode(b"\xfe")).mkdir()
        (world.root / os.fsdecode(b"\xfe") / "f").write_bytes(b"one")
    if hasattr(os, "mkfifo"):
        os.mkfifo(world.root / "pipe")
    world.write("f", b"one")
    assert world.walk() == {}
    assert set(world.baselines._index.folder(str(world.root))) <= {"f", "pipe"}
    with contextlib.suppress(OSError):
        (world.root / os.fsdecode(b"\xff")).write_bytes(b"two")
    world.write("f", b"two")
    assert set(world.walk()) == {"f"}


# --- roots ---------------------------------------------------------------------------


def test_candidates_are_spelled_as_their_root_is(tmp_path: Path) -> None:
    world = World(tmp_path)
    alias = tmp_path / "alias"
    alias.symlink_to(world.root)
    world.write("d/f", b"one")
    walked = world.baselines.walk((str(alias),))
    assert walked == module.Walked((), None, (str(world.root),))
    world.write("d/f", b"two")
    walked = world.baselines.walk((str(alias),))
    assert walked.candidates == (str(alias / "d" / "f"),)
    disk, earlier = world.baselines.look(walked.candidates[0], (str(alias),))
    assert (disk.path, disk.real) == (str(alias / "d" / "f"), str(world.root / "d" / "f"))
    assert before(earlier) == "one"
    assert earlier.disk is not None
    assert earlier.disk.place == disk.place
    # It was told, however it is spelled.
    assert world.earlier("d/f") == SAME


def test_a_file_in_several_roots_is_named_once(tmp_path: Path) -> None:
    world = World(tmp_path)
    alias = tmp_path / "alias"
    alias.symlink_to(world.root)
    inner = world.write("inner/f", b"one").parent
    other = tmp_path / "root2"
    other.mkdir()
    roots = (str(inner), str(alias), str(world.root), str(other), "", "relative")
    walked = world.baselines.walk(roots)
    assert walked.real_roots == (str(inner), str(world.root), str(world.root), str(other))
    world.write("inner/f", b"two")
    (other / "new").write_bytes(b"new")
    names = [os.path.realpath(path) for path in world.baselines.walk(roots).candidates]
    assert sorted(names) == [str(inner / "f"), str(other / "new")]


def test_a_root_in_an_ignored_folder_is_a_root(tmp_path: Path) -> None:
    world = World(tmp_path)
    inner = world.write("node_modules/mine/f", b"one").parent
    roots = (str(world.root), str(inner))
    assert world.baselines.walk(roots).candidates == ()
    (inner / "f").write_bytes(b"two")
    assert world.baselines.walk(roots).candidates == (str(inner / "f"),)
    assert not world.baselines.is_ignored(str(inner / "f"), roots)
    assert world.baselines.is_ignored(str(inner / "f"), roots[:1])


@pytest.mark.parametrize("first", ["", "d", "d/e"])
@pytest.mark.parametrize("then", ["", "d", "d/e"])
def test_what_is_new_since_any_walk_is_told_under_whichever_root(
    world: World, first: str, then: str
) -> None:
    """Sessions have roots that lie in each other, and all are watched together."""
    for name in ("d/e/there", "d/e/changed", "d/e/gone"):
        world.write(name, b"one")
    world.write("build/f", b"one")
    world.write(".gitignore", b"build/\n")
    (root,) = world.roots
    world.roots = (f"{root}{os.sep}{first}".rstrip(os.sep),)
    assert world.walk() == {}
    world.write("d/e/new", b"new")
    world.write("d/e/f/new", b"new")
    world.write("d/e/changed", b"two")
    world.write("build/new", b"new")
    (world.root / "d/e/gone").unlink()
    world.roots = (f"{root}{os.sep}{then}".rstrip(os.sep),)
    told = world.walk()
    assert set(told) == {"d/e/new", "d/e/f/new", "d/e/changed", "d/e/gone"}
    assert before(told["d/e/changed"][1]) == before(told["d/e/gone"][1]) == "one"
    for name in ("d/e/new", "d/e/f/new"):
        assert told[name][1] == Earlier("store", Disk(world.path(name), None))
    world.roots = (root,)
    assert world.walk() == {}
    assert world.earlier("build/new") == FIRST


def test_what_no_walk_has_seen_is_taken_as_it_is(world: World) -> None:
    """Another root beside it, or one in it, says nothing of a file."""
    for name in ("a/f", "b/f", "b/c/f", "ab/f"):
        world.write(name, b"one")
    (root,) = world.roots
    for inner in ("a", "b/c", "b", "ab"):
        world.roots = (f"{root}{os.sep}{inner}",)
        assert world.walk() == {}
    world.roots = (root,)
    assert world.walk() == {}
    world.write("b/c/f", b"two")
    assert before(world.walk()["b/c/f"][1]) == "one"


def test_problems_of_one_root_are_not_told_again_after_those_of_another(world: World) -> None:
    missing = [(f"{world.root}{os.sep}{name}",) for name in "ab"]
    told = [world.baselines.walk(roots).problem for roots in missing * 2]
    assert [problem is None for problem in told] == [False, False, True, True]


def test_a_root_that_cannot_be_read_is_not_taken_for_empty(world: World) -> None:
    world.write("f", b"one")
    world.walk()
    away = world.root.with_name("away")
    world.root.rename(away)
    walked = world.baselines.walk(world.roots)
    assert walked.candidates == ()
    assert walked.problem == f"{world.root} cannot be read: no such file or directory"
    assert world.baselines.walk(world.roots).problem is None
    away.rename(world.root)
    world.write("new", b"new")
    assert world.walk()["new"][1] == Earlier("store", Disk(world.path("new"), None))


def test_a_folder_that_cannot_be_read_is_not_taken_for_empty(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(5):
        world.write(f"d{number}/d/f", b"one")
    world.walk()
    scandir = os.scandir

    def refuse(path: str) -> Any:
        if str(path) != str(world.root):
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    with monkeypatch.context() as patch:
        patch.setattr(os, "scandir", refuse)
        walked = world.baselines.walk(world.roots)
        assert walked.candidates == ()
        assert walked.problem is not None
        assert f"{world.root}{os.sep}d" in walked.problem
        assert "cannot be read: permission denied; " in walked.problem
        assert walked.problem.endswith("has 2 more folders that are not looked at")
        assert world.baselines.walk(world.roots).problem is None
    assert world.baselines.walk(world.roots).problem is None
    assert world.walk() == {}
    world.write("d1/d/f", b"two")
    assert before(world.walk()["d1/d/f"][1]) == "one"


def test_a_folder_that_cannot_be_read_for_a_while_has_no_old_files_then(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What comes into it meanwhile, or comes with it, is new, and what was in it is not."""
    world.write("known/inner/f", b"one")
    world.write("known/.gitignore", b"*.log\n")
    world.write("closed/f", b"one")
    closed = {world.path("closed")}
    scandir = os.scandir

    def refuse(path: str) -> Any:
        if str(path) in closed:
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    assert world.walk() == {}
    closed |= {world.path("known"), world.path("came"), world.path("build")}
    world.write("known/inner/new", b"new")
    world.write("known/x.log", b"new")
    world.write("came/d/new", b"new")
    for _ in range(2):
        assert world.walk() == {}
    assert world.earlier("known/inner/f") == SAME
    assert world.earlier("known/x.log") == FIRST
    assert world.earlier("came/d/new") == Earlier("store", Disk(world.path("came/d/new"), None))
    closed.clear()
    assert set(world.walk()) == {"known/inner/new"}
    assert world.walk() == {}


# --- ignored -------------------------------------------------------------------------


def test_an_ignored_file_is_only_known_from_a_read(world: World) -> None:
    world.write(".gitignore", b"*.log\nbuild/\n")
    world.write("x.log", b"one")
    world.write("build/f", b"one")
    world.walk()
    world.write("x.log", b"two")
    world.write("build/f", b"two")
    assert world.walk() == {}
    for name in ("x.log", "build/f"):
        assert world.earlier(name) == FIRST
        assert world.earlier(name) == SAME
        world.write(name, b"three")
        assert world.walk() == {}
        assert before(world.earlier(name)) == "two"
        (world.root / name).unlink()
        assert world.walk() == {}
        assert before(world.earlier(name)) == "three"


def test_rules_that_change_make_no_file_old_or_new(world: World) -> None:
    world.write(".gitignore", b"*.log\nbuild/\n")
    world.write("x.log", b"one")
    world.write("build/f", b"one")
    world.write("kept", b"one")
    world.walk()
    world.write(".gitignore", b"kept\n")
    world.write("new", b"new")
    told = world.walk()
    # What was ignored was there all the time, for all that is known.
    assert set(told) == {".gitignore", "new"}
    world.write("x.log", b"two")
    world.write("build/f", b"two")
    world.write("kept", b"two")
    told = world.walk()
    assert set(told) == {"x.log", "build/f"}
    assert before(told["x.log"][1]) == "one"
    assert before(world.earlier("kept")) == "one"


def test_a_new_folder_that_the_rules_ignore_is_not_looked_at(world: World) -> None:
    world.write(".gitignore", b"build/\n")
    world.walk()
    world.write("build/f", b"one")
    world.write("src/f", b"one")
    assert set(world.walk()) == {"src/f"}
    assert world.earlier("build/f") == FIRST


# --- links ---------------------------------------------------------------------------


def test_a_link_in_the_place_of_a_file(world: World) -> None:
    target = world.write("target", b"target")
    file = world.write("f", b"one")
    world.walk()
    file.unlink()
    file.symlink_to(target)
    told = world.walk()
    assert set(told) == {"f"}
    assert told["f"][0] == Disk(str(file), None, "is behind a symbolic link now")
    assert before(told["f"][1]) == "one"
    assert world.walk() == {}
    assert world.earlier("f") == SAME
    file.unlink()
    file.write_bytes(b"two")
    link = Disk(str(file), None, "is behind a symbolic link")
    assert world.walk()["f"][1] == Earlier("lost", link)
    assert world.walk() == {}


def test_a_link_in_the_place_of_a_folder(world: World, tmp_path: Path) -> None:
    world.write("d/f", b"one")
    world.walk()
    outside = tmp_path / "outside"
    (world.root / "d").rename(outside)
    (world.root / "d").symlink_to(outside)
    (outside / "f").write_bytes(b"secret")
    told = world.walk()
    assert told["d/f"][0] == Disk(world.path("d/f"), None, "is behind a symbolic link now")
    assert before(told["d/f"][1]) == "one"
    assert world.walk() == {}
    disk, earlier = world.look("d/f")
    assert (disk.inside, earlier) == (False, FIRST)


def test_a_link_that_came_and_went_before_the_look(world: World) -> None:
    file = world.write("f", b"one")
    target = world.write("target", b"target")
    world.walk()
    file.unlink()
    file.symlink_to(target)
    (path,) = world.baselines.walk(world.roots).candidates
    file.unlink()
    file.write_bytes(b"two")
    disk, earlier = world.baselines.look(path, world.roots)
    assert (disk.text, before(earlier)) == ("two", "one")


def special(file: Path, kind: str, target: Path) -> str:
    """Make something that is no file; gives what is told of it."""
    match kind:
        case "pipe":
            os.mkfifo(file)
        case "link to nothing":
            file.symlink_to("nothing")
        case _:
            file.symlink_to(target)
    return "is not a regular file" if kind == "pipe" else "is behind a symbolic link"


KINDS = ("pipe", "link to a file", "link to a folder", "link to nothing", "link to itself")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("how", ["walk", "read"])
def test_a_file_in_the_place_of_what_was_none_is_not_new(world: World, kind: str, how: str) -> None:
    """Who takes back a new file removes it; of a link or a pipe nothing would be left then."""
    (world.root / "folder").mkdir()
    world.write("target", b"target")
    targets = {"link to a folder": "folder", "link to itself": "f"}
    file = world.root / "f"
    problem = special(file, kind, world.root / targets.get(kind, "target"))
    assert world.walk() == {}
    assert world.walk() == {}
    file.unlink()
    file.write_bytes(b"one")
    (told,) = world.walk().values() if how == "walk" else [world.look("f")]
    assert told[0].text == "one"
    assert told[1] == Earlier("lost", Disk(str(file), None, problem))
    assert world.walk() == {}
    assert (world.root / "target").read_bytes() == b"target"
    # From now on it is a file as any other.
    file.write_bytes(b"two")
    assert before(world.walk()["f"][1]) == "one"


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_file_comes_and_goes_without_a_word(world: World, kind: str) -> None:
    (world.root / "folder").mkdir()
    world.write("target", b"target")
    targets = {"link to a folder": "folder", "link to itself": "f"}
    target = world.root / targets.get(kind, "target")
    world.walk()
    file = world.root / "f"
    special(file, kind, target)
    assert world.walk() == {}
    file.unlink()
    assert world.walk() == {}
    assert world.baselines._index.get(str(file)) is None
    world.write("f", b"new")
    assert world.walk()["f"][1] == Earlier("store", Disk(str(file), None))
    file.unlink()
    special(file, kind, target)
    told = world.walk()["f"]
    assert told[0].problem is not None
    assert before(told[1]) == "new"
    assert world.walk() == {}


def test_files_behind_a_link_that_leads_to_itself_are_gone(world: World) -> None:
    world.write("d/e/f", b"one")
    world.walk()
    shutil.rmtree(world.root / "d")
    (world.root / "d").symlink_to("d")
    told = world.walk()
    assert set(told) == {"d/e/f"}
    assert before(told["d/e/f"][1]) == "one"
    assert world.walk() == {}


def test_a_link_that_was_ignored_is_not_remembered(world: World) -> None:
    world.write(".gitignore", b"f\n")
    (world.root / "f").symlink_to(world.root / "target")
    world.walk()
    assert world.baselines._index.get(world.path("f")) is None


def test_files_behind_a_link_are_looked_at_once(world: World) -> None:
    for number in range(20):
        world.write(f"d/{number}", b"one")
    world.walk()
    (world.root / "d").rename(world.root / "e")
    (world.root / "d").symlink_to(world.root / "e")
    assert len(world.walk()) == 40
    assert world.baselines.walk(world.roots).candidates == ()
    (world.root / "d").unlink()
    world.write("d/3", b"two")
    link = Disk(world.path("d/3"), None, "is behind a symbolic link")
    assert world.walk() == {"d/3": (world.look("d/3")[0], Earlier("lost", link))}


def test_links_are_followed_to_files_inside_and_to_no_folder(world: World, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_bytes(b"secret")
    world.write("d/f", b"one")
    world.write("node_modules/f", b"one")
    world.write("node_modules/gone", b"one")
    for name, target in {
        "to outside": outside,
        "to walked": world.root / "d" / "f",
        "to folder": world.root / "d",
        "to ignored": world.root / "node_modules" / "f",
        "to gone": world.root / "node_modules" / "gone",
        "to nothing": world.root / "nothing",
        "to itself": world.root / "to itself",
        "to ignored folder": world.root / "node_modules",
    }.items():
        (world.root / name).symlink_to(target)
    assert world.walk() == {}
    assert world.walk() == {}
    outside.write_bytes(b"secrets")
    world.write("d/f", b"two")
    world.write("node_modules/f", b"two")
    (world.root / "node_modules" / "gone").unlink()
    told = world.walk()
    assert set(told) == {"d/f", "to ignored", "to gone"}
    assert told["to ignored"][0].real == world.path("node_modules/f")
    assert before(told["to ignored"][1]) == "one"
    assert before(told["to gone"][1]) == "one"
    assert world.walk() == {}


# --- size ----------------------------------------------------------------------------


def test_a_large_file_has_no_before_text(tmp_path: Path) -> None:
    world = World(tmp_path, Caps(file_bytes=10))
    file = world.write("f", b"more than ten\n")
    world.write("read", b"more than ten\n")
    world.walk()
    assert world.earlier("read") == SAME
    file.chmod(0o700)
    assert world.walk() == {}
    os.utime(world.root / "read", ns=(MOMENT_NS, MOMENT_NS))
    assert world.walk() == {}
    file.write_bytes(b"more than ten and ten\n")
    world.write("read", b"more than ten and ten\n")
    told = world.walk()
    assert {name: earlier for name, (_, earlier) in told.items()} == {"f": LOST, "read": LOST}
    # Small again: of the long text nothing is known, of the short one everything.
    file.write_bytes(b"short")
    assert world.walk()["f"][1] == LOST
    file.write_bytes(b"more than ten\n")
    assert before(world.walk()["f"][1]) == "short"


@pytest.mark.parametrize("caps", [Caps(files=3), Caps(total_bytes=9)])
def test_what_is_beyond_the_caps_has_no_before_text(tmp_path: Path, caps: Caps) -> None:
    world = World(tmp_path, caps)
    for number in range(6):
        world.write(f"{number}", b"one")
    walked = world.baselines.walk(world.roots)
    assert walked.candidates == ()
    assert walked.problem == (
        f"{world.root} has so many files that changes of some can be seen and not undone"
    )
    world.write("new", b"new")
    assert set(world.walk()) == {"new"}
    for number in range(6):
        world.write(f"{number}", b"two")
    told = world.walk()
    how = [told[str(number)][1].how for number in range(6)]
    assert sorted(how) == ["lost"] * 3 + ["store"] * 3


def test_the_problem_of_a_full_root_is_told_once(tmp_path: Path) -> None:
    world = World(tmp_path, Caps(files=0))
    world.write("f", b"one")
    assert world.baselines.walk(world.roots).problem is not None
    world.write("g", b"one")
    assert world.baselines.walk(world.roots).problem is None


def test_an_entry_is_small(world: World) -> None:
    for number in range(1000):
        world.write(f"d{number % 10}/file_{number}.py", b"one")
    world.walk()
    folders = world.baselines._index._folders
    size = sum(
        sys.getsizeof(folder)
        + sys.getsizeof(entries)
        + sum(sys.getsizeof(name) + sys.getsizeof(packed) for name, packed in entries.items())
        for folder, entries in folders.items()
    )
    assert size / 1000 < 300


def test_what_is_settled_counts_for_the_caps_of_later_walks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settle(monkeypatch)
    world = World(tmp_path, Caps(file_bytes=10, files=2))
    exclude = world.write(".git/info/exclude", b"*.log\n")
    for name in ("f", "g", "x.log"):
        world.write(name, b"one")
    world.write("large", b"more than ten bytes")
    assert world.baselines.walk(world.roots).problem is None
    assert world.baselines.walk(world.roots).problem is None
    exclude.write_bytes(b"*.log\nlarge\n")
    assert world.walk() == {}
    exclude.write_bytes(b"")
    assert world.baselines.walk(world.roots).problem is not None
    assert world.walk() == {}
    for name in ("f", "x.log"):
        world.write(name, b"two")
    told = world.walk()
    assert {name: earlier.how for name, (_, earlier) in told.items()} == {
        "f": "store",
        "x.log": "lost",
    }
    # What was told was read, and so it is known from now on.
    world.write("x.log", b"three")
    assert before(world.walk()["x.log"][1]) == "two"
    assert world.walk() == {}


def test_a_name_that_others_lead_to_as_well(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """On some systems a file that was walked can be asked for by another name."""
    world.walk()
    monkeypatch.setattr(module, "_MANY_SPELLINGS", True)
    world.write("File", b"one")
    assert world.earlier("File") == Earlier("store", Disk(world.path("File"), None))
    world.write("file", b"one")
    monkeypatch.setattr(os, "listdir", lambda _: ["File"])
    assert world.earlier("file") == FIRST
    world.write("other", b"one")

    def refuse(_: str) -> list[str]:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "listdir", refuse)
    assert world.earlier("other") == FIRST


def test_what_a_server_still_refers_to_is_not_trimmed_first(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.write("f", b"one")
    world.write("bare", b"one")
    world.walk()
    used: list[str] = []
    monkeypatch.setattr(world.store, "use", used.extend)
    world.walk()
    assert used == []
    world.baselines._walks._used_s -= 24 * 3600.0
    world.walk()
    assert used == [content(b"one"), content(b"one")]


def test_a_change_that_leaves_the_time_and_the_length_is_seen(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As formatters do that keep the time; with the clock set back, too."""
    settle(monkeypatch)
    file = world.write("f", b"one")
    os.utime(file, ns=(MOMENT_NS, MOMENT_NS))
    world.walk()
    for data, moment_ns in ((b"two", MOMENT_NS), (b"six", 1), (b"ten", 1)):
        was = file.read_bytes().decode()
        with file.open("r+b") as opened:
            opened.write(data)
        os.utime(file, ns=(moment_ns, moment_ns))
        assert before(world.walk()["f"][1]) == was


def test_the_encoding_that_was_guessed_goes_with_the_file_and_not_with_its_spelling(
    world: World,
) -> None:
    old = "Größe und Höhe sind für Möbel üblich.\n"
    file = world.write("f", old.encode("latin-1"))
    (world.root / "alias").symlink_to(file)
    assert world.baselines.form(str(file)) is None
    form = world.look("alias")[0].form
    assert form.guessed
    assert world.baselines.form(str(file)) == form
    assert world.baselines.form(f"{world.root}{os.sep}.{os.sep}f") == form
    assert world.baselines.form("\0") is None
    file.write_bytes("für\n".encode("latin-1"))
    assert world.look("f")[0].text == "für\n"


# --- several threads -----------------------------------------------------------------


def test_a_file_that_is_spelled_in_two_ways_is_told_once(world: World) -> None:
    world.write("f", b"one")
    (world.root / "alias").symlink_to(world.root / "f")
    world.walk()
    world.write("f", b"two")
    assert [world.earlier("alias").how, world.earlier("f").how] == ["store", "same"]


def test_looks_and_walks_in_many_threads_tell_each_change_once(world: World) -> None:
    names = [f"d{number % 5}/f{number}" for number in range(60)]
    for name in names:
        world.write(name, b"one")
    world.walk()
    for name in names:
        world.write(name, b"two")
    told: list[Earlier] = []
    barrier = threading.Barrier(4)

    def look_at(mine: list[str]) -> None:
        barrier.wait()
        told.extend(world.earlier(name) for name in mine)

    def walk() -> None:
        barrier.wait()
        for _ in range(3):
            world.baselines.walk(world.roots)

    threads = [threading.Thread(target=look_at, args=(names[start::3],)) for start in range(3)]
    threads.append(threading.Thread(target=walk))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [before(earlier) for earlier in told] == ["one"] * len(names)
    assert world.walk() == {}


def test_a_file_that_a_walk_takes_in_while_it_is_read_is_read_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was read before the walk is not told as what came after it."""
    file = world.write("f", b"one")

    def slow(*arguments: Any) -> Look:
        monkeypatch.setattr(module, "look", look)
        looked = look(*arguments)
        file.write_bytes(b"two")
        assert world.walk() == {}
        return looked

    monkeypatch.setattr(module, "look", slow)
    disk, earlier = world.look("f")
    assert (disk.text, earlier) == ("two", SAME)
    file.write_bytes(b"three")
    assert before(world.earlier("f")) == "two"


def test_what_is_told_is_compared_with_what_was_told_in_the_last_moment(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = world.write("f", b"one")
    world.earlier("f")
    file.write_bytes(b"two")
    seen = look(str(file), world.roots)
    packed = world.baselines._index.packed

    def late(place: str) -> bytes | None:
        monkeypatch.setattr(world.baselines._index, "packed", packed)
        known = packed(place)
        file.write_bytes(b"three")
        assert before(world.earlier("f")) == "one"
        return known

    monkeypatch.setattr(world.baselines._index, "packed", late)
    assert before(world.baselines.saw(seen)) == "three"


def test_a_link_that_is_laid_while_a_file_is_read_leads_to_another_file(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, other = world.write("f", b"one"), world.write("other", b"other")
    world.walk()

    def slow(*arguments: Any) -> Look:
        monkeypatch.setattr(module, "look", look)
        file.unlink()
        file.symlink_to(other)
        return look(*arguments)

    monkeypatch.setattr(module, "look", slow)
    disk, earlier = world.look("f")
    assert (disk.place, disk.text, earlier) == (str(other), "other", SAME)
    assert before(world.walk()["f"][1]) == "one"


def test_a_walk_ends_when_the_server_does(
    world: World, during_walk: Callable[[Callable[[], object]], None]
) -> None:
    world.write("d/f", b"one")
    during_walk(world.baselines._stop.set)
    walked = world.baselines.walk(world.roots)
    assert walked == module.Walked((), "the server is ending", world.roots)
    assert world.baselines._index.get(world.path("d/f")) is None


# --- with git ------------------------------------------------------------------------


@pytest.mark.needs("git")
def test_a_large_file_that_was_committed_has_its_before_text(tmp_path: Path) -> None:
    world = World(tmp_path, Caps(file_bytes=10))
    repository = Repository(world.root)
    old = b"more than ten\nbytes\n"
    for name in ("same", "changed", "touched", "untracked", "gone", "dated"):
        world.write(name, old)
    repository.commit("same", "changed", "touched", "gone", "dated")
    dated = (world.root / "dated").stat()
    world.write("changed", old + b"by the user\n")
    assert world.walk() == {}
    for name in ("same", "changed", "untracked"):
        world.write(name, b"more than ten\nother bytes\n")
    os.utime(world.root / "touched", ns=(MOMENT_NS, MOMENT_NS))
    (world.root / "gone").unlink()
    with (world.root / "dated").open("r+b") as opened:
        opened.write(b"MORE")
    os.utime(world.root / "dated", ns=(dated.st_atime_ns, dated.st_mtime_ns))
    told = {name: earlier for name, (_, earlier) in world.walk().items()}
    assert set(told) == {"same", "changed", "untracked", "gone", "dated"}
    assert told["dated"].how == "git"
    assert told["changed"] == told["untracked"] == LOST
    assert told["same"].how == told["gone"].how == "git"
    assert told["same"].disk is not None
    assert told["same"].disk.text == old.decode()
    assert told["same"].disk.content == content(old)
    assert told["same"].hunks == (Hunk(1, 2, ("bytes\n",), ("other bytes\n",)),)
    # What is there now is not what is committed.
    world.write("same", old)
    assert world.walk()["same"][1] == LOST


@pytest.mark.needs("git")
def test_git_is_asked_once_of_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(tmp_path, Caps(file_bytes=10))
    repository = Repository(world.root)
    for name in ("f", "g", "h"):
        world.write(name, b"more than ten bytes")
    repository.commit("f", "h")
    asked: list[list[str]] = []
    blobs = git.blobs

    def noted(paths: list[str], _: object) -> dict[str, str]:
        asked.append(sorted(os.path.relpath(path, world.root) for path in paths))
        found = blobs(paths)
        # What changes before Git has answered is not what it speaks of.
        world.write("h", b"more than ten other bytes")
        return found

    monkeypatch.setattr(git, "blobs", noted)
    settle(monkeypatch)
    with monkeypatch.context() as patch:
        patch.setattr(world.baselines._walks, "_find_blobs", lambda _: None)
        world.walk()
    assert world.walk() == {}
    entries = {name: world.baselines._index.get(world.path(name)) for name in ("f", "g", "h")}
    assert {name for name, entry in entries.items() if entry and entry.blob} == {"f"}
    assert world.walk()["h"][1] == LOST
    world.walk()
    assert asked[0] == ["f", "g", "h"]
    assert all(names == ["h"] for names in asked[1:])


def test_a_file_that_is_just_being_written_anew_is_not_taken_for_empty(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Many programs empty a file and then write it; in between it holds nothing."""
    world = World(tmp_path)
    file = world.write("a", b"one\n")
    world.walk()
    file.write_bytes(b"")

    def wait(_: float) -> bool:
        file.write_bytes(b"two\n")
        return False

    monkeypatch.setattr(world.baselines._stop, "wait", wait)
    disk, earlier = world.look("a")
    assert disk.text == "two\n"
    assert earlier.disk is not None
    assert earlier.disk.text == "one\n"


def test_a_file_that_stays_empty_is_told_to_be_empty(tmp_path: Path) -> None:
    world = World(tmp_path)
    file = world.write("a", b"one\n")
    world.walk()
    file.write_bytes(b"")
    disk, earlier = world.look("a")
    assert (disk.text, earlier.how) == ("", "store")
