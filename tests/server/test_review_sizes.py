"""Files that are too large to be shown line by line, or no text: one whole, by its bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from review_stage import keep, listed, reject, review, seen_all, silent
from server_stage import both_versions, play

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.anyio

LINES = "".join(f"{number}\n" for number in range(60_000))
LARGE = b"x" * 99 + b"\n"
LARGE *= 5 * 1024 * 1024 // 100 + 1
BINARY = bytes(range(256)) * 20


@both_versions
async def test_many_lines_and_bytes_are_one_whole_and_come_back_exactly(
    tmp_path: Path, version: int
) -> None:
    """Nothing of it is sent line by line; the answer comes while the editor still works."""
    long = LINES.replace("\n30000\n", "\nthirty thousand\n")
    turn = [
        silent("lines.txt", long),
        {"write": "binary", "hex": (BINARY[::-1] + b"\0").hex(), "via": "disk"},
        {"write": "kept", "hex": "0001", "via": "disk"},
        {"write": "wide.txt", "text": "y" * 30_000 + "\n", "via": "disk"},
    ]
    async with review(tmp_path, turn, version=version) as at:
        before = {
            "lines.txt": LINES.encode(),
            "binary": BINARY,
            "kept": b"\0",
            "wide.txt": b"z" * 30_000 + b"\n",
        }
        paths = {name: at.file(name, data) for name, data in before.items()}
        uri = at.open(paths["lines.txt"])
        await play(at)
        await seen_all(at, 1)
        changes = await listed(at, 4)
        for name, change in changes.items():
            (hunk,) = change["hunks"]
            assert (hunk["whole"], hunk["baseText"], hunk["newText"]) == (True, "", ""), name
            assert hunk["reason"], name
            assert change["before"] in {"store", "buffer"}, name
        assert "binary" in changes["binary"]["hunks"][0]["reason"]
        # A document follows the file, and goes back with it.
        await at.until(lambda: at.text(uri) == long)
        await keep(at, uri=changes["kept"]["uri"])
        await reject(at, all=True)
        assert paths["kept"].read_bytes() == b"\0\1"
        for name in ("lines.txt", "binary", "wide.txt"):
            assert paths[name].read_bytes() == before[name], name
        await at.until(lambda: at.text(uri) == LINES)


@both_versions
async def test_what_is_too_large_to_be_kept_can_be_kept_only(tmp_path: Path, version: int) -> None:
    """5 MiB, and no Git: the text before is not known, and nothing is guessed."""
    turn = [
        {"run": ["cp", str(tmp_path / "changed"), "large.txt"]},
        {"run": ["cp", str(tmp_path / "changed"), "new.txt"]},
    ]
    changed = LARGE.replace(b"x", b"y", 1)
    (tmp_path / "changed").write_bytes(changed)
    async with review(tmp_path, turn, version=version) as at:
        path = at.file("large.txt", LARGE)
        await play(at)
        await seen_all(at, 1)
        changes = await listed(at, 2)
        large, new = changes["large.txt"], changes["new.txt"]
        assert (large["before"], large["operation"]) == ("unknown", "modify")
        (hunk,) = large["hunks"]
        assert (hunk["whole"], hunk["keepOnly"]) == (True, True)
        answer = await at.command("acpls.review.reject", {"all": True})
        assert (answer["hunks"], answer["left"]) == (
            1,
            [{"hunk": hunk["hunk"], "reason": hunk["reason"]}],
        )
        assert path.read_bytes() == changed
        # That it was not there is known of a file of any size.
        assert (new["operation"], (at.project / "new.txt").exists()) == ("add", False)
        await keep(at, hunk=hunk["hunk"])
        assert await listed(at, 0) == {}
