"""Command lines held against the globs of rules: strictly for what is allowed, and in every way
that a line may be read for what is not.

Invariant: pure, and bounded in time whatever the line.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from acpls.permissions.commands import split
from acpls.text import globs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acpls.permissions.commands import Command, Part

READINGS_LIMIT: Final = 2000
"""A line that can be read in more ways is not read in all of them."""

_CHARACTERS_LIMIT: Final = 500_000
_DEPTH_LIMIT: Final = 3
_WORDS_LIMIT: Final = 30

# They run what their arguments name.
_WRAPPERS: Final = frozenset(
    {
        *("sudo", "doas", "su", "env", "nohup", "nice", "ionice", "time", "timeout", "command"),
        *("exec", "builtin", "xargs", "stdbuf", "setsid", "watch", "find", "fd", "parallel"),
        *("strace", "chroot", "busybox", "start", "call", "then", "else", "do", "if", "elif"),
        *("while", "until", "and", "or", "not", "!", "coproc", "noglob", "nocorrect", "unbuffer"),
        *("{", "cmd", "powershell", "pwsh", "wsl"),
    }
)
# They take command lines for arguments.
_SHELLS: Final = frozenset(
    {
        *("sh", "bash", "zsh", "dash", "ksh", "ash", "fish", "csh", "tcsh", "eval", "su", "cmd"),
        *("powershell", "pwsh", "trap", "watch", "xargs", "iex", "invoke-expression", "parallel"),
    }
)
_ASSIGNMENT: Final = re.compile(r"[A-Za-z_]\w*\+?=.*", re.DOTALL)
_ENDING: Final = re.compile(r"\.(?:exe|cmd|bat|com|ps1)\Z", re.IGNORECASE)


@lru_cache(maxsize=2000)
def _compiled(glob: str, *, any_case: bool) -> re.Pattern[str]:
    return re.compile(globs.of_text(glob), re.IGNORECASE if any_case else 0)


def fits(glob: str, text: str, *, any_case: bool = False) -> bool:
    """Whether a text fits a glob of any text."""
    return _compiled(glob, any_case=any_case).fullmatch(text) is not None


def lets(glob: str, part: Part) -> bool:
    """Whether a glob of commands is about this one, by the text that stands there.

    What the glob says of the program holds for the program: a star reaches over no slash in it,
    but for one that stands alone.
    """
    if not fits(glob, part.text):
        return False
    head = glob.split(maxsplit=1)[0]
    program = part.words[0]
    alike = _slashes(program) == _slashes(head)
    return head == "*" or (alike and fits(head, program))


@dataclass(frozen=True, slots=True)
class Readings:
    """The texts that a command line may be read as. ``whole``: these are all of them."""

    texts: tuple[str, ...]
    whole: bool = True

    def fit(self, glob: str) -> bool:
        """Whether a glob of commands is about the line, or about anything that it may run."""
        wanted = " ".join(glob.split())
        return any(fits(wanted, text, any_case=True) for text in self.texts)


def read(command: Command, *, windows: bool = False) -> Readings:
    """Read a command line in every way."""
    texts: dict[str, None] = {}
    length = 0
    for text in readings(command, windows=windows):
        if len(texts) >= READINGS_LIMIT or length > _CHARACTERS_LIMIT:
            return Readings(tuple(texts), whole=False)
        length += len(text)
        texts[text] = None
    return Readings(tuple(texts))


def readings(command: Command, *, windows: bool = False, depth: int = 0) -> Iterator[str]:
    """The line, and each command in it: as it stands there, without quotes, without what stands
    before the program, and what it would have others run.
    """
    yield command.line
    for part in command.parts:
        yield part.text
        yield from _of_words(part.words, windows=windows, depth=depth)


def _of_words(words: tuple[str, ...], *, windows: bool, depth: int) -> Iterator[str]:
    yield " ".join(words)
    at = next((i for i, word in enumerate(words) if not _ASSIGNMENT.fullmatch(word)), len(words))
    rest = words[at:]
    if not rest:
        return
    program = _name(rest[0])
    yield " ".join((program, *rest[1:]))
    yield " ".join(rest)
    if program in _WRAPPERS:
        for start in range(1, min(len(rest), _WORDS_LIMIT)):
            yield " ".join((_name(rest[start]), *rest[start + 1 :]))
    if program in _WRAPPERS | _SHELLS and depth < _DEPTH_LIMIT:
        lines = (*rest[1:_WORDS_LIMIT], " ".join(rest[1:])) if program in _SHELLS else rest[1:2]
        for line in lines:
            if not line.startswith("-"):
                yield from readings(split(line, windows=windows), windows=windows, depth=depth + 1)
        if program in _WRAPPERS:
            inner = next((i for i, word in enumerate(rest[1:], 1) if _name(word) in _SHELLS), None)
            if inner is not None:
                yield from _of_words(rest[inner:], windows=windows, depth=depth + 1)


def _name(program: str) -> str:
    """A program without its folder and ending, as everybody calls it."""
    return _ENDING.sub("", re.split(r"[/\\]", program)[-1]).lower()


def _slashes(text: str) -> int:
    return text.count("/") + text.count("\\")
