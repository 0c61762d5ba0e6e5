"""Open documents without unsaved changes follow their files."""

from __future__ import annotations

import pytest
from scene import A, Scene

from acpls import effects as ef
from acpls import events as ev
from acpls.hub.tokens import EditDue, InStep
from acpls.session.content import Fragment
from acpls.text import uris
from acpls.text.diff import Edit

URI = uris.from_path(A)


def scene_with(text: str = "one\ntwo\n") -> Scene:
    """A session and an open document."""
    scene = Scene()
    scene.session()
    scene.puts(A, text)
    scene.buffer(A)
    scene.seen.clear()
    return scene


def edits_of(scene: Scene) -> list[ef.EditBuffer]:
    return scene.of(ef.EditBuffer)


def test_a_clean_document_follows_its_file_after_a_moment() -> None:
    scene = scene_with()
    scene.agent_edits(A, "two", "2")
    assert ef.After(0.3, InStep(A)) in scene.seen
    scene.passes(0.29)
    assert scene.text(A) == "one\ntwo\n"
    scene.passes(0.01)
    assert scene.text(A) == "one\n2\n"
    (edit,) = edits_of(scene)
    assert edit.edits == (Edit(4, 7, "2"),)
    scene.settles()
    scene.is_over()


def test_an_editor_that_reloads_by_itself_is_left_alone() -> None:
    scene = scene_with()
    scene.agent_edits(A, "two", "2")
    scene.shows(URI, "one\n2\n")
    scene.settles()
    assert edits_of(scene) == []


def test_an_editor_that_reloads_before_the_agent_tells_is_left_alone() -> None:
    scene = scene_with()
    scene.puts(A, "one\n2\n")
    scene.shows(URI, "one\n2\n")
    scene.tool_call("call", Fragment(A, "two", "2"), status="completed")
    assert scene.hunks() == [("two\n", "2\n")]
    assert [timer.token for timer in scene.of(ef.After)] == []
    scene.settles()
    assert edits_of(scene) == []


def test_two_changes_in_one_moment_are_followed_with_one_edit() -> None:
    scene = scene_with()
    scene.agent_edits(A, "two", "2", "first")
    scene.agent_edits(A, "one", "1", "second")
    scene.settles()
    assert scene.text(A) == "1\n2\n"
    assert len(edits_of(scene)) == 1


def test_a_document_with_unsaved_changes_is_never_touched() -> None:
    scene = scene_with()
    scene.types(A, 0, "mine\n")
    scene.agent_edits(A, "two", "2")
    scene.settles()
    assert scene.text(A) == "mine\none\ntwo\n"
    assert InStep(A) not in [timer.token for timer in scene.of(ef.After)]


def test_a_document_that_the_user_touches_in_that_moment_is_left_alone() -> None:
    scene = scene_with()
    scene.agent_edits(A, "two", "2")
    scene.types(A, 0, "mine\n")
    scene.settles()
    assert scene.text(A) == "mine\none\ntwo\n"
    assert edits_of(scene) == []


def test_a_document_that_was_closed_in_that_moment_is_no_more() -> None:
    scene = scene_with()
    scene.agent_edits(A, "two", "2")
    scene.closes(A)
    scene.settles()
    assert edits_of(scene) == []


def test_a_file_that_cannot_be_read_in_that_moment_is_not_followed() -> None:
    scene = scene_with()
    scene.agent_edits(A, "two", "2")
    scene.problems[A] = "is not valid UTF-8"
    scene.settles()
    assert scene.text(A) == "one\ntwo\n"


def test_a_file_that_is_not_written_yet_is_not_followed() -> None:
    scene = scene_with()
    scene.agent_writes(A, "one\ntwo\n")
    scene.settles()
    assert edits_of(scene) == []


def test_an_editor_that_refuses_is_asked_three_times() -> None:
    scene = scene_with()
    scene.manner = "refuses"
    scene.agent_edits(A, "two", "2")
    scene.settles()
    assert len(edits_of(scene)) == 3
    tries = [at.token.tries for at in scene.of(ef.After) if isinstance(at.token, InStep)]
    assert tries == [0, 1, 2]
    assert scene.text(A) == "one\ntwo\n"
    scene.is_over()


def test_an_editor_that_refuses_once_gets_it_the_next_time() -> None:
    scene = scene_with()
    scene.manner = "refuses"
    scene.agent_edits(A, "two", "2")
    scene.passes(0.3)
    scene.manner = "replies first"
    scene.passes(0.3)
    assert scene.text(A) == "one\n2\n"


def test_an_editor_that_lies_is_asked_again_when_nothing_is_seen() -> None:
    scene = scene_with()
    scene.manner = "lies"
    scene.agent_edits(A, "two", "2")
    scene.passes(0.3)
    assert EditDue(1) in [timer.token for timer in scene.of(ef.After)]
    scene.manner = "replies first"
    scene.passes(1.3)
    assert scene.text(A) == "one\n2\n"


@pytest.mark.parametrize("manner", ["changes first", "changes late", "refuses but does"])
def test_an_edit_that_was_made_is_not_asked_for_again(manner: str) -> None:
    scene = scene_with()
    scene.manner = manner  # type: ignore[assignment]  # the parameter is a plain string
    scene.agent_edits(A, "two", "2")
    scene.settles()
    assert scene.text(A) == "one\n2\n"
    assert len(edits_of(scene)) == 1
    scene.is_over()


def test_a_document_in_which_an_edit_is_under_way_waits_for_that() -> None:
    scene = scene_with()
    scene.holds = {ef.EditBuffer}
    scene.agent_edits(A, "two", "2")
    scene.passes(0.3)
    scene.agent_edits(A, "one", "1", "second")
    scene.passes(0.3)
    assert len(edits_of(scene)) == 1
    scene.holds.clear()
    scene.manner = "refuses"
    scene.let(ef.EditBuffer)
    scene.manner = "replies first"
    scene.settles()
    assert scene.text(A) == "1\n2\n"


def test_a_file_that_changes_again_while_its_document_is_edited_is_followed_on() -> None:
    scene = scene_with()
    scene.holds = {ef.EditBuffer}
    scene.agent_edits(A, "two", "2")
    scene.passes(0.3)
    scene.agent_edits(A, "one", "1", "second")
    scene.holds.clear()
    scene.let(ef.EditBuffer)
    scene.settles()
    assert scene.agent_reads(A) == "1\n2\n"
    assert scene.text(A) == "1\n2\n"


def test_a_document_on_which_a_verdict_is_at_work_waits_for_that() -> None:
    scene = scene_with()
    scene.agent_edits(A, "two", "2")
    scene.passes(0.28)
    scene.manner = "refuses"
    ticket = scene.command("review.keep", hunk=scene.keys()[0])
    assert A in scene.state.verdicts
    scene.seen.clear()
    scene.passes(0.02)
    assert scene.of(ef.After) == [ef.After(0.3, InStep(A))]
    scene.manner = "replies first"
    scene.settles()
    assert scene.reply(ticket) == {"hunks": 1, "left": []}
    assert scene.text(A) == "one\n2\n"
    assert len(edits_of(scene)) == 1


def test_an_edit_that_the_editor_was_late_with_is_over_once_it_is_seen() -> None:
    scene = scene_with()
    scene.agent_edits(A, "two", "2")
    scene.holds = {ef.EditBuffer}
    scene.passes(0.3)
    (edit,) = edits_of(scene)
    scene.shows(URI, "one\n2\n")
    assert scene.state.edits == {}
    assert scene.give(ev.EditApplied(edit.number)) == []
    assert scene.give(ev.EditRefused(edit.number, "late")) == []
