"""A change of one file: its base moves, and with its hunks it is always the target."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acpls.events import Form
from acpls.review.change import WHOLE, Change
from acpls.review.composing import NOBODY, Author, ended, made
from acpls.review.held import NO_FILE, UNKNOWN, Held, of_text
from acpls.text.diff import apply, diff
from acpls.text.lines import split_lines

if TYPE_CHECKING:
    from collections.abc import Callable

ONE, TWO = Author("s1", "c1"), Author("s2", "c2")
BASE = "a\nb\nc\nd\ne\n"
BINARY = Held(content="b1", opaque="the file is binary")
OTHER = Held(content="b2", opaque="the file is binary")
MARKED = Held(BASE, Form(bom=True), "marked")


def naming() -> Callable[[], str]:
    numbers = count(1)
    return lambda: f"h{next(numbers)}"


KEYS = naming()


def change(base: Held | str | None, target: Held | str | None, author: Author = ONE) -> Change:
    base, target = (of_text(x) if isinstance(x, str | None) else x for x in (base, target))
    made = Change("c1", "/ws/a.txt", author, base, target, "store")
    made.begin(author, KEYS)
    return made


def shown(of: Change) -> list[tuple[str, str]]:
    return [("".join(p.hunk.old), "".join(p.hunk.new)) for p in of.hunks]


def holds(of: Change) -> None:
    """The invariant."""
    lines = split_lines(of.base.text or "")
    assert "".join(made(lines, [p.hunk for p in of.hunks])) == (of.target.text or "")


# --- what it is ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("base", "target", "operation"),
    [
        (None, "", "add"),
        ("a\n", None, "delete"),
        ("a\n", "", "modify"),
        (BINARY, None, "delete"),
        (None, BINARY, "add"),
        (UNKNOWN, None, "delete"),
        (UNKNOWN, UNKNOWN, "modify"),
    ],
)
def test_d38_a_file_that_is_emptied_is_not_one_that_goes(
    base: Held | str | None, target: Held | str | None, operation: str
) -> None:
    assert change(base, target).operation == operation


def test_d38_a_file_that_was_elsewhere_before_has_moved() -> None:
    moved = change("a\n", "a\nb\n")
    moved.moved_from = "/ws/old.txt"
    assert moved.operation == "move"


def test_hunks_are_found_by_key_and_by_session() -> None:
    both = change(BASE, BASE.replace("b", "B"))
    both.agent_wrote(of_text(BASE.replace("b", "B").replace("d", "D")), TWO, KEYS)
    first, second = both.hunks
    assert (both.find(first.key), both.find("h0")) == (first, None)
    assert (both.of("s1"), both.of("s2"), both.of(None)) == ((first,), (second,), both.hunks)
    assert both.chosen([second.key, "h0"]) == (second,)


@pytest.mark.parametrize(
    ("base", "target"),
    [(None, ""), ("", None), (BINARY, OTHER), (BINARY, ""), (MARKED, BASE), (UNKNOWN, "a\n")],
)
def test_a_difference_that_no_line_shows_is_one_whole(
    base: Held | str | None, target: Held | str | None
) -> None:
    whole = change(base, target)
    (hunk,) = whole.hunks
    assert (hunk.hunk, hunk.author) == (WHOLE, ONE)
    assert whole.rejected(whole.hunks) is whole.base
    whole.keep(whole.hunks)
    assert whole.base is whole.target
    assert whole.hunks == ()


def test_why_it_is_one_whole_and_why_it_cannot_be_taken_back() -> None:
    assert change(BASE, BINARY).opaque == change(BINARY, BASE).opaque == "the file is binary"
    assert change(BASE, "x\n").opaque is None
    assert change(BINARY, BASE).unknown is None
    assert change(UNKNOWN, BASE).unknown == "the text before it is not known"


# --- agents ------------------------------------------------------------------------------------


def test_an_agent_goes_on() -> None:
    mine = change(BASE, BASE.replace("b", "B"))
    (first,) = mine.hunks
    known = BASE.replace("b", "B").replace("e", "E")
    mine.agent_wrote(of_text(known), TWO, KEYS, diff(mine.target.text or "", known))
    assert shown(mine) == [("b\n", "B\n"), ("e\n", "E\n")]
    assert (mine.hunks[0], mine.author) == (first, TWO)
    mine.agent_wrote(of_text(BASE), TWO, KEYS)
    assert mine.hunks == ()


def test_a_mark_that_comes_and_goes_is_a_change_while_it_is_there() -> None:
    """D30"""
    marked = change(BASE, MARKED)
    marked.agent_wrote(Held(f"x\n{BASE}", MARKED.form), ONE, KEYS)
    assert shown(marked) == [("", "x\n")]
    marked.agent_wrote(of_text(BASE), ONE, KEYS)
    assert marked.hunks == ()


def test_a_text_that_becomes_binary_and_text_again_keeps_its_base() -> None:
    turned = change(BASE, BINARY)
    turned.agent_wrote(OTHER, ONE, KEYS)
    assert [p.author for p in turned.hunks] == [ONE]
    turned.agent_wrote(of_text(BASE.replace("b", "B")), ONE, KEYS)
    assert shown(turned) == [("b\n", "B\n")]
    turned.agent_wrote(BINARY, TWO, KEYS)
    assert [(p.hunk, p.author) for p in turned.hunks] == [(WHOLE, NOBODY)]
    turned.agent_wrote(of_text(BASE), TWO, KEYS)
    assert turned.hunks == ()


def test_a_tool_call_that_turns_up_later_is_the_author_of_what_its_session_did() -> None:
    nameless = change(BASE, BASE.replace("b", "B"), Author("s1"))
    nameless.agent_wrote(of_text(BASE.replace("b", "B").replace("d", "D")), TWO, KEYS)
    nameless.attribute(ONE)
    assert [p.author for p in nameless.hunks] == [ONE, TWO]
    assert nameless.author == TWO
    # Who has a name already keeps it.
    nameless.attribute(Author("s2", "c9"))
    assert [p.author for p in nameless.hunks] == [ONE, TWO]
    later = change(BASE, BASE.replace("b", "B"), Author("s1"))
    later.attribute(ONE)
    assert later.author == ONE


# --- a base that is not known ---------------------------------------------------------------


def test_d17_a_base_that_becomes_known_shows_the_lines_and_no_other_author() -> None:
    late = change(UNKNOWN, BASE.replace("b", "B"))
    late.agent_wrote(of_text(BASE.replace("b", "B2")), TWO, KEYS)
    late.learn_base(of_text(BASE), "claim", KEYS)
    assert (late.source, late.unknown, shown(late)) == ("claim", None, [("b\n", "B2\n")])
    assert late.hunks[0].author == NOBODY


def test_what_the_user_does_to_a_file_without_a_base_leaves_it_to_be_kept() -> None:
    late = change(UNKNOWN, BASE)
    late.others_wrote(of_text(f"{BASE}mine\n"), KEYS)
    assert ([p.hunk for p in late.hunks], late.target.text) == ([WHOLE], f"{BASE}mine\n")
    late.others_wrote(NO_FILE, KEYS)
    assert (late.hunks, late.base) == ((), NO_FILE)


# --- the user -----------------------------------------------------------------------------------


def test_what_the_user_does_beside_is_in_base_and_target() -> None:
    mine = change(BASE, BASE.replace("b", "B"))
    mine.others_wrote(of_text(f"mine\n{BASE}".replace("b", "B")), KEYS)
    assert (mine.base.text, mine.target.text) == (f"mine\n{BASE}", "mine\na\nB\nc\nd\ne\n")
    assert mine.rejected(mine.hunks).text == f"mine\n{BASE}"
    assert not mine.hunks[0].shared


def test_what_the_user_does_inside_is_shared() -> None:
    mine = change(BASE, BASE.replace("b", "B"))
    now = of_text(BASE.replace("b", "B, mine"))
    mine.others_wrote(now, KEYS, diff(mine.target.text or "", now.text or ""))
    assert (shown(mine), mine.base.text) == ([("b\n", "B, mine\n")], BASE)
    assert mine.hunks[0].shared


def test_a_change_that_the_user_takes_back_is_over() -> None:
    mine = change(BASE, BASE.replace("b", "B"))
    now = Held(BASE, content="seen")
    mine.others_wrote(now, KEYS)
    assert (mine.hunks, mine.base) == ((), now)


@pytest.mark.parametrize(
    ("base", "target", "now"),
    [
        # What has come or gone by the user's hand, or is no text any more, is settled by it.
        (BASE, None, of_text("mine\n")),
        (BASE, f"{BASE}f\n", NO_FILE),
        (BASE, f"{BASE}f\n", BINARY),
        (BINARY, BASE, of_text(f"{BASE}mine\n")),
        (None, OTHER, BINARY),
    ],
)
def test_a_file_that_the_user_makes_anew_is_the_users(
    base: Held | str | None, target: Held | str | None, now: Held
) -> None:
    mine = change(base, target)
    mine.others_wrote(now, KEYS)
    assert (mine.base, mine.target, mine.hunks) == (now, now, ())


def test_a_new_file_in_which_the_user_writes_is_the_users_file() -> None:
    """What remains when the agent's part is rejected is no reason to remove it."""
    new = change(None, "a\nb\n")
    new.others_wrote(of_text("a\nb\nmine\n"), KEYS)
    assert new.rejected(new.hunks).text == "mine\n"


def test_lines_of_the_users_stay_beside_a_mark_that_waits() -> None:
    """D30: the mark is no line, and so it goes with the user's text."""
    marked = change(BASE, MARKED)
    marked.others_wrote(Held(f"mine\n{BASE}", MARKED.form), KEYS)
    assert (marked.hunks, marked.base) == ((), marked.target)


def test_a_save_of_what_goes_back_to_an_earlier_text_overwrites_the_rest() -> None:
    mine = change(BASE, BASE.replace("b", "B"))
    (first,) = mine.hunks
    mine.agent_wrote(of_text(BASE.replace("b", "B").replace("d", "D")), ONE, KEYS)
    mine.go_back("a text that it never held\n")
    assert len(mine.hunks) == 2
    mine.go_back(BASE.replace("b", "B"))
    assert [p.key for p in mine.hunks] == [first.key]
    assert mine.target.text == BASE.replace("b", "B")
    holds(mine)
    binary = change(BASE, BINARY)
    binary.go_back(BASE)
    assert binary.target == BINARY


# --- where lines meet that were apart -----------------------------------------------------------


def test_d25_a_last_line_without_an_ending_gets_one_when_the_user_goes_on_below() -> None:
    """The agent ended it, too; without that the user's line would be a part of it."""
    last = change("a\nb", "a\nB\n")
    last.others_wrote(of_text("a\nB\nmine\n"), KEYS)
    assert (shown(last), last.base.text) == ([("b\n", "B\n")], "a\nb\nmine\n")
    holds(last)
    # What the file held before is forgotten: it counted other lines.
    assert last.hunks_in("a\nB\n") is None
    last.agent_wrote(of_text("A\nB\nmine\n"), ONE, KEYS)
    assert last.rejected(last.hunks).text == "a\nb\nmine\n"


def test_d25_a_line_that_ends_a_text_and_not_the_other_is_in_no_two_places() -> None:
    """The agent emptied the file, and the user writes in it without an ending."""
    emptied = change("a\nb\n", "")
    emptied.others_wrote(of_text("mine"), KEYS)
    assert emptied.base.text == "mine\na\nb\n"
    assert shown(emptied) == [("mine\na\nb\n", "mine")]
    holds(emptied)


def test_d25_a_carriage_return_that_meets_a_line_feed_makes_one_hunk_of_all() -> None:
    """Two lines have become one in the base, and nobody can tell the hunks apart by lines."""
    meets = change("a\n\nb\nc\n", "a\nb\nC\n")
    assert len(meets.hunks) == 2
    first = meets.hunks[0].key
    meets.others_wrote(of_text("a\nx\rb\nC\n"), KEYS)
    assert meets.base.text == "a\nx\r\nb\nc\n"
    assert [p.key for p in meets.hunks] == [first]
    assert shown(meets) == [("x\r\nb\nc\n", "x\rb\nC\n")]
    holds(meets)


# --- verdicts -------------------------------------------------------------------------------------


def test_one_of_two_is_kept_and_the_other_rejected() -> None:
    target = BASE.replace("b", "B1\nB2").replace("d", "D")
    two = change(BASE, target)
    first, second = two.hunks
    two.keep([first])
    assert (two.base.text, two.target.text) == (BASE.replace("b", "B1\nB2"), target)
    (rest,) = two.hunks
    assert (rest.key, rest.hunk.start) == (second.key, 4)
    two.reject([rest])
    assert two.base == two.target
    two.keep([])
    assert two.base.text == BASE.replace("b", "B1\nB2")


def test_a_text_made_of_another_has_its_form_and_was_seen_by_nobody() -> None:
    """D32"""
    wide = Form("utf-16-le", bom=True)
    two = change(Held(BASE, wide, "1"), Held(BASE.replace("b", "B").replace("d", "D"), wide, "2"))
    first, second = two.hunks
    assert two.rejected([first]) == Held(BASE.replace("d", "D"), wide)
    two.keep([second])
    assert two.base == Held(BASE.replace("d", "D"), wide)
    # What was seen on disk since is known better.
    seen = Held(BASE.replace("d", "D"), wide, "3")
    two.reject([first], seen)
    assert (two.target, two.hunks) == (seen, ())


def test_d18_what_was_kept_is_in_no_later_hunk() -> None:
    mine = change(BASE, BASE.replace("b", "B"))
    mine.keep(mine.hunks)
    mine.agent_wrote(of_text(BASE.replace("b", "B").replace("d", "D")), ONE, KEYS)
    assert mine.rejected(mine.hunks).text == BASE.replace("b", "B")


lines = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "\n", "a\r\n", "b\r", "d"]), max_size=14)
texts = lines.map("".join)


@settings(max_examples=120, deadline=None)
@given(texts, texts, st.data())
def test_d19_verdicts_in_any_order_give_the_chosen_set(
    base: str, target: str, data: st.DataObject
) -> None:
    given_ = change(base, target)
    hunks = diff(base, target)
    assert [pending.hunk for pending in given_.hunks] == list(hunks)
    kept = [hunk for hunk in hunks if data.draw(st.booleans())]
    names = {pending.key: hunk for pending, hunk in zip(given_.hunks, hunks, strict=True)}
    order = data.draw(st.permutations(list(names)))
    while order:
        some, order = order[: (size := data.draw(st.integers(1, len(order))))], order[size:]
        given_.keep([p for p in given_.hunks if p.key in some and names[p.key] in kept])
        given_.reject([p for p in given_.hunks if p.key in some and names[p.key] not in kept])
        # The others are still there under their keys, as they were.
        assert [p.key for p in given_.hunks] == [key for key in names if key in order]
        assert all(
            (p.hunk.old, p.hunk.new) == (h.old, h.new) for p in given_.hunks for h in [names[p.key]]
        )
        holds(given_)
    assert given_.base.text == given_.target.text == apply(base, kept)


@settings(max_examples=120, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["s1", "s2", "u"]), texts), max_size=5), st.data())
def test_d19_so_they_do_after_whatever_was_done_before(
    steps: list[tuple[str, str]], data: st.DataObject
) -> None:
    """Rejecting all that is not shared leaves nothing of the agents' but in what is shared."""
    mine = change("a\nb\nc\n", "a\nB\nc\n")
    for who, text in steps:
        if who == "u":
            mine.others_wrote(of_text(text), KEYS)
        else:
            mine.agent_wrote(of_text(text), Author(who), KEYS)
        holds(mine)
    base = split_lines(mine.base.text or "")
    kept = [p for p in mine.hunks if p.shared or data.draw(st.booleans())]
    wanted = "".join(ended(made(base, [p.hunk for p in kept])))
    for pending in data.draw(st.permutations(mine.hunks)):
        (now,) = mine.chosen([pending.key])
        (mine.keep if pending in kept else mine.reject)([now])
        holds(mine)
    assert mine.base.text == mine.target.text == wanted
