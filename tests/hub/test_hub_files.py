"""Files that agents read and write through us: what they are answered, and what is reviewed."""

from __future__ import annotations

import pytest
from scene import AGENT, A, B, Scene

from acpls import effects as ef
from acpls import events as ev
from acpls.hub.tokens import ForAgent, ForWrite
from acpls.session.asks import Done, Failure, FileText

OUTSIDE = "/etc/passwd"
NO_SESSION = Failure(-32602, "no such session is open here")


@pytest.fixture
def scene() -> Scene:
    """One session is open, and one file of three lines is there."""
    scene = Scene()
    scene.session()
    scene.disk[A] = "one\ntwo\nthree\n"
    return scene


# --- reading --------------------------------------------------------------------------------


def test_a_file_that_is_not_open_is_read_from_the_disk(scene: Scene) -> None:
    assert scene.agent_reads(A) == "one\ntwo\nthree\n"
    (read,) = scene.of(ef.ReadFile)
    assert read == ef.ReadFile(ForAgent(AGENT, "fs1", "s1"), A, ("/ws",))


def test_of_a_clean_document_the_newer_file_is_read(scene: Scene) -> None:
    """D06: a shell command changed the file and the editor has not reloaded it."""
    scene.buffer(A)
    scene.puts(A, "newer\n")
    assert scene.agent_reads(A) == "newer\n"
    assert scene.text(A) == "one\ntwo\nthree\n"


def test_of_a_document_with_unsaved_changes_these_are_read(scene: Scene) -> None:
    """D06: all of the document, and nothing of the newer file."""
    scene.buffer(A)
    scene.types(A, 1, "mine\n")
    scene.puts(A, "newer\n")
    assert scene.agent_reads(A) == "one\nmine\ntwo\nthree\n"
    assert scene.agent_reads(A, line=2, limit=1) == "mine\n"


def test_after_it_was_saved_a_document_is_clean_again(scene: Scene) -> None:
    """D06"""
    scene.buffer(A)
    scene.types(A, 0, "mine\n")
    scene.saves(A)
    scene.puts(A, "newer\n")
    assert scene.agent_reads(A) == "newer\n"


def test_a_document_that_was_never_saved_is_read(scene: Scene) -> None:
    scene.buffer(B, "draft\n")
    assert scene.agent_reads(B) == "draft\n"


def test_a_missing_file_is_an_error_in_the_usual_words(scene: Scene) -> None:
    """D35: an empty text would make the agent believe that there is a file."""
    words = f"Resource not found: {B}: no such file (ENOENT)"
    assert scene.agent_reads(B) == Failure(-32002, words)
    scene.disk[B] = ""
    assert scene.agent_reads(B) == ""


def test_a_file_that_cannot_be_read_is_an_error_unless_it_is_open(scene: Scene) -> None:
    scene.problems[A] = "is not UTF-8 text"
    assert scene.agent_reads(A) == Failure(-32603, f"{A}: is not UTF-8 text")
    scene.buffer(A, "as the editor decodes it\n")
    assert scene.agent_reads(A) == "as the editor decodes it\n"


def test_a_file_outside_of_the_folders_is_not_read_even_if_it_is_open(scene: Scene) -> None:
    refused = Failure(-32602, f"{OUTSIDE} lies outside of the workspace")
    assert scene.agent_reads(OUTSIDE) == refused
    scene.buffer(OUTSIDE, "root\n")
    assert scene.agent_reads(OUTSIDE) == refused


def test_the_sessions_own_folder_is_inside_too() -> None:
    scene = Scene()
    scene.session(cwd="/elsewhere")
    scene.disk["/elsewhere/x.txt"] = "x\n"
    assert scene.agent_reads("/elsewhere/x.txt") == "x\n"
    assert scene.of(ef.ReadFile)[-1].roots == ("/elsewhere", "/ws")


PARTS: list[tuple[int | None, int | None, str]] = [
    (None, None, "1\n2\r\n3\r4"),
    (1, None, "1\n2\r\n3\r4"),
    (2, None, "2\r\n3\r4"),
    (2, 2, "2\r\n3\r"),
    (None, 1, "1\n"),
    (4, 9, "4"),
    (5, 1, ""),
    (2, 0, ""),
    # Some agents count from 0, and -1 is said for "all".
    (0, 2, "1\n2\r\n"),
    (-1, None, "1\n2\r\n3\r4"),
    (1, -1, ""),
]


@pytest.mark.parametrize(("line", "limit", "text"), PARTS)
def test_the_lines_that_the_agent_asks_for(
    scene: Scene, line: int | None, limit: int | None, text: str
) -> None:
    """Lines count from one and keep their endings; a form feed ends none."""
    scene.disk[A] = "1\n2\r\n3\r4"
    assert scene.agent_reads(A, line, limit) == text
    scene.disk[A] = "1\f2\u20283\n4\n"
    assert scene.agent_reads(A, 1, 1) == "1\f2\u20283\n"


@pytest.mark.parametrize(("line", "row"), [(None, None), (1, 0), (3, 2), (7, 2), (0, 0)])
def test_the_agent_is_seen_where_it_reads(scene: Scene, line: int | None, row: int | None) -> None:
    """F08, F13: whoever sends no locations is seen by what it reads."""
    scene.agent_reads(A, line)
    (shown,) = scene.of(ef.ShowPlace)
    assert (shown.path, shown.line, shown.reason, shown.move) == (A, row, "read", False)


def test_an_unknown_session_reads_and_writes_nothing(scene: Scene) -> None:
    assert scene.agent_reads(A, native="stranger") == NO_SESSION
    assert scene.agent_writes(A, "x", native="stranger") == NO_SESSION
    assert scene.of(ef.ReadFile) == []
    assert scene.of(ef.WriteFile) == []


# --- writing --------------------------------------------------------------------------------


def test_a_write_is_answered_when_the_file_was_seen_to_hold_it(scene: Scene) -> None:
    scene.holds = {ef.WriteFile, ef.ReadFile}
    assert scene.agent_writes(A, "one\n2\nthree\n") is None
    read = scene.let(ef.ReadFile)
    text = "one\n2\nthree\n"
    assert read == ef.ReadFile(ForWrite(AGENT, "fs1", "s1", A, text), A, ("/ws",))
    assert scene.answers() == []
    write = scene.let(ef.WriteFile)
    token = ForAgent(AGENT, "fs1", "s1")
    assert write == ef.WriteFile(token, A, text, ("/ws",), keep_endings=True)
    assert scene.answers() == [Done()]
    assert scene.hunks() == [("two\n", "2\n")]


def test_a_new_file_is_under_review_as_a_whole(scene: Scene) -> None:
    assert scene.agent_writes(B, "new\n") == Done()
    change = scene.state.ledger.files[B]
    assert (change.operation, change.base.text, change.target.text) == ("add", None, "new\n")
    assert change.author.tool_call is None


def test_a_write_of_what_is_there_changes_nothing(scene: Scene) -> None:
    assert scene.agent_writes(A, "one\ntwo\nthree\n") == Done()
    assert scene.hunks() == []
    assert scene.result("review.list") == []


def written(scene: Scene, text: str) -> ef.WriteFile:
    """The agent writes the first file; what is to be written comes back."""
    scene.holds = {ef.WriteFile}
    assert scene.agent_writes(A, text) is None
    (write,) = scene.held
    assert isinstance(write, ef.WriteFile)
    scene.held.clear()
    scene.holds.clear()
    return write


def test_a_file_that_cannot_be_written_is_an_error(scene: Scene) -> None:
    """D50, D51: the agent is told the true cause."""
    scene.problems[A] = "is a folder"
    assert scene.agent_writes(A, "x\n") == Failure(-32603, f"{A}: is a folder")
    del scene.problems[A]
    write, before = written(scene, "x\n"), scene.look(A)
    reason = "is read-only (mode 0444)"
    scene.give(ev.FileWritten(write.token, A, before, reason, before))
    assert scene.answers("fs2") == [Failure(-32603, f"{A}: {reason}")]
    assert scene.hunks() == []


@pytest.mark.parametrize("after", [None, ev.Disk(A, None)])
def test_a_write_that_leaves_no_text_behind_fails(scene: Scene, after: ev.Disk | None) -> None:
    write, before = written(scene, "x\n"), scene.look(A)
    scene.give(ev.FileWritten(write.token, A, before, None, after))
    assert scene.answers() == [Failure(-32603, f"{A}: the file does not hold the text")]


def test_what_became_of_a_file_that_holds_another_text_is_under_review(scene: Scene) -> None:
    """Something else wrote it in the same moment, and nobody is going to tell of that."""
    write, before = written(scene, "x\n"), scene.look(A)
    reason = "does not hold what was written"
    scene.puts(A, "x;\n")
    scene.give(ev.FileWritten(write.token, A, before, reason, scene.look(A)))
    assert scene.answers() == [Failure(-32603, f"{A}: {reason}")]
    assert scene.hunks() == [("one\ntwo\nthree\n", "x;\n")]


def test_a_text_that_makes_a_file_binary_is_written_all_the_same(scene: Scene) -> None:
    write, before = written(scene, "x\0\n"), scene.look(A)
    after = ev.Disk(A, None, "is binary", content="b2")
    scene.give(ev.FileWritten(write.token, A, before, None, after))
    assert scene.answers() == [Done()]
    (change,) = scene.result("review.list")
    assert change["reason"] == "the file is binary"


def test_two_writes_of_one_file_at_a_time(scene: Scene) -> None:
    scene.holds = {ef.WriteFile}
    scene.agent_writes(A, "first\n")
    scene.agent_writes(A, "second\n")
    assert scene.answers() == []
    while scene.held:
        scene.let()
    assert scene.answers() == [Done(), Done()]
    assert scene.hunks() == [("one\ntwo\nthree\n", "second\n")]


def test_the_agent_is_seen_where_it_writes(scene: Scene) -> None:
    scene.agent_writes(A, "x\n")
    (shown,) = scene.of(ef.ShowPlace)
    assert (shown.path, shown.line, shown.reason) == (A, 0, "edit")


def test_a_clean_document_follows_its_file(scene: Scene) -> None:
    """D07: the editor has not reloaded it, so it is edited, once and to the same text."""
    scene.buffer(A)
    scene.agent_writes(A, "one\n2\nthree\n")
    scene.settles()
    assert scene.text(A) == scene.disk[A] == "one\n2\nthree\n"
    assert scene.edits_seen == 1
    assert scene.hunks() == [("two\n", "2\n")]


def test_a_document_that_the_editor_has_reloaded_is_left_alone(scene: Scene) -> None:
    """D07: an edit that is there already is not made a second time."""
    uri = scene.buffer(A)
    scene.agent_writes(A, "one\n2\nthree\n")
    scene.shows(uri, scene.disk[A])
    scene.settles()
    assert scene.text(A) == "one\n2\nthree\n"
    assert scene.edits_seen == 0


# --- writing beside unsaved changes ---------------------------------------------------------


def test_unsaved_lines_do_not_count_as_the_agents_change(scene: Scene) -> None:
    """The agent was given the unsaved text and writes it with a change of its own."""
    scene.buffer(A)
    scene.types(A, 0, "mine\n")
    assert scene.agent_reads(A) == "mine\none\ntwo\nthree\n"
    assert scene.agent_writes(A, "mine\none\n2\nthree\n") == Done()
    scene.settles()
    assert scene.hunks() == [("two\n", "2\n")]
    assert scene.text(A) == "mine\none\ntwo\nthree\n"
    assert scene.edits_seen == 0


def test_unsaved_lines_of_an_earlier_time_do_not_count_as_the_agents_change(scene: Scene) -> None:
    """A document that has come in step with its file starts from there."""
    scene.has(A, "one\n")
    scene.buffer(A)
    scene.types(A, 0, "mine\n")
    assert scene.agent_reads(A) == "mine\none\n"
    scene.agent_writes(A, "first\nmine\none\n")
    scene.result("review.keep", all=True)
    assert scene.text(A) == scene.disk[A] == "first\nmine\none\n"
    scene.agent_writes(A, "first\nmine\n")
    scene.types(A, 2, "more\n")
    assert scene.agent_reads(A) == "first\nmine\nmore\none\n"
    scene.agent_writes(A, "second\nfirst\nmine\nmore\none\n")
    assert scene.hunks() == [("", "second\n")]
    scene.result("review.reject", all=True)
    assert scene.text(A) == "first\nmine\nmore\none\n"


def test_a_rejected_change_leaves_the_file_without_the_unsaved_lines(scene: Scene) -> None:
    scene.buffer(A)
    scene.types(A, 0, "mine\n")
    scene.agent_reads(A)
    scene.agent_writes(A, "mine\none\n2\nthree\n")
    scene.agent_writes(A, "mine\none\n2\n3\n")
    assert scene.result("review.reject", all=True)["left"] == []
    scene.settles()
    assert scene.disk[A] == "one\ntwo\nthree\n"
    assert scene.text(A) == "mine\none\ntwo\nthree\n"


def test_an_agent_that_has_not_read_the_document_wrote_over_the_file(scene: Scene) -> None:
    scene.buffer(A)
    scene.types(A, 0, "mine\n")
    scene.agent_writes(A, "one\n2\nthree\n")
    scene.settles()
    assert scene.hunks() == [("two\n", "2\n")]
    assert scene.text(A) == "mine\none\ntwo\nthree\n"
    assert scene.state.unsaved == {}


def test_what_the_agent_read_is_whole_though_it_asked_for_a_part(scene: Scene) -> None:
    scene.buffer(A)
    scene.types(A, 0, "mine\n")
    assert scene.agent_reads(A, 3, 1) == "two\n"
    scene.agent_writes(A, "mine\none\n2\nthree\n")
    assert scene.hunks() == [("two\n", "2\n")]


def test_answers_go_to_the_request_they_belong_to(scene: Scene) -> None:
    scene.disk[B] = "b\n"
    scene.holds = {ef.ReadFile}
    for request, path in ((0, A), ("0", B)):
        scene.give(ev.FileReadAsked(AGENT, request, "native", path))
    scene.held.reverse()
    scene.let()
    (answer,) = scene.of(ef.SendAnswer)
    assert answer == ef.SendAnswer(AGENT, "0", FileText("b\n"))
    scene.let()
    assert scene.of(ef.SendAnswer)[-1] == ef.SendAnswer(AGENT, 0, FileText(scene.disk[A]))


def test_d07_unsaved_text_that_an_agent_writes_back_stays_the_users(scene: Scene) -> None:
    scene.buffer(A)
    scene.types(A, 0, "mine\n")
    scene.agent_writes(A, scene.agent_reads(A))
    assert scene.hunks() == []
    scene.result("review.reject", all=True)
    scene.settles()
    assert scene.text(A) == "mine\none\ntwo\nthree\n"


def test_d06_a_clean_document_whose_file_is_gone_is_not_there(scene: Scene) -> None:
    scene.buffer(A)
    scene.puts(A, None)
    answer = scene.agent_reads(A)
    assert isinstance(answer, Failure)
    assert answer.code == -32002
