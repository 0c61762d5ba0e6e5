"""What the hub gives an effect to find its way back when the event comes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from acpls.events import RequestId
    from acpls.follow.hints import Hint
    from acpls.follow.mentions import Mention
    from acpls.permissions import Scope
    from acpls.review.change import Verdict
    from acpls.session.asks import Failure


@dataclass(frozen=True, slots=True)
class CancelDue:
    """The time that an agent has to confirm a cancel."""

    session: str
    turn: str | None


@dataclass(frozen=True, slots=True)
class CrossedCancel:
    """The time that an agent has to withdraw a question that crossed the cancel of its turn."""

    question: str


@dataclass(frozen=True, slots=True)
class NotShown:
    """The time that an editor has to say that it shows a question."""

    question: str


@dataclass(frozen=True, slots=True)
class NextPrompt:
    """A queued prompt may be sent, unless its agent turns out to be gone."""

    session: str


@dataclass(frozen=True, slots=True)
class AskDue:
    """The time that an agent has to reply to an ask, in seconds."""

    number: int
    limit_s: float


@dataclass(frozen=True, slots=True)
class NotReopened:
    """A session was not opened again, unless that was because its agent is gone."""

    session: str
    failure: Failure


@dataclass(frozen=True, slots=True)
class ForLogin:
    """A program that logs in to an agent."""

    agent: str


@dataclass(frozen=True, slots=True)
class Failed:
    """An ask failed for ``reason``: to be told, unless the end of its agent says so too."""

    agent: str
    reason: str
    message: str
    detail: str


@dataclass(frozen=True, slots=True)
class HeldChanges:
    """The time that document changes are held for a version that is missing before them."""

    uri: str


@dataclass(frozen=True, slots=True)
class ForAgent:
    """A file read or written because the agent asked for it.

    ``left_out``: what of the write the user rejected, in words; ``kept``: the user has seen it.
    """

    agent: str
    request: RequestId
    session: str
    line: int | None = None
    limit: int | None = None
    left_out: str = ""
    kept: bool = False


@dataclass(frozen=True, slots=True)
class ForWrite:
    """A write that an agent asked for, until it is known how it is to be done."""

    agent: str
    request: RequestId
    session: str
    path: str
    text: str


@dataclass(frozen=True, slots=True)
class SavedWrite:
    """A file read again after the editor saved its document for an agent's write."""

    write: ForWrite


@dataclass(frozen=True, slots=True)
class SavedFirst:
    """The user's unsaved text is saved before an agent's write is refused."""

    write: ForWrite


@dataclass(frozen=True, slots=True)
class TurnStarts:
    """The files are looked at before a turn, so that what changes then is the agent's."""

    session: str


@dataclass(frozen=True, slots=True)
class TurnEnds:
    """The files are looked at after a turn: what changed until now is the agent's.

    ``tries``: how often that was to be done once more.
    """

    session: str
    tries: int = 0


@dataclass(frozen=True, slots=True)
class AtHead:
    """Files are compared with the last commit: their paths, and what they held then."""

    contents: tuple[tuple[str, str | None], ...]


@dataclass(frozen=True, slots=True)
class Look:
    """A file is read only to see whether it has changed."""


@dataclass(frozen=True, slots=True)
class NotSaved:
    """By now the editor would have told of it, had the user saved the document at ``place`` as
    bytes with the hash ``content``.
    """

    place: str
    content: str | None


@dataclass(frozen=True, slots=True)
class HoldDue:
    """The time that the user has for the verdict on a change that is held."""

    change: str


@dataclass(frozen=True, slots=True)
class Foregone:
    """Hunks that were decided on before they were written."""

    hunks: frozenset[str]
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class ForClaim:
    """A file read because a tool call claims to change it."""

    session: str
    tool_call: str


@dataclass(frozen=True, slots=True)
class Opened:
    """A file read because the editor opened it, to know whether ``text`` is saved."""

    uri: str
    text: str


@dataclass(frozen=True, slots=True)
class InStep:
    """An open document without unsaved changes is brought in step with its file.

    ``tries``: how often the editor has failed to do so.
    """

    path: str
    tries: int = 0


@dataclass(frozen=True, slots=True)
class EditDue:
    """The time within which an edit that the editor says it made is to be seen."""

    edit: int


@dataclass(frozen=True, slots=True)
class ForVerdict:
    """A step of carrying out the verdict that is at work on a file."""

    path: str


@dataclass(frozen=True, slots=True)
class ForRestore:
    """Texts read because a turn is to be taken back, or it is to be seen what that would do."""

    number: int


@dataclass(frozen=True, slots=True)
class LoadedReview:
    """What an earlier run of the server stored, or texts that belong to it."""


@dataclass(frozen=True, slots=True)
class ForStored:
    """A file read because an earlier run had it under review, or knew of a change there."""

    path: str


@dataclass(frozen=True, slots=True)
class ToJudge:
    """Questions that the rules are asked about. ``paths`` are those that were looked up, and
    ``tries`` how often others were found to be missing.
    """

    questions: tuple[str, ...]
    paths: frozenset[str]
    tries: int = 0


@dataclass(frozen=True, slots=True)
class ToRemember:
    """The user answered a question with an "always", which is to be remembered."""

    question: str
    decision: Literal["allow", "deny"]
    scope: Scope


@dataclass(frozen=True, slots=True)
class RulesWanted:
    """What a command about remembered permissions waits for: the list of them, or a question
    which of them is to be revoked, or that ``rule`` is.
    """

    ticket: object
    what: Literal["list", "choose", "revoke"]
    rule: str = ""


@dataclass(frozen=True, slots=True)
class RuleKept:
    """A rule, which ``text`` says in words, is stored, or taken from the store."""

    text: str
    revoked: bool = False


@dataclass(frozen=True, slots=True)
class StoreDue:
    """What has changed in the review is to be stored."""


@dataclass(frozen=True, slots=True)
class ForConversation:
    """A step of keeping a session's conversation document up to date.

    ``ticket``: the command that opens the document; ``show``: to the user, then, at the line
    of ``question`` or else where the next prompt is written. ``tries``: how often that line
    was looked for.
    ``quotes``: how many of the quotes are in what is written, ``sent``: the draft that went
    out and is part of it.
    """

    session: str
    ticket: object = None
    show: bool = False
    question: str | None = None
    tries: int = 0
    quotes: int = 0
    sent: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class ForForm:
    """A step of filling in a form: its document is written, read, or taken away.

    ``ticket``: the command that waits for it.
    """

    question: str
    ticket: object = None
    removes: bool = False


@dataclass(frozen=True, slots=True)
class IgnoreFile:
    """The file that keeps conversations and forms out of version control."""


@dataclass(frozen=True, slots=True)
class ForPlace:
    """What is at the places where a tool call may be, or where a file was read or written for
    the agent (``call`` is ``None``); ``reason`` is what for.
    """

    session: str
    call: str | None
    reason: str
    hints: tuple[Hint, ...]


@dataclass(frozen=True, slots=True)
class ForLinks:
    """What is at the paths that a conversation document mentions.

    ``text`` is the document; each mention has the paths that it may mean.
    """

    ticket: object
    text: str
    mentions: tuple[tuple[Mention, tuple[str, ...]], ...]


@dataclass(frozen=True, slots=True)
class ForMention:
    """What is at the paths that the mentions at one position may mean, or the place of a tool
    call.
    """

    ticket: object
    hints: tuple[Hint, ...]
    columns: tuple[int | None, ...] = ()


@dataclass(frozen=True, slots=True)
class FollowDue:
    """The editor may go where the agent is, unless the user did something meanwhile."""
