"""Pages that agents want visited, often to log in.

Invariant: only the user opens a page.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from acpls.effects import SendAnswer, ShowQuestions, TellUser
from acpls.hub import forms, telling
from acpls.hub.putting import put_next, tell_plainly
from acpls.questions import OPENED
from acpls.session.asks import Declined
from acpls.text.visible import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acpls.events import LinkAsked, LinkDone
    from acpls.hub.state import Effects, State

LENGTH_LIMIT: Final = 8000
"""Characters of an address; editors and browsers have trouble with longer ones."""


def asked(state: State, event: LinkAsked) -> Effects:
    """An agent wants a page visited, often to log in. Only the user opens it."""
    host = _host(event.url)
    if host is None:
        yield SendAnswer(event.agent, event.request, Declined())
        title = state.agent(event.agent).title
        shown = event.url if len(event.url) <= LENGTH_LIMIT else f"{event.url[:LENGTH_LIMIT]}…"
        yield TellUser("warning", f"{title} wants a page opened that is none", shown)
        return
    asks = event.session
    session = None if asks is None else telling.session_of(state, event.agent, asks)
    key = "" if session is None else session.key
    question = state.questions.visit(event, key, can_open=state.editor.links)
    if not one_line(event.message):
        question.title = f"{state.agent(event.agent).title} wants you to visit a page"
    question.description = "\n".join([event.url, *_remarks(event.url, host)])
    yield from forms.arrived(state, question, session, asks)
    yield ShowQuestions()
    yield from tell_plainly(state, question)
    yield from put_next(state)


def _host(url: str) -> str | None:
    """The host of a page's address; ``None`` for anything that is no such address.

    Letters that only look like others do not get this far: an address is ASCII. A backslash
    is none of its characters, and is where browsers and others disagree on the host.
    """
    if len(url) > LENGTH_LIMIT or not re.fullmatch(r"https?://[!-\[\]-~]+", url):
        return None
    try:
        return urlsplit(url).hostname or None
    except ValueError:
        return None


def _remarks(url: str, host: str) -> Iterator[str]:
    """What is easily overlooked in an address."""
    if "@" in urlsplit(url).netloc:
        yield f"It leads to {host}: what stands before the @ is only a name for it."
    if any(label.startswith("xn--") for label in host.split(".")):
        yield f"The name {host} stands for letters of other alphabets, which may look familiar."


def done(state: State, event: LinkDone) -> Effects:
    """What a page was for is done; a question for it that is still open is answered so."""
    for question in state.questions.visits(event.agent, event.link):
        yield from state.questions.settle(question, "agent", OPENED)
    yield from put_next(state)
