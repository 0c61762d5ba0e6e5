"""The change list is what happened to the files, whatever an agent says of it, or does not."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest
from review_stage import CODE, keep, listed, reject, review, seen_all, silent, texts, told
from server_stage import both_versions, play

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.anyio

AFTER = "one\n2\nthree\n"
SHELL = "import pathlib, sys; p = pathlib.Path(sys.argv[1]); p.write_bytes({!r})"


@both_versions
async def test_d01_an_agent_that_writes_files_itself_and_tells_nothing(
    tmp_path: Path, version: int
) -> None:
    """D01: no tool call, no open document; every hunk has its own verdict all the same."""
    before = "".join(f"{number}\n" for number in range(60))
    after = before.replace("10\n", "ten\n").replace("30\n", "").replace("50\n", "50\nfifty\n")
    turn = [
        silent("code.txt", after),
        silent("deep/er/new.txt", "new\n"),
        {"remove": "gone.txt"},
        {"say": "Nothing to tell."},
    ]
    async with review(tmp_path, turn, version=version) as at:
        path, gone = at.file("code.txt", before), at.file("gone.txt", CODE)
        await play(at)
        await seen_all(at, 1)
        changes = await listed(at, 3)
        assert {change["before"] for change in changes.values()} == {"store"}
        assert {change["session"] for change in changes.values()} == {"s1"}
        operations = {name: change["operation"] for name, change in changes.items()}
        assert operations == {"code.txt": "modify", "deep/er/new.txt": "add", "gone.txt": "delete"}
        ten, thirty, fifty = changes["code.txt"]["hunks"]
        assert texts(changes["code.txt"]) == [("10\n", "ten\n"), ("30\n", ""), ("", "fifty\n")]
        await reject(at, hunk=ten["hunk"])
        await keep(at, hunk=thirty["hunk"])
        assert path.read_text() == after.replace("ten\n", "10\n")
        # What is left of the file still is what it was.
        changes = await listed(at, 3)
        assert [hunk["hunk"] for hunk in changes["code.txt"]["hunks"]] == [fifty["hunk"]]
        await reject(at, all=True)
        assert path.read_text() == before.replace("30\n", "")
        assert gone.read_text() == CODE
        assert not (at.project / "deep/er/new.txt").exists()
        assert await listed(at, 0) == {}


def ways(version: int) -> dict[str, list[Any]]:
    """By the name of a file: what an agent does to have it hold the same."""
    python = [sys.executable, "-c", SHELL.format(AFTER.encode())]
    edit = {"kind": "edit", "status": "pending"}
    found: dict[str, list[Any]] = {
        "silently": [silent("silently", AFTER)],
        "renamed": [silent("renamed", AFTER, renamed=True)],
        "formatter": [{"run": [*python, "formatter"]}],
        "shell": [
            {"tool": "sh", "title": "Run", "kind": "execute", "status": "in_progress"},
            {"terminal": [*python, "shell"], "shown_in": "sh"},
            {"tool": "sh", "status": "completed"},
        ],
        "told before": [
            told("told before", CODE, AFTER, **edit),
            silent("told before", AFTER),
            {"tool": "call-told before", "status": "completed"},
        ],
        # The first that is heard of it is that it is done.
        "told after": [silent("told after", AFTER), told("told after", CODE, AFTER)],
        "whole": [silent("whole", AFTER), told("whole", None, AFTER)],
        # What is allowed without a question may have no diff anywhere.
        "place": [
            silent("place", AFTER),
            {"tool": "place", "kind": "edit", "status": "completed", "locations": ["place"]},
        ],
        "argument": [
            silent("argument", AFTER),
            {
                "tool": "argument",
                "kind": "edit",
                "status": "completed",
                "raw_input": {"file_path": "{cwd}/argument"},
            },
        ],
    }
    if version == 1:
        found["client"] = [{"write": "client", "text": AFTER, "via": "client"}]
    return found


@both_versions
async def test_d03_the_list_is_the_same_whichever_tool_was_used(
    tmp_path: Path, version: int
) -> None:
    """D03, D04, D39: by edit tools, shells and formatters, told or not, before or after."""
    every = ways(version)
    turn = [step for steps in every.values() for step in steps]
    async with review(tmp_path, turn, version=version) as at:
        paths = [at.file(name, CODE) for name in every]
        await play(at)
        await seen_all(at, 1)
        changes = await listed(at, len(every))
        assert sorted(changes) == sorted(every)
        for name, change in changes.items():
            assert (change["operation"], change["state"]) == ("modify", "pending"), name
            assert texts(change) == [("two\n", "2\n")], name
            assert change["session"] == "s1", name
            # Nobody took an agent's word for what there was before.
            assert change["before"] == ("ledger" if name == "client" else "store"), name
        named = {name for name, change in changes.items() if "toolCall" in change}
        assert named >= {"told before", "told after", "whole", "place", "argument"}
        await reject(at, session="s1")
        assert {path.read_text() for path in paths} == {CODE}


LINES = [f"line {number}\n" for number in range(300)]
WHOLE = "".join(LINES)
SMALL = WHOLE.replace("line 20\n", "line twenty\n").replace("line 250\n", "")
LIES = {
    "patched": WHOLE,
    "stale": WHOLE.replace("line 20\n", "line of long ago\n"),
    "nothing": None,
}


@both_versions
async def test_d39_small_edits_that_are_told_of_as_whole_files(
    tmp_path: Path, version: int
) -> None:
    """D39: they are reduced to what changed, also where the file was patched before it is told,
    and where the agent is wrong about what was there.
    """
    turn: list[Any] = []
    for name, old in LIES.items():
        turn += [silent(name, SMALL), told(name, old, SMALL)]
    async with review(tmp_path, turn, version=version) as at:
        for name in LIES:
            at.file(name, WHOLE)
        await play(at)
        await seen_all(at, 1)
        changes = await listed(at, len(LIES))
        for name, change in changes.items():
            assert texts(change) == [("line 20\n", "line twenty\n"), ("line 250\n", "")], name
            assert [h["baseRange"]["start"]["line"] for h in change["hunks"]] == [20, 250], name
            assert "reason" not in change, name
        diff = await at.command("acpls.review.diff", {"uri": changes["stale"]["uri"]})
        assert (diff["base"], diff["current"]) == (WHOLE, SMALL)
