"""The review as JSON and back: it survives a restart, bound to hashes (D20)."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acpls.events import Form
from acpls.review import records, stored
from acpls.review.change import WHOLE, Change
from acpls.review.checkpoints import GONE, Checkpoints, Step
from acpls.review.composing import NOBODY, Author
from acpls.review.held import NO_FILE, UNKNOWN, Held, of_text
from acpls.review.ledger import Ledger
from acpls.review.records import STALE, put_back

A, B, C = "/ws/a.txt", "/ws/b.txt", "/ws/c"
ME = Author("s1", "call")
BEFORE, AFTER = "one\ntwo\nthree\nfour\n", "one\n2\nthree\n4\n"
BINARY = Held(content="b" * 64, opaque="the file is binary")
FORM = Form("cp1252", guessed=True, mode=0o755)
NAMES = {"s1": ("demo", "n1"), "s2": ("other", "n2")}


def seen(text: str, form: Form = FORM) -> Held:
    return Held(text, form, hashlib.sha256(text.encode()).hexdigest())


def changed(*, by: Author = ME, before: Held | None = None) -> Ledger:
    """A session changed two lines of a file."""
    ledger = Ledger()
    base = seen(BEFORE) if before is None else before
    ledger.agent_wrote(A, base, seen(AFTER), by, "git")
    return ledger


def through_json(value: Any) -> Any:
    return json.loads(json.dumps(value))


def dumped(ledger: Ledger, checkpoints: Checkpoints | None = None, **more: Any) -> Any:
    value = stored.dump(ledger, checkpoints or Checkpoints(), NAMES.get, **more)
    return through_json(value)


def loaded(
    value: Any,
    now: dict[str, Held],
    texts: dict[str, str] | None = None,
    into: Ledger | None = None,
) -> Ledger:
    """What another run makes of a value, where the files hold this."""
    ledger = into or Ledger()
    for change in stored.load(value).changes:
        put_back(ledger, change, now.get(change.path, NO_FILE), texts or {})
    return ledger


def hunks(change: Change) -> list[tuple[str, str]]:
    return [("".join(p.hunk.old), "".join(p.hunk.new)) for p in change.hunks]


# --- as it was ---------------------------------------------------------------------------


def test_a_change_is_pending_as_before_when_its_file_is_the_same() -> None:
    ledger = changed()
    ledger.unplaced(A, "it fits nowhere", ME)
    ledger.others_wrote(A, seen(AFTER.replace("4", "4!")))
    # A key of this run is not one of the next.
    old = ledger.files[A]
    change = loaded(dumped(ledger), {A: seen(AFTER.replace("4", "4!"))}).files[A]
    assert hunks(change) == hunks(old) == [("two\n", "2\n"), ("four\n", "4!\n")]
    assert [p.shared for p in change.hunks] == [False, True]
    assert (change.base, change.target) == (old.base, old.target)
    assert (change.source, change.reasons, change.stale) == (
        "git",
        {"call": "it fits nowhere"},
        None,
    )
    them = Author("demo/n1", "call")
    assert [change.author, *(p.author for p in change.hunks)] == [them] * 3


def test_each_hunk_has_its_author() -> None:
    ledger = changed()
    ledger.agent_wrote(A, None, seen(AFTER.replace("one", "1")), Author("s2"), "store")
    ledger.agent_wrote(A, None, seen("1\n2\nthree\n4\nfive\n"), NOBODY, "store")
    change = loaded(dumped(ledger), {A: seen("1\n2\nthree\n4\nfive\n")}).files[A]
    assert [p.author for p in change.hunks] == [p.author for p in stand_ins(ledger.files[A])]


def stand_ins(change: Change) -> tuple[Any, ...]:
    change.adopt("s1", "demo/n1")
    change.adopt("s2", "other/n2")
    return change.hunks


def test_a_session_without_a_name_is_nobody() -> None:
    ledger = changed(by=Author("s9"))
    change = loaded(dumped(ledger), {A: seen(AFTER)}).files[A]
    assert change.author == NOBODY


@pytest.mark.parametrize(
    ("before", "after", "operation"),
    [
        (NO_FILE, seen(AFTER), "add"),
        (seen(BEFORE), NO_FILE, "delete"),
        (BINARY, seen(AFTER), "modify"),
        (seen(BEFORE), BINARY, "modify"),
        (seen(BEFORE), seen(""), "modify"),
    ],
)
def test_d38_what_happened_to_a_file_as_a_whole_is_known(
    before: Held, after: Held, operation: str
) -> None:
    ledger = Ledger()
    ledger.agent_wrote(A, before, after, ME, "store")
    change = loaded(dumped(ledger), {A: after}).files[A]
    assert (change.base, change.target, change.operation) == (before, after, operation)
    assert hunks(change) == hunks(ledger.files[A])
    assert change.rejected(change.hunks) == before


def test_moves_and_copies_are_known() -> None:
    ledger = Ledger()
    old = seen(BEFORE)
    ledger.agent_wrote(A, old, NO_FILE, ME, "store")
    ledger.agent_wrote(B, NO_FILE, old, ME, "store")
    assert ledger.pair(A) == ledger.pair(C) == []
    assert ledger.pair(B) == [A, B]
    ledger.agent_wrote(C, NO_FILE, old, ME, "store")
    ledger.pair_as_said(B, C, copied=True)
    files = loaded(dumped(ledger), {B: old, C: old}).files
    assert (files[B].operation, files[B].moved_from, files[A].moved_to) == ("move", A, B)
    assert [p.hunk for p in files[B].hunks] == [WHOLE]
    assert (files[C].operation, files[C].copied_from) == ("copy", B)


def test_what_nobody_knew_before_is_unknown_still() -> None:
    ledger = Ledger()
    ledger.agent_wrote(A, None, seen(AFTER), ME, "store")
    change = loaded(dumped(ledger), {A: seen(AFTER)}).files[A]
    assert change.base is UNKNOWN
    assert (change.source, change.unknown) == ("unknown", UNKNOWN.opaque)


def test_what_was_not_read_again_is_known_by_the_bytes_that_it_has() -> None:
    ledger = changed(before=of_text(BEFORE))
    ledger.saved(A, f"{AFTER}mine\n", AFTER, shares=True)
    assert ledger.files[A].target.content is None
    now = f"{AFTER}mine\n"
    change = loaded(dumped(ledger), {A: seen(now)}).files[A]
    assert hunks(change) == [("two\n", "2\n"), ("four\n", "4\n")]


def test_what_its_encoding_does_not_have_is_no_file_that_there_could_be() -> None:
    ledger = Ledger()
    now = Held("\u0416\n", Form("cp1252"))
    ledger.agent_wrote(A, seen(BEFORE), now, ME, "store")
    ledger = loaded(dumped(ledger), {A: seen("\u0416\n")})
    assert [change.stale for change in ledger.changes()] == [STALE]


# --- another file by now -----------------------------------------------------------------


def test_d20_what_has_changed_since_can_be_compared_and_not_be_taken_back() -> None:
    now = seen("all mine\n")
    ledger = loaded(dumped(changed()), {A: now})
    assert ledger.files == {}
    (change,) = ledger.changes()
    assert (change.stale, change.base.text, change.target) == (STALE, BEFORE, now)
    assert [pending.hunk for pending in change.hunks] == [WHOLE]
    assert change.opaque == STALE
    ledger.keep(change, change.hunks)
    assert ledger.changes() == []


@pytest.mark.parametrize("now", [NO_FILE, BINARY])
def test_d20_what_is_no_text_or_not_there_any_more_has_changed(now: Held) -> None:
    ledger = loaded(dumped(changed()), {A: now})
    assert [change.stale for change in ledger.changes()] == [STALE]


def test_d20_what_is_compared_is_what_the_file_holds_by_now() -> None:
    now = seen("all mine\n")
    ledger = loaded(dumped(changed()), {A: now})
    assert ledger.seen(A, now) == ledger.seen(B, now) == []
    assert ledger.seen(A, seen("more\n")) == [A]
    assert ledger.stale[A].target == seen("more\n")
    assert ledger.seen(A, seen(BEFORE)) == [A]
    assert ledger.stale == {}


def test_what_has_changed_is_stored_again_as_it_was() -> None:
    value = dumped(changed())
    (change,) = stored.load(value).changes
    again = dumped(Ledger(), again=[change.adopted("demo/n1", "s1")])
    assert again == value
    # With the file as it was all is pending again.
    assert hunks(loaded(again, {A: seen(AFTER)}).files[A]) == hunks(changed().files[A])


def test_a_file_that_is_as_it_was_before_the_change_has_none() -> None:
    ledger = loaded(dumped(changed()), {A: seen(BEFORE)})
    assert ledger.changes() == []


def test_what_is_under_review_by_now_comes_first() -> None:
    ledger = Ledger()
    ledger.agent_wrote(A, seen("x\n"), seen(AFTER), Author("s2"), "store")
    loaded(dumped(changed()), {A: seen(AFTER)}, into=ledger)
    assert [change.stale for change in ledger.changes()] == [None, STALE]


def test_a_change_of_this_run_and_one_of_an_earlier_are_both_stored() -> None:
    (change,) = stored.load(dumped(changed())).changes
    value = dumped(changed(), again=[change])
    ledger = loaded(value, {A: seen(AFTER)})
    assert [change.stale for change in ledger.changes()] == [None, STALE]


def test_an_authors_key_is_adopted() -> None:
    (change,) = stored.load(dumped(changed())).changes
    mine = change.adopted("demo/n1", "s7")
    assert {mine.author, *(hunk.author for hunk in mine.hunks)} == {Author("s7", "call")}
    assert change.adopted("another", "s7") == change
    ledger = loaded(dumped(changed()), {A: seen("x\n")})
    assert ledger.adopt("demo/n1", "s7") == [A]
    assert ledger.adopt("demo/n1", "s7") == []
    assert ledger.stale[A].author == Author("s7", "call")


# --- how much ----------------------------------------------------------------------------


def test_what_is_beyond_the_limit_is_known_by_its_hash(monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = changed()
    ledger.agent_wrote(B, seen("\xe9" * 40), seen("x\n"), ME, "store")
    monkeypatch.setattr(stored, "LIMIT_BYTES", len(BEFORE) + 40)
    monkeypatch.setattr(stored._Room, "__init__", _room(len(BEFORE) + 40))
    first, second = stored.load(dumped(ledger)).changes
    assert first.base == seen(BEFORE)
    assert second.base == seen("\xe9" * 40).bare()
    now, texts = {A: seen(AFTER), B: seen("x\n")}, {second.base.content or "": "\xe9" * 40}
    again = loaded(dumped(ledger), now, texts)
    assert again.files[B].base == seen("\xe9" * 40)
    gone = loaded(dumped(ledger), now).files[B]
    assert (gone.base, gone.source, gone.reasons) == (UNKNOWN, "unknown", {"": GONE})


def _room(size: int, steps: int = 10, hunks: int = 10) -> Any:
    def init(self: Any) -> None:
        self.bytes, self.steps, self.hunks = size, steps, hunks

    return init


def test_what_has_no_hash_and_no_room_is_left_out_with_a_note(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(stored._Room, "__init__", _room(5))
    change = loaded(dumped(changed(before=of_text(BEFORE))), {A: seen(AFTER)}).files[A]
    assert (change.base, change.reasons) == (UNKNOWN, {"": stored.TOO_LARGE})


def test_where_there_are_too_many_hunks_they_are_the_authors_of_the_change(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ledger = changed()
    ledger.agent_wrote(A, None, seen(AFTER.replace("one", "1")), Author("s2"), "store")
    monkeypatch.setattr(stored._Room, "__init__", _room(1000, hunks=1))
    change = loaded(dumped(ledger), {A: seen(AFTER.replace("one", "1"))}).files[A]
    assert {p.author for p in change.hunks} == {Author("other/n2")}


def test_the_limits_are_those_that_are_told() -> None:
    room = stored._Room()
    assert (room.bytes, room.steps, room.hunks) == (8 * 1024 * 1024, 20_000, 100_000)
    assert not room.has_for("x" * (room.bytes + 1))
    assert room.has_for("x" * room.bytes)
    assert room.has_for("")
    assert not room.has_for("x")


# --- checkpoints -------------------------------------------------------------------------


def two_turns() -> Checkpoints:
    checkpoints = Checkpoints()
    checkpoints.begin("s1", "Do it")
    checkpoints.note("s1", A, seen(BEFORE), seen(AFTER))
    checkpoints.note("s1", A, of_text("mine\n"), NO_FILE)
    checkpoints.note("s1", B, None, BINARY)
    checkpoints.close("s1", 12.5)
    checkpoints.begin("s2", "And that")
    checkpoints.note("s2", A, NO_FILE, seen(AFTER))
    return checkpoints


def test_checkpoints_come_back_the_open_ones_too() -> None:
    found = stored.load(dumped(Ledger(), two_turns()))
    assert [(c.session, c.title, c.at_s) for c in found.checkpoints] == [
        ("demo/n1", "Do it", 12.5),
        ("other/n2", "And that", None),
    ]
    first, second = found.checkpoints
    assert first.steps == two_turns().all[0].steps
    assert second.steps == {A: (Step(NO_FILE, seen(AFTER).bare()),)}
    assert found.sessions == {"demo/n1": ("demo", "n1"), "other/n2": ("other", "n2")}


def test_the_oldest_steps_are_left_out_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored._Room, "__init__", _room(1000, steps=1))
    found = stored.load(dumped(Ledger(), two_turns()))
    assert [c.title for c in found.checkpoints] == ["And that"]


def test_steps_without_a_hash_and_room_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    checkpoints = Checkpoints()
    checkpoints.note("s1", A, of_text(BEFORE), seen(AFTER))
    checkpoints.note("s1", B, seen(BEFORE), of_text(AFTER))
    monkeypatch.setattr(stored._Room, "__init__", _room(5))
    found = stored.load(dumped(Ledger(), checkpoints))
    assert [c.steps for c in found.checkpoints] == [{A: (Step(None, seen(AFTER).bare()),)}]


def test_turns_of_nobody_known_are_left_out() -> None:
    checkpoints = Checkpoints()
    checkpoints.note("s9", A, NO_FILE, seen(AFTER))
    assert stored.load(dumped(Ledger(), checkpoints)).checkpoints == ()
    checkpoints.begin("s1", "nothing yet")
    assert [c["title"] for c in dumped(Ledger(), checkpoints)["checkpoints"]] == [""]


def test_folders_are_kept() -> None:
    value = dumped(Ledger(), folders=("/ws", "/other"), places={"/ws": "/real"})
    assert stored.load(value).folders == ("/ws", "/other")
    assert stored.load(value).places == {"/ws": "/real"}


# --- what cannot be read -----------------------------------------------------------------


@pytest.mark.parametrize("value", [None, [], 3, "x", {}, {"version": 2, "changes": [1]}])
def test_another_version_is_nothing(value: object) -> None:
    assert stored.load(value) == stored.Stored()


JUNK: list[Any] = [None, 7, -1, "x", [], {}, True, 1.5, ["a", "b", "c"], {"text": 3}, [0] * 6]


def rows(value: Any) -> list[tuple[Any, Any]]:
    """Every place in a value that can be something else: the container, and the key."""
    found: list[tuple[Any, Any]] = []
    keys = range(len(value)) if isinstance(value, list) else list(value)
    for key in keys:
        found.append((value, key))
        if isinstance(value[key], list | dict):
            found += rows(value[key])
    return found


def full() -> Any:
    """A value with something of all that there is."""
    ledger = changed()
    ledger.agent_wrote(B, NO_FILE, BINARY, Author("s2"), "store")
    ledger.unplaced(A, "it fits nowhere", ME)
    return dumped(ledger, two_turns(), folders=("/ws",), places={"/ws": "/real"})


@pytest.mark.parametrize("junk", JUNK)
def test_whatever_is_damaged_is_left_out_and_the_rest_is_there(junk: Any) -> None:
    for number in range(len(rows(full()))):
        value = full()
        holder, key = rows(value)[number]
        holder[key] = junk
        found = stored.load(through_json(value))
        ledger = loaded(value, {A: seen(AFTER), B: BINARY})
        again = stored.dump(ledger, Checkpoints([*found.checkpoints]), NAMES.get)
        assert json.dumps(again)
        for change in ledger.files.values():
            is_exact(change)


def is_exact(change: Change) -> None:
    """The base with the hunks is the target, and what was there can be told from nothing."""
    if not change.is_whole:
        some, all_ = (change.rejected(hunks) for hunks in (change.hunks[:1], change.hunks))
        assert some.text is not None or some is NO_FILE
        assert all_ == change.base
    assert change.base.opaque is None or change.base is UNKNOWN or change.base.content


@pytest.mark.parametrize(
    "hunk",
    [
        [0, 9, 0, 4, 0, 0],
        [0, 4, 0, 9, 0, 0],
        [0, 4, 1, 4, 0, 0],
        [3, 4, 0, 4, 0, 0],
        [0, 4, 0, 4, 1, 0],
        [2, 1, 0, 4, 0, 0],
        [0, 4, 0, 4, 0],
        "x",
    ],
)
def test_hunks_that_are_not_those_of_the_texts_are_found_anew(hunk: Any) -> None:
    value = dumped(changed())
    value["changes"][0]["hunks"] = [hunk]
    change = loaded(value, {A: seen(AFTER)}).files[A]
    assert hunks(change) == [("two\n", "2\n"), ("four\n", "4\n")]


def test_hunks_that_overlap_or_hold_nothing_are_found_anew() -> None:
    for wrong in ([[1, 2, 1, 2, 0, 0]] * 2, [[0, 0, 0, 0, 0, 0], [1, 4, 1, 4, 0, 0]]):
        value = dumped(changed())
        value["changes"][0]["hunks"] = wrong
        assert len(loaded(value, {A: seen(AFTER)}).files[A].hunks) == 2


def test_a_hunk_that_is_one_of_all_stays_one() -> None:
    value = dumped(changed())
    value["changes"][0]["hunks"] = [[1, 4, 1, 4, 0, 0]]
    change = loaded(value, {A: seen(AFTER)}).files[A]
    assert hunks(change) == [("two\nthree\nfour\n", "2\nthree\n4\n")]


@pytest.mark.parametrize(
    "form",
    [
        ["no-such-encoding", False, False, None],
        ["utf-8", False, False, -1],
        ["utf-8", False, False, 0o10000],
        ["utf-8", 0, 0, None],
        ["utf-8"],
    ],
)
def test_a_form_that_no_file_has_makes_its_text_unknown(form: Any) -> None:
    value = dumped(changed())
    value["changes"][0]["base"]["form"] = form
    (change,) = stored.load(value).changes
    assert change.base is UNKNOWN


@pytest.mark.parametrize(
    "base",
    [
        {},
        {"text": 3},
        {"missing": 1, "form": []},
        {"opaque": "why"},
        {"content": "x"},
        {"text": "a", "content": "../../etc"},
    ],
)
def test_what_no_file_held_is_unknown(base: Any) -> None:
    value = dumped(changed())
    value["changes"][0]["base"] = base
    (change,) = stored.load(value).changes
    assert change.base is UNKNOWN


@pytest.mark.parametrize("at", [-1, 1e300, "12", None, True])
def test_a_time_that_there_was_not_is_none(at: Any) -> None:
    value = dumped(Ledger(), two_turns())
    value["checkpoints"][0]["at"] = at
    (turn, _) = stored.load(value).checkpoints
    assert turn.at_s in {None, 1}


KEYS = st.sampled_from(
    [
        *("version", "folders", "changes", "checkpoints", "path", "author", "authors", "base"),
        *("target", "hunks", "reasons", "session", "title", "at", "files", "content", "text"),
        *("opaque", "form", "missing", "movedFrom", "movedTo", "copiedFrom", "source"),
    ]
)
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers(-2, 5)
    | st.floats(allow_nan=True)
    | st.text(max_size=3)
    | st.sampled_from(["utf-8", "a" * 64, A])
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(KEYS, inner, max_size=6),
    max_leaves=20,
)


@settings(max_examples=60)
@given(st.lists(VALUES, max_size=3), st.lists(VALUES, max_size=3), VALUES)
def test_any_json_gives_a_review(changes: list[Any], turns: list[Any], rest: Any) -> None:
    value = {"version": 1, "changes": changes, "checkpoints": turns, "folders": rest}
    for candidate in (rest, value):
        found = stored.load(candidate)
        ledger = Ledger()
        for kept in found.changes:
            put_back(ledger, kept, seen(AFTER), {})
        for change in ledger.files.values():
            is_exact(change)
        assert json.dumps(stored.dump(ledger, Checkpoints([*found.checkpoints]), NAMES.get))


def test_records_are_values() -> None:
    (change,) = stored.load(dumped(changed())).changes
    assert records.recorded(changed().files[A]).adopted("s1", "demo/n1") == change
