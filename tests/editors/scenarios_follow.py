"""Scenarios of following: where the agent is, and what a person who works sees of that."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from sitting import CODE, Scenario

if TYPE_CHECKING:
    from collections.abc import Callable

    from sitting import Sitting

LONG: Final = "".join(f"line {n}\n" for n in range(1, 201))
FILES: Final = {"a.md": CODE.encode(), "b.md": LONG.encode(), "c.md": LONG.encode()}
# Whoever has not touched a key for so long may be taken along.
SOON: Final = "[follow]\nidleSeconds = 0.3\n"
ON: Final = "[follow]\non = true\nidleSeconds = 0.3\n"
NEVER: Final = "[follow]\non = true\nidleSeconds = 600\n"


def goes(name: str, line: int | None, **more: Any) -> dict[str, Any]:
    """The agent works at a line of a file; it counts from one."""
    at = name if line is None else [name, line]
    call = f"{name}:{line}"
    return {"tool": call, "title": f"Read {call}", "kind": "read", "locations": [at], **more}


def trail(s: Sitting) -> list[tuple[str, int]]:
    """The places of the agent, the last one first; lines count from one."""
    places = s.tap.command("acpls.follow.trail")
    return [(p["uri"].rsplit("/", 1)[-1], p["range"]["start"]["line"] + 1) for p in places]


def shown(s: Sitting) -> list[Any]:
    """What the editor was told to show."""
    return s.tap.sent("server", "window/showDocument")


def follows(s: Sitting, word: str) -> None:
    """Wait until it stands so with following."""
    s.until(lambda: s.tap.command("acpls.status")["follow"] == word, f"following is {word}")


def went_to(s: Sitting, *places: tuple[str, int]) -> None:
    """Wait until these are known as the places of the agent, the last one first."""
    s.until(lambda: trail(s) == [*places], f"the places {places}")


# --- without being asked --------------------------------------------------------------------


def _is_off(s: Sitting) -> None:
    """Nothing moves unless the user wants that; the places are known all the same."""
    s.prompt()
    went_to(s, ("c.md", 7), ("b.md", 150))
    assert shown(s) == []
    assert s.hands.at() == ("a.md", 1)
    assert s.hands.shown() == ["a.md"]


def _is_turned_on(s: Sitting) -> None:
    """F02: the place is shown where that moves neither the cursor nor the focus."""
    s.hands.command("acpls.follow.set")
    follows(s, "on")
    s.prompt()
    if s.hands.keeps_focus:
        s.until(lambda: s.hands.shown() == ["a.md", "c.md"], "the place beside")
        s.hands.terminal.until_shown("line 7")
        s.shot("beside")
    assert s.hands.at() == ("a.md", 1)
    assert [message["params"]["takeFocus"] for message in shown(s)] == [False] * len(shown(s))
    # The other way round, by the same command.
    s.hands.command("acpls.follow.set")
    follows(s, "off")


def _place_has_lines_around_it(s: Sitting) -> None:
    """F09: what is shown is not at an edge."""
    s.prompt()
    if not s.hands.keeps_focus:
        assert s.hands.shown() == ["a.md"]
        return
    s.until(lambda: s.hands.shown() == ["a.md", "b.md"], "the place beside")
    s.hands.terminal.until_shown("line 150")
    rows = s.hands.terminal.lines()
    at = next(n for n, row in enumerate(rows) if row.endswith("line 150"))
    assert rows[at - 1].endswith("line 149")
    assert rows[at + 1].endswith("line 151")
    assert s.hands.at() == ("a.md", 1)


def _types_meanwhile(s: Sitting) -> None:
    """F02: what is typed on stays where it was begun, and nothing else comes into view."""

    def moves() -> None:
        s.prompt()
        went_to(s, ("c.md", 7), ("b.md", 150))

    s.hands.above(1, "half a line and the rest", moves)
    assert s.hands.text() == f"half a line and the rest\n{CODE}"
    s.until(lambda: s.hands.at() == ("a.md", 1), "the cursor where it was")
    assert s.hands.shown() == ["a.md"]
    assert shown(s) == []
    s.saves()
    assert s.disk("b.md") == s.disk("c.md") == LONG


# --- going there ------------------------------------------------------------------------------


def _goes_to_the_place(s: Sitting) -> None:
    """F13: lines count from one for the agent and for the person."""
    s.prompt()
    went_to(s, ("c.md", 7), ("b.md", 150))
    s.hands.command("acpls.follow.goTo")
    s.until(lambda: s.hands.at() == ("c.md", 7), "the place")
    s.shot("there")
    assert s.hands.text() == LONG


def _goes_as_far_as_there_is_a_line(s: Sitting) -> None:
    """F13: past the end is the end."""
    s.prompt()
    went_to(s, ("b.md", 200))
    s.hands.command("acpls.follow.goTo")
    s.until(lambda: s.hands.at() == ("b.md", 200), "the end")


def _goes_to_the_first_line_for_none(s: Sitting) -> None:
    """F13: 0 is what some agents say for the first line."""
    s.prompt()
    went_to(s, ("b.md", 1))
    s.hands.command("acpls.follow.goTo")
    s.until(lambda: s.hands.at() == ("b.md", 1), "the file")


def _steps_through_the_trail(s: Sitting) -> None:
    """Back and forth, afterwards and by hand."""
    s.prompt()
    went_to(s, ("c.md", 7), ("b.md", 150))
    steps = (
        ("previous", ("c.md", 7)),
        ("previous", ("b.md", 150)),
        ("next", ("c.md", 7)),
    )
    for command, place in steps:
        s.hands.command(f"acpls.follow.{command}")
        s.until(partial(_is_at, s, place), f"{command} is {place}")


def _is_at(s: Sitting, place: tuple[str, int]) -> bool:
    return s.hands.at() == place


def _has_the_trail_as_references(s: Sitting) -> None:
    """The editor's own list of references has the places, and goes there."""
    s.prompt()
    went_to(s, ("c.md", 7), ("b.md", 150))
    s.hands.command("acpls.session.openConversation")
    s.until(lambda: s.hands.at()[0].startswith("fake-"), "the conversation")
    s.hands.references("b.md")
    s.shot("references")
    s.hands.press_enter()
    s.until(lambda: s.hands.at() == ("b.md", 150), "the place")


def _goes_to_what_is_mentioned(s: Sitting) -> None:
    """F10: a path with a line in what the agent says is a place to go to."""
    s.prompt()
    s.hands.command("acpls.session.openConversation")
    s.until(lambda: s.hands.at()[0].startswith("fake-"), "the conversation")
    s.until(lambda: "b.md:42" in s.hands.text(), "what the agent said")
    rows = s.hands.text().split("\n")
    s.hands.define(next(n for n, row in enumerate(rows, 1) if "b.md:42" in row), "b.md:42")
    s.until(lambda: s.hands.at() == ("b.md", 42), "the place")


def _both(
    act: Callable[[Sitting], None], steps: list[Any], settings: str = SOON, **more: Any
) -> list[Scenario]:
    name = act.__name__.strip("_")
    return [Scenario(f"{name}_in_{v}", act, [steps], FILES, v, settings, **more) for v in (1, 2)]


_TWO: Final = [
    goes("b.md", 150, status="in_progress"),
    goes("c.md", 7, status="in_progress"),
    {"say": "Done."},
]
FOLLOW: Final = [
    *_both(_is_off, _TWO),
    *_both(_is_turned_on, _TWO),
    *_both(_place_has_lines_around_it, [goes("b.md", 150, status="in_progress")], ON),
    *_both(_types_meanwhile, _TWO, NEVER),
    *_both(_goes_to_the_place, _TWO),
    *_both(_goes_as_far_as_there_is_a_line, [goes("b.md", 999, status="in_progress")]),
    *_both(_steps_through_the_trail, _TWO),
    *_both(_has_the_trail_as_references, _TWO),
    *_both(_goes_to_what_is_mentioned, [{"say": "See b.md:42 for that."}]),
    *_both(_goes_to_the_first_line_for_none, [goes("b.md", 0, status="in_progress")]),
]
