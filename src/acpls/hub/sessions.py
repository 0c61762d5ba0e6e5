"""Sessions open, take prompts, are told things, and end."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from acpls.effects import (
    After,
    ReplyCommand,
    ShowPlace,
    ShowSession,
    TellUser,
)
from acpls.follow import Place, place_of
from acpls.hub import agents, asking, attachments, claims, login, shapes, turns
from acpls.hub.putting import put_next
from acpls.hub.state import CannotDo, Waiting
from acpls.hub.tokens import CancelDue, NextPrompt
from acpls.session import asks
from acpls.session import updates as up
from acpls.session.state import QueuedPrompt, Session

if TYPE_CHECKING:
    from acpls.events import Notified, SessionTold
    from acpls.hub.state import Effects, State
    from acpls.session.content import Block, Option
    from acpls.session.state import Touched

AUTH_REQUIRED = -32000
# Updates of sessions that nobody opened here are kept for a while: they may precede the
# reply that opens the session.
EARLY_SESSIONS = 16
EARLY_UPDATES = 10_000
# What makes an ask fail may be the end of its agent, which is told right after.
AFTER_ERROR_S = 0.1


def new(
    state: State, agent: str, cwd: str, ticket: object = None, title: str | None = None
) -> Effects:
    """Open a session; it becomes the current one."""
    yield from agents.start(state, agent)
    session = Session(state.key("s"), agent, cwd, title=title)
    state.sessions[session.key] = session
    state.current = session.key
    yield ShowSession(session.key, "state")
    what = asks.NewSession(agents.opening(state, session))
    yield from agents.ask(state, agent, what, session.key, ticket)


def fork(state: State, of: Session, ticket: object) -> Effects:
    """Open a session that begins as a copy of another, where the agent can do that."""
    facts = state.agent(of.agent).facts
    if facts is None or not facts.can_fork:
        raise CannotDo(f"{state.agent(of.agent).title} cannot copy sessions")
    if not of.open:
        raise CannotDo("The session is not open", field="session")
    assert of.native is not None
    session = Session(state.key("s"), of.agent, of.cwd)
    state.sessions[session.key] = session
    state.current = session.key
    yield ShowSession(session.key, "state")
    what = asks.ForkSession(of.native, agents.opening(state, session))
    yield from agents.ask(state, of.agent, what, session.key, ticket)


def reopen(state: State, session: Session, ticket: object) -> Effects:
    """Open a lost session again. Raises ``CannotDo`` where there is nothing to be opened."""
    if session.state != "lost":
        yield ReplyCommand(ticket, shapes.session_entry(state, session))
        return
    if session.over or session.native is None:
        what = "was closed" if session.closed else "was never open"
        raise CannotDo(f"The session {what}; acpls.session.new opens another", field="session")
    agents.meant(state, session.agent)
    yield from agents.reopen(state, session, ticket)


def prompt(state: State, session: Session, blocks: tuple[Block, ...], ticket: object) -> Effects:
    """Send a prompt, or queue it while the session is busy; the command is answered.

    A session whose agent is gone is opened again for it. Raises ``CannotDo`` where that
    agent is not configured any more.
    """
    if session.state == "lost":
        agents.meant(state, session.agent)
    queued = QueuedPrompt(state.key("t"), blocks)
    session.queue.append(queued)
    state.current = session.key
    if session.state == "lost":
        yield from agents.reopen(state, session)
    yield from next_prompt(state, session)
    answer = {"session": session.key, "turn": queued.turn, "queued": queued in session.queue}
    yield ReplyCommand(ticket, answer)


def next_prompt(state: State, session: Session) -> Effects:
    """Send the prompt that has waited longest, if the session is free."""
    yield ShowSession(session.key, "queue")
    waits = not session.open or session.busy or state.agent(session.agent).wants_user
    if waits or not session.queue:
        return
    assert session.native is not None
    queued = session.queue.pop(0)
    yield from show(session, session.prompted(queued.turn, queued.blocks))
    yield ShowSession(session.key, "state")
    facts = state.agent(session.agent).facts
    what = asks.Prompt(session.native, attachments.fitting(queued.blocks, facts))
    yield from turns.starts(state, session)
    yield from agents.ask(state, session.agent, what, session.key, prompt=queued)


def prompt_due(state: State, token: NextPrompt) -> Effects:
    """Go on with the queue, unless the session was lost meanwhile."""
    yield from next_prompt(state, state.sessions[token.session])


def cancel(state: State, session: Session) -> Effects:
    """Stop the session's turn: the agent is told first, then its questions are answered."""
    if session.native is None or not session.busy or session.stopping:
        return
    session.stopping = True
    for number in _prompts_of(state, session):
        state.asks[number] = replace(state.asks[number], cancelled=True)
    yield from agents.ask(state, session.agent, asks.Cancel(session.native), session.key)
    facts = state.agent(session.agent).facts
    if facts is None or not facts.withdraws_questions:
        yield from asking.cancel_all(state, session)
    yield ShowSession(session.key, "state")
    yield After(state.settings.cancel_seconds, CancelDue(session.key, session.turn))


def wrong_value(option: Option, value: object) -> str | None:
    """Why an option cannot take a value; some agents take any and go on with nonsense."""
    if option.type == "boolean":
        fits, wanted = isinstance(value, bool), "true or false"
    elif option.choices:
        fits = value in [choice.value for choice in option.choices]
        wanted = ", ".join(choice.value for choice in option.choices)
    else:
        return None
    return None if fits else f"The option {option.option!r} cannot be {value!r}, but: {wanted}"


def _prompts_of(state: State, session: Session) -> list[int]:
    """The numbers of the session's prompts that were not replied to yet."""
    return [
        number
        for number, waiting in state.asks.items()
        if waiting.session == session.key and isinstance(waiting.ask, asks.Prompt)
    ]


def cancel_due(state: State, token: CancelDue) -> Effects:
    """The agent has had its time to confirm a cancel."""
    session = state.sessions[token.session]
    if not session.stopping or session.turn != token.turn:
        return
    yield from asking.cancel_turn(state, session, session.turn)
    title = state.agent(session.agent).title
    yield TellUser("error", f"{title} has not confirmed the stop; acpls.session.endTurn ends it")


def end_turn(state: State, session: Session) -> Effects:
    """Take the turn for ended, whatever the agent says; late output still finds its place."""
    if not session.busy:
        return
    for number in _prompts_of(state, session):
        state.asks[number] = replace(state.asks[number], abandoned=True)
    yield from asking.cancel_turn(state, session, session.turn)
    yield from apply(state, session, up.TurnChanged("idle", "cancelled"))


def close(state: State, session: Session, ticket: object) -> Effects:
    """Close a session on both sides."""
    yield from cancel(state, session)
    session.closed = True
    was_open, facts = session.open, state.agent(session.agent).facts
    if session.state != "lost":
        yield from agents.lose(state, session, "closed", agent_lives=True)
    if was_open and facts is not None and facts.can_close:
        assert session.native is not None
        what = asks.CloseSession(session.native)
        yield from agents.ask(state, session.agent, what, session.key)
    if state.current == session.key:
        state.current = None
    yield ReplyCommand(ticket, {})
    yield from put_next(state)


# --- what agents tell ------------------------------------------------------------------


def told(state: State, event: SessionTold) -> Effects:
    """An update of a session; for one that is not open here yet it waits."""
    session = state.session_of(event.agent, event.session)
    if session is not None:
        if _may_be_late(state, session, event.update):
            return
        yield from apply(state, session, event.update)
        return
    key = (event.agent, event.session)
    if key not in state.early and len(state.early) >= EARLY_SESSIONS:
        state.early.pop(next(iter(state.early)))
    early = state.early.setdefault(key, [])
    if len(early) < EARLY_UPDATES:
        early.append(event.update)


def notified(state: State, event: Notified) -> Effects:
    """The agent said something of a kind that we do not know; its log has it in any case."""
    session = None if event.session is None else state.session_of(event.agent, event.session)
    if session is not None:
        payload = {"method": event.method, "params": event.params}
        yield from apply(state, session, up.Other(payload))


def _may_be_late(state: State, session: Session, update: up.Update) -> bool:
    """Whether this is the end of a turn that was abandoned, or else of the one at work.

    In ACP 1 it is the reply to a prompt that ends its turn, and follows right after.
    """
    if not (isinstance(update, up.TurnChanged) and update.state == "idle"):
        return False
    late = any(w.abandoned and w.session == session.key for w in state.asks.values())
    if late:
        state.held_ends[session.key] = update
    return late


def apply(state: State, session: Session, update: up.Update) -> Effects:
    """Let a session take an update in, and do what follows from it."""
    stopping, asked, turn = session.stopping, session.asked, session.turn
    yield from show(session, session.apply(update))
    match update:
        case up.ToolCallPatched(tool_call=tool_call):
            yield from _tool_call_changed(state, session, tool_call)
        case up.ToolCallGrew(tool_call=tool_call, item=item) if claims.is_claim(item):
            yield from _tool_call_changed(state, session, tool_call)
        case up.TurnChanged(state="idle", stop_reason=reason):
            if stopping or reason == "cancelled":
                yield from asking.cancel_turn(state, session, turn)
            yield from claims.end_turn(state, session)
            yield from turns.ends(state, session)
            if reason not in {"error", "cancelled"}:
                state.agent(session.agent).tried_login = False
            if update.error_code == AUTH_REQUIRED and asked is not None and not stopping:
                # In ACP 2 a prompt may be taken before it turns out that nobody is logged in.
                # Whatever is still replied to it says nothing new.
                for number in _prompts_of(state, session):
                    del state.asks[number]
                assert session.native is not None
                what = asks.Prompt(session.native, asked.blocks)
                refused = Waiting(session.agent, what, session.key, prompt=asked)
                failure = asks.Failure(AUTH_REQUIRED, update.error or "")
                yield from login.needed(state, refused, failure)
            elif reason == "error":
                yield After(AFTER_ERROR_S, NextPrompt(session.key))
            else:
                yield from next_prompt(state, session)
        case up.TurnChanged():
            turns.running(state, session)
        case _:
            pass


def _tool_call_changed(state: State, session: Session, tool_call: str) -> Effects:
    call = session.tool_call(tool_call)
    assert call is not None
    place = place_of(call)
    if place is not None and not call.finished:
        yield from at_place(state, session, place)
    yield from claims.look(state, session, call)


def at_place(state: State, session: Session, place: Place) -> Effects:
    """The agent is at a place; the editor goes along if the user wants that now."""
    if state.follow.seen(session.key, place):
        yield ShowPlace(
            session.key,
            place.path,
            place.line,
            place.line,
            place.reason,
            place.tool_call,
            state.follow.may_move(state.now_s),
        )


def show(session: Session, touched: tuple[Touched, ...]) -> Effects:
    """Show what was touched of a session."""
    for what, key in touched:
        yield ShowSession(session.key, what, key)
