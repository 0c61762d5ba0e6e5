"""Changes that wait for the user before they are made (D02, D13, D22)."""

from __future__ import annotations

import pytest
from holding_scene import AFTER, BEFORE, CLAIM, FOUR, TWO, begun, decide, failure, held, is_over
from scene import AGENT, A, B, Scene

from acpls import effects as ef
from acpls import events as ev
from acpls.session.asks import Done, Failure


@pytest.fixture
def scene() -> Scene:
    return begun()


# --- writes through us -----------------------------------------------------------------------


def test_d22_the_mode_can_be_seen_and_changed_with_one_command(scene: Scene) -> None:
    assert scene.result("status")["reviewMode"] == "before"
    assert scene.result("review.setMode", mode="after") == {"mode": "after"}
    assert scene.agent_writes(A, AFTER) == Done()


def test_d22_the_mode_of_the_settings_counts_until_another_is_chosen() -> None:
    scene = Scene()
    scene.give(ev.SettingsChanged(({"review": {"mode": "before", "holdSeconds": 90}},)))
    scene.has(A, BEFORE)
    scene.session()
    held(scene)
    assert scene.of(ef.After)[-1].seconds == 90


def test_a_write_is_shown_as_hunks_first(scene: Scene) -> None:
    held(scene)
    (change,) = scene.result("review.list")
    assert [h["applied"] for h in change["hunks"]] == [False, False]
    assert (change["session"], "toolCall" in change) == ("s1", False)
    assert scene.hunks() == [TWO, FOUR]
    assert scene.answers() == []


def test_all_of_a_write_is_kept(scene: Scene) -> None:
    held(scene)
    assert decide(scene, "keep") == {"hunks": 2, "left": []}
    is_over(scene, AFTER, Done())


def test_a_part_of_a_write_is_kept_and_the_agent_is_told_so(scene: Scene) -> None:
    held(scene)
    assert decide(scene, "keep", 0) == {"hunks": 1, "left": []}
    assert (scene.disk[A], scene.answers()) == (BEFORE, [])
    decide(scene, "reject", 1)
    reason = "the user rejected 1 of 2 changes; the file has the others"
    is_over(scene, BEFORE.replace("two", "2"), failure(reason))


def test_d13_what_is_rejected_is_never_written(scene: Scene) -> None:
    scene.buffer(A)
    held(scene)
    decide(scene, "reject")
    assert scene.of(ef.WriteFile) == []
    # A claim of it afterwards is not proposed again.
    scene.tool_call("call", CLAIM, status="completed")
    is_over(scene, BEFORE, failure("the user rejected this change", -32000))
    assert scene.text(A) == scene.agent_reads(A) == BEFORE


def test_d13_what_was_left_out_is_not_proposed_again(scene: Scene) -> None:
    held(scene)
    decide(scene, "keep", 0)
    decide(scene, "reject", 1)
    scene.tool_call("call", CLAIM, status="completed")
    assert scene.result("review.list") == []


def test_the_user_may_think_again_before_all_is_decided(scene: Scene) -> None:
    held(scene)
    decide(scene, "reject", 0)
    decide(scene, "keep", 0)
    decide(scene, "keep", 1)
    is_over(scene, AFTER, Done())


def test_a_new_file_waits_too(scene: Scene) -> None:
    path = "/ws/new.txt"
    assert scene.agent_writes(path, "new\n") is None
    (change,) = scene.result("review.list")
    assert change["operation"] == "add"
    scene.result("review.keep", all=True)
    assert (scene.disk[path], scene.answers()) == ("new\n", [Done()])


def test_a_write_of_what_is_there_does_not_wait(scene: Scene) -> None:
    assert scene.agent_writes(A, BEFORE) == Done()
    assert scene.result("review.list") == []


def test_line_endings_of_the_file_are_kept(scene: Scene) -> None:
    """D26"""
    crlf = BEFORE.replace("\n", "\r\n")
    scene.has(A, crlf)
    assert scene.agent_writes(A, AFTER) is None
    assert scene.hunks() == [("two\r\n", "2\r\n"), ("four\r\n", "4\r\n")]
    decide(scene, "keep", 0)
    decide(scene, "reject", 1)
    assert scene.disk[A] == crlf.replace("two", "2")


def test_two_writes_of_one_file_wait_each_for_themselves(scene: Scene) -> None:
    held(scene)
    held(scene, BEFORE.replace("one", "1"))
    first, second = scene.result("review.list")
    scene.result("review.keep", hunk=second["hunks"][0]["hunk"])
    assert scene.answers("fs2") == [Done()]
    # The first was made for a file that is another one now.
    for hunk in first["hunks"]:
        scene.result("review.keep", hunk=hunk["hunk"])
    assert scene.answers("fs1") == [failure("has changed on disk")]
    assert scene.disk[A] == BEFORE.replace("one", "1")


def test_a_write_that_the_agent_makes_by_itself_as_well_still_waits(scene: Scene) -> None:
    held(scene)
    scene.puts(A, AFTER)
    scene.notices(A)
    assert scene.answers() == []
    scene.dies()
    assert len(scene.answers()) == 1


# --- in open documents ---------------------------------------------------------------------------


def test_what_was_kept_comes_into_a_clean_document(scene: Scene) -> None:
    scene.buffer(A)
    held(scene)
    decide(scene, "keep")
    scene.settles()
    assert scene.text(A) == AFTER
    is_over(scene, AFTER, Done())


def test_what_was_kept_comes_beside_unsaved_lines(scene: Scene) -> None:
    """D07: and these are no change of the agent's, though it was given them."""
    scene.buffer(A)
    scene.types(A, 0, "mine\n")
    scene.agent_reads(A)
    assert scene.agent_writes(A, f"mine\n{AFTER}") is None
    assert scene.hunks() == [TWO, FOUR]
    decide(scene, "reject", 0)
    decide(scene, "keep", 1)
    scene.settles()
    assert scene.text(A) == f"mine\n{BEFORE}".replace("four", "4")
    assert scene.result("review.list") == []
    assert isinstance(scene.answers()[-1], Failure)


def test_what_was_kept_and_clashes_with_unsaved_lines_waits_once_more(scene: Scene) -> None:
    scene.buffer(A)
    scene.replaces(A, "two", "mine")
    held(scene)
    decide(scene, "keep")
    scene.settles()
    assert scene.answers() == [Done()]
    assert scene.text(A) == AFTER.replace("2", "mine")
    ((hunk,),) = [change["hunks"] for change in scene.result("review.list")]
    assert (hunk["state"], hunk["newText"]) == ("conflict", "2\n")


# --- nobody waits any longer ---------------------------------------------------------------------


def test_the_user_has_so_much_time(scene: Scene) -> None:
    held(scene)
    decide(scene, "keep", 0)
    scene.passes(599)
    assert scene.answers() == []
    scene.passes(1)
    reason = "the user did not decide on this change within 10 minutes"
    is_over(scene, BEFORE, failure(reason, -32000))


def test_each_write_has_its_own_time(scene: Scene) -> None:
    held(scene)
    scene.passes(300)
    assert scene.agent_writes(B, "B\n") is None
    scene.passes(300)
    assert len(scene.answers("fs1")) == 1
    assert scene.answers("fs2") == []
    assert scene.hunks(B) == [("b\n", "B\n")]


@pytest.mark.parametrize("how", ["cancel", "idle", "close", "dies"])
def test_the_end_of_the_turn_answers_what_waits(scene: Scene, how: str) -> None:
    held(scene)
    decide(scene, "keep", 0)
    match how:
        case "cancel":
            scene.command("session.cancel")
        case "idle":
            scene.ends("cancelled")
        case "close":
            scene.command("session.close")
        case _:
            scene.dies()
    assert scene.answers("fs1") == [failure("the user stopped the turn", -32800)]
    assert (scene.disk[A], scene.result("review.list")) == (BEFORE, [])
    assert scene.state.decided == {}


def test_a_write_that_is_withdrawn_is_answered_as_such(scene: Scene) -> None:
    held(scene)
    assert scene.agent_writes(B, "B\n") is None
    scene.give(ev.RequestWithdrawn(AGENT, "fs1"))
    is_over_for = scene.answers("fs1")
    assert is_over_for == [failure("the request was withdrawn", -32800)]
    assert scene.answers("fs2") == []
    assert scene.hunks(B) == [("b\n", "B\n")]


def test_the_stop_of_one_session_answers_no_other(scene: Scene) -> None:
    scene.session("other")
    scene.agent_writes(B, "B\n", native="other")
    held(scene)
    scene.command("session.cancel", session="s1")
    assert scene.answers("fs1") == []
    assert len(scene.answers("fs2")) == 1
