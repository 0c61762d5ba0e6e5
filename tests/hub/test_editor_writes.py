"""What an agent writes into a clean open document is saved by the editor, where it can (D48)."""

from __future__ import annotations

from typing import Any

import pytest
from scene import ROOT, A, Scene

from acpls import effects as ef
from acpls import events as ev
from acpls.review.composing import Author
from acpls.session.asks import Done
from acpls.session.content import Fragment
from acpls.text import uris

URI = uris.from_path(A)
BEFORE = "one\ntwo\nthree\n"
AFTER = "one\n2\nthree\n"
HUNK = ("two\n", "2\n")


@pytest.fixture
def scene() -> Scene:
    """A session is at work, and one file is open in an editor that saves for us."""
    scene = Scene(ready=ev.EditorReady((ROOT,), questions=True, save=True))
    scene.has(A, BEFORE)
    scene.session()
    scene.buffer(A)
    scene.prompts()
    scene.seen.clear()
    return scene


def steps(scene: Scene) -> list[type]:
    """What was done about the file."""
    kinds = (ef.EditBuffer, ef.SaveDocument, ef.WriteFile)
    return [type(effect) for effect in scene.seen if isinstance(effect, kinds)]


def is_written(scene: Scene, text: str = AFTER) -> None:
    """The file and the document hold a text, and all is over."""
    scene.settles()
    assert scene.disk[A] == scene.text(A) == text
    assert scene.state.saving == {}
    scene.is_over()


def test_the_document_is_edited_and_then_saved_by_the_editor(scene: Scene) -> None:
    assert scene.agent_writes(A, AFTER) == Done()
    assert steps(scene) == [ef.EditBuffer, ef.SaveDocument]
    assert scene.hunks() == [HUNK]
    assert [pending.author for pending in scene.pending()] == [Author("s1")]
    is_written(scene)
    scene.result("review.reject", all=True)
    is_written(scene, BEFORE)


def test_nothing_is_answered_before_the_file_holds_it(scene: Scene) -> None:
    scene.holds = {ef.SaveDocument}
    assert scene.agent_writes(A, AFTER) is None
    assert scene.disk[A] == BEFORE
    scene.let()
    assert scene.answers() == [Done()]
    is_written(scene)


def test_d48_what_the_editor_makes_of_it_in_saving_is_not_the_users(scene: Scene) -> None:
    scene.holds = {ef.SaveDocument}
    scene.agent_writes(A, "one\n2 \nthree\n")
    scene.shows(URI, "one\n2;\nthree\n")
    scene.let()
    scene.holds.clear()
    assert scene.answers() == [Done()]
    assert scene.hunks() == [("two\n", "2;\n")]
    assert not scene.pending()[0].shared
    # The agent reads what was formatted.
    assert scene.agent_reads(A) == "one\n2;\nthree\n"
    scene.result("review.reject", all=True)
    is_written(scene, BEFORE)


def test_what_the_user_types_meanwhile_is_saved_as_his(scene: Scene) -> None:
    scene.holds = {ef.SaveDocument}
    scene.agent_writes(A, AFTER)
    scene.types(A, 0, "mine\n")
    scene.let()
    scene.holds.clear()
    assert scene.hunks() == [HUNK]
    scene.result("review.reject", all=True)
    is_written(scene, f"mine\n{BEFORE}")


def test_a_file_with_crlf_keeps_its_endings(scene: Scene) -> None:
    """D26"""
    old = BEFORE.replace("\n", "\r\n")
    scene.has(A, old)
    scene.buffer(A)
    assert scene.agent_writes(A, AFTER) == Done()
    is_written(scene, AFTER.replace("\n", "\r\n"))
    assert scene.hunks() == [("two\r\n", "2\r\n")]


@pytest.mark.parametrize("manner", ["refuses", "lies"])
def test_an_editor_that_does_not_edit_leaves_the_disk_to_be_written(
    scene: Scene, manner: Any
) -> None:
    scene.manner = manner
    scene.agent_writes(A, AFTER)
    scene.manner = "replies first"
    scene.passes(1.0)
    assert scene.answers() == [Done()]
    assert (steps(scene)[:2], scene.disk[A]) == ([ef.EditBuffer, ef.WriteFile], AFTER)
    is_written(scene)
    assert scene.hunks() == [HUNK]


@pytest.mark.parametrize("manner", ["changes first", "changes late", "refuses but does"])
def test_only_the_document_tells_that_it_was_edited(scene: Scene, manner: Any) -> None:
    scene.manner = manner
    scene.agent_writes(A, AFTER)
    is_written(scene)
    assert scene.answers() == [Done()]
    assert scene.hunks() == [HUNK]


def test_an_editor_that_does_not_save_leaves_the_disk_to_be_written(scene: Scene) -> None:
    scene.holds = {ef.SaveDocument}
    scene.agent_writes(A, AFTER)
    (save,) = scene.held
    assert isinstance(save, ef.SaveDocument)
    scene.held.clear()
    scene.give(ev.DocumentSaved(save.token, URI, "the user has to be asked"))
    assert scene.answers() == [Done()]
    is_written(scene)
    assert scene.hunks() == [HUNK]


def test_an_editor_that_says_it_saved_and_did_not_is_found_out(scene: Scene) -> None:
    scene.holds = {ef.SaveDocument}
    scene.agent_writes(A, AFTER)
    (save,) = scene.held
    assert isinstance(save, ef.SaveDocument)
    scene.held.clear()
    scene.give(ev.DocumentSaved(save.token, URI))
    assert steps(scene) == [ef.EditBuffer, ef.SaveDocument, ef.WriteFile]
    assert scene.answers() == [Done()]
    is_written(scene)


def test_an_editor_that_closes_what_it_did_not_save_is_not_asked_twice(scene: Scene) -> None:
    scene.holds = {ef.SaveDocument}
    scene.agent_writes(A, AFTER)
    scene.holds = {ef.ReadFile}
    save = scene.held.pop()
    assert isinstance(save, ef.SaveDocument)
    scene.give(ev.DocumentSaved(save.token, URI))
    scene.closes(A)
    scene.holds.clear()
    scene.settles()
    assert (scene.answers(), scene.disk[A]) == ([Done()], AFTER)
    scene.is_over()


@pytest.mark.parametrize("opened", [False, True])
def test_a_claim_of_it_is_looked_at_meanwhile(scene: Scene, *, opened: bool) -> None:
    """Nobody reads the file over and over until the editor has saved it."""
    if not opened:
        scene.closes(A)
    scene.holds = {ef.EditBuffer, ef.WriteFile}
    scene.agent_writes(A, AFTER)
    scene.seen.clear()
    scene.tool_call("call", Fragment(A, "two", "2"))
    assert len(scene.of(ef.ReadFile)) == 1
    scene.holds.clear()
    scene.settles()
    assert scene.state.ledger.proposals == {}
    assert scene.hunks() == [HUNK]


@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize("kind", [ef.EditBuffer, ef.SaveDocument])
def test_a_document_that_is_closed_in_the_middle_leaves_the_disk_to_be_written(
    scene: Scene, kind: type, *, again: bool
) -> None:
    scene.holds = {kind}
    scene.agent_writes(A, AFTER)
    if again:
        scene.buffer(A)
    else:
        scene.closes(A)
    scene.holds.clear()
    assert scene.answers() == [Done()]
    # What is said of the document as it was comes late, and is about another one.
    late = scene.held.pop()
    if isinstance(late, ef.SaveDocument):
        scene.give(ev.DocumentSaved(late.token, URI))
    else:
        assert isinstance(late, ef.EditBuffer)
        scene.give(ev.EditRefused(late.number, "the document was closed"))
    scene.settles()
    assert scene.answers() == [Done()]
    assert scene.disk[A] == AFTER
    assert scene.hunks() == [HUNK]
    assert scene.state.saving == {}
    scene.is_over()


def test_a_document_that_holds_it_already_has_its_file_written(scene: Scene) -> None:
    assert scene.agent_writes(A, BEFORE) == Done()
    assert steps(scene) == [ef.WriteFile]
    assert scene.hunks() == []


def test_a_second_write_meanwhile_comes_after_it(scene: Scene) -> None:
    scene.holds = {ef.SaveDocument}
    scene.agent_writes(A, AFTER)
    scene.agent_writes(A, "one\n2\n3\n")
    assert (scene.answers(), scene.put()) == ([], [])
    scene.holds.clear()
    is_written(scene, "one\n2\n3\n")
    assert [effect.request for effect in scene.of(ef.SendAnswer)] == ["fs1", "fs2"]
    assert scene.hunks() == [("two\nthree\n", "2\n3\n")]


@pytest.mark.parametrize("closes", [False, True])
def test_what_was_saved_is_not_written_again_when_the_document_is_closed(
    scene: Scene, *, closes: bool
) -> None:
    """D48: or what the editor made of it would be lost."""
    scene.holds = {ef.SaveDocument, ef.ReadFile}
    scene.agent_writes(A, AFTER)
    scene.let()
    scene.shows(URI, "one\n2;\nthree\n")
    scene.let(ef.SaveDocument)
    if closes:
        scene.closes(A)
    else:
        # The user goes on, and saves that, too.
        scene.types(A, 0, "mine\n")
    scene.holds.clear()
    scene.settles()
    assert (scene.answers(), scene.disk[A]) == ([Done()], "one\n2;\nthree\n")
    assert ef.WriteFile not in steps(scene)
    scene.is_over()


def test_what_the_user_saves_after_it_is_the_users(scene: Scene) -> None:
    scene.holds = {ef.SaveDocument, ef.ReadFile}
    scene.agent_writes(A, AFTER)
    scene.let()
    scene.let(ef.SaveDocument)
    scene.types(A, 0, "mine\n")
    scene.saves(A)
    scene.holds.clear()
    scene.settles()
    assert len(scene.answers()) == 1
    assert scene.hunks() == [HUNK]
    assert scene.state.ledger.files[A].base.text == f"mine\n{BEFORE}"


@pytest.mark.parametrize("what", ["typing", "verdict"])
def test_a_document_with_something_else_under_way_is_left_alone(scene: Scene, what: str) -> None:
    if what == "typing":
        scene.types(A, 0, "mine\n")
    else:
        scene.agent_writes(A, "one\ntwo\n3\n")
        scene.holds = {ef.EditBuffer}
        scene.command("review.reject", all=True)
        scene.holds.clear()
    scene.seen.clear()
    scene.agent_writes(A, AFTER)
    assert steps(scene) == [ef.WriteFile]
