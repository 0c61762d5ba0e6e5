"""Checkpoints: what turns did is noted, and taken back with later edits left alone."""

from __future__ import annotations

import hashlib
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acpls.events import Form
from acpls.review.change import WHOLE
from acpls.review.checkpoints import (
    GONE,
    MOST,
    Checkpoints,
    Outcome,
    Step,
    bare_texts,
    without,
)
from acpls.review.composing import Author, made
from acpls.review.held import NO_FILE, UNKNOWN, Held, of_text
from acpls.review.ledger import Ledger
from acpls.text.lines import split_lines

P = "/ws/a.txt"
BINARY = Held(content="b" * 64, opaque="the file is binary")
OTHER_BINARY = Held(content="c" * 64, opaque="the file is binary")


def seen(text: str, mode: int | None = None) -> Held:
    """A text that was seen in a file."""
    return Held(text, Form(mode=mode), hashlib.sha256(text.encode()).hexdigest())


def noted(*pairs: tuple[Held | None, Held]) -> Checkpoints:
    """One turn that did this to a file."""
    checkpoints = Checkpoints()
    for before, after in pairs:
        checkpoints.note("s1", P, before, after)
    checkpoints.close("s1", 5.0)
    return checkpoints


def taken_back(now: Held, *steps: Step, over: bool = False) -> Outcome:
    """What becomes of a file when these steps, newest first, are taken back; all is stored."""
    texts: dict[str, str] = {}
    for step in steps:
        for held in (step.before, step.after):
            if held is not None and held.text is not None and held.content is not None:
                texts[held.content] = held.text
    bare = [Step(step.before and step.before.bare(), step.after.bare()) for step in steps]
    return without(bare, now, texts, over=over)


# --- noting ------------------------------------------------------------------------------


def test_what_one_turn_did_to_a_file_is_one_step() -> None:
    checkpoints = noted((of_text("1"), of_text("2")), (of_text("2"), of_text("3")))
    (checkpoint,) = checkpoints.all
    assert (checkpoint.key, checkpoint.session, checkpoint.at_s) == ("k1", "s1", 5.0)
    assert checkpoint.steps == {P: (Step(of_text("1"), of_text("3")),)}
    assert checkpoints.open == {}


def test_d16_what_the_user_did_in_between_is_in_no_step() -> None:
    checkpoints = noted((of_text("1"), of_text("2")), (of_text("mine"), of_text("3")))
    steps = (Step(of_text("1"), of_text("2")), Step(of_text("mine"), of_text("3")))
    assert checkpoints.all[0].steps == {P: steps}


def test_what_was_before_may_be_unknown() -> None:
    checkpoints = noted((None, of_text("2")), (None, of_text("3")))
    assert checkpoints.all[0].steps == {P: (Step(None, of_text("2")), Step(None, of_text("3")))}


@pytest.mark.parametrize("before", [of_text("1"), NO_FILE])
def test_what_a_turn_undoes_itself_is_no_step(before: Held) -> None:
    assert noted((before, of_text("2")), (of_text("2"), before)).all == []


def test_what_is_no_sessions_own_is_in_no_checkpoint() -> None:
    checkpoints = Checkpoints()
    checkpoints.note("", P, of_text("1"), of_text("2"))
    assert checkpoints == Checkpoints()


def test_a_turn_has_a_title_and_one_that_changed_nothing_is_not_kept() -> None:
    checkpoints = Checkpoints()
    checkpoints.begin("s1", "Do it")
    checkpoints.close("s1", 1.0)
    checkpoints.begin("s1", "Do it again")
    checkpoints.note("s1", P, of_text("1"), of_text("2"))
    checkpoints.close("s1", 2.0)
    checkpoints.close("s1", 3.0)
    assert [(c.title, c.at_s) for c in checkpoints.all] == [("Do it again", 2.0)]


def test_what_happened_outside_of_a_turn_has_a_checkpoint_of_its_own() -> None:
    checkpoints = Checkpoints()
    checkpoints.note("s1", P, of_text("1"), of_text("2"))
    checkpoints.begin("s1", "Go on")
    checkpoints.note("s1", P, of_text("2"), of_text("3"))
    checkpoints.close("s1", 2.0)
    assert [(c.title, c.at_s) for c in checkpoints.all] == [("", None), ("Go on", 2.0)]


def test_of_a_turn_that_is_over_hashes_are_kept_and_texts_where_there_are_none() -> None:
    checkpoints = noted((seen("1", 0o755), of_text("2")), (of_text("mine"), BINARY))
    before = Held(None, Form(mode=0o755), seen("1").content)
    steps = checkpoints.all[0].steps[P]
    assert steps == (Step(before, of_text("2")), Step(of_text("mine"), BINARY))
    assert before.is_bare
    assert not before.is_missing
    assert bare_texts(steps) == [before]
    assert bare_texts([Step(None, BINARY)]) == []


def test_what_is_read_again_is_known_by_its_bytes_from_then_on() -> None:
    checkpoints = Checkpoints()
    checkpoints.begin("s2", "nothing")
    checkpoints.note("s1", P, of_text("1"), of_text("2"))
    checkpoints.note("s1", P, of_text("mine"), Held("3", Form(mode=0o755)))
    checkpoints.seen("/another", seen("3"))
    checkpoints.seen(P, seen("x"))
    assert checkpoints.open["s1"].steps[P][-1].after.content is None
    checkpoints.seen(P, seen("3"))
    checkpoints.seen(P, seen("3", 0o644))
    steps = (Step(of_text("1"), of_text("2")), Step(of_text("mine"), seen("3")))
    assert checkpoints.open["s1"].steps == {P: steps}


def test_the_oldest_go() -> None:
    checkpoints = Checkpoints()
    for number in range(MOST + 2):
        checkpoints.note("s1", P, of_text(str(number)), of_text(str(number + 1)))
        checkpoints.close("s1", float(number))
    assert [c.at_s for c in checkpoints.all] == [float(n) for n in range(2, MOST + 2)]


@pytest.mark.parametrize(
    ("steps", "operation"),
    [
        ([(NO_FILE, of_text("1"))], "add"),
        ([(of_text("1"), NO_FILE)], "delete"),
        ([(of_text("1"), of_text(""))], "modify"),
        ([(None, of_text("1"))], "modify"),
        ([(NO_FILE, of_text("1")), (of_text("2"), NO_FILE)], "delete"),
    ],
)
def test_what_a_turn_did_to_a_file_has_a_name(
    steps: list[tuple[Held | None, Held]], operation: str
) -> None:
    assert noted(*steps).all[0].operation(P) == operation


# --- finding -----------------------------------------------------------------------------


def three_turns() -> Checkpoints:
    """Two sessions that take turns at a file, and one turn that is under way."""
    checkpoints = Checkpoints()
    for number, session in enumerate(("s1", "s2", "s1")):
        checkpoints.note(session, P, of_text(str(number)), of_text(str(number + 1)))
        checkpoints.close(session, float(number))
    checkpoints.note("s1", P, of_text("3"), of_text("4"))
    return checkpoints


def test_checkpoints_are_listed_newest_first() -> None:
    checkpoints = three_turns()
    assert [c.at_s for c in checkpoints.newest()] == [2.0, 1.0, 0.0]
    assert [c.at_s for c in checkpoints.newest("s1")] == [2.0, 0.0]
    assert checkpoints.newest("s3") == []


def test_d17_what_is_taken_back_is_the_sessions_own_and_newest_first() -> None:
    checkpoints = three_turns()
    first = checkpoints.find(checkpoints.all[0].key)
    assert first is checkpoints.all[0]
    assert checkpoints.find("k9") is None
    texts = [(s.before and s.before.text, s.after.text) for s in checkpoints.since(first)[P]]
    assert texts == [("3", "4"), ("2", "3"), ("0", "1")]


def test_what_was_taken_back_is_forgotten() -> None:
    checkpoints = three_turns()
    first, second, _ = checkpoints.all
    checkpoints.taken_back(first, P)
    assert checkpoints.all == [second]
    assert checkpoints.since(first) == {}
    assert checkpoints.open["s1"].steps == {}


def test_what_is_of_an_earlier_run_comes_before_and_can_be_adopted() -> None:
    earlier, checkpoints = three_turns(), three_turns()
    for checkpoint in earlier.all:
        checkpoint.session = f"demo/{checkpoint.session}"
    checkpoints.loaded(earlier.all)
    assert len({c.key for c in checkpoints.all}) == 6
    assert [c.session for c in checkpoints.all[:3]] == ["demo/s1", "demo/s2", "demo/s1"]
    checkpoints.adopt("demo/s1", "s1")
    assert [c.session for c in checkpoints.all[:3]] == ["s1", "demo/s2", "s1"]
    assert len(checkpoints.since(checkpoints.all[0])[P]) == 5


# --- taking back -------------------------------------------------------------------------

TEXT = "one\ntwo\nthree\nfour\nfive\n"
EDITED = "one\n2\nthree\n4\nfive\n"


def test_a_file_that_is_as_the_turn_left_it_is_as_it_was_before() -> None:
    before = seen(TEXT, 0o755)
    assert taken_back(seen(EDITED), Step(before, seen(EDITED))) == Outcome(before)


def test_d16_later_edits_of_the_user_stay() -> None:
    now = seen(f"mine\n{EDITED}mine, too\n")
    outcome = taken_back(now, Step(seen(TEXT), seen(EDITED)))
    assert outcome == Outcome(Held(f"mine\n{TEXT}mine, too\n"))


def test_d17_what_another_session_did_meanwhile_stays() -> None:
    theirs = EDITED.replace("five", "5")
    steps = Step(seen(theirs), seen(theirs.replace("one", "1"))), Step(seen(TEXT), seen(EDITED))
    outcome = taken_back(seen(theirs.replace("one", "1")), *steps)
    assert outcome.held.text == TEXT.replace("five", "5")
    assert outcome.left == ()


def test_what_the_user_wrote_into_is_left_with_the_reason_and_the_rest_is_done() -> None:
    now = seen(EDITED.replace("4", "4, or more"))
    outcome = taken_back(now, Step(seen(TEXT), seen(EDITED)))
    assert outcome == Outcome(
        Held("one\ntwo\nthree\n4, or more\nfive\n"), ("these lines have changed since",)
    )


def test_what_can_be_taken_for_either_side_is_left() -> None:
    now = seen("new\nold\n")
    outcome = taken_back(now, Step(seen("old\n"), seen("new\n")))
    assert outcome == Outcome(now, ("the text around it is not the one it was made for",))


def test_one_of_many_equal_lines_comes_back() -> None:
    outcome = taken_back(seen("a\n\nb\nmine\n"), Step(seen("a\n\n\nb\n"), seen("a\n\nb\n")))
    assert outcome == Outcome(Held("a\n\n\nb\nmine\n"))


def test_a_file_that_is_as_it_was_already_is_left_alone() -> None:
    now = seen(TEXT)
    assert taken_back(now, Step(seen(TEXT), seen(EDITED))) == Outcome(now)


def test_lines_that_are_back_already_cost_nothing() -> None:
    now = seen(f"mine\n{TEXT}")
    assert taken_back(now, Step(seen(TEXT), seen(EDITED))) == Outcome(now)


def test_several_turns_are_taken_back_one_after_the_other() -> None:
    steps = [(str(n), str(n + 1)) for n in range(5)]
    back = [Step(seen(f"{a}\nx\n"), seen(f"{b}\nx\n")) for a, b in reversed(steps)]
    assert taken_back(seen("5\nx\ny\n"), *back).held.text == "0\nx\ny\n"


def test_an_added_file_goes_while_nothing_of_the_users_is_in_it() -> None:
    step = Step(NO_FILE, seen("new\n"))
    assert taken_back(seen("new\n"), step) == Outcome(NO_FILE)
    now = seen("new\nmine\n")
    assert taken_back(now, step) == Outcome(now, ("it was added, and has changed since",))
    assert taken_back(now, step, over=True) == Outcome(NO_FILE)


def test_an_added_file_that_a_later_turn_changed_goes_too() -> None:
    steps = Step(seen("new\n"), seen("newer\n")), Step(NO_FILE, seen("new\n"))
    assert taken_back(seen("newer\n"), *steps) == Outcome(NO_FILE)


def test_an_added_file_that_is_gone_stays_gone() -> None:
    assert taken_back(NO_FILE, Step(NO_FILE, seen("new\n"))) == Outcome(NO_FILE)
    steps = Step(seen("new\n"), seen("newer\n")), Step(NO_FILE, seen("new\n"))
    assert taken_back(NO_FILE, *steps) == Outcome(NO_FILE, ("it is not there any more",))


def test_d38_a_deleted_file_comes_back_with_its_mode() -> None:
    before = seen("#!/bin/sh\n", 0o755)
    assert taken_back(NO_FILE, Step(before, NO_FILE)) == Outcome(before)
    other = seen("another\n")
    reason = "it was deleted, and is there again with another text"
    assert taken_back(other, Step(before, NO_FILE)) == Outcome(other, (reason,))
    assert taken_back(other, Step(before, NO_FILE), over=True) == Outcome(before)


def test_a_file_that_the_user_removed_is_not_made_again() -> None:
    outcome = taken_back(NO_FILE, Step(seen(TEXT), seen(EDITED)))
    assert outcome == Outcome(NO_FILE, ("it is not there any more",))


def test_bytes_come_back_while_they_are_the_turns() -> None:
    step = Step(BINARY, OTHER_BINARY)
    assert taken_back(OTHER_BINARY, step) == Outcome(BINARY)
    now = seen("text\n")
    reason = "it has changed since, and cannot be compared line by line"
    assert taken_back(now, step) == Outcome(now, (reason,))
    assert taken_back(BINARY, Step(seen("a\n"), seen("b\n"))) == Outcome(BINARY, (reason,))


@pytest.mark.parametrize("over", [False, True])
def test_what_nobody_knows_cannot_come_back(over: bool) -> None:
    now = seen("2")
    reason = UNKNOWN.opaque
    assert reason is not None
    assert taken_back(now, Step(None, now), over=over) == Outcome(now, (reason,))


def test_where_the_text_is_gone_there_is_a_reason() -> None:
    before, after = seen("1\n"), seen("2\n")
    step = Step(before.bare(), after.bare())
    assert without([step], after, {}) == Outcome(after, (GONE,))
    # That it was taken back already can be told by the hash.
    assert without([step], before, {}) == Outcome(before)
    now, texts = seen("mine\n2\n"), {before.content or "": "1\n"}
    assert without([step], now, texts) == Outcome(now, (GONE,))
    assert without([step], after, texts) == Outcome(before)


def test_what_came_later_is_overruled_when_the_user_says_so() -> None:
    steps = Step(seen("2\n"), seen("3\n")), Step(seen("1\n"), seen("2\n"))
    assert taken_back(seen("all mine\n"), *steps, over=True) == Outcome(seen("1\n"))


LINES = st.lists(st.sampled_from("abcdefgh"), max_size=12)


@given(st.lists(LINES, min_size=2, max_size=5))
def test_without_later_edits_any_turns_are_taken_back_to_the_byte(turns: list[list[str]]) -> None:
    texts = [seen("".join(f"{line}\n" for line in lines)) for lines in turns]
    steps = [Step(b, a) for b, a in pairwise(texts) if b != a]
    steps.reverse()
    outcome = taken_back(texts[-1], *steps)
    assert outcome == Outcome(texts[0] if steps else texts[-1])


@given(LINES, LINES, st.lists(st.integers(0, 12), max_size=3))
def test_d16_no_line_of_the_users_is_ever_lost(
    old: list[str], new: list[str], places: list[int]
) -> None:
    before, after = ("".join(f"{line}\n" for line in lines) for lines in (old, new))
    mine = list(new)
    for number, place in enumerate(places):
        mine.insert(min(place, len(mine)), f"mine {number}")
    now = "".join(f"{line}\n" for line in mine)
    held = taken_back(seen(now), Step(seen(before), seen(after))).held.text or ""
    for number in range(len(places)):
        assert f"mine {number}\n" in held


# --- in the ledger -----------------------------------------------------------------------

ME, OTHER = Author("s1"), Author("s2")


def reviewed(*turns: tuple[Author, str], base: Held | None = None) -> Ledger:
    """Sessions wrote a file one after the other."""
    ledger = Ledger()
    before = seen(TEXT) if base is None else base
    for author, text in turns:
        ledger.agent_wrote(P, before, seen(text), author, "store")
        before = seen(text)
    return ledger


def pending(ledger: Ledger) -> list[tuple[str, str, str]]:
    """What is pending: old lines, new lines, and whose that is."""
    return [("".join(p.hunk.old), "".join(p.hunk.new), p.author.session) for _, p in ledger.hunks()]


def test_what_is_as_last_reviewed_again_leaves_the_ledger() -> None:
    ledger = reviewed((ME, EDITED))
    ledger.set_back(P, seen(TEXT))
    assert ledger == Ledger(_keys=ledger._keys)
    ledger.set_back(P, seen("x\n"))
    assert ledger.changes() == []


def test_what_is_not_taken_back_stays_the_same_hunk() -> None:
    ledger = reviewed((ME, EDITED))
    first, second = (p.key for _, p in ledger.hunks())
    ledger.set_back(P, seen(EDITED.replace("2", "two")))
    assert pending(ledger) == [("four\n", "4\n", "s1")]
    assert [p.key for _, p in ledger.hunks()] == [second] != [first]
    change = ledger.files[P]
    assert change.rejected(change.hunks).text == TEXT


def test_what_goes_back_to_an_earlier_turn_is_pending_as_it_was_then() -> None:
    ledger = reviewed((ME, EDITED), (ME, EDITED.replace("2", "zwei")))
    ledger.set_back(P, seen(EDITED))
    assert pending(ledger) == [("two\n", "2\n", "s1"), ("four\n", "4\n", "s1")]


def test_d18_what_was_kept_and_is_taken_back_at_the_users_word_is_reviewed() -> None:
    ledger = reviewed((ME, EDITED))
    change = ledger.files[P]
    ledger.keep(change, change.hunks[:1])
    ledger.set_back(P, seen(EDITED.replace("2", "two")))
    assert pending(ledger) == [("four\n", "4\n", "s1")]
    assert change.base.text == TEXT


def test_a_deleted_line_that_comes_back_is_in_the_file_once() -> None:
    ledger = reviewed((ME, TEXT.replace("three\n", "")))
    ledger.set_back(P, seen(TEXT))
    assert ledger.changes() == []


def test_d17_the_hunks_of_others_stay_theirs() -> None:
    ledger = reviewed((ME, EDITED), (OTHER, f"{EDITED}six\n"))
    ledger.set_back(P, seen(f"{TEXT}six\n"))
    assert pending(ledger) == [("", "six\n", "s2")]


def test_what_several_sessions_did_to_the_same_lines_is_nobodys_own() -> None:
    ledger = reviewed((ME, EDITED.replace("three", "3")), (OTHER, "1\n2\n3\n4\n5\n"))
    before = pending(ledger)
    ledger.set_back(P, seen("1\n2\n3\nfour, nearly\n5\n"))
    after = pending(ledger)
    assert [whose for _, _, whose in before] == [""]
    assert [whose for _, _, whose in after] == [""]


def test_lines_that_the_user_wrote_into_are_shared_still() -> None:
    ledger = reviewed((ME, EDITED))
    ledger.others_wrote(P, seen(EDITED.replace("2", "2, mine")))
    ledger.set_back(P, seen(EDITED.replace("2", "2, too")))
    assert [p.shared for _, p in ledger.hunks()] == [True, False]


@pytest.mark.parametrize(
    ("base", "text", "now", "operation"),
    [
        (NO_FILE, "new\n", "newer\n", "add"),
        (TEXT, None, EDITED, "modify"),
        (TEXT, EDITED, None, "delete"),
    ],
)
def test_files_that_come_and_go_are_compared_with_what_was_reviewed(
    base: str | Held, text: str | None, now: str | None, operation: str
) -> None:
    ledger = Ledger()
    before = seen(base) if isinstance(base, str) else base
    held, to_be = (NO_FILE if at is None else seen(at) for at in (text, now))
    ledger.agent_wrote(P, before, held, ME, "store")
    ledger.set_back(P, to_be)
    (change,) = ledger.changes()
    assert (change.operation, change.target) == (operation, to_be)
    assert change.rejected(change.hunks) == before
    ledger.set_back(P, before)
    assert ledger.changes() == []


@given(LINES, LINES, LINES, st.booleans())
def test_the_base_with_its_hunks_is_the_file_whatever_was_set_back(
    base: list[str], agents: list[str], now: list[str], keeps: bool
) -> None:
    old, new, back = ("".join(f"{line}\n" for line in lines) for lines in (base, agents, now))
    ledger = reviewed((ME, new), base=seen(old))
    change = ledger.files.get(P)
    if change is None:
        return
    if keeps:
        ledger.keep(change, change.hunks[:1])
    ledger.set_back(P, seen(back))
    for change in ledger.changes():
        hunks = [p.hunk for p in change.hunks if p.hunk != WHOLE]
        assert made(split_lines(change.base.text or ""), hunks) == split_lines(back)
