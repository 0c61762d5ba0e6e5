"""Turns are listed, and taken back: what the agent did goes, what came since stays."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kept_scene import Kept
from scene import ROOT, A, B

from acpls import effects as ef
from acpls import events as ev
from acpls.session import updates as up
from acpls.text import uris

BEFORE = "one\ntwo\nthree\nfour\nfive\n"
AFTER = "one\n2\nthree\n4\nfive\n"
URI, URI_B = uris.from_path(A), uris.from_path(B)
PATCH = f"--- {A}\n+++ {A}\n@@ -2,1 +2,1 @@\n-2\n+two\n@@ -4,1 +4,1 @@\n-4\n+four\n"


def started(**manner: Any) -> Kept:
    scene = Kept(**manner)
    scene.has(A, BEFORE)
    scene.session()
    return scene


def edited(*, opened: bool = False, **manner: Any) -> Kept:
    """A session changed two lines of a file in a turn."""
    scene = started(**manner)
    if opened:
        scene.buffer(A)
    scene.turn((A, AFTER), title="Use digits\nplease")
    scene.seen.clear()
    return scene


def restored(scene: Kept, number: int = 0, **arguments: Any) -> Any:
    """Take a turn back, the newest one or one before, and let it be carried out."""
    listed = scene.result("checkpoint.list")
    key = listed[number]["checkpoint"]
    ticket = scene.command("checkpoint.restore", checkpoint=key, **arguments)
    scene.settles()
    scene.is_over()
    assert scene.state.restores == {}
    return scene.reply(ticket)


def touched(scene: Kept) -> list[type]:
    """What was done to files and documents."""
    kinds = (ef.WriteFile, ef.EditBuffer, ef.SaveDocument, ef.ChangeFile)
    return [type(effect) for effect in scene.seen if isinstance(effect, kinds)]


# --- listing -----------------------------------------------------------------------------


def test_turns_that_changed_files_are_listed_newest_first() -> None:
    scene = edited()
    scene.turn((B, "new\n"), (A, None), title="Go on")
    scene.turn(title="Say something")
    listed = scene.result("checkpoint.list")
    assert listed[1]["at"] == "1970-01-01T00:16:40Z"
    assert listed[0]["at"] > listed[1]["at"]
    assert [(c["session"], c["title"]) for c in listed] == [("s1", "Go on"), ("s1", "Use digits")]
    assert listed[0]["files"] == [
        {"uri": URI, "operation": "delete"},
        {"uri": URI_B, "operation": "add"},
    ]
    assert listed[1]["files"] == [{"uri": URI, "operation": "modify"}]


def test_the_turns_of_one_session_are_listed() -> None:
    scene = edited()
    other = scene.session("other")
    scene.give(ev.CommandGiven("acpls.session.prompt", {"session": other, "text": "Me, too"}))
    scene.works("other")
    scene.puts(B, "b\n")
    scene.notices(B)
    scene.ends(native="other")
    assert [c["title"] for c in scene.result("checkpoint.list", session=other)] == ["Me, too"]
    assert [c["title"] for c in scene.result("checkpoint.list", session="s1")] == ["Use digits"]
    assert len(scene.result("checkpoint.list")) == 2


def test_a_turn_whose_end_was_not_seen_has_no_time() -> None:
    scene = started()
    scene.agent_writes(B, "new\n")
    scene.turn((A, AFTER))
    listed = scene.result("checkpoint.list")
    assert ["at" in entry for entry in listed] == [True, False]


def test_what_is_not_there_cannot_be_restored() -> None:
    scene = edited()
    failure = scene.error("checkpoint.restore", checkpoint="k9")
    assert (failure.message, failure.field) == ("No checkpoint has the key 'k9'", "checkpoint")


def test_while_the_agent_is_at_work_nothing_is_restored() -> None:
    scene = edited()
    scene.prompts()
    key = scene.result("checkpoint.list")[0]["checkpoint"]
    for dry in (False, True):
        failure = scene.error("checkpoint.restore", checkpoint=key, dryRun=dry)
        assert failure.field == "checkpoint"
        assert "at work" in failure.message
    assert scene.disk[A] == AFTER


# --- files that are not open -------------------------------------------------------------


def test_a_turn_is_taken_back_and_leaves_the_review() -> None:
    scene = edited()
    assert len(scene.hunks()) == 2
    modified = {"uri": URI, "operation": "modify", "patch": PATCH}
    assert restored(scene) == {"files": [modified], "left": []}
    assert scene.disk[A] == BEFORE
    assert scene.state.ledger.changes() == []
    assert scene.result("checkpoint.list") == []


def test_d16_a_dry_run_answers_the_same_and_changes_nothing() -> None:
    scene = edited()
    scene.turn((B, "new\n"))
    scene.seen.clear()
    answer = restored(scene, 1, dryRun=True)
    assert touched(scene) == []
    assert scene.disk == {A: AFTER, B: "new\n"}
    assert len(scene.result("checkpoint.list")) == 2
    assert ef.ShowReview(A) not in scene.seen
    assert restored(scene, 1) == answer
    assert scene.disk == {A: BEFORE}
    assert [file["operation"] for file in answer["files"]] == ["modify", "delete"]


def test_d16_later_edits_of_the_user_stay() -> None:
    scene = edited()
    scene.puts(A, f"mine\n{AFTER}")
    answer = restored(scene)
    assert answer["left"] == []
    assert scene.disk[A] == f"mine\n{BEFORE}"
    assert scene.hunks() == []


def test_d16_what_the_user_wrote_into_is_left_unless_told_otherwise() -> None:
    scene = edited()
    scene.puts(A, AFTER.replace("2", "2, mine"))
    answer = restored(scene)
    assert answer["left"] == [{"uri": URI, "reason": "these lines have changed since"}]
    assert [file["operation"] for file in answer["files"]] == ["modify"]
    assert scene.disk[A] == BEFORE.replace("two", "2, mine")
    # What could not be taken back can still be, by force.
    answer = restored(scene, over=True)
    assert answer["left"] == []
    assert scene.disk[A] == BEFORE
    assert scene.result("checkpoint.list") == []


def test_d17_only_the_own_turns_of_a_session_are_taken_back() -> None:
    scene = edited()
    scene.session("other")
    scene.give(ev.CommandGiven("acpls.session.prompt", {"text": "Me, too"}))
    scene.works("other")
    scene.puts(A, f"{AFTER}six\n")
    scene.puts(B, "theirs\n")
    scene.notices(A, B)
    scene.ends(native="other")
    scene.settles()
    answer = restored(scene, 1)
    assert [file["uri"] for file in answer["files"]] == [URI]
    assert scene.disk == {A: f"{BEFORE}six\n", B: "theirs\n"}
    assert [hunk.author.session for hunk in scene.pending()] == ["s2"]


def test_later_turns_of_the_session_are_taken_back_too() -> None:
    scene = edited()
    scene.turn((A, AFTER.replace("4", "vier")))
    scene.turn((A, AFTER.replace("4", "quatre")))
    restored(scene, 1)
    assert scene.disk[A] == AFTER
    assert [c["title"] for c in scene.result("checkpoint.list")] == ["Use digits"]
    assert scene.hunks() == [("two\n", "2\n"), ("four\n", "4\n")]


def test_d38_files_come_back_with_their_modes_and_go() -> None:
    scene = started()
    scene.modes[A] = 0o755
    scene.notices(A)
    scene.turn((A, None), (B, "new\n"))
    answer = restored(scene)
    assert [(f["uri"], f["operation"]) for f in answer["files"]] == [
        (URI, "add"),
        (URI_B, "delete"),
    ]
    assert scene.disk == {A: BEFORE}
    (write,) = [effect for effect in scene.of(ef.WriteFile) if effect.path == A]
    assert write.form is not None
    assert write.form.mode == 0o755


def test_d16_an_added_file_with_something_of_the_users_stays() -> None:
    scene = started()
    scene.turn((B, "new\n"))
    scene.puts(B, "new\nmine\n")
    answer = restored(scene)
    reason = "it was added, and has changed since"
    assert answer == {"files": [], "left": [{"uri": URI_B, "reason": reason}]}
    assert scene.disk[B] == "new\nmine\n"
    restored(scene, over=True)
    assert B not in scene.disk


def test_a_text_that_is_not_stored_any_more_is_left() -> None:
    scene = edited()
    scene.store.clear()
    answer = restored(scene)
    reason = "its text is not stored any more"
    assert answer == {"files": [], "left": [{"uri": URI, "reason": reason}]}
    assert scene.disk[A] == AFTER


def test_a_file_that_cannot_be_read_is_left() -> None:
    scene = edited()
    scene.problems[A] = "cannot be read"
    for arguments in ({"dryRun": True}, {}):
        answer = restored(scene, **arguments)
        assert answer == {"files": [], "left": [{"uri": URI, "reason": "the file cannot be read"}]}


def test_a_turn_that_was_taken_back_by_hand_is_nothing_any_more() -> None:
    scene = edited()
    scene.puts(A, BEFORE)
    assert restored(scene) == {"files": [], "left": []}
    assert touched(scene) == []
    assert scene.result("checkpoint.list") == []


def test_d18_what_was_kept_is_taken_back_only_when_its_turn_is_named() -> None:
    scene = edited()
    scene.command("review.keep", hunk=scene.keys()[0])
    scene.settles()
    restored(scene)
    assert scene.disk[A] == BEFORE
    assert scene.hunks() == []


def test_a_file_that_changes_in_between_is_looked_at_again() -> None:
    scene = edited()
    key = scene.result("checkpoint.list")[0]["checkpoint"]
    scene.holds = {ef.WriteFile}
    ticket = scene.command("checkpoint.restore", checkpoint=key)
    scene.puts(A, f"mine\n{AFTER}")
    scene.holds.clear()
    scene.settles()
    assert scene.reply(ticket)["left"] == []
    assert scene.disk[A] == f"mine\n{BEFORE}"


def test_a_file_that_does_not_hold_still_is_left() -> None:
    scene = edited()
    key = scene.result("checkpoint.list")[0]["checkpoint"]
    scene.holds = {ef.WriteFile}
    ticket = scene.command("checkpoint.restore", checkpoint=key)
    for number in range(3):
        scene.puts(A, f"{number}\n{AFTER}")
        scene.let(ef.WriteFile)
        scene.passes(1)
    scene.holds.clear()
    scene.settles()
    reason = "the file has changed on disk"
    assert scene.reply(ticket) == {"files": [], "left": [{"uri": URI, "reason": reason}]}
    assert scene.of(ef.TellUser)[-1].message == f"Cannot restore a file: {reason}"
    assert scene.disk[A] == f"2\n{AFTER}"


def test_a_turn_with_nothing_left_to_take_back_answers_at_once() -> None:
    scene = edited()
    (key,) = [entry["checkpoint"] for entry in scene.result("checkpoint.list")]
    scene.holds = {ef.ReadStored}
    first = scene.command("checkpoint.restore", checkpoint=key)
    second = scene.command("checkpoint.restore", checkpoint=key)
    scene.holds.clear()
    scene.settles()
    assert len(scene.reply(first)["files"]) == 1
    assert scene.reply(second) == {"files": [], "left": []}


# --- files that are open -----------------------------------------------------------------


@pytest.mark.parametrize("save", [False, True])
def test_a_clean_document_and_its_file_are_set_back(save: bool) -> None:
    scene = edited(opened=True, ready=ev.EditorReady((ROOT,), save=save))
    assert scene.text(A) == AFTER
    answer = restored(scene)
    assert answer["files"] == [{"uri": URI, "operation": "modify", "patch": PATCH}]
    assert (scene.text(A), scene.disk[A]) == (BEFORE, BEFORE)
    assert (ef.SaveDocument in touched(scene)) == save
    assert scene.state.ledger.changes() == []
    assert scene.result("checkpoint.list") == []


def test_unsaved_lines_stay_in_the_document_and_are_not_saved() -> None:
    scene = edited(opened=True)
    scene.types(A, 0, "mine\n")
    restored(scene)
    assert scene.text(A) == f"mine\n{BEFORE}"
    assert scene.disk[A] == BEFORE


def test_unsaved_lines_in_the_way_leave_those_lines_as_they_are() -> None:
    scene = edited(opened=True)
    scene.replaces(A, "2", "2, mine")
    for arguments in ({"dryRun": True}, {}):
        answer = restored(scene, **arguments)
        assert [left["uri"] for left in answer["left"]] == [URI]
        assert len(answer["files"]) == 1
    assert scene.text(A) == BEFORE.replace("two", "2, mine")
    assert scene.disk[A] == BEFORE.replace("two", "2")
    restored(scene, over=True)
    assert scene.text(A) == scene.disk[A] == BEFORE


def test_an_open_document_of_an_added_file_goes_with_the_file() -> None:
    scene = started(ready=ev.EditorReady((ROOT,), deletes=True))
    scene.turn((B, "new\n"))
    scene.buffer(B)
    key = scene.result("checkpoint.list")[0]["checkpoint"]
    ticket = scene.command("checkpoint.restore", checkpoint=key)
    (asked,) = scene.of(ef.ChangeFile)
    scene.puts(B, None)
    scene.closes(B)
    scene.give(ev.EditApplied(asked.number))
    scene.settles()
    assert [file["operation"] for file in scene.reply(ticket)["files"]] == ["delete"]
    assert scene.state.ledger.changes() == []


def test_a_document_whose_editor_does_not_edit_is_left() -> None:
    scene = edited(opened=True)
    scene.manner = "refuses"
    answer = restored(scene)
    assert len(answer["left"]) == 1
    assert answer["files"] == []
    assert scene.disk[A] == AFTER
    assert len(scene.result("checkpoint.list")) == 1


def test_a_prompt_that_began_with_nothing_has_no_title() -> None:
    scene = started()
    scene.tells(up.TurnChanged("running"))
    scene.puts(A, AFTER)
    scene.notices(A)
    scene.tells(up.TurnChanged("idle", "end_turn"))
    assert [c["title"] for c in scene.result("checkpoint.list")] == [""]


# --- anything ----------------------------------------------------------------------------

OPS = st.lists(
    st.tuples(st.sampled_from(["s1", "s2", "user", "typing", "back"]), st.integers(0, 7)),
    max_size=8,
)


@settings(max_examples=40, deadline=None)
@given(OPS, st.booleans())
def test_d16_d17_whatever_happens_only_the_turns_own_lines_go(
    ops: list[tuple[str, int]], opened: bool
) -> None:
    scene = started()
    scene.session("other")
    if opened:
        scene.buffer(A)
    wrote: dict[str, list[str]] = {}
    for number, (who, at) in enumerate(ops):
        lines = scene.disk[A].splitlines(keepends=True)
        line = f"{who} {number}\n"
        if who == "back":
            listed = scene.result("checkpoint.list")
            if listed:
                key = listed[at % len(listed)]["checkpoint"]
                undone(scene, key, wrote)
        elif who == "typing" and opened:
            row = min(at, len(scene.text(A).splitlines()))
            scene.types(A, row, line)
        elif who in {"s1", "s2"}:
            lines.insert(min(at, len(lines)), line)
            native = {"s1": "native", "s2": "other"}[who]
            scene.turn((A, "".join(lines)), title=line.strip(), native=native)
            wrote.setdefault(who, []).append(line)
        else:
            lines.insert(min(at, len(lines)), line)
            scene.puts(A, "".join(lines))
            scene.notices(A)
        scene.settles()
    for number, (who, _) in enumerate(ops):
        line = f"{who} {number}\n"
        if who == "user" or (who == "typing" and not opened):
            assert line in scene.disk[A]
        if who == "typing" and opened:
            assert line in scene.text(A)
    for line in [line for lines in wrote.values() for line in lines]:
        assert line in scene.disk[A]


def undone(scene: Kept, key: str, wrote: dict[str, list[str]]) -> None:
    """Take a turn back; its lines and those of the session's later turns are not expected."""
    of = next(c for c in scene.result("checkpoint.list") if c["checkpoint"] == key)
    dry = scene.command("checkpoint.restore", checkpoint=key, dryRun=True)
    scene.settles()
    ticket = scene.command("checkpoint.restore", checkpoint=key)
    scene.settles()
    scene.is_over()
    answer = scene.reply(ticket)
    assert scene.reply(dry) == answer
    own = wrote[of["session"]]
    first = own.index(f"{of['title']}\n")
    gone, wrote[of["session"]] = own[first:], own[:first]
    if not answer["left"]:
        assert not any(line in scene.disk[A] for line in gone)
