"""Pages that agents want visited, often to log in.

Invariant: only the user opens a page.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from acpls.effects import SendAnswer, ShowQuestions, TellUser
from acpls.hub.putting import put_next, tell_plainly
from acpls.questions import OPENED
from acpls.session.asks import Declined

if TYPE_CHECKING:
    from acpls.events import LinkAsked, LinkDone
    from acpls.hub.state import Effects, State


def asked(state: State, event: LinkAsked) -> Effects:
    """An agent wants a page visited, often to log in. Only the user opens it."""
    if not re.fullmatch(r"https?://[!-~]+", event.url):
        yield SendAnswer(event.agent, event.request, Declined())
        title = state.agent(event.agent).title
        yield TellUser("warning", f"{title} wants a page opened that is none", event.url)
        return
    session = None if event.session is None else state.session_of(event.agent, event.session)
    key = "" if session is None else session.key
    question = state.questions.visit(event, key, can_open=state.editor.links)
    question.foreground = session is not None and session.busy
    question.turn = None if session is None else session.turn
    yield ShowQuestions()
    yield from tell_plainly(state, question)
    yield from put_next(state)


def done(state: State, event: LinkDone) -> Effects:
    """What a page was for is done; a question for it that is still open is answered so."""
    for question in state.questions.visits(event.agent, event.link):
        yield from state.questions.settle(question, "agent", OPENED)
    yield from put_next(state)
