"""What agents read and write, and what is sent to them, of documents with unsaved changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from server_stage import TOLD, both_versions, hunks_told, play, seat

from acpls.testing.editor import Later

if TYPE_CHECKING:
    from pathlib import Path

    from acpls.testing.frames import Json

pytestmark = pytest.mark.anyio

CLIENT_READS: list[Any] = [{"read": "a.txt", "via": "client", "into": "text"}, {"say": "{text}"}]
CODE = "one\ntwo\nthree\n"


# --- reading (ACP 1) -----------------------------------------------------------------------


async def test_d06_a_read_gives_the_document_or_the_file_and_never_a_mix(tmp_path: Path) -> None:
    """D06: unsaved changes win, else the disk does, whoever wrote it and however clean."""
    by_shell = [{"write": "a.txt", "text": "by the agent's shell\n", "via": "disk"}, *CLIENT_READS]
    script = {"turns": [by_shell, CLIENT_READS, CLIENT_READS]}
    async with seat(tmp_path, script, 1) as at:
        path = at.file("a.txt", CODE)
        uri = at.open(path)
        # A clean document with a newer file, which the editor has not noticed.
        await play(at)
        assert at.said() == "by the agent's shell\n"
        at.reload(uri)

        # A document with unsaved changes, and a file that is newer still.
        at.type(uri, 0, "unsaved 👍\n")
        path.write_text("from elsewhere\n")
        await play(at)
        assert at.said().endswith("unsaved 👍\nby the agent's shell\n")

        # One that was saved and then overtaken.
        at.save(uri)
        path.write_text("newest\n")
        await play(at)
        assert at.said().endswith("shell\nnewest\n")


async def test_f13_a_part_of_a_file(tmp_path: Path) -> None:
    """F13: lines are counted from one; what lies beyond the end is empty."""
    parts = [(2, 1), (3, None), (1, 2), (0, 1), (9, 4)]
    turn: list[Any] = []
    for line, limit in parts:
        step: Json = {"read": "a.txt", "line": line, "into": "text"}
        turn += [step if limit is None else {**step, "limit": limit}, {"say": "<{text}>"}]
    async with seat(tmp_path, {"turns": [turn]}, 1) as at:
        uri = at.open(at.file("a.txt", "x\n"))
        at.replace(uri, 0, 2, CODE)
        await play(at)
        assert at.said() == "<two\n><three\n><one\ntwo\n><one\n><>"


async def test_files_that_are_not_there_or_not_ours(tmp_path: Path) -> None:
    outside = tmp_path / "secret.txt"
    outside.write_text("secret")
    told = {"sessionId": "session"}
    calls = [
        ("fs/read_text_file", {**told, "path": "{cwd}/missing.txt"}),
        ("fs/read_text_file", {**told, "path": str(outside)}),
        ("fs/read_text_file", {**told, "path": "{cwd}/../secret.txt"}),
        ("fs/read_text_file", {**told, "path": "{cwd}/link.txt"}),
        ("fs/write_text_file", {**told, "path": str(outside), "content": "x"}),
        ("fs/write_text_file", {**told, "path": "{cwd}/link.txt", "content": "x"}),
        ("fs/read_text_file", {"sessionId": "nobody", "path": "{cwd}/a.txt"}),
    ]
    turn: list[Any] = [{"request": method, "params": params} for method, params in calls]
    async with seat(tmp_path, {"turns": [[*turn, {"say": "Done."}]]}, 1) as at:
        at.answer["acp/question/ask"] = lambda _: {"option": "refuse"}
        at.file("a.txt", CODE)
        (at.project / "link.txt").symlink_to(outside)
        await play(at)
        codes = [answer.get("error", {}).get("code") for answer in at.answers_to()]
        assert codes[0] == -32002
        assert None not in codes
        assert all("secret" not in str(a.get("result")) for a in at.answers_to())
        assert outside.read_text() == "secret"
        # What lies outside is not read, and written only with the user's word (D42).
        for _ in range(2):
            asked = await at.next("acp/question/ask")
            assert [option["option"] for option in asked["options"]] == ["refuse", "write", "stop"]
            assert (await at.next("acp/question/settled"))["option"] == "refuse"
        assert at.popups == []


# --- writing (ACP 1) -------------------------------------------------------------------------


ENDINGS: dict[str, tuple[bytes, str, bytes]] = {
    "crlf": (b"one\r\ntwo\r\n", "one\nTWO\n", b"one\r\nTWO\r\n"),
    "crlf stays": (b"one\r\ntwo", "one\r\nTWO", b"one\r\nTWO"),
    "bom": (
        b"\xef\xbb\xbfone\r\ntwo\r\n",
        "one\nTWO\n",
        b"\xef\xbb\xbfone\r\nTWO\r\n",
    ),
    "mixed, bare cr": (
        b"one\r\ntwo\nthree\rfour\n",
        "one\ntwo\nthree\nFOUR\n",
        b"one\r\ntwo\nthree\rFOUR\n",
    ),
    "odd lines": (
        "a\n🐔\n\u2028b\x0c\nc\n".encode(),
        "a\n🐔\n\u2028b\x0c\nC\n",
        "a\n🐔\n\u2028b\x0c\nC\n".encode(),
    ),
    "last newline": (b"one\ntwo", "one\ntwo\n", b"one\ntwo\n"),
}


async def test_d25_d26_a_write_keeps_the_files_own_line_endings(tmp_path: Path) -> None:
    """D25, D26: what was not changed is the same, byte for byte; a reject gives it all back."""
    turn = [
        {"write": f"{name}.txt", "text": written, "via": "client"}
        for name, (_, written, _) in ENDINGS.items()
    ]
    async with seat(tmp_path, {"turns": [turn]}, 1) as at:
        paths = {name: at.file(f"{name}.txt", before) for name, (before, _, _) in ENDINGS.items()}
        await play(at)
        assert all("error" not in answer for answer in at.answers_to())
        for name, (_, _, after) in ENDINGS.items():
            assert paths[name].read_bytes() == after, name
        assert len(await at.command("acpls.review.list")) == len(ENDINGS)
        rejected = await at.command("acpls.review.reject", {"all": True})
        assert rejected["left"] == []
        for name, (before, _, _) in ENDINGS.items():
            assert paths[name].read_bytes() == before, name


async def test_a_write_to_a_document_with_unsaved_changes(tmp_path: Path) -> None:
    """The file is written, the document waits for the verdict, and both end as they should."""
    changed = "mine\n" + CODE.replace("two", "TWO")
    turn = [*CLIENT_READS, {"write": "a.txt", "text": changed, "via": "client"}]
    async with seat(tmp_path, {"turns": [turn]}, 1) as at:
        path = at.file("a.txt", CODE)
        uri = at.open(path)
        at.type(uri, 0, "mine\n")
        await play(at)
        assert path.read_text() == changed
        assert at.text(uri) == "mine\n" + CODE
        # The user's own unsaved line is no change of the agent's.
        (hunk,) = await hunks_told(at, uri, 1)
        assert (hunk["baseText"], hunk["newText"]) == ("two\n", "TWO\n")
        await at.command("acpls.review.keep", {"hunk": hunk["hunk"]})
        assert at.text(uri) == changed
        at.type(uri, 0, "more ")
        assert at.text(uri) == "more " + changed


async def test_a_write_to_a_new_file_in_a_new_folder(tmp_path: Path) -> None:
    turn = [{"write": "deep/er/new.txt", "text": "new\n", "via": "client"}]
    async with seat(tmp_path, {"turns": [turn]}, 1) as at:
        await play(at)
        path = at.project / "deep/er/new.txt"
        assert path.read_text() == "new\n"
        (change,) = await at.command("acpls.review.list")
        assert change["operation"] == "add"
        await at.command("acpls.review.reject", {"all": True})
        assert not path.exists()


async def test_an_open_clean_document_follows_the_file(tmp_path: Path) -> None:
    turn = [{"write": "a.txt", "text": CODE + "four\n", "via": "client"}]
    async with seat(tmp_path, {"turns": [turn]}, 1) as at:
        path = at.file("a.txt", CODE)
        uri = at.open(path)
        await play(at)
        await at.until(lambda: at.text(uri) == CODE + "four\n")
        (hunk,) = await at.until(
            lambda: [h for p in at.seen("acp/review/changed")[-1:] for h in p["hunks"]]
        )
        await at.until(lambda: at.seen("acp/review/changed")[-1]["hunks"][0]["applied"])
        await at.command("acpls.review.reject", {"hunk": hunk["hunk"]})
        assert (at.text(uri), path.read_text()) == (CODE, CODE)
        # The editor saved it, for the write and for the verdict, and so it knows its file.
        for _ in range(2):
            assert await at.next("acp/document/save") == {"uris": [uri]}


# --- positions -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("version", "encoding"), [(1, "utf-8"), (2, "utf-32")])
async def test_d46_d47_a_selection_in_an_unsaved_document(
    tmp_path: Path, version: int, encoding: str
) -> None:
    """D46, D47: text and lines are those of the document, in whatever units it is counted.

    UTF-16 is what all other tests count in.
    """
    disk = "first\nnaïve 👍🏽 = 'x'\nlast\n"
    typed = "# 🐮🐧🐬🐚🐯🐞🐝\n"
    async with seat(tmp_path, {"turns": [[{"say": "Read."}]]}, version, encoding=encoding) as at:
        uri = at.open(at.file("a.py", disk))
        at.type(uri, 0, typed)
        assert at.encoding == encoding
        text = at.text(uri)
        selected = "👍🏽 = 'x'\nla"
        start = text.index(selected)
        span = at.span(uri, start, start + len(selected))
        prompt = {"text": "What is this?", "context": [{"uri": uri, "range": span}]}
        await at.command("acpls.session.prompt", prompt)
        await at.idle(stop="end_turn")
        ((attached, said),) = [p["prompt"] for p in at.heard_by(method="session/prompt")]
        assert said == {"type": "text", "text": "What is this?"}
        assert attached["resource"]["text"] == selected
        assert attached["resource"]["uri"] == f"{uri}#L3-L4"

        # The same through the plain way: quoted in the conversation, with the same lines.
        talk = (await at.command("acpls.session.ask", {"uri": uri, "range": span}))["uri"]
        await at.next("window/showDocument")
        await at.until(lambda: talk in at.pages)
        assert f"`a.py:3-4`\n\n```python\n{selected}\n```\n" in at.text(talk)


@both_versions
async def test_f13_lines_of_agents_count_from_one(tmp_path: Path, version: int) -> None:
    """F13: converted once; zero and what lies past the end are clipped."""
    lines = {"t1": 1, "t2": 2, "t3": 3, "zero": 0, "past": 999, "none": None}
    rows = {"t1": 0, "t2": 1, "t3": 2, "zero": 0, "past": 2, "none": 0}
    turn: list[Any] = []
    for call, line in lines.items():
        at_line = "a.txt" if line is None else ["a.txt", line]
        shown = {"title": call, "kind": "read", "status": "in_progress", "locations": [at_line]}
        turn += [{"tool": call, **shown}, {"ask": f"Seen {call}?"}]
    async with seat(tmp_path, {"turns": [turn]}, version, ignore=TOLD) as at:
        uri = at.open(at.file("a.txt", CODE))
        # Places that follow each other quickly are told as one, so the agent waits after each.
        answers = {f"q{number}": Later() for number in range(1, len(lines) + 1)}
        at.answer["acp/question/ask"] = lambda asked: answers[asked["question"]]
        await at.command("acpls.session.prompt", {"text": "go"})
        for (call, row), answer in zip(rows.items(), answers.values(), strict=True):
            place = await at.next("acp/place/changed")
            assert place["toolCall"] == call
            assert (place["uri"], place["range"]["start"]["line"]) == (uri, row), call
            await at.next("acp/question/ask")
            answer.set({"option": "allow_once"})
        await at.idle(stop="end_turn")
        calls = {e["toolCall"]: e for e in (await at.get())["entries"] if "toolCall" in e}
        for call, row in rows.items():
            span = calls[call]["locations"][0].get("range", {"start": {"line": row}})
            assert span["start"]["line"] == row, call
