"""Where the agent is, by what it tells and by what is there (F08, F13)."""

from __future__ import annotations

from typing import Any

import pytest
from scene import AGENT, NATIVE, ROOT, A, B, Scene, patch

from acpls import effects as ef
from acpls import events as ev
from acpls.session import updates as up
from acpls.session.asks import ResumeSession, SessionOpened
from acpls.session.content import Choosable, Fragment, Location, Text
from acpls.text import uris

TEXT = "one\ntwo\nthree\nfour\n"
URI_A, URI_B = (uris.from_path(path) for path in (A, B))


@pytest.fixture
def scene() -> Scene:
    """One session is open, and two files of four lines are there."""
    scene = Scene()
    scene.session()
    scene.has(A, TEXT)
    scene.has(B, TEXT)
    return scene


def shown(scene: Scene) -> list[tuple[str, int | None, str]]:
    return [(p.path, p.line, p.reason) for p in scene.take(ef.ShowPlace)]


def raw(scene: Scene, value: Any, call: str = "call", kind: str = "read", **patch: Any) -> None:
    scene.tells(up.ToolCallPatched(call, kind=kind, raw_input=value, **patch))


# --- what the agent tells ----------------------------------------------------------------


def test_each_new_place_is_shown_once(scene: Scene) -> None:
    at = (Location(A, 3),)
    scene.tool_call("call", locations=at)
    scene.tool_call("call", locations=at)
    assert scene.of(ef.ShowPlace) == [ef.ShowPlace("s1", A, 2, 2, "edit", "call", move=False)]
    assert len(scene.of(ef.LookAt)) == 1


def test_a_tool_call_that_says_where_it_is_when_it_is_over_was_there(scene: Scene) -> None:
    scene.tool_call("done", locations=(Location(A, 3),), status="completed")
    assert shown(scene) == [(A, 2, "edit")]


@pytest.mark.parametrize("status", ["failed", "cancelled"])
def test_what_came_to_nothing_is_no_place(scene: Scene, status: str) -> None:
    scene.tool_call("call", locations=(Location(A, 3),), status=status)
    assert shown(scene) == []


def test_thoughts_are_nowhere(scene: Scene) -> None:
    scene.tool_call("think", title="Think", kind="think")
    scene.tells(up.ToolCallGrew("think", Text("hm")))
    assert scene.of(ef.LookAt) == []


def test_folders_are_ignored_and_so_is_what_is_not_there(scene: Scene) -> None:
    scene.tool_call("search", kind="search", locations=(Location(ROOT),))
    scene.tool_call("make", locations=(Location(f"{ROOT}/new.py", 1),))
    assert shown(scene) == []
    scene.tool_call("both", locations=(Location(A, 2), Location(f"{ROOT}/")))
    assert shown(scene) == [(A, 1, "edit")]


def test_a_file_that_is_made_is_a_place_when_it_is_there(scene: Scene) -> None:
    new = f"{ROOT}/new.py"
    scene.tool_call("make", Fragment(new, None, "x\n"), status="pending")
    scene.puts(new, "x\n")
    scene.tool_call("make", status="in_progress")
    assert shown(scene) == []
    scene.tool_call("make", status="completed")
    assert shown(scene) == [(new, 0, "edit")]


def test_a_place_outside_of_all_folders_is_in_the_trail_where_there_is_no_other(
    scene: Scene,
) -> None:
    outside = "/usr/lib/python/os.py"
    scene.puts(outside, TEXT)
    scene.tool_call("c1", kind="read", locations=(Location(A, 2), Location(outside, 3)))
    assert shown(scene) == [(A, 1, "read")]
    scene.tool_call("c2", kind="read", locations=(Location(outside, 3),))
    assert shown(scene) == [(outside, 2, "read")]
    trail = scene.result("follow.trail")
    assert [place["uri"] for place in trail] == [uris.from_path(outside), URI_A]


@pytest.mark.parametrize("told", ["fragment", "patch"])
def test_f08_an_agent_without_locations_is_where_its_diffs_are(scene: Scene, told: str) -> None:
    scene.prompts()
    scene.agent_edits(A, "three", "3", told=told)
    (place,) = scene.take(ef.ShowPlace)
    assert (place.path, place.line, place.end, place.tool_call) == (A, 2, 2, "call")


def test_f08_a_diff_that_is_only_proposed_is_where_it_is_to_be(scene: Scene) -> None:
    scene.prompts()
    scene.tool_call("c1", Fragment(A, "three\n", "3\n"), status="pending")
    assert shown(scene) == [(A, 2, "edit")]
    scene.tool_call("c2", patch(B, TEXT, TEXT.replace("four", "4")), status="pending")
    assert shown(scene) == [(B, 3, "edit")]


def test_f08_raw_input_counts_where_nothing_else_is_told(scene: Scene) -> None:
    raw(scene, {"file_path": "a.txt", "offset": 2, "limit": 2})
    (place,) = scene.take(ef.ShowPlace)
    assert (place.path, place.line, place.end, place.reason) == (A, 1, 2, "read")
    raw(scene, {"path": URI_B}, "c2")
    assert shown(scene) == [(B, None, "read")]
    raw(scene, {"command": "ls", "cwd": ROOT}, "c3", kind="execute")
    assert shown(scene) == []


def test_paths_in_raw_input_are_the_agents() -> None:
    scene = Scene()
    agents = {AGENT: {"command": "agent", "pathMap": {ROOT: "/remote"}}}
    scene.give(ev.SettingsChanged(({"agents": agents},)))
    scene.session()
    scene.has(A, TEXT)
    raw(scene, {"path": "/remote/a.txt", "line": 2})
    assert shown(scene) == [(A, 1, "read")]


def test_paths_of_an_agent_whose_settings_are_gone_are_taken_as_they_are(scene: Scene) -> None:
    scene.give(ev.SettingsChanged(({"agents": {"other": {"command": "x"}}},)))
    raw(scene, {"path": "a.txt"})
    assert shown(scene) == [(A, None, "read")]


def test_a_windows_agents_paths_begin_in_its_folder() -> None:
    scene = Scene(ready=ev.EditorReady(("C:\\w",)))
    scene.session()
    raw(scene, {"path": "src\\a.py"})
    (look,) = scene.of(ef.LookAt)
    assert look.paths == ("C:\\w\\src\\a.py",)


@pytest.mark.parametrize(("line", "row"), [(None, None), (1, 0), (4, 3), (99, 3), (0, 0), (-1, 0)])
def test_f13_lines_are_converted_once(scene: Scene, line: int | None, row: int | None) -> None:
    scene.tool_call("call", locations=(Location(A, line),))
    assert shown(scene) == [(A, row, "edit")]
    where = row or 0
    (place,) = scene.result("follow.trail")
    assert place["range"]["start"] == {"line": where, "character": 0}


def test_f13_of_an_open_document_the_lines_on_the_screen_count(scene: Scene) -> None:
    scene.buffer(A)
    scene.types(A, 0, "mine\nmine too\n")
    scene.tool_call("call", locations=(Location(A, 99),))
    assert shown(scene) == [(A, 5, "edit")]


def test_several_lines_are_a_range_of_whole_lines(scene: Scene) -> None:
    raw(scene, {"path": A, "offset": 2, "limit": 99})
    (place,) = scene.result("follow.trail")
    assert [place["range"][end]["line"] for end in ("start", "end")] == [1, 4]


# --- what is read and written for the agent -------------------------------------------------


def test_f08_an_agent_without_any_word_is_where_it_reads_and_writes(scene: Scene) -> None:
    scene.agent_reads(A, line=2, limit=2)
    (place,) = scene.take(ef.ShowPlace)
    assert (place.path, place.line, place.end, place.reason) == (A, 1, 2, "read")
    scene.agent_reads(f"{ROOT}/missing.py")
    assert shown(scene) == []
    scene.agent_writes(A, TEXT.replace("three", "3"))
    assert shown(scene) == [(A, 2, "edit")]
    scene.agent_writes(f"{ROOT}/new.py", "x\n")
    assert shown(scene) == [(f"{ROOT}/new.py", 0, "edit")]


def test_what_is_read_for_a_tool_call_does_not_move_it(scene: Scene) -> None:
    scene.tool_call("call", kind="read", locations=(Location(A, 3),))
    scene.agent_reads(A)
    assert shown(scene) == [(A, 2, "read")]


def test_a_write_by_way_of_the_editor_is_a_place_too() -> None:
    scene = Scene(ready=ev.EditorReady((ROOT,), save=True))
    scene.session()
    scene.has(A, TEXT)
    scene.buffer(A)
    scene.agent_writes(A, TEXT.replace("two", "2"))
    scene.settles()
    assert [(path, line) for path, line, _ in shown(scene)] == [(A, 1)]


# --- what moves nothing -----------------------------------------------------------------------


def test_a_replay_moves_nothing(scene: Scene) -> None:
    scene.dies()
    scene.command("session.resume")
    scene.is_ready()
    scene.take(ef.ShowPlace)
    scene.tool_call("old", locations=(Location(A, 2),), status="completed")
    # Some say that a turn runs while they tell what was before.
    scene.tells(up.TurnChanged("running"))
    scene.tool_call("older", locations=(Location(B, 2),), status="completed")
    assert shown(scene) == []
    scene.tells(up.TurnChanged("idle", "end_turn"))
    scene.replied(SessionOpened(NATIVE), ResumeSession)
    scene.tool_call("new", locations=(Location(A, 3),))
    assert shown(scene) == [(A, 2, "edit")]


def test_subagents_move_nothing(scene: Scene) -> None:
    scene.tells(
        up.ToolCallPatched("sub", kind="read", locations=(Location(A, 2),), of_subagent=True)
    )
    # What is told later does not say it again.
    scene.tool_call("sub", status="completed")
    # Where they have sessions of their own these are nobody's here.
    scene.tells(up.ToolCallPatched("x", locations=(Location(A, 2),)), native="subagent")
    assert shown(scene) == []
    assert scene.result("follow.trail") == []


def test_a_turn_begins_with_an_empty_trail(scene: Scene) -> None:
    scene.prompts()
    scene.tool_call("c1", locations=(Location(A, 2),))
    scene.ends()
    assert len(scene.result("follow.trail")) == 1
    scene.prompts()
    assert len(scene.result("follow.trail")) == 1
    scene.tool_call("c2", locations=(Location(B, 2),))
    assert [place["toolCall"] for place in scene.result("follow.trail")] == ["c2"]


def test_the_tool_call_of_a_question_is_a_place(scene: Scene) -> None:
    scene.tool_call("call", locations=(Location(A, 2),), status="pending")
    scene.asks(1, "Edit?", (Choosable("y", "Yes", "allow_once"),))
    assert shown(scene) == [(A, 1, "edit")]
