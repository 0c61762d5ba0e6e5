"""What we can ask of an agent, and what it replies, in words of no version.

Every ask is sent with a number of the hub's own; the reply comes back as an event with
that number, at its place in the agent's stream.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from acpls.session.content import Block, Command, Json, Option


# --- what a session is opened with ---------------------------------------------------


@dataclass(frozen=True, slots=True)
class McpServer:
    """An MCP server for the agent to connect to.

    ``stdio`` has ``command`` (an absolute path), ``args`` and ``env``; ``http`` and ``sse``
    have ``url`` and ``headers``. ``env`` and ``headers`` are pairs of name and value.
    """

    name: str
    kind: Literal["stdio", "http", "sse"]
    command: str = ""
    args: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = ()
    url: str = ""
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class SystemPrompt:
    """Words for the agent that stand before the session, after its own or instead of them."""

    mode: Literal["append", "override"]
    text: str


@dataclass(frozen=True, slots=True)
class Opening:
    """What a session is opened with. Paths are absolute, of the agent's machine."""

    cwd: str
    additional_directories: tuple[str, ...] = ()
    mcp_servers: tuple[McpServer, ...] = ()
    system_prompt: SystemPrompt | None = None


# --- asks ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class NewSession:
    """Open a session."""

    opening: Opening


@dataclass(frozen=True, slots=True)
class ResumeSession:
    """Open a session again that the agent has. ``replay``: it tells what was said so far,
    before the reply; otherwise what it may tell of it all the same is passed over.
    """

    session: str
    opening: Opening
    replay: bool = False


@dataclass(frozen=True, slots=True)
class ForkSession:
    """Open a session that begins as a copy of another."""

    session: str
    opening: Opening


@dataclass(frozen=True, slots=True)
class ListSessions:
    """List the sessions that the agent has, of one folder or of all; ``cursor`` of the page."""

    cwd: str | None = None
    cursor: str | None = None


@dataclass(frozen=True, slots=True)
class DeleteSession:
    """Delete a session of the agent's for good."""

    session: str


@dataclass(frozen=True, slots=True)
class SetTitle:
    """Give a session another title."""

    session: str
    title: str


@dataclass(frozen=True, slots=True)
class LogIn:
    """Log in by one of the agent's methods that it carries out itself; takes as long as the
    user does.
    """

    method: str


@dataclass(frozen=True, slots=True)
class LogOut:
    """Log out."""


@dataclass(frozen=True, slots=True)
class CancelToolCall:
    """Stop one tool call, where it says that it can be."""

    session: str
    tool_call: str


@dataclass(frozen=True, slots=True)
class CancelTerminal:
    """Stop the command in one terminal, where it says that it can be."""

    session: str
    terminal: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """Give the agent a prompt."""

    session: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Cancel:
    """Stop the session's foreground work. Nothing is replied."""

    session: str


@dataclass(frozen=True, slots=True)
class SetOption:
    """Set an option of the session."""

    session: str
    option: str
    value: str | bool


@dataclass(frozen=True, slots=True)
class CloseSession:
    """Close the session on the agent's side."""

    session: str


Ask: TypeAlias = (
    NewSession
    | ResumeSession
    | ForkSession
    | ListSessions
    | DeleteSession
    | SetTitle
    | LogIn
    | LogOut
    | Prompt
    | Cancel
    | CancelToolCall
    | CancelTerminal
    | SetOption
    | CloseSession
)


# --- replies -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SessionOpened:
    """A session is open under the agent's id ``session``. ``None``: not reported.

    ``loaded``: the agent may go on telling what was said before, for a moment.
    """

    session: str
    options: tuple[Option, ...] | None = None
    commands: tuple[Command, ...] | None = None
    loaded: bool = False


@dataclass(frozen=True, slots=True)
class KnownSession:
    """A session that the agent has; ``updated_at`` is ISO 8601."""

    session: str
    cwd: str
    title: str | None = None
    updated_at: str | None = None
    additional_directories: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SessionsListed:
    """A page of sessions; ``cursor`` asks for the next, ``None``: there is none."""

    sessions: tuple[KnownSession, ...]
    cursor: str | None = None


@dataclass(frozen=True, slots=True)
class PromptTaken:
    """The agent took the prompt (ACP 2) as the message ``message``, or (ACP 1, ``None``)
    has worked it off; the turn's end is told by ``TurnChanged``.
    """

    message: str | None = None


@dataclass(frozen=True, slots=True)
class OptionsReplied:
    """The option was set; the complete list, when the agent gives one."""

    options: tuple[Option, ...] | None = None


@dataclass(frozen=True, slots=True)
class Done:
    """It was done, and there is nothing more to say."""


Reply: TypeAlias = SessionOpened | SessionsListed | PromptTaken | OptionsReplied | Done


@dataclass(frozen=True, slots=True)
class Failure:
    """An error as the agent or the connection put it.

    ``code`` is the JSON-RPC code, which agents also fill with numbers of their own;
    ``message`` is one line; ``detail`` is the rest, for the log.
    """

    code: int
    message: str
    detail: str | None = None


# --- what an agent is told in answer to its requests ----------------------------------


@dataclass(frozen=True, slots=True)
class Selected:
    """The user chose this option of a permission request."""

    option: str


@dataclass(frozen=True, slots=True)
class Cancelled:
    """The question was withdrawn, or its turn was cancelled."""


@dataclass(frozen=True, slots=True)
class FileText:
    """The text of a file that the agent asked for."""

    text: str


@dataclass(frozen=True, slots=True)
class Accepted:
    """The user did what an elicitation asked for; ``content`` is a form's values by name."""

    # They go to the agent and nowhere else.
    content: Json | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Declined:
    """The user would not, or could not be asked in this way."""


Answer: TypeAlias = Selected | Cancelled | Accepted | Declined | FileText | Done | Failure


# --- agents --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class AuthMethod:
    """A way to log in.

    ``kind`` is ``agent`` (``LogIn`` asks for it), ``terminal`` (the user runs a program:
    ``command`` where the agent names one, else the agent's own command; ``args`` after it,
    ``env`` over its environment), ``env_var`` (``variables`` are to be set in the agent's
    environment), or a word that we do not know.
    """

    id: str
    name: str
    kind: str = "agent"
    description: str | None = None
    command: str | None = None
    args: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = ()
    variables: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AgentFacts:
    """What an agent said of itself in ``initialize``.

    ``title`` is its name for people. ``images``, ``audio``, ``embedded_context`` (resources
    with their contents): what a prompt may hold besides text and links. ``can_replay``: it
    can tell an old session again; ``can_resume``: it can go on with one without.
    ``system_prompts``: the modes of ``SystemPrompt`` that it takes. ``mcp``: the kinds of
    MCP server that it connects to. ``withdraws_questions``: after a cancel it withdraws its
    own open questions, so that we need not answer them at once. ``protocol`` is for people
    to read.
    """

    name: str
    version: str
    protocol: int
    title: str | None = None
    images: bool = False
    audio: bool = False
    embedded_context: bool = False
    can_close: bool = False
    can_list: bool = False
    can_resume: bool = False
    can_replay: bool = False
    can_delete: bool = False
    can_fork: bool = False
    can_set_title: bool = False
    can_log_out: bool = False
    takes_directories: bool = False
    system_prompts: frozenset[str] = frozenset()
    mcp: frozenset[str] = frozenset()
    withdraws_questions: bool = False
    auth_methods: tuple[AuthMethod, ...] = ()
