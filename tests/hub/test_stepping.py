"""The commands that show where the agent is and was: the trail, afterwards as well."""

from __future__ import annotations

from typing import Any

import pytest
from scene import ROOT, A, B, Scene

from acpls import effects as ef
from acpls import events as ev
from acpls.session.content import Location
from acpls.text import uris

TEXT = "one\ntwo\nthree\n"
URI_A, URI_B = (uris.from_path(path) for path in (A, B))
STEPS = ("follow.goTo", "follow.previous", "follow.next")


def at_row(row: int) -> dict[str, Any]:
    position = {"line": row, "character": 0}
    return {"start": position, "end": position}


@pytest.fixture
def scene() -> Scene:
    """A turn is at work, and two files are there."""
    scene = Scene(ready=ev.EditorReady((ROOT,), places=True, focus=True))
    scene.has(A, TEXT)
    scene.has(B, TEXT)
    scene.session()
    scene.prompts()
    return scene


def goes(scene: Scene, path: str, line: int | None, call: str) -> None:
    scene.tool_call(call, kind="read", locations=(Location(path, line),))


def shows(scene: Scene, name: str, **arguments: Any) -> str:
    """Where a command leads, and that the document is shown there, with the focus."""
    place = scene.result(name, **arguments)
    (shown,) = scene.take(ef.ShowDocument)
    assert shown.uri == place["uri"]
    assert shown.take_focus
    assert shown.line == shown.end == place["range"]["start"]["line"]
    return str(place["toolCall"])


def test_the_trail_is_told_newest_first(scene: Scene) -> None:
    assert scene.result("follow.trail") == []
    goes(scene, A, 3, "c1")
    goes(scene, B, None, "c2")
    assert scene.result("follow.trail", session="s1") == [
        {"uri": URI_B, "range": at_row(0), "reason": "read", "toolCall": "c2"},
        {"uri": URI_A, "range": at_row(2), "reason": "read", "toolCall": "c1"},
    ]


@pytest.mark.parametrize("name", STEPS)
def test_there_is_no_place_to_go_to_yet(scene: Scene, name: str) -> None:
    failed = scene.error(name)
    assert failed.message == "The agent has not been at any place yet"
    assert (failed.code, failed.field) == (-32803, None)


def test_going_to_a_file_goes_to_no_line(scene: Scene) -> None:
    goes(scene, A, None, "c1")
    assert scene.result("follow.goTo")["range"] == at_row(0)
    assert scene.of(ef.ShowDocument) == [ef.ShowDocument(URI_A, take_focus=True)]


def test_f13_going_to_a_line_goes_no_further_than_the_documents_last(scene: Scene) -> None:
    goes(scene, A, 3, "c1")
    assert scene.result("follow.goTo")["range"] == at_row(2)
    scene.buffer(A, "one\ntwo\n")
    assert scene.result("follow.goTo", session="s1")["range"] == at_row(1)
    assert [shown.line for shown in scene.of(ef.ShowDocument)] == [2, 1]


def test_one_can_step_through_a_turn_when_it_is_over(scene: Scene) -> None:
    for line, call in enumerate(("c1", "c2", "c3"), start=1):
        goes(scene, A, line, call)
    scene.ends()
    assert [shows(scene, "follow.next") for _ in range(3)] == ["c1", "c2", "c3"]
    assert scene.error("follow.next").message == "This is the last place of the turn"
    assert [shows(scene, "follow.previous") for _ in range(2)] == ["c2", "c1"]
    assert scene.error("follow.previous").message == "This is the first place of the turn"
    assert shows(scene, "follow.goTo") == "c3"
    assert shows(scene, "follow.previous", session="s1") == "c2"


def test_the_first_step_back_is_to_the_newest_place(scene: Scene) -> None:
    goes(scene, A, 1, "c1")
    goes(scene, A, 2, "c2")
    assert shows(scene, "follow.previous") == "c2"


def test_who_looks_back_is_left_there_until_he_goes_to_the_agent(scene: Scene) -> None:
    scene.result("follow.set", on=True)
    goes(scene, A, 1, "c1")
    goes(scene, A, 2, "c2")
    shows(scene, "follow.previous")
    assert scene.result("status")["follow"] == "paused"
    scene.take(ef.ShowPlace)
    goes(scene, B, 1, "c3")
    scene.settles()
    assert [place.move for place in scene.take(ef.ShowPlace)] == [False]
    # Stepping once more says nothing new.
    shows(scene, "follow.previous")
    assert shows(scene, "follow.goTo") == "c3"
    assert scene.result("status")["follow"] == "on"
    goes(scene, B, 2, "c4")
    scene.settles()
    assert [place.move for place in scene.take(ef.ShowPlace)] == [False, True]


def test_stepping_with_follow_off_pauses_nothing(scene: Scene) -> None:
    goes(scene, A, 1, "c1")
    shows(scene, "follow.previous")
    scene.result("follow.set", on=True)
    assert scene.result("status")["follow"] == "on"


def test_the_session_that_is_watched_is_meant_where_none_is_named(scene: Scene) -> None:
    goes(scene, A, 1, "c1")
    scene.session("second")
    assert scene.result("follow.trail") == []
    scene.result("follow.set", session="s1", on=True)
    assert len(scene.result("follow.trail")) == 1
    assert scene.result("follow.trail", session="s2") == []


def test_a_file_is_shown_by_the_name_that_the_editor_has_for_it(scene: Scene) -> None:
    scene.state.paths.spelled[A] = f"{ROOT}/link.txt"
    goes(scene, A, 1, "c1")
    assert scene.result("follow.goTo")["uri"] == uris.from_path(f"{ROOT}/link.txt")
