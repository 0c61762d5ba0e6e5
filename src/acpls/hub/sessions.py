"""Sessions open, take prompts, are told things, and end."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, assert_never

from acpls.effects import (
    After,
    FailCommand,
    ReplyCommand,
    ShowAgent,
    ShowPlace,
    ShowSession,
    TellUser,
)
from acpls.follow import Place, place_of
from acpls.hub import agents, asking, attachments, claims, shapes
from acpls.hub.tokens import CancelDue, Failed, NextPrompt
from acpls.session import asks
from acpls.session import updates as up
from acpls.session.state import QueuedPrompt, Session

if TYPE_CHECKING:
    from acpls.events import AskFailed, Replied, SessionTold
    from acpls.hub.state import Effects, State, Waiting
    from acpls.session.content import Block
    from acpls.session.state import Touched

# Updates of sessions that nobody opened here are kept for a while: they may precede the
# reply that opens the session.
EARLY_SESSIONS = 16
EARLY_UPDATES = 10_000
# What makes an ask fail may be the end of its agent, which is told right after.
AFTER_ERROR_S = 0.1

FAILED = -32603
AUTH_REQUIRED = -32000


def new(
    state: State, agent: str, cwd: str, ticket: object = None, title: str | None = None
) -> Effects:
    """Open a session; it becomes the current one."""
    yield from agents.start(state, agent)
    session = Session(state.key("s"), agent, cwd, title=title)
    state.sessions[session.key] = session
    state.current = session.key
    yield ShowSession(session.key, "state")
    yield from agents.ask(state, agent, asks.NewSession(cwd), session.key, ticket)


def prompt(state: State, session: Session, blocks: tuple[Block, ...], ticket: object) -> Effects:
    """Send a prompt, or queue it while the session is busy; the command is answered."""
    queued = QueuedPrompt(state.key("t"), blocks)
    session.queue.append(queued)
    state.current = session.key
    yield from next_prompt(state, session)
    answer = {"session": session.key, "turn": queued.turn, "queued": queued in session.queue}
    yield ReplyCommand(ticket, answer)


def next_prompt(state: State, session: Session) -> Effects:
    """Send the prompt that has waited longest, if the session is free."""
    yield ShowSession(session.key, "queue")
    if session.native is None or session.state == "lost" or session.busy or not session.queue:
        return
    queued = session.queue.pop(0)
    yield from _show(session, session.prompted(queued.turn, queued.blocks))
    yield ShowSession(session.key, "state")
    facts = state.agent(session.agent).facts
    what = asks.Prompt(session.native, attachments.fitting(queued.blocks, facts))
    yield from agents.ask(state, session.agent, what, session.key)


def prompt_due(state: State, token: NextPrompt) -> Effects:
    """Go on with the queue, unless the session was lost meanwhile."""
    yield from next_prompt(state, state.sessions[token.session])


def cancel(state: State, session: Session) -> Effects:
    """Stop the session's turn: the agent is told first, then its questions are answered."""
    if session.native is None or not session.busy or session.stopping:
        return
    session.stopping = True
    yield from agents.ask(state, session.agent, asks.Cancel(session.native), session.key)
    facts = state.agent(session.agent).facts
    if facts is None or not facts.withdraws_questions:
        yield from asking.cancel_turn(state, session)
    yield ShowSession(session.key, "state")
    yield After(state.settings.cancel_seconds, CancelDue(session.key, session.turn))


def cancel_due(state: State, token: CancelDue) -> Effects:
    """The agent has had its time to confirm a cancel."""
    session = state.sessions[token.session]
    if not session.stopping or session.turn != token.turn:
        return
    yield from asking.cancel_turn(state, session)
    title = state.agent(session.agent).title
    yield TellUser("error", f"{title} has not confirmed the stop; acpls.session.endTurn ends it")


def end_turn(state: State, session: Session) -> Effects:
    """Take the turn for ended, whatever the agent says; late output still finds its place."""
    if not session.busy:
        return
    for number, waiting in state.asks.items():
        if waiting.session == session.key and isinstance(waiting.ask, asks.Prompt):
            state.asks[number] = replace(waiting, abandoned=True)
    yield from asking.cancel_turn(state, session)
    yield from _apply(state, session, up.TurnChanged("idle", "cancelled"))


def close(state: State, session: Session, ticket: object) -> Effects:
    """Close a session on both sides."""
    yield from cancel(state, session)
    if session.state != "lost":
        facts = state.agent(session.agent).facts
        yield from agents.lose(state, session, "closed", agent_lives=True)
        if session.native is not None and facts is not None and facts.can_close:
            what = asks.CloseSession(session.native)
            yield from agents.ask(state, session.agent, what, session.key)
    if state.current == session.key:
        state.current = None
    yield ReplyCommand(ticket, {})
    yield from asking.put_next(state)


# --- what agents tell ------------------------------------------------------------------


def told(state: State, event: SessionTold) -> Effects:
    """An update of a session; for one that is not open here yet it waits."""
    session = state.session_of(event.agent, event.session)
    if session is not None:
        if _may_be_late(state, session, event.update):
            return
        yield from _apply(state, session, event.update)
        return
    key = (event.agent, event.session)
    if key not in state.early and len(state.early) >= EARLY_SESSIONS:
        state.early.pop(next(iter(state.early)))
    early = state.early.setdefault(key, [])
    if len(early) < EARLY_UPDATES:
        early.append(event.update)


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


def _apply(state: State, session: Session, update: up.Update) -> Effects:
    stopping = session.stopping
    yield from _show(session, session.apply(update))
    match update:
        case up.ToolCallPatched(tool_call=tool_call) | up.ToolCallGrew(tool_call=tool_call):
            yield from _tool_call_changed(state, session, tool_call)
        case up.TurnChanged(state="idle", stop_reason=reason):
            if stopping or reason == "cancelled":
                yield from asking.cancel_turn(state, session)
            yield from claims.end_turn(state, session)
            if reason == "error":
                yield After(AFTER_ERROR_S, NextPrompt(session.key))
            else:
                yield from next_prompt(state, session)
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


def _show(session: Session, touched: tuple[Touched, ...]) -> Effects:
    for what, key in touched:
        yield ShowSession(session.key, what, key)


# --- replies -----------------------------------------------------------------------------


def replied(state: State, event: Replied) -> Effects:
    """An ask was answered."""
    waiting = state.asks.pop(event.ask, None)
    if waiting is None:
        return
    session = state.sessions[waiting.session]
    match event.reply:
        case asks.SessionOpened():
            yield from _opened(state, session, event.reply, waiting)
        case asks.PromptTaken(message):
            if message is not None:
                yield from _show(session, session.confirm_prompt(message))
            yield from _prompt_over(state, session, waiting)
        case asks.OptionsReplied(options):
            if options is not None:
                yield from _apply(state, session, up.OptionsSet(options))
            yield ReplyCommand(waiting.ticket, {"options": shapes.options(session)})
        case asks.Done():
            pass
        case _:
            assert_never(event.reply)


def _opened(state: State, session: Session, reply: asks.SessionOpened, waiting: Waiting) -> Effects:
    agent = state.agent(session.agent)
    early = state.early.pop((session.agent, reply.session), [])
    if session.state == "lost":
        # It was closed here while the agent opened it.
        if agent.facts is not None and agent.facts.can_close:
            what = asks.CloseSession(reply.session)
            yield from agents.ask(state, session.agent, what, session.key)
        yield FailCommand(waiting.ticket, FAILED, "The session was closed before it was open")
        return
    session.native = reply.session
    state.natives[session.agent, reply.session] = session.key
    if agent.state == "needsLogin":
        agent.state, agent.message = "ready", None
        yield ShowAgent(session.agent, "ready")
    for update in early:
        yield from _apply(state, session, update)
    if reply.options is not None:
        yield from _apply(state, session, up.OptionsSet(reply.options))
    if reply.commands is not None:
        yield from _apply(state, session, up.CommandsSet(reply.commands))
    if session.state == "starting":
        session.state = "idle"
    yield ShowSession(session.key, "state")
    yield ReplyCommand(waiting.ticket, shapes.session_entry(session))
    yield from next_prompt(state, session)


def _prompt_over(state: State, session: Session, waiting: Waiting) -> Effects:
    """A prompt was replied to: now it is known whose end was told just before."""
    end = state.held_ends.pop(session.key, None)
    if end is not None and not waiting.abandoned:
        yield from _apply(state, session, end)


def failed(state: State, event: AskFailed) -> Effects:
    """An ask was answered with an error, or its agent is gone."""
    waiting = state.asks.pop(event.ask, None)
    if waiting is None:
        return
    session = state.sessions[waiting.session]
    agent, failure = state.agent(event.agent), event.failure
    message = failure.message
    if failure.code == AUTH_REQUIRED:
        message = f"{agent.title} needs a login; log in with its own command first"
        agent.state, agent.message = "needsLogin", message
        yield ShowAgent(event.agent, "needsLogin", message)
    elif not message.startswith(event.agent):
        message = f"{agent.title}: {message}"
    match waiting.ask:
        case asks.NewSession():
            yield from agents.lose(state, session, message)
            if state.current == session.key:
                state.current = None
        case asks.Prompt():
            yield from _prompt_over(state, session, waiting)
            if session.turn is not None and not waiting.abandoned:
                yield from _apply(state, session, up.TurnChanged("idle", "error", failure.message))
        case _:
            pass
    if waiting.ticket is not None:
        agent.told = failure.message
        yield FailCommand(waiting.ticket, FAILED, message, failure.detail)
    elif not isinstance(waiting.ask, asks.CloseSession):
        token = Failed(event.agent, failure.message, message, failure.detail or "")
        yield After(AFTER_ERROR_S, token)


def tell_failure(state: State, token: Failed) -> Effects:
    """Tell of a failure, unless its agent ended and that was told."""
    if state.agent(token.agent).last_end != token.reason:
        yield TellUser("error", token.message, token.detail)
