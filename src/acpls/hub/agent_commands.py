"""What the commands about agents do. Arguments come checked by the rim.

Invariant: each command that somebody waits for is answered once, now or later.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from acpls.effects import ReplyCommand, ReplyLog
from acpls.hub import agents, login, meant, shapes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from acpls.hub.state import Effects, State

    Arguments: TypeAlias = Mapping[str, Any]
    Run: TypeAlias = Callable[[State, Arguments, object], Effects]

LOG_LINES = 200


def agent_list(state: State, _: Arguments, ticket: object) -> Effects:
    """All configured agents."""
    names = state.settings.agents
    yield ReplyCommand(ticket, [shapes.agent(state.agent(name)) for name in names])


def agent_start(state: State, arguments: Arguments, ticket: object) -> Effects:
    """Start an agent that does not run."""
    name = meant.agent(state, arguments)
    if not state.agent(name).lives:
        yield from agents.restart(state, name)
    yield ReplyCommand(ticket, shapes.agent(state.agent(name)))


def agent_restart(state: State, arguments: Arguments, ticket: object) -> Effects:
    """End an agent and start it again, with its sessions."""
    name = meant.agent(state, arguments)
    yield from agents.restart(state, name)
    yield ReplyCommand(ticket, shapes.agent(state.agent(name)))


def agent_stop(state: State, arguments: Arguments, ticket: object) -> Effects:
    """End an agent."""
    name = meant.agent(state, arguments)
    yield from agents.end(state, name, f"{state.agent(name).title} was stopped")
    yield ReplyCommand(ticket, shapes.agent(state.agent(name)))


def agent_log(state: State, arguments: Arguments, ticket: object) -> Effects:
    """The last words of an agent."""
    name = meant.agent(state, arguments)
    yield ReplyLog(ticket, name, arguments.get("lines", LOG_LINES))


def agent_select(state: State, arguments: Arguments, ticket: object) -> Effects:
    """Make an agent the default in this editor."""
    state.default_agent = meant.agent(state, arguments)
    yield ReplyCommand(ticket, {"agent": state.default_agent})


def agent_login(state: State, arguments: Arguments, ticket: object) -> Effects:
    """Log in to an agent, by a method or by the one that the user chooses."""
    name = meant.agent(state, arguments)
    yield from login.command(state, name, arguments.get("methodId"), ticket)


def agent_cancel_login(state: State, arguments: Arguments, ticket: object) -> Effects:
    """Wait no longer for a login."""
    name = meant.agent(state, arguments)
    yield from login.cancel(state, name)
    yield ReplyCommand(ticket, shapes.agent(state.agent(name)))


def agent_logout(state: State, arguments: Arguments, ticket: object) -> Effects:
    """Log out of an agent."""
    yield from login.log_out(state, meant.agent(state, arguments), ticket)


AGENT_COMMANDS: dict[str, Run] = {
    "acpls.agent.list": agent_list,
    "acpls.agent.start": agent_start,
    "acpls.agent.restart": agent_restart,
    "acpls.agent.stop": agent_stop,
    "acpls.agent.log": agent_log,
    "acpls.agent.select": agent_select,
    "acpls.agent.login": agent_login,
    "acpls.agent.cancelLogin": agent_cancel_login,
    "acpls.agent.logout": agent_logout,
}
