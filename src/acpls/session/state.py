"""One session: what the agent has told of it, in order.

A ``Session`` is mutable and deterministic: the same updates give the same state. What
goes in (updates) and what comes out (``Touched``) is frozen.

Invariant: knows no version, no file, no editor, no clock; never refuses an update.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, assert_never

from acpls.session import updates as up
from acpls.session.content import UNSET, Text
from acpls.session.entries import (
    Compaction,
    Entry,
    Message,
    Notice,
    OtherEntry,
    QueuedPrompt,
    SessionMessage,
    Subagent,
    Terminal,
    ToolCall,
    patch_meta,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from acpls.session.content import (
        Block,
        Command,
        Option,
        PlanEntry,
        Usage,
    )

__all__ = [
    "Compaction",
    "Entry",
    "Message",
    "Notice",
    "OtherEntry",
    "Part",
    "QueuedPrompt",
    "Session",
    "SessionMessage",
    "Subagent",
    "Terminal",
    "ToolCall",
    "Touched",
]

Part: TypeAlias = Literal[
    "state",
    "message",
    "toolCall",
    "plan",
    "options",
    "commands",
    "usage",
    "title",
    "notice",
    "terminal",
    "queue",
    "compaction",
    "sessionMessage",
    "subagent",
    "other",
]
Touched: TypeAlias = tuple[Part, str | None]

# What an agent tells when it works; its users' words, options and titles may come any time.
_WORK: Final = (up.MessageGrew, up.MessageSet, up.ToolCallPatched, up.ToolCallGrew, up.PlanSet)


@dataclass(slots=True)
class Session:
    """A conversation with one agent.

    ``key`` is ours and what the editor sees; ``native`` is the agent's id, ``None`` until
    it has one. ``state`` is a word of ACP 2 or ``starting`` or ``lost``. ``turn`` is the
    key of the prompt being worked on. ``background``: what runs besides it, as far as the
    agent says. ``closed``: the user closed it. ``seq`` counts changes.
    """

    key: str
    agent: str
    cwd: str
    native: str | None = None
    title: str | None = None
    updated_at: str | None = None
    state: str = "starting"
    stop_reason: str | None = None
    error: str | None = None
    stopping: bool = False
    turn: str | None = None
    background: tuple[up.Background, ...] = ()
    closed: bool = False
    seq: int = 0
    entries: dict[str, Entry] = field(default_factory=dict)
    plans: dict[str, tuple[PlanEntry, ...]] = field(default_factory=dict)
    options: tuple[Option, ...] = ()
    commands: tuple[Command, ...] = ()
    usage: Usage | None = None
    terminals: dict[str, Terminal] = field(default_factory=dict)
    subagents: dict[str, Subagent] = field(default_factory=dict)
    meta: dict[str, Any] = field(default_factory=dict)
    queue: list[QueuedPrompt] = field(default_factory=list)
    # Messages by the id that the agent gives them; some give one id to two roles.
    _told: dict[tuple[str, up.Role], Message] = field(default_factory=dict)
    # The prompt that was sent last, and whether the agent has begun to work on it.
    _asked: QueuedPrompt | None = None
    _begun: bool = False
    # Our own prompts by turn: one that failed for want of a login is sent once more.
    _prompts: dict[str, Message] = field(default_factory=dict)
    # The prompt sent last, until the agent's account of it is known, and the messages of
    # the user's that came meanwhile and did not look like it.
    _sent: Message | None = None
    _strays: dict[str, Message] = field(default_factory=dict)

    @property
    def busy(self) -> bool:
        """Whether a prompt sent now would have to wait."""
        return self.turn is not None or self.state not in {"idle", "starting", "lost"}

    @property
    def asked(self) -> QueuedPrompt | None:
        """The prompt that is being worked on, as it was sent."""
        return None if self.turn is None else self._asked

    @property
    def open(self) -> bool:
        """Whether the agent has it open, so that it can be asked about it."""
        return self.native is not None and self.state not in {"starting", "lost"}

    @property
    def over(self) -> bool:
        """Whether it is lost for good: the user closed it."""
        return self.state == "lost" and self.closed

    def tool_call(self, tool_call: str) -> ToolCall | None:
        """The tool call with this id."""
        entry = self.entries.get(f"toolCall:{tool_call}")
        return entry if isinstance(entry, ToolCall) else None

    def message(self, message: str) -> Message | None:
        """The message with this id, as ``Touched`` names it."""
        entry = self.entries.get(f"message:{message}")
        return entry if isinstance(entry, Message) else None

    def prompted(self, turn: str, blocks: tuple[Block, ...]) -> tuple[Touched, ...]:
        """A prompt of the user's is on its way as turn ``turn``, or once more."""
        self.turn = turn
        self.stop_reason = self.error = None
        self._begun = False
        self._asked = QueuedPrompt(turn, blocks)
        again = self._prompts.get(turn)
        if again is not None:
            again.revision += 1
        self._sent = self._prompts[turn] = again or self._new_message(turn, "user")
        self._sent.blocks[:] = blocks
        self._sent.unconfirmed = True
        self._strays.clear()
        self.seq += 1
        return (("message", self._sent.id),)

    def lose(self, reason: str) -> tuple[Touched, ...]:
        """The agent is gone: nothing in this session will finish any more."""
        touched = self._close_tool_calls("failed")
        self.state, self.error, self.turn, self.stopping = "lost", reason, None, False
        self.background = ()
        self.seq += 1
        return (*touched, ("state", None))

    def reopen(self) -> tuple[Touched, ...]:
        """A lost session is being opened again."""
        self.state, self.stop_reason, self.error = "starting", None, None
        # Another process counts its messages from the beginning, and most tell no ids.
        self._told.clear()
        self.seq += 1
        return (("state", None),)

    def apply(self, update: up.Update) -> tuple[Touched, ...]:
        """Take an update in; what it touched comes back."""
        self.seq += 1
        self._begun |= isinstance(update, _WORK) and getattr(update, "role", None) != "user"
        match update:
            case up.MessageGrew(message, role, block):
                return self._grow_message(message, role, block)
            case up.MessageSet():
                return self._set_message(update)
            case up.ToolCallPatched():
                return self._patch_tool_call(update)
            case up.ToolCallGrew(tool_call, item):
                self._tool_call(tool_call).grow(item)
                return (("toolCall", tool_call),)
            case up.TurnChanged():
                return self._change_turn(update)
            case up.PlanSet(plan, entries):
                self.plans[plan] = entries
                return (("plan", plan),)
            case up.OptionsSet(options):
                self.options = options
                return (("options", None),)
            case up.OptionChanged(option, value):
                self.options = tuple(
                    replace(o, value=value) if o.option == option else o for o in self.options
                )
                return (("options", None),)
            case up.CommandsSet(commands):
                self.commands = commands
                return (("commands", None),)
            case up.InfoPatched(title, updated_at, meta):
                self.title = self.title if title is UNSET else title
                self.updated_at = self.updated_at if updated_at is UNSET else updated_at
                if meta is UNSET:
                    return (("title", None),)
                patch_meta(self.meta, meta)
                return (("title", None), ("state", None))
            case up.UsageSet(usage):
                self.usage = usage
                return (("usage", None),)
            case up.NoticeGiven(severity, title, description):
                notice = Notice(f"n{self.seq}", severity, title, description)
                self.entries[f"notice:{notice.id}"] = notice
                return (("notice", notice.id),)
            case up.TerminalPatched():
                return self._patch_terminal(update)
            case up.TerminalGrew(terminal, data):
                self._terminal(terminal).grow(data)
                return (("terminal", terminal),)
            case up.CompactionPatched():
                return self._patch_compaction(update)
            case up.CompactionGrew(compaction, block):
                self._compaction(compaction).summary.append(block)
                return (("compaction", compaction),)
            case up.SubagentPatched():
                return self._patch_subagent(update)
            case up.SessionMessageSet():
                return self._set_session_message(update)
            case up.SessionMessageGrew(message, block):
                self._session_message(message).blocks.append(block)
                return (("sessionMessage", message),)
            case up.ReplayEnded():
                return (("state", None),)
            case up.Other(payload):
                other = OtherEntry(f"o{self.seq}", payload)
                self.entries[f"other:{other.id}"] = other
                return (("other", other.id),)
        assert_never(update)

    # --- messages ------------------------------------------------------------------

    def confirm_prompt(self, message: str) -> tuple[Touched, ...]:
        """The agent took the prompt that was sent last and calls it ``message``."""
        prompt, self._sent = self._sent, None
        if prompt is None:
            return ()
        stray = self._strays.get(message)
        if stray is not None:
            # It has come back already, but in other words and not at once.
            self._retell(prompt, stray.blocks)
            del self.entries[f"message:{stray.id}"]
        self._told[message, "user"] = prompt
        self.seq += 1
        return (("message", prompt.id),)

    def _grow_message(self, message: str, role: up.Role, block: Block) -> tuple[Touched, ...]:
        entry = self._message(message, role, (block,))
        if entry.unconfirmed:
            self._retell(entry, ())
        entry.blocks.append(block)
        return (("message", entry.id),)

    def _set_message(self, update: up.MessageSet) -> tuple[Touched, ...]:
        content = () if update.content is UNSET else update.content or ()
        entry = self._message(update.message, update.role, content)
        if update.content is not UNSET:
            self._retell(entry, content)
        if update.meta is not UNSET:
            patch_meta(entry.meta, update.meta)
            entry.revision += 1
        return (("message", entry.id),)

    @staticmethod
    def _retell(entry: Message, blocks: Iterable[Block]) -> None:
        entry.unconfirmed = False
        entry.blocks[:] = blocks
        entry.revision += 1

    def _message(self, message: str, role: up.Role, blocks: Iterable[Block]) -> Message:
        """The message that the agent calls this; a new one that begins with ``blocks``."""
        entry = self._told.get((message, role))
        if entry is not None:
            return entry
        prompt = self._sent if role == "user" else None
        if prompt is not None and self._comes_back(prompt, blocks):
            entry, self._sent = prompt, None
        else:
            entry = self._new_message(message, role)
            if prompt is not None:
                self._strays[message] = entry
        self._told[message, role] = entry
        return entry

    def _comes_back(self, prompt: Message, blocks: Iterable[Block]) -> bool:
        """Whether these may be the beginning of the prompt as the agent tells it: in the
        same words, or in others but before it does anything else.
        """
        said = "".join(block.text for block in blocks if isinstance(block, Text))
        at_once = self.turn is not None and next(reversed(self.entries.values())) is prompt
        return at_once or prompt.text().strip().startswith(said.strip())

    def _new_message(self, message: str, role: up.Role) -> Message:
        while f"message:{message}" in self.entries:
            message += "'"
        entry = self.entries[f"message:{message}"] = Message(message, role)
        return entry

    # --- tool calls and terminals ----------------------------------------------------

    def _tool_call(self, tool_call: str) -> ToolCall:
        entry = self.tool_call(tool_call)
        if entry is None:
            entry = self.entries[f"toolCall:{tool_call}"] = ToolCall(tool_call)
        return entry

    def _patch_tool_call(self, patch: up.ToolCallPatched) -> tuple[Touched, ...]:
        self._tool_call(patch.tool_call).patch(patch)
        return (("toolCall", patch.tool_call),)

    def _close_tool_calls(self, status: str) -> tuple[Touched, ...]:
        touched: list[Touched] = []
        for entry in self.entries.values():
            if isinstance(entry, ToolCall) and not entry.finished:
                entry.status = status
                touched.append(("toolCall", entry.id))
        return tuple(touched)

    def _terminal(self, terminal: str) -> Terminal:
        return self.terminals.setdefault(terminal, Terminal(terminal))

    def _patch_terminal(self, patch: up.TerminalPatched) -> tuple[Touched, ...]:
        self._terminal(patch.terminal).patch(patch)
        return (("terminal", patch.terminal),)

    # --- compactions, subagents, messages between sessions -----------------------------

    def _compaction(self, compaction: str) -> Compaction:
        entry = self.entries.get(f"compaction:{compaction}")
        if not isinstance(entry, Compaction):
            entry = self.entries[f"compaction:{compaction}"] = Compaction(compaction)
        return entry

    def _patch_compaction(self, patch: up.CompactionPatched) -> tuple[Touched, ...]:
        self._compaction(patch.compaction).patch(patch)
        return (("compaction", patch.compaction),)

    def _patch_subagent(self, patch: up.SubagentPatched) -> tuple[Touched, ...]:
        self.subagents.setdefault(patch.session, Subagent(patch.session)).patch(patch)
        return (("subagent", patch.session),)

    def _session_message(self, message: str) -> SessionMessage:
        entry = self.entries.get(f"sessionMessage:{message}")
        if not isinstance(entry, SessionMessage):
            entry = self.entries[f"sessionMessage:{message}"] = SessionMessage(message)
        return entry

    def _set_session_message(self, update: up.SessionMessageSet) -> tuple[Touched, ...]:
        self._session_message(update.message).patch(update)
        return (("sessionMessage", update.message),)

    # --- the turn --------------------------------------------------------------------

    def _change_turn(self, change: up.TurnChanged) -> tuple[Touched, ...]:
        touched: tuple[Touched, ...] = ()
        if change.state != "idle":
            self._begun = True
        elif self.turn is not None and change.stop_reason is None and not self._begun:
            # A state from before the prompt, which crossed it on the way.
            return ()
        self.state = change.state
        self.stop_reason, self.error = change.stop_reason, change.error
        if self.stopping and change.stop_reason == "error":
            # That is how some agents are stopped.
            self.stop_reason, self.error = "cancelled", None
        if change.background is not None:
            self.background = change.background
        if change.state == "idle":
            if change.stop_reason == "cancelled" or self.stopping:
                touched = self._close_tool_calls("cancelled")
            elif change.final:
                touched = self._close_tool_calls("ended")
            self.turn, self.stopping = None, False
        return (*touched, ("state", None))
