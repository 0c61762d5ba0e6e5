"""Differences between two texts: hunks, fragments that occur once, and Git patches.

Lines keep their own endings, so a CRLF file gives CRLF fragments and patch lines.

Invariant: no I/O.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from acpls.demo.terms import Change

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")


@dataclass(frozen=True, slots=True)
class Hunk:
    """Lines that change, with unchanged lines around them.

    ``old_start`` and ``new_start`` are zero-based; ``marked`` holds (mark, line) pairs with
    the marks of a unified diff.
    """

    old_start: int
    new_start: int
    marked: tuple[tuple[str, str], ...]

    @property
    def old(self) -> str:
        """The text before."""
        return "".join(line for mark, line in self.marked if mark != "+")

    @property
    def new(self) -> str:
        """The text after."""
        return "".join(line for mark, line in self.marked if mark != "-")

    @property
    def places(self) -> list[int]:
        """The one-based lines, in the new text, where a run of changed lines begins."""
        found, line, before = [], self.new_start + 1, " "
        for mark, _ in self.marked:
            if mark != " " and before == " ":
                found.append(line)
            line += mark != "-"
            before = mark
        return found


def lines(text: str) -> list[str]:
    r"""The lines of a text with their endings (``\n``, ``\r\n`` or ``\r``), nothing lost."""
    return _LINE.findall(text)


def hunks(old: str, new: str, around: int = 3) -> list[Hunk]:
    """The changes from ``old`` to ``new``, with ``around`` unchanged lines on each side."""
    before, after = lines(old), lines(new)
    found = []
    for group in SequenceMatcher(None, before, after, autojunk=False).get_grouped_opcodes(around):
        marked: list[tuple[str, str]] = []
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                marked += [(" ", line) for line in before[i1:i2]]
                continue
            marked += [("-", line) for line in before[i1:i2]]
            marked += [("+", line) for line in after[j1:j2]]
        if any(mark != " " for mark, _ in marked):
            found.append(Hunk(group[0][1], group[0][3], tuple(marked)))
    return found


def fragments(old: str, new: str) -> list[Hunk]:
    """Hunks whose old text occurs exactly once in ``old``: a client can place each of them."""
    around, total = 3, len(lines(old))
    while True:
        found = hunks(old, new, around)
        if around >= total or all(_occurs_once(old, hunk.old) for hunk in found):
            return found
        around *= 2


def git_patch(change: Change) -> str:
    """The change in Git's format, with absolute paths and without ``a/`` and ``b/``."""
    name = _quoted(str(change.path))
    old_name = _quoted(str(change.origin)) if change.origin else name
    head = [f"diff --git {old_name} {name}"]
    if change.operation == "move":
        head += ["similarity index 100%", f"rename from {old_name}", f"rename to {name}"]
    elif change.operation == "add":
        head.append("new file mode 100644")
    elif change.operation == "delete":
        head.append("deleted file mode 100644")
    found = hunks(change.old, change.new)
    if found:
        head.append("--- " + ("/dev/null" if change.operation == "add" else _tabbed(old_name)))
        head.append("+++ " + ("/dev/null" if change.operation == "delete" else _tabbed(name)))
    return "".join(f"{line}\n" for line in head) + "".join(map(_unified, found))


def _occurs_once(text: str, part: str) -> bool:
    first = text.find(part)
    return bool(part) and text.find(part, first + 1) < 0


def _unified(hunk: Hunk) -> str:
    old_count = sum(mark != "+" for mark, _ in hunk.marked)
    new_count = sum(mark != "-" for mark, _ in hunk.marked)
    body = "".join(
        mark + line + ("" if line.endswith("\n") else "\n\\ No newline at end of file\n")
        for mark, line in hunk.marked
    )
    return f"@@ -{_span(hunk.old_start, old_count)} +{_span(hunk.new_start, new_count)} @@\n{body}"


def _span(start: int, count: int) -> str:
    # Git counts from one, but an empty side names the line before it.
    first = start + 1 if count else start
    return str(first) if count == 1 else f"{first},{count}"


def _tabbed(name: str) -> str:
    # Git ends a name that has a space with a tab, so that readers know where it stops.
    return f"{name}\t" if " " in name else name


def _quoted(name: str) -> str:
    if re.fullmatch(r"[ !#-\[\]-~]+", name):
        return name
    escapes = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}
    plain = "".join(
        escapes.get(sign) or (sign if " " <= sign <= "~" else _octal(sign)) for sign in name
    )
    return f'"{plain}"'


def _octal(sign: str) -> str:
    return "".join(f"\\{byte:03o}" for byte in sign.encode("utf-8", "surrogateescape"))
