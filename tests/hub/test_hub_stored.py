"""The review and the checkpoints survive a restart, bound to hashes (D20)."""

from __future__ import annotations

from typing import Any

import pytest
from kept_scene import Kept
from scene import AGENT, NATIVE, ROOT, A, B, at_head

from acpls import effects as ef
from acpls import events as ev
from acpls.hub import verdicts
from acpls.hub.stored import DELAY_S
from acpls.hub.tokens import LoadedReview, Look
from acpls.review import stored
from acpls.review.records import STALE
from acpls.session import updates as up
from acpls.session.content import FileChange, Patch
from acpls.text import uris

BEFORE = "one\ntwo\nthree\nfour\nfive\n"
AFTER = "one\n2\nthree\n4\nfive\n"
URI, URI_B = uris.from_path(A), uris.from_path(B)
THEM = f"{AGENT}/{NATIVE}"


def edited(**manner: Any) -> Kept:
    """A session changed two lines of a file in a turn; the server ends in a moment."""
    scene = Kept(**manner)
    scene.has(A, BEFORE)
    scene.session()
    scene.turn((A, AFTER), title="Use digits")
    return scene


def verdict(scene: Kept, which: str, **arguments: Any) -> Any:
    ticket = scene.command(f"review.{which}", **arguments)
    scene.settles()
    scene.is_over()
    return scene.reply(ticket)


def listed(scene: Kept) -> list[tuple[str, str, str | None]]:
    """The changes that are told: where, how they stand, and whose they are."""
    return [(c["uri"], c["state"], c.get("session")) for c in scene.result("review.list")]


# --- storing -----------------------------------------------------------------------------


def test_what_was_stored_is_asked_for_once() -> None:
    scene = Kept()
    assert scene.of(ef.LoadReview) == [ef.LoadReview(LoadedReview(), (ROOT,))]
    scene.give(scene.ready)
    assert len(scene.of(ef.LoadReview)) == 1


def test_without_folders_there_is_nothing_to_be_stored_for() -> None:
    scene = Kept(ready=ev.EditorReady(()))
    assert scene.of(ef.LoadReview) == []
    scene.give(ev.FileNoticed(scene.look(A), ev.FIRST))
    assert scene.of(ef.StoreReview) == []


def test_the_review_is_stored_in_a_moment_and_when_a_turn_ends_at_once() -> None:
    scene = Kept()
    scene.has(A, BEFORE)
    scene.session()
    scene.prompts()
    for text in (AFTER, f"{AFTER}six\n"):
        scene.puts(A, text)
        scene.notices(A)
    scene.passes(DELAY_S / 2)
    assert scene.of(ef.StoreReview) == []
    scene.passes(DELAY_S / 2)
    (store,) = scene.of(ef.StoreReview)
    assert store.roots == (ROOT,)
    assert [change["path"] for change in store.value["changes"]] == [A]
    scene.seen.clear()
    scene.puts(B, "new\n")
    scene.notices(B)
    scene.ends()
    (store,) = scene.of(ef.StoreReview)
    assert [change["path"] for change in store.value["changes"]] == [A, B]
    assert [turn["at"] for turn in store.value["checkpoints"]] == [scene.now_s]


def test_d20_what_is_left_when_the_editor_goes_is_stored_at_once() -> None:
    scene = Kept()
    scene.has(A, BEFORE)
    scene.session()
    scene.prompts()
    scene.lands(A, AFTER)
    scene.give(ev.EditorLeft())
    (store,) = scene.of(ef.StoreReview)
    assert [change["path"] for change in store.value["changes"]] == [A]


def test_d20_what_was_decided_is_stored_at_once() -> None:
    """D20: or it would wait again if the server ended the next moment."""
    scene = edited()
    scene.seen.clear()
    scene.result("review.keep", all=True)
    (store,) = scene.of(ef.StoreReview)
    assert store.value["changes"] == []


def test_what_is_the_same_is_not_stored_again() -> None:
    scene = edited()
    scene.seen.clear()
    scene.give(ev.FileRead(Look(), scene.look(A), ev.SAME))
    scene.buffer(A)
    scene.saves(A)
    scene.settles()
    assert scene.of(ef.StoreReview) == []


def test_a_review_that_is_over_is_removed() -> None:
    scene = edited()
    key = scene.result("checkpoint.list")[0]["checkpoint"]
    scene.command("checkpoint.restore", checkpoint=key)
    scene.settles()
    assert scene.of(ef.StoreReview)[-1] == ef.StoreReview((ROOT,), None)
    assert scene.shelf == {}


def test_nothing_is_stored_before_what_was_stored_is_loaded() -> None:
    scene = edited()
    later = Kept(holds={ef.LoadReview}, store=scene.store, shelf=scene.shelf)
    later.disk = {A: AFTER, B: "b\n"}
    later.session("another")
    later.works("another")
    later.puts(B, "new\n")
    later.notices(B)
    later.tells(up.TurnChanged("idle", "end_turn"), "another")
    later.passes(DELAY_S)
    assert later.of(ef.StoreReview) == []
    later.let(ef.LoadReview)
    assert [uri for uri, state, _ in listed(later) if state == "pending"] == [URI_B, URI]
    assert [change["path"] for change in later.stored["changes"]] == [B, A]
    assert [c["title"] for c in later.result("checkpoint.list")] == ["", "Use digits"]


# --- a restart ---------------------------------------------------------------------------


def test_after_a_restart_all_is_pending_as_before() -> None:
    scene = edited().again()
    assert scene.of(ef.WatchFiles) == [ef.WatchFiles((ROOT,))]
    assert scene.hunks() == [("two\n", "2\n"), ("four\n", "4\n")]
    assert listed(scene) == [(URI, "pending", THEM)]
    (change,) = scene.result("review.list", session=THEM)
    assert change["before"] == "store"
    first = scene.keys()[0]
    assert verdict(scene, "reject", hunk=first) == {"hunks": 1, "left": []}
    assert scene.disk[A] == AFTER.replace("2", "two")
    assert verdict(scene, "reject", session=THEM) == {"hunks": 1, "left": []}
    assert scene.disk[A] == BEFORE


def test_after_a_restart_a_turn_is_taken_back() -> None:
    scene = edited().again()
    (checkpoint,) = scene.result("checkpoint.list", session=THEM)
    assert (checkpoint["session"], checkpoint["title"]) == (THEM, "Use digits")
    assert "at" in checkpoint
    ticket = scene.command("checkpoint.restore", checkpoint=checkpoint["checkpoint"])
    scene.settles()
    assert scene.reply(ticket)["left"] == []
    assert scene.disk[A] == BEFORE
    assert scene.result("review.list") == []


def test_a_second_restart_is_like_the_first() -> None:
    first = edited().again()
    second = first.again()
    assert second.hunks() == first.hunks()
    assert second.stored == first.stored


def test_a_turn_that_was_cut_off_is_a_checkpoint_as_well() -> None:
    scene = Kept()
    scene.has(A, BEFORE)
    scene.session()
    scene.prompts("Use digits")
    scene.puts(A, AFTER)
    scene.notices(A)
    scene.passes(DELAY_S)
    (checkpoint,) = scene.again().result("checkpoint.list")
    assert checkpoint["title"] == "Use digits"
    assert "at" not in checkpoint


def test_d20_a_file_that_has_changed_since_can_be_compared_and_kept_only() -> None:
    now = f"newer\n{AFTER}"
    scene = edited().again(a=now)
    assert listed(scene) == [(URI, "stale", THEM)]
    (change,) = scene.result("review.list")
    assert change["reason"] == STALE
    sides = scene.result("review.diff", uri=URI)
    assert (sides["base"], sides["current"]) == (BEFORE, now)
    assert sides["patch"].count("@@ -") == 3
    (key,) = scene.keys()
    assert verdict(scene, "reject", uri=URI)["left"] == [{"hunk": key, "reason": STALE}]
    assert scene.disk[A] == now
    assert verdict(scene, "keep", uri=URI) == {"hunks": 1, "left": []}
    assert listed(scene) == []
    assert scene.again().result("review.list") == []


def test_while_something_is_pending_files_are_watched_though_no_session_is_open() -> None:
    scene = edited()
    scene.command("session.close")
    scene.dies()
    assert ef.WatchFiles(()) not in scene.seen
    verdict(scene, "keep", all=True)
    scene.session("next")
    scene.dies("gone")
    assert scene.of(ef.WatchFiles)[-1] == ef.WatchFiles(())


def test_d20_a_file_that_is_gone_has_changed_since() -> None:
    scene = edited().again(a=None)
    assert listed(scene) == [(URI, "stale", THEM)]
    verdict(scene, "reject", uri=URI)
    assert A not in scene.disk


def test_d20_what_has_changed_is_pending_again_when_it_is_as_it_was() -> None:
    scene = edited().again(a="other\n")
    assert listed(scene) == [(URI, "stale", THEM)]
    scene = scene.again(a=AFTER)
    assert scene.hunks() == [("two\n", "2\n"), ("four\n", "4\n")]


def test_d20_what_is_compared_is_the_file_as_it_is_by_now() -> None:
    scene = edited().again(a="other\n")
    scene.puts(A, "newer\n")
    scene.notices(A)
    assert scene.result("review.diff", uri=URI)["current"] == "newer\n"
    scene.seen.clear()
    scene.puts(A, BEFORE)
    scene.notices(A)
    assert ef.ShowReview(A) in scene.seen
    assert listed(scene) == []


def test_d20_what_the_agent_changes_then_is_a_change_of_its_own() -> None:
    scene = edited().again(a="other\n")
    scene.session("new")
    scene.turn((A, "another\n"), native="new")
    assert sorted(listed(scene)) == [(URI, "pending", "s1"), (URI, "stale", THEM)]
    verdict(scene, "reject", session="s1")
    assert scene.disk[A] == "other\n"
    assert listed(scene) == [(URI, "stale", THEM)]


def test_a_file_that_cannot_be_read_is_not_taken_back() -> None:
    scene = edited()
    later = Kept(holds={ef.LoadReview}, store=scene.store, shelf=scene.shelf)
    later.problems[A] = "cannot be read"
    later.holds.clear()
    later.let()
    assert listed(later) == [(URI, "stale", THEM)]


def test_a_file_that_is_as_it_was_before_has_no_change() -> None:
    assert edited().again(a=BEFORE).result("review.list") == []


def test_texts_of_which_there_are_hashes_only_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored._Room, "has_for", lambda *_: False)
    scene = edited()
    (change,) = scene.stored["changes"]
    assert "text" not in change["base"]
    later = scene.again()
    assert [len(effect.wanted) for effect in later.of(ef.ReadStored)] == [1]
    verdict(later, "reject", uri=URI)
    assert later.disk[A] == BEFORE


def test_texts_that_are_gone_cannot_be_brought_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored._Room, "has_for", lambda *_: False)
    scene = edited()
    scene.store.clear()
    later = scene.again()
    (change,) = later.result("review.list")
    assert change["before"] == "unknown"
    assert len(verdict(later, "reject", uri=URI)["left"]) == 1
    assert later.disk[A] == AFTER


@pytest.mark.parametrize("value", ["null", "[]", '{"version": 99, "changes": [{}]}'])
def test_what_cannot_be_read_is_nothing_and_is_not_written_over(value: str) -> None:
    scene = Kept(holds={ef.LoadReview})
    scene.shelf[ROOT,] = value
    scene.let()
    scene.settles()
    assert scene.result("review.list") == []
    assert scene.shelf == {(ROOT,): value}


def test_files_of_sessions_elsewhere_are_looked_at_too() -> None:
    scene = Kept()
    there = "/elsewhere/c.txt"
    scene.session(cwd="/elsewhere")
    scene.prompts()
    scene.puts(there, "new\n")
    disk = scene.look(there, ("/elsewhere",))
    scene.give(ev.FileNoticed(disk, ev.Earlier("store", ev.Disk(there, None))))
    scene.ends()
    later = scene.again()
    assert [(uri, state) for uri, state, _ in listed(later)] == [(uris.from_path(there), "pending")]
    assert later.stored["folders"] == [ROOT, "/elsewhere"]


def test_files_are_called_as_the_editor_calls_them() -> None:
    scene = Kept()
    scene.state.paths.learn_roots([ROOT], ["/real"])
    scene.session()
    scene.prompts()
    there = ev.Disk("/real/a.txt", AFTER, content="a" * 64)
    scene.give(ev.FileNoticed(there, ev.Earlier("store", scene.look(A))))
    scene.ends()
    scene.settles()
    later = scene.again()
    assert [uri for uri, _, _ in listed(later)] == [URI]


def test_what_was_one_change_with_a_move_is_shown_anew() -> None:
    scene = moved()
    scene.seen.clear()
    scene.puts(A, "mine\n")
    scene.notices(A)
    assert {effect.path for effect in scene.of(ef.ShowReview)} == {A, B}
    assert [c["operation"] for c in scene.result("review.list")] == ["add"]


# --- sessions of the earlier run ---------------------------------------------------------


def test_a_session_that_is_opened_again_has_its_changes_again() -> None:
    scene = edited().again(b="b\n")
    key = scene.session()
    assert listed(scene) == [(URI, "pending", key)]
    assert [c["session"] for c in scene.result("checkpoint.list")] == [key]
    assert scene.error("review.list", session=THEM).field == "session"
    scene.turn((A, AFTER.replace("five", "5")))
    assert {hunk.author.session for hunk in scene.pending()} == {key}
    assert verdict(scene, "reject", session=key)["left"] == []
    assert scene.disk[A] == BEFORE
    assert {change["author"][0] for change in scene.stored["changes"]} <= {AGENT}


def test_a_session_that_is_open_when_all_is_loaded_has_its_changes() -> None:
    scene = edited()
    later = Kept(holds={ef.LoadReview}, store=scene.store, shelf=scene.shelf)
    later.disk = {A: AFTER}
    key = later.session()
    later.let()
    later.settles()
    assert listed(later) == [(URI, "pending", key)]
    assert [c["session"] for c in later.result("checkpoint.list")] == [key]


def test_a_session_that_is_opened_while_files_are_read_has_its_changes() -> None:
    scene = edited()
    later = Kept(holds={ef.LoadReview}, store=scene.store, shelf=scene.shelf)
    later.disk = {A: AFTER}
    later.holds = {ef.ReadFile}
    later.let()
    key = later.session()
    later.holds.clear()
    later.settles()
    assert listed(later) == [(URI, "pending", key)]


def test_what_is_stale_is_adopted_as_well() -> None:
    scene = edited().again(a="other\n")
    key = scene.session()
    assert listed(scene) == [(URI, "stale", key)]
    later = scene.again(a=AFTER)
    assert listed(later) == [(URI, "pending", THEM)]


def test_another_session_adopts_nothing() -> None:
    scene = edited().again()
    scene.session("other")
    assert listed(scene) == [(URI, "pending", THEM)]


# --- moves -------------------------------------------------------------------------------


def moved(**manner: Any) -> Kept:
    """An agent moved a file in a turn."""
    scene = Kept(**manner)
    scene.has(A, BEFORE)
    scene.modes[A] = 0o755
    scene.session()
    scene.turn((A, None), (B, BEFORE), title="Move it")
    return scene


@pytest.mark.parametrize("restarts", [False, True])
def test_d38_a_move_is_one_change_and_goes_back_with_its_mode(restarts: bool) -> None:
    scene = moved()
    if restarts:
        scene = scene.again()
    (change,) = scene.result("review.list")
    assert (change["operation"], change["uri"], change["oldUri"]) == ("move", URI_B, URI)
    assert [hunk["whole"] for hunk in change["hunks"]] == [True]
    scene.seen.clear()
    assert verdict(scene, "reject", uri=URI_B)["left"] == []
    assert scene.disk == {A: BEFORE}
    writes = [(w.path, w.text, w.form and w.form.mode) for w in scene.of(ef.WriteFile)]
    assert writes[0] == (A, BEFORE, 0o755)
    assert writes[1][:2] == (B, None)
    assert scene.result("review.list") == []


def test_a_hunk_of_a_moved_file_is_rejected_where_the_file_is() -> None:
    scene = moved()
    scene.turn((B, BEFORE.replace("two", "2")))
    (key,) = scene.keys(B)
    assert verdict(scene, "reject", hunk=key) == {"hunks": 1, "left": []}
    assert scene.disk == {B: BEFORE}
    (change,) = scene.result("review.list")
    assert change["operation"] == "move"
    (key,) = scene.keys(B)
    verdict(scene, "reject", hunk=key)
    assert scene.disk == {A: BEFORE}


def test_a_kept_move_is_over() -> None:
    scene = moved()
    scene.turn((B, BEFORE.replace("two", "2")))
    (key,) = scene.keys(B)
    verdict(scene, "keep", hunk=key)
    assert [c["operation"] for c in scene.result("review.list")] == ["move"]
    verdict(scene, "keep", all=True)
    assert scene.state.ledger.changes() == []
    assert scene.state.ledger.files == {}
    assert scene.disk == {B: BEFORE.replace("two", "2")}


def test_d16_a_file_that_cannot_go_back_stays_where_it_is() -> None:
    scene = moved()
    scene.holds = {ef.WriteFile}
    ticket = scene.command("review.reject", uri=URI_B)
    scene.puts(A, "mine\n")
    scene.holds.clear()
    scene.settles()
    answer = scene.reply(ticket)
    assert scene.disk == {A: "mine\n", B: BEFORE}
    assert answer["hunks"] == 0
    assert answer["left"][1]["reason"] == verdicts.NOT_BACK
    assert [c["operation"] for c in scene.result("review.list")] == ["add"]
    scene.is_over()


def test_d16_a_moved_file_that_the_user_wrote_into_stays_where_it_is() -> None:
    scene = moved()
    scene.turn((B, BEFORE.replace("two", "2").replace("five", "5")))
    scene.puts(B, BEFORE.replace("two", "2, mine").replace("five", "5"))
    scene.notices(B)
    answer = verdict(scene, "reject", uri=URI_B)
    assert [left["reason"] for left in answer["left"]] == ["you wrote into these lines"]
    assert scene.disk == {B: BEFORE.replace("two", "2, mine")}
    assert [c["operation"] for c in scene.result("review.list")] == ["move"]


def test_d20_a_moved_file_that_has_changed_since_leaves_a_deleted_one() -> None:
    scene = moved().again(b="other\n")
    found = {c["uri"]: (c["operation"], c["state"]) for c in scene.result("review.list")}
    assert found == {URI: ("delete", "pending"), URI_B: ("modify", "stale")}
    verdict(scene, "reject", all=True)
    assert scene.disk == {A: BEFORE, B: "other\n"}


def test_a_committed_move_is_over() -> None:
    scene = moved()
    scene.give(ev.HeadCompared(at_head(scene), frozenset((A, B))))
    assert scene.state.ledger.files == {}


def test_a_turn_that_moved_a_file_is_taken_back() -> None:
    scene = moved()
    (checkpoint,) = scene.result("checkpoint.list")
    scene.command("checkpoint.restore", checkpoint=checkpoint["checkpoint"])
    scene.settles()
    assert scene.disk == {A: BEFORE}
    assert scene.state.ledger.files == {}


def test_d38_a_move_that_is_told_of_and_a_copy() -> None:
    scene = Kept()
    c = f"{ROOT}/c.txt"
    scene.has(A, BEFORE)
    scene.has(c, "c\n")
    scene.session()
    scene.prompts()
    scene.puts(A, None)
    scene.puts(B, f"{BEFORE}six\n")
    scene.puts(f"{ROOT}/d.txt", "c\n")
    scene.tool_call(
        "call",
        Patch((FileChange("move", B, old_path=A), FileChange("copy", f"{ROOT}/d.txt", old_path=c))),
        status="completed",
    )
    scene.settles()
    found = {c["uri"]: (c["operation"], c["oldUri"]) for c in scene.result("review.list")}
    assert found == {
        URI_B: ("move", URI),
        uris.from_path(f"{ROOT}/d.txt"): ("copy", uris.from_path(c)),
    }
    assert scene.hunks(B) == [("", "six\n")]
