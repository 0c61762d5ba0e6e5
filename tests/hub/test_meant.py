"""What a command is about when its arguments leave it out."""

from __future__ import annotations

from typing import Any

import pytest
from scene import AGENT, NATIVE, OPENING, A, B, Scene

from acpls import effects as ef
from acpls import events as ev
from acpls.hub import meant
from acpls.hub.state import CannotDo
from acpls.session.asks import Failure, NewSession, Prompt, SessionOpened
from acpls.session.content import Text
from acpls.text import uris

URI_A, URI_B = uris.from_path(A), uris.from_path(B)
OVER = "The session is over; acpls.session.new starts another"


def two_sessions(scene: Scene) -> None:
    """Session ``s1`` changes the first file, ``s2``, the current one, the second."""
    scene.disk.update({A: "a\n", B: "b\n"})
    scene.session("one")
    scene.agent_writes(A, "A\n", native="one")
    scene.session("two")
    scene.agent_writes(B, "B\n", native="two")


# --- agents and folders -------------------------------------------------------------------


def test_a_left_out_agent_is_the_chosen_one() -> None:
    scene = Scene()
    layer = {"agents": {"a": {"command": "a"}, "b": {"command": "b"}}, "defaultAgent": "b"}
    scene.give(ev.SettingsChanged((layer,)))
    assert meant.agent(scene.state, {}) == "b"
    scene.state.default_agent = "a"
    assert meant.agent(scene.state, {}) == "a"
    assert meant.agent(scene.state, {"agent": "b"}) == "b"


def test_a_left_out_folder_is_the_editors_main_one() -> None:
    scene = Scene(ready=ev.EditorReady(("/main", "/other")))
    assert meant.folder(scene.state, {}) == "/main"
    assert meant.folder(scene.state, {"cwd": "/third"}) == "/third"


def test_before_the_editor_has_told_its_folders_there_is_none() -> None:
    scene = Scene(ready=ev.EditorReady(()))
    failed = scene.error("session.new")
    assert failed.message == "The editor has not said yet in which folder it works"
    assert (failed.code, failed.field) == (-32803, None)
    assert scene.state.sessions == {}
    assert scene.of(ef.StartAgent) == []


# --- sessions -----------------------------------------------------------------------------


def test_a_left_out_session_is_the_current_one() -> None:
    scene = Scene()
    scene.session("one")
    scene.session("two")
    assert meant.session(scene.state, {}).key == "s2"
    assert meant.session(scene.state, {"session": "s1"}).key == "s1"
    scene.result("session.prompt", session="s1", text="go")
    assert meant.session(scene.state, {}).key == "s1"


def test_where_many_are_meant_a_left_out_session_is_all() -> None:
    scene = Scene()
    scene.session()
    assert meant.session_or_all(scene.state, {}) is None
    assert meant.session_or_all(scene.state, {"session": "s1"}) == "s1"


def test_a_session_that_lives_is_used_again() -> None:
    scene = Scene()
    scene.session("one")
    scene.session("two")
    assert list(meant.session_or_new(scene.state, {})) == []
    assert scene.state.current == "s2"
    assert list(meant.session_or_new(scene.state, {"session": "s1"})) == []
    assert scene.state.current == "s1"


def test_where_none_is_open_a_session_is_opened() -> None:
    scene = Scene()
    effects = list(meant.session_or_new(scene.state, {}))
    assert effects[-2] == ef.SendAsk(AGENT, 1, NewSession(OPENING))
    assert scene.state.current == "s1"


def test_a_session_that_is_over_is_followed_by_another_unless_it_was_named() -> None:
    scene = Scene()
    scene.session()
    scene.command("session.new")
    scene.ask_fails(Failure(-32603, "no"), NewSession)
    scene.state.current = "s2"
    scene.result("session.close", session="s1")
    for name in ("session.prompt", "session.openConversation", "session.ask"):
        failed = scene.error(name, session="s1")
        assert (failed.message, failed.field) == (OVER, "session")
    scene.state.current = "s1"
    assert scene.result("session.prompt", text="go")["session"] == "s3"


def test_a_session_that_has_never_been_open_is_opened_by_its_first_prompt() -> None:
    """So that what is written in its document is not written in vain."""
    scene = Scene()
    scene.command("session.new")
    scene.ask_fails(Failure(-32603, "no"), NewSession)
    assert scene.error("session.resume", session="s1").message.startswith("The session was never")
    assert scene.result("session.prompt", session="s1", text="go")["session"] == "s1"
    scene.replied(SessionOpened(NATIVE), NewSession)
    assert [ask for ask in scene.asked.values() if isinstance(ask, Prompt)] == [
        Prompt(NATIVE, (Text("go"),))
    ]


def test_a_session_that_was_lost_with_its_agent_is_still_the_one_meant() -> None:
    """S19."""
    scene = Scene()
    scene.session()
    scene.dies()
    assert scene.result("session.openConversation")["uri"].endswith("s1.md")
    assert scene.result("session.prompt", text="go")["session"] == "s1"
    assert list(scene.state.sessions) == ["s1"]


# --- questions ----------------------------------------------------------------------------


def test_a_left_out_question_is_the_oldest_open_one() -> None:
    scene = Scene()
    scene.session()
    first, second = scene.asks(1), scene.asks(2)
    assert meant.question(scene.state, {}).key == first
    assert meant.question(scene.state, {"question": second}).key == second
    scene.command("question.answer", option="no")
    assert meant.question(scene.state, {}).key == second
    assert meant.question(scene.state, {"question": first}).by == "editor"


# --- files and hunks ----------------------------------------------------------------------


def test_the_files_of_all_of_a_session_or_the_one_named() -> None:
    scene = Scene()
    two_sessions(scene)

    def paths(**arguments: Any) -> list[str]:
        return [change.path for change in meant.changes(scene.state, arguments)]

    assert paths() == [A, B]
    assert paths(session="s1") == [A]
    assert paths(uri=URI_B) == [B]
    assert paths(uri="file:///ws/%62.txt") == [B]
    assert paths(uri=URI_B, session="s1") == []


@pytest.mark.parametrize(
    ("arguments", "new"),
    [
        ({}, ["B\n"]),
        ({"all": True}, ["A\n", "B\n"]),
        ({"session": "s1"}, ["A\n"]),
        ({"uri": URI_A}, ["A\n"]),
        ({"uri": URI_B}, ["B\n"]),
        ({"uri": URI_B, "session": "s1"}, []),
        ({"session": "s1", "all": True}, ["A\n"]),
    ],
)
def test_the_hunks_of_a_file_of_a_session_of_all_or_else_of_the_current_session(
    arguments: dict[str, Any], new: list[str]
) -> None:
    scene = Scene()
    two_sessions(scene)
    found = meant.hunks(scene.state, arguments)
    assert ["".join(hunk.hunk.new) for _, hunk in found] == new


def test_a_hunk_that_is_named_is_meant_alone() -> None:
    scene = Scene()
    two_sessions(scene)
    (key,) = scene.keys(A)
    ((file, hunk),) = meant.hunks(scene.state, {"hunk": key, "all": True})
    assert (file.path, hunk.key) == (A, key)
    with pytest.raises(CannotDo, match="No pending hunk has the key 'h99'") as raised:
        meant.hunks(scene.state, {"hunk": "h99"})
    assert raised.value.field == "hunk"


def test_without_a_current_session_the_hunks_of_all_are_meant() -> None:
    scene = Scene()
    two_sessions(scene)
    scene.command("session.close")
    assert scene.state.current is None
    assert len(meant.hunks(scene.state, {})) == 2
