"""All state of the bridge, in one object that only the hub changes.

Invariant: holds values and the pure models; no task, no stream, no lock.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from acpls.events import EditorReady
from acpls.follow import Follow
from acpls.hub.paths import Paths
from acpls.permissions import Book
from acpls.questions import Questions
from acpls.review.checkpoints import Checkpoints
from acpls.review.ledger import Ledger
from acpls.text import uris
from acpls.text.buffers import Buffers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acpls.conversation.document import Conversation
    from acpls.effects import Effect
    from acpls.events import Disk, Earlier
    from acpls.hub.checkpoints import Restore
    from acpls.hub.editing import OwnEdit
    from acpls.hub.form_documents import FormDocument
    from acpls.hub.runs import Run
    from acpls.hub.tokens import ForForm, ForVerdict, ForWrite
    from acpls.review.change import Verdict
    from acpls.review.composing import Author
    from acpls.review.held import Held
    from acpls.review.records import StoredChange
    from acpls.session.asks import AgentFacts, Ask
    from acpls.session.state import QueuedPrompt, Session
    from acpls.session.updates import TurnChanged, Update
    from acpls.settings import ReviewMode, Settings
    from acpls.text.buffers import Buffer

    Effects: TypeAlias = Iterator[Effect]
    Decision: TypeAlias = tuple[Verdict, tuple[str, ...], tuple[str, ...]]

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
    disk: Held


@dataclass(frozen=True, slots=True)
class Saving:
    """An agent's write that the editor saves for us: what the file held, and is to hold.

    ``saved``: what the editor saved; ``next``: writes of the same file that come after it.
    """

    write: ForWrite
    before: Held
    text: str
    saved: str | None = None
    next: tuple[ForWrite, ...] = ()


@dataclass(slots=True)
class Shelf:
    """What is stored from one run of the server to the next, for workspaces with ``roots``.

    ``waiting``: changes that were loaded and whose files are not read yet, by path, with the
    ``texts`` of which these had the hashes; ``unfit``: those whose files have changed since.
    ``sessions``: stand-ins for sessions of the earlier run, with their agents and what these
    call them; ``folders``: where its files may lie. ``last``: what was stored last;
    ``is_due``: it is to be stored again.
    """

    roots: tuple[str, ...] | None = None
    is_loaded: bool = False
    is_due: bool = False
    waiting: dict[str, list[StoredChange]] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    unfit: dict[str, StoredChange] = field(default_factory=dict)
    sessions: dict[str, tuple[str, str]] = field(default_factory=dict)
    folders: tuple[str, ...] = ()
    last: object = None


@dataclass(slots=True)
class State:
    """Everything the hub knows. ``launch`` tells this run from others in file names.

    ``now_s``: the monotonic time of the event at hand. ``early``: updates of sessions that
    nobody opened here, by agent and its id of the session. ``held_ends``: ends of turns
    that may be those of an abandoned prompt. ``edits``, ``file_edits``: what the editor was
    asked to do, by number. ``disk``: what the files of open documents held when last seen, by
    URI. ``shared_agents``: those that the command line knows just the same. ``restores``: what
    is being taken back and waits for its texts, by number. ``form_documents``: the documents of
    forms, by question. ``permissions``: what the user answered with "always".
    ``not_stopped``: the problems with rules that were to stop something.

    Of files, by their places: ``at_work``: the sessions whose agents may change any;
    ``named``: which tool call was last about one; ``changed_by``: which session changed which
    in its turn. ``saved``: the text that the user saved, until the file was looked at;
    ``typed``: what the files of documents held whose unsaved lines are known to be typed, by
    URI. ``unsure``: the files of documents that changed, until it is known whether the user
    saved them.
    ``read_by``: what a session was given of one; ``origins``: the unsaved texts of documents
    that agents started from, by URI, until these are saved, and ``unsaved`` what is known of
    such files. ``saving``: documents
    that the editor saves for an agent's write, by URI; ``stepping``: those to be brought in
    step. ``claims_read``: how a tool call was when its claims were looked at last;
    ``claims_awaited``: how many of their files are being read. ``decided``: verdicts on hunks
    that are not written yet, by key; ``foregone``: those on what is to come, by session and
    place. ``choices_asked``: what was chosen in earlier runs was asked for.
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
    form_documents: dict[str, FormDocument] = field(default_factory=dict)
    paths: Paths = field(default_factory=Paths)
    checkpoints: Checkpoints = field(default_factory=Checkpoints)
    restores: dict[int, Restore] = field(default_factory=dict)
    shelf: Shelf = field(default_factory=Shelf)
    chosen_review_mode: ReviewMode | None = None
    at_work: set[str] = field(default_factory=set)
    named: dict[str, Author] = field(default_factory=dict)
    changed_by: set[tuple[str, str]] = field(default_factory=set)
    saved: dict[str, str] = field(default_factory=dict)
    typed: dict[str, str] = field(default_factory=dict)
    unsure: dict[str, tuple[Disk, Earlier]] = field(default_factory=dict)
    read_by: dict[tuple[str, str], str] = field(default_factory=dict)
    saving: dict[str, Saving] = field(default_factory=dict)
    stepping: set[str] = field(default_factory=set)
    unsaved: dict[str, Unsaved] = field(default_factory=dict)
    claims_read: dict[Author, object] = field(default_factory=dict)
    claims_awaited: Counter[Author] = field(default_factory=Counter)
    decided: dict[str, Verdict] = field(default_factory=dict)
    foregone: dict[tuple[str, str], list[Decision]] = field(default_factory=dict)
    verdicts: dict[str, list[Run]] = field(default_factory=dict)
    edits: dict[int, OwnEdit] = field(default_factory=dict)
    file_edits: dict[int, ForVerdict | ForForm] = field(default_factory=dict)
    disk: dict[str, str] = field(default_factory=dict)
    origins: dict[str, str] = field(default_factory=dict)
    permissions: Book = field(default_factory=Book)
    problems: tuple[str, ...] = ()
    not_stopped: tuple[str, ...] = ()
    choices_asked: bool = False
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

    def places_of(self, session: Session) -> tuple[str, ...]:
        """The same folders without symbolic links."""
        return tuple(map(self.paths.place, self.roots_of(session)))

    @property
    def review_mode(self) -> ReviewMode:
        """When changes are put under review."""
        return self.chosen_review_mode or self.settings.review_mode

    def path_of(self, uri: str) -> str:
        """The place of an open document's file."""
        return self.paths.place(uris.to_path(uri) or uri)

    def buffer_at(self, path: str) -> Buffer | None:
        """The open document for a file."""
        place = self.paths.place(path)
        theirs = self.buffers.get(uris.from_path(self.paths.theirs(place)))
        return theirs or self.buffers.get(uris.from_path(path))

    def saw(self, path: str, text: str | None) -> None:
        """Take note of what a file holds."""
        buffer = self.buffer_at(path)
        if buffer is not None and text is not None:
            self.disk[buffer.uri] = text
            self.in_step(buffer, text)

    def in_step(self, buffer: Buffer, text: str) -> None:
        """The file of an open document holds this: without unsaved lines it starts from there."""
        self.buffers.in_step(buffer.uri, text)
        if not buffer.dirty:
            self.origins.pop(buffer.uri, None)
