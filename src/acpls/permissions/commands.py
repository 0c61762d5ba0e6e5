r"""Command lines, taken apart into the commands that a shell would run.

Which shell that will be is not known, so a line counts as understood only where sh, bash, zsh,
fish and PowerShell agree on what is run, and for Windows cmd and PowerShell.

Invariant: pure, and linear in the length of a line. A line that is understood runs the programs
that its parts begin with and no others.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

LENGTH_LIMIT: Final = 20_000
"""A longer line is not looked into, in characters."""

PARTS_LIMIT: Final = 500
_DEPTH_LIMIT: Final = 20

# The name of a program, on which all shells agree.
_PROGRAM: Final = re.compile(r"[\w.+/-][\w.+/:@~,-]*", re.ASCII)
_RESERVED: Final = frozenset(
    {
        *("if", "then", "else", "elif", "fi", "do", "done", "case", "esac", "while", "until"),
        *("for", "in", "select", "function", "time", "coproc", "repeat", "foreach", "end"),
        *("begin", "and", "or", "not", "switch", "nocorrect", "noglob", "!", "{", "}", "[["),
    }
)
_ASSIGNMENT: Final = re.compile(r"[A-Za-z_]\w*\+?=", re.ASCII)
# PowerShell takes these for quotes.
_QUOTES: Final = re.compile("[\u2018-\u201f]")
# After a backslash outside of quotes these are no more than themselves, in any shell.
_ESCAPED: Final = re.compile(r"[\w ./:,*?=+@%~\\-]", re.ASCII)
# What stands before these is a dollar sign and no more, outside of quotes and inside.
_DOLLAR: Final = re.compile(r"\$(?=\s|\Z)")
_DOLLAR_IN_QUOTES: Final = re.compile(r"\$(?=[\s\"]|\Z)")
# Has what follows read in another way, in PowerShell.
_VERBATIM: Final = "--%"
_HARMLESS: Final = re.compile(r">&[0-9](?=[\s;&|]|\Z)|>>?[ \t]*/dev/null(?=[\s;&|]|\Z)")
_BOTH_TO_NOTHING: Final = re.compile(r"&>>?[ \t]*/dev/null(?=[\s;&|]|\Z)")
_REDIRECTION: Final = re.compile(r"&?[<>]+[&|]?-?")
_OPERATOR: Final = re.compile(r"&&|\|\||\|&|[;&|\n]")
_PROGRAM_ON_WINDOWS: Final = re.compile(r"[\w.+/\\-][\w.+/\\:~-]*", re.ASCII)
_SAFE_ON_WINDOWS: Final = re.compile(r"[\w \t\n./\\:=+,@*?~\"&|;-]*", re.ASCII)
_IN_QUOTES_ON_WINDOWS: Final = re.compile(r"[\w ./\\:=+,@*?~-]*", re.ASCII)


@dataclass(frozen=True, slots=True)
class Part:
    """One command of a line: as it stands there, without redirections that lose nothing, and
    its words without their quotes.
    """

    text: str
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Command:
    """A command line. ``parts``: the commands in it as far as they were found, also those in
    substitutions; all of them where it is ``understood``.
    """

    line: str
    understood: bool
    parts: tuple[Part, ...]


def split(line: str, *, windows: bool = False) -> Command:
    """Take a command line apart. ``windows``: for a shell of Windows."""
    if len(line) > LENGTH_LIMIT:
        return Command(line, understood=False, parts=())
    if windows:
        return _split_on_windows(line)
    splitter = _Splitter(line)
    splitter.run()
    understood = splitter.understood and bool(splitter.parts)
    return Command(line, understood, tuple(splitter.parts[:PARTS_LIMIT]))


def of_words(words: tuple[str, ...], *, windows: bool = False) -> Command:
    """The command that a list of words is, which may be put together to a line again."""
    is_shell = re.search(r"(?:^|/)(?:ba|z|da|k)?sh$", words[0])
    if is_shell and len(words) == 3 and words[1] in {"-c", "-lc", "-cl"}:
        return split(words[2], windows=windows)
    line = " ".join(words)
    if all(re.fullmatch(r"[\w ./:,=+@%~-]+", word) for word in words):
        # A word with a space in it is several at most, and none of them another program.
        return split(line, windows=windows)
    found = split(line, windows=windows)
    whole = Part(line[:LENGTH_LIMIT], words)
    return Command(line, understood=False, parts=(whole, *found.parts))


@dataclass(slots=True)
class _Frame:
    """A list of commands, of the line or in brackets or backquotes."""

    closed_by: str
    start: int
    words: list[str] = field(default_factory=list)
    word: list[str] | None = None
    cuts: list[tuple[int, int]] = field(default_factory=list)
    in_quotes: bool = False
    # What the command before ended with.
    operator: str = ""
    # A redirection takes the next word.
    redirects: bool = False

    def add(self, text: str) -> None:
        self.word = self.word if self.word is not None else []
        self.word.append(text)


class _Splitter:
    """Reads a line for POSIX shells once, from its beginning to its end."""

    def __init__(self, line: str) -> None:
        self._line = line
        self._at = 0
        self._frames = [_Frame("", 0)]
        self.parts: list[Part] = []
        self.understood = not _QUOTES.search(line) and _VERBATIM not in line

    def run(self) -> None:
        while self._at < len(self._line):
            frame = self._frames[-1]
            if frame.in_quotes:
                self._quoted(frame)
            else:
                self._bare(frame)
        frame = self._frames[-1]
        if len(self._frames) > 1 or frame.in_quotes:
            self.understood = False
        for frame in reversed(self._frames):
            self._end_part(frame, "", self._at)

    def _doubt(self) -> None:
        self.understood = False

    # --- characters ----------------------------------------------------------------------

    def _quoted(self, frame: _Frame) -> None:
        char, after = self._line[self._at], self._line[self._at + 1 : self._at + 2]
        self._at += 1
        if char == '"':
            frame.in_quotes = False
        elif char == "\\":
            # Before other characters than these the backslash stays.
            special = after in {'"', "$", "`", "\\", "\n", ""}
            self.understood &= after == "\\" or not special
            frame.add(after if special else char + after)
            self._at += 1
        elif not (char == "$" and self._dollar(frame)) and not (
            char == "`" and self._backquote(frame)
        ):
            self.understood &= char == "\n" or char.isprintable()
            frame.add(char)

    def _bare(self, frame: _Frame) -> None:
        char = self._line[self._at]
        if char in " \t":
            self._at += 1
            self._end_word(frame)
        elif char in "<>" or self._line.startswith("&>", self._at):
            self._redirection(frame)
        elif char in ";&|\n":
            found = _OPERATOR.match(self._line, self._at)
            assert found is not None
            self._end_part(frame, found[0], self._at)
            self._at = frame.start = found.end()
        else:
            self._at += 1
            self._in_word(frame, char)

    def _in_word(self, frame: _Frame, char: str) -> None:
        after = self._line[self._at : self._at + 1]
        match char:
            case "'":
                end = self._line.find("'", self._at)
                inside = self._line[self._at : end if end >= 0 else None]
                # A backslash before the end escapes it in some shells.
                self.understood &= end >= 0 and "\\" not in inside and _is_text(inside)
                frame.add(inside)
                self._at += len(inside) + 1
            case '"':
                frame.in_quotes = True
                frame.add("")
            case "\\":
                self.understood &= _ESCAPED.fullmatch(after) is not None
                frame.add(after)
                self._at += 1
            case "$" if self._dollar(frame):
                pass
            case "`" if self._backquote(frame):
                pass
            case "(":
                self._doubt()
                self._end_part(frame, "(", self._at - 1)
                self._open(")")
            case ")":
                self._doubt()
                self._end_part(frame, ")", self._at - 1)
                frame.start = self._at
                self._close(")")
            case _:
                self.understood &= char.isprintable() and not (char == "#" and frame.word is None)
                frame.add(char)

    def _dollar(self, frame: _Frame) -> bool:
        """A dollar sign: whether it was dealt with."""
        literal = _DOLLAR_IN_QUOTES if frame.in_quotes else _DOLLAR
        if literal.match(self._line, self._at - 1):
            return False
        self._doubt()
        if self._line.startswith("(", self._at) and self._open(")", 1):
            frame.add("")
            return True
        return False

    def _backquote(self, frame: _Frame) -> bool:
        self._doubt()
        if frame.closed_by == "`":
            self._end_part(frame, "`", self._at - 1)
            self._close("`")
        elif self._open("`"):
            frame.add("")
        return True

    def _open(self, closed_by: str, skip: int = 0) -> bool:
        if len(self._frames) > _DEPTH_LIMIT:
            self._frames[-1].start = self._at
            return False
        self._at += skip
        self._frames.append(_Frame(closed_by, self._at))
        return True

    def _close(self, closed_by: str) -> None:
        if self._frames[-1].closed_by == closed_by:
            self._frames.pop()
            if closed_by == ")" and self._frames[-1].word is None:
                self._frames[-1].start = self._at

    def _redirection(self, frame: _Frame) -> None:
        start = self._at
        number = "".join(frame.word or ())
        if len(number) == 1 and number.isdigit() and self._line[start - 1] == number:
            frame.word = None
            start -= 1
        else:
            self._end_word(frame)
        harmless = _HARMLESS.match(self._line, self._at) or _BOTH_TO_NOTHING.match(
            self._line, self._at
        )
        if harmless:
            frame.cuts.append((start, harmless.end()))
            self._at = harmless.end()
            return
        self._doubt()
        found = _REDIRECTION.match(self._line, self._at)
        assert found is not None
        self._at = found.end()
        frame.redirects = True

    # --- words and commands ----------------------------------------------------------------

    def _end_word(self, frame: _Frame) -> None:
        if frame.word is None:
            return
        word, frame.word = "".join(frame.word), None
        if frame.redirects:
            # The name of a file, and no argument.
            frame.redirects = False
            return
        if word in {"{", "}"}:
            self._doubt()
        frame.words.append(word)

    def _end_part(self, frame: _Frame, operator: str, end: int) -> None:
        self._end_word(frame)
        words, text = tuple(frame.words), self._text(frame, end)
        if words:
            self._take(Part(text, words))
        elif operator != "\n" and (operator or frame.operator in {"&&", "||", "|", "|&"}):
            # Nothing stands before an operator, or after one that wants something.
            self._doubt()
        elif frame.cuts:
            self._doubt()
        if words or operator != "\n":
            frame.operator = operator
        frame.words.clear()
        frame.cuts.clear()
        frame.redirects = False

    def _text(self, frame: _Frame, end: int) -> str:
        pieces, at = [], frame.start
        for start, after in frame.cuts:
            pieces.append(self._line[at:start])
            at = after
        pieces.append(self._line[at:end])
        return "".join(pieces).strip(" \t")

    def _take(self, part: Part) -> None:
        program = part.words[0]
        plain = _PROGRAM.fullmatch(program) and program not in _RESERVED
        # Without quotes or escapes in it, the program is the first word for everybody.
        if not plain or re.split(r"[ \t]", part.text, maxsplit=1)[0] != program:
            self._doubt()
        if len(self.parts) >= PARTS_LIMIT:
            self._doubt()
            return
        self.parts.append(part)


def _is_text(inside: str) -> bool:
    return all(line.isprintable() for line in inside.split("\n"))


# --- Windows ---------------------------------------------------------------------------------


def _split_on_windows(line: str) -> Command:
    understood = _SAFE_ON_WINDOWS.fullmatch(line) is not None and '\\"' not in line
    pieces = line.split('"')
    understood &= len(pieces) % 2 == 1
    understood &= all(_IN_QUOTES_ON_WINDOWS.fullmatch(piece) for piece in pieces[1::2])
    parts: list[Part] = []
    text: list[str] = []
    operator = ""
    for at, piece in enumerate(pieces):
        if at % 2:
            text.append(f'"{piece}"')
            continue
        first, *others = re.split(r"(&&|\|\||[&|;\n(){}])", piece)
        text.append(first)
        for operator, after in zip(others[::2], others[1::2], strict=True):
            understood &= _take_on_windows(parts, "".join(text)) or operator == "\n"
            text = [after]
    last = _take_on_windows(parts, "".join(text))
    understood &= last or operator not in {"&&", "||", "|"}
    understood &= 0 < len(parts) <= PARTS_LIMIT
    understood &= all(_PROGRAM_ON_WINDOWS.fullmatch(part.text.split()[0]) for part in parts)
    return Command(line, understood, tuple(parts[:PARTS_LIMIT]))


def _take_on_windows(parts: list[Part], text: str) -> bool:
    bare = text.strip()
    words = re.sub(r"[\^`'\"@]|<|>", "", bare).split()
    if words:
        parts.append(Part(bare, tuple(words)))
    return bool(words)
