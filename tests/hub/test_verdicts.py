"""Verdicts on changes: carried out on the document and the disk, again if something intervenes."""

from __future__ import annotations

import pytest
from scene import AGENT, NATIVE, ROOT, A, B, Scene, held, patch
from verdict_scene import (
    AFTER,
    ALL,
    BEFORE,
    URI,
    changed,
    left,
    proposed,
    rests,
    verdict,
    writes_of,
)

from acpls import effects as ef
from acpls import events as ev
from acpls.hub.tokens import ForVerdict
from acpls.session.content import Fragment

# --- where no document is open ---------------------------------------------------------------


def test_a_kept_change_is_on_disk_already() -> None:
    scene = changed()
    ticket = verdict(scene, "keep", uri=URI)
    assert scene.reply(ticket) == {"hunks": 2, "left": []}
    assert writes_of(scene) == []
    assert scene.disk[A] == AFTER
    assert scene.state.ledger.files == {}


def test_a_rejected_change_goes_from_the_disk() -> None:
    scene = changed()
    ticket = verdict(scene, "reject", uri=URI)
    assert scene.reply(ticket) == {"hunks": 2, "left": []}
    assert scene.disk[A] == BEFORE
    (write,) = scene.of(ef.WriteFile)
    form, content = ev.Form(), held(A, AFTER).content
    assert write == ef.WriteFile(ForVerdict(A), A, BEFORE, ALL, expected=content, form=form)


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
    scene.has(A, "old\n")
    scene.works()
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
    assert scene.hunks() == []


def test_lines_that_the_agent_wrote_since_stay_until_they_are_rejected_too() -> None:
    """They are not what the user has seen and decided on."""
    scene = changed()
    scene.works()
    scene.puts(A, f"zero\n{AFTER}six\n")
    ticket = verdict(scene, "reject", uri=URI)
    assert scene.reply(ticket) == {"hunks": 2, "left": []}
    assert scene.disk[A] == f"zero\n{BEFORE}six\n"
    assert scene.hunks() == [("", "zero\n"), ("", "six\n")]


def test_a_change_that_was_claimed_but_is_not_there_is_written_when_it_is_kept() -> None:
    scene = proposed()
    verdict(scene, "keep", uri=URI)
    assert scene.disk[A] == "one\n2\nthree\nfour\nfive\n"


def test_it_comes_beside_what_the_user_wrote_meanwhile_and_not_over_it() -> None:
    scene = proposed()
    rests(scene)
    scene.puts(A, BEFORE.replace("two", "mine"))
    ticket = verdict(scene, "keep", uri=URI)
    assert left(scene, ticket) == ["these lines have changed since"]
    scene.puts(A, f"mine\n{BEFORE}")
    ticket = verdict(scene, "keep", uri=URI)
    assert scene.reply(ticket) == {"hunks": 1, "left": []}
    assert scene.disk[A] == f"mine\n{BEFORE}".replace("two", "2")


def test_a_rejected_proposal_is_on_no_disk() -> None:
    scene = proposed()
    verdict(scene, "reject", uri=URI)
    assert writes_of(scene) == []
    assert scene.hunks() == []


def test_a_file_that_is_gone_stays_gone_when_a_part_of_it_is_rejected() -> None:
    scene = changed()
    scene.puts(A, None)
    ticket = verdict(scene, "reject", hunk=scene.keys()[0])
    assert left(scene, ticket) == ["it is no longer pending"]
    assert (scene.disk, scene.hunks()) == ({}, [])


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


@pytest.mark.parametrize("dirty", [False, True])
def test_a_document_that_its_editor_has_to_read_again_first_is_not_edited(*, dirty: bool) -> None:
    """Its editor makes no edit of a document whose file has changed since it was read."""
    scene = Scene(ready=ev.EditorReady((ROOT,), questions=True, stale_edits=False))
    scene.has(A, BEFORE)
    scene.session()
    scene.buffer(A)
    if dirty:
        scene.types(A, 0, "mine\n")
    scene.agent_edits(A, "two", "2")
    rests(scene)
    ticket = verdict(scene, "reject", uri=URI)
    assert scene.of(ef.EditBuffer) == []
    if dirty:
        reason = "the editor has to read the file again first (revert the buffer)"
        assert left(scene, ticket) == [reason]
        assert scene.text(A) == f"mine\n{BEFORE}"
    else:
        assert scene.reply(ticket) == {"hunks": 1, "left": []}
        assert scene.disk[A] == scene.text(A) == BEFORE


# --- commands ----------------------------------------


def test_a_verdict_on_nothing_is_answered() -> None:
    scene = Scene()
    assert scene.result("review.keep", all=True) == {"hunks": 0, "left": []}


def test_all_files_of_one_command_are_answered_together() -> None:
    scene = changed()
    scene.has(B, "x\ny\n")
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
    scene.has(B, "x\ny\n")
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


def test_nothing_is_written_through_a_link_that_was_laid_in_the_files_place() -> None:
    scene = changed()
    scene.holds = {ef.ReadFile}
    ticket = scene.command("review.reject", uri=URI)
    (read,) = [effect for effect in scene.held if isinstance(effect, ef.ReadFile)]
    scene.held.remove(read)
    disk = ev.Disk(A, AFTER, content=held(A, AFTER).content, real=f"{ROOT}/other.txt")
    scene.give(ev.FileRead(read.token, disk, ev.SAME))
    left = {each["reason"] for each in scene.reply(ticket)["left"]}
    assert left == {"the file is a symbolic link now"}
    assert writes_of(scene) == []
