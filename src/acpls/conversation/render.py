"""A session as the lines of a Markdown document, and what each line is about.

Agents' headings are lowered below our own and code fences that are still open are closed,
so that a document folds by turns and whatever an agent says stays in its own turn.

Invariant: pure; the same session gives the same lines, and text that grew gives lines that
grew, so that an open document is mostly inserted into.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, assert_never

from acpls.conversation import asked
from acpls.session.content import Media, OtherBlock, Resource, ResourceLink, Text
from acpls.session.state import (
    Compaction,
    Message,
    Notice,
    OtherEntry,
    SessionMessage,
    ToolCall,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from acpls.questions import Told
    from acpls.session.content import Block, PlanEntry
    from acpls.session.state import Entry, Session

# Lines that give the document its frame. Agents' and users' text cannot contain them.
MARK = "<!-- acpls"
PROMPT = f"## You {MARK}: write below, then run the code action Send -->"
END = f"{MARK}: end -->"

_FENCE = re.compile(r"( *)(`{3,}(?!.*`)|~{3,})(.*)")
_HALF_FENCE = re.compile(r" *(`{1,2}|~{1,2})")
_HEADING = re.compile(r"( {0,3})(#{1,6})(?=[ \t])")


@dataclass(frozen=True, slots=True)
class Rendering:
    """The lines above the prompt, without line endings.

    ``questions``: the zero-based line on which each open question stands.
    """

    lines: tuple[str, ...]
    questions: dict[str, int] = field(default_factory=dict)


def render(session: Session, agent: str, questions: Sequence[Told]) -> Rendering:
    """The document above the prompt: title, binding line, and everything said so far."""
    lines = [f"# {_one_line(session.title or f'Conversation with {agent}')}", ""]
    binding = _one_line(f"session {session.key} of agent {session.agent}")
    lines += [f"{MARK}: {binding} -->", ""]
    speaker = None
    listing = False
    for entry in session.entries.values():
        said = _entry(entry)
        if not said:
            continue
        heading = "You" if isinstance(entry, Message) and entry.role == "user" else agent
        if heading != speaker:
            lines += [f"## {_one_line(heading)}", ""]
            speaker, listing = heading, False
        if listing and isinstance(entry, ToolCall):
            lines.pop()
        lines += [*said, ""]
        listing = isinstance(entry, ToolCall)
    for plan in session.plans.values():
        if plan:
            lines += ["**Plan**", "", *map(_step, plan), ""]
    lines += _outcome(session)
    for queued in session.queue:
        if session.message(queued.turn) is not None:
            # It was sent, and is to be sent again after a login.
            lines += ["> (it is sent again after the login)", ""]
            continue
        lines += ["## You", "", *_said(queued.blocks), "", "> (waits for its turn)", ""]
    at: dict[str, int] = {}
    for question in questions:
        at[question.key] = len(lines)
        lines += map(_unmarked, asked.block(question, partial(_contained, agents=False)))
    return Rendering(tuple(lines), at)


def text_lines(text: str) -> list[str]:
    """The lines of a text without blank ones around it, and without our own marks."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").strip("\n")
    return _unmarked(text).split("\n")


def _entry(entry: Entry) -> list[str]:
    match entry:
        case Message(role="user"):
            return _said(entry.blocks)
        case Message(role="agent"):
            return _said(entry.blocks, agents=True)
        case Message():
            return _quoted(_said(entry.blocks, agents=True))
        case ToolCall():
            title = _one_line(f"{entry.kind}: {entry.title or entry.name or entry.id}")
            return [f"- {title} ({_words(entry.status)})"]
        case Notice(severity=severity, title=title, description=description):
            text = title if description is None else f"{title}: {description}"
            return [f"> {_one_line(f'{severity}: {text}')}"]
        case Compaction(status=status, error=error):
            failed = "" if error is None else f": {error}"
            return [f"> {_one_line(f'The agent shortens its memory ({_words(status)}){failed}')}"]
        case SessionMessage(sender=sender, recipient=recipient, blocks=blocks):
            ends = f"{sender or 'another session'} to {recipient or 'another session'}"
            return _quoted([f"*{_one_line(ends)}*", *_said(blocks, agents=True)])
        case OtherEntry():
            return []
    assert_never(entry)


def _step(entry: PlanEntry) -> str:
    box = "x" if entry.status == "completed" else " "
    status = "" if entry.status in {"pending", "completed"} else f" ({_words(entry.status)})"
    return f"- [{box}] {_one_line(entry.content)}{status}"


def _outcome(session: Session) -> Iterator[str]:
    if session.state == "lost":
        what = "The session is lost"
    elif session.error is not None:
        what = "The turn failed"
    elif session.stop_reason not in {None, "end_turn"}:
        what = "The turn ended early"
    elif session.stop_reason is not None and _is_unanswered(session):
        yield "> **The agent ended its turn without an answer.**"
        yield ""
        return
    else:
        return
    yield f"> **{what}:** {_one_line(session.error or _words(session.stop_reason or 'unknown'))}"
    yield ""


def _is_unanswered(session: Session) -> bool:
    # That is how some agents take it when their model cannot be reached.
    last = next(reversed(session.entries.values()), None)
    return isinstance(last, Message) and last.role == "user"


# --- blocks --------------------------------------------------------------------------


def _said(blocks: Iterable[Block], *, agents: bool = False) -> list[str]:
    """The lines of a message; ``[]`` when there is nothing to see of it."""
    lines: list[str] = []
    for is_text, run in groupby(blocks, lambda block: isinstance(block, Text)):
        if is_text:
            text = "".join(block.text for block in run if isinstance(block, Text))
            more = _contained(text_lines(text), agents=agents) if text.strip() else []
        else:
            more = [f"- {_reference(block)}" for block in run if not isinstance(block, Text)]
        lines += ["", *more] if lines and more else more
    return lines


def _contained(lines: list[str], *, agents: bool) -> list[str]:
    fence, opened = "", 0
    out: list[str] = []
    for line in lines:
        found = _FENCE.match(line)
        if found and not fence:
            fence, opened = found[1] + found[2], len(out)
        elif found and found[2].startswith(fence.lstrip()) and not found[3].strip():
            fence = ""
        out.append(_HEADING.sub(_lowered, line) if agents and not fence else line)
    if agents and (opened == len(out) - 1 if fence else _HALF_FENCE.fullmatch(out[-1])):
        # It shows when its first line has come: it may still become something else.
        out.pop()
        while out and not out[-1]:
            out.pop()
        return out
    if not fence:
        return out
    # The last line may be a closing fence that has not come as a whole.
    partly = out[-1].strip() and len(out[-1]) < len(fence) and fence.startswith(out[-1])
    return [*out[: len(out) - bool(partly)], fence]


def _lowered(heading: re.Match[str]) -> str:
    return heading[1] + "#" * min(len(heading[2]) + 2, 6)


def _reference(block: ResourceLink | Resource | Media | OtherBlock) -> str:
    match block:
        case ResourceLink(uri, name):
            return _link(name, uri)
        case Resource(uri):
            return _link(uri.rsplit("/", 1)[-1], uri)
        case Media(type_, _, mime_type):
            return _one_line(f"{type_} ({mime_type})")
        case OtherBlock(payload):
            return _one_line(f"({payload.get('type', 'unknown')})")
    assert_never(block)


def _link(name: str, uri: str) -> str:
    uri = re.sub(r"[\s()<>]", lambda found: f"%{ord(found[0]):02X}", uri)
    return f"[{_one_line(name)}]({_one_line(uri)})"


def _quoted(lines: Iterable[str]) -> list[str]:
    return [f"> {line}".rstrip() for line in lines]


def _words(word: str) -> str:
    return _one_line(word.replace("_", " "))


def _one_line(text: str) -> str:
    return _unmarked(" ".join(text.split()))


def _unmarked(text: str) -> str:
    return text.replace(MARK, f"&lt;{MARK[1:]}")
