"""Files that have several paths: one file is one change, under the editor's spelling (D42)."""

from __future__ import annotations

import pytest
from scene import A, Scene, held

from acpls import effects as ef
from acpls import events as ev
from acpls.hub.paths import Paths
from acpls.text import uris

REAL = "/real/ws"
PLACE = f"{REAL}/a.txt"
BEFORE, AFTER = "one\ntwo\n", "one\n2\n"
HUNK = ("two\n", "2\n")
URI = uris.from_path(A)


def place_of(path: str) -> str:
    name = path.rsplit("/", 1)[-1]
    return f"{REAL}/{name}"


class Linked(Scene):
    """The folder of the workspace is a symbolic link to ``REAL``, and so are all others."""

    def look(self, path: str, roots: object = ()) -> ev.Disk:
        disk = held(path, self.disk.get(place_of(path)))
        return ev.Disk(path, disk.text, content=disk.content, real=place_of(path))

    def puts(self, path: str, text: str | None) -> None:
        super().puts(place_of(path), text)

    def _do(self, effect: ef.Effect) -> None:
        if isinstance(effect, ef.SyncFiles):
            self.give(ev.FilesSynced(effect.token, real_roots=(REAL,) * len(effect.roots)))
            return
        super()._do(effect)

    def changes(self, text: str) -> None:
        """The agent changes the file, and the system tells of it under the root's name."""
        before = held(A, self.disk.get(PLACE))
        self.puts(A, text)
        self.give(ev.FileNoticed(self.look(A), ev.Earlier("store", before)))


@pytest.fixture
def scene() -> Linked:
    scene = Linked()
    scene.puts(A, BEFORE)
    scene.session()
    scene.prompts()
    return scene


def test_hunks_are_shown_under_the_editors_spelling(scene: Linked) -> None:
    scene.changes(AFTER)
    (change,) = scene.result("review.list")
    assert (change["uri"], list(scene.state.ledger.files)) == (URI, [PLACE])
    assert scene.result("review.list", uri=URI) == [change]
    assert scene.result("review.list", uri=uris.from_path(PLACE)) == [change]
    assert scene.result("review.diff", uri=URI)["base"] == BEFORE
    scene.result("review.reject", uri=URI)
    assert scene.disk == {PLACE: BEFORE}


def test_an_open_document_is_that_of_the_file(scene: Linked) -> None:
    scene.buffer(A, BEFORE)
    scene.changes(AFTER)
    scene.settles()
    assert scene.text(A) == AFTER
    scene.types(A, 0, "mine\n")
    scene.saves(A)
    assert scene.hunks(PLACE) == [HUNK]
    scene.result("review.reject", uri=URI)
    scene.settles()
    assert scene.text(A) == scene.disk[PLACE] == f"mine\n{BEFORE}"
    assert scene.agent_reads(PLACE) == f"mine\n{BEFORE}"


def test_a_document_under_the_other_spelling_is_found_as_well(scene: Linked) -> None:
    scene.buffer(PLACE, BEFORE)
    scene.changes(AFTER)
    scene.settles()
    assert scene.text(PLACE) == AFTER
    (shown,) = scene.result("review.list")
    assert shown["uri"] in {URI, uris.from_path(PLACE)}
    scene.result("review.keep", uri=uris.from_path(PLACE))
    assert scene.result("review.list") == []


def test_agents_may_use_either_spelling(scene: Linked) -> None:
    scene.agent_writes(PLACE, AFTER)
    scene.agent_writes(A, "1\n2\n")
    assert scene.hunks(PLACE) == [("one\ntwo\n", "1\n2\n")]
    assert list(scene.state.ledger.files) == [PLACE]


# --- the names themselves -------------------------------------------------------------------


def test_a_place_is_told_by_the_file_or_by_its_folder() -> None:
    paths = Paths()
    assert (paths.place(A), paths.theirs(A)) == (A, A)
    paths.learn_roots(("/ws", "/same", "C:\\x"), ("/real", "/same", "D:\\y"))
    assert paths.place("/ws/a") == "/real/a"
    assert (paths.place("/ws"), paths.place("/wsx/a")) == ("/real", "/wsx/a")
    assert paths.place("/same/a") == "/same/a"
    assert paths.place("C:\\x\\a") == "D:\\y\\a"
    paths.learn(ev.Disk("/ws/link", None, real="/real/target"))
    assert paths.place("/ws/link") == "/real/target"
    assert paths.theirs("/real/a") == "/ws/a"


def test_a_link_that_is_a_file_of_its_own_now_has_its_own_place() -> None:
    paths = Paths()
    paths.learn(ev.Disk("/ws/link", None, real="/ws/target"))
    paths.learn(ev.Disk("/ws/link", None))
    assert paths.place("/ws/link") == "/ws/link"
    paths.learn(ev.Disk("/ws/link", None, real="/ws/link"))
    assert paths.real == {}


def test_of_folders_in_each_other_the_inner_one_tells() -> None:
    paths = Paths()
    paths.learn_roots(("/ws", "/ws/inner"), ("/real", "/else"))
    assert paths.place("/ws/inner/a") == "/else/a"
    assert paths.theirs("/else/a") == "/ws/inner/a"


@pytest.mark.parametrize("root", ["/ws", "/ws/"])
def test_d43_how_a_folder_ends_makes_no_other_spelling(root: str) -> None:
    paths = Paths()
    paths.learn_roots((root,), ("/ws",))
    assert (paths.theirs("/ws/a"), paths.place("/ws/a")) == ("/ws/a", "/ws/a")


def test_a_document_has_the_editors_spelling_while_it_is_open(scene: Linked) -> None:
    scene.state.paths.opened("/other/a.txt", ev.Disk("/other/a.txt", None, real=PLACE))
    assert scene.state.paths.theirs(PLACE) == "/other/a.txt"
    scene.state.paths.opened(PLACE, ev.Disk(PLACE, None))
    assert scene.state.paths.theirs(PLACE) == "/other/a.txt"
    scene.give(ev.BufferOpened("file:///other/a.txt", 1, ""))
    scene.give(ev.BufferClosed("file:///other/a.txt"))
    assert scene.state.paths.theirs(PLACE) == A
