"""The last places of a turn, and stepping through them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from acpls.follow import TRAIL_LENGTH, Place, Trail


def at(line: int | None, call: str | None = "c", path: str = "/w/a", reason: str = "read") -> Place:
    return Place(path, line, reason, call)


def test_a_place_is_news_once() -> None:
    trail = Trail()
    assert trail.newest is None
    here, there = at(0, "c1"), at(4, "c2")
    assert [trail.add(p) for p in (here, here, there, there)] == [True, False, True, False]
    assert trail.newest == there
    assert list(trail.places) == [here, there]


def test_two_tool_calls_that_go_on_side_by_side_do_not_pull_to_and_fro() -> None:
    trail = Trail()
    first, second = at(0, "c1"), at(4, "c2")
    assert [trail.add(p) for p in (first, second, first, second)] == [True, True, False, False]
    assert trail.newest == second
    assert trail.add(at(9, "c1"))


def test_equal_places_one_after_the_other_are_one() -> None:
    trail = Trail()
    trail.add(at(3, "c1"))
    assert trail.add(at(3, "c2", reason="edit"))
    assert list(trail.places) == [at(3, "c2", reason="edit")]


def test_a_line_that_is_told_a_little_later_completes_the_place() -> None:
    trail = Trail()
    trail.add(at(None, "c1"))
    assert trail.add(at(7, "c1"))
    assert list(trail.places) == [at(7, "c1")]
    assert trail.add(at(9, "c1"))
    assert len(trail.places) == 2
    assert trail.add(at(None, "c2"))
    assert trail.add(at(1, "c3"))
    assert len(trail.places) == 4


def test_what_is_read_for_a_tool_call_is_no_place_of_its_own() -> None:
    trail = Trail()
    trail.add(at(7, "c1"))
    assert not trail.add(at(None, None))
    assert not trail.add(at(7, None, reason="edit"))
    assert trail.add(at(8, None))
    assert trail.add(at(None, None, "/w/b"))
    assert [place.line for place in trail.places] == [7, 8, None]


def test_the_trail_keeps_the_last_places_of_a_turn() -> None:
    trail = Trail()
    trail.begin("t1")
    for line in range(TRAIL_LENGTH + 10):
        trail.add(at(line, None))
    assert [place.line for place in trail.places] == list(range(10, TRAIL_LENGTH + 10))
    # What goes on in the background belongs to the turn before.
    trail.begin(None)
    trail.begin("t1")
    assert len(trail.places) == TRAIL_LENGTH
    trail.begin("t2")
    assert trail.newest is None
    assert trail.step("previous") is None
    assert trail.add(at(3, "c"))


def steps(trail: Trail, *where: str) -> list[int | None]:
    found = [trail.step(one) for one in where]  # type: ignore[arg-type]  # words of the test
    return [None if place is None else place.line for place in found]


def test_one_steps_back_from_the_newest_and_on_from_the_oldest() -> None:
    trail = Trail()
    for line in range(3):
        trail.add(at(line, None))
    assert steps(trail, *["previous"] * 4) == [2, 1, 0, None]
    assert steps(trail, *["next"] * 3) == [1, 2, None]
    assert steps(trail, "previous", "newest", "next") == [1, 2, None]
    other = Trail()
    assert steps(other, "next", "previous", "newest") == [None, None, None]
    for line in range(3):
        other.add(at(line, None))
    assert steps(other, "next", "next", "previous") == [0, 1, 0]


def test_stepping_goes_on_where_it_was_when_places_were_added() -> None:
    trail = Trail()
    for line in range(TRAIL_LENGTH):
        trail.add(at(line, None))
    assert steps(trail, "next", "next") == [0, 1]
    for line in range(TRAIL_LENGTH, TRAIL_LENGTH + 5):
        trail.add(at(line, None))
    assert steps(trail, "previous", "next") == [None, 5]


@given(st.lists(st.sampled_from(["add", "previous", "next", "newest"]), max_size=80))
def test_stepping_never_leaves_the_trail(deeds: list[str]) -> None:
    trail = Trail()
    line = 0
    for deed in deeds:
        if deed == "add":
            line += 1
            assert trail.add(at(line, None))
        else:
            place = trail.step(deed)  # type: ignore[arg-type]  # words of the test
            assert place is None or place in trail.places
            assert deed != "newest" or place == trail.newest
