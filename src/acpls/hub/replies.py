"""What agents reply to our asks, or fail to.

Invariant: an ask is over once: by its reply, its error, its agent's end, or when its time
has passed; what a command waits for is answered then.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from acpls.effects import (
    After,
    FailCommand,
    ReplyCommand,
    ShowSession,
    TellUser,
    WithdrawAsk,
)
from acpls.hub import agents, login, sessions, shapes, stored, turns
from acpls.hub.tokens import AskDue, Failed, NextPrompt, NotReopened
from acpls.session import asks
from acpls.session import updates as up

if TYPE_CHECKING:
    from acpls.events import Replied
    from acpls.hub.state import Effects, State, Waiting
    from acpls.session.asks import Failure
    from acpls.session.state import Session

# What makes an ask fail may be the end of its agent, which is told right after.
AFTER_ERROR_S = 0.1

# Some agents reply to a load first, and then go on telling what was said before.
REPLAY_S = 0.3

NOT_THERE = -32601
NO_ANSWER = -32603


def replied(state: State, event: Replied) -> Effects:
    """An ask was answered."""
    waiting = state.asks.pop(event.ask, None)
    if waiting is None:
        return
    if isinstance(event.reply, asks.SessionsListed):
        listed = shapes.known_sessions(state, event.agent, event.reply)
        yield ReplyCommand(waiting.ticket, listed)
        return
    match waiting.ask:
        case asks.LogIn():
            yield from login.logged_in(state, waiting)
        case asks.LogOut():
            yield from login.logged_out(state, waiting)
        case _:
            yield from _replied(state, event.reply, waiting, state.sessions[waiting.session])


def _replied(
    state: State,
    reply: asks.SessionOpened | asks.PromptTaken | asks.OptionsReplied | asks.Done,
    waiting: Waiting,
    session: Session,
) -> Effects:
    match reply:
        case asks.SessionOpened():
            yield from _opened(state, session, reply, waiting)
        case asks.PromptTaken(message):
            if message is not None:
                yield from sessions.show(session, session.confirm_prompt(message))
            yield from _prompt_over(state, session, waiting)
        case asks.OptionsReplied(options):
            if options is not None:
                yield from sessions.apply(state, session, up.OptionsSet(options))
            yield ReplyCommand(waiting.ticket, {"options": shapes.options(session)})
        case asks.Done():
            if isinstance(waiting.ask, asks.SetTitle):
                yield from sessions.apply(state, session, up.InfoPatched(waiting.ask.title))
            yield ReplyCommand(waiting.ticket, {})
        case _:
            assert_never(reply)


def _opened(state: State, session: Session, reply: asks.SessionOpened, waiting: Waiting) -> Effects:
    agent = state.agent(session.agent)
    early = state.early.pop((session.agent, reply.session), [])
    if session.state == "lost":
        # It was closed here while the agent opened it.
        if agent.facts is not None and agent.facts.can_close:
            what = asks.CloseSession(reply.session)
            yield from agents.ask(state, session.agent, what, session.key)
        yield FailCommand(
            waiting.ticket, agents.FAILED, "The session was closed before it was open"
        )
        return
    known = state.session_of(session.agent, reply.session)
    if known is not None and known is not session and known.open:
        problem = f"{agent.title} gave it the id of another session"
        yield from agents.lose(state, session, problem)
        yield FailCommand(waiting.ticket, agents.FAILED, problem)
        return
    session.native = reply.session
    state.natives[session.agent, reply.session] = session.key
    if agent.refused_opening and agent.state != "loggingIn":
        yield from login.go_on(state, session.agent, anew=False)
    for update in early:
        yield from sessions.apply(state, session, update)
    if reply.options is not None:
        yield from sessions.apply(state, session, up.OptionsSet(reply.options))
    if reply.commands is not None:
        yield from sessions.apply(state, session, up.CommandsSet(reply.commands))
    if session.state == "starting":
        session.state = "idle"
    yield ShowSession(session.key, "state")
    yield from turns.opened(state, session)
    yield from stored.opened(state, session)
    yield ReplyCommand(waiting.ticket, shapes.session_entry(state, session))
    if not isinstance(waiting.ask, asks.ResumeSession):
        yield from _set_options(state, session)
    if reply.loaded:
        # Until a prompt is sent it is passed over.
        yield After(REPLAY_S, NextPrompt(session.key))
    else:
        yield from sessions.next_prompt(state, session)


def _set_options(state: State, session: Session) -> Effects:
    """Set the options of a new session that the settings name, by id or by category."""
    spec = state.settings.agents.get(session.agent)
    assert session.native is not None
    for name, value in () if spec is None else spec.options.items():
        known = [o for o in session.options if o.option == name] or [
            o for o in session.options if o.category == name
        ]
        if not known:
            offered = ", ".join(o.option for o in session.options) or "none"
            warning = f"{session.agent} has no option {name!r}; it has: {offered}"
            yield TellUser("warning", warning)
        elif (wrong := sessions.wrong_value(known[0], value)) is not None:
            yield TellUser("warning", f"{session.agent}: {wrong}")
        elif known[0].value != value:
            what = asks.SetOption(session.native, known[0].option, value)
            yield from agents.ask(state, session.agent, what, session.key)


def _prompt_over(state: State, session: Session, waiting: Waiting) -> Effects:
    """A prompt was replied to: now it is known whose end was told just before."""
    end = state.held_ends.pop(session.key, None)
    if end is not None and not waiting.abandoned:
        yield from sessions.apply(state, session, end)


def failed(state: State, ask: int, failure: Failure) -> Effects:
    """An ask was answered with an error, or its agent is gone."""
    waiting = state.asks.pop(ask, None)
    if waiting is None:
        return
    agent = state.agent(waiting.agent)
    message = failure.message
    if not message.startswith(waiting.agent):
        message = f"{agent.title}: {message}"
    match waiting.ask:
        case asks.LogIn():
            yield from login.not_logged_in(state, waiting, failure)
            return
        case asks.Prompt():
            session = state.sessions[waiting.session]
            yield from _prompt_over(state, session, waiting)
            if session.turn is not None and not waiting.abandoned:
                yield from sessions.apply(
                    state, session, up.TurnChanged("idle", "error", failure.message)
                )
        case _:
            pass
    ends = isinstance(waiting.ask, asks.CloseSession | asks.LogOut)
    waits = agent.lives and not (waiting.abandoned or waiting.cancelled or ends)
    if failure.code == sessions.AUTH_REQUIRED and waits:
        yield from login.needed(state, waiting, failure)
        return
    match waiting.ask:
        case asks.NewSession() | asks.ForkSession():
            yield from agents.lose(state, state.sessions[waiting.session], message)
            if state.current == waiting.session:
                state.current = None
        case asks.ResumeSession():
            # What made it fail may be the end of its agent, which is told right after.
            yield After(AFTER_ERROR_S, NotReopened(waiting.session, failure))
            agent.told = agent.told if waiting.ticket is None else failure.message
            yield FailCommand(waiting.ticket, agents.FAILED, message, failure.detail)
            return
        case _:
            pass
    if waiting.ticket is not None:
        agent.told = failure.message
        yield FailCommand(waiting.ticket, agents.FAILED, message, failure.detail)
    elif not (isinstance(waiting.ask, asks.CloseSession) or waiting.cancelled):
        # Some agents answer a prompt that was cancelled with an error.
        token = Failed(waiting.agent, failure.message, message, failure.detail or "")
        yield After(AFTER_ERROR_S, token)


def ask_due(state: State, token: AskDue) -> Effects:
    """An agent has had its time to reply. What it says later is passed over."""
    waiting = state.asks.get(token.number)
    if waiting is None:
        return
    if state.agent(waiting.agent).state == "starting":
        yield After(token.limit_s, token)
        return
    yield WithdrawAsk(waiting.agent, token.number)
    limit = f"no answer within {token.limit_s:g} seconds"
    yield from failed(state, token.number, asks.Failure(NO_ANSWER, limit))


def not_reopened(state: State, token: NotReopened) -> Effects:
    """The agent does not have a session any more: it goes on as a new one, and says so."""
    session = state.sessions[token.session]
    opening = any(
        w.session == session.key and isinstance(w.ask, agents.OPENS)
        for w in (*state.asks.values(), *state.agent(session.agent).blocked)
    )
    if session.state != "starting" or session.native is None or opening:
        return
    agent = state.agent(session.agent)
    if session.agent not in state.settings.agents:
        yield from agents.lose(state, session, token.failure.message)
        agent.lost.append(session.key)
        return
    if token.failure.code == NOT_THERE and session.key not in agent.loads:
        # It says that it can resume, and cannot. It may still be able to load.
        agent.loads.add(session.key)
        yield from agents.reopen(state, session)
        return
    agents.forget(state, session)
    session.native = None
    title = agent.title
    notice = f"{title} could not open this session again and goes on with a new one"
    yield from sessions.apply(
        state, session, up.NoticeGiven("warning", notice, token.failure.message)
    )
    what = asks.NewSession(agents.opening(state, session))
    yield from agents.ask(state, session.agent, what, session.key)


def tell_failure(state: State, token: Failed) -> Effects:
    """Tell of a failure, unless its agent ended and that was told."""
    if token.reason not in state.agent(token.agent).ends:
        yield TellUser("error", token.message, token.detail)
