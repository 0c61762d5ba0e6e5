"""What stands in a session: messages, tool calls, notices, terminals, waiting prompts.

Entries are mutable and grow in place, so that what comes in small pieces costs no more
than its length.

Invariant: only ``Session`` changes them.
"""

from __future__ import annotations

from codecs import getincrementaldecoder
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from acpls.session.content import Text

if TYPE_CHECKING:
    from acpls.session import updates as up
    from acpls.session.content import Block, Exit, Json, Location, ToolContent

FINISHED = frozenset({"completed", "failed", "cancelled"})
TERMINAL_LIMIT_BYTES = 1024 * 1024
# Bytes of UTF-8 that do not begin a character.
_CONTINUATION = bytes(range(0x80, 0xC0))


@dataclass(slots=True)
class Message:
    """What one side said. ``revision`` counts how often its content was replaced.

    ``id`` is the agent's, or our own where the agent gave it to two messages or we sent
    the message. ``unconfirmed``: the user's prompt as we sent it; the agent's own account
    of it, when it comes, takes its place.
    """

    id: str
    role: up.Role
    blocks: list[Block] = field(default_factory=list)
    revision: int = 0
    unconfirmed: bool = False

    def text(self) -> str:
        """The text of the message without blocks of other kinds."""
        return "".join(block.text for block in self.blocks if isinstance(block, Text))


@dataclass(slots=True)
class ToolCall:
    """One use of a tool. Fields are as the agent sent them last."""

    id: str
    title: str = ""
    name: str | None = None
    kind: str = "other"
    status: str = "pending"
    locations: tuple[Location, ...] = ()
    raw_input: Any = None
    raw_output: Any = None
    _content: tuple[ToolContent, ...] = ()
    # Joined to the rest when somebody looks: one tuple for each item would be quadratic.
    _grown: list[ToolContent] = field(default_factory=list)

    @property
    def content(self) -> tuple[ToolContent, ...]:
        """What the tool call contains, in order."""
        if self._grown:
            self._content = (*self._content, *self._grown)
            self._grown.clear()
        return self._content

    @content.setter
    def content(self, content: tuple[ToolContent, ...]) -> None:
        self._content = content
        self._grown.clear()

    def grow(self, item: ToolContent) -> None:
        """Add an item at the end of the content."""
        self._grown.append(item)

    @property
    def finished(self) -> bool:
        """Whether nothing more is expected of it."""
        return self.status in FINISHED


@dataclass(slots=True)
class Notice:
    """Something the agent wanted seen, at its place in the conversation."""

    id: str
    severity: str
    title: str
    description: str | None


@dataclass(slots=True)
class OtherEntry:
    """An update of an unknown kind, at its place in the conversation."""

    id: str
    payload: Json


Entry: TypeAlias = Message | ToolCall | Notice | OtherEntry


@dataclass(slots=True)
class Terminal:
    """A terminal's output: at most ``TERMINAL_LIMIT_BYTES`` of its end are kept.

    ``dropped`` counts the bytes that were let go from the front.
    """

    id: str
    command: str | None = None
    cwd: str | None = None
    output: bytearray = field(default_factory=bytearray)
    dropped: int = 0
    exit: Exit | None = None

    def text(self) -> str:
        """The output as text; bytes that are no UTF-8 are replaced.

        The rest of a character whose beginning was let go is left out, and so is the
        beginning of one at the end while the command runs.
        """
        kept = bytes(self.output)
        if self.dropped:
            kept = kept[:3].lstrip(_CONTINUATION) + kept[3:]
        return getincrementaldecoder("utf-8")("replace").decode(kept, final=self.exit is not None)

    def grow(self, data: bytes) -> None:
        """Add bytes at the end and let go of what is over the limit."""
        self.output += data
        excess = len(self.output) - TERMINAL_LIMIT_BYTES
        if excess > 0:
            del self.output[:excess]
            self.dropped += excess


@dataclass(slots=True)
class QueuedPrompt:
    """A prompt that waits for the turn before it to end."""

    turn: str
    blocks: tuple[Block, ...]
