"""The review ledger: what waits for a verdict, and whose it is (D13, D17, D18, D19)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from acpls.review.ledger import Author, Ledger, ReviewedFile, ReviewHunk, Standing, Verdict
from acpls.text.diff import apply as apply_hunks
from acpls.text.diff import apply_edits, diff, edits_placed

if TYPE_CHECKING:
    from collections.abc import Sequence

PATH = "/w/a.py"
FS = Author("s1")
C1, C2 = Author("s1", "c1"), Author("s1", "c2")
OTHER = Author("s2", "c1")
BASE = "".join(f"line {n}\n" for n in range(1, 10))


def put(text: str, **lines: str) -> str:
    """The text with other lines: ``put(BASE, line3="x")``; empty for none."""
    for name, line in lines.items():
        old = f"{name[:4]} {name[4:]}\n"
        assert old in text
        text = text.replace(old, f"{line}\n" if line else "")
    return text


def reviewed(ledger: Ledger) -> ReviewedFile:
    return ledger.files[PATH]


def shown(ledger: Ledger) -> list[tuple[str, str, Author]]:
    """The pending hunks as old text, new text and author."""
    return [("".join(h.hunk.old), "".join(h.hunk.new), h.author) for h in reviewed(ledger).hunks]


def keys(ledger: Ledger) -> list[str]:
    return [hunk.key for hunk in reviewed(ledger).hunks]


def settle(ledger: Ledger, verdict: Verdict, *numbers: int) -> None:
    file = reviewed(ledger)
    chosen = [file.hunks[n] for n in numbers] if numbers else file.hunks
    ledger.settle(file, tuple(chosen), verdict)


# --- writes ------------------------------------------------------------------------------


def test_a_write_is_under_review() -> None:
    ledger = Ledger()
    ledger.written(PATH, BASE, put(BASE, line3="three", line7=""), C1)
    file = reviewed(ledger)
    assert (file.base, file.target, file.written) == (
        BASE,
        put(BASE, line3="three", line7=""),
        True,
    )
    assert file.operation == "modify"
    assert shown(ledger) == [("line 3\n", "three\n", C1), ("line 7\n", "", C1)]
    assert ledger.find(keys(ledger)[1]) == (file, file.hunks[1])
    assert ledger.find("h99") is None
    assert ledger.pending() == [file]


def test_a_second_write_is_measured_from_the_same_base() -> None:
    ledger = Ledger()
    one = put(BASE, line3="three")
    ledger.written(PATH, BASE, one, C1)
    (key,) = keys(ledger)
    two = put(one, line1="one", line9="nine")
    ledger.written(PATH, one, two, C2)
    assert reviewed(ledger).base == BASE
    assert [author for _, _, author in shown(ledger)] == [C2, C1, C2]
    assert keys(ledger)[1] == key
    # The agent takes all of it back itself.
    ledger.written(PATH, two, BASE, C2)
    assert ledger.pending() == []


def test_a_change_to_lines_that_wait_is_one_change() -> None:
    ledger = Ledger()
    one = put(BASE, line3="three")
    ledger.written(PATH, BASE, one, C1)
    ledger.written(PATH, one, one.replace("three", "drei"), C2)
    assert shown(ledger) == [("line 3\n", "drei\n", C2)]


def test_what_others_did_to_the_file_goes_into_the_base() -> None:
    ledger = Ledger()
    one = put(BASE, line3="three")
    ledger.written(PATH, BASE, one, C1)
    (key,) = keys(ledger)
    users = put(one, line1="mine\nline 1", line8="")
    ledger.written(PATH, users, put(users, line6="six"), C2)
    assert reviewed(ledger).base == put(BASE, line1="mine\nline 1", line8="")
    assert shown(ledger) == [("line 3\n", "three\n", C1), ("line 6\n", "six\n", C2)]
    assert keys(ledger)[0] == key
    # What they did to the very lines that wait cannot be told apart.
    mixed = reviewed(ledger).target or ""
    mixed = mixed.replace("three", "three, mine")
    ledger.written(PATH, mixed, put(mixed, line9="nine"), C2)
    assert shown(ledger)[0] == ("line 3\n", "three, mine\n", C2)


def test_line_endings_do_not_keep_changes_of_others_apart() -> None:
    ledger = Ledger()
    one, users, two = (
        text.replace("\n", "\r\n")
        for text in (BASE, put(BASE, line1="mine"), put(BASE, line1="mine", line9="nine"))
    )
    ledger.written(PATH, BASE, one, FS)
    ledger.written(PATH, users, two, FS)
    assert reviewed(ledger).base == put(BASE, line1="mine")


def test_what_a_write_destroys_of_others_is_under_review() -> None:
    ledger = Ledger()
    one = put(BASE, line3="three")
    ledger.written(PATH, BASE, one, FS)
    settle(ledger, "keep")
    # The user goes on, and the agent writes what it had in mind.
    ledger.written(PATH, put(one, line8="mine"), one, FS)
    assert shown(ledger) == [("mine\n", "line 8\n", FS)]
    settle(ledger, "reject")
    assert reviewed(ledger).target == put(one, line8="mine")


# --- claims of what was written ----------------------------------------------------------


def test_a_claim_of_a_known_write_is_no_news() -> None:
    ledger = Ledger()
    one = put(BASE, line3="three")
    ledger.written(PATH, BASE, one, FS)
    before = shown(ledger), keys(ledger)
    for text in (BASE, None):
        ledger.written(PATH, text, one, C1)
        assert (shown(ledger), keys(ledger)) == before


@pytest.mark.parametrize("first", [FS, C1, C2])
def test_kept_hunks_never_come_back_d18(first: Author) -> None:
    ledger = Ledger()
    one = put(BASE, line3="three")
    two = put(one, line8="eight")
    ledger.written(PATH, BASE, one, first)
    settle(ledger, "keep")
    for before in (BASE, None):
        ledger.written(PATH, before, one, C1)
        assert ledger.pending() == []
    # The agent has gone on meanwhile, and the old change is told of first.
    ledger.written(PATH, two.replace("three", "line 3"), two, C1)
    assert ledger.pending() == []
    ledger.written(PATH, one, two, C2)
    assert shown(ledger) == [("line 8\n", "eight\n", C2)]
    settle(ledger, "reject")
    assert reviewed(ledger).target == one


def test_a_change_of_a_kept_change_is_told_of_twice_d18() -> None:
    ledger = Ledger()
    one = put(BASE, line3="three")
    two = put(BASE, line3="drei")
    ledger.written(PATH, BASE, one, C1)
    ledger.written(PATH, one, two, C2)
    settle(ledger, "keep")
    ledger.written(PATH, one, two, C2)
    assert ledger.pending() == []


def test_a_kept_change_that_the_user_takes_back_is_nobody_elses() -> None:
    ledger = Ledger()
    one = put(BASE, line3="three")
    ledger.written(PATH, BASE, one, FS)
    settle(ledger, "keep")
    ledger.written(PATH, BASE, put(BASE, line8="eight"), FS)
    assert shown(ledger) == [("line 8\n", "eight\n", FS)]


def test_rejected_hunks_are_not_proposed_again_d13() -> None:
    ledger = Ledger()
    one = put(BASE, line3="three", line8="eight")
    ledger.proposed(PATH, BASE, one, C1)
    ledger.written(PATH, BASE, one, FS)
    settle(ledger, "reject")
    assert reviewed(ledger).target == BASE
    # The tool call is completed, and what it claims is not in the file.
    ledger.proposed(PATH, BASE, one, C1)
    assert ledger.pending() == []
    # Another tool call may try again, and the same one may go on to something else.
    ledger.proposed(PATH, BASE, put(one, line5="five"), C1)
    assert shown(ledger) == [("line 5\n", "five\n", C1)]
    ledger.proposed(PATH, BASE, put(BASE, line3="three"), C2)
    assert shown(ledger) == [("line 3\n", "three\n", C2), ("line 5\n", "five\n", C1)]
    # And what is written is under review, whatever was said of it before.
    ledger.written(PATH, BASE, one, FS)
    assert [old for old, _, _ in shown(ledger)] == ["line 3\n", "line 8\n"]


def test_two_claims_that_came_after_both_writes_are_both_under_review() -> None:
    ledger = Ledger()
    one, other = put(BASE, line3="three"), put(BASE, line8="eight")
    both = put(one, line8="eight")
    ledger.written(PATH, other, both, C1)
    ledger.written(PATH, one, both, C2)
    assert reviewed(ledger).base == BASE
    assert shown(ledger) == [("line 3\n", "three\n", C1), ("line 8\n", "eight\n", C2)]


def test_a_claim_of_a_part_of_what_was_kept_is_no_news_d18() -> None:
    ledger = Ledger()
    one = put(BASE, line3="three", line4="four")
    ledger.written(PATH, BASE, one, FS)
    settle(ledger, "keep")
    ledger.written(PATH, one.replace("four", "line 4"), one, C1)
    assert ledger.pending() == []


def test_a_part_that_the_user_took_back_and_the_agent_wrote_again_is_news() -> None:
    ledger = Ledger()
    one = put(BASE, line3="three", line4="four")
    ledger.written(PATH, BASE, one, FS)
    settle(ledger, "keep")
    ledger.written(PATH, one.replace("four", "line 4"), one, FS)
    assert shown(ledger) == [("line 4\n", "four\n", FS)]


def test_the_same_line_elsewhere_is_another_change() -> None:
    ledger = Ledger()
    one = put(BASE, line3="three\nx")
    ledger.written(PATH, BASE, one, C1)
    settle(ledger, "keep")
    # Two more writes, and the second is told of first.
    two, other = put(one, line8="x\nline 8"), put(one, line6="six")
    both = put(two, line6="six")
    ledger.written(PATH, two, both, OTHER)
    ledger.written(PATH, other, both, C2)
    assert shown(ledger) == [("line 6\n", "six\n", OTHER), ("", "x\n", C2)]


def test_a_claim_does_not_take_line_endings_from_the_base() -> None:
    ledger = Ledger()
    mixed = BASE.replace("line 1\n", "line 1\r\n")
    ledger.proposed(PATH, mixed, put(mixed, line3="three"), C1)
    # Without its proposal the base would be taken back from the file.
    ledger.written(PATH, BASE, put(mixed, line3="three", line8="eight"), C1)
    assert (reviewed(ledger).base or "").startswith("line 1\r\n")


def test_hunks_keep_their_keys_when_the_base_is_set_from_outside() -> None:
    ledger = Ledger()
    more = put(BASE, line1="more\nand more\nline 1")
    one = put(more, line9="nine")
    ledger.written(PATH, more, one, C1)
    (key,) = keys(ledger)
    # What is above was the agent's, too.
    reviewed(ledger).base = BASE
    ledger.written(PATH, one, put(one, line5="five"), C2)
    assert shown(ledger) == [
        ("", "more\nand more\n", C2),
        ("line 5\n", "five\n", C2),
        ("line 9\n", "nine\n", C1),
    ]
    assert keys(ledger)[2] == key


# --- proposals -----------------------------------------------------------------------------


def test_a_proposal_waits_until_it_is_written() -> None:
    ledger = Ledger()
    one = put(BASE, line3="three")
    ledger.proposed(PATH, BASE, one, C1)
    assert (reviewed(ledger).written, shown(ledger)) == (False, [("line 3\n", "three\n", C1)])
    before = keys(ledger)
    ledger.written(PATH, BASE, one, FS)
    assert (reviewed(ledger).written, shown(ledger)) == (True, [("line 3\n", "three\n", C1)])
    assert keys(ledger) == before
    # Nothing that is only proposed is mixed with what is written.
    ledger.proposed(PATH, one, put(one, line8="eight"), C2)
    assert keys(ledger) == before


def test_a_proposal_takes_the_place_of_the_same_tool_calls() -> None:
    ledger = Ledger()
    ledger.proposed(PATH, BASE, put(BASE, line3="thr"), C1)
    ledger.proposed(PATH, BASE, put(BASE, line3="three", line8="eight"), C1)
    assert [new for _, new, _ in shown(ledger)] == ["three\n", "eight\n"]
    ledger.proposed(PATH, BASE, BASE, C1)
    assert ledger.pending() == []


def test_proposals_of_several_tool_calls_join_and_go_one_by_one() -> None:
    ledger = Ledger()
    ledger.proposed(PATH, BASE, put(BASE, line3="three", line5="five"), C1)
    first = keys(ledger)
    ledger.proposed(PATH, BASE, put(BASE, line8="eight", line5="fünf"), C2)
    assert shown(ledger) == [
        ("line 3\n", "three\n", C1),
        ("line 5\n", "fünf\n", C2),
        ("line 8\n", "eight\n", C2),
    ]
    assert keys(ledger)[0] == first[0]
    assert ledger.drop_proposal("c2") == [PATH]
    assert shown(ledger) == [("line 3\n", "three\n", C1)]
    assert reviewed(ledger).target == put(BASE, line3="three")
    assert ledger.drop_proposal("c2") == []
    assert ledger.drop_proposal("c1") == [PATH]
    assert PATH not in ledger.files


def test_a_write_that_differs_from_the_proposal_takes_its_place() -> None:
    ledger = Ledger()
    ledger.proposed(PATH, BASE, put(BASE, line3="three"), C1)
    ledger.proposed(PATH, BASE, put(BASE, line8="eight"), C2)
    users = put(BASE, line1="mine", line3="mine, too")
    ledger.written(PATH, users, users.replace("mine, too", "drei"), FS)
    assert reviewed(ledger).base == users
    assert shown(ledger) == [("mine, too\n", "drei\n", FS)]


def test_a_proposal_kept_in_an_open_document_stays_kept_when_it_is_written_d18() -> None:
    ledger = Ledger()
    both = put(BASE, line3="three", line8="eight")
    ledger.proposed(PATH, BASE, both, C1)
    settle(ledger, "keep", 0)
    # The document is not saved, so the disk has nothing of it.
    ledger.written(PATH, BASE, both, FS)
    assert shown(ledger) == [("line 8\n", "eight\n", C1)]


def test_dropping_is_about_one_sessions_tool_call_d17() -> None:
    ledger = Ledger()
    ledger.proposed(PATH, BASE, put(BASE, line3="three"), C1)
    ledger.proposed("/w/b.py", BASE, put(BASE, line3="three"), OTHER)
    ledger.unplaced("/w/b.py", "it fits twice", Author("s2", "c7"))
    ledger.proposed("/w/c.py", BASE, put(BASE, line3="three"), C1)
    ledger.written("/w/c.py", BASE, put(BASE, line3="three"), FS)
    assert ledger.drop_proposal("c1", "s2") == ["/w/b.py"]
    # What could not be placed is still told, and what is written is not dropped.
    assert [f.path for f in ledger.pending()] == [PATH, "/w/b.py", "/w/c.py"]
    assert ledger.drop_proposal("c1") == [PATH]


def test_a_dropped_proposal_leaves_verdicts_in_mind() -> None:
    ledger = Ledger()
    ledger.proposed(PATH, BASE, put(BASE, line3="three", line8="eight"), C1)
    settle(ledger, "reject", 0)
    assert ledger.drop_proposal("c1") == [PATH]
    assert (reviewed(ledger).target, ledger.pending()) == (BASE, [])


# --- what cannot be placed -------------------------------------------------------------------


def test_a_claim_that_fits_nowhere_is_told() -> None:
    ledger = Ledger()
    ledger.unplaced(PATH, "it fits twice", C1)
    ledger.unplaced(PATH, "it fits nowhere", Author("s1"))
    assert ledger.pending() == ledger.pending("s1") == [reviewed(ledger)]
    assert ledger.pending("s2") == []
    assert ledger.hunks() == []
    # Reasons stay until the tool call's change is seen, or something was written.
    ledger.proposed(PATH, BASE, put(BASE, line3="three"), C2)
    assert set(reviewed(ledger).reasons) == {"c1", ""}
    ledger.written(PATH, BASE, put(BASE, line3="three", line5="five"), C1)
    assert reviewed(ledger).reasons == {"": "it fits nowhere"}
    ledger.written(PATH, put(BASE, line3="three", line5="five"), BASE, FS)
    assert reviewed(ledger).reasons == {}


# --- sessions ----------------------------------------------------------------------------------


def test_a_session_has_only_its_own_hunks_d17() -> None:
    ledger = Ledger()
    one = put(BASE, line3="three", line6="six")
    ledger.written(PATH, BASE, one, C1)
    two = put(one, line8="eight")
    ledger.written(PATH, one, two, OTHER)
    # The second session works on a line of the first one's, too.
    ledger.written(PATH, two, two.replace("six\n", "sechs\n"), OTHER)
    file = reviewed(ledger)
    first, both, second = file.hunks
    assert both.author == Author("")
    assert ledger.hunks("s1") == [(file, first)]
    assert ledger.hunks("s2") == [(file, second)]
    assert ledger.hunks() == [(file, first), (file, both), (file, second)]
    assert ledger.pending("s1") == ledger.pending("s2") == [file]
    ledger.settle(file, tuple(hunk for _, hunk in ledger.hunks("s2")), "reject")
    assert file.target == put(BASE, line3="three", line6="sechs")
    assert ledger.pending("s2") == []
    # It stays nobody's.
    ledger.written(PATH, file.target, put(BASE, line3="three", line6="seis"), C2)
    assert [hunk.author for hunk in file.hunks] == [C1, Author("")]


# --- files that come and go ------------------------------------------------------------------


def test_a_new_file_is_rejected_by_removing_it() -> None:
    ledger = Ledger()
    ledger.written(PATH, None, "a\n", FS)
    ledger.written(PATH, "a\n", "a\nb\n", FS)
    assert reviewed(ledger).operation == "add"
    assert shown(ledger) == [("", "a\nb\n", FS)]
    settle(ledger, "reject")
    assert (reviewed(ledger).target, ledger.pending()) == (None, [])


def test_a_removed_file_is_rejected_by_putting_it_back() -> None:
    ledger = Ledger()
    ledger.written(PATH, "a\n", None, C1)
    assert reviewed(ledger).operation == "delete"
    assert shown(ledger) == [("a\n", "", C1)]
    ledger.written(PATH, None, None, C1)
    assert shown(ledger) == [("a\n", "", C1)]
    settle(ledger, "reject")
    assert (reviewed(ledger).base, reviewed(ledger).target) == ("a\n", "a\n")


@pytest.mark.parametrize(("before", "after"), [(None, ""), ("", None)])
@pytest.mark.parametrize("verdict", ["keep", "reject"])
def test_an_empty_file_that_comes_or_goes_is_a_change(
    before: str | None, after: str | None, verdict: Verdict
) -> None:
    ledger = Ledger()
    ledger.written(PATH, before, after, FS)
    file = reviewed(ledger)
    (hunk,) = file.hunks
    assert ledger.standing(file, hunk, "") == Standing(True, 0, 0)
    assert ledger.placed(file, hunk, verdict, "").state == "there"
    settle(ledger, verdict)
    outcome = after if verdict == "keep" else before
    assert (file.base, file.target, file.hunks) == (outcome, outcome, ())


def test_a_new_file_that_was_empty_first_is_new() -> None:
    ledger = Ledger()
    ledger.written(PATH, None, "", FS)
    ledger.written(PATH, "", "a\n", FS)
    assert reviewed(ledger).operation == "add"
    settle(ledger, "reject")
    assert reviewed(ledger).target is None


def test_a_file_that_others_removed_and_made_again() -> None:
    ledger = Ledger()
    ledger.written(PATH, BASE, put(BASE, line3="three"), FS)
    # They removed it, and the agent makes it anew.
    ledger.written(PATH, None, "a\n", FS)
    assert (reviewed(ledger).base, reviewed(ledger).operation) == (None, "add")
    # They changed it; of a new file all is the agent's.
    ledger.written(PATH, "a\nmine\n", "a\nmine\nb\n", FS)
    assert shown(ledger) == [("", "a\nmine\nb\n", FS)]
    # The agent removes it, they make it again, and the agent changes that.
    ledger.written(PATH, "a\nmine\nb\n", None, FS)
    assert ledger.pending() == []
    ledger.written(PATH, None, "c\n", FS)
    settle(ledger, "reject")
    ledger.written(PATH, "d\n", "e\n", FS)
    assert shown(ledger) == [("d\n", "e\n", FS)]


def test_a_file_that_only_one_of_two_claims_shows_keeps_its_base() -> None:
    ledger = Ledger()
    ledger.proposed(PATH, BASE, None, C1)
    ledger.proposed(PATH, BASE, put(BASE, line3="three"), C2)
    ledger.proposed(PATH, BASE, None, C1)
    assert reviewed(ledger).operation == "delete"
    ledger.written(PATH, put(BASE, line1="guessed"), None, C1)
    assert reviewed(ledger).base == BASE


# --- where hunks stand -------------------------------------------------------------------------


def test_hunks_stand_in_the_text_as_it_is() -> None:
    ledger = Ledger()
    ledger.written(PATH, BASE, put(BASE, line3="three\nmore", line8="eight"), C1)
    file = reviewed(ledger)
    three, eight = file.hunks
    text = put(BASE, line1="mine\nline 1", line3="three\nmore")
    assert ledger.standing(file, three, text) == Standing(True, 3, 5)
    assert ledger.standing(file, eight, text) == Standing(False, 9, 10)
    stuck = ledger.standing(file, eight, put(text, line8="mine"))
    assert not stuck.applied
    assert stuck.conflict is not None
    assert ledger.placed(file, three, "reject", text).state == "clean"
    assert ledger.placed(file, eight, "reject", text).state == "there"
    assert ledger.placed(file, eight, "keep", text).new == ("eight\n",)


# --- verdicts ------------------------------------------------------------------------------------

lines = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "\n", "a\r\n", "b\r", "d"]), max_size=14)
texts = lines.map("".join)


@settings(max_examples=150)
@given(texts, texts, st.data())
def test_verdicts_in_any_order_give_the_chosen_set_d19(
    base: str, target: str, data: st.DataObject
) -> None:
    ledger = Ledger()
    ledger.written(PATH, base, target, C1)
    file = reviewed(ledger)
    hunks = diff(base, target)
    assert [pending.hunk for pending in file.hunks] == list(hunks)
    kept = [hunk for hunk in hunks if data.draw(st.booleans())]
    order = data.draw(st.permutations(range(len(hunks))))
    todo = dict(zip([pending.key for pending in file.hunks], hunks, strict=True))
    names = list(todo)
    while order:
        some = [names[n] for n in order[: data.draw(st.integers(1, len(order)))]]
        order = order[len(some) :]
        for verdict, wanted in (("keep", True), ("reject", False)):
            now: list[ReviewHunk] = [
                h for h in file.hunks if h.key in some and (todo[h.key] in kept) is wanted
            ]
            ledger.settle(file, tuple(now), "keep" if verdict == "keep" else "reject")
        # The others are still there under their keys, as they were.
        left = [key for key in todo if key in {names[n] for n in order}]
        assert [h.key for h in file.hunks] == left
        assert [(h.hunk.old, h.hunk.new) for h in file.hunks] == [
            (todo[key].old, todo[key].new) for key in left
        ]
        assert apply_hunks(file.base or "", [h.hunk for h in file.hunks]) == file.target
    assert file.base == file.target == apply_hunks(base, kept)


SLOTS = range(5)
Slots = list[tuple[str, ...]]


def text_of(slots: Slots) -> str:
    """A file with lines of its own between the slots, so that each slot is one hunk."""
    return "".join(f"anchor {n}\n{''.join(lines)}" for n, lines in enumerate(slots)) + "end\n"


class Review(RuleBasedStateMachine):
    """Agents write and propose, others edit, verdicts are given, all in any order; a model
    keeps base, target, disk and authors slot by slot.
    """

    def __init__(self) -> None:
        super().__init__()
        self.ledger = Ledger()
        self.count = 0
        self.base: Slots = [(f"old {n}\n",) for n in SLOTS]
        self.target: Slots = list(self.base)
        self.disk: Slots = list(self.base)
        self.authors: dict[int, Author] = {}
        self.keys: dict[int, str] = {}
        self.written = True
        # What each tool call has claimed to be written, and what it proposed last.
        self.claims: list[tuple[Author, dict[int, tuple[tuple[str, ...], tuple[str, ...]]]]] = []
        self.proposals: dict[Author, dict[int, tuple[str, ...]]] = {}
        self.past: set[tuple[Author, tuple[str, ...], tuple[str, ...]]] = set()

    # --- the model ---

    def new(
        self, data: st.DataObject, only: Sequence[int] = SLOTS, least: int = 0
    ) -> dict[int, tuple[str, ...]]:
        chosen = data.draw(st.lists(st.sampled_from(only), min_size=1, max_size=3, unique=True))
        changes = {}
        for slot in chosen:
            self.count += 1
            size = data.draw(st.integers(least, 2))
            changes[slot] = tuple(f"new {self.count}.{n}\n" for n in range(size))
        return {slot: x for slot, x in changes.items() if x != self.disk[slot]}

    def revise(self, base: Slots, target: Slots, author: Author) -> None:
        """The model of taking the difference anew."""
        for slot in SLOTS:
            if base[slot] == target[slot]:
                self.authors.pop(slot, None)
                self.keys.pop(slot, None)
            elif (base[slot], target[slot]) != (self.base[slot], self.target[slot]):
                known = self.authors.get(slot, author).session
                self.authors[slot] = author if known == author.session else Author("")
                self.keys.pop(slot, None)
        self.base, self.target = list(base), list(target)

    def write(self, changes: dict[int, tuple[str, ...]], author: Author) -> None:
        before = list(self.disk)
        for slot, content in changes.items():
            self.disk[slot] = content
        base = [
            self.base[slot] if self.written and slot in self.authors else before[slot]
            for slot in SLOTS
        ]
        self.ledger.written(PATH, text_of(before), text_of(self.disk), author)
        self.revise(base, self.disk, author)
        self.written = True
        if author.tool_call is not None:
            told = {slot: (before[slot], new) for slot, new in changes.items()}
            self.claims.append((author, told))
            self.past |= {(author, *told[slot]) for slot in changes}

    # --- what happens ---

    @rule(data=st.data(), session=st.sampled_from(["s1", "s2"]), claim=st.booleans())
    def agent_writes(self, data: st.DataObject, session: str, *, claim: bool) -> None:
        author = Author(session, f"w{self.count}" if claim else None)
        changes = self.new(data)
        if changes:
            self.write(changes, author)

    @rule(data=st.data())
    def others_edit(self, data: st.DataObject) -> None:
        free = [slot for slot in SLOTS if slot not in self.authors]
        if free:
            # Never empty, or it could be what a claim says that was rejected.
            for slot, content in self.new(data, free, 1).items():
                self.disk[slot] = content

    @precondition(lambda self: self.claims)
    @rule(data=st.data())
    def a_claim_is_told_of_again(self, data: st.DataObject) -> None:
        author, told = data.draw(st.sampled_from(self.claims))
        if any(self.disk[slot] != new for slot, (_, new) in told.items()):
            return
        before = list(self.disk)
        for slot, (old, _) in told.items():
            before[slot] = old
        base = [
            self.base[slot] if self.written and slot in self.authors else self.disk[slot]
            for slot in SLOTS
        ]
        self.ledger.written(PATH, text_of(before), text_of(self.disk), author)
        self.revise(base, self.disk, author)
        self.written = True

    @rule(data=st.data(), author=st.sampled_from([C1, C2, OTHER]), again=st.booleans())
    def agent_proposes(self, data: st.DataObject, author: Author, *, again: bool) -> None:
        known = self.proposals.get(author)
        changes = dict(known) if again and known else self.new(data)
        changes = {slot: x for slot, x in changes.items() if x != self.disk[slot]}
        target = [changes.get(slot, self.disk[slot]) for slot in SLOTS]
        self.ledger.proposed(PATH, text_of(self.disk), text_of(target), author)
        if self.written and self.authors:
            return
        self.proposals[author] = changes
        news = {s: x for s, x in changes.items() if (author, self.disk[s], x) not in self.past}
        if changes and not news:
            return
        others = {
            slot: self.target[slot]
            for slot, of in self.authors.items()
            if of != author and slot not in news
        }
        target = [news.get(s, others.get(s, self.disk[s])) for s in SLOTS]
        self.revise(self.disk, target, author)
        self.written = False

    @precondition(lambda self: not self.written)
    @rule(author=st.sampled_from([C1, C2, OTHER]))
    def a_proposal_is_dropped(self, author: Author) -> None:
        gone = [slot for slot, of in self.authors.items() if of == author]
        dropped = self.ledger.drop_proposal(author.tool_call or "", author.session)
        assert dropped == ([PATH] if gone else [])
        target = [self.base[s] if s in gone else self.target[s] for s in SLOTS]
        self.revise(self.base, target, author)

    @precondition(lambda self: self.authors)
    @rule(data=st.data(), verdict=st.sampled_from(["keep", "reject"]))
    def the_user_decides(self, data: st.DataObject, verdict: Verdict) -> None:
        slots = data.draw(st.sets(st.sampled_from(sorted(self.authors)), min_size=1))
        self.decide(slots, verdict)

    @precondition(lambda self: self.authors)
    @rule(session=st.sampled_from(["s1", "s2"]), verdict=st.sampled_from(["keep", "reject"]))
    def the_user_decides_on_a_session(self, session: str, verdict: Verdict) -> None:
        slots = {slot for slot, author in self.authors.items() if author.session == session}
        own = [hunk.key for _, hunk in self.ledger.hunks(session)]
        assert own == [self.keys[slot] for slot in sorted(slots)]
        self.decide(slots, verdict)

    def decide(self, slots: set[int], verdict: Verdict) -> None:
        file = reviewed(self.ledger)
        keys = {self.keys[slot] for slot in slots}
        chosen = tuple(hunk for hunk in file.hunks if hunk.key in keys)
        # First the disk, as the verdict says; edits of others are on it, too.
        disk = text_of(self.disk)
        placed = [self.ledger.placed(file, hunk, verdict, disk) for hunk in chosen]
        assert "conflict" not in {where.state for where in placed}
        if slots:
            wanted = self.target if verdict == "keep" else self.base
            for slot in slots:
                self.disk[slot] = wanted[slot]
            assert apply_edits(disk, edits_placed(disk, placed)) == text_of(self.disk)
        self.ledger.settle(file, chosen, verdict)
        for slot in slots:
            self.past.add((self.authors[slot], self.base[slot], self.target[slot]))
            if verdict == "keep":
                self.base[slot] = self.target[slot]
            else:
                self.target[slot] = self.base[slot]
            del self.authors[slot], self.keys[slot]

    # --- what holds ---

    @invariant()
    def the_ledger_agrees(self) -> None:
        file = self.ledger.files.get(PATH)
        if file is None:
            assert not self.authors
            return
        slots = sorted(self.authors)
        assert [(h.hunk.old, h.hunk.new) for h in file.hunks] == [
            (self.base[slot], self.target[slot]) for slot in slots
        ]
        assert [h.author for h in file.hunks] == [self.authors[slot] for slot in slots]
        for slot, hunk in zip(slots, file.hunks, strict=True):
            # Keys stay as long as the hunk does, and none is given twice.
            assert self.keys.setdefault(slot, hunk.key) == hunk.key
        assert len({*self.keys.values()}) == len(self.keys)
        if slots:
            assert file.base == text_of(self.base)
            assert file.target == text_of(self.target)
            assert file.written is self.written


Review.TestCase.settings = settings(max_examples=80, stateful_step_count=25)
TestReview = Review.TestCase
