"""What Git knows, where it is there: commits are verdicts, and old texts can be had from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from review_stage import CODE, listed, reject, review, seen_all, silent, texts
from server_stage import both_versions, hunks_told, play

from acpls.testing import pages
from git_repository import Repository

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.anyio, pytest.mark.needs("git")]

AFTER = CODE.replace("two", "2")
LARGE = "".join(f"line {number:07}\n" for number in range(420_000))


@both_versions
async def test_a_commit_of_the_same_text_counts_as_keep(tmp_path: Path, version: int) -> None:
    """Of that file alone; what is committed otherwise, or not, still waits."""
    turn = [silent(name, AFTER) for name in ("a.txt", "b.txt", "c.txt")]
    async with review(tmp_path, turn, version=version) as at:
        paths = [at.file(f"{letter}.txt", CODE) for letter in "abc"]
        repository = Repository(at.project)
        repository.commit("a.txt", "b.txt", "c.txt")
        await play(at)
        await listed(at, 3)
        repository.git("add", "a.txt", "b.txt")
        # Another text is committed than the one that is under review.
        other = tmp_path / "other.txt"
        other.write_text(CODE.replace("two", "zwei"))
        blob = repository.git("hash-object", "-w", str(other)).strip()
        repository.git("update-index", "--cacheinfo", f"100644,{blob},b.txt")
        repository.git("commit", "-q", "-m", "reviewed")
        await hunks_told(at, pages.to_uri(paths[0]), 0)
        assert sorted(await listed(at, 2)) == ["b.txt", "c.txt"]
        await reject(at, all=True)
        assert [path.read_text() for path in paths] == [AFTER, CODE, CODE]


async def test_where_nobody_kept_the_text_before_git_has_it(tmp_path: Path) -> None:
    """A file of 5 MiB is one whole; it comes back where it was committed, and only there."""
    changed = LARGE.replace("line 0000005\n", "line five\n")
    turn = [{"run": ["cp", str(tmp_path / name), name]} for name in ("known.txt", "lost.txt")]
    for name in ("known.txt", "lost.txt"):
        (tmp_path / name).write_text(changed)
    async with review(tmp_path, turn) as at:
        known, lost = at.file("known.txt", LARGE), at.file("lost.txt", "not this\n")
        repository = Repository(at.project)
        repository.commit("known.txt", "lost.txt")
        lost.write_text(LARGE)
        assert len(LARGE) > 5 * 1024 * 1024
        await play(at)
        await seen_all(at, 1)
        changes = await listed(at, 2)
        assert {name: change["before"] for name, change in changes.items()} == {
            "known.txt": "git",
            "lost.txt": "unknown",
        }
        for name, change in changes.items():
            (hunk,) = change["hunks"]
            assert (hunk["whole"], texts(change)) == (True, [("", "")])
            assert hunk.get("keepOnly", False) == (name == "lost.txt")
            assert hunk["reason"]
        answer = await at.command("acpls.review.reject", {"all": True})
        (left,) = answer["left"]
        assert left["hunk"] == changes["lost.txt"]["hunks"][0]["hunk"]
        assert known.read_text() == LARGE
        assert lost.read_text() == changed
