"""What the editor and its user do."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from acpls.text.buffers import ContentChange


@dataclass(frozen=True, slots=True)
class EditorReady:
    """The editor is initialised. ``roots`` are absolute paths, the first one the main root.

    ``sessions``, ``questions``, ``forms``, ``reviews``, ``places``: what it announced for itself
    (docs/protocol.md, handshake). ``dialogs``: it has dialogs; ``gentle_dialogs``: they are
    known not to eat what the user types. ``terminals``: it runs programs in a terminal;
    ``links``: it opens pages in a browser. ``save``: it saves documents when asked to.
    ``deletes``, ``renames``: it takes files away, or moves them, with their documents.
    ``reloads``: a clean document takes in what its file holds by itself; ``stale_edits``: one
    whose file has changed since it was read can be edited. ``gentle_show``: it shows a document
    that it is told to without taking the view or the keyboard away from the user.
    """

    roots: tuple[str, ...]
    sessions: bool = False
    questions: bool = False
    reviews: bool = False
    places: bool = False
    focus: bool = False
    dialogs: bool = False
    gentle_dialogs: bool = False
    terminals: bool = False
    links: bool = False
    save: bool = False
    deletes: bool = False
    renames: bool = False
    reloads: bool = False
    stale_edits: bool = True
    forms: bool = False
    gentle_show: bool = False


@dataclass(frozen=True, slots=True)
class EditorLeft:
    """The editor is gone or has said goodbye: what is to last is kept now, or never."""


@dataclass(frozen=True, slots=True)
class SettingsChanged:
    """Raw settings, lowest precedence first; what is wrong in them becomes a warning."""

    layers: tuple[object, ...]


@dataclass(frozen=True, slots=True)
class BufferOpened:
    """The editor opened a document."""

    uri: str
    version: int
    text: str
    language: str = ""


@dataclass(frozen=True, slots=True)
class BufferChanged:
    """The editor changed a document; each change applies to the result of the one before."""

    uri: str
    version: int
    changes: tuple[ContentChange, ...]


@dataclass(frozen=True, slots=True)
class BufferSaved:
    """The editor wrote a document to disk."""

    uri: str


@dataclass(frozen=True, slots=True)
class BufferClosed:
    """The editor no longer owns a document."""

    uri: str


@dataclass(frozen=True, slots=True)
class FocusChanged:
    """The document the user looks at, and whether they are typing in it.

    ``rows``: the first and the last zero-based row of what they have selected there.
    """

    uri: str | None
    typing: bool
    rows: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class LinksAsked:
    """Which files are mentioned in a conversation document? ``ReplyLinks`` answers."""

    ticket: object
    uri: str


@dataclass(frozen=True, slots=True)
class PlaceAsked:
    """Where does this lead, in a conversation document? ``offset`` is in its text.

    ``ReplyPlaces`` answers.
    """

    ticket: object
    uri: str
    offset: int


@dataclass(frozen=True, slots=True)
class TrailAsked:
    """Where was the agent of a conversation document? ``ReplyPlaces`` answers."""

    ticket: object
    uri: str


@dataclass(frozen=True, slots=True)
class CommandGiven:
    """A command of the editor's user, with checked arguments.

    ``ticket`` names the request that waits for the answer; ``None``: nobody waits.
    """

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    ticket: object = None


@dataclass(frozen=True, slots=True)
class CommandAbandoned:
    """The editor no longer waits for the command with this ticket."""

    ticket: object


@dataclass(frozen=True, slots=True)
class QuestionPut:
    """What came of putting a question to the user: the option chosen, or ``None`` when it
    was dismissed, could not be shown, or was answered with an error.

    ``action`` and ``content``: what an editor that draws forms itself answered, unchecked.
    ``scope``: for how long an answer that holds always is to be remembered, if that was said.
    ``seen``: the editor did show it. ``dialog``: as ``PutQuestion`` wanted it.
    """

    question: str
    option: str | None
    action: object = None
    # Values of a form go to the agent and nowhere else.
    content: object = field(default=None, repr=False)
    seen: bool = True
    dialog: bool = False
    scope: Literal["session", "workspace", "user"] | None = None


@dataclass(frozen=True, slots=True)
class QuestionShown:
    """The editor says that a question is on the screen; it may be one that there is not."""

    question: str


@dataclass(frozen=True, slots=True)
class ProgramRan:
    """A program that the editor was to run for the user has ended; ``None``: it was not run."""

    token: object
    exit_code: int | None


@dataclass(frozen=True, slots=True)
class EditApplied:
    """The editor says that it made edit number ``edit``."""

    edit: int


@dataclass(frozen=True, slots=True)
class EditRefused:
    """The editor did not make edit number ``edit``, or did not answer in time."""

    edit: int
    reason: str


@dataclass(frozen=True, slots=True)
class DocumentSaved:
    """What came of asking the editor to save a document; ``problem``: why it did not."""

    token: object
    uri: str
    problem: str | None = None
