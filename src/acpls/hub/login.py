"""Logging in to an agent: what it refused for want of a login waits, and goes on by itself.

Invariant: an ask that waits for a login is answered once: by its reply after the login, or
when the user, or the agent's end, says that there will be none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from acpls.catalog.lines import login_command, shell_line
from acpls.effects import (
    After,
    FailCommand,
    ReplyCommand,
    RunProgram,
    ShowAgent,
    ShowQuestions,
    WithdrawAsk,
)
from acpls.hub import agents, shapes
from acpls.hub.putting import put_next, tell_plainly
from acpls.hub.state import CannotDo
from acpls.hub.tokens import ForLogin, NextPrompt
from acpls.session.asks import AuthMethod, LogIn, LogOut, Prompt
from acpls.session.content import Choosable

if TYPE_CHECKING:
    from acpls.events import ProgramRan
    from acpls.hub.state import Agent, AgentState, Effects, State, Waiting
    from acpls.session.asks import AgentFacts, Failure

AGAIN: Final = "again"
LATER: Final = "later"
_METHOD: Final = "method:"


# --- it is needed ----------------------------------------------------------------------


def needed(state: State, waiting: Waiting, failure: Failure) -> Effects:
    """An ask was refused for want of a login. It waits, and the user is asked how."""
    agent = state.agent(waiting.agent)
    agent.refused = True
    agent.refused_opening |= isinstance(waiting.ask, agents.OPENS)
    agent.blocked.append(waiting)
    if waiting.prompt is not None:
        state.sessions[waiting.session].queue.insert(0, waiting.prompt)
    if agent.state == "loggingIn":
        return
    spec = state.settings.agents.get(agent.name)
    wanted = None if spec is None or agent.tried_login else _method(agent, spec.auth_method)
    if wanted is not None:
        agent.tried_login = True
        yield from begin(state, agent.name, wanted)
    else:
        yield from offer(state, agent.name, failure.message)


def offer(state: State, name: str, why: str | None = None) -> Effects:
    """Ask the user how to log in; ``why``: what the agent says of it."""
    agent = state.agent(name)
    title = f"{agent.title} needs a login"
    if agent.refused:
        yield from _become(agent, "needsLogin", title)
    elif agent.state == "loggingIn":
        yield from _become(agent, "ready")
    if state.questions.about_login(name) is not None:
        return
    methods = () if agent.facts is None else agent.facts.auth_methods
    # Of two with one id the agent could not tell which was meant.
    methods = tuple({m.id: m for m in reversed(methods)}.values())[::-1]
    options = (
        *(Choosable(_METHOD + m.id, _label(state, agent, m), "login") for m in methods),
        Choosable(AGAIN, "I have logged in: try again", "login"),
        Choosable(LATER, "Not now", "reject_once"),
    )
    said = [] if why is None else [why]
    said += [line for m in methods if (line := _explained(state, agent, m)) is not None]
    session = next((w.session for w in agent.blocked if w.session), "")
    question = state.questions.login(name, session, title, options, "\n".join(said))
    yield ShowQuestions()
    yield from tell_plainly(state, question)
    yield from put_next(state)


def _label(state: State, agent: Agent, method: AuthMethod) -> str:
    if method.kind == "terminal" and not state.editor.terminals:
        return f"{method.name}: I have run {_line(state, agent, method)}"
    if method.kind == "env_var" and method.variables:
        return f"{method.name}: I have set {', '.join(method.variables)}"
    return method.name


def _explained(state: State, agent: Agent, method: AuthMethod) -> str | None:
    match method.kind:
        case "terminal" if not state.editor.terminals:
            return f"{method.name}: run this in a terminal: {_line(state, agent, method)}"
        case "env_var" if method.variables:
            variables = ", ".join(method.variables)
            return f"{method.name}: set {variables} in agents.{agent.name}.env"
        case _:
            return method.description


def _line(state: State, agent: Agent, method: AuthMethod) -> str:
    """What logs in from any terminal."""
    if agent.name in state.shared_agents or agent.name not in state.settings.agents:
        return login_command(agent.name, method.id)
    # The command line does not know the agents that only this editor's settings have.
    argv, _, _ = program(state, agent.name, method)
    return shell_line([*(f"{name}={value}" for name, value in method.env), *argv])


# --- it is done ------------------------------------------------------------------------


def chosen(state: State, name: str, option: str) -> Effects:
    """The user chose how to log in."""
    if option == LATER:
        title = state.agent(name).title
        message = f"{title} needs a login; acpls.agent.login asks for it again"
        yield from _give_up(state, name, message)
        return
    method = _method(state.agent(name), option.removeprefix(_METHOD))
    if option == AGAIN or method is None:
        yield from go_on(state, name, anew=True)
    else:
        yield from begin(state, name, method)


def begin(state: State, name: str, method: AuthMethod, ticket: object = None) -> Effects:
    """Log in by a method. What only the user can do is taken for done, and tried."""
    agent = state.agent(name)
    match method.kind:
        case "terminal" if state.editor.terminals and name in state.settings.agents:
            argv, env, cwd = program(state, name, method)
            yield from _become(agent, "loggingIn", f"waits for {method.name}")
            yield RunProgram(ForLogin(name), f"Log in to {agent.title}", argv, env, cwd)
            yield ReplyCommand(ticket, shapes.agent(agent))
        case "terminal" | "env_var":
            yield from go_on(state, name, anew=True)
            yield ReplyCommand(ticket, shapes.agent(agent))
        case _:
            yield from _become(agent, "loggingIn", f"waits for {method.name}")
            yield from agents.ask(state, name, LogIn(method.id), "", ticket)


def program(
    state: State, name: str, method: AuthMethod
) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...], str | None]:
    """What is to be run in a terminal: arguments, environment, folder."""
    spec = state.settings.agents[agents.meant(state, name)]
    own = (spec.command, *spec.args) if method.command is None else (method.command,)
    return (*own, *method.args), (*spec.env.items(), *method.env), spec.cwd


def program_ran(state: State, token: ForLogin, event: ProgramRan) -> Effects:
    """The program that logs in has ended."""
    agent = state.agent(token.agent)
    if event.exit_code == 0 and agent.wants_user:
        # Also where it was given up before: the user has logged in all the same.
        yield from go_on(state, token.agent, anew=True)
    elif agent.state != "loggingIn":
        return
    elif event.exit_code is None:
        yield from offer(state, token.agent, "The editor could not run the program")
    else:
        why = f"The program ended with exit code {event.exit_code}"
        yield from offer(state, token.agent, why)


def logged_in(state: State, waiting: Waiting) -> Effects:
    """The agent says that the user is logged in."""
    agent = state.agent(waiting.agent)
    yield from go_on(state, agent.name, anew=False)
    yield ReplyCommand(waiting.ticket, shapes.agent(agent))


def not_logged_in(state: State, waiting: Waiting, failure: Failure) -> Effects:
    """The agent says that the login failed."""
    agent = state.agent(waiting.agent)
    yield FailCommand(waiting.ticket, agents.FAILED, failure.message, failure.detail)
    if agent.wants_user:
        yield from offer(state, agent.name, f"The login failed: {failure.message}")


def go_on(state: State, name: str, *, anew: bool) -> Effects:
    """Ask again what was refused; ``anew``: of a new process, which knows of the login."""
    agent = state.agent(name)
    if anew and name in state.settings.agents:
        yield from agents.restart(state, name)
        return
    if anew:
        yield from _give_up(state, name, f"{name} is not in the settings any more")
        return
    agent.refused = agent.refused_opening = False
    blocked, agent.blocked = agent.blocked, []
    question = state.questions.about_login(name)
    if question is not None:
        yield from state.questions.settle(question, "agent")
    yield from _become(agent, "ready")
    yield from agents.reopen_lost(state, name)
    for waiting in blocked:
        if not isinstance(waiting.ask, Prompt):
            yield from agents.ask(state, name, waiting.ask, waiting.session, waiting.ticket)
    for session in state.sessions.values():
        if session.agent == name and session.queue:
            yield After(0, NextPrompt(session.key))


def _give_up(state: State, name: str, message: str) -> Effects:
    """The user does not log in now: prompts stay in their queues, all else fails."""
    agent = state.agent(name)
    blocked, agent.blocked = agent.blocked, []
    for waiting in blocked:
        session = state.sessions.get(waiting.session)
        if session is not None and session.state == "starting":
            yield from agents.lose(state, session, message, agent_lives=True)
            agent.lost.append(session.key)
        yield FailCommand(waiting.ticket, agents.FAILED, message)


# --- by command ------------------------------------------------------------------------


def command(state: State, name: str, method_id: str | None, ticket: object) -> Effects:
    """``acpls.agent.login``: by a method, or by the one that the user is asked for."""
    agent = state.agent(name)
    if method_id is None:
        if agent.is_ready:
            yield from offer(state, name)
        else:
            agent.wants_login = True
            yield from agents.start(state, name)
        yield ReplyCommand(ticket, shapes.agent(agent))
        return
    facts = _facts(agent)
    method = _method(agent, method_id)
    if method is None:
        offered = ", ".join(m.id for m in facts.auth_methods) or "none"
        raise CannotDo(f"{name} has no login {method_id!r}; it has: {offered}", field="methodId")
    if method.kind == "terminal" and not state.editor.terminals:
        argv, env, cwd = program(state, name, method)
        answer = {"command": argv[0], "args": list(argv[1:]), "env": dict(env), "cwd": cwd}
        yield ReplyCommand(ticket, shapes.lean(**answer))
        return
    yield from begin(state, name, method, ticket)


def cancel(state: State, name: str) -> Effects:
    """Wait no longer for a login that was begun; the user may choose again."""
    agent = state.agent(name)
    if agent.state != "loggingIn":
        return
    begun = {n: w for n, w in state.asks.items() if w.agent == name and isinstance(w.ask, LogIn)}
    for number, waiting in begun.items():
        del state.asks[number]
        yield WithdrawAsk(name, number)
        yield FailCommand(waiting.ticket, agents.FAILED, "The login was cancelled")
    for question in state.questions.elicited(name, ""):
        yield from state.questions.settle(question, "cancel")
    yield from offer(state, name, "The login was cancelled")


def log_out(state: State, name: str, ticket: object) -> Effects:
    """``acpls.agent.logout``."""
    agent = state.agent(name)
    if not _facts(agent).can_log_out:
        raise CannotDo(f"{agent.title} cannot log out by itself", field="agent")
    yield from agents.ask(state, name, LogOut(), "", ticket)


def logged_out(state: State, waiting: Waiting) -> Effects:
    """The agent says that the user is logged out."""
    agent = state.agent(waiting.agent)
    agent.tried_login = agent.refused = True
    if agent.state != "loggingIn":
        yield from _become(agent, "needsLogin", f"{agent.title} is logged out")
    yield ReplyCommand(waiting.ticket, shapes.agent(agent))


def _facts(agent: Agent) -> AgentFacts:
    """What an agent that is ready said of itself. Raises ``CannotDo`` for any other."""
    if agent.facts is None or not agent.is_ready:
        what = "is still starting" if agent.lives else "does not run; acpls.agent.start starts it"
        raise CannotDo(f"{agent.name} {what}", field="agent")
    return agent.facts


def _become(agent: Agent, new: AgentState, message: str | None = None) -> Effects:
    agent.state, agent.message = new, message
    yield ShowAgent(agent.name, new, message)


def _method(agent: Agent, method: str | None) -> AuthMethod | None:
    methods = () if agent.facts is None else agent.facts.auth_methods
    return next((m for m in methods if m.id == method), None)
