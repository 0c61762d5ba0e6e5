"""All state of the bridge, in one object that only the hub changes.

Invariant: holds values and the pure models; no task, no stream, no lock.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from acpls.events import EditorReady
from acpls.follow import Follow
from acpls.questions import Questions
from acpls.review.ledger import Ledger
from acpls.text import uris
from acpls.text.buffers import Buffers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acpls.conversation.document import Conversation
    from acpls.effects import Effect
    from acpls.hub.editing import OwnEdit
    from acpls.hub.verdicts import VerdictRun
    from acpls.review.ledger import Author
    from acpls.session.asks import AgentFacts, Ask
    from acpls.session.state import QueuedPrompt, Session
    from acpls.session.updates import TurnChanged, Update
    from acpls.settings import Settings
    from acpls.text.buffers import Buffer

    Effects: TypeAlias = Iterator[Effect]

AgentState: TypeAlias = Literal["stopped", "starting", "ready", "needsLogin", "loggingIn", "ended"]


class CannotDo(Exception):  # noqa: N818  an answer to the user, not an error of ours
    """A command cannot be carried out: one line for the user, and the field at fault."""

    def __init__(self, message: str, *, field: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.field = field


@dataclass(slots=True)
class Agent:
    """An agent by its name in the settings.

    ``message``: what it is doing, or why it ended; ``ends``: why it has ended so far;
    ``told``: the last failure that was told as the answer to a command. ``refused``: it
    refused something for want of a login, ``refused_opening``: to open a session.
    ``ending``: how many of its processes we have ended and not seen the end of. ``lost``:
    the sessions that are to be opened again with it. ``blocked``: what waits for a login;
    ``tried_login``: the method of the settings was tried already; ``wants_login``: it is to
    be asked for when the agent is ready. ``loads``: the sessions for which its resuming was
    found to be missing. ``left_out``: what it could not take, as far as the user was told.
    """

    name: str
    state: AgentState = "stopped"
    facts: AgentFacts | None = None
    message: str | None = None
    exit_code: int | None = None
    ends: set[str] = field(default_factory=set)
    told: str | None = None
    refused: bool = False
    refused_opening: bool = False
    ending: int = 0
    lost: list[str] = field(default_factory=list)
    blocked: list[Waiting] = field(default_factory=list)
    tried_login: bool = False
    wants_login: bool = False
    loads: set[str] = field(default_factory=set)
    left_out: set[str] = field(default_factory=set)

    @property
    def lives(self) -> bool:
        """Whether its process runs, or is being started."""
        return self.state in {"starting", "ready", "needsLogin", "loggingIn"}

    @property
    def is_ready(self) -> bool:
        """Whether it has answered ``initialize``, and can be asked things."""
        return self.lives and self.state != "starting"

    @property
    def wants_user(self) -> bool:
        """Whether nothing can be asked of it before the user has logged in."""
        return self.state in {"needsLogin", "loggingIn"}

    @property
    def title(self) -> str:
        """What people call it."""
        facts = self.facts
        return self.name if facts is None else facts.title or facts.name


@dataclass(frozen=True, slots=True)
class Waiting:
    """An ask that was not replied to yet, for a session (if any), and for a command that waits.

    ``prompt``: the prompt that is asked. ``cancelled``: its turn is being stopped.
    ``abandoned``: the user took its turn for ended without the agent's word.
    """

    agent: str
    ask: Ask
    session: str
    ticket: object = None
    prompt: QueuedPrompt | None = None
    cancelled: bool = False
    abandoned: bool = False


@dataclass(frozen=True, slots=True)
class Unsaved:
    """Agents' writes that started from an open document's unsaved text.

    ``base`` is the text under review then, and ``disk`` what the file held before: who
    rejects all of the change wants the file as it was, and not unsaved lines of his saved.
    """

    base: str | None
    disk: str | None


@dataclass(slots=True)
class State:
    """Everything the hub knows. ``launch`` tells this run from others in file names.

    ``now_s``: the monotonic time of the event at hand. ``early``: updates of sessions that
    nobody opened here, by agent and its id of the session. ``held_ends``: ends of turns
    that may be those of an abandoned prompt. ``read_by``: what a session was given of a
    file. ``written_by``: files that a session wrote through us; ``writing``: those that are
    being written; ``stepping``: those whose documents are to be brought in step;
    ``saved_over``: files that the user saved since.
    ``claims_read``: how a tool call was when its claims were looked at last;
    ``claims_awaited``: how many of their files are being read. ``edits``: by number.
    ``disk``: what the files of open documents held when last seen, by URI. ``origins``: the
    unsaved texts of documents that agents started from, by URI, until these are saved.
    ``shared_agents``: those that the command line knows just the same.
    """

    settings: Settings
    launch: str = "0"
    now_s: float = 0.0
    editor: EditorReady = field(default_factory=lambda: EditorReady(()))
    buffers: Buffers = field(default_factory=Buffers)
    agents: dict[str, Agent] = field(default_factory=dict)
    default_agent: str | None = None
    sessions: dict[str, Session] = field(default_factory=dict)
    current: str | None = None
    natives: dict[tuple[str, str], str] = field(default_factory=dict)
    early: dict[tuple[str, str], list[Update]] = field(default_factory=dict)
    asks: dict[int, Waiting] = field(default_factory=dict)
    held_ends: dict[str, TurnChanged] = field(default_factory=dict)
    questions: Questions = field(default_factory=Questions)
    ledger: Ledger = field(default_factory=Ledger)
    follow: Follow = field(default_factory=Follow)
    conversations: dict[str, Conversation] = field(default_factory=dict)
    read_by: dict[tuple[str, str], str] = field(default_factory=dict)
    written_by: set[tuple[str, str]] = field(default_factory=set)
    writing: Counter[tuple[str, str]] = field(default_factory=Counter)
    stepping: set[str] = field(default_factory=set)
    unsaved: dict[str, Unsaved] = field(default_factory=dict)
    saved_over: set[str] = field(default_factory=set)
    claims_read: dict[Author, tuple[object, bool]] = field(default_factory=dict)
    claims_awaited: Counter[Author] = field(default_factory=Counter)
    verdicts: dict[str, list[VerdictRun]] = field(default_factory=dict)
    edits: dict[int, OwnEdit] = field(default_factory=dict)
    disk: dict[str, str] = field(default_factory=dict)
    origins: dict[str, str] = field(default_factory=dict)
    problems: tuple[str, ...] = ()
    shared_agents: frozenset[str] = frozenset()
    _count: Counter[str] = field(default_factory=Counter)

    def number(self, kind: str = "") -> int:
        """The next number of a kind, from 1."""
        self._count[kind] += 1
        return self._count[kind]

    def key(self, letter: str) -> str:
        """The next short key for something that the editor sees."""
        return f"{letter}{self.number(letter)}"

    def agent(self, name: str) -> Agent:
        """The agent of this name, known to the settings or not."""
        return self.agents.setdefault(name, Agent(name))

    def chosen_agent(self) -> str:
        """The agent that a new session uses when none is named."""
        return self.default_agent or self.settings.default_agent

    @property
    def may_use_dialogs(self) -> bool:
        """Whether questions may be put in dialogs of the editor."""
        wanted = self.settings.dialogs
        if wanted == "auto":
            return self.editor.dialogs and self.editor.gentle_dialogs
        return self.editor.dialogs and wanted

    def session_of(self, agent: str, native: str) -> Session | None:
        """The session that the agent calls ``native``."""
        key = self.natives.get((agent, native))
        return None if key is None else self.sessions[key]

    def roots_of(self, session: Session | None) -> tuple[str, ...]:
        """The folders in which a session may read and write."""
        cwd = () if session is None else (session.cwd,)
        return tuple(dict.fromkeys((*cwd, *self.editor.roots)))

    def all_roots(self) -> tuple[str, ...]:
        """The folders in which any session may read and write."""
        cwds = (session.cwd for session in self.sessions.values())
        return tuple(dict.fromkeys((*self.editor.roots, *cwds)))

    def buffer_at(self, path: str) -> Buffer | None:
        """The open document for a file."""
        return self.buffers.get(uris.from_path(path))

    def saw(self, path: str, text: str | None) -> None:
        """Take note of what a file holds."""
        buffer = self.buffer_at(path)
        if buffer is not None and text is not None:
            self.disk[buffer.uri] = text
            self.buffers.in_step(buffer.uri, text)
