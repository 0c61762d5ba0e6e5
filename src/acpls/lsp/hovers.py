"""Hovers: what a hunk replaces, and where the user's lines and the agent's clash, both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lsprotocol import types

from acpls.lsp import hunks
from acpls.text.lines import body, split_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acpls.hub.state import State

LINES_LIMIT: Final = 100
LINE_LIMIT: Final = 500
"""Characters that are shown of one line."""


def hover(state: State, params: types.HoverParams, *, markdown: bool = True) -> types.Hover | None:
    """What the hunk under the cursor replaces, as a diff."""
    line = params.position.line
    for hunk in hunks.shown(state, params.text_document.uri):
        # Where all of a file is new, the code in it is still worth a hover of its own.
        if hunk.touches(line, line) and (line == hunk.first or not hunk.is_whole):
            parts = [_part(heading, text, markdown=markdown) for heading, text in _parts(hunk)]
            kind = types.MarkupKind.Markdown if markdown else types.MarkupKind.PlainText
            return types.Hover(types.MarkupContent(kind, "\n".join(parts)))
    return None


def _parts(hunk: hunks.Shown) -> Iterator[tuple[str, str]]:
    """Headings and diffs; one of the two may be empty."""
    shape = hunk.shape
    base, new = shape["baseText"], shape["newText"]
    if "whole" in shape:
        yield _of_whole(hunk), ""
    elif shape["state"] == "conflict" and "placed" not in shape:
        yield "Yours, in this document:", _diff(base, shape["currentText"])
        yield "The agent's:", _diff(base, new)
    else:
        yield "", _diff(base, new)


def _of_whole(hunk: hunks.Shown) -> str:
    what = hunk.what()
    why = hunk.change.opaque
    told = f"{what[0].upper()}{what[1:]}, by the agent."
    return f"{told} It is one change as a whole: {why}." if why else told


def _part(heading: str, diff: str, *, markdown: bool) -> str:
    if not diff:
        return heading
    above = f"{heading}\n" if heading else ""
    if not markdown:
        return f"{above}{diff}"
    fence = "```"
    while fence in diff:
        fence += "`"
    return f"{above}{fence}diff\n{diff}{fence}"


def _diff(old: str, new: str) -> str:
    lines = [f"-{_cut(line)}\n" for line in split_lines(old)]
    lines += [f"+{_cut(line)}\n" for line in split_lines(new)]
    if len(lines) > LINES_LIMIT:
        left_out = len(lines) - LINES_LIMIT
        lines[LINES_LIMIT:] = [f"... and {left_out} lines more\n"]
    return "".join(lines)


def _cut(line: str) -> str:
    text = body(line)
    return text if len(text) <= LINE_LIMIT else f"{text[:LINE_LIMIT]}…"
