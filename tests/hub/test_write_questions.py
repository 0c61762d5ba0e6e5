"""Questions of our own about writes: the agent waits, and is answered once (D11, D42)."""

from __future__ import annotations

import pytest
from scene import AGENT, NATIVE, ROOT, A, B, Scene

from acpls import effects as ef
from acpls import events as ev
from acpls.session.asks import Done, Failure
from acpls.session.content import Fragment
from acpls.text import uris

URI = uris.from_path(A)
BEFORE = "one\ntwo\nthree\n"
OUTSIDE = "/etc/hosts"
ALL = ["mine", "save", "merge", "stop"]


def clash(*, save: bool = True) -> Scene:
    """An agent has written to lines in which the user has unsaved changes."""
    scene = Scene(ready=ev.EditorReady((ROOT,), questions=True, save=save))
    scene.has(A, BEFORE)
    scene.session()
    scene.buffer(A)
    scene.prompts()
    scene.replaces(A, "two", "mine")
    assert scene.agent_writes(A, "one\n2\nthree\n") is None
    return scene


def answers(scene: Scene, option: str | None, question: str = "q1") -> None:
    """The user answers, or (``None``) closes the question."""
    scene.give(ev.QuestionPut(question, option))


def failed(path: str, reason: str) -> list[object]:
    return [Failure(-32603, f"{path}: {reason}")]


# --- where unsaved changes clash (D11) ---------------------------------------------------------


def test_d11_the_user_is_asked_in_the_editor() -> None:
    scene = clash()
    (question,) = scene.result("question.list")
    assert question["title"] == "Demo agent writes a.txt, where you have unsaved changes"
    assert question["description"] == A
    assert [option["option"] for option in question["options"]] == ALL
    assert scene.put() == ["q1"]
    assert (scene.disk[A], scene.answers()) == (BEFORE, [])
    # The editor saves no documents for us, so that the user has to.
    names = [o["option"] for q in clash(save=False).result("question.list") for o in q["options"]]
    assert names == ["mine", "merge", "stop"]


@pytest.mark.parametrize("typed", ["two and more", "mine"])
def test_d11_only_about_the_same_lines(typed: str) -> None:
    scene = Scene()
    scene.has(A, BEFORE)
    scene.session()
    scene.buffer(A)
    scene.prompts()
    scene.replaces(A, "two", typed)
    assert scene.agent_writes(A, "one\ntwo\n3\n") == Done()
    assert scene.put() == []
    assert scene.hunks() == [("three\n", "3\n")]
    assert scene.text(A) == BEFORE.replace("two", typed)


def test_d11_an_agent_that_writes_what_the_user_has_typed_is_no_clash() -> None:
    scene = Scene()
    scene.has(A, BEFORE)
    scene.session()
    scene.buffer(A)
    scene.prompts()
    scene.replaces(A, "two", "mine")
    assert scene.agent_reads(A) == BEFORE.replace("two", "mine")
    assert scene.agent_writes(A, "one\nmine and more\nthree\n") == Done()
    assert scene.put() == []
    # Without unsaved changes there is nothing to ask, whatever was read before.
    scene.saves(A)
    assert scene.agent_writes(A, "all new\n") == Done()
    assert scene.put() == []


def test_d11_a_new_file_beside_an_unsaved_document_is_no_clash() -> None:
    scene = Scene()
    scene.session()
    scene.prompts()
    scene.buffer(A, "draft\n")
    assert scene.agent_writes(A, "new\n") == Done()
    assert scene.put() == []


def test_d11_mine_refuses_the_agents_text() -> None:
    scene = clash()
    answers(scene, "mine")
    reason = "the user keeps the unsaved changes and refused this text"
    assert scene.answers() == failed(A, reason)
    assert (scene.disk[A], scene.text(A)) == (BEFORE, BEFORE.replace("two", "mine"))
    scene.is_over()


def test_d11_save_lets_the_agent_look_again() -> None:
    scene = clash()
    answers(scene, "save")
    assert scene.answers() == failed(A, "the user has saved this file meanwhile; read it again")
    mine = BEFORE.replace("two", "mine")
    assert scene.disk[A] == scene.text(A) == scene.agent_reads(A) == mine
    assert scene.hunks() == []
    scene.is_over()


def test_d11_what_cannot_be_saved_is_told() -> None:
    scene = clash()
    scene.holds = {ef.SaveDocument}
    answers(scene, "save")
    (save,) = scene.held
    assert isinstance(save, ef.SaveDocument)
    scene.held.clear()
    scene.give(ev.DocumentSaved(save.token, save.uri, "the disk is full"))
    reason = "the user's unsaved changes could not be saved: the disk is full"
    assert scene.answers() == failed(A, reason)
    scene.is_over()


def test_d11_a_document_that_was_closed_meanwhile_has_nothing_to_save() -> None:
    scene = clash()
    scene.closes(A)
    answers(scene, "save")
    assert scene.answers() == [Done()]
    assert scene.hunks() == [("two\n", "2\n")]


def test_d11_merge_writes_and_shows_what_clashes() -> None:
    scene = clash()
    answers(scene, "merge")
    assert scene.answers() == [Done()]
    assert scene.disk[A] == "one\n2\nthree\n"
    assert scene.text(A) == BEFORE.replace("two", "mine")
    ((hunk,),) = [change["hunks"] for change in scene.result("review.list")]
    assert (hunk["state"], hunk["currentText"]) == ("conflict", "mine\n")
    assert (hunk["baseText"], hunk["newText"]) == ("two\n", "2\n")
    scene.is_over()


@pytest.mark.parametrize("verdict", ["keep", "reject"])
def test_d11_of_what_clashes_the_users_lines_stay_until_he_says_otherwise(verdict: str) -> None:
    scene = clash()
    answers(scene, "merge")
    mine = scene.text(A)
    (key,) = scene.keys()
    ticket = scene.command(f"review.{verdict}", hunk=key)
    scene.settles()
    answer = scene.reply(ticket)
    assert scene.text(A) == mine
    if verdict == "keep":
        reason = "these lines have changed since"
        assert answer == {"hunks": 0, "left": [{"hunk": key, "reason": reason}]}
        scene.command("review.keep", hunk=key, over=True)
        scene.settles()
        assert (scene.text(A), scene.hunks()) == ("one\n2\nthree\n", [])
    else:
        assert scene.disk[A] == BEFORE


def test_d11_stop_ends_the_turn() -> None:
    scene = clash()
    answers(scene, "stop")
    assert scene.answers() == failed(A, "the user stopped the turn")
    assert scene.state.sessions["s1"].stopping
    assert scene.disk[A] == BEFORE


def test_d11_stop_answers_all_that_waits() -> None:
    scene = clash()
    assert scene.agent_writes(OUTSIDE, "x\n") is None
    asked = scene.asks("permission")
    answers(scene, "stop")
    reason = "nobody answers whether it may be written any more"
    assert scene.answers("fs1") == failed(A, "the user stopped the turn")
    assert scene.answers("fs2") == failed(OUTSIDE, reason)
    assert len(scene.answers("permission")) == 1
    assert scene.state.questions.all[asked].by == "cancel"
    assert scene.state.questions.pending() == []
    scene.is_over()


def test_d11_a_question_that_is_closed_stays_open() -> None:
    scene = clash()
    answers(scene, None)
    assert scene.answers() == []
    assert len(scene.state.questions.pending()) == 1
    scene.command("question.answer", option="merge")
    assert scene.answers() == [Done()]


@pytest.mark.parametrize("how", ["cancel", "idle", "dies", "close"])
def test_d11_whatever_ends_the_waiting_the_agent_is_answered_once(how: str) -> None:
    scene = clash()
    match how:
        case "cancel":
            scene.command("session.cancel")
        case "idle":
            scene.ends("cancelled")
        case "dies":
            scene.dies()
        case _:
            scene.command("session.close")
    reason = "nobody answers whether it may be written any more"
    assert scene.answers("fs1") == failed(A, reason)
    assert scene.disk[A] == BEFORE
    assert scene.state.questions.pending() == []
    scene.is_over()


def test_a_claim_about_a_file_is_looked_at_while_the_user_is_asked() -> None:
    """Nobody reads the file over and over until there is an answer."""
    scene = clash()
    scene.seen.clear()
    scene.tool_call("call", Fragment(A, "two", "2"))
    assert len(scene.of(ef.ReadFile)) == 1
    assert scene.state.claims_awaited.total() == 0
    answers(scene, "merge")
    assert scene.hunks() == [("two\n", "2\n")]


# --- outside of the workspace (D42) ---------------------------------------------------------------


def outside() -> Scene:
    scene = Scene(ready=ev.EditorReady((ROOT,), questions=True, save=True))
    scene.session()
    scene.prompts()
    assert scene.agent_writes(OUTSIDE, "x\n") is None
    return scene


def test_d42_a_write_outside_of_the_folders_is_asked_about() -> None:
    scene = outside()
    (question,) = scene.result("question.list")
    assert question["title"] == "Demo agent wants to write outside of the workspace"
    assert question["description"] == OUTSIDE
    assert [o["option"] for o in question["options"]] == ["refuse", "write", "stop"]
    answers(scene, "refuse")
    reason = "it lies outside of the workspace, and the user refused"
    assert scene.answers() == failed(OUTSIDE, reason)
    assert OUTSIDE not in scene.disk
    scene.is_over()


@pytest.mark.parametrize("opened", [False, True])
def test_d42_the_user_may_let_it_be_written(*, opened: bool) -> None:
    scene = outside()
    if opened:
        scene.buffer(OUTSIDE)
    scene.seen.clear()
    answers(scene, "write")
    assert scene.answers() == [Done()]
    (write,) = scene.of(ef.WriteFile)
    assert (write.path, write.roots) == (OUTSIDE, (ROOT, "/etc"))
    assert scene.disk[OUTSIDE] == "x\n"
    # It holds for this one file, and once.
    assert scene.agent_writes(OUTSIDE, "y\n") is None


def test_d42_what_was_written_outside_can_be_taken_back() -> None:
    scene = outside()
    answers(scene, "write")
    assert scene.hunks(OUTSIDE) == [("", "x\n")]
    scene.result("review.reject", all=True)
    assert scene.disk == {}
    assert scene.of(ef.WriteFile)[-1].roots == (ROOT, "/etc")


def test_d42_a_link_that_leads_outside_is_asked_about_with_its_own_folder() -> None:
    scene = Scene()
    scene.session()
    scene.prompts()
    scene.holds = {ef.ReadFile, ef.WriteFile}
    scene.agent_writes(B, "x\n")
    read = scene.held.pop()
    assert isinstance(read, ef.ReadFile)
    reason = "is outside of the workspace folders"
    scene.give(ev.FileRead(read.token, ev.Disk(B, None, reason, inside=False, real=OUTSIDE)))
    answers(scene, "write")
    (write,) = scene.held
    assert isinstance(write, ef.WriteFile)
    assert write.roots == (ROOT, "/etc")


def test_where_no_question_can_be_shown_the_user_is_told_how_to_answer() -> None:
    scene = Scene(ready=ev.EditorReady((ROOT,)))
    scene.session()
    scene.prompts()
    scene.agent_writes(OUTSIDE, "x\n")
    (told,) = scene.of(ef.TellUser)
    title = "Demo agent wants to write outside of the workspace"
    assert told.message == f"Waiting for you: {title}"
    assert OUTSIDE in told.detail.split("\n")
    assert scene.state.session_of(AGENT, NATIVE) is not None
