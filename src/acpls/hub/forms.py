"""Forms that agents want filled in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acpls.effects import SendAnswer, TellUser
from acpls.session.asks import Declined

if TYPE_CHECKING:
    from acpls.events import FormAsked
    from acpls.hub.state import Effects, State


def asked(state: State, event: FormAsked) -> Effects:
    """An agent asks for values: nobody can be shown a form yet, and it is told so."""
    yield SendAnswer(event.agent, event.request, Declined())
    asked = f"{state.agent(event.agent).title} asks to fill in a form, which acpls cannot show yet"
    yield TellUser("warning", asked, event.message)
