"""Reads what stands between a command and its program: batch shims and first lines.

npm, pnpm and yarn put a batch file for each command on PATH of Windows, which starts node
with a script. Scripts name their interpreter in a first line that Windows does not read.

Invariant: pure. A batch file that does anything else is not understood rather than guessed.
"""

from __future__ import annotations

import ntpath
import posixpath
import re
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class FirstLine:
    """What ``#!`` names. ``by_path``: the program that ``env`` looks up; ``args``: its own."""

    interpreter: str
    by_path: str | None = None
    args: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Shim:
    """What a batch file starts.

    ``target`` is an absolute path: a program, or a script when there is a ``runner``, which
    is looked up on PATH unless there is one at ``beside``. ``args`` go before the script.
    """

    target: str
    runner: str | None = None
    beside: str | None = None
    args: tuple[str, ...] = ()


_BY_ENDING: Final = {
    ".js": FirstLine("node"),
    ".mjs": FirstLine("node"),
    ".cjs": FirstLine("node"),
    ".py": FirstLine("python"),
    ".sh": FirstLine("sh"),
}

# What the known shims set. Any other variable would be missing from the program's
# environment if the shim were passed by.
_HARMLESS: Final = {
    "DP0",
    "_PROG",
    "PATHEXT",
    "NODE_EXE",
    "NPM_CLI_JS",
    "NPM_PREFIX_JS",
    "NPM_PREFIX_NPM_CLI_JS",
    "NPM_PREFIX_NPX_CLI_JS",
    "NPX_CLI_JS",
}
_SET = re.compile(r'\bset\s+(?:"([^"=]+)=([^"\r\n]*)"|([^\s"=]+)=([^\r\n]*))', re.IGNORECASE)
_HERE = re.compile(r"%~dp0\\?|%dp0%\\?", re.IGNORECASE)
_WORD = re.compile(r'"([^"]*)"|(\S+)')
_STARTS = re.compile(r"^(.*\S)\s+%\*\s*$")
_ENVIRONMENT = re.compile(r"^[A-Za-z_][A-Za-z0-9_]*=")


def first_line(text: str) -> FirstLine | None:
    """Read the first line of a script; ``None``: it names no interpreter."""
    if not text.startswith("#!"):
        return None
    words = text[2:].split("\n", 1)[0].split()
    if not words:
        return None
    interpreter, *rest = words
    if posixpath.basename(interpreter) != "env":
        return FirstLine(interpreter, None, tuple(rest))
    while rest and (rest[0].startswith("-") or _ENVIRONMENT.match(rest[0])):
        rest.pop(0)
    return FirstLine(interpreter, rest[0] if rest else None, tuple(rest[1:]))


def by_ending(ending: str) -> FirstLine | None:
    """What scripts of this kind are run by that have no first line."""
    return _BY_ENDING.get(ending)


def read(text: str, folder: str) -> Shim | None:
    """Read a batch file that stands in ``folder``; ``None``: it is no shim that we know."""
    sets: dict[str, str] = {}
    for quoted_name, quoted, name, value in _SET.findall(text):
        # The first one is the usual case: the runner beside the shim, the tool it came with.
        sets.setdefault((quoted_name or name).upper(), quoted or value)
    if not sets.keys() <= _HARMLESS:
        return None
    starts = {found for line in text.splitlines() if (found := _started(line, sets, folder))}
    # One with the runner beside the shim and one without are the same.
    shims = {(shim.target, shim.args): shim for shim in starts}
    if len(shims) != 1:
        return None
    return max(starts, key=lambda shim: shim.beside is not None)


def _started(line: str, sets: dict[str, str], folder: str) -> Shim | None:
    """What a line starts that hands all arguments on, if it is one."""
    found = _STARTS.match(line)
    if found is None:
        return None
    # Before the last & stand the words that clean up.
    words = [a or b for a, b in _WORD.findall(re.split(r"[&|]", found[1])[-1].lstrip("@ \t"))]
    words = [_filled(word, sets) for word in words]
    places = [_place(word, folder) for word in words]
    if len(words) == 1 and places[0] is not None:
        return Shim(places[0]) if places[0].lower().endswith(".exe") else None
    if len(words) < 2 or places[-1] is None:
        return None
    name = ntpath.basename(words[0]).lower()
    args = tuple(words[1:-1])
    if name not in ("node", "node.exe") or any(places[1:-1]) or any("%" in a for a in args):
        return None
    return Shim(places[-1], "node", places[0], args)


def _filled(word: str, sets: dict[str, str]) -> str:
    name = word[1:-1].upper()
    whole = word.startswith("%") and word.endswith("%") and name in sets and name != "DP0"
    return sets[name] if whole else word


def _place(word: str, folder: str) -> str | None:
    """The absolute path of a word that begins in the shim's own folder."""
    found = _HERE.match(word)
    if found is None or "%" in word[found.end() :]:
        return None
    return ntpath.normpath(ntpath.join(folder, word[found.end() :]))
