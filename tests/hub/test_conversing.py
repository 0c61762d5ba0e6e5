"""Conversation documents are made, kept up to date in the editor or on disk, and sent from."""

from __future__ import annotations

import pytest
from scene import NATIVE, ROOT, Scene

from acpls import effects as ef
from acpls import events as ev
from acpls.conversation.render import END, PROMPT
from acpls.hub import conversing
from acpls.hub.tokens import ForConversation, IgnoreFile
from acpls.session.asks import Prompt, ResumeSession, SessionOpened
from acpls.session.content import Text
from acpls.text import uris
from acpls.text.diff import Edit

PATH = f"{ROOT}/.acp/demo-launch-s1.md"
URI = uris.from_path(PATH)
IGNORED = f"{ROOT}/.acp/.gitignore"
TITLE = "# Conversation with Demo agent\n\n<!-- acpls: session s1 of agent demo -->\n\n"
EMPTY = f"{TITLE}{PROMPT}\n\n\n{END}\n"


def document(said: str, draft: str = "\n\n") -> str:
    """The document with what was said, and the draft with its line endings."""
    return f"{TITLE}{said}{PROMPT}\n{draft}{END}\n"


def agent(text: str) -> str:
    return f"## Demo agent\n\n{text}\n\n"


def on_disk() -> Scene:
    """A session whose document was made, and is not open in the editor."""
    scene = Scene()
    scene.session()
    scene.result("session.openConversation")
    scene.settles()
    scene.seen.clear()
    return scene


def in_editor() -> Scene:
    """The same, and the document is open."""
    scene = on_disk()
    scene.buffer(PATH)
    scene.settles()
    scene.seen.clear()
    return scene


def drafts(scene: Scene, text: str) -> None:
    """The user writes on the free line below the heading."""
    lines = scene.text(PATH).split("\n")
    scene.types(PATH, lines.index(PROMPT) + 1, text)


# --- made on disk ------------------------------------------------------------------------


def test_the_first_opening_makes_the_document_and_keeps_it_out_of_version_control() -> None:
    scene = Scene()
    scene.session()
    scene.seen.clear()
    ticket = scene.command("session.openConversation")
    assert scene.reply(ticket) == {"uri": URI}
    assert scene.disk == {PATH: EMPTY, IGNORED: "*\n"}
    token = ForConversation("s1", ticket=ticket, show=True)
    assert scene.seen == [
        ef.ReadFile(token, PATH, (ROOT,)),
        ef.WriteFile(IgnoreFile(), IGNORED, "*\n", (ROOT,), expected=None),
        ef.WriteFile(token, PATH, EMPTY, (ROOT,), expected=None),
        ef.ShowDocument(URI, 6, 6, take_focus=True),
        ef.ReplyCommand(ticket, {"uri": URI}),
    ]


def test_the_cursor_is_put_on_the_line_to_write_on() -> None:
    scene = on_disk()
    scene.says("One\n\ntwo")
    scene.result("session.openConversation")
    (shown,) = scene.of(ef.ShowDocument)
    assert shown.line == shown.end
    assert shown.line is not None
    lines = scene.disk[PATH].split("\n")
    assert lines[shown.line - 2 : shown.line + 2] == [PROMPT, "", "", END]


def test_an_ignore_file_of_the_users_is_left_alone() -> None:
    scene = Scene()
    scene.puts(IGNORED, "mine\n")
    scene.session()
    scene.result("session.openConversation")
    assert scene.disk[IGNORED] == "mine\n"
    assert scene.of(ef.TellUser) == []


def test_a_strange_agent_name_makes_a_plain_file_name() -> None:
    scene = Scene()
    scene.give(ev.SettingsChanged(({"agents": {"a/b c": {"command": "x"}}},)))
    scene.session(agent="a/b c")
    answer = scene.result("session.openConversation")
    assert answer == {"uri": uris.from_path(f"{ROOT}/.acp/a-b-c-launch-s1.md")}


def test_a_document_that_is_there_already_is_shown_without_writing() -> None:
    scene = on_disk()
    assert scene.result("session.openConversation") == {"uri": URI}
    assert scene.of(ef.WriteFile) == []
    assert len(scene.of(ef.ShowDocument)) == 1


def test_a_document_that_is_open_already_is_shown() -> None:
    scene = in_editor()
    scene.says("Hello")
    assert scene.result("session.openConversation") == {"uri": URI}
    assert len(scene.of(ef.ShowDocument)) == 1
    scene.settles()
    assert scene.text(PATH) == document(agent("Hello"))


def test_what_is_said_is_gathered_and_then_written_on_disk() -> None:
    scene = on_disk()
    scene.says("Hel")
    scene.says("lo")
    assert scene.of(ef.After) == [ef.After(0.5, ForConversation("s1"))]
    scene.passes(0.49)
    assert scene.disk[PATH] == EMPTY
    scene.passes(0.01)
    assert scene.disk[PATH] == document(agent("Hello"))
    assert len(scene.of(ef.WriteFile)) == 1
    assert scene.of(ef.ShowDocument) == []


def test_sessions_without_a_document_are_written_nowhere() -> None:
    scene = Scene()
    scene.session()
    scene.says("Hello")
    scene.result("session.fetch")
    scene.settles()
    assert scene.disk == {}


def test_a_question_stands_in_the_document_while_it_is_open() -> None:
    scene = on_disk()
    scene.asks(1, "May I?")
    scene.settles()
    question = (
        "> **May I?**\n>\n> The agent says nothing about what it wants to do.\n>\n"
        "> - Allow\n> - Always allow\n> - Reject\n>\n"
        "> Answer with a code action.\n\n"
    )
    assert scene.disk[PATH] == document(question)
    scene.result("question.answer", option="yes")
    scene.settles()
    assert scene.disk[PATH] == EMPTY


def test_somebody_who_writes_the_file_meanwhile_loses_nothing() -> None:
    scene = on_disk()
    scene.holds = {ef.WriteFile}
    scene.says("Hello")
    scene.passes(0.5)
    scene.puts(PATH, document("", "mine\n"))
    scene.let(ef.WriteFile)
    scene.let(ef.WriteFile)
    assert scene.disk[PATH] == document(agent("Hello"), "mine\n")
    assert scene.state.conversations["s1"].refusals == 0


@pytest.mark.parametrize("problem", ["is not valid UTF-8", "is a folder"])
def test_a_document_that_cannot_be_read_is_answered_and_left(problem: str) -> None:
    scene = Scene()
    scene.session()
    scene.problems[PATH] = problem
    failure = scene.error("session.openConversation")
    assert failure.message == f"The conversation cannot be read: it {problem}"
    assert failure.code == -32603
    # Nobody waits for the next attempt, so nobody is told.
    scene.seen.clear()
    scene.says("Hello")
    scene.settles()
    assert scene.of(ef.FailCommand) == []
    assert scene.disk == {}


def test_a_document_that_cannot_be_written_is_answered_after_three_attempts() -> None:
    scene = Scene(holds={ef.WriteFile})
    scene.session()
    ticket = scene.command("session.openConversation")
    assert isinstance(scene.let(ef.WriteFile).token, IgnoreFile)
    before = ev.Disk(PATH, None)
    for attempt in (1, 2, 3):
        assert scene.replies[ticket] == []
        writing = next(e for e in scene.held if isinstance(e, ef.WriteFile) and e.path == PATH)
        scene.held.clear()
        scene.give(ev.FileWritten(writing.token, PATH, before, "is on a full disk"))
        assert scene.state.conversations["s1"].refusals == attempt
    failure = scene.failure(ticket)
    assert failure.message == "The conversation cannot be written: it is on a full disk"
    assert failure.code == -32603


def test_a_document_that_cannot_be_written_in_the_background_is_tried_with_the_next_word() -> None:
    scene = on_disk()
    scene.holds = {ef.WriteFile}
    before = ev.Disk(PATH, EMPTY)
    scene.says("Hello")
    scene.passes(0.5)
    for _ in range(3):
        (writing,) = scene.held
        assert isinstance(writing, ef.WriteFile)
        scene.held.clear()
        scene.give(ev.FileWritten(writing.token, PATH, before, "is read-only"))
    assert scene.held == []
    assert scene.of(ef.FailCommand) == []
    scene.holds.clear()
    scene.says("!")
    scene.settles()
    assert scene.disk[PATH] == document(agent("Hello!"))


def test_a_document_opened_while_it_is_written_on_disk_is_edited_after_all() -> None:
    scene = on_disk()
    scene.says("Hello")
    scene.holds = {ef.WriteFile}
    scene.passes(0.5)
    scene.buffer(PATH)
    scene.let(ef.WriteFile)
    assert scene.text(PATH) == EMPTY
    scene.settles()
    assert scene.text(PATH) == document(agent("Hello"))


# --- edited in the editor ------------------------------------------------------------------


def test_an_open_document_is_edited_and_not_its_file() -> None:
    scene = in_editor()
    scene.says("Hello")
    assert scene.of(ef.After) == [ef.After(0.08, ForConversation("s1"))]
    scene.passes(0.08)
    assert scene.text(PATH) == document(agent("Hello"))
    assert scene.disk[PATH] == EMPTY
    (edit,) = scene.of(ef.EditBuffer)
    at = len(TITLE)
    assert edit.edits == (Edit(at, at, agent("Hello")),)
    assert (edit.uri, edit.version, edit.versioned) == (URI, 1, True)


def test_only_one_edit_is_under_way_at_a_time() -> None:
    scene = in_editor()
    scene.holds = {ef.EditBuffer}
    scene.says("one")
    scene.passes(0.08)
    scene.says(" two")
    scene.result("session.fetch")
    assert len(scene.of(ef.EditBuffer)) == 1
    scene.let(ef.EditBuffer)
    assert scene.text(PATH) == document(agent("one"))
    scene.passes(0.08)
    scene.let(ef.EditBuffer)
    assert scene.text(PATH) == document(agent("one two"))


def test_fetch_does_not_wait() -> None:
    scene = in_editor()
    scene.says("Hello")
    assert scene.result("session.fetch") == {}
    assert scene.text(PATH) == document(agent("Hello"))
    # What is due then finds nothing to do.
    scene.settles()
    assert len(scene.of(ef.EditBuffer)) == 1


@pytest.mark.parametrize("manner", ["replies first", "changes first", "changes late"])
def test_any_order_of_change_and_word_will_do(manner: str) -> None:
    scene = in_editor()
    scene.manner = manner  # type: ignore[assignment]  # the parameter is a plain string
    scene.says("Hello")
    scene.settles()
    assert scene.text(PATH) == document(agent("Hello"))
    assert len(scene.of(ef.EditBuffer)) == 1
    scene.is_over()


def test_a_refused_edit_is_planned_anew() -> None:
    scene = in_editor()
    scene.manner = "refuses"
    scene.says("Hello")
    scene.passes(0.08)
    assert scene.text(PATH) == EMPTY
    assert scene.of(ef.After)[-1] == ef.After(0.03, ForConversation("s1"))
    scene.manner = "replies first"
    scene.passes(0.03)
    assert scene.text(PATH) == document(agent("Hello"))
    assert scene.state.conversations["s1"].refusals == 0


def test_an_edit_that_only_inserts_stops_insisting_on_its_version_after_three_refusals() -> None:
    scene = in_editor()
    scene.manner = "refuses"
    scene.says("Hello")
    scene.passes(0.08)
    scene.passes(0.03)
    scene.passes(0.03)
    scene.passes(0.03)
    assert [edit.versioned for edit in scene.of(ef.EditBuffer)] == [True, True, True, False]


def test_an_edit_that_takes_something_out_always_insists_on_its_version() -> None:
    scene = in_editor()
    scene.asks(1, "May I?")
    scene.settles()
    scene.seen.clear()
    scene.manner = "refuses"
    scene.result("question.answer", option="yes")
    scene.passes(1)
    insisted = {edit.versioned for edit in scene.of(ef.EditBuffer)}
    assert insisted == {True}
    assert len(scene.of(ef.EditBuffer)) > conversing.INSISTING


def test_an_editor_that_refuses_on_and_on_is_asked_less_often() -> None:
    scene = in_editor()
    scene.manner = "refuses"
    scene.says("Hello")
    scene.passes(0.08 + 0.03 * 29 + 0.001)
    assert len(scene.of(ef.EditBuffer)) == conversing.PATIENCE
    assert scene.of(ef.After)[-1] == ef.After(2.0, ForConversation("s1"))
    scene.passes(1.9)
    assert len(scene.of(ef.EditBuffer)) == conversing.PATIENCE
    scene.passes(0.2)
    assert len(scene.of(ef.EditBuffer)) == conversing.PATIENCE + 1


def test_an_editor_that_lies_is_asked_again_a_second_later() -> None:
    scene = in_editor()
    scene.manner = "lies"
    scene.says("Hello")
    scene.passes(0.08)
    scene.manner = "replies first"
    scene.passes(0.9)
    assert scene.text(PATH) == EMPTY
    scene.passes(0.2)
    assert scene.text(PATH) == document(agent("Hello"))


def test_an_edit_that_was_made_and_refused_is_not_made_twice() -> None:
    scene = in_editor()
    scene.manner = "refuses but does"
    scene.says("Hello")
    scene.settles()
    assert scene.text(PATH) == document(agent("Hello"))
    assert len(scene.of(ef.EditBuffer)) == 1


def test_an_edit_is_seen_although_the_user_typed_before_it_arrived() -> None:
    scene = in_editor()
    scene.holds = {ef.EditBuffer}
    scene.says("Hello")
    scene.passes(0.08)
    drafts(scene, "typed")
    assert len(scene.state.edits) == 1
    scene.shows(URI, document(agent("Hello"), "typed\n\n"))
    assert scene.state.edits == {}
    assert scene.state.conversations["s1"].edit is None


def test_a_document_closed_with_an_edit_under_way_goes_on_on_disk() -> None:
    scene = in_editor()
    scene.holds = {ef.EditBuffer}
    scene.says("Hello")
    scene.passes(0.08)
    scene.closes(PATH)
    scene.holds.clear()
    scene.let(ef.EditBuffer)
    scene.settles()
    assert scene.disk[PATH] == document(agent("Hello"))
    scene.is_over()


def test_two_documents_do_not_disturb_each_other() -> None:
    scene = in_editor()
    scene.session("second")
    scene.result("session.openConversation", session="s2")
    other = f"{ROOT}/.acp/demo-launch-s2.md"
    scene.buffer(other)
    scene.says("one")
    scene.says("two", native="second")
    scene.settles()
    assert scene.text(PATH) == document(agent("one"))
    assert scene.text(other) == document(agent("two")).replace("s1", "s2")


# --- sending ---------------------------------------------------------------------------------


def test_what_stands_under_the_last_heading_is_sent_and_becomes_part_of_the_talk() -> None:
    scene = in_editor()
    drafts(scene, "Make tea\n\nplease")
    answer = scene.result("session.send", uri=URI)
    assert answer == {"session": "s1", "turn": "t1", "queued": False}
    assert scene.asked[scene.number(Prompt)] == Prompt(NATIVE, (Text("Make tea\n\nplease"),))
    scene.settles()
    assert scene.text(PATH) == document("## You\n\nMake tea\n\nplease\n\n")


def test_a_draft_written_after_the_sending_is_kept() -> None:
    scene = in_editor()
    drafts(scene, "first\n")
    scene.result("session.send")
    scene.types(PATH, scene.text(PATH).split("\n").index("first") + 1, "next idea\n")
    scene.settles()
    assert scene.text(PATH) == document("## You\n\nfirst\n\n", "next idea\n\n\n")


def test_the_draft_is_kept_while_the_agent_talks() -> None:
    scene = in_editor()
    drafts(scene, "half a thou")
    scene.says("Hello")
    scene.settles()
    assert scene.text(PATH) == document(agent("Hello"), "half a thou\n\n")


def test_a_document_that_is_not_open_cannot_be_sent() -> None:
    scene = Scene()
    scene.session()
    failure = scene.error("session.send")
    message = "The conversation is not open; acpls.session.openConversation opens it"
    assert (failure.message, failure.field) == (message, "uri")
    scene.result("session.openConversation")
    assert scene.error("session.send").message == message


def test_an_empty_draft_is_not_sent() -> None:
    scene = in_editor()
    failure = scene.error("session.send")
    message = "Nothing is written under the last heading of the conversation"
    assert (failure.code, failure.message) == (-32803, message)
    assert scene.state.sessions["s1"].turn is None


def test_the_same_draft_is_not_sent_twice() -> None:
    scene = in_editor()
    drafts(scene, "go")
    scene.result("session.send")
    failure = scene.error("session.send")
    assert failure.message == "The last prompt is still on its way into the document; try again"
    scene.settles()
    drafts(scene, "go on")
    assert scene.result("session.send")["queued"] is True


def test_a_session_that_is_over_takes_no_prompt_and_keeps_the_draft() -> None:
    scene = in_editor()
    drafts(scene, "go")
    scene.result("session.close", session="s1")
    failure = scene.error("session.send", session="s1")
    message = "The session is over; acpls.session.new starts another"
    assert (failure.message, failure.field) == (message, "session")
    scene.settles()
    assert scene.text(PATH) == document("> **The session is lost:** closed\n\n", "go\n\n")


def test_what_is_written_in_the_document_of_a_lost_session_opens_it_again() -> None:
    """S19."""
    scene = in_editor()
    drafts(scene, "go")
    scene.dies("gone")
    assert scene.result("session.send", session="s1")["queued"] is True
    scene.is_ready()
    scene.replied(SessionOpened(NATIVE), ResumeSession)
    assert scene.asked[scene.number(Prompt)] == Prompt(NATIVE, (Text("go"),))


# --- quotes -------------------------------------------------------------------------------------


def quoted(scene: Scene) -> str:
    """Ask about a selection; the quote comes back."""
    path = f"{ROOT}/tea.py"
    scene.puts(path, "boil()\nsteep()\n")
    if uris.from_path(path) not in scene.pages:
        scene.buffer(path)
    first = {"line": 0, "character": 0}
    scene.result(
        "session.ask",
        uri=uris.from_path(path),
        range={"start": first, "end": {"line": 1, "character": 0}},
        intent="explain",
    )
    return "Explain this:\n`tea.py:1-1`\n\n```python\nboil()\n```\n\n"


def test_a_quote_goes_into_a_new_document() -> None:
    scene = Scene()
    scene.session()
    quote = quoted(scene)
    scene.settles()
    assert scene.disk[PATH] == document("", f"\n\n{quote}")
    assert scene.state.conversations["s1"].quotes == ()


def test_a_quote_goes_below_the_draft_of_an_open_document() -> None:
    scene = in_editor()
    drafts(scene, "Look:")
    quote = quoted(scene)
    scene.settles()
    assert scene.text(PATH) == document("", f"Look:\n\n{quote}")
    assert scene.state.conversations["s1"].quotes == ()


def test_a_quote_that_comes_while_another_is_written_is_not_lost() -> None:
    scene = on_disk()
    conversation = scene.state.conversations["s1"]
    scene.holds = {ef.WriteFile}
    uri = uris.from_path(f"{ROOT}/x.py")
    first = scene.command("session.ask", uri=uri)
    second = scene.command("session.ask", uri=uri, intent="fix")
    assert list(conversation.quotes) == ["`x.py`\n\n", "Fix this:\n`x.py`\n\n"]
    assert scene.let(ef.WriteFile).path == PATH
    assert scene.reply(first) == {"uri": URI}
    assert list(conversation.quotes) == ["Fix this:\n`x.py`\n\n"]
    scene.holds.clear()
    while scene.held:
        scene.let()
    scene.settles()
    assert scene.reply(second) == {"uri": URI}
    assert scene.disk[PATH].count("Fix this:\n`x.py`\n") == 1
    assert list(conversation.quotes) == []


# --- more than one thing at a time --------------------------------------------------------


def test_a_quote_that_comes_while_the_document_is_edited_is_written_after_that() -> None:
    scene = in_editor()
    scene.holds = {ef.EditBuffer}
    scene.says("Hello")
    scene.passes(0.08)
    scene.result("session.ask", uri=uris.from_path(f"{ROOT}/x.py"))
    scene.holds.clear()
    scene.let(ef.EditBuffer)
    scene.settles()
    assert scene.text(PATH) == document(agent("Hello"), "\n\n`x.py`\n\n")


def test_a_draft_that_is_sent_while_the_document_is_edited_goes_up_after_that() -> None:
    scene = in_editor()
    drafts(scene, "go")
    scene.holds = {ef.EditBuffer}
    scene.says("Hello")
    scene.passes(0.08)
    scene.result("session.send")
    scene.holds.clear()
    scene.let(ef.EditBuffer)
    scene.settles()
    assert scene.text(PATH) == document(f"{agent('Hello')}## You\n\ngo\n\n")


def test_a_document_that_is_opened_again_while_it_is_edited_is_edited_anew() -> None:
    scene = in_editor()
    scene.holds = {ef.EditBuffer}
    scene.says("Hello")
    scene.passes(0.08)
    scene.holds.clear()
    scene.held.clear()
    scene.buffer(PATH)
    scene.settles()
    assert scene.text(PATH) == document(agent("Hello"))
