"""Forms as documents: opened, sent, and taken away when they are settled, whoever did that."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from form_scene import (
    FORM,
    MARK,
    PLAIN,
    URI,
    YES_OR_NO,
    fills,
    form,
    opened,
    said,
    settled,
    with_document,
)
from scene import AGENT, CANCELLED, ROOT, Scene

from acpls import effects as ef
from acpls import events as ev
from acpls.hub import form_documents
from acpls.hub.form_documents import SENT
from acpls.lsp.diagnostics import diagnostics_of
from acpls.session.asks import Accepted, Declined

if TYPE_CHECKING:
    from collections.abc import Callable

DELETES = replace(PLAIN, deletes=True)
DIALOGS = ev.EditorReady((ROOT,), dialogs=True, gentle_dialogs=True, links=True)
ANSWER = Accepted({"name": MARK, "count": 1})
NOT_SENT = "A form is not waited for any more; what you wrote stays in the editor"


def marked(scene: Scene) -> list[dict[str, Any]]:
    return [d for d in diagnostics_of(scene.state, URI) if d["severity"] == 1]


# --- opened ------------------------------------------------------------------------------


def test_the_document_is_written_and_shown_with_the_focus() -> None:
    scene = with_document(shown=False)
    assert scene.disk[f"{ROOT}/.acp/.gitignore"] == "*\n"
    text = scene.disk[FORM]
    assert text.startswith("# Who are you?\n")
    (shown,) = scene.of(ef.ShowDocument)
    assert (shown.uri, shown.take_focus) == (URI, True)
    assert text.split("\n")[shown.line or 0] == 'name = ""'
    # Others on this machine are not to read it.
    assert [w.form and w.form.mode for w in scene.of(ef.WriteFile)] == [None, 0o600]


def test_the_document_is_shown_again_and_not_written_again() -> None:
    scene = with_document(shown=False)
    scene.puts(FORM, "name = 'typed'\n")
    assert scene.result("form.open", question="q1") == {"uri": URI}
    assert scene.disk[FORM] == "name = 'typed'\n"
    scene.buffer(FORM)
    writes = len(scene.of(ef.WriteFile))
    assert scene.result("form.open") == {"uri": URI}
    assert len(scene.of(ef.WriteFile)) == writes
    assert len(scene.of(ef.ShowDocument)) == 3


def test_an_editor_that_cannot_be_told_to_show_it_is_told_its_name() -> None:
    scene = with_document(ev.EditorReady((ROOT,)), shown=False)
    assert said(scene)[-1] == "Open .acp/form-launch-q1.toml to fill in the form"
    assert len(scene.of(ef.ShowDocument)) == 1


def test_a_dialog_can_open_the_document_and_the_next_is_put() -> None:
    scene = opened(DIALOGS)
    form(scene)
    scene.asks(1)
    assert scene.put() == ["q1"]
    scene.give(ev.QuestionPut("q1", "fill"))
    assert FORM in scene.disk
    assert scene.answers() == []
    assert scene.put() == ["q1", "q2"]


def test_where_the_session_is_none_the_first_folder_has_the_document() -> None:
    scene = Scene(ready=ev.EditorReady(("/other", ROOT)))
    form(scene, session=None)
    uri = scene.result("form.open")["uri"]
    assert uri == "file:///other/.acp/form-launch-q1.toml"


def test_without_any_folder_there_is_no_document() -> None:
    scene = Scene(ready=ev.EditorReady(()))
    form(scene, session=None)
    assert scene.error("form.open").message.startswith("The editor has not said yet")


@pytest.mark.parametrize(
    ("arguments", "message", "field"),
    [
        ({"question": "q1"}, "This question is no form", "question"),
        ({"question": "q3"}, "The question was settled already, by editor", "question"),
        ({"question": "q9"}, "No question has the key 'q9'", "question"),
    ],
)
def test_what_cannot_be_opened(arguments: dict[str, Any], message: str, field: str) -> None:
    scene = opened()
    scene.asks(1)
    form(scene)
    form(scene, request=8)
    scene.result("question.answer", question="q3", option="decline")
    failure = scene.error("form.open", **arguments)
    assert (failure.message, failure.field) == (message, field)


def test_the_oldest_form_is_meant_whatever_else_is_open() -> None:
    scene = opened()
    scene.asks(1)
    form(scene, YES_OR_NO)
    form(scene, request=8)
    assert scene.result("form.open")["uri"].endswith("form-launch-q2.toml")


@pytest.mark.parametrize("put", [True, False])
def test_a_document_that_cannot_be_written(put: bool) -> None:
    scene = opened(DIALOGS)
    form(scene)
    scene.problems[FORM] = "is a folder"
    if put:
        scene.give(ev.QuestionPut("q1", "fill"))
        assert said(scene) == ["The form cannot be written: it is a folder"]
    else:
        assert scene.error("form.open").message == "The form cannot be written: it is a folder"
    assert scene.of(ef.ShowDocument) == []
    assert scene.answers() == []


def test_a_form_that_is_settled_while_it_is_written_leaves_nothing() -> None:
    scene = opened()
    scene.holds.add(ef.WriteFile)
    form(scene)
    ticket = scene.command("form.open")
    scene.give(ev.RequestWithdrawn(AGENT, 7))
    scene.settles()
    failure = scene.failure(ticket)
    assert failure.message == "The question was settled already, by agent"
    assert FORM not in scene.disk
    assert scene.of(ef.ShowDocument) == []


# --- sent --------------------------------------------------------------------------------


def test_what_was_typed_is_sent_without_being_saved_once() -> None:
    scene = with_document()
    fills(scene)
    assert scene.result("form.send", uri=URI) == {}
    assert scene.answered(7) == ANSWER
    assert settled(scene) == [("editor", "accept")]
    assert scene.error("form.send").message == "No form waits for you"
    assert scene.error("form.send", question="q1").field == "question"
    assert scene.error("form.send", uri=URI).field == "uri"
    assert scene.answers() == [ANSWER]


def test_a_document_that_is_not_open_is_read_from_the_disk() -> None:
    scene = with_document(shown=False)
    scene.puts(FORM, scene.disk[FORM].replace('name = ""', f'name = "{MARK}"'))
    assert scene.result("form.send") == {}
    assert scene.answered(7) == ANSWER
    assert FORM not in scene.disk


def test_what_is_not_there_cannot_be_sent() -> None:
    scene = opened()
    form(scene)
    assert scene.error("form.send").message == "The form is not open; acpls.form.open opens it"
    scene.result("form.open")
    scene.puts(FORM, None)
    assert scene.error("form.send").message.startswith("The form's file is gone")
    scene.problems[FORM] = "is a folder"
    assert scene.error("form.send").message == "The form's file is a folder"
    assert scene.answers() == []


def test_a_form_that_is_settled_while_it_is_read_is_sent_once() -> None:
    scene = with_document(shown=False)
    scene.puts(FORM, scene.disk[FORM].replace('name = ""', f'name = "{MARK}"'))
    scene.holds.add(ef.ReadFile)
    first, second = scene.command("form.send"), scene.command("form.send")
    scene.settles()
    assert scene.replies[first] == [ef.ReplyCommand(first, {})]
    assert scene.failure(second).message == "The question was settled already, by editor"
    assert scene.answers() == [ANSWER]


def test_what_is_wrong_is_marked_on_its_line_and_nothing_is_sent() -> None:
    scene = with_document()
    assert marked(scene) == []
    scene.replaces(FORM, "count = 1", 'count = "x"')
    failure = scene.error("form.send")
    row = scene.text(FORM).split("\n").index('name = ""')
    assert failure.message == f"Line {row + 1}: Your name must be filled in (and 1 more)"
    assert (failure.code, failure.field) == (-32602, "content.name")
    assert ef.ShowQuestions() in scene.seen
    assert [(d["range"]["start"]["line"], d["message"]) for d in marked(scene)] == [
        (row, "Your name must be filled in"),
        (scene.text(FORM).split("\n").index('count = "x"'), "count must be a whole number"),
    ]
    # The marks follow what is typed, until all is well.
    fills(scene)
    assert [d["message"] for d in marked(scene)] == ["count must be a whole number"]
    scene.replaces(FORM, '"x"', "2")
    assert marked(scene) == []
    scene.result("form.send")
    assert scene.answered(7) == Accepted({"name": MARK, "count": 2})
    assert marked(scene) == []


def test_what_is_no_toml_is_said_without_repeating_it() -> None:
    scene = with_document()
    scene.replaces(FORM, 'name = ""', f"name = {MARK}")
    failure = scene.error("form.send")
    assert "This line cannot be read" in failure.message
    assert failure.field == "content"
    assert MARK not in failure.message
    assert MARK not in marked(scene)[0]["message"]


def test_other_documents_are_no_forms() -> None:
    scene = with_document()
    other = scene.buffer(f"{ROOT}/other.toml", "")
    assert form_documents.at(scene.state, other) is None
    assert form_documents.problems(scene.state, other) == ()
    scene.closes(FORM)
    assert form_documents.problems(scene.state, URI) == ()


# --- taken away ------------------------------------------------------------------------------

WAYS: dict[str, tuple[Callable[[Scene], Any], list[object]]] = {
    "decline": (lambda s: s.result("question.answer", action="decline"), [Declined()]),
    "content": (
        lambda s: s.result("question.answer", action="accept", content={"name": MARK, "count": 1}),
        [ANSWER],
    ),
    "withdrawn": (lambda s: s.give(ev.RequestWithdrawn(AGENT, 7)), [CANCELLED]),
    "cancel": (lambda s: s.result("session.cancel"), [CANCELLED]),
    "close": (lambda s: s.result("session.close"), [CANCELLED]),
    "death": (lambda s: s.dies(), []),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("shown", [True, False])
def test_the_file_goes_however_the_form_is_settled(way: str, shown: bool) -> None:
    scene = with_document(busy=True, shown=shown)
    settle, answers = WAYS[way]
    settle(scene)
    assert scene.answers() == answers
    assert FORM not in scene.disk
    assert NOT_SENT not in said(scene)
    if shown:
        # Nothing of it is saved any more.
        assert scene.state.buffers.get(URI).dirty  # type: ignore[union-attr]  # it is open


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("saved", [True, False])
def test_what_was_typed_and_not_sent_stays_in_the_editor(way: str, saved: bool) -> None:
    scene = with_document(DELETES, busy=True)
    fills(scene, "typed")
    if saved:
        scene.saves(FORM)
    WAYS[way][0](scene)
    by_user = way in {"decline", "content"}
    assert (NOT_SENT in said(scene)) == (not by_user)
    if not (by_user and saved):
        assert scene.of(ef.ChangeFile) == []
        assert FORM not in scene.disk
    assert 'name = "typed"' in scene.text(FORM)


@pytest.mark.parametrize("manner", ["replies first", "refuses"])
def test_what_was_sent_is_not_left_in_the_document(manner: Any) -> None:
    """Who saves all that is open must not bring it to disk."""
    scene = with_document()
    fills(scene)
    scene.manner = manner
    scene.result("form.send")
    scene.settles()
    assert scene.answered(7) == ANSWER
    assert FORM not in scene.disk
    assert (scene.text(FORM) == SENT) == (manner == "replies first")


def test_an_editor_that_takes_files_away_takes_what_was_sent_along() -> None:
    scene = with_document(DELETES)
    fills(scene)
    scene.result("form.send")
    (change,) = scene.of(ef.ChangeFile)
    assert change.uri == URI
    assert scene.edits_seen == 0


@pytest.mark.parametrize("does", [True, False])
def test_an_editor_that_takes_files_away_takes_the_document_along(does: bool) -> None:
    scene = with_document(DELETES)
    scene.result("question.answer", action="decline")
    (change,) = scene.of(ef.ChangeFile)
    assert change == ef.ChangeFile(change.number, URI)
    assert FORM in scene.disk
    if does:
        scene.puts(FORM, None)
        scene.closes(FORM)
        scene.give(ev.EditApplied(change.number))
    else:
        scene.give(ev.EditRefused(change.number, "no"))
    assert FORM not in scene.disk
    scene.is_over()


def test_a_file_that_cannot_be_taken_away_is_told_of() -> None:
    scene = with_document()
    scene.problems[FORM] = "is read-only"
    scene.result("question.answer", action="decline")
    assert said(scene)[-1] == "The file of a form stays where it is: it is read-only"


def test_a_form_without_a_document_leaves_nothing_behind() -> None:
    scene = opened()
    form(scene)
    scene.result("question.answer", action="decline")
    assert scene.of(ef.WriteFile) == []


# --- nothing is kept of values -------------------------------------------------------------------


def test_values_are_in_no_effect_but_the_answer() -> None:
    scene = with_document()
    scene.result("session.openConversation")
    fills(scene)
    scene.saves(FORM)
    scene.seen.clear()
    scene.result("form.send")
    scene.result("question.list")
    scene.result("session.get")
    scene.result("status")
    scene.settles()
    answers = [e for e in scene.seen if isinstance(e, ef.SendAnswer)]
    assert [e.answer for e in answers] == [ANSWER]
    # The editor has it anyway, and is told to let go of it.
    others = [e for e in scene.seen if not isinstance(e, ef.EditBuffer)]
    assert MARK not in repr(others)
    assert MARK not in scene.text(FORM)
    assert MARK not in repr(scene.state.questions)
    assert all(MARK not in text for text in scene.disk.values())
