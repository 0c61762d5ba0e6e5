"""The editor goes where the agent is: when, how often, and when not (F02, F04, F05, F07, F11)."""

from __future__ import annotations

import pytest
from scene import NATIVE, ROOT, YES_NO, A, B, Scene

from acpls import effects as ef
from acpls import events as ev
from acpls.follow import MOVE_EVERY_S
from acpls.session.content import Location
from acpls.text import uris

TEXT = "one\ntwo\nthree\nfour\n"
URI_A, URI_B = (uris.from_path(path) for path in (A, B))
C = f"{ROOT}/c.txt"
URI_C = uris.from_path(C)

PLACES = ev.EditorReady((ROOT,), places=True)
FOCUS = ev.EditorReady((ROOT,), places=True, focus=True, questions=True)
GENTLE = ev.EditorReady((ROOT,), gentle_show=True)
PLAIN = ev.EditorReady((ROOT,))


def start(ready: ev.EditorReady = PLACES, *, on: bool = True) -> Scene:
    """A turn is at work, and three files are there."""
    scene = Scene(ready=ready)
    for path in (A, B, C):
        scene.has(path, TEXT)
    scene.session()
    scene.prompts()
    if on:
        scene.result("follow.set", on=True)
    scene.passes(60)
    return scene


def goes(scene: Scene, path: str, line: int, native: str = NATIVE) -> None:
    """The agent is somewhere."""
    scene.tool_call(f"{path}:{line}", kind="read", locations=(Location(path, line),), native=native)


def moved(scene: Scene) -> list[tuple[str, int | None]]:
    """Where the editor was moved since this was asked last."""
    return [(place.path, place.line) for place in scene.take(ef.ShowPlace) if place.move]


def word(scene: Scene) -> str:
    return str(scene.result("status")["follow"])


def focus(scene: Scene, uri: str | None, row: int | None = None, *, typing: bool = False) -> None:
    scene.give(ev.FocusChanged(uri, typing, None if row is None else (row, row)))


def typed(scene: Scene, path: str = A) -> None:
    scene.types(path, 0, "x")


# --- when ----------------------------------------------------------------------------------


@pytest.mark.parametrize("ready", [PLACES, FOCUS, GENTLE, PLAIN])
def test_f02_f11_nothing_opens_by_itself_with_follow_off(ready: ev.EditorReady) -> None:
    scene = start(ready, on=False)
    goes(scene, A, 2)
    scene.settles()
    assert moved(scene) == []
    assert scene.of(ef.ShowDocument) == []
    assert word(scene) == "off"


@pytest.mark.parametrize("ready", [PLACES, FOCUS, GENTLE])
def test_the_editor_goes_along_where_that_is_wanted(ready: ev.EditorReady) -> None:
    scene = start(ready)
    goes(scene, A, 2)
    assert moved(scene) == [(A, 1)]
    assert word(scene) == "on"


def test_an_editor_that_cannot_be_moved_gently_is_not_moved() -> None:
    scene = start(PLAIN, on=False)
    for _ in range(2):
        scene.result("follow.set", on=True)
    told = [effect for effect in scene.of(ef.TellUser) if effect.level == "info"]
    assert [effect.message for effect in told] == [
        "This editor is not moved by itself; acpls.follow.goTo goes to the agent"
    ]
    goes(scene, A, 2)
    scene.settles()
    assert moved(scene) == []
    assert scene.of(ef.ShowDocument) == []


def test_f11_the_same_spot_is_not_shown_again() -> None:
    scene = start(GENTLE)
    goes(scene, A, 2)
    scene.passes(5)
    scene.tool_call("again", locations=(Location(A, 2),))
    scene.settles()
    assert moved(scene) == [(A, 1)]


def test_the_user_is_moved_at_most_so_often_and_then_to_the_last_place() -> None:
    scene = start()
    goes(scene, A, 1)
    goes(scene, B, 2)
    goes(scene, C, 3)
    assert moved(scene) == [(A, 0)]
    assert len([t for t in scene.timers if "FollowDue" in repr(t)]) == 1
    scene.passes(MOVE_EVERY_S - 0.01)
    assert moved(scene) == []
    scene.passes(0.01)
    assert moved(scene) == [(C, 2)]
    scene.settles()
    assert moved(scene) == []


def test_a_place_outside_is_a_mark_and_no_more() -> None:
    scene = start()
    scene.puts("/etc/hosts", TEXT)
    goes(scene, "/etc/hosts", 2)
    scene.settles()
    assert [place.move for place in scene.take(ef.ShowPlace)] == [False]
    goes(scene, A, 1)
    scene.puts("/etc/passwd", TEXT)
    assert moved(scene) == [(A, 0)]
    goes(scene, B, 1)
    goes(scene, "/etc/passwd", 2)
    scene.settles()
    assert moved(scene) == []


# --- the idle gate ----------------------------------------------------------------------------


def test_f02_nobody_is_moved_while_he_types() -> None:
    scene = start()
    scene.buffer(A)
    scene.passes(60)
    typed(scene)
    goes(scene, B, 2)
    scene.passes(1)
    typed(scene)
    scene.passes(1.9)
    assert moved(scene) == []
    goes(scene, C, 3)
    scene.passes(0.1)
    assert moved(scene) == [(C, 2)]


def test_f02_the_gate_goes_by_the_focus_where_that_is_told() -> None:
    scene = start(FOCUS)
    scene.buffer(A)
    focus(scene, URI_A, 0, typing=True)
    goes(scene, B, 2)
    scene.passes(60)
    assert moved(scene) == []
    # A change of a document is no sign of the user then.
    focus(scene, URI_A, 0, typing=False)
    scene.passes(1.5)
    typed(scene)
    scene.passes(0.4)
    assert moved(scene) == []
    scene.passes(0.1)
    assert moved(scene) == [(B, 1)]


def test_who_has_just_moved_rests_first() -> None:
    scene = start(FOCUS)
    focus(scene, URI_A, 0)
    goes(scene, B, 2)
    for row in range(1, 4):
        scene.passes(1.9)
        focus(scene, URI_A, row)
    # The same once more is no movement.
    scene.passes(1.9)
    focus(scene, URI_A, 3)
    assert moved(scene) == []
    scene.passes(0.1)
    assert moved(scene) == [(B, 1)]


def test_what_the_user_does_after_the_turn_lets_the_place_go() -> None:
    scene = start()
    scene.buffer(A)
    scene.passes(60)
    typed(scene)
    goes(scene, B, 2)
    scene.ends()
    typed(scene)
    scene.settles()
    assert moved(scene) == []


def test_a_place_of_a_short_turn_is_still_gone_to_at_its_end() -> None:
    scene = start()
    scene.buffer(A)
    goes(scene, B, 2)
    scene.ends()
    scene.passes(2)
    assert moved(scene) == [(B, 1)]


def test_the_time_to_rest_is_a_setting() -> None:
    scene = start()
    scene.give(ev.SettingsChanged(({"follow": {"idleSeconds": 0}},)))
    scene.buffer(A)
    typed(scene)
    goes(scene, B, 2)
    assert moved(scene) == [(B, 1)]


def test_our_own_edits_and_reloads_are_not_the_users_doing() -> None:
    scene = start(GENTLE)
    uri = scene.buffer(A)
    scene.passes(60)
    goes(scene, B, 1)
    scene.agent_edits(A, "two", "2")
    scene.settles()
    assert scene.text(A) == TEXT.replace("two", "2")
    assert word(scene) == "on"
    scene.agent_edits(A, "three", "3", call="c2")
    scene.shows(uri, TEXT.replace("two", "2").replace("three", "3"))
    assert word(scene) == "on"


def test_a_reload_that_comes_before_its_change_is_known_is_no_movement() -> None:
    scene = start(ev.EditorReady((ROOT,), gentle_show=True, reloads=True))
    uri = scene.buffer(A)
    scene.passes(60)
    goes(scene, B, 1)
    scene.puts(A, TEXT.replace("two", "2"))
    scene.shows(uri, TEXT.replace("two", "2"))
    assert word(scene) == "on"
    # Whoever types types more than once.
    typed(scene)
    typed(scene)
    assert word(scene) == "paused"


# --- questions --------------------------------------------------------------------------------


@pytest.mark.parametrize("dismissed", [True, False])
def test_f02_f05_nothing_opens_in_front_of_a_question(dismissed: bool) -> None:
    scene = start(FOCUS)
    key = scene.asks(1, "May I?", YES_NO)
    assert scene.put() == [key]
    goes(scene, A, 2)
    scene.settles()
    assert moved(scene) == []
    scene.give(ev.QuestionPut(key, None if dismissed else "no"))
    assert moved(scene) == [(A, 1)]


@pytest.mark.parametrize(("after_s", "again"), [(0.0, True), (0.05, True), (0.2, False)])
def test_f05_a_question_that_comes_with_a_move_is_first(after_s: float, again: bool) -> None:
    """F05: what the editor was not told of yet is gone to when the question is over."""
    scene = start(FOCUS)
    goes(scene, A, 2)
    assert moved(scene) == [(A, 1)]
    scene.passes(after_s)
    key = scene.asks(1, "May I?", YES_NO)
    scene.passes(5)
    assert moved(scene) == []
    scene.give(ev.QuestionPut(key, "no"))
    assert moved(scene) == ([(A, 1)] if again else [])


def test_a_question_that_is_nowhere_on_the_screen_is_in_nobodys_way() -> None:
    scene = start(GENTLE)
    scene.asks(1, "May I?", YES_NO)
    assert scene.put() == []
    goes(scene, A, 2)
    assert moved(scene) == [(A, 1)]


# --- the user goes away -----------------------------------------------------------------------


@pytest.mark.parametrize(("uri", "row"), [(URI_C, 1), (URI_C, None), (URI_A, 3)])
def test_f04_who_goes_away_is_left_there_until_he_says_so(uri: str, row: int | None) -> None:
    scene = start(FOCUS)
    focus(scene, URI_B, 0)
    scene.passes(60)
    goes(scene, A, 2)
    assert moved(scene) == [(A, 1)]
    focus(scene, uri, row)
    assert word(scene) == "paused"
    assert scene.take(ef.ShowFollow)
    goes(scene, B, 3)
    scene.ends()
    scene.prompts()
    goes(scene, C, 3)
    scene.settles()
    assert moved(scene) == []
    scene.result("follow.set", on=True)
    assert word(scene) == "on"
    scene.passes(2)
    assert moved(scene) == [(C, 2)]


@pytest.mark.parametrize(
    ("uri", "row"), [(URI_A, 1), (URI_A, None), (None, None)], ids=["there", "the file", "a panel"]
)
def test_who_is_where_he_was_taken_has_not_gone_away(uri: str | None, row: int | None) -> None:
    scene = start(FOCUS)
    goes(scene, A, 2)
    focus(scene, uri, row)
    assert word(scene) == "on"
    goes(scene, B, 3)
    scene.settles()
    assert moved(scene)[-1] == (B, 2)


def test_who_is_in_a_file_of_which_only_the_name_was_told_has_not_gone_away() -> None:
    scene = start(FOCUS)
    scene.tool_call("c", locations=(Location(A),))
    focus(scene, URI_A, 3)
    assert word(scene) == "on"


def test_who_types_where_he_was_taken_is_at_work_there() -> None:
    scene = start(FOCUS)
    goes(scene, A, 2)
    focus(scene, URI_A, 1, typing=True)
    assert word(scene) == "paused"


def test_talking_with_the_agent_is_not_going_away() -> None:
    scene = start(FOCUS)
    goes(scene, A, 2)
    scene.result("session.openConversation")
    talk = next(iter(scene.state.conversations.values())).uri
    focus(scene, talk, 5, typing=True)
    focus(scene, None, None, typing=True)
    assert word(scene) == "on"


@pytest.mark.parametrize("deed", ["types", "opens"])
def test_a_plain_editor_tells_by_its_documents_that_the_user_went_away(deed: str) -> None:
    scene = start(GENTLE)
    scene.buffer(C)
    scene.passes(60)
    goes(scene, A, 2)
    scene.buffer(A)
    assert word(scene) == "on", "it opened because of us"
    if deed == "types":
        typed(scene, C)
    else:
        scene.buffer(B)
    assert word(scene) == "paused"
    goes(scene, B, 3)
    scene.settles()
    assert moved(scene) == [(A, 1)]


def test_a_document_that_is_read_anew_is_no_movement() -> None:
    scene = start(GENTLE)
    scene.buffer(C)
    goes(scene, A, 2)
    scene.closes(C)
    scene.buffer(C)
    assert word(scene) == "on"
    scene.closes(C)
    scene.passes(2)
    scene.buffer(C)
    assert word(scene) == "paused"


def test_documents_that_we_open_are_no_movement() -> None:
    scene = start(GENTLE)
    goes(scene, A, 2)
    scene.result("session.openConversation")
    talk = next(iter(scene.state.conversations.values()))
    scene.buffer(talk.path)
    assert word(scene) == "on"
    for n in range(30):
        scene.give(ev.BufferOpened(uris.from_path(f"{ROOT}/{n}"), 1, ""))
    assert word(scene) == "paused"


def test_of_many_documents_that_were_open_already_the_last_are_remembered() -> None:
    scene = start(GENTLE)
    for n in range(40):
        path = f"{ROOT}/{n}.txt"
        scene.has(path, TEXT)
        goes(scene, path, 1)
        scene.passes(1)
    assert len(moved(scene)) == 40
    assert len(scene.state.follow.opening) == 20
    scene.buffer(f"{ROOT}/39.txt")
    assert word(scene) == "on"


def test_nobody_goes_away_from_an_agent_that_does_nothing() -> None:
    scene = start(FOCUS)
    goes(scene, A, 2)
    scene.ends()
    focus(scene, URI_C, 1, typing=True)
    focus(scene, URI_C, 1)
    assert word(scene) == "on"
    scene.prompts()
    goes(scene, B, 2)
    scene.passes(2)
    assert moved(scene)[-1] == (B, 1)


def test_before_the_first_move_there_is_nothing_to_go_away_from() -> None:
    scene = start(FOCUS)
    focus(scene, URI_C, 1)
    focus(scene, URI_C, 2)
    assert word(scene) == "on"


def test_the_editor_may_see_what_nobody_else_can() -> None:
    scene = start()
    scene.take(ef.ShowFollow)
    assert scene.result("follow.pause") == {}
    assert word(scene) == "paused"
    assert len(scene.take(ef.ShowFollow)) == 1
    goes(scene, A, 2)
    scene.settles()
    assert moved(scene) == []
    scene.result("follow.set", on=False)
    scene.result("follow.pause")
    scene.result("follow.set", on=True)
    assert word(scene) == "on"
    assert moved(scene) == [(A, 1)]


# --- which session ----------------------------------------------------------------------------


def test_the_current_session_is_followed_unless_the_user_chose_another() -> None:
    scene = start(on=False)
    scene.session("second")
    scene.result("follow.set", on=True)
    goes(scene, A, 2)
    goes(scene, B, 2, "second")
    assert moved(scene) == [(B, 1)]
    scene.passes(5)
    scene.result("follow.set", session="s1", on=True)
    assert moved(scene) == [(A, 1)]
    scene.passes(5)
    goes(scene, C, 1, "second")
    goes(scene, C, 3)
    assert moved(scene) == [(C, 2)]
    # With the end of that session the current one counts again.
    scene.command("session.close", session="s1")
    scene.passes(5)
    goes(scene, A, 4, "second")
    assert moved(scene) == [(A, 3)]


def test_f07_an_override_is_for_its_session_alone() -> None:
    scene = start(on=False)
    assert scene.result("follow.set", session="s1") == {"on": True}
    assert word(scene) == "on"
    assert scene.choices == {}
    scene.session("second")
    assert word(scene) == "on", "s1 is watched"
    assert scene.result("follow.set", session="s1") == {"on": False}
    assert word(scene) == "off"
    scene.result("follow.set", on=True)
    scene.result("follow.set", session="s2", on=False)
    goes(scene, A, 1, "second")
    assert moved(scene) == []
    # Chosen for all, it is for this one too.
    scene.result("follow.set", on=True)
    assert moved(scene) == [(A, 0)]


def test_a_session_that_is_not_watched_is_turned_on_by_asking_for_it() -> None:
    scene = start()
    scene.take(ef.ShowFollow)
    scene.session("second")
    assert word(scene) == "on"
    # Another one is followed now.
    assert len(scene.take(ef.ShowFollow)) == 1
    assert scene.result("follow.set", session="s1") == {"on": True}
    assert scene.state.follow.watched == "s1"


# --- the choice -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "on"), [([None, None], False), ([True, True], True), ([False], False)]
)
def test_following_is_set_or_turned_round(arguments: list[bool | None], on: bool) -> None:
    scene = Scene()
    told = [
        scene.result("follow.set", **({} if given is None else {"on": given}))
        for given in arguments
    ]
    assert told[-1] == {"on": on}
    assert (scene.state.follow.on, word(scene)) == (on, "on" if on else "off")


def test_turned_round_while_it_is_paused_it_goes_on() -> None:
    scene = start(FOCUS)
    goes(scene, A, 2)
    focus(scene, URI_C, 1)
    assert word(scene) == "paused"
    assert scene.result("follow.set") == {"on": True}
    assert word(scene) == "on"


def test_f07_the_choice_is_remembered() -> None:
    first = Scene(choices={"theirs": [1]})
    first.result("follow.set", on=True)
    first.result("follow.set", on=True)
    assert first.of(ef.KeepChoice) == [ef.KeepChoice("follow", value=True)]
    assert word(Scene(choices=first.choices)) == "on"
    first.result("follow.set", on=False)
    assert first.choices == {"theirs": [1], "follow": False}
    assert word(Scene(choices=first.choices)) == "off"
    assert word(Scene(choices={"follow": "yes"})) == "off"


def setting(on: bool | None) -> ev.SettingsChanged:
    return ev.SettingsChanged(({} if on is None else {"follow": {"on": on}},))


@pytest.mark.parametrize("on", [True, False])
def test_f07_a_setting_wins_until_the_user_changes_it(on: bool) -> None:
    scene = Scene(choices={"follow": not on})
    scene.give(setting(on))
    assert word(scene) == ("on" if on else "off")
    scene.result("follow.set", on=not on)
    # Settings come again whenever anything in them changes.
    for again in (on, None, on):
        scene.give(setting(again))
        assert scene.state.follow.on is not on
    scene.give(setting(not on))
    scene.give(setting(on))
    assert scene.state.follow.on is on


def test_what_was_chosen_before_the_file_was_read_stays() -> None:
    scene = Scene(holds={ef.LoadChoices}, choices={"follow": False})
    scene.result("follow.set", on=True)
    scene.let(ef.LoadChoices)
    assert word(scene) == "on"


def test_choices_are_asked_for_once() -> None:
    scene = Scene()
    scene.give(PLAIN)
    assert len(scene.of(ef.LoadChoices)) == 1


def test_a_session_that_is_gone_is_followed_by_none() -> None:
    scene = start()
    scene.command("session.close")
    assert (scene.state.current, word(scene)) == (None, "on")
    focus(scene, URI_A, 1)
    assert moved(scene) == []


def test_a_timer_that_comes_too_late_moves_nobody() -> None:
    scene = start()
    goes(scene, A, 1)
    goes(scene, B, 1)
    scene.result("follow.set", on=False)
    scene.settles()
    assert moved(scene) == [(A, 0)]


def test_a_wish_for_a_session_that_was_nowhere_waits_for_its_place() -> None:
    scene = start(on=False)
    scene.result("follow.set", on=True)
    assert moved(scene) == []
    goes(scene, A, 1)
    assert moved(scene) == [(A, 0)]
