"""Which files are under review, and what lies outside: links, folders, other spellings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from review_stage import CODE, listed, reject, review, seen_all, silent, texts, told
from server_stage import both_versions, hunks_told, play

from acpls.testing import pages

if TYPE_CHECKING:
    from pathlib import Path

    from acpls.testing.frames import Json

pytestmark = pytest.mark.anyio

AFTER = CODE.replace("two", "2")


@pytest.mark.parametrize("spelled", ["link", "real"])
@both_versions
async def test_a_workspace_behind_a_symbolic_link(
    tmp_path: Path, version: int, spelled: str
) -> None:
    """Whichever way the agent spells a path, it is the editor's file, once."""
    real = tmp_path / "somewhere" / "else"
    real.mkdir(parents=True)
    (tmp_path / "project").symlink_to(real)
    path = str((real if spelled == "real" else tmp_path / "project") / "a.txt")
    turn: list[Any] = [silent(path, AFTER), told(path, CODE, AFTER)]
    if version == 1:
        turn.append({"write": path, "text": AFTER + "four\n", "via": "client"})
    async with review(tmp_path, turn, version=version) as at:
        at.file("a.txt", CODE)
        uri = at.open(at.project / "a.txt")
        await play(at)
        after = AFTER + ("four\n" if version == 1 else "")
        await at.until(lambda: at.text(uri) == after)
        (change,) = await at.asked("acpls.review.list", {}, lambda found: len(found) == 1)
        # The editor gets its own spelling back.
        assert change["uri"] == uri
        assert len(change["hunks"]) == (2 if version == 1 else 1)
        assert (await hunks_told(at, uri, len(change["hunks"])))[0]["newText"] == "2\n"
        await reject(at, uri=uri)
        assert at.text(uri) == (real / "a.txt").read_text() == CODE
        assert await listed(at, 0) == {}


@both_versions
async def test_d42_d43_what_lies_outside_is_not_reviewed_and_not_touched(
    tmp_path: Path, version: int
) -> None:
    """D42, D43: behind a link in the project, in a folder whose name begins like the project's,
    and above it; whatever the agent does there is none of ours, and no verdict reaches it.
    """
    outside = tmp_path / "outside"
    beside = tmp_path / "project-two"
    for folder in (outside, beside):
        folder.mkdir()
        (folder / "a.txt").write_text(CODE)
    turn = [
        silent("link.txt", AFTER),
        silent("folder/a.txt", AFTER),
        silent("../project-two/a.txt", AFTER),
        told("link.txt", CODE, AFTER),
        told("../project-two/a.txt", CODE, AFTER),
        silent("a.txt", AFTER),
    ]
    (outside / "linked.txt").write_text(CODE)
    async with review(tmp_path, turn, version=version) as at:
        at.file("a.txt", CODE)
        (at.project / "link.txt").symlink_to(outside / "linked.txt")
        (at.project / "folder").symlink_to(outside)
        await play(at)
        changes = await at.asked(
            "acpls.review.list", {}, lambda found: any(c["hunks"] for c in found)
        )
        (inside,) = [change for change in changes if change["hunks"]]
        assert at.path_of(inside["uri"]) == at.project / "a.txt"
        # What was told of it is shown with the reason, and cannot be decided on.
        assert all(change["state"] == "unclear" for change in changes if change is not inside)
        assert await reject(at, all=True) == 1
        held = [(outside / "linked.txt"), (outside / "a.txt"), (beside / "a.txt")]
        assert {path.read_text() for path in held} == {AFTER}
        assert (at.project / "link.txt").is_symlink()


@pytest.mark.parametrize("option", ["refuse", "write"])
async def test_d42_a_write_to_the_outside_is_asked_about(tmp_path: Path, option: str) -> None:
    """D42, D43: dangling links too; allowed is the one file, and then it is under review."""
    outside = tmp_path / "outside"
    outside.mkdir()
    beside = tmp_path / "project-two" / "a.txt"
    beside.parent.mkdir()
    beside.write_text(CODE)
    names = ["dangling.txt", "../project-two/a.txt"]
    turn = [{"write": name, "text": AFTER, "via": "client"} for name in names]
    async with review(tmp_path, turn, version=1) as at:
        (at.project / "dangling.txt").symlink_to(outside / "new.txt")
        at.answer["acp/question/ask"] = lambda _: {"option": option}
        await play(at)
        for name in names:
            asked = await at.next("acp/question/ask")
            assert "outside" in asked["title"]
            assert str(at.project / name) in asked["description"] or "project-two" in name
        answers = at.answers_to()
        assert all(("error" in answer) == (option == "refuse") for answer in answers), answers
        written = option == "write"
        assert (outside / "new.txt").exists() == written
        assert beside.read_text() == (AFTER if written else CODE)
        assert (at.project / "dangling.txt").is_symlink()
        await listed(at, 2 if written else 0)
        await reject(at, all=True)
        assert (beside.read_text(), (outside / "new.txt").exists()) == (CODE, False)


@both_versions
async def test_what_git_ignores_is_left_alone_until_it_is_told(
    tmp_path: Path, version: int
) -> None:
    """Build products are nobody's business; version control and our own folder never are."""
    turn = [
        silent("build/out.o", "2\n"),
        silent(".git/config", "2\n"),
        silent("node_modules/x/index.js", "2\n"),
        silent("kept/a.log", "2\n"),
        silent("src/a.txt", AFTER),
    ]
    async with review(tmp_path, turn, version=version) as at:
        at.file(".gitignore", "build/\n*.log\n!kept/*.log\n")
        for step in turn:
            at.file(step["write"], "1\n" if step["text"] == "2\n" else CODE)
        await play(at)
        await seen_all(at, 1)
        changes = await listed(at, 2)
        assert sorted(changes) == ["kept/a.log", "src/a.txt"]
        assert texts(changes["src/a.txt"]) == [("two\n", "2\n")]
        await reject(at, all=True)
        assert (at.project / "build/out.o").read_text() == "2\n"
        assert (at.project / "kept/a.log").read_text() == "1\n"


async def test_two_folders_in_the_workspace_and_a_session_in_a_third(tmp_path: Path) -> None:
    """All are the agent's to change and the user's to review, each file once."""
    other, third = tmp_path / "other", tmp_path / "project" / "sub"
    other.mkdir()
    third.mkdir(parents=True)
    (other / "a.txt").write_text(CODE)
    turn = [silent(str(other / "a.txt"), AFTER), silent("b.txt", AFTER), silent("../c.txt", AFTER)]
    async with review(tmp_path, turn, other_roots=[other]) as at:
        at.file("sub/b.txt", CODE)
        at.file("c.txt", CODE)
        uris = {pages.to_uri(path) for path in (other / "a.txt", third / "b.txt")}
        told_of: Json = await at.command("acpls.session.new", {"cwd": str(third)})
        assert told_of["cwd"] == str(third)
        await play(at)
        found = await at.asked("acpls.review.list", {}, lambda changes: len(changes) == 3)
        assert {change["uri"] for change in found} == uris | {pages.to_uri(at.project / "c.txt")}
        assert await reject(at, session="s1") == 3
        assert (other / "a.txt").read_text() == (at.project / "c.txt").read_text() == CODE
