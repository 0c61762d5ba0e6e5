"""A conversation document: the agent's part above, the user's draft below.

The document is the rendered head, the prompt heading, the draft, and a fixed last line.
Edits are made to the head alone: the draft is the user's, character for character.

Invariant: pure; given the text as it is and the head as it should be, it says the edits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from acpls.conversation.render import END, PROMPT, Rendering, text_lines
from acpls.text.diff import Edit, edits_between
from acpls.text.lines import body, ending, ending_of, split_lines

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(slots=True)
class Conversation:
    """The document of one session and how far the writer is with it.

    ``head``: the lines written last, without endings. ``sent``: the draft lines that
    went out as a prompt and still stand under the prompt heading. ``edit``: the number
    of the edit that is under way. ``quotes``: texts that go to the end of the draft, each
    with its line endings, once. ``refusals``: edits in a row that came to nothing.
    """

    session: str
    path: str
    uri: str
    head: tuple[str, ...] = ()
    sent: tuple[str, ...] | None = None
    rendering: Rendering | None = None
    quotes: tuple[str, ...] = ()
    edit: int | None = None
    due: bool = False
    refusals: int = 0

    def call_at(self, row: int, line: str) -> str | None:
        """The tool call that is told of on a zero-based row, which reads ``line``."""
        rendering = self.rendering
        if rendering is None or rendering.lines[row : row + 1] != (line,):
            # The user has written above it, or it is being changed.
            return None
        return rendering.calls.get(row)


@dataclass(frozen=True, slots=True)
class Parts:
    """A document cut up: lines with their endings. ``prompt`` is empty without a heading."""

    head: tuple[str, ...]
    prompt: str
    draft: tuple[str, ...]
    tail: tuple[str, ...]


def split(text: str, head: tuple[str, ...] = ()) -> Parts:
    """Cut a document up.

    Text behind the prompt heading, on its line, belongs to the draft. Without the heading
    (the user took it away) everything that is not the beginning of ``head``, as it was
    written last, is draft. The last line is only the last line while nothing is written
    below it; else it is part of the draft, with what is below.
    """
    lines = split_lines(text)
    stop = len(lines)
    while stop and not lines[stop - 1].strip():
        stop -= 1
    stop = stop - 1 if stop and body(lines[stop - 1]) == END else len(lines)
    tail = tuple(lines[stop:])
    for at, line in enumerate(lines[:stop]):
        if line.startswith(PROMPT):
            behind = line.removeprefix(PROMPT)
            typed = (behind,) if body(behind) else ()
            prompt = PROMPT if typed else line
            return Parts(tuple(lines[:at]), prompt, (*typed, *lines[at + 1 : stop]), tail)
    same = 0
    while same < min(stop, len(head)) and body(lines[same]) == head[same]:
        same += 1
    return Parts(tuple(lines[:same]), "", tuple(lines[same:stop]), tail)


def sent_lines(text: str, head: tuple[str, ...] = ()) -> tuple[str, ...]:
    """The draft lines that a prompt takes along: all up to the last that is not blank."""
    lines = _bodies(split(text, head).draft)
    while lines and not lines[-1].strip():
        lines.pop()
    return tuple(lines)


def draft(text: str, head: tuple[str, ...] = ()) -> str:
    """What the user wrote under the prompt heading, without blank lines around it and
    without our own last line, below which some write.
    """
    return _prompt(sent_lines(text, head))


def document(head: tuple[str, ...]) -> str:
    """A whole new document with an empty draft."""
    return "\n".join((*head, PROMPT, "", "", END, ""))


def edits(text: str, conversation: Conversation, head: tuple[str, ...]) -> tuple[Edit, ...]:
    """The edits that bring the document's head to ``head``; offsets into ``text``.

    A draft that was sent becomes part of the head where it stands, which must contain it.
    """
    parts = split(text, conversation.head)
    end = _ending(text, parts)
    old = [*parts.head, parts.prompt]
    new = [line + end for line in (*head, PROMPT)]
    rest = parts.draft
    sent = conversation.sent or ()
    goes = bool(sent) and tuple(_bodies(rest[: len(sent)])) == sent
    if goes and not _moved(sent, parts.head, conversation.head):
        old += rest[: len(sent)]
        rest = rest[len(sent) :]
    else:
        goes = False
    if goes or not rest:
        # The user needs a line to write on between the heading and the last line.
        new += [end] * (2 - len(rest))
    quotes = [q for q in dict.fromkeys(conversation.quotes) if not _has((*sent, *rest), q)]
    below = [body(line) + end for quote in quotes for line in split_lines(quote)]
    if below and rest and rest[-1].strip():
        below.insert(0, end)
    if not parts.tail and not any(line.startswith(END) for line in rest):
        below.append(END + end)
    if not rest:
        return edits_between("".join(old), "".join(new + below))
    changed = edits_between("".join(old), "".join(new))
    if not below:
        return changed
    if not ending(rest[-1]) or (rest[-1].endswith("\r") and below[0] == "\n"):
        # It would not begin a line, or be half of the ending before it.
        below.insert(0, end)
    at = len(text) - len("".join(parts.tail))
    return (*changed, Edit(at, at, "".join(below)))


def _ending(text: str, parts: Parts) -> str:
    """The ending of our own lines: that of the heading, so that it stays what it is.

    A lone carriage return is never written: before an empty line it would be half of one
    ending.
    """
    found = ending(parts.prompt) or ending_of(text)
    return "\n" if found == "\r" else found


def _prompt(lines: tuple[str, ...]) -> str:
    """The text of a prompt made of these lines."""
    own = [line.removeprefix(END) for line in lines if line != END]
    while own and not own[0].strip():
        own.pop(0)
    while own and not own[-1].strip():
        own.pop()
    return "\n".join(own)


def _moved(sent: tuple[str, ...], now: tuple[str, ...], before: tuple[str, ...]) -> bool:
    """Whether what was sent is in the head already: the user may have written the same
    again since, and that is not to be taken away.
    """
    block = text_lines(_prompt(sent))
    return _count(_bodies(now), block) > _count(before, block)


def _has(lines: Iterable[str], quote: str) -> bool:
    return _count(_bodies(lines), _bodies(split_lines(quote))) > 0


def _count(lines: Iterable[str], block: Iterable[str]) -> int:
    """How often a block of lines is among others."""
    return "".join(f"\n{line}\n" for line in lines).count("".join(f"\n{x}\n" for x in block))


def _bodies(lines: Iterable[str]) -> list[str]:
    return [body(line) for line in lines]
