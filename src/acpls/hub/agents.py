"""Agents start, get ready, and end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acpls.effects import EndAgent, SendAsk, ShowAgent, ShowSession, StartAgent, TellUser
from acpls.hub import asking, claims
from acpls.hub.state import CannotDo, Waiting
from acpls.session.asks import Cancel

if TYPE_CHECKING:
    from acpls.events import AgentEnded, AgentMisspoke, AgentReady, AgentStarting
    from acpls.hub.state import Effects, State
    from acpls.questions import SettledBy
    from acpls.session.asks import Ask
    from acpls.session.state import Session


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


def end(state: State, name: str) -> Effects:
    """Stop the agent, if it runs. It may be started again before its end is told."""
    agent = state.agent(name)
    if agent.lives:
        agent.state = "stopped"
        yield EndAgent(name)


def ask(state: State, name: str, what: Ask, session: str, ticket: object = None) -> Effects:
    """Ask the agent something; the reply finds its way back by number."""
    number = state.number("ask")
    # A cancel is never replied to.
    if not isinstance(what, Cancel):
        state.asks[number] = Waiting(name, what, session, ticket)
    yield SendAsk(name, number, what)


def starting(state: State, event: AgentStarting) -> Effects:
    """The process is being started."""
    agent = state.agent(event.agent)
    agent.state, agent.message = "starting", event.doing
    yield ShowAgent(event.agent, "starting", event.doing)


def ready(state: State, event: AgentReady) -> Effects:
    """The agent answered ``initialize``."""
    agent = state.agent(event.agent)
    agent.state, agent.facts, agent.message = "ready", event.facts, None
    yield ShowAgent(event.agent, "ready")


def misspoke(event: AgentMisspoke) -> Effects:
    """The agent sent something unusable; it is in the log, and the session goes on."""
    yield TellUser("warning", f"{event.agent}: {event.problem}")


def ended(state: State, event: AgentEnded) -> Effects:
    """The agent is gone: its questions settle unanswered, its sessions are lost."""
    agent = state.agent(event.agent)
    agent.last_end = event.reason
    # After a restart the new process is being started when the old one's end is told; what
    # was asked meanwhile is for the new one.
    restarted = event.wanted and agent.state == "starting"
    if not restarted:
        agent.state, agent.message, agent.exit_code = "ended", event.reason, event.exit_code
    for session in state.sessions.values():
        spared = session.state == "lost" or (restarted and session.native is None)
        if session.agent == event.agent and not spared:
            yield from lose(state, session, event.reason)
    # The next process may give the same ids to other sessions.
    for key in [key for key in state.early if key[0] == event.agent]:
        del state.early[key]
    if not restarted:
        yield ShowAgent(event.agent, "ended", event.reason, event.exit_code)
    if not event.wanted:
        known = agent.told == event.reason
        yield TellUser("info" if known else "error", event.reason, event.detail)
    agent.told = None
    yield from asking.put_next(state)


def lose(state: State, session: Session, reason: str, *, agent_lives: bool = False) -> Effects:
    """The session is over on the agent's side."""
    by: SettledBy = "cancel" if agent_lives else "agent"
    for question in state.questions.pending(session.key):
        yield from state.questions.settle(question, by, agent_lives=agent_lives)
    for touched in session.lose(reason):
        yield ShowSession(session.key, *touched)
    if session.native is not None:
        state.natives.pop((session.agent, session.native), None)
    state.held_ends.pop(session.key, None)
    yield from claims.end_turn(state, session)
