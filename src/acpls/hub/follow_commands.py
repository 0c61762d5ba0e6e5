"""The commands about following: on and off, where the agent is and was."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeAlias

from acpls.effects import KeepChoice, ReplyCommand, ShowDocument, TellUser
from acpls.hub import meant, places, review_shapes, shapes
from acpls.hub.state import CannotDo

if TYPE_CHECKING:
    from collections.abc import Mapping

    from acpls.events import ChoicesLoaded
    from acpls.follow import Place, Word
    from acpls.hub.state import Effects, State
    from acpls.session.state import Session

    Arguments: TypeAlias = Mapping[str, Any]

CHOICE: Final = "follow"
"""The name by which the choice is remembered."""

_NOT_MOVED: Final = "This editor is not moved by itself; acpls.follow.goTo goes to the agent"


def word(state: State) -> Word:
    """How it stands with following, for ``acpls.status``."""
    return state.follow.word(places.watched(state))


def standing(state: State) -> tuple[Word, str | None]:
    """What there is to tell of it: how it stands, and with which session."""
    found = word(state)
    return found, None if found == "off" else places.watched(state)


def choices_loaded(state: State, event: ChoicesLoaded) -> None:
    """What was chosen in another run counts where nothing else was said."""
    choice = event.choices.get(CHOICE)
    if isinstance(choice, bool) and state.follow.remembered is None:
        state.follow.remembered = choice


def set_follow(state: State, arguments: Arguments, ticket: object) -> Effects:
    """Turn following on or off, or the other way round; for one session, or as a choice."""
    follow, key = state.follow, None
    if "session" in arguments:
        key = meant.session(state, arguments).key
    is_on = key in {None, places.watched(state)} and word(state) == "on"
    on = bool(arguments.get("on", not is_on))
    follow.choose(on=on, session=key)
    if key is None and follow.remembered is not on:
        follow.remembered = on
        yield KeepChoice(CHOICE, on)
    if on:
        follow.wanted = places.watched(state)
    if on and not places.can_move(state) and not follow.told:
        follow.told = True
        yield TellUser("info", _NOT_MOVED)
    yield ReplyCommand(ticket, {"on": on})
    yield from places.go(state)


def pause(state: State, _: Arguments, ticket: object) -> Effects:
    """The user went away by himself, as only the editor could see."""
    if word(state) == "on":
        state.follow.pause()
    yield ReplyCommand(ticket, {})


def trail(state: State, arguments: Arguments, ticket: object) -> Effects:
    """The last places of a session's turn, newest first."""
    found = state.follow.trail(_session(state, arguments).key).places
    yield ReplyCommand(ticket, [review_shapes.place(state, place) for place in reversed(found)])


def go_to(state: State, arguments: Arguments, ticket: object) -> Effects:
    """Show the place where the agent is now, and go along from there."""
    session = _session(state, arguments)
    place = state.follow.trail(session.key).step("newest")
    if place is None:
        message = "The agent has not been at any place yet"
        raise CannotDo(message)
    state.follow.resume()
    state.follow.shown, state.follow.wanted = place, None
    yield from _show(state, place, ticket)


def previous(state: State, arguments: Arguments, ticket: object) -> Effects:
    """Show the place before the one that was shown last, at first the newest."""
    yield from _step(state, arguments, ticket, back=True)


def following(state: State, arguments: Arguments, ticket: object) -> Effects:
    """Show the place after the one that was shown last, at first the oldest."""
    yield from _step(state, arguments, ticket, back=False)


def _step(state: State, arguments: Arguments, ticket: object, *, back: bool) -> Effects:
    trail = state.follow.trail(_session(state, arguments).key)
    place = trail.step("previous" if back else "next")
    if place is None:
        message = "The agent has not been at any place yet"
        if trail.places:
            message = f"This is the {'first' if back else 'last'} place of the turn"
        raise CannotDo(message)
    # Whoever looks back does not want to be taken away from there.
    if word(state) == "on":
        state.follow.pause()
    yield from _show(state, place, ticket)


def _session(state: State, arguments: Arguments) -> Session:
    key = places.watched(state)
    return meant.session(state, arguments if key is None else {"session": key, **arguments})


def _show(state: State, place: Place, ticket: object) -> Effects:
    row = None if place.line is None else shapes.clip(state, place.path, place.line)
    state.follow.moved_at_s = state.now_s
    yield ShowDocument(places.uri_of(state, place), row, row, take_focus=True)
    yield ReplyCommand(ticket, review_shapes.place(state, place))
