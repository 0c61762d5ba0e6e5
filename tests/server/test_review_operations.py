"""Files that are deleted, moved, copied, emptied and made: told of as what they are."""

from __future__ import annotations

import stat
from typing import TYPE_CHECKING, Any

import pytest
from review_stage import CODE, keep, listed, reject, review, seen_all, silent, texts, told
from server_stage import both_versions, hunks_told, play

from acpls.testing import pages

if TYPE_CHECKING:
    from pathlib import Path

    from acpls.testing.frames import Json

pytestmark = pytest.mark.anyio

SCRIPT = "#!/bin/sh\necho one\necho two\n"
EDITED = CODE.replace("two", "2")
COPIED = "copied\n"
COPY: Json = {
    "tool": "copy",
    "kind": "other",
    "status": "completed",
    "content": [
        {
            "type": "diff",
            "changes": [
                {"operation": "copy", "path": "{cwd}/copy.txt", "oldPath": "{cwd}/origin.txt"}
            ],
        }
    ],
}


def deeds(version: int, *, tells: bool) -> list[Any]:
    """A turn with one of each kind."""
    turn: list[Any] = [
        {"remove": "gone.sh"},
        {"move": "old/place.sh", "to": "new/place.sh"},
        silent("emptied.txt", ""),
        silent("made/new.txt", "made\n"),
        silent("made/empty.txt", ""),
        silent("copy.txt", COPIED),
    ]
    if tells:
        turn += [
            told("gone.sh", SCRIPT, None),
            told("emptied.txt", CODE, ""),
            told("made/new.txt", None, "made\n"),
            told("copy.txt", None, COPIED) if version == 1 else COPY,
        ]
    if tells and version == 2:
        # What is moved and edited in one go is known as moved only when it is said.
        moved = {"path": "other.txt", "from": "renamed.txt", "old": CODE, "new": EDITED}
        turn += [
            {"move": "renamed.txt", "to": "other.txt"},
            silent("other.txt", EDITED),
            {"tool": "mv", "kind": "move", "status": "completed", "content": [{"diff": moved}]},
        ]
    return turn


@pytest.mark.parametrize("tells", [False, True], ids=["silent", "told"])
@both_versions
async def test_d38_each_is_told_from_the_others_and_comes_back_at_its_old_place(
    tmp_path: Path, version: int, *, tells: bool
) -> None:
    """D38: with its mode; an emptied file is no deleted one; a reject leaves no file behind."""
    async with review(tmp_path, deeds(version, tells=tells), version=version) as at:
        before = {
            "gone.sh": SCRIPT,
            "old/place.sh": SCRIPT + "# moves\n",
            "renamed.txt": CODE,
            "emptied.txt": CODE,
            "origin.txt": COPIED,
        }
        for name, text in before.items():
            at.file(name, text).chmod(0o751 if name.endswith(".sh") else 0o640)
        await play(at)
        await seen_all(at, 1)
        says_so = tells and version == 2
        changes = await listed(at, 7 if says_so else 6)
        operations = {name: change["operation"] for name, change in changes.items()}
        assert operations == {
            "gone.sh": "delete",
            "new/place.sh": "move",
            "emptied.txt": "modify",
            "made/new.txt": "add",
            "made/empty.txt": "add",
            "copy.txt": "copy" if says_so else "add",
            **({"other.txt": "move"} if says_so else {}),
        }
        assert texts(changes["emptied.txt"]) == [(CODE, "")]
        assert texts(changes["gone.sh"]) == [(SCRIPT, "")]
        if says_so:
            assert texts(changes["other.txt"]) == [("two\n", "2\n")]
        (moved,) = changes["new/place.sh"]["hunks"]
        assert moved["whole"]
        assert at.path_of(changes["new/place.sh"]["oldUri"]) == at.project / "old/place.sh"
        await reject(at, session="s1")
        held = {
            str(path.relative_to(at.project)): path.read_text()
            for path in at.project.rglob("*")
            if path.is_file()
        }
        assert held == before
        for name in before:
            mode = stat.S_IMODE((at.project / name).stat().st_mode)
            assert mode == (0o751 if name.endswith(".sh") else 0o640), name
        assert await listed(at, 0) == {}


@both_versions
async def test_d38_what_was_kept_of_a_move_stays_where_it_is(tmp_path: Path, version: int) -> None:
    """D38: a verdict on a line of a moved file is about the line, one on the file about both."""
    gate = tmp_path / "gate"
    turn = [
        {"move": "a.txt", "to": "sub/b.txt"},
        {"gate": str(gate)},
        silent("sub/b.txt", CODE.replace("one", "1").replace("three", "3")),
    ]
    async with review(tmp_path, turn, version=version) as at:
        path, new = at.file("a.txt", CODE), at.project / "sub/b.txt"
        await at.command("acpls.session.prompt", {"text": "go"})

        def moved(found: list[Json]) -> bool:
            # Either half may be seen first.
            return [change["operation"] for change in found] == ["move"]

        await at.asked("acpls.review.list", {}, moved)
        gate.touch()
        await at.idle(stop="end_turn")
        await hunks_told(at, pages.to_uri(new), 2)
        (change,) = (await listed(at, 1)).values()
        first, last = change["hunks"]
        await reject(at, hunk=first["hunk"])
        assert (new.read_text(), path.exists()) == (CODE.replace("three", "3"), False)
        await keep(at, hunk=last["hunk"])
        # Nothing but the move is left.
        (change,) = (await listed(at, 1)).values()
        assert (change["operation"], [h["whole"] for h in change["hunks"]]) == ("move", [True])
        await reject(at, uri=change["uri"])
        assert (path.read_text(), new.exists()) == (CODE.replace("three", "3"), False)


@pytest.mark.parametrize("way", ["disk", "apply", "refuse", "lie", "keep"])
async def test_a_rejected_file_goes_with_its_document_where_the_editor_does_that(
    tmp_path: Path, way: str
) -> None:
    """As an operation of the editor where it is known to take its document along; else, and
    when it does not do it, on the disk.
    """
    settings = {"client": {"deletes": way != "disk", "renames": way != "disk"}}
    turn = [silent("new.txt", "new\n"), {"move": "a.txt", "to": "b.txt"}]
    async with review(tmp_path, turn, settings=settings) as at:
        path = at.file("a.txt", CODE)
        old = at.open(path)
        at.close(old)
        at.file_edits = "apply" if way == "disk" else way
        await play(at)
        await seen_all(at, 1)
        changes = await listed(at, 2)
        new, moved = at.open(at.project / "new.txt"), at.open(at.project / "b.txt")
        for name in ("new.txt", "b.txt"):
            await reject(at, uri=changes[name]["uri"])
        assert (path.read_text(), (at.project / "b.txt").exists()) == (CODE, False)
        assert not (at.project / "new.txt").exists()
        edits = [edit["edit"] for edit in at.seen("workspace/applyEdit")]
        kinds = [
            c["kind"] for edit in edits for c in edit.get("documentChanges", []) if "kind" in c
        ]
        assert bool(kinds) == (way != "disk"), kinds
        # A document that is left open holds nothing that could be saved by mistake.
        for uri in (new, moved):
            assert uri not in at.pages or at.text(uri) == ""
        assert await listed(at, 0) == {}


@both_versions
async def test_d38_a_file_that_is_deleted_while_it_is_open(tmp_path: Path, version: int) -> None:
    """D38: its document, unsaved lines included, stays; a reject gives the file back."""
    turn = [{"remove": "a.txt"}, told("a.txt", CODE, None)]
    async with review(tmp_path, turn, version=version) as at:
        path = at.file("a.txt", CODE)
        uri = at.open(path)
        at.type(uri, 0, "mine\n")
        await play(at)
        (change,) = (await listed(at, 1)).values()
        assert (change["operation"], change["hunks"][0]["baseText"]) == ("delete", CODE)
        assert at.text(uri) == "mine\n" + CODE
        await reject(at, uri=uri)
        assert (path.read_text(), at.text(uri)) == (CODE, "mine\n" + CODE)
        assert at.modified(uri)
