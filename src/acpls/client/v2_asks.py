"""How ACP 2 says each ask, and what a reply to it means.

Invariant: an ask that the agent did not say it can take is not sent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, assert_never

from acpls.client import lift, lift_facts, lift_opening, lift_session, requests
from acpls.client.dialect import Call
from acpls.events import AskFailed, Replied
from acpls.session.asks import (
    Cancel,
    CancelTerminal,
    CancelToolCall,
    CloseSession,
    DeleteSession,
    Done,
    Failure,
    ForkSession,
    ListSessions,
    LogIn,
    LogOut,
    NewSession,
    OptionsReplied,
    Prompt,
    PromptTaken,
    ResumeSession,
    SessionOpened,
    SetOption,
    SetTitle,
)
from acpls.session.updates import ReplayEnded
from acpls.wire import v2 as wire

if TYPE_CHECKING:
    from acpls.client.v2_state import AgentState
    from acpls.events import AgentEvent
    from acpls.session.asks import Ask, McpServer, Opening, Reply
    from acpls.session.content import Json

RESUME: Final = "session/resume"


# --- asks ----------------------------------------------------------------------------


def call(state: AgentState, ask: Ask) -> Call | Failure:
    """The message for an ask."""
    can = state.facts
    match ask:
        case NewSession(opening):
            return _opening(state, "session/new", {}, opening)
        case ResumeSession():
            return _resume(state, ask)
        case ForkSession(session, opening):
            if not can.can_fork:
                return requests.cannot("copy sessions")
            return _opening(state, "session/fork", {"sessionId": session}, opening)
        case ListSessions(cwd, cursor):
            if not can.can_list:
                return requests.cannot("list sessions")
            return Call("session/list", lift.filled(cwd=cwd, cursor=cursor))
        case DeleteSession(session):
            if not can.can_delete:
                return requests.cannot("delete sessions")
            return Call("session/delete", {"sessionId": session})
        case SetTitle(session, title):
            if not can.can_set_title:
                return requests.cannot("give sessions a title")
            return Call("session/set_title", {"sessionId": session, "title": title})
        case LogIn(method):
            return _log_in(state, method)
        case LogOut():
            return Call("auth/logout", {}) if can.can_log_out else requests.cannot("log out")
        case Prompt(session, blocks):
            if not blocks:
                return Failure(requests.INVALID_PARAMS, "The prompt is empty")
            # Whatever is told from now on is news.
            state.session(session).muted = False
            prompt = [lift.lowered(x) for x in blocks]
            return Call("session/prompt", {"sessionId": session, "prompt": prompt})
        case Cancel(session):
            return Call("session/cancel", {"sessionId": session}, expects_reply=False)
        case CancelToolCall(session, tool_call):
            return Call("tool_call/cancel", {"sessionId": session, "toolCallId": tool_call})
        case CancelTerminal(session, terminal):
            return Call("terminal/cancel", {"sessionId": session, "terminalId": terminal})
        case SetOption(session, option, value):
            kind = "boolean" if isinstance(value, bool) else "id"
            of = {"sessionId": session, "configId": option}
            return Call("session/set_config_option", {**of, "type": kind, "value": value})
        case CloseSession(session):
            if not can.can_close:
                return requests.cannot("close sessions")
            return Call("session/close", {"sessionId": session})
    assert_never(ask)


def _opening(state: AgentState, method: str, of: Json, opening: Opening) -> Call | Failure:
    return lift_opening.call(method, of, opening, state.name, state.facts, _mcp_server)


def _mcp_server(it: McpServer) -> Json:
    said: dict[str, object] = {"type": it.kind, "name": it.name}
    if it.kind == "stdio":
        said["command"] = it.command
        lists: dict[str, object] = {"args": list(it.args), "env": lift_opening.pairs(it.env)}
    else:
        said["url"] = it.url
        lists = {"headers": lift_opening.pairs(it.headers)}
    return said | {name: value for name, value in lists.items() if value}


def _resume(state: AgentState, ask: ResumeSession) -> Call | Failure:
    if not state.facts.can_resume:
        return requests.cannot("open a session again")
    of: dict[str, object] = {"sessionId": ask.session}
    if ask.replay:
        of["replayFrom"] = {"type": "start"}
    said = _opening(state, RESUME, of, ask.opening)
    if isinstance(said, Call):
        session = state.session(ask.session)
        # What is told again comes before the reply.
        session.cwd = ask.opening.cwd
        session.replaying = ask.replay
        session.muted = not ask.replay
    return said


def _log_in(state: AgentState, method: str) -> Call | Failure:
    for it in state.facts.auth_methods:
        if it.id == method and it.kind == lift_facts.TERMINAL:
            return Failure(requests.INVALID_PARAMS, "This login is done in a terminal")
    return Call("auth/login", {"methodId": method})


# --- replies -------------------------------------------------------------------------


def replied(state: AgentState, number: int, ask: Ask, result: object) -> tuple[AgentEvent, ...]:
    """The events of a result. Raises ``Misfit``; the ask has ``failed`` then."""
    before: tuple[AgentEvent, ...] = ()
    after: tuple[AgentEvent, ...] = ()
    reply: Reply = Done()
    match ask:
        case NewSession(opening):
            reply = _opened(state, opening, "session/new", result)
        case ForkSession(_, opening):
            reply = _opened(state, opening, "session/fork", result)
        case ResumeSession():
            before, reply = _resumed(state, ask, result)
        case ListSessions():
            reply = lift_opening.listed(
                lift.read(wire.ListSessionsResponse, result, "session/list")
            )
        case Prompt():
            it = lift.read(wire.PromptResponse, result, "session/prompt")
            reply = PromptTaken(it.message_id)
        case SetOption():
            where = "session/set_config_option"
            answer = lift.read(wire.SetSessionConfigOptionResponse, result, where)
            reply = OptionsReplied(lift_session.options(answer.config_options))
        case CloseSession(session) | DeleteSession(session):
            state.forget(session)
        case Cancel():
            return ()
        case SetTitle(session):
            after = state.tell(session, *lift_opening.retitled(result))
        case LogIn() | LogOut() | CancelToolCall() | CancelTerminal():
            pass
        case _:
            assert_never(ask)
    return (*before, Replied(state.name, number, reply), *after)


def failed(state: AgentState, number: int, ask: Ask, failure: Failure) -> tuple[AgentEvent, ...]:
    """The event of an error reply."""
    if isinstance(ask, CloseSession) and failure.code == requests.RESOURCE_NOT_FOUND:
        # The agent has no such session, which is what was wanted.
        return replied(state, number, ask, None)
    if isinstance(ask, ResumeSession):
        session = state.session(ask.session)
        session.muted = session.replaying = False
    return (AskFailed(state.name, number, failure),)


def _opened(state: AgentState, opening: Opening, where: str, result: object) -> SessionOpened:
    it = lift.read(wire.NewSessionResponse, result, where)
    state.session(it.session_id).cwd = opening.cwd
    return _session_opened(it.session_id, it)


def _resumed(
    state: AgentState, ask: ResumeSession, result: object
) -> tuple[tuple[AgentEvent, ...], SessionOpened]:
    it = lift.read(wire.ResumeSessionResponse, {} if result is None else result, RESUME)
    session = state.session(ask.session)
    # Agents older than ``replay_complete`` end with the reply.
    ended = state.tell(ask.session, ReplayEnded()) if session.replaying else ()
    session.muted = session.replaying = False
    name = lift_opening.named(result, ask.session)
    state.session(name).cwd = ask.opening.cwd
    return ended, _session_opened(name, it)


def _session_opened(session: str, it: wire.ResumeSessionResponse) -> SessionOpened:
    options, commands = it.config_options, it.available_commands
    return SessionOpened(
        session,
        None if options is None else lift_session.options(options),
        None if commands is None else lift_session.commands(commands),
    )
