"""What tool calls claim to change, looked up in the files themselves (D07)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from scene import A, B, Scene, about, patch

from acpls import effects as ef
from acpls import events as ev
from acpls.hub.tokens import ForClaim
from acpls.review.held import UNKNOWN
from acpls.session import updates as up
from acpls.session.asks import Done
from acpls.session.content import FileChange, Fragment, Location, Patch, Text

if TYPE_CHECKING:
    from acpls.review.change import Change

TWO = Fragment(A, "two\n", "2\n")
THREE = Fragment(A, "three\n", "3\n")
BEFORE = "one\ntwo\nthree\n"
NOWHERE = "neither the old text nor the new text is in the file"


@pytest.fixture
def scene() -> Scene:
    """One session is at work, and one file of three lines is there."""
    scene = Scene()
    scene.has(A, BEFORE)
    scene.session()
    scene.works()
    return scene


def reviewed(scene: Scene, path: str = A) -> Change:
    """What was written."""
    return scene.state.ledger.files[path]


def proposed(scene: Scene, path: str = A) -> Change:
    """What is to be written, or was said to be."""
    (change,) = [c for c in scene.state.ledger.at(path) if c.proposed]
    return change


def lines(change: Change) -> list[tuple[str, str]]:
    return [("".join(p.hunk.old), "".join(p.hunk.new)) for p in change.hunks]


# --- what was done and what is to be done ---------------------------------------------------


@pytest.mark.parametrize("told", ["fragment", "patch"])
def test_a_claim_that_is_on_disk_already_is_recorded_and_not_applied(
    scene: Scene, told: str
) -> None:
    """D07: the document follows its file once; nothing is written, nobody is asked."""
    scene.buffer(A)
    scene.agent_edits(A, "two\n", "2\n", told=told)
    change = reviewed(scene)
    assert (change.base.text, change.target.text) == (BEFORE, "one\n2\nthree\n")
    assert scene.state.ledger.proposals == {}
    assert scene.hunks() == [("two\n", "2\n")]
    scene.settles()
    assert scene.text(A) == scene.disk[A] == "one\n2\nthree\n"
    assert scene.edits_seen == 1
    assert scene.of(ef.WriteFile) == []
    assert scene.put() == []


def test_a_claim_that_the_editor_has_reloaded_already_touches_no_document(scene: Scene) -> None:
    """D07"""
    uri = scene.buffer(A)
    scene.puts(A, "one\n2\nthree\n")
    scene.shows(uri, "one\n2\nthree\n")
    scene.tool_call("call", TWO, status="completed")
    scene.settles()
    assert scene.text(A) == "one\n2\nthree\n"
    assert scene.edits_seen == 0
    assert scene.hunks() == [("two\n", "2\n")]


def test_a_claim_told_again_is_looked_at_again_only_when_there_is_news(scene: Scene) -> None:
    scene.tool_call("call", TWO)
    scene.tool_call("call", TWO)
    assert len(scene.of(ef.ReadFile)) == 1
    scene.tool_call("call", TWO, THREE)
    assert len(scene.of(ef.ReadFile)) == 2
    scene.tool_call("call", TWO, THREE, status="completed")
    assert len(scene.of(ef.ReadFile)) == 3


def test_a_claim_before_the_write_is_a_proposal(scene: Scene) -> None:
    scene.tool_call("call", TWO)
    assert scene.of(ef.ReadFile) == [ef.ReadFile(ForClaim("s1", "call"), A, ("/ws",))]
    change = proposed(scene)
    assert (change.base.text, change.target.text) == (BEFORE, "one\n2\nthree\n")
    assert scene.of(ef.ShowReview) == [ef.ShowReview(A)]
    assert scene.disk[A] == BEFORE
    # It is shown with a question about it only, until there is something to decide.
    assert (change.preview, scene.hunks(), scene.result("review.list")) == (True, [], [])
    scene.result("review.setMode", mode="before")
    scene.tool_call("call", TWO, THREE)
    assert scene.hunks() == [("two\nthree\n", "2\n3\n")]


@pytest.mark.parametrize("told", ["noticed", "claimed"])
def test_a_proposal_that_is_written_then_is_one_change(scene: Scene, told: str) -> None:
    scene.tool_call("call", TWO)
    scene.puts(A, "one\n2\nthree\n")
    if told == "noticed":
        scene.notices(A)
        assert scene.state.ledger.proposals == {}
    scene.tool_call("call", TWO, status="completed")
    assert scene.state.ledger.proposals == {}
    assert scene.hunks() == [("two\n", "2\n")]


def test_claims_of_one_call_are_walked_back_and_forward(scene: Scene) -> None:
    """The first piece is on disk, the second still to come."""
    scene.puts(A, "one\n2\nthree\n")
    scene.tool_call("call", TWO)
    scene.tool_call("call", TWO, THREE)
    assert reviewed(scene).base.text == BEFORE
    assert scene.hunks() == [("two\n", "2\n")]
    scene.puts(A, "one\n2\n3\n")
    scene.tool_call("call", TWO, THREE, status="completed")
    assert reviewed(scene).base.text == BEFORE
    assert scene.hunks() == [("two\nthree\n", "2\n3\n")]


def unseen(text: str) -> Scene:
    """A session is at work in a folder that nobody has looked through."""
    scene = Scene(walks=False)
    scene.puts(A, text)
    scene.session()
    scene.works()
    scene.index.clear()
    return scene


@pytest.mark.parametrize(("disk", "written"), [("x\n", False), ("z\n", True)])
def test_claims_that_build_on_each_other(disk: str, written: bool) -> None:
    scene = unseen(disk)
    scene.tool_call("call", Fragment(A, "x\n", "y\n"), Fragment(A, "y\n", "z\n"))
    (change,) = scene.state.ledger.at(A)
    assert (change.base.text, change.target.text) == ("x\n", "z\n")
    assert change.proposed is not written


def test_a_claim_of_which_a_part_is_to_come() -> None:
    scene = unseen("one\n2\nthree\n")
    scene.tool_call("call", TWO, THREE)
    assert lines(reviewed(scene)) == [("two\n", "2\n")]
    assert reviewed(scene).source == "claim"
    scene.puts(A, "one\n2\n3\n")
    scene.tool_call("call", TWO, THREE, status="completed")
    assert lines(reviewed(scene)) == [("two\nthree\n", "2\n3\n")]


def test_claims_about_two_files(scene: Scene) -> None:
    scene.has(B, "b\n")
    scene.tool_call("call", TWO, Text("and"), Fragment(B, "b\n", "B\n"), THREE)
    assert [read.path for read in scene.of(ef.ReadFile)] == [A, B]
    assert lines(proposed(scene)) == [("two\nthree\n", "2\n3\n")]
    assert lines(proposed(scene, B)) == [("b\n", "B\n")]


def test_a_tool_call_without_claims_reads_nothing(scene: Scene) -> None:
    scene.tool_call("call", Text("thinking"), status="completed")
    assert scene.of(ef.ReadFile) == []
    assert scene.state.ledger.files == {}


def test_a_piece_that_grows_is_looked_at(scene: Scene) -> None:
    scene.tells(up.ToolCallGrew("call", TWO))
    assert lines(proposed(scene)) == [("two\n", "2\n")]
    scene.seen.clear()
    scene.tells(up.ToolCallGrew("call", Text("and so on")))
    assert scene.of(ef.ReadFile) == []


@pytest.mark.parametrize(("line", "text"), [(1, "2\nx\nx\n"), (3, "x\nx\n2\n")])
def test_the_agents_line_decides_between_places(scene: Scene, line: int, text: str) -> None:
    scene.has(A, "x\nx\nx\n")
    claim, elsewhere = Fragment(A, "x\n", "2\n"), Location(B, 2)
    scene.tool_call("call", claim, locations=(elsewhere, Location(A, line)))
    assert proposed(scene).target.text == text


# --- what cannot be found -------------------------------------------------------------------


def test_a_finished_claim_that_is_nowhere_is_told_of(scene: Scene) -> None:
    scene.tool_call("call", Fragment(A, "tea", "coffee"))
    assert scene.state.ledger.proposals == {}
    scene.tool_call("call", Fragment(A, "tea", "coffee"), status="completed")
    assert proposed(scene).reasons == {"call": NOWHERE}
    assert scene.hunks() == []


def test_a_finished_claim_of_something_that_is_known_already_is_no_news(scene: Scene) -> None:
    """The agent wrote through us, and then tells of it in words that do not fit."""
    assert scene.agent_writes(A, "one\n2\nthree\n") == Done()
    scene.tool_call("call", Fragment(A, "tea", "coffee"), status="completed")
    assert reviewed(scene).reasons == {}
    assert scene.hunks() == [("two\n", "2\n")]


@pytest.mark.parametrize(("status", "reasons"), [("in_progress", None), ("completed", True)])
def test_a_file_that_cannot_be_read(scene: Scene, status: str, reasons: bool | None) -> None:
    scene.problems[A] = "is not UTF-8 text"
    scene.tool_call("call", TWO, status=status)
    told = [{"call": "the file is not UTF-8 text"}] if reasons else []
    assert [change.reasons for change in scene.state.ledger.changes()] == told


def test_a_file_outside_of_the_folders_is_not_looked_into(scene: Scene) -> None:
    path = "/etc/passwd"
    scene.disk[path] = "root\n"
    scene.tool_call("call", Fragment(path, "root", "me"), status="completed")
    change = proposed(scene, path)
    assert change.reasons == {"call": "the file is outside of the workspace folders"}
    assert change.hunks == ()


def test_a_claim_that_is_outside_of_a_turn_is_told_of_once_more(scene: Scene) -> None:
    """It is not looked up: what was done is seen, and nothing is still to come."""
    scene.tells(up.TurnChanged("idle", "end_turn"))
    scene.tool_call("call", TWO, status="completed")
    assert scene.state.ledger.changes() == []


def test_unsaved_text_that_the_agent_was_given_is_claimed(scene: Scene) -> None:
    scene.buffer(A)
    scene.types(A, 0, "mine\n")
    scene.agent_reads(A)
    scene.tool_call("call", Fragment(A, "mine\none", "mine\n1"))
    assert lines(proposed(scene)) == [("one\n", "1\n")]
    scene.tool_call("next", Fragment(A, "tea", "coffee"))
    assert len(scene.state.ledger.proposals) == 1


def test_a_claim_that_changes_nothing_is_none(scene: Scene) -> None:
    scene.tool_call("call", Fragment(A, "two", "two"), status="completed")
    assert scene.state.ledger.changes() == []


def test_what_is_told_while_a_session_is_opened_was_done_long_ago() -> None:
    scene = Scene()
    scene.has(A, "one\n2\nthree\n")
    scene.session()
    scene.dies()
    scene.command("session.resume")
    scene.is_ready()
    scene.seen.clear()
    scene.tool_call("call", TWO, status="completed")
    assert scene.of(ef.ReadFile) == []


def test_a_claim_that_was_taken_back_while_its_file_was_read(scene: Scene) -> None:
    scene.problems[A] = "is not UTF-8 text"
    scene.holds = {ef.ReadFile}
    scene.tool_call("call", TWO)
    scene.tool_call("call", Text("nothing after all"), status="completed")
    scene.let()
    assert scene.state.ledger.changes() == []


# --- texts that only the editor has seen ----------------------------------------------------


def test_the_text_before_an_overwritten_file_is_the_open_documents(scene: Scene) -> None:
    scene.buffer(A)
    scene.puts(A, "all new\n")
    scene.tool_call("call", Fragment(A, None, "all new\n"), status="completed")
    assert reviewed(scene).base.text == BEFORE


def test_where_nobody_has_seen_it_the_text_before_an_overwritten_file_is_not_known() -> None:
    scene = unseen("all new\n")
    shorter = Fragment(A, "two\n", "")
    scene.tool_call("call", shorter, Fragment(A, None, "all new\n"), status="completed")
    assert (reviewed(scene).base, reviewed(scene).source) == (UNKNOWN, "unknown")
    # A claim that shows no more does not help.
    scene.tool_call("more", Fragment(A, None, "all new\n"), status="completed")
    assert reviewed(scene).base is UNKNOWN


def test_a_base_that_somebody_has_seen_is_better_than_a_claim(scene: Scene) -> None:
    scene.agent_writes(A, "one\n2\nthree\n")
    scene.holds = {ef.ReadFile}
    scene.tool_call("call", Fragment(A, "too", "2"), status="completed")
    read = scene.held.pop()
    assert isinstance(read, ef.ReadFile)
    scene.give(ev.FileRead(read.token, scene.look(A), ev.FIRST))
    assert (reviewed(scene).base.text, reviewed(scene).source) == (BEFORE, "ledger")


@pytest.mark.parametrize(
    ("kind", "given", "paths"),
    [
        ("edit", {"file_path": A, "old_string": "two"}, [A]),
        ("delete", {"path": A}, [A]),
        ("edit", {"path": "a.txt", "file": 7}, []),
        ("edit", "a.txt", []),
        ("execute", {"path": A}, []),
    ],
)
def test_where_an_agent_says_it_nowhere_else_the_arguments_tell_the_file(
    scene: Scene, kind: str, given: object, paths: list[str]
) -> None:
    scene.tells(up.ToolCallPatched("call", kind=kind, raw_input=given, status="completed"))
    assert [read.path for read in scene.of(ef.ReadFile)] == paths
    # What it says itself counts more.
    call = up.ToolCallPatched("else", kind=kind, raw_input=given, locations=(Location(B),))
    scene.tells(call)
    assert scene.of(ef.ReadFile)[-1].path == B


def test_a_file_that_was_deleted(scene: Scene) -> None:
    gone = patch(A, "one\ntwo\nthree\n", None)
    scene.puts(A, None)
    scene.tool_call("call", gone, status="completed")
    change = reviewed(scene)
    assert (change.operation, change.base.text, change.target.text) == ("delete", BEFORE, None)


def test_a_change_that_the_agent_does_not_show(scene: Scene) -> None:
    scene.tool_call("call", Patch((FileChange("modify", A),)), status="completed")
    assert proposed(scene).reasons == {"call": "the agent did not show the text"}
    # What it did is seen without its words.
    scene.puts(A, "one\n2\nthree\n")
    scene.notices(A)
    assert scene.hunks() == [("two\n", "2\n")]


# --- claims beside writes through us --------------------------------------------------------


def test_a_claim_is_not_looked_at_while_its_file_is_being_written(scene: Scene) -> None:
    scene.holds = {ef.WriteFile}
    scene.agent_writes(A, "one\n2\nthree\n")
    scene.tool_call("call", TWO)
    assert scene.state.ledger.changes() == []
    while scene.held:
        scene.let()
    assert scene.hunks() == [("two\n", "2\n")]
    assert reviewed(scene).base.text == BEFORE


def test_a_finished_claim_does_not_bring_back_what_was_rejected(scene: Scene) -> None:
    scene.agent_writes(A, "one\n2\nthree\n")
    assert scene.result("review.reject", all=True) == {"hunks": 1, "left": []}
    scene.tool_call("call", TWO, status="completed")
    assert scene.hunks() == []
    assert scene.disk[A] == "one\ntwo\nthree\n"


def test_a_new_claim_on_a_file_that_was_written_through_us_is_a_proposal(scene: Scene) -> None:
    scene.agent_writes(A, "one\n2\nthree\n")
    scene.result("review.keep", all=True)
    scene.tells(up.TurnChanged("idle", "end_turn"))
    scene.works()
    scene.tool_call("next", THREE)
    assert lines(proposed(scene)) == [("three\n", "3\n")]


def test_a_completed_claim_that_is_not_on_disk_waits_for_a_verdict(scene: Scene) -> None:
    scene.tool_call("call", TWO, status="completed")
    assert scene.hunks() == [("two\n", "2\n")]
    assert not proposed(scene).preview


# --- calls that end -------------------------------------------------------------------------


@pytest.mark.parametrize("status", ["failed", "cancelled"])
def test_what_a_failed_call_proposed_goes(scene: Scene, status: str) -> None:
    scene.tool_call("call", TWO)
    assert lines(proposed(scene)) == [("two\n", "2\n")]
    scene.seen.clear()
    scene.tool_call("call", TWO, status=status)
    assert scene.state.ledger.proposals == {}
    assert ef.ShowReview(A) in scene.seen
    assert scene.result("review.list") == []


def test_what_a_call_left_unfinished_goes_with_its_turn(scene: Scene) -> None:
    scene.has(B, "b\n")
    scene.tells(up.TurnChanged("idle", "end_turn"))
    scene.prompts()
    scene.tool_call("open", TWO)
    scene.tool_call("done", Fragment(B, "b\n", "B\n"), status="completed")
    scene.says("That was it.")
    scene.ends()
    assert scene.state.ledger.at(A) == []
    assert scene.hunks(B) == [("b\n", "B\n")]


def test_a_call_that_is_refused_proposes_nothing_any_more(scene: Scene) -> None:
    scene.tool_call("call", TWO)
    scene.asks(subject=about("call"))
    assert len(scene.state.ledger.proposals) == 1
    scene.command("question.answer", option="no")
    assert scene.state.ledger.proposals == {}


def test_a_question_waits_until_the_changes_it_is_about_were_looked_at(scene: Scene) -> None:
    scene.holds = {ef.ReadFile}
    scene.tool_call("call", TWO)
    key = scene.asks(subject=about("call"))
    assert scene.put() == []
    scene.let()
    assert scene.put() == [key]


# --- what the user has written into hunks that wait -----------------------------------------


def test_lines_written_over_a_hunk_and_saved_are_the_users_as_well(scene: Scene) -> None:
    """Nobody can tell them from the agent's any more, so no verdict takes them out."""
    uri = scene.buffer(A)
    scene.agent_edits(A, "two\n", "2\n")
    scene.shows(uri, scene.disk[A])
    scene.replaces(A, "2\n", "mine\n")
    scene.saves(A)
    assert scene.hunks() == [("two\n", "mine\n")]
    scene.agent_edits(A, "three\n", "three\nfour\n", call="next")
    assert scene.hunks() == [("two\n", "mine\n"), ("", "four\n")]
    scene.shows(uri, scene.disk[A])
    shared, other = scene.result("review.list")[0]["hunks"]
    assert (shared["shared"], "shared" in other) == (True, False)
    left = [{"hunk": shared["hunk"], "reason": "you wrote into these lines"}]
    assert scene.result("review.reject", all=True) == {"hunks": 1, "left": left}
    assert scene.text(A) == scene.disk[A] == "one\nmine\nthree\n"
    assert scene.result("review.keep", all=True)["hunks"] == 1


def test_lines_written_beside_a_hunk_and_saved_leave_it_waiting(scene: Scene) -> None:
    uri = scene.buffer(A)
    scene.agent_edits(A, "three\n", "3\n")
    scene.shows(uri, scene.disk[A])
    first = scene.keys()
    scene.types(A, 0, "mine\n")
    scene.saves(A)
    scene.agent_edits(A, "one\n", "1\n", call="next")
    assert scene.hunks() == [("one\n", "1\n"), ("three\n", "3\n")]
    assert scene.keys()[1:] == first
    scene.shows(uri, scene.disk[A])
    scene.result("review.reject", all=True)
    assert scene.text(A) == scene.disk[A] == "mine\none\ntwo\nthree\n"


def test_saving_a_file_that_is_not_under_review_puts_nothing_under_review(scene: Scene) -> None:
    scene.buffer(A)
    scene.types(A, 0, "mine\n")
    scene.saves(A)
    assert scene.state.ledger.files == {}


def test_what_an_agent_wrote_and_took_away_again_does_not_come_back(scene: Scene) -> None:
    """A write through us was seen; the claim that follows it says nothing new."""
    first, second, third = "one\ntwo\nthree\n", "zero\none\ntwo\nthree\n", "one\n2\nthree\n"
    scene.agent_writes(A, second)
    scene.tool_call("add", Fragment(A, first, second), status="completed")
    scene.agent_writes(A, third)
    scene.tool_call("edit", Fragment(A, second, third), status="completed")
    assert scene.hunks() == [("two\n", "2\n")]
    scene.result("review.reject", all=True)
    scene.settles()
    assert scene.disk[A] == first


def test_why_a_claim_could_not_be_placed_is_told_until_the_user_has_seen_it() -> None:
    scene = Scene()
    scene.has(A, "a\n")
    scene.session()
    scene.prompts()
    scene.tool_call("odd", Fragment(A, "never there", "x"), status="completed")
    (told,) = scene.result("review.list")
    assert told["reason"] == "neither the old text nor the new text is in the file"
    scene.result("review.keep", uri=told["uri"])
    assert scene.result("review.list") == []
