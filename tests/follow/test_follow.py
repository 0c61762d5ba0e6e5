"""Where the agent is, and whether the editor goes along (F13)."""

from __future__ import annotations

import pytest

from acpls.follow import TRAIL_LENGTH, Follow, Place, place_of
from acpls.session import content as c
from acpls.session.state import ToolCall


def call(*content: c.ToolContent, at: tuple[c.Location, ...] = ()) -> ToolCall:
    made = ToolCall("call", kind="edit", locations=at)
    made.content = content
    return made


# --- places ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "row"), [(1, 0), (2, 1), (100, 99), (0, 0), (-3, 0), (None, None)]
)
def test_lines_of_agents_count_from_one_f13(line: int | None, row: int | None) -> None:
    place = place_of(call(at=(c.Location("/w/a.py", line),)))
    assert place == Place("/w/a.py", row, "edit", "call")


def test_the_last_location_counts() -> None:
    at = (c.Location("/w/a.py", 3), c.Location("/w/b.py", 7))
    assert place_of(call(c.Fragment("/w/c.py", "a", "b"), at=at)) == Place(
        "/w/b.py", 6, "edit", "call"
    )


def test_a_fragment_names_its_file() -> None:
    found = place_of(call(c.Text("x"), c.Fragment("/w/a.py", None, "b"), c.TerminalRef("t")))
    assert found == Place("/w/a.py", None, "edit", "call")


def test_a_patch_names_the_first_file_that_is_there_after_it() -> None:
    changes = (c.FileChange("own", None), c.FileChange("move", "/w/new.py", "/w/old.py"))
    empty = c.Patch((c.FileChange("own", None),))
    assert place_of(call(empty, c.Patch(changes))) == Place("/w/new.py", None, "edit", "call")


@pytest.mark.parametrize("content", [(), (c.Text("x"),), (c.Patch(()),)])
def test_a_tool_call_can_be_nowhere(content: tuple[c.ToolContent, ...]) -> None:
    assert place_of(call(*content)) is None


# --- the trail ---------------------------------------------------------------------------


def test_a_place_is_news_once() -> None:
    follow = Follow()
    here, there = (Place("/w/a.py", line, "read", "c") for line in (0, None))
    assert follow.here("s1") is None
    assert [follow.seen("s1", p) for p in (here, here, there, here)] == [True, False, True, True]
    assert follow.seen("s2", there)
    assert (follow.here("s1"), follow.here("s2")) == (here, there)
    assert list(follow.trails["s1"]) == [here, there, here]


def test_the_trail_keeps_the_last_places() -> None:
    follow = Follow()
    for line in range(TRAIL_LENGTH + 10):
        follow.seen("s1", Place("/w/a.py", line, "read", None))
    trail = follow.trails["s1"]
    assert [place.line for place in trail] == list(range(TRAIL_LENGTH + 9, 9, -1))


# --- going along ---------------------------------------------------------------------------


def test_the_editor_is_moved_only_when_that_is_wanted() -> None:
    follow = Follow()
    assert not follow.may_move(1000.0)
    follow.on = True
    assert follow.may_move(0.0)


def test_the_editor_is_not_moved_under_the_hands_of_the_user() -> None:
    follow = Follow(on=True, idle_s=2.0, typed_at_s=10.0)
    assert [follow.may_move(now) for now in (9.0, 10.0, 11.9, 12.0, 13.0)] == [
        False,
        False,
        False,
        True,
        True,
    ]
    follow.typing = True
    assert not follow.may_move(100.0)
    follow.typing = False
    assert follow.may_move(100.0)
