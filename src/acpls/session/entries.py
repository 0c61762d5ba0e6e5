"""What stands in a session: messages, tool calls, notices, terminals, waiting prompts.

Entries are mutable and grow in place, so that what comes in small pieces costs no more
than its length.

Invariant: only ``Session`` changes them.
"""

from __future__ import annotations

from codecs import getincrementaldecoder
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from acpls.session.content import UNSET, Text

if TYPE_CHECKING:
    from acpls.session import updates as up
    from acpls.session.content import Block, Exit, Json, Location, ToolContent

# ``ended`` is our own word: the turn is over, and the agent never said how this ended.
FINISHED = frozenset({"completed", "failed", "cancelled", "ended"})
TERMINAL_LIMIT_BYTES = 1024 * 1024
# Bytes of UTF-8 that do not begin a character.
_CONTINUATION = bytes(range(0x80, 0xC0))


@dataclass(slots=True)
class Message:
    """What one side said. ``revision`` counts how often its content was replaced, or what
    ``_meta`` says of it changed.

    ``id`` is the agent's, or our own where the agent gave it to two messages or we sent
    the message. ``unconfirmed``: the user's prompt as we sent it; the agent's own account
    of it, when it comes, takes its place.
    """

    id: str
    role: up.Role
    blocks: list[Block] = field(default_factory=list)
    revision: int = 0
    unconfirmed: bool = False
    meta: dict[str, Any] = field(default_factory=dict)

    def text(self) -> str:
        """The text of the message without blocks of other kinds."""
        return "".join(block.text for block in self.blocks if isinstance(block, Text))


@dataclass(slots=True)
class ToolCall:
    """One use of a tool. Fields are as the agent sent them last.

    ``can_cancel``: the agent can stop it without the rest of the turn. ``of_subagent``: it is
    made by a subagent.
    """

    id: str
    title: str = ""
    name: str | None = None
    kind: str = "other"
    status: str = "pending"
    locations: tuple[Location, ...] = ()
    raw_input: Any = None
    raw_output: Any = None
    can_cancel: bool = False
    of_subagent: bool = False
    meta: dict[str, Any] = field(default_factory=dict)
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

    def patch(self, patch: up.ToolCallPatched) -> None:
        """Change what the patch names."""
        if patch.title is not UNSET:
            self.title = patch.title or ""
        if patch.name is not UNSET:
            self.name = patch.name
        if patch.kind is not UNSET:
            self.kind = patch.kind or "other"
        if patch.status is not UNSET:
            self.status = patch.status or "pending"
        if patch.content is not UNSET:
            self.content = patch.content or ()
        if patch.locations is not UNSET:
            self.locations = patch.locations or ()
        if patch.raw_input is not UNSET:
            self.raw_input = patch.raw_input
        if patch.raw_output is not UNSET:
            self.raw_output = patch.raw_output
        if patch.can_cancel is not UNSET:
            self.can_cancel = patch.can_cancel
        if patch.of_subagent is not UNSET:
            self.of_subagent = patch.of_subagent
        patch_meta(self.meta, patch.meta)

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
class Compaction:
    """The agent shortened what it remembers of the session, at this place in it."""

    id: str
    status: str = "in_progress"
    summary: list[Block] = field(default_factory=list)
    error: str | None = None
    meta: dict[str, Any] = field(default_factory=dict)

    def patch(self, patch: up.CompactionPatched) -> None:
        """Change what the patch names."""
        if patch.status is not UNSET:
            self.status = patch.status or "in_progress"
        if patch.summary is not UNSET:
            self.summary[:] = patch.summary or ()
        if patch.error is not UNSET:
            self.error = patch.error
        patch_meta(self.meta, patch.meta)


@dataclass(slots=True)
class SessionMessage:
    """What one session told another; the ends are the agent's ids of sessions."""

    id: str
    sender: str | None = None
    recipient: str | None = None
    blocks: list[Block] = field(default_factory=list)
    meta: dict[str, Any] = field(default_factory=dict)

    def patch(self, patch: up.SessionMessageSet) -> None:
        """Change what the patch names."""
        if patch.sender is not UNSET:
            self.sender = patch.sender
        if patch.recipient is not UNSET:
            self.recipient = patch.recipient
        if patch.content is not UNSET:
            self.blocks[:] = patch.content or ()
        patch_meta(self.meta, patch.meta)


@dataclass(slots=True)
class OtherEntry:
    """An update of an unknown kind, at its place in the conversation."""

    id: str
    payload: Json


Entry: TypeAlias = Message | ToolCall | Notice | Compaction | SessionMessage | OtherEntry


@dataclass(slots=True)
class Subagent:
    """Another session of the same agent that works for this one; ``id`` is the agent's id
    of it. ``state`` is a word of ACP 2, ``None`` while nothing was said of it.
    """

    id: str
    title: str | None = None
    description: str | None = None
    state: str | None = None
    cwd: str | None = None
    can_cancel: bool = False
    meta: dict[str, Any] = field(default_factory=dict)

    def patch(self, patch: up.SubagentPatched) -> None:
        """Change what the patch names."""
        if patch.title is not UNSET:
            self.title = patch.title
        if patch.description is not UNSET:
            self.description = patch.description
        if patch.state is not UNSET:
            self.state = patch.state
        if patch.cwd is not UNSET:
            self.cwd = patch.cwd
        if patch.can_cancel is not UNSET:
            self.can_cancel = patch.can_cancel
        patch_meta(self.meta, patch.meta)


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
    size: tuple[int, int] | None = None
    can_cancel: bool = False
    meta: dict[str, Any] = field(default_factory=dict)

    def text(self) -> str:
        """The output as text; bytes that are no UTF-8 are replaced.

        The rest of a character whose beginning was let go is left out, and so is the
        beginning of one at the end while the command runs.
        """
        kept = bytes(self.output)
        if self.dropped:
            kept = kept[:3].lstrip(_CONTINUATION) + kept[3:]
        return getincrementaldecoder("utf-8")("replace").decode(kept, final=self.exit is not None)

    def patch(self, patch: up.TerminalPatched) -> None:
        """Change what the patch names; output that it brings replaces all there was."""
        if patch.command is not UNSET:
            self.command = patch.command
        if patch.cwd is not UNSET:
            self.cwd = patch.cwd
        if patch.output is not UNSET:
            self.output.clear()
            self.dropped = 0
            self.grow(patch.output or b"")
        if patch.exit is not UNSET:
            self.exit = patch.exit
        if patch.size is not UNSET:
            self.size = patch.size
        if patch.can_cancel is not UNSET:
            self.can_cancel = patch.can_cancel
        patch_meta(self.meta, patch.meta)

    def grow(self, data: bytes) -> None:
        """Add bytes at the end and let go of what is over the limit."""
        self.output += data
        excess = len(self.output) - TERMINAL_LIMIT_BYTES
        if excess > 0:
            del self.output[:excess]
            self.dropped += excess


def patch_meta(meta: dict[str, Any], patch: up.Meta) -> None:
    """Change what ``_meta`` says of a thing, key by key (ACP 2, session updates)."""
    if patch is UNSET:
        return
    if patch is None:
        meta.clear()
        return
    for key, value in patch.items():
        if value is None:
            meta.pop(key, None)
        else:
            meta[key] = value


@dataclass(slots=True)
class QueuedPrompt:
    """A prompt that waits for the turn before it to end."""

    turn: str
    blocks: tuple[Block, ...]
