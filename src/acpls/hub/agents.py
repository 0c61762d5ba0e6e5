"""Agents start, get ready, and end, and their sessions with them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from acpls.effects import (
    After,
    EndAgent,
    FailCommand,
    SendAsk,
    ShowAgent,
    ShowSession,
    StartAgent,
    TellUser,
)
from acpls.hub import claims, holding, turns
from acpls.hub.putting import put_next
from acpls.hub.state import CannotDo, Waiting
from acpls.hub.tokens import AskDue
from acpls.session import asks

if TYPE_CHECKING:
    from acpls.events import AgentEnded, AgentMisspoke, AgentReady, AgentStarting, LeftOut
    from acpls.hub.state import Agent, Effects, State
    from acpls.questions import SettledBy
    from acpls.session.asks import Ask
    from acpls.session.state import QueuedPrompt, Session

REPLY_LIMIT_S: Final = 60.0
# To open a session an agent may first fetch and start the servers it is given.
OPEN_LIMIT_S: Final = 300.0
OPENS: Final = (asks.NewSession, asks.ResumeSession, asks.ForkSession)
# These take as long as the work, or the user, takes.
_ENDLESS: Final = (asks.Prompt, asks.Cancel, asks.LogIn)

FAILED: Final = -32603


def meant(state: State, name: str) -> str:
    """The name of a configured agent. Raises ``CannotDo`` for any other."""
    if name not in state.settings.agents:
        known = ", ".join(state.settings.agents)
        message = f"No agent is called {name!r}; configured: {known}"
        raise CannotDo(message, field="agent")
    return name


def start(state: State, name: str) -> Effects:
    """See to it that the agent runs. Raises ``CannotDo`` for a name that is not configured."""
    spec = state.settings.agents[meant(state, name)]
    agent = state.agent(name)
    if not agent.lives:
        agent.state, agent.message, agent.exit_code = "starting", None, None
        yield StartAgent(name, spec)
        yield ShowAgent(name, "starting")


def end(state: State, name: str, reason: str) -> Effects:
    """Stop the agent, if it runs; its sessions are lost, and it can open them again.

    It may be started again before its end is told, and what is open then is the new one's.
    """
    agent = state.agent(name)
    if not agent.lives:
        return
    agent.state = "stopped"
    agent.ending += 1
    yield EndAgent(name)
    for session in state.sessions.values():
        if session.agent == name and session.state not in {"lost", "starting"}:
            agent.lost.append(session.key)
            yield from lose(state, session, reason)
    yield from _drop_login(state, agent, reason)


def restart(state: State, name: str) -> Effects:
    """End the agent, if it runs, and start it again, with the sessions that it had."""
    agent = state.agent(name)
    meant(state, name)
    # What waits for a login, and what the old process was to open, is for the new one, but
    # for what is about sessions that are not open there yet.
    again = [w for w in agent.blocked if not w.session or isinstance(w.ask, OPENS)]
    agent.blocked = [w for w in agent.blocked if w not in again]
    opens = [n for n, w in state.asks.items() if w.agent == name and isinstance(w.ask, OPENS)]
    again += [state.asks.pop(number) for number in opens]
    yield from end(state, name, f"{agent.title} is being restarted")
    yield from start(state, name)
    yield from reopen_lost(state, name)
    for waiting in again:
        yield from ask(state, name, waiting.ask, waiting.session, waiting.ticket)
    yield from put_next(state)


def reopen_lost(state: State, name: str) -> Effects:
    """Open the sessions again that were lost with the agent, or for want of a login."""
    agent = state.agent(name)
    lost, agent.lost = [state.sessions[key] for key in dict.fromkeys(agent.lost)], []
    for session in lost:
        if session.state == "lost":
            yield from reopen(state, session)


def opening(state: State, session: Session) -> asks.Opening:
    """What a session is opened with: its folder, and what the settings say of its agent."""
    spec = state.settings.agents.get(session.agent)
    roots = state.editor.roots
    others = tuple(root for root in roots if root != session.cwd) if session.cwd in roots else ()
    if spec is None:
        return asks.Opening(session.cwd, others)
    return asks.Opening(session.cwd, others, spec.mcp_servers, spec.system_prompt)


def reopen(state: State, session: Session, ticket: object = None) -> Effects:
    """Open a lost session again: one that the agent may still know, or else one whose
    prompts have never been sent.
    """
    known = session.agent in state.settings.agents
    if session.closed or not known or (session.native is None and not session.queue):
        return
    yield from start(state, session.agent)
    for touched in session.reopen():
        yield ShowSession(session.key, *touched)
    what: Ask = asks.NewSession(opening(state, session))
    if session.native is not None:
        state.natives[session.agent, session.native] = session.key
        what = asks.ResumeSession(session.native, opening(state, session))
    yield from ask(state, session.agent, what, session.key, ticket)


def ask(
    state: State,
    name: str,
    what: Ask,
    session: str = "",
    ticket: object = None,
    prompt: QueuedPrompt | None = None,
) -> Effects:
    """Ask the agent something; the reply finds its way back by number."""
    number = state.number("ask")
    # A cancel is never replied to.
    if not isinstance(what, asks.Cancel):
        state.asks[number] = Waiting(name, what, session, ticket, prompt)
    yield SendAsk(name, number, what)
    if not isinstance(what, _ENDLESS):
        limit_s = OPEN_LIMIT_S if isinstance(what, OPENS) else REPLY_LIMIT_S
        yield After(limit_s, AskDue(number, limit_s))


def starting(state: State, event: AgentStarting) -> Effects:
    """The process is being started."""
    agent = state.agent(event.agent)
    agent.state, agent.message = "starting", event.doing
    yield ShowAgent(event.agent, "starting", event.doing)


def ready(state: State, event: AgentReady) -> Effects:
    """The agent answered ``initialize``."""
    agent = state.agent(event.agent)
    agent.state, agent.facts, agent.message = "ready", event.facts, None
    agent.refused = agent.refused_opening = False
    agent.loads.clear()
    yield ShowAgent(event.agent, "ready")


def left_out(state: State, event: LeftOut) -> Effects:
    """The agent cannot take something that it was to be given; each thing is told once."""
    told = state.agent(event.agent).left_out
    if event.what not in told:
        told.add(event.what)
        yield TellUser("warning", f"{event.agent}: {event.what}")


def misspoke(event: AgentMisspoke) -> Effects:
    """The agent sent something unusable; it is in the log, and the session goes on."""
    yield TellUser("warning", f"{event.agent}: {event.problem}")


def ended(state: State, event: AgentEnded) -> Effects:
    """The agent is gone: its questions settle unanswered, its sessions are lost."""
    agent = state.agent(event.agent)
    agent.ends.add(event.reason)
    # The next process may give the same ids to other sessions.
    for key in [key for key in state.early if key[0] == event.agent]:
        del state.early[key]
    # After a restart the new process is being started when the old one's end is told, and
    # all that is open now is for the new one.
    if agent.ending:
        agent.ending -= 1
        if agent.ending or agent.lives:
            return
    if agent.state != "stopped":
        agent.lost = []
    agent.state, agent.message, agent.exit_code = "ended", event.reason, event.exit_code
    for session in state.sessions.values():
        if session.agent == event.agent and session.state != "lost":
            agent.lost.append(session.key)
            yield from lose(state, session, event.reason)
    yield from _drop_login(state, agent, event.reason)
    yield ShowAgent(event.agent, "ended", event.reason, event.exit_code)
    if not event.wanted:
        known = agent.told == event.reason
        yield TellUser("info" if known else "error", event.reason, event.detail)
        if agent.lost:
            yield TellUser(
                "info", f"acpls.agent.restart starts {event.agent} and its sessions again"
            )
    agent.told = None
    yield from put_next(state)


def _drop_login(state: State, agent: Agent, reason: str) -> Effects:
    """Nobody is there any more to log in to."""
    agent.wants_login = False
    blocked, agent.blocked = agent.blocked, []
    for waiting in blocked:
        session = state.sessions.get(waiting.session)
        if session is not None and session.state == "starting":
            yield from lose(state, session, reason)
            agent.lost.append(session.key)
        agent.told = agent.told if waiting.ticket is None else reason
        yield FailCommand(waiting.ticket, FAILED, reason)
    question = state.questions.about_login(agent.name)
    for asked in [*state.questions.elicited(agent.name), *([question] if question else [])]:
        yield from state.questions.settle(asked, "agent", agent_lives=False)


def forget(state: State, session: Session) -> None:
    """The agent's id is the session's no more; another may have been given it since."""
    native = (session.agent, session.native or "")
    if state.natives.get(native) == session.key:
        del state.natives[native]


def lose(state: State, session: Session, reason: str, *, agent_lives: bool = False) -> Effects:
    """The session is over on the agent's side."""
    by: SettledBy = "cancel" if agent_lives else "agent"
    for question in state.questions.pending(session.key):
        if question.kind == "login":
            # Others may wait for the login as well.
            continue
        yield from state.questions.settle(question, by, agent_lives=agent_lives)
    for touched in session.lose(reason):
        yield ShowSession(session.key, *touched)
    forget(state, session)
    state.held_ends.pop(session.key, None)
    yield from claims.end_turn(state, session)
    yield from holding.cancel(state, session.key)
    yield from turns.ends(state, session)
