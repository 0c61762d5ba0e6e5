"""Edits that agents tell of: found in the file, put beside what the user wrote, landing once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from server_stage import TOLD, both_versions, hunks_told, play, seat

from acpls.testing.editor import PLAIN

if TYPE_CHECKING:
    from pathlib import Path

    from acpls.testing.frames import Json

pytestmark = pytest.mark.anyio

CODE = "one\ntwo\nthree\n"


def edit(old: str, new: str) -> list[Any]:
    """The agent edits the disk by itself and tells of it, as most do."""
    return [
        {"write": "a.txt", "text": new, "via": "disk"},
        {
            "tool": "t",
            "title": "Edit",
            "kind": "edit",
            "status": "completed",
            "content": [{"diff": {"path": "a.txt", "old": old, "new": new}}],
        },
        {"say": "Done."},
    ]


@pytest.mark.parametrize(("version", "reloads"), [(1, True), (2, False)])
async def test_d07_an_edit_that_is_on_the_disk_already_lands_once(
    tmp_path: Path, version: int, reloads: bool
) -> None:
    """D07: it is recorded; the clean document holds it once; nobody is asked anything."""
    after = CODE.replace("two\n", "two\ntwo and a half\n")
    async with seat(tmp_path, {"turns": [edit(CODE, after)]}, version) as at:
        path = at.file("a.txt", CODE)
        uri = at.open(path)
        await at.command("acpls.session.prompt", {"text": "go"})
        await at.until(lambda: "Done." in at.said())
        if reloads:
            at.reload(uri)
        (hunk,) = await hunks_told(at, uri, 1)
        await at.until(lambda: at.text(uri) == after)
        if not reloads:
            at.reload(uri)
        kept = await at.command("acpls.review.keep", {"hunk": hunk["hunk"]})
        assert kept == {"hunks": 1, "left": []}
        assert (at.text(uri), path.read_text()) == (after, after)
        assert len(at.seen("workspace/applyEdit")) == (0 if reloads else 1)
        assert at.seen("window/showMessageRequest") == at.popups == []


REPLACED = [
    ("two\n", "2\n"),
    ("two\n", "2"),
    ("two", "2\n"),
    ("two\nthree\n", ""),
    ("one", "\none"),
]


@both_versions
async def test_d34_a_replacement_is_what_text_replacement_gives(
    tmp_path: Path, version: int
) -> None:
    """D34: no blank line too many, in documents with unsaved changes and in their files."""
    turn: list[Any] = []
    for number, (old, new) in enumerate(REPLACED):
        name = f"{number}.txt"
        told = {"path": name, "old": old, "new": new, "piece": True}
        call = {"tool": name, "title": "Edit", "kind": "edit", "content": [{"diff": told}]}
        done = [
            {"write": name, "text": CODE.replace(old, new), "via": "disk"},
            {"tool": name, "status": "completed"},
        ]
        turn.append({"ask": f"Edit {name}?", "call": call, "then": {"allow_once": done}})
    async with seat(tmp_path, {"turns": [turn]}, version, ignore=TOLD) as at:
        at.answer["acp/question/ask"] = lambda _: {"option": "allow_once"}
        paths = [at.file(f"{number}.txt", CODE) for number in range(len(REPLACED))]
        opened = [at.open(path) for path in paths]
        for uri in opened:
            at.type(uri, len(CODE), "mine\n")
        await play(at)
        for uri in opened:
            await at.next("acp/question/ask")
            await hunks_told(at, uri, 1)
            assert at.text(uri) == CODE + "mine\n"
        kept = await at.command("acpls.review.keep", {"all": True})
        assert kept == {"hunks": len(REPLACED), "left": []}
        for uri, path, (old, new) in zip(opened, paths, REPLACED, strict=True):
            assert at.text(uri) == CODE.replace(old, new) + "mine\n", (old, new)
            assert path.read_text() == CODE.replace(old, new)


@both_versions
async def test_d26_a_diff_with_other_line_endings_than_the_file(
    tmp_path: Path, version: int
) -> None:
    """D25, D26: it matches all the same, and the document keeps its own endings."""
    before, after = "one\r\ntwo\r\nthree\rfour\n", "one\r\nTWO\r\nthree\rfour\n"
    turn: list[Any] = [
        {"write": "a.txt", "text": after, "via": "disk"},
        {
            "update": {
                "sessionUpdate": "tool_call_update",
                "toolCallId": "t",
                "kind": "edit",
                "status": "completed",
                "content": [lf_diff(version)],
            }
        },
        {"say": "Done."},
    ]
    async with seat(tmp_path, {"turns": [turn]}, version) as at:
        path = at.file("a.txt", before)
        uri = at.open(path)
        at.type(uri, len(before), "mine\r\n")
        await play(at)
        await at.until(lambda: [p for p in at.seen("acp/review/changed") if p["hunks"]])
        kept = await at.command("acpls.review.keep", {"all": True})
        assert kept == {"hunks": 1, "left": []}
        assert at.text(uri) == after + "mine\r\n"
        assert path.read_bytes() == after.encode()


def lf_diff(version: int) -> Json:
    """The change as an agent tells it that knows of no line endings but LF."""
    if version == 1:
        return {
            "type": "diff",
            "path": "{cwd}/a.txt",
            "oldText": "one\ntwo\n",
            "newText": "one\nTWO\n",
        }
    patch = (
        "diff --git {cwd}/a.txt {cwd}/a.txt\n--- {cwd}/a.txt\n+++ {cwd}/a.txt\n"
        "@@ -1,2 +1,2 @@\n one\n-two\n+TWO\n"
    )
    return {
        "type": "diff",
        "changes": [{"operation": "modify", "path": "{cwd}/a.txt", "fileType": "text"}],
        "patch": {"format": "git_patch", "text": patch},
    }


@pytest.mark.parametrize(("version", "encoding"), [(1, "utf-8"), (2, "utf-32")])
async def test_d47_edits_beside_emoji_land_where_they_should(
    tmp_path: Path, version: int, encoding: str
) -> None:
    """D47: a kept hunk and the streaming conversation, with wide characters all around."""
    before = "🐚 = '👍🏽'\nb = 'é'\n🐜 = 1\n"
    after = before.replace("'é'", "'👎' # 🐧🐨").replace("= 1\n", "= 1 # 👍\n")
    turn = [{"say": "Ich bin's: 👍🏽 "}, *edit(before, after), {"say": " 🐅🐢🐧"}]
    async with seat(
        tmp_path, {"turns": [turn]}, version, encoding=encoding, capabilities=PLAIN
    ) as at:
        uri = at.open(at.file("a.txt", before))
        at.type(uri, 0, "🐦🐢🐧🐞 👍\n")
        told = await at.command("acpls.session.openConversation")
        talk = at.open(at.path_of(told["uri"]))
        at.type(talk, at.below_heading(talk), "🐭🐮 🐞🐬 👍🏽 bitte")
        await at.command("acpls.session.send")
        await at.until(lambda: "🐅🐢🐧" in at.text(talk))
        at.type(talk, at.below_heading(talk), "🐝🐫🐚🐟🐭 👍")
        kept = await at.command("acpls.review.keep", {"uri": uri})
        assert kept["left"] == []
        assert at.text(uri) == "🐦🐢🐧🐞 👍\n" + after
        assert at.text(talk).count("🐭🐮 🐞🐬 👍🏽 bitte\n") == 1
        assert at.text(talk).count("Ich bin's: 👍🏽 ") == 1
        assert at.text(talk)[at.below_heading(talk) :].startswith("🐝🐫🐚🐟🐭 👍")
