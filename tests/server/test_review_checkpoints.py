"""Turns taken back: what the agent did goes, what the user did since stays."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from review_stage import CODE, keep, listed, review, seen_all, silent
from server_stage import both_versions, play

from acpls.testing.editor import CommandFailed

if TYPE_CHECKING:
    from pathlib import Path

    from server_stage import Seat

    from acpls.testing.frames import Json

pytestmark = pytest.mark.anyio

LONG = "".join(f"{number}\n" for number in range(40))
FIRST = LONG.replace("\n5\n", "\nfive\n")
SECOND = FIRST.replace("\n25\n", "\ntwenty-five\n")
TURNS: list[list[Any]] = [
    [silent("a.txt", FIRST), silent("new.txt", "new\n"), {"say": "One."}],
    [silent("a.txt", SECOND), {"remove": "gone.txt"}, {"say": "Two."}],
    [{"say": "Nothing."}],
]


def restored(key: str, **arguments: bool) -> Json:
    """The arguments for a restore."""
    return {"checkpoint": key, **arguments}


async def two_turns(at: Seat) -> list[str]:
    """Two turns that change files, and one that does not; the checkpoints, oldest first."""
    at.file("a.txt", LONG)
    at.file("gone.txt", CODE)
    for prompt in ("First of all", "Then\nand more", "And now?"):
        await play(at, prompt)
    newest, oldest = await seen_all(at, 2)
    assert (oldest["title"], newest["title"]) == ("First of all", "Then")
    assert [file["operation"] for file in oldest["files"]] == ["modify", "add"]
    await rested(at, oldest["checkpoint"])
    return [oldest["checkpoint"], newest["checkpoint"]]


async def rested(at: Seat, checkpoint: str) -> None:
    """The last turn changed nothing, so no checkpoint tells that it is over in all respects."""
    with anyio.fail_after(10):
        while True:
            with suppress(CommandFailed):
                dry = {"checkpoint": checkpoint, "dryRun": True}
                await at.command("acpls.checkpoint.restore", dry)
                return


@both_versions
async def test_d16_a_restore_tells_first_what_it_will_do(tmp_path: Path, version: int) -> None:
    """D16: a dry run answers the same and changes nothing; neither does listing."""
    async with review(tmp_path, *TURNS, version=version) as at:
        first, second = await two_turns(at)
        path = at.project / "a.txt"
        shown = await at.command("acpls.checkpoint.restore", restored(second, dryRun=True))
        assert {at.path_of(f["uri"]).name: f["operation"] for f in shown["files"]} == {
            "a.txt": "modify",
            "gone.txt": "add",
        }
        assert "-twenty-five\n+25\n" in shown["files"][0]["patch"]
        assert (path.read_text(), (at.project / "gone.txt").exists()) == (SECOND, False)
        done = await at.command("acpls.checkpoint.restore", restored(second))
        assert done == shown
        assert path.read_text() == FIRST
        assert (at.project / "gone.txt").read_text() == CODE
        assert [c["checkpoint"] for c in await at.command("acpls.checkpoint.list")] == [first]
        # It is out of the review as well; the first turn's is still in it.
        assert sorted(await listed(at, 2)) == ["a.txt", "new.txt"]


@both_versions
async def test_d16_later_edits_of_the_user_stay(tmp_path: Path, version: int) -> None:
    """D16: saved or not, in an open document or by another program; in the same lines they are
    left with the reason, until they are to go too.
    """
    async with review(tmp_path, *TURNS, version=version) as at:
        first, _ = await two_turns(at)
        path = at.project / "a.txt"
        path.write_text(SECOND.replace("\n35\n", "\nby a program\n"))
        uri = at.open(path)
        at.type(uri, 0, "saved\n")
        at.save(uri)
        at.type(uri, 0, "unsaved\n")
        text = at.text(uri).replace("\ntwenty-five\n", "\n25\n").replace("\nfive\n", "\n5\n")
        answer = await at.command("acpls.checkpoint.restore", restored(first))
        assert answer["left"] == []
        assert sorted(at.path_of(f["uri"]).name for f in answer["files"]) == [
            *("a.txt", "gone.txt", "new.txt")
        ]
        assert at.text(uri) == text
        assert path.read_text() == text.removeprefix("unsaved\n")
        assert at.modified(uri)
        assert not (at.project / "new.txt").exists()


@both_versions
async def test_d16_lines_that_the_user_changed_are_left_unless_told_otherwise(
    tmp_path: Path, version: int
) -> None:
    """D16: what was done to other lines is taken back all the same."""
    async with review(tmp_path, *TURNS, version=version) as at:
        first, _ = await two_turns(at)
        path = at.project / "a.txt"
        path.write_text(SECOND.replace("\nfive\n", "\nfive, mine\n"))
        answer = await at.command("acpls.checkpoint.restore", restored(first))
        (left,) = answer["left"]
        assert (at.path_of(left["uri"]), bool(left["reason"])) == (path, True)
        assert path.read_text() == LONG.replace("\n5\n", "\nfive, mine\n")
        answer = await at.command("acpls.checkpoint.restore", restored(first, over=True))
        assert answer["left"] == []
        assert path.read_text() == LONG


async def test_d18_what_was_kept_is_in_the_turn_and_a_turn_at_work_is_not_taken_back(
    tmp_path: Path,
) -> None:
    """D18: a reject never takes back what was kept; who takes back the whole turn says so.

    While the session works, nothing is restored.
    """
    gate = tmp_path / "gate"
    turns = [[silent("a.txt", FIRST)], [{"gate": str(gate)}]]
    async with review(tmp_path, *turns) as at:
        path = at.file("a.txt", LONG)
        await play(at)
        await keep(at, all=True)
        (checkpoint,) = await seen_all(at, 1)
        await at.command("acpls.session.prompt", {"text": "again"})
        with pytest.raises(CommandFailed, match="at work"):
            await at.command("acpls.checkpoint.restore", restored(checkpoint["checkpoint"]))
        assert path.read_text() == FIRST
        gate.touch()
        await at.idle(stop="end_turn")

        # The files are still looked at for a moment after the turn.
        while True:
            try:
                answer = await at.command(
                    "acpls.checkpoint.restore", restored(checkpoint["checkpoint"])
                )
            except CommandFailed:
                await at.stirs()
            else:
                break
        assert (answer["left"], path.read_text()) == ([], LONG)
