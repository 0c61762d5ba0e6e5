"""Rules of ``.gitignore`` files: what a line says of a path, as Git understands it.

Invariant: pure and total. How long it takes to match grows with the path and the rule and
with nothing else, whatever stands in the rule: nobody may hold up the server with one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from acpls.text import globs

if TYPE_CHECKING:
    from collections.abc import Iterator

_SLASH: Final = "/"
_MARKED: Final = re.compile(r"[*?\[\\]")


@dataclass(frozen=True, slots=True)
class Rule:
    """``ignored``: what is said of a path that fits. ``folders``: the rule is about no others.

    ``by_name``: it is about the last part of a path, else about all of it from the folder of
    the rule down. ``plain``: what has to stand there, or ``pattern`` what has to fit.
    """

    ignored: bool
    folders: bool
    by_name: bool
    plain: str | None
    pattern: re.Pattern[str] | None = None

    def fits(self, path: str, start: int, name_at: int, *, is_folder: bool) -> bool:
        """Whether it is about a path with slashes, of which ``start`` characters lead to the
        folder of the rule and ``name_at`` to its last part.
        """
        if self.folders and not is_folder:
            return False
        at = name_at if self.by_name else start
        if self.pattern is None:
            return self.plain is not None and path[at:] == self.plain
        return self.pattern.fullmatch(path, at) is not None


def rules(text: str) -> Iterator[Rule]:
    """The rules of a file, in their order; lines that say nothing are left out."""
    for line in text.split("\n"):
        rule = _rule(line.removesuffix("\r"))
        if rule is not None:
            yield rule


def _rule(line: str) -> Rule | None:
    if line.startswith("#"):
        return None
    line = _without_spaces(line)
    ignored = not line.startswith("!")
    line = line.removeprefix("!")
    folders = line.endswith(_SLASH)
    line = line.removesuffix(_SLASH)
    by_name = _SLASH not in line
    line = line.removeprefix(_SLASH)
    if not line:
        return None
    if not _MARKED.search(line):
        return Rule(ignored, folders, by_name, line)
    try:
        made = globs.of_name(line) if by_name else globs.of_path(line)
    except ValueError:
        # Git takes a rule that cannot be understood for one that fits nothing.
        return None
    return Rule(ignored, folders, by_name, None, re.compile(made, re.DOTALL))


def _without_spaces(line: str) -> str:
    """The line without the spaces at its end that are not escaped."""
    kept = line.rstrip(" ")
    escapes = len(kept) - len(kept.rstrip("\\"))
    return line[: len(kept) + 1] if escapes % 2 and kept != line else kept
