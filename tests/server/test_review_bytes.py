"""Bytes: outside of the hunks nothing changes, and a file stays what it is."""

from __future__ import annotations

import stat
from typing import TYPE_CHECKING, Any

import pytest
from review_stage import keep, listed, reject, review, seen_all, silent
from server_stage import both_versions, play

if TYPE_CHECKING:
    from pathlib import Path

    from acpls.testing.frames import Json

pytestmark = pytest.mark.anyio

LATIN = "# -*- coding: latin-1 -*-\nname = 'Müller'\n\ncity = 'Köln'\n"
CHINESE = "".join(f"第{n}行这是一些用于识别编码的中文文字。\n" for n in "一二三四五六七八九十")
BOM = "\ufeff"

# By the name of a file: its text before and after, which both keep one of two changes, and
# its encoding.
FILES: dict[str, tuple[str, str, str, str]] = {
    "crlf": ("a\r\nb\r\nc\r\nd", "A\r\nb\r\nc\r\nD", "A\r\nb\r\nc\r\nd", "utf-8"),
    "mixed": ("a\r\nb\nc\rd\ne\n\r\n", "A\r\nb\nc\rd\nE\n\r\n", "A\r\nb\nc\rd\ne\n\r\n", "utf-8"),
    "lone cr": ("a\rb\rc\rd\r", "A\rb\rc\rD\r", "A\rb\rc\rd\r", "utf-8"),
    "bom": ("a\r\nb\r\nc\r\n", "A\r\nb\r\nC\r\n", "A\r\nb\r\nc\r\n", "utf-8-sig"),
    "odd": (
        "a\x0c\nb\u2028\nc\x1c\nd\n",
        "A\x0c\nb\u2028\nc\x1c\nD\n",
        "A\x0c\nb\u2028\nc\x1c\nd\n",
        "utf-8",
    ),
    "utf-16": ("a\r\nb🐚\r\nc\r\n", "A\r\nb🐚\r\nC\r\n", "A\r\nb🐚\r\nc\r\n", "utf-16"),
    "utf-16 be": (f"{BOM}é\nb\nc\n", f"{BOM}É\nb\nC\n", f"{BOM}É\nb\nc\n", "utf-16-be"),
    "latin.py": (
        LATIN,
        LATIN.replace("Müller", "Möller").replace("Köln", "Bonn"),
        LATIN.replace("Müller", "Möller"),
        "latin-1",
    ),
    "gbk": (
        CHINESE,
        CHINESE.replace("第一行", "第壹行").replace("第九行", "第玖行"),
        CHINESE.replace("第一行", "第壹行"),
        "gbk",
    ),
}


@both_versions
async def test_d25_d30_d32_a_part_of_a_change_leaves_all_other_bytes(
    tmp_path: Path, version: int
) -> None:
    """D25, D30, D32: line endings of any kind, marks and encodings; whoever wrote them."""
    turn = [silent(name, after, encoding=enc) for name, (_, after, _, enc) in FILES.items()]
    async with review(tmp_path, turn, version=version) as at:
        paths = {
            name: at.file(name, before.encode(enc)) for name, (before, _, _, enc) in FILES.items()
        }
        await play(at)
        await seen_all(at, 1)
        changes = await listed(at, len(FILES))
        for name, (before, _, partly, enc) in FILES.items():
            path, change = paths[name], changes[name]
            assert "reason" not in change, name
            first, last = change["hunks"]
            await reject(at, hunk=last["hunk"])
            assert path.read_bytes() == partly.encode(enc), name
            await reject(at, hunk=first["hunk"])
            assert path.read_bytes() == before.encode(enc), name
        assert await listed(at, 0) == {}


# What an agent hands over through the client, and what the file has then; else why not.
HANDED: dict[str, tuple[bytes, str, bytes | str]] = {
    "mark and text": (b"\xef\xbb\xbfa\r\n", "b\n", b"\xef\xbb\xbfb\r\n"),
    "mark and mark": (b"\xef\xbb\xbfa\r\n", f"{BOM}b\r\n", b"\xef\xbb\xbfb\r\n"),
    "none and mark": (b"a\n", f"{BOM}b\n", b"\xef\xbb\xbfb\n"),
    "two marks": (b"\xef\xbb\xbfa\n", f"{BOM}{BOM}b\n", b"\xef\xbb\xbfb\n"),
    "utf-16": ("a\r\n".encode("utf-16"), f"{BOM}é\n", "é\r\n".encode("utf-16")),
    "declared": (
        LATIN.encode("latin-1"),
        LATIN.replace("Köln", "Zürich"),
        LATIN.replace("Köln", "Zürich").encode("latin-1"),
    ),
    "not in it": (LATIN.encode("latin-1"), LATIN.replace("Köln", "Łódź"), "cannot hold 'Ł'"),
    "guessed": (
        CHINESE.encode("gbk"),
        CHINESE.replace("第一行", "第 1 行"),
        CHINESE.replace("第一行", "第 1 行").encode("gbk"),
    ),
    "unsure": (CHINESE.encode("gbk"), CHINESE + "鬱\n", "encoding"),
}


async def test_d30_d32_what_is_handed_over_stands_in_the_files_own_encoding(
    tmp_path: Path,
) -> None:
    """D30: exactly one mark, whatever is said and there. D32: never another encoding; what does
    not fit is refused, and the file left alone.
    """
    turn: list[Any] = [
        {"write": name, "text": text, "via": "client"} for name, (_, text, _) in HANDED.items()
    ]
    async with review(tmp_path, turn, version=1) as at:
        paths = {name: at.file(name, before) for name, (before, _, _) in HANDED.items()}
        await play(at)
        answers = dict(zip(HANDED, at.answers_to(), strict=True))
        for name, (before, _, after) in HANDED.items():
            refused = isinstance(after, str)
            assert paths[name].read_bytes() == (before if refused else after), name
            assert ("error" in answers[name]) == refused, name
            if refused:
                message = answers[name]["error"]["message"]
                assert str(paths[name]) in message, name
                assert str(after) in message, message
        written = [name for name, (_, _, after) in HANDED.items() if isinstance(after, bytes)]
        await listed(at, len(written))
        await reject(at, all=True)
        for name, (before, _, _) in HANDED.items():
            assert paths[name].read_bytes() == before, name


async def test_d35_d36_d51_each_failure_has_its_true_cause(tmp_path: Path) -> None:
    """D35, D36: a file that is not there is not found, in the usual words and by its code.
    D51: what else is wrong is never called missing. D50: a read-only file stays as it is.
    """
    (tmp_path / "elsewhere.txt").write_text("secret")
    asked: list[tuple[str, str, int, str]] = [
        ("fs/read_text_file", "missing.txt", -32002, "no such file"),
        ("fs/read_text_file", "missing/too.txt", -32002, "not found"),
        ("fs/read_text_file", "folder", -32603, "folder"),
        ("fs/read_text_file", "binary", -32603, "binary"),
        ("fs/read_text_file", "large", -32603, "large"),
        ("fs/read_text_file", "../elsewhere.txt", -32602, "outside"),
        ("fs/write_text_file", "locked.txt", -32603, "read-only (mode 0444)"),
        ("fs/write_text_file", "folder", -32603, "folder"),
        ("fs/write_text_file", "binary", -32603, "binary"),
    ]
    turn: list[Any] = []
    for method, name, _, _ in asked:
        params: Json = {"sessionId": "session", "path": f"{{cwd}}/{name}"}
        if method == "fs/write_text_file":
            params["content"] = "other\n"
        turn.append({"request": method, "params": params})
    async with review(tmp_path, turn, version=1) as at:
        locked, binary = at.file("locked.txt", "mine\n"), at.file("binary", b"\0\1\2\xff")
        locked.chmod(0o444)
        (at.project / "folder").mkdir()
        with at.file("large", b"").open("wb") as large:
            large.truncate(20 * 1024 * 1024)
        await play(at)
        for (method, name, code, words), answer in zip(asked, at.answers_to(), strict=True):
            assert answer["error"]["code"] == code, (method, name, answer)
            message = answer["error"]["message"]
            assert words in message.lower(), message
            assert (code == -32002) == ("not found" in message.lower()), message
        assert (locked.read_text(), binary.read_bytes()) == ("mine\n", b"\0\1\2\xff")
        assert stat.S_IMODE(locked.stat().st_mode) == 0o444
        assert await listed(at, 0) == {}


@both_versions
async def test_d52_mode_links_and_identity_survive(tmp_path: Path, version: int) -> None:
    """D52: of a file that is written and of one where it is taken back or kept."""
    via = "client" if version == 1 else "disk"
    names = ["run.sh", "hard.txt", "link.txt"]
    turn: list[Any] = [{"write": name, "text": "new\n", "via": via} for name in names]
    turn.append(silent("replaced.sh", "new\n", renamed=True))
    async with review(tmp_path, turn, version=version) as at:
        paths = {name: at.file(name, "old\n") for name in ("run.sh", "hard.txt", "replaced.sh")}
        target = at.file("target.txt", "old\n")
        paths["run.sh"].chmod(0o755)
        paths["replaced.sh"].chmod(0o750)
        (at.project / "twin.txt").hardlink_to(paths["hard.txt"])
        link = at.project / "link.txt"
        link.symlink_to("target.txt")
        open_too = at.open(paths["run.sh"])
        await play(at)
        await at.until(lambda: at.text(open_too) == "new\n")

        def is_as_it_was() -> bool:
            modes = [stat.S_IMODE(paths[n].stat().st_mode) for n in ("run.sh", "replaced.sh")]
            twins = paths["hard.txt"].samefile(at.project / "twin.txt")
            return modes == [0o755, 0o750] and twins and link.readlink().name == "target.txt"

        assert is_as_it_was()
        assert target.read_text() == "new\n"
        # One file with two names is told of under both, and taken back once.
        names = ["run.sh", "hard.txt", "twin.txt", "target.txt", "replaced.sh"]
        changes = await listed(at, len(names))
        assert sorted(changes) == sorted(names)
        for name in set(names) - {"twin.txt"}:
            await reject(at, uri=changes[name]["uri"])
        answer = await at.command("acpls.review.reject", {"all": True})
        assert [left["reason"] for left in answer["left"]] == ["it is no longer pending"]
        assert await listed(at, 0) == {}
        assert is_as_it_was()
        files = [*paths.values(), target, at.project / "twin.txt"]
        assert {path.read_text() for path in files} == {"old\n"}


@both_versions
async def test_d50_a_file_that_became_read_only_is_not_switched_back(
    tmp_path: Path, version: int
) -> None:
    """D50: a verdict that would have to write it is left with the path's own reason; when the
    user makes it writable the same verdict is carried out.
    """
    turn = [silent("a.txt", "new\n"), {"chmod": "a.txt", "bits": "444"}]
    async with review(tmp_path, turn, version=version) as at:
        path = at.file("a.txt", "old\n")
        await play(at)
        (change,) = (await listed(at, 1)).values()
        (hunk,) = change["hunks"]
        answer = await at.command("acpls.review.reject", {"hunk": hunk["hunk"]})
        (left,) = answer["left"]
        assert "read-only (mode 0444)" in left["reason"]
        assert "read-only (mode 0444)" in await at.popup()
        assert path.read_text() == "new\n"
        assert stat.S_IMODE(path.stat().st_mode) == 0o444
        path.chmod(0o644)
        await reject(at, hunk=hunk["hunk"])
        assert path.read_text() == "old\n"


@both_versions
async def test_d34_a_replacement_that_ends_in_a_newline_or_not(
    tmp_path: Path, version: int
) -> None:
    """D34: no blank line comes or goes with a verdict at the end of a file."""
    pairs = [
        ("one\ntwo", "one\ntwo\n"),
        ("one\ntwo\n", "one\ntwo"),
        ("one\n", "one\n\n"),
        ("", "x"),
    ]
    turn = [silent(f"{number}.txt", after) for number, (_, after) in enumerate(pairs)]
    async with review(tmp_path, turn, version=version) as at:
        paths = [at.file(f"{number}.txt", before) for number, (before, _) in enumerate(pairs)]
        kept = at.file("kept.txt", "")
        await play(at)
        await seen_all(at, 1)
        changes = await listed(at, len(pairs))
        for path, (_, after) in zip(paths, pairs, strict=True):
            assert path.read_text() == after
        await keep(at, uri=changes["0.txt"]["uri"])
        await reject(at, all=True)
        assert [path.read_text() for path in paths] == ["one\ntwo\n", "one\ntwo\n", "one\n", ""]
        assert kept.exists()
