"""What a tool call has said, as one text: its words, and the diffs that it told of.

So what was rejected, or never came to a file, can still be read and copied.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from acpls.hub import review_shapes, shapes
from acpls.review.change import Change
from acpls.review.composing import Author
from acpls.review.held import of_text
from acpls.session import content as c

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acpls.session.state import ToolCall
    from acpls.text.patch import FilePatch, PatchHunk

_NO_NEWLINE = "\\ No newline at end of file\n"


def of_call(call: ToolCall) -> str:
    """All texts of a tool call, in order, with its diffs as unified diffs."""
    return "\n".join(_texts(call))


def _texts(call: ToolCall) -> Iterator[str]:
    for item in call.content:
        match item:
            case c.Fragment():
                yield _fragment(item)
            case c.Patch(_, files):
                yield from map(_file, files)
            case c.TerminalRef() | c.SessionRef() | c.OtherContent():
                pass
            case _:
                block = shapes.block(item)
                if "text" in block:
                    yield block["text"]


def _fragment(said: c.Fragment) -> str:
    # Of a piece of a file nobody says in which lines it stands, so it is counted by itself.
    change = Change("", said.path, Author(""), of_text(said.old), of_text(said.new), "claim")
    change.begin(change.author, str)
    return review_shapes.unified(change)


def _file(patch: FilePatch) -> str:
    old, new = patch.old_path or "/dev/null", patch.new_path or "/dev/null"
    out = [f"--- {old}\n+++ {new}\n"]
    if patch.binary:
        out.append("Binary files differ\n")
    shift = 0
    for hunk in patch.hunks:
        out.append(_hunk(hunk, shift))
        shift += _count(hunk, "+") - _count(hunk, "-")
    return "".join(out)


def _hunk(hunk: PatchHunk, shift: int) -> str:
    same = _count(hunk, " ")
    old, new = (same + _count(hunk, tag) for tag in "-+")
    first, second = hunk.start + bool(old), hunk.start + shift + bool(new)
    # The last line of a side that is marked as the end of a file without a newline.
    ends = {
        max((at for at, (tag, _) in enumerate(hunk.lines) if tag in tags), default=-1)
        for tags, is_ended in ((" -", hunk.old_ends), (" +", hunk.new_ends))
        if not is_ended
    }
    lines = (
        f"{tag}{line}\n{_NO_NEWLINE if at in ends else ''}"
        for at, (tag, line) in enumerate(hunk.lines)
    )
    return f"@@ -{first},{old} +{second},{new} @@\n{''.join(lines)}"


def _count(hunk: PatchHunk, wanted: str) -> int:
    return sum(tag == wanted for tag, _ in hunk.lines)
