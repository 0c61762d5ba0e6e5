"""Verdicts on changes: carried out on the document and the disk, again if something intervenes."""

from __future__ import annotations

from typing import Any

import pytest
from scene import AGENT, NATIVE, ROOT, A, B, Scene, patch

from acpls import effects as ef
from acpls.hub.tokens import EditDue, ForVerdict
from acpls.session.content import Fragment
from acpls.text import uris

URI = uris.from_path(A)
ALL = (ROOT,)
BEFORE = "one\ntwo\nthree\nfour\nfive\n"
AFTER = "one\n2\nthree\n4\nfive\n"
REFUSED = "the editor refused the edit: the document has changed"


def changed(*, opened: bool = False) -> Scene:
    """A session changed two lines of a file by itself; both hunks wait."""
    scene = Scene()
    scene.session()
    scene.puts(A, BEFORE)
    if opened:
        scene.buffer(A)
    scene.agent_edits(A, "two", "2", "first")
    scene.agent_edits(A, "four", "4", "second")
    scene.settles()
    assert scene.hunks() == [("two\n", "2\n"), ("four\n", "4\n")]
    scene.seen.clear()
    return scene


def proposed(*, opened: bool = False, status: str = "pending") -> Scene:
    """A session wants to change a line of a file."""
    scene = Scene()
    scene.session()
    scene.puts(A, BEFORE)
    if opened:
        scene.buffer(A)
    scene.tool_call("call", Fragment(A, "two", "2"), status=status)
    assert scene.hunks() == [("two\n", "2\n")]
    scene.seen.clear()
    return scene


def writes_of(scene: Scene) -> list[tuple[str, str | None]]:
    return [(effect.path, effect.text) for effect in scene.of(ef.WriteFile)]


def left(scene: Scene, ticket: str) -> list[str]:
    """The reasons for which hunks were left."""
    return [item["reason"] for item in scene.reply(ticket)["left"]]


def verdict(scene: Scene, which: str, **arguments: Any) -> str:
    """Give a verdict and let it be carried out; the ticket comes back."""
    ticket = scene.command(f"review.{which}", **arguments)
    scene.settles()
    scene.is_over()
    return ticket


# --- where no document is open ---------------------------------------------------------------


def test_a_kept_change_is_on_disk_already() -> None:
    scene = changed()
    ticket = verdict(scene, "keep", uri=URI)
    assert scene.reply(ticket) == {"hunks": 2, "left": []}
    assert writes_of(scene) == []
    assert scene.disk[A] == AFTER
    assert scene.hunks() == []
    assert scene.state.ledger.files[A].base == AFTER


def test_a_rejected_change_goes_from_the_disk() -> None:
    scene = changed()
    ticket = verdict(scene, "reject", uri=URI)
    assert scene.reply(ticket) == {"hunks": 2, "left": []}
    assert scene.disk[A] == BEFORE
    (write,) = scene.of(ef.WriteFile)
    assert write == ef.WriteFile(ForVerdict(A), A, BEFORE, ALL, expected=AFTER)


@pytest.mark.parametrize(
    ("which", "disk", "rest"),
    [
        (0, "one\ntwo\nthree\n4\nfive\n", [("four\n", "4\n")]),
        (1, "one\n2\nthree\nfour\nfive\n", [("two\n", "2\n")]),
    ],
)
def test_one_hunk_of_two_is_rejected(which: int, disk: str, rest: list[tuple[str, str]]) -> None:
    scene = changed()
    verdict(scene, "reject", hunk=scene.keys()[which])
    assert scene.disk[A] == disk
    assert scene.hunks() == rest


def test_one_hunk_is_kept_and_then_the_other_rejected() -> None:
    scene = changed()
    first, second = scene.keys()
    verdict(scene, "keep", hunk=first)
    assert scene.keys() == [second]
    verdict(scene, "reject", hunk=second)
    assert scene.disk[A] == "one\n2\nthree\nfour\nfive\n"
    assert scene.hunks() == []


def test_a_new_file_that_is_rejected_is_removed() -> None:
    scene = Scene()
    scene.session()
    scene.agent_writes(A, "new\n")
    verdict(scene, "reject", uri=URI)
    assert scene.disk == {}
    assert writes_of(scene)[-1] == (A, None)


def test_a_removed_file_that_is_rejected_comes_back() -> None:
    scene = Scene()
    scene.session()
    scene.puts(A, "old\n")
    change = patch(A, "old\n", None)
    scene.puts(A, None)
    scene.tool_call("call", change, status="completed")
    assert scene.hunks() == [("old\n", "")]
    verdict(scene, "reject", uri=URI)
    assert scene.disk == {A: "old\n"}


def test_a_file_that_was_empty_before_is_empty_again_and_not_removed() -> None:
    scene = Scene()
    scene.session()
    scene.puts(A, "")
    scene.agent_writes(A, "new\n")
    # Somebody else has added a line that is gone again with the agent's.
    scene.puts(A, "\nnew\n")
    scene.puts(A, "new\n")
    verdict(scene, "reject", uri=URI)
    assert scene.disk == {A: ""}


def test_lines_that_others_wrote_since_stay() -> None:
    scene = changed()
    scene.puts(A, f"zero\n{AFTER}six\n")
    ticket = verdict(scene, "reject", uri=URI)
    assert scene.reply(ticket) == {"hunks": 2, "left": []}
    assert scene.disk[A] == f"zero\n{BEFORE}six\n"


def test_a_proposal_that_is_kept_is_left_for_its_agent_to_write() -> None:
    scene = proposed()
    verdict(scene, "keep", uri=URI)
    assert writes_of(scene) == []
    assert scene.disk[A] == BEFORE


def test_a_change_that_was_claimed_but_is_not_there_is_written_when_it_is_kept() -> None:
    scene = proposed(status="completed")
    verdict(scene, "keep", uri=URI)
    assert scene.disk[A] == "one\n2\nthree\nfour\nfive\n"


def test_a_rejected_proposal_is_on_no_disk() -> None:
    scene = proposed()
    verdict(scene, "reject", uri=URI)
    assert writes_of(scene) == []
    assert scene.hunks() == []


def test_a_file_that_is_gone_stays_gone_when_a_part_of_it_is_rejected() -> None:
    scene = changed()
    scene.puts(A, None)
    ticket = verdict(scene, "reject", hunk=scene.keys()[0])
    assert scene.reply(ticket) == {"hunks": 1, "left": []}
    assert scene.disk == {}


# --- where the document is open ------------------------------------------------------------------


def test_a_rejected_change_goes_from_document_and_disk() -> None:
    scene = changed(opened=True)
    ticket = verdict(scene, "reject", uri=URI)
    assert scene.reply(ticket) == {"hunks": 2, "left": []}
    assert scene.text(A) == scene.disk[A] == BEFORE
    buffer = scene.state.buffer_at(A)
    assert buffer is not None
    assert not buffer.dirty


def test_the_document_is_edited_before_the_disk_is_written() -> None:
    scene = changed(opened=True)
    verdict(scene, "reject", uri=URI)
    kinds = [
        type(e) for e in scene.seen if isinstance(e, ef.ReadFile | ef.EditBuffer | ef.WriteFile)
    ]
    assert kinds == [ef.ReadFile, ef.EditBuffer, ef.WriteFile]


def test_unsaved_lines_of_the_user_stay_and_are_not_saved() -> None:
    scene = changed(opened=True)
    scene.types(A, 0, "mine\n")
    verdict(scene, "reject", uri=URI)
    assert scene.text(A) == f"mine\n{BEFORE}"
    assert scene.disk[A] == BEFORE


def test_a_kept_change_comes_into_a_document_with_unsaved_lines() -> None:
    scene = Scene()
    scene.session()
    scene.puts(A, BEFORE)
    scene.buffer(A)
    scene.types(A, 0, "mine\n")
    scene.agent_edits(A, "two", "2")
    verdict(scene, "keep", uri=URI)
    assert scene.text(A) == "mine\none\n2\nthree\nfour\nfive\n"
    assert scene.disk[A] == "one\n2\nthree\nfour\nfive\n"
    assert writes_of(scene) == []


def test_a_kept_proposal_comes_into_the_document_only() -> None:
    scene = proposed(opened=True)
    verdict(scene, "keep", uri=URI)
    assert scene.text(A) == "one\n2\nthree\nfour\nfive\n"
    assert scene.disk[A] == BEFORE


def test_what_was_unsaved_before_the_agent_wrote_is_not_saved_by_rejecting_it() -> None:
    scene = Scene()
    scene.session()
    scene.puts(A, BEFORE)
    scene.buffer(A)
    scene.types(A, 0, "mine\n")
    assert scene.agent_reads(A) == f"mine\n{BEFORE}"
    scene.agent_writes(A, f"mine\n{AFTER}")
    verdict(scene, "reject", uri=URI)
    assert scene.disk[A] == BEFORE
    assert scene.text(A) == f"mine\n{BEFORE}"
    assert scene.state.unsaved == {}


def test_what_was_unsaved_stays_known_while_a_part_waits() -> None:
    scene = Scene()
    scene.session()
    scene.puts(A, BEFORE)
    scene.buffer(A)
    scene.types(A, 0, "mine\n")
    scene.agent_reads(A)
    scene.agent_writes(A, f"mine\n{AFTER}")
    verdict(scene, "reject", hunk=scene.keys()[0])
    assert A in scene.state.unsaved
    verdict(scene, "keep", hunk=scene.keys()[0])
    assert scene.state.unsaved == {}


# --- something intervenes ------------------------------------------------------------------------


def test_an_editor_that_refuses_three_times_is_given_up() -> None:
    scene = changed(opened=True)
    scene.manner = "refuses"
    keys = scene.keys()
    ticket = verdict(scene, "reject", uri=URI)
    assert scene.reply(ticket) == {
        "hunks": 0,
        "left": [{"hunk": key, "reason": REFUSED} for key in sorted(keys)],
    }
    assert len(scene.of(ef.EditBuffer)) == 3
    assert [timer.seconds for timer in scene.of(ef.After)] == [0.05, 0.05]
    (told,) = scene.of(ef.TellUser)
    assert told.level == "error"
    assert told.message == f"Cannot reject a change: {REFUSED}"[:80]
    assert told.detail == A
    assert scene.text(A) == scene.disk[A] == AFTER
    assert scene.keys() == keys


def test_an_editor_that_refuses_once_gets_a_second_chance() -> None:
    scene = changed(opened=True)
    scene.manner = "refuses"
    ticket = scene.command("review.reject", uri=URI)
    scene.manner = "replies first"
    scene.settles()
    assert scene.reply(ticket) == {"hunks": 2, "left": []}
    assert scene.text(A) == scene.disk[A] == BEFORE


def test_an_editor_that_lies_is_given_up_after_three_times() -> None:
    scene = changed(opened=True)
    scene.manner = "lies"
    ticket = verdict(scene, "reject", uri=URI)
    reason = "the editor said that it made the edit, but did not"
    assert left(scene, ticket) == [reason] * 2
    assert sum(isinstance(timer.token, EditDue) for timer in scene.of(ef.After)) == 3
    assert scene.disk[A] == AFTER


def test_where_a_lie_and_typing_meet_nothing_is_edited_twice() -> None:
    scene = changed(opened=True)
    scene.manner = "lies"
    ticket = scene.command("review.reject", uri=URI)
    scene.types(A, 0, "mine\n")
    scene.settles()
    assert left(scene, ticket) == ["the document changed meanwhile; look at it again"] * 2
    assert len(scene.of(ef.EditBuffer)) == 1
    assert scene.disk[A] == AFTER


@pytest.mark.parametrize(
    "manner", ["replies first", "changes first", "changes late", "refuses but does"]
)
def test_only_the_text_of_the_document_proves_an_edit(manner: str) -> None:
    scene = changed(opened=True)
    scene.manner = manner  # type: ignore[assignment]  # the parameter is a plain string
    ticket = verdict(scene, "reject", uri=URI)
    assert scene.reply(ticket) == {"hunks": 2, "left": []}
    assert scene.text(A) == scene.disk[A] == BEFORE
    assert len(scene.of(ef.EditBuffer)) == 1


def test_an_edit_is_seen_although_the_user_typed_meanwhile() -> None:
    scene = changed(opened=True)
    scene.holds = {ef.EditBuffer}
    ticket = scene.command("review.reject", uri=URI)
    scene.types(A, 0, "mine\n")
    assert scene.replies[ticket] == []
    scene.shows(URI, f"mine\n{BEFORE}")
    assert scene.reply(ticket) == {"hunks": 2, "left": []}
    assert scene.disk[A] == BEFORE
    assert scene.state.edits == {}


def test_a_document_that_is_closed_in_the_middle_leaves_the_disk_to_be_written() -> None:
    scene = changed(opened=True)
    scene.holds = {ef.EditBuffer}
    ticket = scene.command("review.reject", uri=URI)
    scene.closes(A)
    assert scene.reply(ticket) == {"hunks": 2, "left": []}
    assert scene.disk[A] == BEFORE
    scene.let(ef.EditBuffer)
    scene.is_over()


def test_a_document_that_is_opened_again_in_the_middle_is_edited_anew() -> None:
    scene = changed(opened=True)
    scene.holds = {ef.EditBuffer}
    ticket = scene.command("review.reject", uri=URI)
    scene.holds.clear()
    scene.held.clear()
    scene.buffer(A)
    scene.settles()
    assert scene.reply(ticket) == {"hunks": 2, "left": []}
    assert scene.text(A) == scene.disk[A] == BEFORE


def test_a_verdict_waits_for_an_edit_that_is_under_way() -> None:
    scene = Scene()
    scene.session()
    scene.puts(A, BEFORE)
    scene.buffer(A)
    scene.agent_edits(A, "two", "2")
    scene.holds = {ef.EditBuffer}
    scene.passes(0.3)
    scene.seen.clear()
    ticket = scene.command("review.reject", uri=URI)
    assert scene.of(ef.After) == [ef.After(0.05, ForVerdict(A))]
    scene.holds.clear()
    scene.let(ef.EditBuffer)
    scene.settles()
    assert scene.reply(ticket) == {"hunks": 1, "left": []}
    assert scene.text(A) == scene.disk[A] == BEFORE


def test_a_change_of_the_document_without_an_edit_of_ours_moves_nothing() -> None:
    scene = changed(opened=True)
    scene.holds = {ef.WriteFile}
    ticket = scene.command("review.reject", uri=URI)
    assert scene.text(A) == BEFORE
    scene.types(A, 0, "mine\n")
    assert scene.replies[ticket] == []
    scene.holds.clear()
    scene.let(ef.WriteFile)
    assert scene.reply(ticket) == {"hunks": 2, "left": []}
    assert scene.disk[A] == BEFORE


def test_a_document_that_is_opened_in_the_middle_is_edited_too() -> None:
    scene = changed()
    scene.holds = {ef.WriteFile}
    ticket = scene.command("review.reject", uri=URI)
    scene.buffer(A)
    assert scene.text(A) == AFTER
    scene.holds.clear()
    while scene.held:
        scene.let()
    scene.settles()
    assert scene.reply(ticket) == {"hunks": 2, "left": []}
    assert scene.text(A) == scene.disk[A] == BEFORE


def test_a_disk_that_changes_in_the_middle_is_read_again() -> None:
    scene = changed()
    scene.holds = {ef.WriteFile}
    ticket = scene.command("review.reject", uri=URI)
    scene.puts(A, f"zero\n{AFTER}")
    scene.holds.clear()
    scene.let(ef.WriteFile)
    assert scene.replies[ticket] == []
    scene.settles()
    assert scene.reply(ticket) == {"hunks": 2, "left": []}
    assert scene.disk[A] == f"zero\n{BEFORE}"


def test_a_disk_that_always_changes_is_given_up() -> None:
    scene = changed()
    scene.holds = {ef.WriteFile}
    ticket = scene.command("review.reject", uri=URI)
    for number in range(3):
        scene.puts(A, f"{number}\n{AFTER}")
        scene.let(ef.WriteFile)
        scene.passes(0.05)
    assert left(scene, ticket) == ["the file has changed on disk"] * 2
    assert scene.held == []


@pytest.mark.parametrize("opened", [False, True])
def test_a_file_that_cannot_be_read_is_no_place_for_a_rejection(opened: bool) -> None:
    scene = changed(opened=opened)
    scene.problems[A] = "is not valid UTF-8"
    ticket = verdict(scene, "reject", uri=URI)
    assert left(scene, ticket) == ["the file is not valid UTF-8"] * 2
    message = "Cannot reject a change: the file is not valid UTF-8"
    assert scene.of(ef.TellUser) == [ef.TellUser("error", message, A)]
    assert scene.hunks() == [("two\n", "2\n"), ("four\n", "4\n")]


def test_a_change_in_an_open_document_is_kept_without_its_file() -> None:
    scene = changed(opened=True)
    scene.problems[A] = "is not valid UTF-8"
    ticket = verdict(scene, "keep", uri=URI)
    assert scene.reply(ticket) == {"hunks": 2, "left": []}


# --- hunks that cannot be done ----------------------------------------


def taken_out(*, opened: bool = False) -> Scene:
    """A session took a line out of a file, and changed another one."""
    scene = Scene()
    scene.session()
    scene.puts(A, BEFORE)
    if opened:
        scene.buffer(A)
    scene.agent_edits(A, "one\ntwo\nthree\n", "one\nthree\n", "first")
    scene.agent_edits(A, "four", "4", "second")
    scene.settles()
    assert scene.hunks() == [("two\n", ""), ("four\n", "4\n")]
    scene.seen.clear()
    return scene


def test_a_hunk_without_its_place_is_left_with_a_reason_and_the_others_are_done() -> None:
    scene = taken_out()
    scene.puts(A, "uno\ntres\n4\nfive\n")
    first, _ = scene.keys()
    ticket = verdict(scene, "reject", uri=URI)
    reason = "the lines around this place have changed since"
    assert scene.reply(ticket) == {"hunks": 1, "left": [{"hunk": first, "reason": reason}]}
    assert scene.disk[A] == "uno\ntres\nfour\nfive\n"
    assert scene.keys() == [first]


def test_where_no_hunk_can_be_done_nothing_is_touched() -> None:
    scene = taken_out(opened=True)
    scene.shows(URI, "uno\ntres\n4\nfive\n")
    first, second = scene.keys()
    ticket = verdict(scene, "reject", hunk=first)
    assert [item["hunk"] for item in scene.reply(ticket)["left"]] == [first]
    assert scene.reply(ticket)["hunks"] == 0
    assert scene.of(ef.EditBuffer) == []
    assert writes_of(scene) == []
    assert scene.keys() == [first, second]


def test_a_change_that_the_user_has_written_over_is_never_taken_back() -> None:
    scene = changed(opened=True)
    scene.replaces(A, "2\n", "twelve\n")
    key = scene.keys()[0]
    ticket = verdict(scene, "reject", hunk=key)
    reason = "these lines have changed since"
    assert scene.reply(ticket) == {"hunks": 0, "left": [{"hunk": key, "reason": reason}]}
    assert scene.text(A) == "one\ntwelve\nthree\n4\nfive\n"


def test_a_hunk_that_had_its_verdict_meanwhile_is_no_longer_pending() -> None:
    scene = changed()
    scene.holds = {ef.WriteFile}
    key = scene.keys()[0]
    first = scene.command("review.reject", hunk=key)
    second = scene.command("review.reject", hunk=key)
    third = scene.command("review.keep", hunk=key)
    assert len(scene.state.verdicts[A]) == 3
    scene.holds.clear()
    scene.let(ef.WriteFile)
    scene.is_over()
    assert scene.reply(first) == {"hunks": 1, "left": []}
    gone = {"hunks": 0, "left": [{"hunk": key, "reason": "it is no longer pending"}]}
    assert scene.reply(second) == scene.reply(third) == gone
    assert scene.disk[A] == "one\ntwo\nthree\n4\nfive\n"


@pytest.mark.parametrize("which", ["keep", "reject"])
@pytest.mark.parametrize("opened", [False, True])
def test_a_proposal_that_is_withdrawn_while_a_verdict_waits(which: str, opened: bool) -> None:
    scene = proposed(opened=opened)
    scene.holds = {ef.ReadFile}
    key = scene.keys()[0]
    ticket = scene.command(f"review.{which}", hunk=key)
    scene.tool_call("call", Fragment(A, "two", "2"), status="failed")
    assert A not in scene.state.ledger.files
    scene.holds.clear()
    scene.let(ef.ReadFile)
    assert left(scene, ticket) == ["it is no longer pending"]
    assert scene.disk[A] == BEFORE


# --- commands ----------------------------------------


def test_a_verdict_on_nothing_is_answered() -> None:
    scene = Scene()
    assert scene.result("review.keep", all=True) == {"hunks": 0, "left": []}


def test_all_files_of_one_command_are_answered_together() -> None:
    scene = changed()
    scene.puts(B, "x\ny\n")
    scene.agent_edits(B, "y", "Y", "third")
    scene.holds = {ef.WriteFile}
    ticket = scene.command("review.reject", all=True)
    assert scene.let(ef.WriteFile).path == A
    assert scene.replies[ticket] == []
    assert scene.let(ef.WriteFile).path == B
    assert scene.reply(ticket) == {"hunks": 3, "left": []}
    assert scene.disk == {A: BEFORE, B: "x\ny\n"}


def test_what_one_file_leaves_is_in_the_answer_for_all() -> None:
    scene = changed()
    scene.puts(B, "x\ny\n")
    scene.agent_edits(B, "y", "Y", "third")
    scene.problems[B] = "is a folder"
    ticket = verdict(scene, "reject", all=True)
    (key,) = scene.keys(B)
    answer = {"hunks": 2, "left": [{"hunk": key, "reason": "the file is a folder"}]}
    assert scene.reply(ticket) == answer


def test_verdicts_on_one_file_are_carried_out_in_their_order() -> None:
    scene = changed(opened=True)
    scene.holds = {ef.ReadFile}
    first, second = scene.keys()
    one = scene.command("review.reject", hunk=first)
    two = scene.command("review.keep", hunk=second)
    assert len(scene.of(ef.ReadFile)) == 1
    scene.let(ef.ReadFile)
    assert scene.reply(one) == {"hunks": 1, "left": []}
    assert scene.replies[two] == []
    scene.let(ef.ReadFile)
    assert scene.reply(two) == {"hunks": 1, "left": []}
    assert scene.text(A) == scene.disk[A] == "one\ntwo\nthree\n4\nfive\n"
    assert scene.hunks() == []


def test_each_verdict_shows_the_review_again() -> None:
    scene = changed()
    verdict(scene, "keep", uri=URI)
    assert scene.of(ef.ShowReview) == [ef.ShowReview(A)]
    assert scene.state.agent(AGENT).state == "ready"
    assert scene.state.session_of(AGENT, NATIVE) is not None


def test_a_file_that_was_removed_by_a_verdict_does_not_come_back_with_the_next() -> None:
    scene = Scene()
    scene.session()
    scene.puts(A, "rejected\n")
    scene.tool_call("c1", Fragment(A, None, "rejected\n"), status="completed")
    scene.buffer(A)
    assert scene.result("review.reject", all=True)["hunks"] == 1
    assert (A in scene.disk, scene.text(A)) == (False, "")
    scene.puts(A, "again\n")
    scene.tool_call("c2", Fragment(A, None, "again\n"), status="completed")
    assert scene.hunks() == [("", "again\n")]
    scene.settles()
    assert scene.result("review.reject", all=True)["hunks"] == 1
    assert "rejected" not in scene.disk.get(A, "")
    scene.settles()
    scene.is_over()
