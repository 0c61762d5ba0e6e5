"""The review ledger: what waits for a verdict, and whose it is (D13, D17, D18, D19)."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import pytest

from acpls.review.composing import NOBODY, Author
from acpls.review.held import NO_FILE, UNKNOWN, Held, of_text
from acpls.review.ledger import Ledger
from acpls.text.diff import diff

PATH, OTHER_PATH = "/w/a.py", "/w/b.py"
FS, C1, C2 = Author("s1"), Author("s1", "c1"), Author("s1", "c2")
OTHER = Author("s2", "c1")
BASE = "".join(f"line {n}\n" for n in range(1, 10))


def put(text: str, **lines: str) -> str:
    """The text with other lines: ``put(BASE, line3="x")``; empty for none."""
    for name, line in lines.items():
        old = f"{name[:4]} {name[4:]}\n"
        assert old in text
        text = text.replace(old, f"{line}\n" if line else "")
    return text


def wrote(ledger: Ledger, before: str | None, now: str | None, author: Author = C1) -> None:
    ledger.agent_wrote(PATH, of_text(before), of_text(now), author, "store")


def shown(ledger: Ledger) -> list[tuple[str, str, Author]]:
    """The pending hunks as old text, new text and author."""
    return [("".join(h.hunk.old), "".join(h.hunk.new), h.author) for _, h in ledger.hunks()]


def keys(ledger: Ledger) -> list[str]:
    return [hunk.key for _, hunk in ledger.hunks()]


def settle(ledger: Ledger, verdict: Literal["keep", "reject"], *numbers: int) -> None:
    change = ledger.files[PATH]
    chosen = [change.hunks[n] for n in numbers] if numbers else change.hunks
    (ledger.keep if verdict == "keep" else ledger.reject)(change, chosen)


# --- what agents write ---------------------------------------------------------------------


def test_a_write_is_under_review() -> None:
    ledger = Ledger()
    wrote(ledger, BASE, put(BASE, line3="three", line7=""))
    change = ledger.files[PATH]
    assert (change.base.text, change.source, change.proposed) == (BASE, "store", False)
    assert shown(ledger) == [("line 3\n", "three\n", C1), ("line 7\n", "", C1)]
    assert ledger.find(keys(ledger)[1]) == (change, change.hunks[1])
    assert ledger.find("h99") is None
    assert ledger.changes() == ledger.at(PATH) == [change]
    assert ledger.at(OTHER_PATH) == []


def test_a_second_write_is_measured_from_the_same_base() -> None:
    ledger = Ledger()
    one = put(BASE, line3="three")
    wrote(ledger, BASE, one)
    (key,) = keys(ledger)
    two = put(one, line1="one", line9="nine")
    edits = diff(one, two)
    ledger.agent_wrote(PATH, of_text(one), of_text(two), C2, "store", edits)
    assert [author for _, _, author in shown(ledger)] == [C2, C1, C2]
    assert keys(ledger)[1] == key
    # The agent takes all of it back itself.
    wrote(ledger, two, BASE, C2)
    assert ledger.changes() == []
    assert ledger.files == {}


def test_what_the_ledger_knows_is_better_than_what_came_along() -> None:
    """The difference is from another text than what the file was known to hold."""
    ledger = Ledger()
    one = put(BASE, line3="three")
    wrote(ledger, BASE, one)
    stray = put(BASE, line8="eight")
    now = put(one, line8="eight")
    ledger.agent_wrote(PATH, of_text(stray), of_text(now), C2, "store", diff(stray, now))
    assert shown(ledger) == [("line 3\n", "three\n", C1), ("line 8\n", "eight\n", C2)]


def test_a_base_that_nobody_knows_may_become_known() -> None:
    ledger = Ledger()
    wrote(ledger, BASE, put(BASE, line3="three"))
    ledger.learn_base(PATH, of_text("else\n"), "claim")
    assert ledger.files[PATH].base.text == BASE, "it is known already"
    settle(ledger, "keep")
    ledger.agent_wrote(PATH, None, of_text("x\n"), C1, "store")
    change = ledger.files[PATH]
    assert (change.base, change.source) == (UNKNOWN, "unknown")
    ledger.learn_base(PATH, of_text("a\n"), "claim")
    assert (shown(ledger), change.source) == ([("a\n", "x\n", C1)], "claim")
    ledger.learn_base(OTHER_PATH, of_text("a\n"), "claim")
    assert list(ledger.files) == [PATH]


def test_a_base_that_turns_out_to_be_what_is_there_was_no_change() -> None:
    ledger = Ledger()
    ledger.agent_wrote(PATH, None, of_text("x\n"), C1, "store")
    ledger.learn_base(PATH, of_text("x\n"), "claim")
    assert ledger.files == {}


# --- what others write ----------------------------------------------------------------------


def test_what_others_do_to_a_file_that_is_not_under_review_is_nothing() -> None:
    ledger = Ledger()
    ledger.others_wrote(PATH, of_text("mine\n"))
    ledger.saved(PATH, "mine\n", "", shares=True)
    assert ledger.files == {}


def test_what_others_do_is_in_base_and_target() -> None:
    ledger = Ledger()
    one = put(BASE, line3="three")
    wrote(ledger, BASE, one)
    users = put(one, line1="mine\nline 1", line8="")
    ledger.others_wrote(PATH, of_text(users), diff(one, users))
    assert ledger.files[PATH].base.text == put(BASE, line1="mine\nline 1", line8="")
    assert shown(ledger) == [("line 3\n", "three\n", C1)]
    # What is there already is no news.
    before = keys(ledger)
    ledger.others_wrote(PATH, of_text(users))
    assert keys(ledger) == before
    # The user takes the agent's line out, and it is over.
    ledger.others_wrote(PATH, of_text(users.replace("three", "line 3")))
    assert ledger.files == {}


def test_a_save_is_of_the_file_in_its_form() -> None:
    ledger = Ledger()
    wide = Held("a\nb\n", replace(Held().form, encoding="utf-16-le", bom=True))
    ledger.agent_wrote(PATH, wide, wide.with_text("a\nB\n", wide.form), C1, "store")
    ledger.saved(PATH, "mine\na\nB\n", "a\nB\n", shares=True)
    change = ledger.files[PATH]
    assert change.target == Held("mine\na\nB\n", wide.form)
    assert change.base == Held("mine\na\nb\n", wide.form)


def test_a_save_overwrites_what_the_document_never_had() -> None:
    """The agent wrote once more since the document was read, and the editor did not look."""
    ledger = Ledger()
    one, two = put(BASE, line3="three"), put(BASE, line3="three", line8="eight")
    wrote(ledger, BASE, one)
    wrote(ledger, one, two)
    ledger.saved(PATH, f"mine\n{one}", one, shares=True)
    assert shown(ledger) == [("line 3\n", "three\n", C1)]
    assert ledger.files[PATH].base.text == f"mine\n{BASE}"
    # So it does with all of it.
    ledger.saved(PATH, f"mine\nmine, too\n{BASE}", f"mine\n{BASE}", shares=True)
    assert ledger.files == {}


@pytest.mark.parametrize("shares", [True, False])
def test_what_the_editor_does_in_saving_is_nobodys_hand(*, shares: bool) -> None:
    """D48"""
    ledger = Ledger()
    one = put(BASE, line3="three")
    wrote(ledger, BASE, one)
    ledger.saved(PATH, one.replace("three", "three;"), one, shares=shares)
    ((_, hunk),) = ledger.hunks()
    assert (hunk.hunk.new, hunk.shared) == (("three;\n",), shares)


# --- proposals ------------------------------------------------------------------------------


def proposed(ledger: Ledger, target: str | None, author: Author = C1, path: str = PATH) -> None:
    ledger.propose(path, of_text(BASE), of_text(target), author)


def test_a_proposal_waits_beside_what_is_written() -> None:
    ledger = Ledger()
    wrote(ledger, BASE, put(BASE, line3="three"))
    proposed(ledger, put(BASE, line5="five"), C2)
    proposed(ledger, None, OTHER)
    assert [new for _, new, _ in shown(ledger)] == ["three\n", "five\n", ""]
    assert [change.proposed for change in ledger.at(PATH)] == [False, True, True]
    assert [change.operation for change in ledger.changes("s2")] == ["delete"]


def test_a_proposal_takes_the_place_of_the_same_tool_calls() -> None:
    ledger = Ledger()
    proposed(ledger, put(BASE, line3="thr"))
    (change,) = ledger.changes()
    proposed(ledger, put(BASE, line3="three"))
    ((_, new, _),) = shown(ledger)
    assert (new, ledger.changes()[0].key) == ("three\n", change.key)
    # The same once more changes nothing, and none is none.
    before = keys(ledger)
    proposed(ledger, put(BASE, line3="three"))
    assert keys(ledger) == before
    proposed(ledger, BASE)
    assert ledger.proposals == {}


def test_a_preview_is_shown_with_its_question_only() -> None:
    ledger = Ledger()
    proposed(ledger, put(BASE, line3="three"))
    (change,) = ledger.proposals.values()
    change.preview = True
    assert (ledger.changes(), ledger.hunks()) == ([], [])
    assert ledger.find(change.hunks[0].key) is None
    assert ledger.at(PATH) == [change]


def test_d17_dropping_is_about_one_sessions_tool_call() -> None:
    ledger = Ledger()
    proposed(ledger, put(BASE, line3="three"))
    proposed(ledger, put(BASE, line3="three"), OTHER, OTHER_PATH)
    proposed(ledger, put(BASE, line3="three"), path=OTHER_PATH)
    assert ledger.drop_proposals(C1) == [PATH, OTHER_PATH]
    assert [change.author for change in ledger.changes()] == [OTHER]
    assert ledger.drop_proposals(C1) == []


def test_a_change_that_is_dropped_is_gone_wherever_it_was() -> None:
    ledger = Ledger()
    wrote(ledger, BASE, put(BASE, line3="three"))
    proposed(ledger, put(BASE, line5="five"), C2)
    for change in ledger.changes():
        ledger.drop(change)
    assert ledger.changes() == []


# --- what cannot be placed -------------------------------------------------------------------


def test_a_claim_that_fits_nowhere_is_told() -> None:
    ledger = Ledger()
    ledger.unplaced(PATH, "it fits twice", C1)
    ledger.unplaced(PATH, "it fits nowhere", C1)
    (change,) = ledger.changes()
    assert (change.reasons, change.hunks) == ({"c1": "it fits nowhere"}, ())
    assert (ledger.changes("s1"), ledger.changes("s2")) == ([change], [])
    assert ledger.hunks() == []
    assert ledger.drop_proposals(C1) == [PATH]
    assert ledger.changes() == []


def test_it_is_told_with_what_was_written_while_that_waits() -> None:
    ledger = Ledger()
    wrote(ledger, BASE, put(BASE, line3="three"))
    ledger.unplaced(PATH, "it fits twice", Author("s1"))
    change = ledger.files[PATH]
    assert (change.reasons, ledger.proposals) == ({"": "it fits twice"}, {})


# --- sessions ----------------------------------------------------------------------------------


def test_d17_a_session_has_only_its_own_hunks() -> None:
    ledger = Ledger()
    one = put(BASE, line3="three", line6="six")
    wrote(ledger, BASE, one)
    two = put(one, line8="eight")
    wrote(ledger, one, two, OTHER)
    # The second session works on a line of the first one's, too.
    three = two.replace("six\n", "sechs\n")
    wrote(ledger, two, three, OTHER)
    change = ledger.files[PATH]
    first, both, second = change.hunks
    assert both.author == NOBODY
    assert ledger.hunks("s1") == [(change, first)]
    assert ledger.hunks("s2") == [(change, second)]
    assert ledger.changes("s1") == ledger.changes("s2") == [change]
    ledger.reject(change, [hunk for _, hunk in ledger.hunks("s2")])
    assert change.target.text == put(BASE, line3="three", line6="sechs")
    assert ledger.changes("s2") == []
    # It stays nobody's.
    wrote(ledger, change.target.text, put(BASE, line3="three", line6="seis"), C2)
    assert [hunk.author for hunk in change.hunks] == [C1, NOBODY]


# --- verdicts ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after"), [(None, ""), ("", None), (None, "a\n"), ("a\n", None)]
)
def test_d38_a_file_that_came_or_went(before: str | None, after: str | None) -> None:
    ledger = Ledger()
    wrote(ledger, before, after)
    change = ledger.files[PATH]
    settle(ledger, "reject")
    assert (change.target, ledger.files) == (of_text(before), {})
    wrote(ledger, before, after)
    change = ledger.files[PATH]
    settle(ledger, "keep")
    assert (change.base, ledger.files) == (of_text(after), {})


def test_d18_what_was_kept_is_not_taken_back_by_what_comes_later() -> None:
    ledger = Ledger()
    one = put(BASE, line3="three", line5="five")
    wrote(ledger, BASE, one)
    settle(ledger, "keep", 0)
    two = put(one, line8="eight")
    wrote(ledger, one, two, FS)
    assert [new for _, new, _ in shown(ledger)] == ["five\n", "eight\n"]
    change = ledger.files[PATH]
    settle(ledger, "reject")
    assert change.target.text == put(BASE, line3="three")
    assert ledger.files == {}


def test_d13_what_is_seen_on_disk_after_a_reject_counts() -> None:
    ledger = Ledger()
    wrote(ledger, BASE, put(BASE, line3="three", line5="five"))
    change = ledger.files[PATH]
    seen = Held(put(BASE, line5="five"), content="seen")
    ledger.reject(change, change.hunks[:1], seen)
    assert change.target is seen
    ledger.reject(change, change.hunks, NO_FILE)
    assert ledger.files == {}
