"""Files that were moved or copied: two changes that are told as one (D38)."""

from __future__ import annotations

import hashlib

import pytest

from acpls.events import Form
from acpls.review import moves
from acpls.review.change import WHOLE, Change
from acpls.review.composing import Author
from acpls.review.held import NO_FILE, UNKNOWN, Held
from acpls.review.ledger import Ledger

A, B, C = "/ws/old/a.txt", "/ws/new/a.txt", "/ws/c.txt"
ME, OTHER = Author("s1", "call"), Author("s2")
TEXT = "one\ntwo\nthree\n"
BINARY = Held(content="b" * 64, opaque="the file is binary")


def seen(text: str, mode: int | None = None) -> Held:
    return Held(text, Form(mode=mode), hashlib.sha256(text.encode()).hexdigest())


OLD = seen(TEXT, 0o755)


def wrote(
    ledger: Ledger, path: str, before: Held | None, now: Held, author: Author = ME
) -> list[str]:
    """An agent made this of a file, and it is seen whether that was one half of a move."""
    ledger.agent_wrote(path, before, now, author, "store")
    return ledger.pair(path)


def moved(now: Held = OLD, *, first: str = "gone") -> Ledger:
    """A file was moved; ``first`` is what was noticed first."""
    ledger = Ledger()
    if first == "gone":
        wrote(ledger, A, OLD, NO_FILE)
        wrote(ledger, B, NO_FILE, now)
    else:
        wrote(ledger, B, NO_FILE, now)
        wrote(ledger, A, OLD, NO_FILE)
    return ledger


def told(ledger: Ledger) -> list[tuple[str, str, str | None]]:
    """The changes that are listed: where, what, and where from."""
    return [(c.path, c.operation, c.moved_from or c.copied_from) for c in ledger.changes()]


def hunks(change: Change) -> list[tuple[str, str]]:
    return [("".join(p.hunk.old), "".join(p.hunk.new)) for p in change.hunks]


# --- what is a move ----------------------------------------------------------------------


@pytest.mark.parametrize("first", ["gone", "there"])
def test_d38_a_file_that_went_and_is_elsewhere_was_moved(first: str) -> None:
    ledger = moved(first=first)
    assert told(ledger) == [(B, "move", A)]
    (change,) = ledger.changes()
    assert [pending.hunk for pending in change.hunks] == [WHOLE]
    assert (change.base, change.target) == (OLD, OLD)
    assert [c.operation for c in ledger.at(A)] == ["delete"]
    assert [found[0].path for found in ledger.hunks()] == [B]


def test_both_paths_are_told_otherwise_then() -> None:
    ledger = Ledger()
    assert wrote(ledger, A, OLD, NO_FILE) == []
    assert wrote(ledger, B, NO_FILE, OLD) == [A, B]
    assert ledger.pair(C) == []


def test_bytes_are_moved_as_well() -> None:
    ledger = Ledger()
    wrote(ledger, A, BINARY, NO_FILE)
    wrote(ledger, B, NO_FILE, BINARY)
    assert told(ledger) == [(B, "move", A)]
    assert [pending.hunk for pending in ledger.files[B].hunks] == [WHOLE]


@pytest.mark.parametrize(
    ("old", "before", "now", "author"),
    [
        pytest.param(OLD, NO_FILE, seen("another\n"), ME, id="another text"),
        pytest.param(seen(""), NO_FILE, seen(""), ME, id="empty files are all alike"),
        pytest.param(OLD, seen("x\n"), OLD, ME, id="a file that was overwritten"),
        pytest.param(OLD, None, OLD, ME, id="a file of which nothing was known"),
        pytest.param(OLD, NO_FILE, OLD, OTHER, id="by another session"),
    ],
)
def test_what_is_no_move(old: Held, before: Held | None, now: Held, author: Author) -> None:
    ledger = Ledger()
    wrote(ledger, A, old, NO_FILE)
    assert wrote(ledger, B, before, now, author) == []
    assert sorted(path for path, _, _ in told(ledger)) == [B, A]
    assert ledger.files[A].operation == "delete"


def test_d38_an_emptied_file_is_not_a_deleted_one() -> None:
    ledger = Ledger()
    wrote(ledger, A, OLD, seen(""))
    assert told(ledger) == [(A, "modify", None)]


def test_only_what_happens_in_one_turn_is_a_move() -> None:
    ledger = Ledger()
    wrote(ledger, A, OLD, NO_FILE)
    ledger.halves.forget("s2")
    ledger.halves.forget("s1")
    assert wrote(ledger, B, NO_FILE, OLD) == []


def test_what_has_changed_since_is_no_half_any_more() -> None:
    ledger = Ledger()
    wrote(ledger, A, OLD, NO_FILE)
    ledger.others_wrote(A, OLD)
    assert wrote(ledger, B, NO_FILE, OLD) == []
    wrote(ledger, C, OLD, NO_FILE)
    assert told(ledger) == [(B, "move", C)]
    ledger = Ledger()
    wrote(ledger, B, NO_FILE, OLD)
    wrote(ledger, B, None, seen("x\n"))
    assert wrote(ledger, A, OLD, NO_FILE) == []
    wrote(ledger, A, None, seen("y\n"))
    assert wrote(ledger, C, NO_FILE, OLD) == []


def test_the_same_name_is_the_better_guess() -> None:
    ledger = Ledger()
    wrote(ledger, C, OLD, NO_FILE)
    wrote(ledger, A, OLD, NO_FILE)
    assert wrote(ledger, B, NO_FILE, OLD) == [A, B]
    assert wrote(ledger, "/ws/d.txt", NO_FILE, OLD) == [C, "/ws/d.txt"]


def test_a_file_has_gone_to_one_place_only() -> None:
    ledger = moved()
    assert wrote(ledger, C, NO_FILE, OLD) == []
    assert told(ledger) == [(B, "move", A), (C, "add", None)]


def test_a_file_that_was_added_and_moved_is_an_added_one() -> None:
    ledger = Ledger()
    wrote(ledger, A, NO_FILE, OLD)
    wrote(ledger, A, OLD, NO_FILE)
    wrote(ledger, B, NO_FILE, OLD)
    assert told(ledger) == [(B, "add", None)]


# --- what was edited before or after -----------------------------------------------------


def test_what_was_edited_before_the_move_comes_along_as_hunks() -> None:
    ledger = Ledger()
    wrote(ledger, A, OLD, seen(TEXT.replace("two", "2")), Author("s1", "earlier"))
    wrote(ledger, A, None, NO_FILE)
    wrote(ledger, B, NO_FILE, seen(TEXT.replace("two", "2")))
    change = ledger.files[B]
    assert told(ledger) == [(B, "move", A)]
    assert hunks(change) == [("two\n", "2\n")]
    assert change.hunks[0].author == Author("s1", "earlier")
    assert change.base == OLD


def test_what_is_edited_after_the_move_is_a_hunk_of_its_own() -> None:
    ledger = moved()
    wrote(ledger, B, None, seen(TEXT.replace("two", "2")))
    assert hunks(ledger.files[B]) == [("two\n", "2\n")]
    assert told(ledger) == [(B, "move", A)]
    wrote(ledger, B, None, OLD)
    assert [pending.hunk for pending in ledger.files[B].hunks] == [WHOLE]


def test_a_single_hunk_is_rejected_at_the_new_place() -> None:
    ledger = moved()
    wrote(ledger, B, None, seen(TEXT.replace("two", "2")))
    change = ledger.files[B]
    assert change.rejected(change.hunks).text == TEXT
    ledger.reject(change, change.hunks)
    assert told(ledger) == [(B, "move", A)]
    assert [pending.hunk for pending in change.hunks] == [WHOLE]


def test_a_single_hunk_is_kept_and_the_move_waits_still() -> None:
    ledger = moved()
    wrote(ledger, B, None, seen(TEXT.replace("two", "2")))
    change = ledger.files[B]
    ledger.keep(change, change.hunks)
    assert [pending.hunk for pending in change.hunks] == [WHOLE]
    ledger.keep(change, change.hunks, whole=True)
    assert ledger.files == {}


def test_a_part_of_the_hunks_is_not_the_whole_of_a_move() -> None:
    ledger = moved()
    wrote(ledger, B, None, seen("1\ntwo\n3\n"))
    change = ledger.files[B]
    ledger.keep(change, change.hunks[:1], whole=True)
    assert told(ledger) == [(B, "move", A)]
    assert hunks(change) == [("three\n", "3\n")]


# --- what an agent says ------------------------------------------------------------------


@pytest.mark.parametrize("before", [NO_FILE, None])
def test_an_agent_that_says_so_has_moved_what_it_edited(before: Held | None) -> None:
    ledger = Ledger()
    wrote(ledger, A, OLD, NO_FILE)
    wrote(ledger, B, before, seen(f"{TEXT}four\n"))
    assert ledger.pair_as_said(A, B) == [A, B]
    assert told(ledger) == [(B, "move", A)]
    assert hunks(ledger.files[B]) == [("", "four\n")]
    assert ledger.pair_as_said(A, B) == []


@pytest.mark.parametrize("missing", [A, B])
def test_what_an_agent_says_is_not_enough(missing: str) -> None:
    ledger = Ledger()
    if missing != A:
        wrote(ledger, A, OLD, NO_FILE)
    if missing != B:
        wrote(ledger, B, NO_FILE, OLD)
    assert ledger.pair_as_said(A, B) == []


def test_a_file_that_is_there_still_was_not_moved() -> None:
    ledger = Ledger()
    wrote(ledger, A, OLD, seen("x\n"))
    wrote(ledger, B, NO_FILE, OLD)
    assert ledger.pair_as_said(A, B) == []


def test_d38_an_agent_that_says_so_has_copied() -> None:
    ledger = Ledger()
    assert ledger.pair_as_said(A, B, copied=True) == []
    wrote(ledger, B, NO_FILE, OLD)
    assert ledger.pair_as_said(A, B, copied=True) == [B]
    assert told(ledger) == [(B, "copy", A)]
    assert ledger.files[B].rejected(ledger.files[B].hunks) == NO_FILE
    assert ledger.pair_as_said(A, B, copied=True) == []


def test_what_was_there_before_is_no_copy() -> None:
    ledger = Ledger()
    wrote(ledger, A, OLD, seen("x\n"))
    assert ledger.pair_as_said(C, A, copied=True) == []
    wrote(ledger, A, None, NO_FILE)
    assert ledger.pair_as_said(C, A, copied=True) == []


def test_a_copy_whose_source_goes_was_a_move() -> None:
    ledger = Ledger()
    wrote(ledger, B, NO_FILE, OLD)
    ledger.pair_as_said(A, B, copied=True)
    wrote(ledger, A, OLD, NO_FILE)
    assert told(ledger) == [(B, "move", A)]


def test_what_could_not_be_placed_is_told_where_the_file_is() -> None:
    ledger = Ledger()
    wrote(ledger, A, OLD, NO_FILE)
    ledger.unplaced(A, "it fits nowhere", ME)
    wrote(ledger, B, NO_FILE, OLD)
    assert [(c.path, c.reasons) for c in ledger.changes()] == [(B, {"call": "it fits nowhere"})]


# --- the end of a move -------------------------------------------------------------------


def test_d38_taken_back_as_a_whole_a_file_is_where_it_was_with_its_mode() -> None:
    ledger = moved()
    departure = ledger.send_back(ledger.files[B])
    assert departure is ledger.files[A]
    assert told(ledger) == [(A, "delete", None), (B, "add", None)]
    assert departure.rejected(departure.hunks) == OLD
    arrival = ledger.files[B]
    assert arrival.rejected(arrival.hunks) == NO_FILE
    assert not any(pending.shared for pending in arrival.hunks)
    assert ledger.send_back(arrival) is None


def test_d16_what_the_user_wrote_goes_back_with_the_file() -> None:
    ledger = moved()
    wrote(ledger, B, None, seen(f"1\n{TEXT}"))
    ledger.others_wrote(B, seen(f"1\n{TEXT}mine\n"))
    departure = ledger.send_back(ledger.files[B])
    assert departure is not None
    back = departure.rejected(departure.hunks)
    assert (back.text, back.form) == (f"{TEXT}mine\n", OLD.form)
    assert not any(pending.shared for pending in ledger.files[B].hunks)


def test_what_the_user_wrote_into_is_not_taken_back_as_a_whole() -> None:
    ledger = moved()
    wrote(ledger, B, None, seen("one\n2\nthree\n"))
    ledger.others_wrote(B, seen("one\n2, mine\nthree\n"))
    assert ledger.send_back(ledger.files[B]) is None
    assert told(ledger) == [(B, "move", A)]


def test_what_nobody_knows_is_not_sent_back() -> None:
    ledger = Ledger()
    wrote(ledger, A, None, NO_FILE)
    wrote(ledger, B, NO_FILE, OLD)
    assert ledger.pair_as_said(A, B) == [A, B]
    assert ledger.files[B].base is UNKNOWN
    assert ledger.send_back(ledger.files[B]) is None


def test_a_file_that_is_moved_on_was_moved_from_where_it_was_first() -> None:
    ledger = moved()
    edited = seen(f"{TEXT}four\n")
    wrote(ledger, B, None, edited)
    ledger.agent_wrote(B, None, NO_FILE, ME, "store")
    assert told(ledger) == [(A, "delete", None)]
    assert ledger.pair(B) == ledger.pair(A) == []
    assert wrote(ledger, C, NO_FILE, edited) == [A, C]
    assert told(ledger) == [(C, "move", A)]
    assert hunks(ledger.files[C]) == [("", "four\n")]


def test_a_file_that_is_moved_back_was_never_moved() -> None:
    ledger = moved()
    ledger.agent_wrote(B, None, NO_FILE, ME, "store")
    ledger.agent_wrote(A, None, OLD, ME, "store")
    assert ledger.files == {}


def test_a_file_that_is_at_both_places_was_not_moved() -> None:
    ledger = moved()
    ledger.agent_wrote(A, None, OLD, ME, "store")
    assert told(ledger) == [(B, "add", None)]
    assert ledger.files[B].rejected(ledger.files[B].hunks) == NO_FILE
    assert not ledger.files[B].hunks[0].shared


def test_the_user_makes_a_file_at_the_old_place() -> None:
    ledger = moved()
    ledger.others_wrote(A, seen("mine\n"))
    assert told(ledger) == [(B, "add", None)]


def test_the_user_removes_the_file_at_the_new_place() -> None:
    ledger = moved()
    ledger.others_wrote(B, NO_FILE)
    assert told(ledger) == [(A, "delete", None)]
    ledger.others_wrote(A, OLD)
    assert ledger.files == {}


def test_a_departure_whose_arrival_is_unknown_is_none() -> None:
    ledger = moved()
    del ledger.files[B]
    ledger.agent_wrote(A, None, seen("x\n"), ME, "store")
    assert told(ledger) == [(A, "modify", None)]


def test_an_arrival_whose_departure_is_unknown_is_the_users_as_well() -> None:
    ledger = moved()
    del ledger.files[A]
    ledger.agent_wrote(B, None, NO_FILE, ME, "store")
    assert ledger.files == {}


# --- what was loaded ---------------------------------------------------------------------


def mended(ledger: Ledger) -> list[str]:
    return moves.mend(ledger.files, lambda: ledger.key("h"))


def test_halves_of_a_move_that_fit_stay_one() -> None:
    ledger = moved()
    assert mended(ledger) == []
    assert told(ledger) == [(B, "move", A)]


def test_an_arrival_alone_is_a_new_file() -> None:
    ledger = moved()
    del ledger.files[A]
    assert mended(ledger) == [B]
    assert told(ledger) == [(B, "add", None)]
    assert ledger.files[B].hunks[0].shared


def test_a_departure_alone_is_a_deleted_file() -> None:
    ledger = moved()
    del ledger.files[B]
    assert mended(ledger) == [A]
    assert told(ledger) == [(A, "delete", None)]


def test_halves_that_do_not_fit_are_none() -> None:
    ledger = moved()
    ledger.files[A].moved_to = C
    assert mended(ledger) == [A, B]
    assert sorted(told(ledger)) == sorted([(A, "delete", None), (B, "add", None)])
    ledger = moved()
    ledger.files[B].moved_from = None
    assert mended(ledger) == [A]
