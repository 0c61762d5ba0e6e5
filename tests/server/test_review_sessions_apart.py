"""Several sessions on the same files, and the user besides: each can take back its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from review_stage import keep, listed, reject, silent, texts
from server_stage import both_versions, hunks_told, seat

if TYPE_CHECKING:
    from pathlib import Path

    from server_stage import Seat

    from acpls.testing.frames import Json

pytestmark = pytest.mark.anyio

LONG = "".join(f"{number}\n" for number in range(40))


def edits(**words: str) -> str:
    """The text with some of its lines in words; a name begins with a letter: ``_5``."""
    text = LONG
    for number, word in words.items():
        text = text.replace(f"\n{number[1:]}\n", f"\n{word}\n")
    return text


def whole(name: str, text: str) -> Json:
    """A write of which nobody sees a part: an empty file would be an agent's doing, too."""
    return silent(name, text, renamed=True)


async def turn(at: Seat, session: str) -> None:
    """One prompt of a session, till all files were looked at after its turn."""
    before = len(await at.command("acpls.checkpoint.list"))
    await at.command("acpls.session.prompt", {"session": session, "text": "go"})
    await at.idle(session, stop="end_turn")

    def closed(found: list[Json]) -> bool:
        return len(found) > before and "at" in found[0]

    await at.asked("acpls.checkpoint.list", {}, closed)


@both_versions
async def test_d17_a_session_takes_back_only_its_own(tmp_path: Path, version: int) -> None:
    """D17: of a file that both have changed, and the user, too."""
    both = edits(_5="five", _25="twenty-five")
    agents: dict[str, tuple[Any, int]] = {
        "one": ({"turns": [[whole("a.txt", edits(_5="five"))]]}, version),
        "two": ({"turns": [[whole("a.txt", both), whole("b.txt", "new\n")]]}, version),
    }
    ignore = {"acp/document/save"}
    async with seat(tmp_path, agents=agents) as at:
        at.ignore |= ignore
        path = at.file("a.txt", LONG)
        uri = at.open(path)
        for agent in agents:
            await at.command("acpls.session.new", {"agent": agent})
        await turn(at, "s1")
        await hunks_told(at, uri, 1)
        await turn(at, "s2")
        await hunks_told(at, uri, 2)
        await at.until(lambda: at.text(uri) == both)
        at.replace(uri, both.index("15\n"), both.index("15\n") + 2, "mine")
        at.save(uri)
        changes = await listed(at, 2)
        hunks = changes["a.txt"]["hunks"]
        assert [hunk["session"] for hunk in hunks] == ["s1", "s2"]
        assert texts(changes["a.txt"]) == [("5\n", "five\n"), ("25\n", "twenty-five\n")]
        # Each is listed with its own, and with nothing of the other.
        assert [c["uri"] for c in await at.command("acpls.review.list", {"session": "s1"})] == [uri]
        assert await reject(at, session="s2") == 2
        assert path.read_text() == edits(_5="five", _15="mine")
        assert not (at.project / "b.txt").exists()
        assert await reject(at, session="s1") == 1
        assert path.read_text() == at.text(uri) == edits(_15="mine")


@both_versions
async def test_d17_two_at_work_at_once_are_told_apart_by_what_they_tell(
    tmp_path: Path, version: int
) -> None:
    """D17: while both work, a file that only one tells of is its own; one that nobody tells of
    is nobody's, and goes with no session.
    """
    gate = {"gate": str(tmp_path / "gate")}

    def script(name: str) -> Any:
        edit = {"tool": name, "kind": "edit", "status": "completed"}
        told = {**edit, "content": [{"diff": {"path": f"{name}.txt", "old": "o\n", "new": "n\n"}}]}
        steps = [silent(f"{name}.txt", "n\n"), told, silent(f"{name}-untold.txt", "n\n")]
        return {"turns": [[gate, *steps, {"gate": str(tmp_path / "end")}]]}

    agents = {name: (script(name), version) for name in ("one", "two")}
    async with seat(tmp_path, agents=agents) as at:
        paths = {
            name: at.file(f"{name}.txt", "o\n")
            for name in ("one", "two", "one-untold", "two-untold")
        }
        for agent, session in zip(agents, ("s1", "s2"), strict=True):
            await at.command("acpls.session.new", {"agent": agent})
            await at.command("acpls.session.prompt", {"session": session, "text": "go"})
        await at.until(lambda: all(at.heard_by(a, "session/prompt") for a in agents))
        (tmp_path / "gate").touch()
        await at.asked("acpls.review.list", {}, lambda found: len(found) == 4)

        def named(found: list[Any]) -> bool:
            return sum("session" in change for change in found) == 2

        found = await at.asked("acpls.review.list", {}, named)
        whose = {at.path_of(change["uri"]).stem: change.get("session") for change in found}
        assert whose == {"one": "s1", "two": "s2", "one-untold": None, "two-untold": None}
        (tmp_path / "end").touch()
        await at.idle("s1")
        await at.idle("s2")
        assert await reject(at, session="s1") == 1
        held = {name: path.read_text() for name, path in paths.items()}
        assert held == {"one": "o\n", "two": "n\n", "one-untold": "n\n", "two-untold": "n\n"}
        assert await reject(at, all=True) == 3


@both_versions
async def test_d17_what_the_user_does_between_turns_is_no_agents(
    tmp_path: Path, version: int
) -> None:
    """D17: by hand or by other programs, open or not; so is what is saved while it works."""
    gate = {"gate": str(tmp_path / "gate")}
    turns = [[silent("a.txt", edits(_5="five"))], [gate, silent("c.txt", "agent\n")]]
    async with seat(tmp_path, {"turns": turns}, version) as at:
        at.ignore |= {"acp/document/save"}
        path, other = at.file("a.txt", LONG), at.file("b.txt", "b\n")
        mine = at.open(at.file("mine.txt", "old\n"))
        await at.command("acpls.session.new")
        await turn(at, "s1")
        await listed(at, 1)
        path.write_text(edits(_5="five", _25="mine"))
        other.write_text("mine\n")
        at.file("new.txt", "mine\n")
        await at.command("acpls.session.prompt", {"session": "s1", "text": "go"})
        await at.until(lambda: len(at.heard_by(method="session/prompt")) == 2)
        at.replace(mine, 0, 3, "saved while it works")
        at.save(mine)
        (tmp_path / "gate").touch()
        await at.idle("s1", stop="end_turn")
        changes = await listed(at, 2)
        assert sorted(changes) == ["a.txt", "c.txt"]
        assert texts(changes["a.txt"]) == [("5\n", "five\n")]
        await reject(at, session="s1")
        assert path.read_text() == edits(_25="mine")
        assert (at.project / "mine.txt").read_text() == "saved while it works\n"
        assert (other.read_text(), (at.project / "new.txt").read_text()) == ("mine\n", "mine\n")


@both_versions
async def test_d18_what_was_kept_is_never_taken_back(tmp_path: Path, version: int) -> None:
    """D18: by no verdict that comes after it, of whatever scope, and by no later turn's."""
    first = edits(_5="five", _25="twenty-five")
    turns = [[whole("a.txt", first)], [whole("a.txt", first.replace("30\n", "thirty\n"))]]
    async with seat(tmp_path, {"turns": turns}, version) as at:
        path = at.file("a.txt", LONG)
        await at.command("acpls.session.new")
        await turn(at, "s1")
        (change,) = (await listed(at, 1)).values()
        await keep(at, hunk=change["hunks"][0]["hunk"])
        await turn(at, "s1")
        changes = await at.asked("acpls.review.list", {}, lambda found: len(found[0]["hunks"]) == 2)
        assert texts(changes[0]) == [("25\n", "twenty-five\n"), ("30\n", "thirty\n")]
        diff = await at.command("acpls.review.diff", {"uri": changes[0]["uri"]})
        assert diff["base"] == edits(_5="five")
        for which in ({"hunk": change["hunks"][1]["hunk"]}, {"uri": changes[0]["uri"]}):
            await reject(at, **which)
        assert path.read_text() == edits(_5="five")
        assert await reject(at, all=True) == 0
        assert path.read_text() == edits(_5="five")
