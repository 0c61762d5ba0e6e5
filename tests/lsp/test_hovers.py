"""A hover on a hunk shows what it replaces."""

from __future__ import annotations

from typing import Any

import pytest

from acpls.review.held import NO_FILE, Held, of_text
from editor_stage import Stage, claiming, stage

pytestmark = pytest.mark.anyio

URI = "file:///p/a.py"
BASE = "".join(f"{number}\n" for number in range(12))
TARGET = BASE.replace("2\n", "two\n", 1).replace("8\n", "", 1)
PLAIN = claiming(textDocument={"hover": {"contentFormat": ["plaintext"]}})


def hunks(it: Stage) -> None:
    it.session()
    it.editor.open(URI, TARGET)
    it.reviewed("/p/a.py", BASE, TARGET)


async def test_a_hover_on_a_hunk_shows_the_base_text_as_a_diff() -> None:
    async with stage(claiming(textDocument={"hover": {"contentFormat": ["markdown"]}})) as it:
        hunks(it)
        assert it.editor.hover(URI, 2)["contents"] == {
            "kind": "markdown",
            "value": "```diff\n-2\n+two\n```",
        }
        assert it.editor.hover(URI, 8)["contents"]["value"] == "```diff\n-8\n```"
        assert it.editor.hover(URI, 0) is None
        assert it.editor.hover("file:///p/none.py", 0) is None
        assert it.editor.hover("untitled:1", 0) is None


@pytest.mark.parametrize(
    ("document", "kind"),
    [
        (None, "markdown"),
        ({}, "markdown"),
        ({"hover": {}}, "markdown"),
        ({"hover": {"contentFormat": ["plaintext", "markdown"]}}, "markdown"),
        ({"hover": {"contentFormat": ["plaintext"]}}, "plaintext"),
    ],
)
async def test_a_hover_is_markdown_where_the_editor_takes_it(document: Any, kind: str) -> None:
    async with stage(claiming(textDocument=document)) as it:
        hunks(it)
        contents = it.editor.hover(URI, 2)["contents"]
        assert contents["kind"] == kind
        assert contents["value"].startswith("```" if kind == "markdown" else "-2\n")


async def test_a_fence_in_the_text_does_not_end_the_hover() -> None:
    async with stage() as it:
        it.session()
        it.editor.open(URI, "```\r\n````")
        it.reviewed("/p/a.py", "", "```\r\n````")
        assert it.editor.hover(URI, 0)["contents"]["value"] == ("`````diff\n+```\n+````\n`````")


async def test_a_long_hunk_is_cut_and_so_is_a_long_line() -> None:
    async with stage() as it:
        it.session()
        text = "y" * 501 + "\n" + "x" * 500 + "\n" + "x\n" * 148
        it.editor.open(URI, text)
        it.reviewed("/p/a.py", "", text)
        lines = it.editor.hover(URI, 0)["contents"]["value"].split("\n")
        assert len(lines) == 1 + 100 + 1 + 1
        assert lines[1:3] == ["+" + "y" * 500 + "…", "+" + "x" * 500]
        assert lines[-2] == "... and 50 lines more"


async def test_a_clash_shows_both_sides() -> None:
    async with stage() as it:
        it.session()
        it.editor.open(URI, BASE)
        it.reviewed("/p/a.py", BASE, BASE.replace("5\n", "five\n"))
        it.editor.change(URI, 2, {"text": BASE.replace("5\n", "mine\nand more\n")})
        assert it.editor.hover(URI, 5)["contents"]["value"] == (
            "Yours, in this document:\n```diff\n-5\n+mine\n+and more\n```\n"
            "The agent's:\n```diff\n-5\n+five\n```"
        )


async def test_a_clash_in_plain_text() -> None:
    async with stage(PLAIN) as it:
        it.session()
        it.editor.open(URI, BASE)
        it.reviewed("/p/a.py", BASE, BASE.replace("5\n", "five\n"))
        it.editor.change(URI, 2, {"text": BASE.replace("5\n", "mine\n")})
        assert it.editor.hover(URI, 5)["contents"]["value"] == (
            "Yours, in this document:\n-5\n+mine\n\nThe agent's:\n-5\n+five\n"
        )


@pytest.mark.parametrize(
    ("base", "target", "told"),
    [
        (NO_FILE, of_text(""), "The new file, by the agent."),
        (
            Held(content="1", opaque="the file is binary"),
            NO_FILE,
            (
                "The deletion of this file, by the agent."
                " It is one change as a whole: the file is binary."
            ),
        ),
        (
            None,
            of_text("a\n"),
            (
                "The change of this whole file, by the agent."
                " It is one change as a whole: the text before it is not known."
            ),
        ),
    ],
)
@pytest.mark.parametrize("params", [PLAIN, None])
async def test_what_no_line_shows_is_told_in_words(
    base: Held | None, target: Held, told: str, params: Any
) -> None:
    async with stage(params) as it:
        it.session()
        it.editor.open(URI, target.text or "")
        it.wrote("/p/a.py", base, target)
        assert it.editor.hover(URI, 0)["contents"]["value"] == told
        assert it.editor.hover(URI, 1) is None
