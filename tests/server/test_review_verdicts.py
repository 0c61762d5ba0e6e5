"""Verdicts in any order and from any place: what comes of them in files and documents."""

from __future__ import annotations

from itertools import permutations, product
from typing import TYPE_CHECKING, Any

import pytest
from review_stage import CODE, keep, listed, reject, review, seen_all, silent, texts, told
from server_stage import both_versions, hunks_told, play

if TYPE_CHECKING:
    from pathlib import Path

    from server_stage import Seat

    from acpls.testing.frames import Json

pytestmark = pytest.mark.anyio

AFTER = CODE.replace("two", "2")

# A file in parts: what is always there, and three places with what was and what is there.
PARTS: list[str | tuple[str, str]] = [
    "head\nof it\n",
    ("", "first\n"),
    "a\nsame\n",
    ("old\nold\n", "same\n"),
    "same\nb\n",
    ("same\nlast", "more\nlines\nof it\n"),
]
CHOICES = list(product(permutations(range(3)), product(("keep", "reject"), repeat=3)))


def text(*sides: int) -> str:
    """The file with the old (0) or the new (1) text at each of its places."""
    left = list(sides)
    return "".join(part if isinstance(part, str) else part[left.pop(0)] for part in PARTS)


@both_versions
async def test_d19_in_whatever_order_the_chosen_hunks_are_what_is_there(
    tmp_path: Path, version: int
) -> None:
    """D19: in files and in documents with and without unsaved lines; equal lines beside the
    hunks and other numbers of lines mislead nobody.
    """
    names = [f"{number}.txt" for number in range(len(CHOICES))]
    turn = [silent(name, text(1, 1, 1)) for name in names]
    async with review(tmp_path, turn, version=version) as at:
        paths = [at.file(name, text(0, 0, 0)) for name in names]
        pages = {n: at.open(path) for n, path in enumerate(paths) if n % 3}
        dirty = {n: uri for n, uri in pages.items() if n % 3 == 2}
        for uri in dirty.values():
            at.type(uri, 0, "mine\n")
        await play(at)
        await seen_all(at, 1)
        changes = await listed(at, len(names))
        for n, (order, verdicts) in enumerate(CHOICES):
            hunks = changes[names[n]]["hunks"]
            assert len(hunks) == 3
            for at_place in order:
                verdict = keep if verdicts[at_place] == "keep" else reject
                assert await verdict(at, hunk=hunks[at_place]["hunk"]) == 1
            wanted = text(*(int(verdict == "keep") for verdict in verdicts))
            if n in pages:
                mine = "mine\n" if n in dirty else ""
                assert at.text(pages[n]) == mine + wanted, CHOICES[n]
            assert paths[n].read_text() == wanted, CHOICES[n]
        assert await listed(at, 0) == {}


# --- in the file itself -----------------------------------------------------------------------


async def actions(at: Seat, uri: str, line: int) -> dict[str, Json]:
    """The commands of the code actions at a line, by their titles."""
    place = {"line": line, "character": 0}
    params = {
        "textDocument": {"uri": uri},
        "range": {"start": place, "end": place},
        "context": {"diagnostics": []},
    }
    found = await at.request("textDocument/codeAction", params)
    return {action["title"]: action["command"] for action in found}


async def lenses(at: Seat, uri: str) -> list[tuple[int, str]]:
    """The lines and titles of the lenses of a document."""
    params = {"textDocument": {"uri": uri}}
    found = await at.request("textDocument/codeLens", params)
    return [(lens["range"]["start"]["line"], lens["command"]["title"]) for lens in found]


async def run(at: Seat, command: Json) -> Any:
    """Runs what an action or a lens carries."""
    return await at.command(command["command"], command["arguments"][0])


@both_versions
async def test_d14_the_controls_are_in_the_ordinary_file(tmp_path: Path, version: int) -> None:
    """D14: lenses, code actions, diagnostics and hover where the lines are; all move along."""
    before = "".join(f"{number}\n" for number in range(20))
    after = before.replace("5\n", "five\n", 1).replace("15\n", "fifteen\n")
    turn = [silent("a.txt", after), silent("b.txt", "new\n")]
    async with review(tmp_path, turn, version=version) as at:
        path = at.file("a.txt", before)
        uri = at.open(path)
        await play(at)
        await at.until(lambda: at.text(uri) == after)
        at.type(uri, 0, "mine\n")
        await at.until(
            lambda: [d["range"]["start"]["line"] for d in at.diagnostics(uri)] == [6, 16]
        )
        shown = await lenses(at, uri)
        assert shown[:2] == [(0, "Keep all 2"), (0, "Reject all 2")]
        assert shown[2:] == [(6, "Keep"), (6, "Reject"), (16, "Keep"), (16, "Reject")]
        offered = await actions(at, uri, 6)
        assert list(offered)[:4] == [
            "Keep this change",
            "Reject this change",
            "Keep all 2 changes in this file",
            "Reject all 2 changes in this file",
        ]
        hover = await at.request(
            "textDocument/hover",
            {"textDocument": {"uri": uri}, "position": {"line": 6, "character": 0}},
        )
        assert "-5\n+five\n" in hover["contents"]["value"]
        assert (await run(at, offered["Reject this change"]))["hunks"] == 1
        assert at.text(uri) == "mine\n" + after.replace("five\n", "5\n")
        offered = await actions(at, uri, 16)
        assert (await run(at, offered["Keep this change"]))["hunks"] == 1
        await at.until(lambda: at.diagnostics(uri) == [])
        assert await lenses(at, uri) == []
        offered = await actions(at, uri, 0)
        assert (await run(at, offered["Reject the change in all files"]))["hunks"] == 1
        assert not (at.project / "b.txt").exists()


@both_versions
async def test_d12_what_was_rejected_can_still_be_read_and_copied(
    tmp_path: Path, version: int
) -> None:
    """D12: from the session, after the file has lost it, and when it never had it."""
    proposal = {"ask": "Edit b.txt?", "call": told("b.txt", CODE, AFTER, status="pending")}
    turn = [silent("a.txt", AFTER), told("a.txt", CODE, AFTER), proposal]
    async with review(tmp_path, turn, version=version) as at:
        paths = [at.file(name, CODE) for name in ("a.txt", "b.txt")]
        at.answer["acp/question/ask"] = lambda _: {"option": "reject_once"}
        await play(at)
        await listed(at, 1)
        await reject(at, session="s1")
        await at.next("acp/question/ask")
        assert [path.read_text() for path in paths] == [CODE, CODE]
        calls = [e["toolCall"] for e in (await at.get())["entries"] if e["type"] == "toolCall"]
        assert calls == ["call-a.txt", "call-b.txt"]
        for call in calls:
            said = await at.command("acpls.output.read", {"session": "s1", "toolCall": call})
            assert "-two\n+2\n" in said["text"], call


@both_versions
async def test_the_editors_undo_of_a_kept_hunk(tmp_path: Path, version: int) -> None:
    """What was kept in a document with unsaved lines, and is undone there, is the user's to
    decide: nothing is put back, nothing is lost, and what is saved then counts.
    """
    async with review(tmp_path, [silent("a.txt", AFTER)], version=version) as at:
        path = at.file("a.txt", CODE)
        uri = at.open(path)
        at.type(uri, 0, "mine\n")
        await play(at)
        (hunk,) = await hunks_told(at, uri, 1)
        await keep(at, hunk=hunk["hunk"])
        assert at.text(uri) == "mine\n" + AFTER
        # Undo, as the editor does it.
        at.replace(uri, len("mine\none\n"), len("mine\none\n2"), "two")
        await at.command("acpls.status")
        assert (at.text(uri), path.read_text()) == ("mine\n" + CODE, AFTER)
        assert await reject(at, all=True) == 0
        at.save(uri)
        assert await listed(at, 0) == {}
        assert path.read_text() == at.text(uri) == "mine\n" + CODE


@both_versions
async def test_scopes_of_verdicts(tmp_path: Path, version: int) -> None:
    """A hunk, a file, a session, or all; what is not meant is not touched."""
    turn = [silent(f"{name}.txt", AFTER) for name in "abc"]
    async with review(tmp_path, turn, version=version) as at:
        paths = {name: at.file(f"{name}.txt", CODE) for name in "abc"}
        await play(at)
        await seen_all(at, 1)
        changes = await listed(at, 3)
        assert {name: texts(c) for name, c in changes.items()} == {
            f"{name}.txt": [("two\n", "2\n")] for name in "abc"
        }
        assert await reject(at, hunk=changes["a.txt"]["hunks"][0]["hunk"]) == 1
        assert await keep(at, uri=changes["b.txt"]["uri"]) == 1
        assert await reject(at) == 1
        assert {name: path.read_text() for name, path in paths.items()} == {
            "a": CODE,
            "b": AFTER,
            "c": CODE,
        }
        assert await reject(at, all=True) == 0
