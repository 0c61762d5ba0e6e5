"""Whose a change is: an agent's, nobody's own, or the user's (D07, D17, D53)."""

from __future__ import annotations

import pytest
from changes_scene import AFTER, BEFORE, HUNK, URI, C, authors, begun, change_of
from scene import ROOT, A, B, Scene, held

from acpls import effects as ef
from acpls import events as ev
from acpls.hub.changes import TOLD_WITHIN_S
from acpls.hub.tokens import Look
from acpls.review.composing import NOBODY, Author
from acpls.session.asks import Done
from acpls.session.content import Fragment, Location
from acpls.session.updates import TurnChanged
from acpls.text.buffers import ContentChange


@pytest.fixture
def scene() -> Scene:
    return begun()


# --- whose it is --------------------------------------------------------------------------------


def test_what_changes_while_no_agent_is_at_work_is_the_users(scene: Scene) -> None:
    scene.ends()
    scene.lands(A, AFTER)
    assert scene.state.ledger.files == {}
    scene.prompts("again")
    scene.lands(B, "B\n")
    assert scene.hunks(A) == []
    assert scene.hunks(B) == [("b\n", "B\n")]


def test_what_the_user_changed_since_the_last_turn_is_seen_before_the_next(scene: Scene) -> None:
    scene.ends()
    scene.puts(A, f"mine\n{BEFORE}")
    scene.prompts("again")
    scene.lands(A, f"mine\n{AFTER}")
    assert scene.hunks() == [HUNK]


def test_what_is_outside_of_the_sessions_folders_is_not_its_own() -> None:
    scene = Scene(ready=ev.EditorReady(("/ws/inner",), questions=True))
    scene.session()
    scene.works()
    disk = held(A, AFTER)
    scene.give(ev.FileNoticed(disk, ev.Earlier("store", held(A, BEFORE))))
    assert scene.state.ledger.files == {}


def two(*folders: str) -> Scene:
    """Two sessions are at work, in these folders."""
    scene = Scene(ready=ev.EditorReady((), questions=True))
    for path in (f"{ROOT}/x/a", f"{ROOT}/y/a"):
        scene.has(path, BEFORE)
    for native, folder in zip(("one", "two"), folders, strict=True):
        scene.session(native, cwd=folder)
        scene.works(native)
    return scene


def test_d17_two_sessions_with_folders_of_their_own_are_told_apart() -> None:
    scene = two(f"{ROOT}/x", f"{ROOT}/y/")
    for folder, session in (("x", "s1"), ("y", "s2")):
        path = f"{ROOT}/{folder}/a"
        scene.lands(path, AFTER)
        assert authors(scene, path) == [Author(session)]


def test_d17_what_one_of_two_sessions_did_is_nobodys_own_until_one_names_it() -> None:
    scene = two(ROOT, ROOT)
    path, other = f"{ROOT}/x/a", f"{ROOT}/y/a"
    scene.lands(path, AFTER)
    assert authors(scene, path) == [NOBODY]
    scene.tool_call("c", Fragment(other, "two", "2"), native="two")
    scene.lands(other, AFTER)
    assert authors(scene, other) == [Author("s2", "c")]
    # A session takes back its own hunks only.
    assert scene.result("review.reject", session="s1")["hunks"] == 0
    assert scene.result("review.reject", session="s2")["hunks"] == 1
    assert (scene.disk[path], scene.disk[other]) == (AFTER, BEFORE)
    assert scene.result("review.reject", all=True)["hunks"] == 1


def test_d17_a_session_that_is_not_at_work_any_more_is_no_author() -> None:
    scene = two(ROOT, ROOT)
    scene.tool_call("c", locations=(Location(f"{ROOT}/x/a"),), native="two")
    scene.tells(TurnChanged("idle", "end_turn"), "two")
    scene.lands(f"{ROOT}/x/a", AFTER)
    assert authors(scene, f"{ROOT}/x/a") == [Author("s1")]


def test_d17_each_session_has_its_own_hunks_in_one_file() -> None:
    scene = two(ROOT, ROOT)
    path = f"{ROOT}/x/a"
    scene.agent_writes(path, "1\ntwo\nthree\n", native="one")
    scene.agent_writes(path, "1\ntwo\n3\n", native="two")
    assert authors(scene, path) == [Author("s1"), Author("s2")]
    assert scene.result("review.reject", session="s1")["hunks"] == 1
    assert scene.disk[path] == "one\ntwo\n3\n"


# --- what the user does in the editor meanwhile --------------------------------------------------


def test_what_the_user_saves_during_a_turn_is_the_users(scene: Scene) -> None:
    scene.buffer(A)
    scene.types(A, 0, "mine\n")
    scene.saves(A)
    scene.notices(A)
    assert scene.state.ledger.files == {}
    scene.ends()
    assert scene.state.ledger.files == {}


@pytest.mark.parametrize("told", ["noticed", "saved"])
def test_a_save_is_the_users_whoever_tells_of_it_first(scene: Scene, told: str) -> None:
    scene.buffer(A)
    scene.types(A, 0, "mine\n")
    scene.types(A, 0, "mine, too\n")
    scene.puts(A, scene.text(A))
    if told == "noticed":
        scene.notices(A)
    scene.give(ev.BufferSaved(URI))
    scene.notices(A)
    scene.ends()
    assert scene.state.ledger.files == {}
    assert scene.state.saved == {}


def test_what_was_saved_before_the_server_knew_of_the_typing_is_the_users(scene: Scene) -> None:
    """Editors that gather what is typed tell of it with the save, which the system outruns."""
    scene.buffer(A)
    page = scene.pages[URI]
    page.text, page.version = f"mine\n{BEFORE}", 2
    scene.lands(A, page.text)
    scene.give(ev.BufferChanged(URI, 2, (ContentChange(page.text),)))
    scene.give(ev.BufferSaved(URI))
    scene.settles()
    state = scene.state
    assert (state.ledger.files, state.unsure, state.saved) == ({}, {}, {})


def test_what_was_seen_unsaved_and_is_saved_without_a_word_is_the_users(scene: Scene) -> None:
    """Some editors tell of no save."""
    scene.buffer(A)
    scene.types(A, 0, "mine\n")
    scene.agent_reads(A)
    scene.lands(A, f"mine\n{BEFORE}")
    scene.settles()
    assert (scene.hunks(), scene.state.ledger.files) == ([], {})


def test_what_the_user_saved_over_was_the_agents(scene: Scene) -> None:
    scene.buffer(A)
    scene.lands(A, AFTER)
    scene.shows(URI, AFTER)
    scene.types(A, 0, "mine\n")
    scene.saves(A, seen=True)
    scene.settles()
    assert scene.hunks() == [HUNK]
    assert change_of(scene).base.text == f"mine\n{BEFORE}"


def test_without_a_save_what_changed_is_the_agents(scene: Scene) -> None:
    scene.buffer(A)
    scene.lands(A, AFTER)
    assert scene.hunks() == []
    scene.passes(TOLD_WITHIN_S)
    assert scene.hunks() == [HUNK]
    # A second change shows that the first one was not saved over.
    scene.lands(A, f"{AFTER}four\n")
    scene.lands(A, f"{AFTER}4\n")
    assert scene.hunks() == [HUNK, ("", "four\n")]
    scene.settles()
    assert scene.hunks() == [HUNK, ("", "4\n")]


def test_a_save_right_after_the_agents_change_has_its_own_time(scene: Scene) -> None:
    scene.buffer(A)
    scene.lands(A, AFTER)
    scene.shows(URI, AFTER)
    scene.passes(TOLD_WITHIN_S * 0.75)
    page = scene.pages[URI]
    page.text, page.version = f"mine\n{AFTER}", page.version + 1
    scene.lands(A, page.text)
    scene.passes(TOLD_WITHIN_S * 0.75)
    scene.give(ev.BufferChanged(URI, page.version, (ContentChange(page.text),)))
    scene.give(ev.BufferSaved(URI))
    scene.settles()
    assert scene.hunks() == [HUNK]
    assert change_of(scene).base.text == f"mine\n{BEFORE}"


def test_a_tool_call_that_tells_of_a_change_leaves_no_doubt(scene: Scene) -> None:
    scene.buffer(A)
    scene.lands(A, AFTER)
    scene.tool_call("call", Fragment(A, BEFORE, AFTER), status="completed")
    assert authors(scene) == [Author("s1", "call")]


def test_a_turn_is_not_over_before_it_is_known_whose_its_last_change_is(scene: Scene) -> None:
    scene.buffer(A)
    scene.puts(A, AFTER)
    scene.ends()
    assert scene.state.at_work == {"s1"}
    scene.settles()
    assert scene.state.at_work == set()
    assert scene.hunks() == [HUNK]
    (checkpoint,) = scene.result("checkpoint.list")
    assert [file["uri"] for file in checkpoint["files"]] == [URI]


def test_a_turn_ends_though_another_agent_writes_on_and_on() -> None:
    scene = two(ROOT, ROOT)
    path = f"{ROOT}/x/a"
    scene.buffer(path)
    scene.tells(TurnChanged("idle", "end_turn"), "one")
    for number in range(40):
        scene.lands(path, f"{number}\n")
        scene.passes(0.02)
    assert scene.state.at_work == {"s2"}


def test_a_verdict_waits_until_it_is_known_whose_the_last_change_is(scene: Scene) -> None:
    scene.buffer(A)
    scene.lands(A, AFTER)
    scene.passes(TOLD_WITHIN_S)
    (key,) = scene.keys()
    scene.lands(A, f"{AFTER}four\n")
    ticket = scene.command("review.reject", hunk=key)
    assert scene.replies[ticket] == []
    scene.settles()
    assert scene.reply(ticket) == {"hunks": 1, "left": []}
    assert (scene.hunks(), scene.disk[A]) == ([("", "four\n")], f"{BEFORE}four\n")


def test_a_read_that_was_under_way_when_the_user_saved_is_no_news(scene: Scene) -> None:
    scene.buffer(A)
    scene.lands(A, AFTER)
    scene.shows(URI, AFTER)
    scene.types(A, 0, "mine\n")
    scene.holds = {ef.ReadFile}
    scene.saves(A)
    # What was read before the save is told of after it.
    scene.give(ev.FileRead(Look(), held(A, AFTER), ev.SAME))
    while scene.held:
        scene.let()
    assert scene.hunks() == [HUNK]
    assert authors(scene) == [Author("s1")]
    assert change_of(scene).base.text == f"mine\n{BEFORE}"


def test_what_the_user_saves_beside_a_change_is_in_no_hunk(scene: Scene) -> None:
    scene.buffer(A)
    scene.lands(A, AFTER)
    scene.shows(URI, AFTER)
    scene.types(A, 0, "mine\n")
    scene.saves(A)
    assert scene.hunks() == [HUNK]
    scene.result("review.reject", all=True)
    assert scene.text(A) == scene.disk[A] == f"mine\n{BEFORE}"


def test_what_the_agent_writes_right_after_a_save_starts_from_what_was_saved(scene: Scene) -> None:
    scene.buffer(A)
    scene.types(A, 0, "mine\n")
    scene.holds = {ef.ReadFile}
    scene.saves(A)
    scene.puts(A, f"mine\n{AFTER}")
    while scene.held:
        scene.let()
    assert scene.hunks() == [HUNK]
    assert change_of(scene).source == "buffer"


def test_an_editor_that_reloads_what_the_agent_wrote_has_not_typed(scene: Scene) -> None:
    """D07: it reloads before anybody has looked at the file."""
    scene.buffer(A)
    scene.puts(A, AFTER)
    scene.shows(URI, AFTER)
    scene.passes(TOLD_WITHIN_S)
    assert scene.hunks() == [HUNK]
    assert authors(scene) == [Author("s1")]
    buffer = scene.state.buffer_at(A)
    assert buffer is not None
    assert not buffer.dirty
    scene.settles()
    assert scene.edits_seen == 0


def test_d07_what_is_on_disk_is_recorded_and_not_applied(scene: Scene) -> None:
    scene.buffer(A)
    scene.puts(A, AFTER)
    scene.tool_call("c", Fragment(A, "two", "2"), status="completed")
    scene.settles()
    assert scene.text(A) == scene.disk[A] == AFTER
    assert scene.edits_seen == 1
    assert (scene.of(ef.WriteFile), scene.put()) == ([], [])


def test_d53_a_document_is_reconciled_before_the_agent_reads_again(scene: Scene) -> None:
    """The agent writes by itself, the editor saves its own text in between, and no read is
    stale.
    """
    scene.buffer(A)
    scene.lands(A, AFTER)
    scene.settles()
    assert scene.text(A) == AFTER
    scene.types(A, 3, "mine\n")
    scene.saves(A)
    assert scene.agent_reads(A) == f"{AFTER}mine\n"
    scene.lands(A, f"{AFTER}mine\nfive\n")
    assert scene.agent_reads(A) == f"{AFTER}mine\nfive\n"
    scene.settles()
    assert scene.text(A) == f"{AFTER}mine\nfive\n"
    assert scene.hunks() == [HUNK, ("", "five\n")]


# --- without a review -----------------------------------------------------------------------


def test_d22_where_the_review_is_off_nothing_waits(scene: Scene) -> None:
    assert scene.result("review.setMode", mode="off") == {"mode": "off"}
    assert scene.result("status")["reviewMode"] == "off"
    scene.buffer(A)
    scene.has(C, "c\n")
    scene.lands(A, AFTER)
    assert scene.agent_writes(B, "B\n") == Done()
    scene.tool_call("done", Fragment(B, "nowhere", "x"), status="completed")
    scene.tool_call("to come", Fragment(C, "c", "C"), status="completed")
    scene.tool_call("nowhere", Fragment(C, "tea", "x"), status="completed")
    assert scene.result("review.list") == []
    # What is open follows all the same (D53).
    scene.settles()
    assert scene.text(A) == AFTER
    scene.result("review.setMode", mode="after")
    scene.lands(A, BEFORE)
    scene.settles()
    assert scene.hunks() == [("2\n", "two\n")]


def test_d22_what_waits_when_the_review_is_turned_off_still_waits(scene: Scene) -> None:
    scene.lands(A, AFTER)
    scene.result("review.setMode", mode="off")
    assert scene.hunks() == [HUNK]
    scene.result("review.reject", all=True)
    assert scene.disk[A] == BEFORE
