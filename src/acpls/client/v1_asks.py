"""How ACP 1 says each ask, and what a reply to it means.

Invariant: an ask that the agent did not say it can take is not sent.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, assert_never

from acpls.client import lift, lift_opening, requests
from acpls.client.dialect import Call
from acpls.client.v1_state import MODE
from acpls.events import AskFailed, Replied
from acpls.session import updates
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
from acpls.wire import v1 as wire

if TYPE_CHECKING:
    from acpls.client.v1_state import AgentState
    from acpls.events import AgentEvent
    from acpls.session.asks import Ask, McpServer, Opening, Reply
    from acpls.session.content import Json

LOAD: Final = "session/load"
RESUME: Final = "session/resume"


# --- asks ----------------------------------------------------------------------------


def call(state: AgentState, ask: Ask) -> Call | Failure:
    """The message for an ask. A prompt sent means that the session runs."""
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
            return Call("authenticate", {"methodId": method})
        case LogOut():
            return Call("logout", {}) if can.can_log_out else requests.cannot("log out")
        case Prompt():
            return _prompt(state, ask)
        case Cancel(session):
            return Call("session/cancel", {"sessionId": session}, expects_reply=False)
        case CancelToolCall():
            return requests.cannot("stop one tool call: it speaks ACP 1")
        case CancelTerminal():
            return requests.cannot("stop one terminal: it speaks ACP 1")
        case SetOption():
            return _set_option(state, ask)
        case CloseSession(session):
            if not can.can_close:
                return requests.cannot("close sessions")
            return Call("session/close", {"sessionId": session})
    assert_never(ask)


def _opening(state: AgentState, method: str, of: Json, opening: Opening) -> Call | Failure:
    return lift_opening.call(method, of, opening, state.name, state.facts, _mcp_server)


def _mcp_server(it: McpServer) -> Json:
    if it.kind == "stdio":
        env = lift_opening.pairs(it.env)
        return {"name": it.name, "command": it.command, "args": list(it.args), "env": env}
    headers = lift_opening.pairs(it.headers)
    return {"type": it.kind, "name": it.name, "url": it.url, "headers": headers}


def _resume(state: AgentState, ask: ResumeSession) -> Call | Failure:
    if ask.replay and not state.facts.can_replay:
        return requests.cannot("tell a session again")
    if not state.facts.can_resume:
        return requests.cannot("open a session again")
    method = RESUME if state.resumes and not ask.replay else LOAD
    said = _opening(state, method, {"sessionId": ask.session}, ask.opening)
    if isinstance(said, Call):
        session = state.session(ask.session)
        session.break_message()
        # What is told again comes before the reply, and may go on after it.
        session.cwd = ask.opening.cwd
        session.muted = not ask.replay
    return said


def _prompt(state: AgentState, ask: Prompt) -> Call | Failure:
    if not ask.blocks:
        return Failure(requests.INVALID_PARAMS, "The prompt is empty")
    session = state.session(ask.session)
    session.prompting = session.awaiting = True
    session.muted = False
    session.break_message()
    events = state.turn(ask.session, updates.TurnChanged("running"))
    params = {"sessionId": ask.session, "prompt": [lift.lowered(x) for x in ask.blocks]}
    return Call("session/prompt", params, events=events)


def _set_option(state: AgentState, ask: SetOption) -> Call | Failure:
    of = {"sessionId": ask.session}
    if state.session(ask.session).made(ask.option):
        if not isinstance(ask.value, str):
            return Failure(requests.INVALID_PARAMS, f"The {ask.option} is chosen by its id")
        if ask.option == MODE:
            return Call("session/set_mode", {**of, "modeId": ask.value})
        return Call("session/set_model", {**of, "modelId": ask.value})
    value = {"type": "boolean"} if isinstance(ask.value, bool) else {}
    params = {**of, "configId": ask.option, **value, "value": ask.value}
    return Call("session/set_config_option", params)


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
        case Prompt(session):
            it = lift.read(wire.PromptResponse, result, "session/prompt")
            before = state.ended(session, updates.TurnChanged("idle", it.stop_reason))
            reply = PromptTaken()
        case SetOption():
            before, reply = _option_set(state, ask, result)
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
    """The events of an error reply; that of a prompt ends its turn."""
    if isinstance(ask, CloseSession) and failure.code == requests.RESOURCE_NOT_FOUND:
        # The agent has no such session, which is what was wanted.
        return replied(state, number, ask, None)
    events: tuple[AgentEvent, ...] = ()
    if isinstance(ask, Prompt):
        change = updates.TurnChanged("idle", "error", error=failure.message)
        events = state.ended(ask.session, change)
    if isinstance(ask, ResumeSession):
        state.session(ask.session).muted = False
        if failure.code == requests.METHOD_NOT_FOUND:
            # Some agents advertise it all the same; the next time it is loaded.
            state.resumes = False
    return (*events, AskFailed(state.name, number, failure))


def _opened(state: AgentState, opening: Opening, where: str, result: object) -> SessionOpened:
    it = lift.read(wire.NewSessionResponse, result, where)
    state.session(it.session_id).cwd = opening.cwd
    return _with_options(state, it.session_id, it)


def _resumed(
    state: AgentState, ask: ResumeSession, result: object
) -> tuple[tuple[AgentEvent, ...], SessionOpened]:
    it = lift.read(wire.LoadSessionResponse, {} if result is None else result, LOAD)
    ended = state.tell(ask.session, updates.ReplayEnded()) if ask.replay else ()
    state.session(ask.session).break_message()
    session = lift_opening.named(result, ask.session)
    state.session(session).cwd = ask.opening.cwd
    loaded = not (ask.replay or state.resumes)
    return ended, replace(_with_options(state, session, it), loaded=loaded)


def _with_options(state: AgentState, session: str, it: wire.LoadSessionResponse) -> SessionOpened:
    of = state.session(session)
    if it.config_options is not None:
        of.set_config(it.config_options)
    if it.modes is not None:
        of.set_modes(it.modes)
    if it.models is not None:
        of.set_models(it.models)
    told = (it.config_options, it.modes, it.models) != (None, None, None)
    return SessionOpened(session, of.options() if told else None)


def _option_set(
    state: AgentState, ask: SetOption, result: object
) -> tuple[tuple[AgentEvent, ...], OptionsReplied]:
    of = state.session(ask.session)
    if isinstance(result, dict) and "configOptions" in result:
        where = "session/set_config_option"
        it = lift.read(wire.SetSessionConfigOptionResponse, result, where)
        of.set_config(it.config_options)
        return (), OptionsReplied(of.options())
    # Modes and models are set without a word, and some agents tell no update either.
    if isinstance(ask.value, bool):
        return (), OptionsReplied()
    of.chose(ask.option, ask.value)
    change = updates.OptionChanged(ask.option, ask.value)
    return state.tell(ask.session, change), OptionsReplied()
