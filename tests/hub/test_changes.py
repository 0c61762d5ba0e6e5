"""The change list is what happened to the files, whatever agents say of it (D01, D02)."""

from __future__ import annotations

import pytest
from changes_scene import AFTER, BEFORE, HUNK, URI, authors, begun, change_of
from scene import ROOT, A, B, Scene, held, patch

from acpls import effects as ef
from acpls import events as ev
from acpls.review.composing import Author
from acpls.review.held import UNKNOWN
from acpls.session.content import Fragment, Location, TerminalRef


@pytest.fixture
def scene() -> Scene:
    return begun()


# --- without a word of the agent's ------------------------------------------------------------


def test_d01_a_file_that_is_not_open_is_edited_without_any_tool_call(scene: Scene) -> None:
    scene.lands(A, AFTER)
    (change,) = scene.result("review.list")
    assert (change["uri"], change["before"], change["operation"]) == (URI, "store", "modify")
    assert (change["session"], "toolCall" in change) == ("s1", False)
    assert scene.hunks() == [HUNK]
    assert scene.result("review.reject", hunk=scene.keys()[0]) == {"hunks": 1, "left": []}
    assert scene.disk[A] == BEFORE


def test_d01_without_a_watcher_it_is_seen_at_the_end_of_the_turn(scene: Scene) -> None:
    scene.puts(A, AFTER)
    assert scene.hunks() == []
    scene.ends()
    assert scene.hunks() == [HUNK]
    assert authors(scene) == [Author("s1")]
    assert scene.state.at_work == set()


def test_d03_a_formatter_that_a_shell_command_runs_is_the_agents_doing(scene: Scene) -> None:
    """It changes what the agent has just written, and files that the agent never names."""
    scene.agent_writes(A, "one\n2\n3\n")
    scene.tool_call("fmt", TerminalRef("t1"), kind="execute", title="fmt .")
    scene.puts(A, "one\n 2\n 3\n")
    scene.puts(B, "B\n")
    scene.tool_call("fmt", TerminalRef("t1"), kind="execute", title="fmt .", status="completed")
    scene.ends()
    assert scene.hunks(A) == [("two\nthree\n", " 2\n 3\n")]
    assert scene.hunks(B) == [("b\n", "B\n")]
    scene.result("review.reject", all=True)
    assert scene.disk == {A: BEFORE, B: "b\n"}


WAYS = ["watcher", "turn's end", "fs/write", "fragment", "patch", "whole file", "location", "read"]


@pytest.mark.parametrize("way", WAYS)
def test_d03_d04_the_list_is_the_same_whichever_tool_was_used(scene: Scene, way: str) -> None:
    """D39: a file that is told of as a whole has small hunks, too."""
    if way == "fs/write":
        scene.agent_writes(A, AFTER)
    else:
        scene.puts(A, AFTER)
    match way:
        case "watcher":
            scene.notices(A)
        case "fragment":
            scene.tool_call("c", Fragment(A, "two", "2"), status="completed")
        case "patch":
            scene.tool_call("c", patch(A, BEFORE, AFTER), status="completed")
        case "whole file":
            scene.tool_call("c", Fragment(A, None, AFTER), status="completed")
        case "location":
            scene.tool_call("c", kind="execute", locations=(Location(A),), status="completed")
        case "read":
            assert scene.agent_reads(A) == AFTER
        case _:
            scene.ends()
    assert scene.hunks() == [HUNK]
    change = change_of(scene)
    assert (change.base.text, change.source) == (BEFORE, "ledger" if way == "fs/write" else "store")
    scene.notices(A, B)
    assert scene.hunks() == [HUNK]


@pytest.mark.parametrize(
    ("path", "text", "operation", "hunk"),
    [
        (f"{ROOT}/new.txt", "new\n", "add", ("", "new\n")),
        (A, None, "delete", (BEFORE, "")),
        (A, "", "modify", (BEFORE, "")),
    ],
)
def test_d38_files_that_come_go_and_are_emptied(
    scene: Scene, path: str, text: str | None, operation: str, hunk: tuple[str, str]
) -> None:
    before = dict(scene.disk)
    scene.lands(path, text)
    assert (change_of(scene, path).operation, scene.hunks(path)) == (operation, [hunk])
    scene.result("review.reject", all=True)
    assert scene.disk == before


def test_a_file_that_is_told_of_twice_is_one_change(scene: Scene) -> None:
    scene.lands(A, AFTER)
    keys = scene.keys()
    for earlier in (ev.SAME, ev.FIRST, ev.Earlier("store", held(A, BEFORE))):
        scene.give(ev.FileNoticed(held(A, AFTER), earlier))
    scene.tool_call("c", Fragment(A, "two", "2"), status="completed")
    assert scene.keys() == keys
    # The tool call that is told of last has the name.
    assert authors(scene) == [Author("s1", "c")]


def test_a_tool_call_has_what_its_session_did_to_its_files_before_and_after(scene: Scene) -> None:
    scene.lands(A, AFTER)
    scene.tool_call("c", locations=(Location(A),))
    scene.lands(A, f"{AFTER}four\n")
    assert authors(scene) == [Author("s1", "c")] * 2
    scene.tool_call("looks", locations=(Location(B),), kind="read")
    scene.lands(B, "B\n")
    assert authors(scene, B) == [Author("s1")]


# --- where the text before comes from ----------------------------------------------------------


def test_d04_a_first_message_that_is_completed_already_has_the_right_text_before(
    scene: Scene,
) -> None:
    scene.puts(A, "all new\n")
    scene.tool_call("c", Fragment(A, None, "all new\n"), status="completed")
    assert (change_of(scene).base.text, change_of(scene).source) == (BEFORE, "store")


def unwalked(text: str = AFTER) -> Scene:
    """A session at work in a folder that nobody has looked through."""
    scene = Scene(walks=False)
    scene.puts(A, text)
    scene.session()
    scene.works()
    return scene


@pytest.mark.parametrize("how", ["first", "lost"])
def test_what_nobody_saw_is_taken_back_from_the_claim(how: ev.world.Source) -> None:
    scene = unwalked()
    scene.holds = {ef.ReadFile}
    scene.tool_call("c", Fragment(A, "two", "2"), status="completed")
    read = scene.held.pop()
    assert isinstance(read, ef.ReadFile)
    scene.give(ev.FileRead(read.token, held(A, AFTER), ev.Earlier(how)))
    change = change_of(scene)
    assert (change.base.text, change.source, scene.hunks()) == (BEFORE, "claim", [HUNK])
    assert authors(scene) == [Author("s1", "c")]


def test_a_base_that_becomes_known_later_is_better_than_none() -> None:
    scene = unwalked()
    scene.give(ev.FileNoticed(held(A, AFTER), ev.Earlier("lost")))
    assert change_of(scene).base is UNKNOWN
    scene.give(ev.FileNoticed(held(A, AFTER), ev.FIRST))
    scene.holds = {ef.ReadFile}
    scene.tool_call("c", Fragment(A, "two", "2"), status="completed")
    read = scene.held.pop()
    assert isinstance(read, ef.ReadFile)
    scene.give(ev.FileRead(read.token, held(A, AFTER), ev.FIRST))
    assert (change_of(scene).base.text, change_of(scene).source) == (BEFORE, "claim")
    assert scene.hunks() == [HUNK]


def test_a_text_that_nobody_knows_can_be_kept_and_not_taken_back() -> None:
    scene = unwalked()
    scene.give(ev.FileNoticed(held(A, AFTER), ev.Earlier("lost")))
    (change,) = scene.result("review.list")
    assert (change["before"], change["reason"]) == ("unknown", "the text before it is not known")
    (key,) = scene.keys()
    left = [{"hunk": key, "reason": "the text before it is not known"}]
    assert scene.result("review.reject", hunk=key) == {"hunks": 0, "left": left}
    assert scene.disk[A] == AFTER
    assert scene.result("review.keep", hunk=key) == {"hunks": 1, "left": []}
    assert scene.result("review.list") == []


@pytest.mark.parametrize("verdict", ["keep", "reject"])
@pytest.mark.parametrize("is_open", [True, False])
def test_what_is_no_file_and_came_in_its_place_is_one_change(
    scene: Scene, verdict: str, *, is_open: bool
) -> None:
    if is_open:
        scene.buffer(A)
    scene.problems[A] = "is a folder"
    folder = ev.Disk(A, None, "is a folder")
    scene.give(ev.FileNoticed(folder, ev.Earlier("store", held(A, BEFORE))))
    scene.settles()
    (change,) = scene.result("review.list")
    assert (change["hunks"][0]["whole"], change["reason"]) == (True, "the file is a folder")
    ticket = scene.command(f"review.{verdict}", all=True)
    scene.settles()
    if verdict == "keep":
        assert scene.reply(ticket) == {"hunks": 1, "left": []}
        assert scene.result("review.list") == []
    else:
        (left,) = scene.reply(ticket)["left"]
        assert left["reason"] == "the file is a folder"
        assert len(scene.keys()) == 1


def test_of_an_open_document_the_saved_text_is_known() -> None:
    scene = unwalked(BEFORE)
    scene.buffer(A)
    scene.types(A, 0, "mine\n")
    scene.puts(A, AFTER)
    scene.give(ev.FileNoticed(held(A, AFTER), ev.Earlier("lost")))
    scene.settles()
    assert (change_of(scene).source, scene.hunks()) == ("buffer", [HUNK])


@pytest.mark.parametrize(("how", "source"), [("git", "git"), ("store", "store")])
def test_the_source_is_kept(scene: Scene, how: ev.world.Source, source: str) -> None:
    scene.puts(A, AFTER)
    scene.give(ev.FileNoticed(held(A, AFTER), ev.Earlier(how, held(A, BEFORE))))
    assert (change_of(scene).source, scene.hunks()) == (source, [HUNK])
    scene.lands(A, f"{AFTER}four\n")
    assert change_of(scene).source == source


def test_a_file_that_is_no_text_is_one_change_and_comes_back_from_the_store(scene: Scene) -> None:
    binary = ev.Disk(A, None, "is binary", content="b2")
    scene.give(ev.FileNoticed(binary, ev.Earlier("store", held(A, BEFORE))))
    (change,) = scene.result("review.list")
    assert (change["hunks"][0]["whole"], change["reason"]) == (True, "the file is binary")
    scene.holds = {ef.ReadFile, ef.WriteFile}
    scene.command("review.reject", all=True)
    read = scene.held.pop()
    assert isinstance(read, ef.ReadFile)
    scene.give(ev.FileRead(read.token, binary, ev.SAME))
    (write,) = scene.held
    assert isinstance(write, ef.WriteFile)
    assert (write.text, write.stored, write.expected) == (BEFORE, None, "b2")


def test_a_file_that_cannot_be_seen_is_not_taken_for_changed(scene: Scene) -> None:
    outside = ev.Disk("/else", "x\n", inside=False)
    scene.give(ev.FileNoticed(ev.Disk(A, None, "cannot be read: permission denied"), ev.SAME))
    scene.give(ev.FileNoticed(outside, ev.Earlier("store", held("/else", BEFORE))))
    assert scene.state.ledger.files == {}
