"""Talking to a dialect in tests: about session ``s`` of agent ``a``, checked by the schema."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from acp_schema import check_call
from acpls.client.dialect import Call
from acpls.events import Replied, SessionTold
from acpls.session.asks import Failure, NewSession, Opening, SessionOpened

if TYPE_CHECKING:
    from collections.abc import Iterable

    from acpls.client.dialect import Dialect
    from acpls.events import AgentEvent
    from acpls.session.asks import Ask
    from acpls.session.updates import Update


def parts(events: Iterable[AgentEvent]) -> list[Update]:
    """What was told, and nothing else may be among the events."""
    found = []
    for event in events:
        assert isinstance(event, SessionTold)
        assert (event.agent, event.session) == ("a", "s")
        found.append(event.update)
    return found


def tell(dialect: Dialect, kind: str, /, **fields: Any) -> list[Update]:
    """What a ``session/update`` of this kind tells."""
    update = {"sessionUpdate": kind, **fields}
    return parts(dialect.told("session/update", {"sessionId": "s", "update": update}))


def call(dialect: Dialect, ask: Ask) -> Call:
    """The message for an ask, which has to be one that the schema knows."""
    said = dialect.say(ask)
    assert isinstance(said, Call)
    if said.method != "session/set_model":
        check_call(dialect.version, said.method, said.params)
    return said


def refused(dialect: Dialect, ask: Ask) -> Failure:
    """Why an ask cannot be said."""
    said = dialect.say(ask)
    assert isinstance(said, Failure)
    return said


def open_session(dialect: Dialect, cwd: str = "/w", **result: Any) -> SessionOpened:
    """The reply to ``session/new`` with these fields beside the id."""
    (event,) = dialect.replied(1, NewSession(Opening(cwd)), {"sessionId": "s", **result})
    assert isinstance(event, Replied)
    assert isinstance(event.reply, SessionOpened)
    return event.reply
