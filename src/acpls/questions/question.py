"""One question that waits for the user, and how it was settled."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

    from acpls.events import RequestId
    from acpls.forms import Form
    from acpls.questions.about import About
    from acpls.session.asks import Answer
    from acpls.session.content import Choosable, Subject
    from acpls.session.updates import ToolCallPatched

SettledBy: TypeAlias = Literal["editor", "rule", "agent", "cancel", "limit"]
Kind: TypeAlias = Literal["permission", "link", "form", "login", "write", "revoke"]
"""What is asked; ``login``, ``write`` and ``revoke`` are questions of our own, for which no
agent waits.
"""


@dataclass(slots=True)
class Question:
    """A permission an agent asks for, a page that it wants visited, the way to log in, or
    what is to become of a write.

    ``session`` is empty where it is about none. ``write`` is what goes on with the answer.
    ``url`` and ``link``: the page, and the agent's id for the visit. ``form``: what is to be
    filled in.
    ``answers``: what the agent is answered for an option, where that is not the option.
    ``about``: what it is about, ``None`` where that is no tool of an agent's; it stays as it
    was when the question came, whatever is told of the tool call later. ``call``: the tool call
    as it stood in the request. ``asked``: what rules know of it, as it was then.
    ``subagent``: the agent's id of the session that asks, where that works for ``session``.
    ``foreground``: it was asked for the work of a turn, of ``turn`` where that is ours.
    ``can_dismiss``: the agent takes no answer for an answer, since it withdraws what it does
    not wait for any more.
    ``put``: it was put to the user; ``expected``: the editor is to say soon that it shows it,
    ``shown``: and has; ``unseen``: or has not, so that it is shown in other ways, by a
    ``dialog`` too. ``dismissed``: it was closed without an answer. ``told``: the user was told
    by a message that it waits.
    ``by`` and ``option`` say how it was settled.
    """

    key: str
    agent: str
    request: RequestId
    session: str
    title: str
    options: tuple[Choosable, ...]
    description: str | None = None
    subject: Subject = None
    kind: Kind = "permission"
    write: Any = None
    url: str | None = None
    link: str | None = None
    form: Form | None = None
    answers: Mapping[str, Answer] = field(default_factory=dict)
    about: About | None = None
    call: ToolCallPatched | None = None
    asked: Any = None
    subagent: str | None = None
    foreground: bool = True
    turn: str | None = None
    can_dismiss: bool = False
    put: bool = False
    expected: bool = False
    shown: bool = False
    unseen: bool = False
    dialog: Literal["none", "open", "over"] = "none"
    dismissed: bool = False
    told: bool = False
    by: SettledBy | None = None
    option: str | None = None

    @property
    def is_ours(self) -> bool:
        """Whether we ask, so that no agent is to be answered."""
        return self.kind in {"login", "write", "revoke"}

    @property
    def open(self) -> bool:
        """Whether the agent still waits."""
        return self.by is None

    def offers(self, option: str) -> bool:
        """Whether this is one of the options, by its exact id."""
        return any(offered.option == option for offered in self.options)
