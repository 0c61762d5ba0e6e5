"""Verdicts while the editor, the disk or the user do something else: nothing is lost."""

from __future__ import annotations

import pytest
from scene import A, Scene
from verdict_scene import (
    AFTER,
    BEFORE,
    REFUSED,
    URI,
    changed,
    left,
    proposed,
    rests,
    verdict,
    writes_of,
)

from acpls import effects as ef
from acpls.hub.tokens import EditDue, ForVerdict
from acpls.review.composing import Author

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
    assert ef.After(0.05, ForVerdict(A)) in scene.of(ef.After)
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
    rests(scene)
    return scene


def test_what_the_user_wrote_over_a_hunk_is_left_with_a_reason_and_the_others_are_done() -> None:
    scene = taken_out()
    scene.puts(A, "uno\ntres\n4\nfive\n")
    ticket = verdict(scene, "reject", uri=URI)
    # It is another hunk by then, which nobody has seen yet.
    assert scene.reply(ticket)["hunks"] == 1
    assert left(scene, ticket) == ["it is no longer pending"]
    assert scene.disk[A] == "uno\ntres\nfour\nfive\n"
    (key,) = scene.keys()
    ticket = verdict(scene, "reject", uri=URI)
    reason = "you wrote into these lines"
    assert scene.reply(ticket) == {"hunks": 0, "left": [{"hunk": key, "reason": reason}]}
    assert scene.disk[A] == "uno\ntres\nfour\nfive\n"


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
    scene.state.ledger.drop_proposals(Author("s1", "call"))
    assert scene.state.ledger.proposals == {}
    scene.holds.clear()
    scene.let(ef.ReadFile)
    assert left(scene, ticket) == ["it is no longer pending"]
    assert scene.disk[A] == BEFORE
