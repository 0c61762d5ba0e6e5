"""Open documents: every editor's way of sending changes leaves the editor's text (D47)."""

from __future__ import annotations

import time
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acpls.text.buffers import Buffer, Buffers, ContentChange
from acpls.text.lines import Encoding, LineIndex

URI = "file:///a.py"

texts = st.lists(
    st.sampled_from(["a", "b", "\n", "\r\n", "\r", "\f", "\u2028", "\x85", "é", "🙂"]), max_size=16
).map("".join)


def opened(text: str = "", version: int = 1) -> Buffers:
    buffers = Buffers(gaps=False)
    buffers.open(URI, version, text, "python")
    return buffers


def buffer_of(buffers: Buffers) -> Buffer:
    buffer = buffers.get(URI)
    assert buffer is not None
    return buffer


def typed(text: str, line: int, character: int) -> tuple[ContentChange]:
    return (ContentChange(text, (line, character), (line, character)),)


def test_open_get_iterate_close() -> None:
    buffers = Buffers(gaps=False)
    assert buffers.get(URI) is None
    assert list(buffers) == []
    buffers.open(URI, 3, "a\n", "python")
    buffers.open("file:///b", 1, "b")
    assert buffers.get(URI) == Buffer(URI, 3, "a\n", "a\n", "python")
    assert [buffer.uri for buffer in buffers] == [URI, "file:///b"]
    buffers.close(URI)
    buffers.close(URI)
    assert [buffer.uri for buffer in buffers] == ["file:///b"]


def test_a_change_of_a_document_that_is_not_open_is_unknown() -> None:
    buffers = Buffers(gaps=False)
    assert buffers.change(URI, 2, typed("x", 0, 0)) == "unknown"
    assert buffers.release(URI) is False
    buffers.save(URI)
    buffers.in_step(URI, "x")
    assert list(buffers) == []


def test_changes_of_one_message_apply_one_after_the_other() -> None:
    buffers = opened("one\ntwo\n")
    changes = [
        ContentChange("ONE", (0, 0), (0, 3)),
        ContentChange("!", (0, 3)),
        ContentChange("", (0, 4), (1, 3)),
    ]
    assert buffers.change(URI, 2, changes) == "applied"
    assert buffer_of(buffers).text == "ONE!\n"
    assert buffer_of(buffers).version == 2
    assert buffers.change(URI, 3, [ContentChange("all\r\nnew"), *typed("é", 1, 3)]) == "applied"
    assert buffer_of(buffers).text == "all\r\nnewé"


def test_a_change_without_changes_is_a_new_version() -> None:
    buffers = opened("a")
    assert buffers.change(URI, 2, []) == "applied"
    assert buffer_of(buffers) == Buffer(URI, 2, "a", "a", "python")


def test_an_end_before_the_start_inserts() -> None:
    buffers = opened("abc")
    assert buffers.change(URI, 2, [ContentChange("x", (0, 2), (0, 1))]) == "applied"
    assert buffer_of(buffers).text == "abxc"


@pytest.mark.parametrize(("encoding", "character"), [("utf-8", 4), ("utf-16", 2), ("utf-32", 1)])
def test_positions_count_in_the_agreed_encoding_d47(encoding: Encoding, character: int) -> None:
    buffers = Buffers(encoding, gaps=False)
    buffers.open(URI, 1, "🙂x")
    buffers.change(URI, 2, typed("é", 0, character))
    assert buffer_of(buffers).text == "🙂éx"


def test_the_encoding_can_be_agreed_on_later_d47() -> None:
    buffers = opened("🙂x")
    buffers.encoding = "utf-8"
    buffers.change(URI, 2, typed("é", 0, 4))
    assert buffer_of(buffers).text == "🙂éx"


@pytest.mark.parametrize("odd", ["\f", "\v", "\x1c", "\x85", "\u2028", "\u2029"])
def test_odd_separators_do_not_shift_lines(odd: str) -> None:
    buffers = opened(f"a{odd}b\nc\n")
    buffers.change(URI, 2, typed("x", 1, 0))
    assert buffer_of(buffers).text == f"a{odd}b\nxc\n"


def test_halves_of_an_ending_meet_again() -> None:
    buffers = opened("a\rb")
    buffers.change(URI, 2, typed("\n", 1, 0))
    buffers.change(URI, 3, typed("x", 1, 0))
    assert buffer_of(buffers).text == "a\r\nxb"


def test_versions_on_the_wire_21_23_24_22() -> None:
    buffers = opened("", version=20)
    assert buffers.change(URI, 21, typed("a", 0, 0)) == "applied"
    assert buffers.change(URI, 23, typed("c", 0, 2)) == "held"
    assert buffers.change(URI, 24, typed("d", 0, 3)) == "held"
    assert buffer_of(buffers).text == "a"
    assert buffer_of(buffers).version == 21
    assert buffers.change(URI, 22, typed("b", 0, 1)) == "applied"
    assert buffer_of(buffers).text == "abcd"
    assert buffer_of(buffers).version == 24
    assert buffers.release(URI) is False


def test_a_gap_closes_only_as_far_as_the_next_one() -> None:
    buffers = opened()
    assert buffers.change(URI, 5, typed("5", 0, 3)) == "held"
    assert buffers.change(URI, 3, typed("3", 0, 1)) == "held"
    assert buffers.change(URI, 2, typed("2", 0, 0)) == "applied"
    assert (buffer_of(buffers).text, buffer_of(buffers).version) == ("23", 3)
    assert buffers.change(URI, 4, typed("4", 0, 2)) == "applied"
    assert (buffer_of(buffers).text, buffer_of(buffers).version) == ("2345", 5)


def test_what_is_held_is_released_in_order_of_versions() -> None:
    buffers = opened()
    assert buffers.change(URI, 9, typed("b", 0, 1)) == "held"
    assert buffers.change(URI, 4, typed("a", 0, 0)) == "held"
    assert buffers.release(URI) is True
    assert (buffer_of(buffers).text, buffer_of(buffers).version) == ("ab", 9)
    assert buffers.release(URI) is False


def test_an_editor_that_leaves_out_versions_is_not_waited_for_again() -> None:
    buffers = opened()
    assert buffers.change(URI, 4, typed("a", 0, 0)) == "held"
    assert buffers.release(URI) is True
    assert buffers.change(URI, 7, typed("b", 0, 1)) == "applied"
    assert (buffer_of(buffers).text, buffer_of(buffers).version) == ("ab", 7)
    assert buffers.change(URI, 6, typed("!", 0, 0)) == "stale"
    assert buffers.change(URI, 9, typed("c", 0, 2)) == "held"


def test_an_old_version_is_stale_and_ignored() -> None:
    buffers = opened("a", version=5)
    assert buffers.change(URI, 5, typed("x", 0, 0)) == "stale"
    assert buffers.change(URI, 2, [ContentChange("x")]) == "stale"
    assert buffer_of(buffers) == Buffer(URI, 5, "a", "a", "python")


def test_the_first_of_two_equal_versions_counts() -> None:
    buffers = opened()
    assert buffers.change(URI, 3, typed("a", 0, 0)) == "held"
    assert buffers.change(URI, 3, typed("b", 0, 0)) == "held"
    buffers.release(URI)
    assert buffer_of(buffers).text == "a"


def test_opening_again_forgets_what_was_held() -> None:
    buffers = opened("old")
    assert buffers.change(URI, 3, typed("x", 0, 0)) == "held"
    buffers.open(URI, 1, "new")
    assert buffers.release(URI) is False
    assert buffer_of(buffers).text == "new"


def test_dirty_until_saved_and_blank_changes_count() -> None:
    buffers = opened("a")
    assert not buffer_of(buffers).dirty
    buffers.change(URI, 2, typed(" ", 0, 1))
    assert buffer_of(buffers).dirty
    buffers.save(URI)
    assert not buffer_of(buffers).dirty
    assert buffer_of(buffers).saved_text == "a "


def test_a_save_covers_what_is_held_but_no_more() -> None:
    buffers = opened()
    buffers.change(URI, 3, typed("b", 0, 1))
    buffers.save(URI)
    buffers.change(URI, 4, typed("c", 0, 2))
    assert buffers.change(URI, 2, typed("a", 0, 0)) == "applied"
    assert buffer_of(buffers).text == "abc"
    assert buffer_of(buffers).saved_text == "ab"


def test_in_step_when_the_file_holds_the_text() -> None:
    buffers = opened("a")
    buffers.change(URI, 2, typed("b", 0, 1))
    buffers.in_step(URI, "a\n")
    assert buffer_of(buffers).saved_text == "a"
    buffers.in_step(URI, "ab")
    assert buffer_of(buffers).saved_text == "ab"
    assert not buffer_of(buffers).dirty


@dataclass(frozen=True, slots=True)
class Session:
    """What an editor did: its texts after each change, and the changes it sends."""

    texts: list[str]
    changes: list[ContentChange]


@st.composite
def editings(draw: st.DrawFn, encoding: Encoding = "utf-16") -> Session:
    session = Session([draw(texts)], [])
    for _ in range(draw(st.integers(1, 6))):
        text = session.texts[-1]
        index = LineIndex(text)
        # An editor names ranges by positions, and no position is inside an ending.
        ends = [draw(st.integers(0, len(text))) for _ in range(2)]
        start, end = sorted(index.position(at, encoding) for at in ends)
        new = draw(texts)
        session.changes.append(ContentChange(new, start, end))
        head, tail = (index.offset(at, encoding) for at in (start, end))
        session.texts.append(text[:head] + new + text[tail:])
    return session


@settings(max_examples=150, deadline=None)
@given(editings(), st.data())
def test_any_order_of_arrival_leaves_the_editor_s_text(
    session: Session, data: st.DataObject
) -> None:
    buffers = opened(session.texts[0], version=0)
    numbered = list(enumerate(session.changes, 1))
    for version, change in data.draw(st.permutations(numbered)):
        assert buffers.change(URI, version, [change]) in ("applied", "held")
        buffer = buffer_of(buffers)
        assert buffer.text == session.texts[buffer.version]
    assert buffer_of(buffers).version == len(session.changes)


def test_typing_into_a_long_document_is_quick() -> None:
    buffers = opened("    a line of a long document\n" * 50_000)
    buffers.change(URI, 2, typed("x", 25_000, 5))
    best = 1.0
    for version in range(3, 23):
        began = time.perf_counter()
        buffers.change(URI, version, typed("x", 25_000 + version % 7, 5))
        best = min(best, time.perf_counter() - began)
    # Splitting the text again would take 10 ms and more.
    assert best < 0.002
    assert buffer_of(buffers).text.count("x") == 21
