"""One question that waits for the user, and how it was settled."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

    from acpls.events import RequestId
    from acpls.session.asks import Answer
    from acpls.session.content import Choosable, Subject

SettledBy: TypeAlias = Literal["editor", "agent", "cancel"]


@dataclass(slots=True)
class Question:
    """A permission an agent asks for, a page that it wants visited, the way to log in, or
    what is to become of a write.

    ``session`` is empty where it is about none. ``about_login``, ``write``: it is our own,
    and no agent waits for just its answer; ``write`` is what goes on with it.
    ``url`` and ``link``: the page, and the agent's id for the visit.
    ``answers``: what the agent is answered for an option, where that is not the option.
    ``by`` and ``option`` say how it was settled. ``put``: it was put to the user;
    ``dismissed``: that brought no answer. ``foreground``: it was asked during a turn.
    """

    key: str
    agent: str
    request: RequestId
    session: str
    title: str
    options: tuple[Choosable, ...]
    description: str | None = None
    subject: Subject = None
    about_login: bool = False
    write: Any = None
    url: str | None = None
    link: str | None = None
    answers: Mapping[str, Answer] = field(default_factory=dict)
    foreground: bool = True
    put: bool = False
    dismissed: bool = False
    by: SettledBy | None = None
    option: str | None = None

    @property
    def open(self) -> bool:
        """Whether the agent still waits."""
        return self.by is None

    def offers(self, option: str) -> bool:
        """Whether this is one of the options, by its exact id."""
        return any(offered.option == option for offered in self.options)
