"""The server ends, and another starts on the same folder: what waited for the user still does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from review_stage import CODE, keep, listed, reject, review, seen_all, silent, texts
from server_stage import both_versions, play

if TYPE_CHECKING:
    from pathlib import Path

    from server_stage import Seat

    from acpls.testing.frames import Json

pytestmark = pytest.mark.anyio

LONG = "".join(f"{number}\n" for number in range(40))
AFTER = LONG.replace("5\n", "five\n", 1).replace("\n25\n", "\ntwenty-five\n")
TURN: list[Any] = [
    silent("a.txt", AFTER),
    silent("new.txt", "new\n"),
    {"remove": "gone.sh"},
    {"write": "bytes", "hex": "00ff00", "via": "disk"},
    silent("later.txt", AFTER),
]
NAMES = ["a.txt", "bytes", "gone.sh", "later.txt", "new.txt"]


def files(at: Seat) -> None:
    """The project before the turn."""
    at.file("a.txt", LONG)
    at.file("later.txt", LONG)
    at.file("bytes", b"\0\1\2")
    at.file("gone.sh", CODE).chmod(0o755)


async def first_run(folder: Path, version: int) -> dict[str, Json]:
    """An agent changes files, and everything is left as it is; the changes."""
    async with review(folder, TURN, version=version) as at:
        files(at)
        await play(at)
        changes = await listed(at, len(NAMES))
        await seen_all(at, 1)
        return changes


@both_versions
async def test_d20_what_waits_is_there_again(tmp_path: Path, version: int) -> None:
    """D20: with its hunks, whole files and bytes too, and it can be kept and taken back."""
    before = await first_run(tmp_path, version)
    async with review(tmp_path, TURN, version=version) as at:
        after = await listed(at, len(NAMES))
        for name in NAMES:
            assert texts(after[name]) == texts(before[name]), name
            assert after[name]["state"] == "pending", name
            assert after[name]["operation"] == before[name]["operation"], name
        five, twenty_five = after["a.txt"]["hunks"]
        await keep(at, hunk=five["hunk"])
        await reject(at, hunk=twenty_five["hunk"])
        await reject(at, all=True)
        path = at.project / "a.txt"
        assert path.read_text() == LONG.replace("5\n", "five\n", 1)
        assert not (at.project / "new.txt").exists()
        assert (at.project / "gone.sh").read_text() == CODE
        assert (at.project / "gone.sh").stat().st_mode & 0o777 == 0o755
        assert (at.project / "bytes").read_bytes() == b"\0\1\2"
    # And what was decided is so in the next run.
    async with review(tmp_path, TURN, version=version) as at:
        await at.command("acpls.session.new")
        assert await listed(at, 0) == {}


async def test_d20_what_was_seen_a_moment_before_the_end_is_there_again(tmp_path: Path) -> None:
    """D20: a user who quits at once finds it the next time."""
    turn = [silent("a.txt", AFTER), "wait_cancel"]
    async with review(tmp_path, turn, version=1) as at:
        at.file("a.txt", LONG)
        await at.command("acpls.session.prompt", {"text": "go"})
        await listed(at, 1)
    async with review(tmp_path, turn, version=1) as at:
        (change,) = (await listed(at, 1)).values()
        assert texts(change) == [("5\n", "five\n"), ("25\n", "twenty-five\n")]


@both_versions
async def test_d20_what_has_changed_meanwhile_is_compared_and_not_undone(
    tmp_path: Path, version: int
) -> None:
    """D20: newer text is never overwritten by an older one that was stored."""
    await first_run(tmp_path, version)
    project = tmp_path / "project"
    changed = AFTER.replace("\n30\n", "\nby another program\n")
    (project / "later.txt").write_text(changed)
    (project / "new.txt").unlink()
    async with review(tmp_path, TURN, version=version) as at:
        changes = await at.asked("acpls.review.list", {}, lambda found: len(found) >= 4)
        found = {at.path_of(change["uri"]).name: change for change in changes}
        stale = found["later.txt"]
        assert stale["state"] == "stale"
        assert all(hunk["keepOnly"] and hunk["reason"] for hunk in stale["hunks"])
        assert found["a.txt"]["state"] == "pending"
        diff = await at.command("acpls.review.diff", {"uri": stale["uri"]})
        assert (diff["base"], diff["current"]) == (LONG, changed)
        assert "+by another program" in diff["patch"]
        answer = await at.command("acpls.review.reject", {"all": True})
        assert {left["hunk"] for left in answer["left"]} >= {h["hunk"] for h in stale["hunks"]}
        assert (project / "later.txt").read_text() == changed
        assert (project / "a.txt").read_text() == LONG
        assert not (project / "new.txt").exists()
        await keep(at, uri=stale["uri"])
        assert (project / "later.txt").read_text() == changed


@both_versions
async def test_d20_a_turn_of_an_earlier_run_is_taken_back(tmp_path: Path, version: int) -> None:
    """D16, D20: as far as the files hold what it made of them; what came since stays."""
    await first_run(tmp_path, version)
    project = tmp_path / "project"
    (project / "later.txt").write_text("mine\n" + AFTER)
    async with review(tmp_path, TURN, version=version) as at:
        (checkpoint,) = await seen_all(at, 1)
        assert checkpoint["title"] == "go"
        answer = await at.command(
            "acpls.checkpoint.restore", {"checkpoint": checkpoint["checkpoint"]}
        )
        assert answer["left"] == []
        assert len(answer["files"]) == len(NAMES)
        assert (project / "a.txt").read_text() == LONG
        assert (project / "later.txt").read_text() == "mine\n" + LONG
        assert (project / "bytes").read_bytes() == b"\0\1\2"
        assert (project / "gone.sh").read_text() == CODE
        assert not (project / "new.txt").exists()
        assert await seen_all(at, 0) == []


async def test_nothing_of_it_is_kept_in_the_project(tmp_path: Path) -> None:
    """Neither the review nor texts: they are the user's, in the folder for that."""
    await first_run(tmp_path, 2)
    held = {str(path.relative_to(tmp_path)) for path in (tmp_path / "project").rglob("*")}
    assert held == {f"project/{name}" for name in NAMES if name != "gone.sh"}
