"""What agents of ACP 2 say in diffs: files and operations, patches good, bad and absent.

The files are as the agent made them in all cases; what it says must not make that worse.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from review_stage import CODE, listed, reject, review, seen_all, silent, texts
from server_stage import play

from acpls.testing.editor import Later
from acpls.testing.shapes import git_patch

if TYPE_CHECKING:
    from pathlib import Path

    from acpls.testing.frames import Json

pytestmark = pytest.mark.anyio

AFTER = "one\n2\nthree\n"
HUNK = [("two\n", "2\n")]


def says(call: str, changes: list[Json], patch: Any = "left out", **members: Any) -> Json:
    """A tool call with one structured diff; ``{cwd}`` stands in it as it is."""
    diff: Json = {"type": "diff", "changes": changes}
    if isinstance(patch, str) and patch != "left out":
        diff["patch"] = {"format": "git_patch", "text": patch}
    elif patch != "left out":
        diff["patch"] = patch
    update = {"sessionUpdate": "tool_call_update", "toolCallId": call, "kind": "edit"}
    return {"update": {**update, "status": "completed", "content": [diff], **members}}


def change(name: str, operation: str = "modify", file_type: str | None = "text") -> Json:
    """An entry of ``changes``; ``file_type`` is left out where it is ``None``."""
    typed = {} if file_type is None else {"fileType": file_type}
    return {"operation": operation, "path": f"{{cwd}}/{name}", **typed}


def head(name: str) -> str:
    """The first lines of a patch of a file."""
    return "diff --git {cwd}/NAME {cwd}/NAME\n--- {cwd}/NAME\n+++ {cwd}/NAME\n".replace(
        "NAME", name
    )


BODY = "@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n"
OTHER = head("other.txt") + BODY

# By the name of a file: its entry in ``changes``, and the patch.
SAID: dict[str, tuple[Json, Any]] = {
    "absent": (change("absent"), "left out"),
    "null": (change("null"), None),
    "other format": (change("other format"), {"format": "ed_script", "text": "2c\n2\n.\n"}),
    "empty": (change("empty"), ""),
    "rubbish": (change("rubbish"), "@@@ what? @@@\n\x00\n"),
    "relative": (
        change("relative"),
        "diff --git a/relative b/relative\n--- a/relative\n+++ b/relative\n" + BODY,
    ),
    "crlf": (change("crlf"), (head("crlf") + BODY).replace("\n", "\r\n")),
    "numbers": (change("numbers"), head("numbers") + BODY.replace("-1,3 +1,3", "-90,3 +77,3")),
    "counts": (change("counts"), head("counts") + BODY.replace("-1,3 +1,3", "-1,9 +1,1")),
    "cut off": (change("cut off"), head("cut off") + BODY[:-8]),
    "binary": (change("binary"), head("binary") + "Binary files differ\n"),
    "another file": (change("another file"), OTHER),
    "another text": (change("another text"), head("another text") + BODY.replace("+2", "+zwei")),
    "said to be gone": (change("said to be gone", "delete"), head("said to be gone") + BODY),
    "said to be new": (change("said to be new", "add"), "left out"),
    "unknown operation": (change("unknown operation", "shred"), head("unknown operation") + BODY),
    "unknown type": (change("unknown type", file_type="hologram"), "left out"),
    "no type": (change("no type", file_type=None), head("no type") + BODY),
    "directory": (change("directory", file_type="directory"), "left out"),
}


async def test_d38_d39_whatever_is_said_the_hunks_are_those_of_the_file(tmp_path: Path) -> None:
    """D38, D39: a patch may be absent, wrong, of another format or about another file; what
    changed is what changed, once, and what is only said is never applied.
    """
    turn: list[Any] = []
    for name, (entry, patch) in SAID.items():
        turn += [silent(name, AFTER), says(f"call {name}", [entry], patch)]
    async with review(tmp_path, turn) as at:
        paths = {name: at.file(name, CODE) for name in (*SAID, "other.txt")}
        await play(at)
        await seen_all(at, 1)
        changes = await listed(at, len(SAID) + 1)
        # What the patch shows of a file that is not among the changes is told, and no more.
        stray = changes.pop("other.txt")
        assert (stray["state"], stray["hunks"]) == ("unclear", [])
        assert stray["reason"] == "the patch shows a file that is not among the changes"
        assert sorted(changes) == sorted(SAID)
        for name, found in changes.items():
            assert texts(found) == HUNK, name
            assert (found["state"], found["operation"]) == ("pending", "modify"), name
            assert found["toolCall"] == f"call {name}", name
            assert paths[name].read_text() == AFTER, name
        # Here the agent is right, and has nothing to be told of.
        for name in ("absent", "null", "other format", "relative", "crlf", "numbers", "no type"):
            assert "reason" not in changes[name], name
        await reject(at, all=True)
        assert {path.read_text() for path in paths.values()} == {CODE}


@pytest.mark.parametrize("name", ["absent", "unknown operation", "unknown type", "another text"])
async def test_what_is_said_to_be_done_and_is_not_is_shown_with_the_reason(
    tmp_path: Path, name: str
) -> None:
    """Nothing is guessed, and nothing is applied: the file is as it was."""
    entry, patch = SAID[name]
    if name == "another text":
        patch = head(name) + "@@ -1,2 +1,2 @@\n uno\n-dos\n+due\n"
    async with review(tmp_path, [says("call", [entry], patch), {"say": "Done."}]) as at:
        path = at.file(name, CODE)
        uri = at.open(path)
        await play(at)
        (found,) = (await listed(at, 1)).values()
        assert (found["state"], found["hunks"]) == ("unclear", [])
        assert found["reason"]
        assert (path.read_text(), at.text(uri)) == (CODE, CODE)
        assert at.seen("workspace/applyEdit") == []


ODD = ["a b.txt", "tab\there.txt", 'quo"te.txt', "ünï/çödé.txt", "back\\slash.txt"]


async def test_d38_several_files_with_odd_names_in_one_patch(tmp_path: Path) -> None:
    """D38: paths are absolute and quoted as Git does it; each file gets its own part."""
    files: list[Json] = [{"path": name, "old": CODE, "new": AFTER} for name in ODD]
    files += [
        {"path": "new.txt", "new": "no newline"},
        {"path": "gone.txt", "old": "one line", "new": None},
        {"path": "moved/to.txt", "from": "moved.txt", "old": CODE, "new": AFTER},
        {"path": "same/to.txt", "from": "same.txt", "old": "same\n", "new": "same\n"},
    ]
    call = {"tool": "t", "title": "Edit", "kind": "edit"}
    turn: list[Any] = [
        {**call, "status": "in_progress", "content": [{"diff": files}]},
        *(silent(name, AFTER) for name in ODD),
        silent("new.txt", "no newline"),
        {"remove": "gone.txt"},
        {"move": "moved.txt", "to": "moved/to.txt"},
        silent("moved/to.txt", AFTER),
        {"move": "same.txt", "to": "same/to.txt"},
        {"tool": "t", "status": "completed"},
    ]
    async with review(tmp_path, turn) as at:
        for name in ODD:
            at.file(name, CODE)
        at.file("gone.txt", "one line")
        at.file("moved.txt", CODE)
        at.file("same.txt", "same\n")
        await play(at)
        await seen_all(at, 1)
        changes = await listed(at, len(ODD) + 4)
        assert {change["toolCall"] for change in changes.values()} == {"t"}
        for name in ODD:
            assert texts(changes[name]) == HUNK, name
        assert texts(changes["new.txt"]) == [("", "no newline")]
        assert texts(changes["gone.txt"]) == [("one line", "")]
        assert texts(changes["moved/to.txt"]) == HUNK
        for name, old in (("moved/to.txt", "moved.txt"), ("same/to.txt", "same.txt")):
            assert changes[name]["operation"] == "move"
            assert at.path_of(changes[name]["oldUri"]) == at.project / old
        await reject(at, all=True)
        held = {
            str(path.relative_to(at.project)): path.read_text()
            for path in at.project.rglob("*.txt")
        }
        assert held == {
            **dict.fromkeys([*ODD, "moved.txt"], CODE),
            "gone.txt": "one line",
            "same.txt": "same\n",
        }


async def test_a_proposal_is_shown_with_its_question_and_written_once(tmp_path: Path) -> None:
    """A patch with wrong numbers, LF and no newline at the end is found in a file with CRLF."""
    before, after = "one\r\ntwo\r\nthree", "one\r\n2\r\nthree"
    body = BODY.replace(" three\n", " three\n\\ No newline at end of file\n")
    patch = head("a.txt") + body.replace("-1,3 +1,3", "-7,3 +9,3")
    done = [silent("a.txt", after), {"tool": "t", "status": "completed"}]
    turn: list[Any] = [
        says("t", [change("a.txt")], patch, status="pending"),
        {"ask": "Edit a.txt?", "call": {"tool": "t"}, "then": {"allow_once": done}},
    ]
    async with review(tmp_path, turn) as at:
        answer = Later()
        at.answer["acp/question/ask"] = lambda _: answer
        path = at.file("a.txt", before)
        uri = at.open(path)
        await at.command("acpls.session.prompt", {"text": "go"})
        asked = await at.next("acp/question/ask")
        (preview,) = asked["preview"]
        assert preview["uri"] == uri
        assert preview["patch"].endswith("@@ -2,1 +2,1 @@\n-two\r\n+2\r\n")
        # What is only asked about is in no list, and in no document.
        assert await listed(at, 0) == {}
        assert at.text(uri) == before
        answer.set({"option": "allow_once"})
        await at.idle(stop="end_turn")
        await at.until(lambda: at.text(uri) == after)
        (found,) = (await listed(at, 1)).values()
        assert texts(found) == [("two\r\n", "2\r\n")]
        await reject(at, uri=uri)
        assert (at.text(uri), path.read_bytes()) == (before, before.encode())


def test_the_patches_are_as_git_writes_them() -> None:
    """Else the odd names would be tried in a spelling of our own."""
    patch = git_patch('/x/quo"te.txt', "a", "b\n")
    assert patch.startswith('diff --git "/x/quo\\"te.txt" "/x/quo\\"te.txt"\n')
    assert "-a\n\\ No newline at end of file\n+b\n" in patch
