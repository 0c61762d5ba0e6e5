"""The dialect of ACP 1, lifted to the shape of version 2.

Version 1 does not tell a session's state, leaves out message ids, and has modes and models
beside options; all of that is made up here (reference of ACP 1; migration guide to 2).

Invariant: what is remembered changes only with messages, in their order.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Final, assert_never

from acpls.client import lift, requests
from acpls.client import v1_content as pieces
from acpls.client import v1_serve as serve
from acpls.client.dialect import Asked, Call, Misfit, Response
from acpls.client.v1_state import MODE, SessionState
from acpls.events import AskFailed, QuestionAsked, Replied, SessionTold
from acpls.session import updates
from acpls.session.asks import (
    AgentFacts,
    Cancel,
    CloseSession,
    Done,
    Failure,
    NewSession,
    OptionsReplied,
    Prompt,
    PromptTaken,
    SessionOpened,
    SetOption,
)
from acpls.session.content import (
    UNSET,
    AboutToolCall,
    Text,
)
from acpls.wire import model as common
from acpls.wire import v1 as wire

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from acpls.client.dialect import ClientInfo, TerminalAnswer
    from acpls.events import AgentEvent, RequestId
    from acpls.session.asks import Answer, Ask
    from acpls.session.content import Json
    from acpls.session.updates import Role, Update

    Reader = Callable[["DialectV1", SessionState, Json], tuple[Update, ...]]

CAPABILITIES: Final[Json] = {
    "fs": {"readTextFile": True, "writeTextFile": True},
    "terminal": True,
    "session": {"configOptions": {"boolean": {}}, "notices": {}},
    # By this agents show the terminals that they run themselves.
    "_meta": {"terminal_output": True},
}

PLAN: Final = "plan"

ROLES: Final[dict[str, Role]] = {
    "user_message_chunk": "user",
    "agent_message_chunk": "agent",
    "agent_thought_chunk": "thought",
}


class DialectV1:
    """ACP 1 for the agent that the bridge calls ``agent``.

    Additional directories are left out for agents that do not know them.
    """

    version: int = 1

    def __init__(self, agent: str, capabilities: Json = CAPABILITIES) -> None:
        self._agent = agent
        self._capabilities = capabilities
        self._can_close = False
        self._takes_directories = False
        self._sessions: dict[str, SessionState] = {}
        self._requests = requests.OpenRequests(agent)

    # --- initialize ------------------------------------------------------------------

    def initialize(self, client: ClientInfo) -> Call:
        """The ``initialize`` request."""
        info = {"name": client.name, "title": client.title, "version": client.version}
        return Call(
            "initialize",
            {
                "protocolVersion": self.version,
                "clientCapabilities": self._capabilities,
                "clientInfo": info,
            },
        )

    def facts(self, result: object) -> AgentFacts:
        """What the agent is and can do. Raises ``Misfit``, also for another version."""
        it = lift.read(wire.InitializeResponse, result, "initialize")
        if it.protocol_version != self.version:
            raise Misfit(f"initialize: the agent answered with version {it.protocol_version}")
        abilities = it.agent_capabilities.session_capabilities
        self._can_close = abilities.close is not None
        self._takes_directories = abilities.additional_directories is not None
        return AgentFacts(
            self._agent if it.agent_info is None else it.agent_info.name,
            "" if it.agent_info is None else it.agent_info.version,
            self.version,
            embedded_context=it.agent_capabilities.prompt_capabilities.embedded_context,
            can_close=self._can_close,
            auth_methods=tuple((x.id, x.name) for x in it.auth_methods),
            title=None if it.agent_info is None else it.agent_info.title,
        )

    # --- asks ------------------------------------------------------------------------

    def say(self, ask: Ask) -> Call | Failure:
        """The message for an ask. A prompt sent means that the session runs."""
        match ask:
            case NewSession(cwd, directories):
                if not lift.is_absolute(cwd):
                    return Failure(requests.INVALID_PARAMS, "The session's folder is not absolute")
                params: dict[str, object] = {"cwd": cwd, "mcpServers": []}
                if directories and self._takes_directories:
                    params["additionalDirectories"] = list(directories)
                return Call("session/new", params)
            case Prompt(session, blocks):
                if not blocks:
                    return Failure(requests.INVALID_PARAMS, "The prompt is empty")
                state = self._session(session)
                state.prompting = state.awaiting = True
                state.break_message()
                events = self._turn(session, updates.TurnChanged("running"))
                prompt = [lift.lowered(x) for x in blocks]
                return Call(
                    "session/prompt", {"sessionId": session, "prompt": prompt}, True, events
                )
            case Cancel(session):
                return Call("session/cancel", {"sessionId": session}, expects_reply=False)
            case SetOption():
                return self._set_option(ask)
            case CloseSession(session):
                if not self._can_close:
                    return Failure(requests.METHOD_NOT_FOUND, "The agent cannot close sessions")
                return Call("session/close", {"sessionId": session})
        assert_never(ask)

    def _set_option(self, ask: SetOption) -> Call | Failure:
        of = {"sessionId": ask.session}
        if self._session(ask.session).made(ask.option):
            if not isinstance(ask.value, str):
                return Failure(requests.INVALID_PARAMS, f"The {ask.option} is chosen by its id")
            if ask.option == MODE:
                return Call("session/set_mode", {**of, "modeId": ask.value})
            return Call("session/set_model", {**of, "modelId": ask.value})
        value = {"type": "boolean"} if isinstance(ask.value, bool) else {}
        params = {**of, "configId": ask.option, **value, "value": ask.value}
        return Call("session/set_config_option", params)

    def replied(self, number: int, ask: Ask, result: object) -> tuple[AgentEvent, ...]:
        """The events of a result. Raises ``Misfit``; the ask has ``failed`` then."""
        match ask:
            case NewSession(cwd):
                return (Replied(self._agent, number, self._opened(cwd, result)),)
            case Prompt(session):
                it = lift.read(wire.PromptResponse, result, "session/prompt")
                ended = self._ended(session, updates.TurnChanged("idle", it.stop_reason))
                return (*ended, Replied(self._agent, number, PromptTaken()))
            case SetOption():
                events, reply = self._option_set(ask, result)
                return (*events, Replied(self._agent, number, reply))
            case CloseSession(session):
                self._sessions.pop(session, None)
                return (Replied(self._agent, number, Done()),)
            case Cancel():
                return ()
        assert_never(ask)

    def failed(self, number: int, ask: Ask, failure: Failure) -> tuple[AgentEvent, ...]:
        """The events of an error reply; that of a prompt ends its turn."""
        events: tuple[AgentEvent, ...] = ()
        if isinstance(ask, Prompt):
            change = updates.TurnChanged("idle", "error", error=failure.message)
            events = self._ended(ask.session, change)
        return (*events, AskFailed(self._agent, number, failure))

    def _opened(self, cwd: str, result: object) -> SessionOpened:
        it = lift.read(wire.NewSessionResponse, result, "session/new")
        state = self._session(it.session_id)
        state.cwd = cwd
        if it.config_options is not None:
            state.set_config(it.config_options)
        if it.modes is not None:
            state.set_modes(it.modes)
        if it.models is not None:
            state.set_models(it.models)
        told = (it.config_options, it.modes, it.models) != (None, None, None)
        return SessionOpened(it.session_id, state.options() if told else None)

    def _option_set(
        self, ask: SetOption, result: object
    ) -> tuple[tuple[AgentEvent, ...], OptionsReplied]:
        state = self._session(ask.session)
        if isinstance(result, dict) and "configOptions" in result:
            where = "session/set_config_option"
            it = lift.read(wire.SetSessionConfigOptionResponse, result, where)
            state.set_config(it.config_options)
            return (), OptionsReplied(state.options())
        # Modes and models are set without a word, and some agents tell no update either.
        if isinstance(ask.value, bool):
            return (), OptionsReplied()
        state.chose(ask.option, ask.value)
        change = updates.OptionChanged(ask.option, ask.value)
        return self._tell(ask.session, change), OptionsReplied()

    # --- notifications ---------------------------------------------------------------

    def told(self, method: str, params: object) -> tuple[AgentEvent, ...]:
        """The events of a notification. Raises ``Misfit``."""
        if method == "session/update":
            session, kind, update = lift.envelope(params)
            reader = self._UPDATES.get(kind)
            if reader is None:
                return self._tell(session, updates.Other(update))
            return self._tell(session, *reader(self, self._session(session), update))
        if method == "$/cancel_request":
            return self._requests.withdrawn(params)
        return ()

    def _chunk(self, state: SessionState, update: Json) -> tuple[Update, ...]:
        kind = update["sessionUpdate"]
        role = ROLES[kind]
        it = lift.read(wire.ContentChunk, update, kind)
        block = lift.block(it.content)
        if role == "user" and state.awaiting:
            # The agent repeats the prompt, which the session has already.
            return ()
        message = it.message_id
        if message is None:
            if block == Text(""):
                # Sent for the sake of its ``_meta``; it must not begin a message.
                return ()
            message = state.message(role)
        else:
            state.break_message()
        state.awaiting = False
        return (updates.MessageGrew(message, role, block),)

    def _tool_call(self, state: SessionState, update: Json) -> tuple[Update, ...]:
        kind = update["sessionUpdate"]
        shape = wire.ToolCall if kind == "tool_call" else wire.ToolCallUpdate
        return self._patched(state, lift.read(shape, update, kind))

    def _patched(self, state: SessionState, it: wire.ToolCallUpdate) -> tuple[Update, ...]:
        state.awaiting = False
        state.saw_tool_call(it.tool_call_id)
        patch = lift.tool_call(it, it.content, pieces.content, state.cwd, UNSET)
        return (*pieces.terminals(it.meta), patch)

    def _plan(self, state: SessionState, update: Json) -> tuple[Update, ...]:
        state.awaiting = False
        state.break_message()
        return (lift.plan(PLAN, lift.read(wire.Plan, update, "plan").entries),)

    def _commands(self, _: SessionState, update: Json) -> tuple[Update, ...]:
        it = lift.read(wire.AvailableCommandsUpdate, update, "available_commands_update")
        return (updates.CommandsSet(lift.commands(it.available_commands)),)

    def _mode(self, state: SessionState, update: Json) -> tuple[Update, ...]:
        mode = lift.read(wire.CurrentModeUpdate, update, "current_mode_update").current_mode_id
        state.chose(MODE, mode)
        return (updates.OptionChanged(state.mode_option(), mode),)

    def _config(self, state: SessionState, update: Json) -> tuple[Update, ...]:
        it = lift.read(wire.ConfigOptionUpdate, update, "config_option_update")
        state.set_config(it.config_options)
        return (updates.OptionsSet(state.options()),)

    def _info(self, _: SessionState, update: Json) -> tuple[Update, ...]:
        return (lift.info(lift.read(common.SessionInfoUpdate, update, "session_info_update")),)

    def _usage(self, state: SessionState, update: Json) -> tuple[Update, ...]:
        it = lift.usage(lift.read(common.UsageUpdate, update, "usage_update"), state.cost)
        state.cost = it.cost
        return (updates.UsageSet(it),)

    def _notice(self, _: SessionState, update: Json) -> tuple[Update, ...]:
        return (lift.notice(lift.read(common.Notice, update, "notice")),)

    _UPDATES: ClassVar[
        Mapping[str, Callable[[DialectV1, SessionState, Json], tuple[Update, ...]]]
    ] = {
        "user_message_chunk": _chunk,
        "agent_message_chunk": _chunk,
        "agent_thought_chunk": _chunk,
        "tool_call": _tool_call,
        "tool_call_update": _tool_call,
        "plan": _plan,
        "available_commands_update": _commands,
        "current_mode_update": _mode,
        "config_option_update": _config,
        "session_info_update": _info,
        "usage_update": _usage,
        "notice": _notice,
    }

    # --- requests of the agent -------------------------------------------------------

    def asked(self, request: RequestId, method: str, params: object) -> Asked:
        """What a request means. Raises ``Misfit``."""
        if method == requests.PERMISSION:
            return self._permission(request, params)
        reader = serve.READERS.get(method)
        if reader is None:
            return requests.unknown(method)
        session, asked = reader(self._agent, request, method, params, self._folder)
        self._requests.admit(request, method, session)
        return asked

    def _permission(self, request: RequestId, params: object) -> Asked:
        it = lift.read(wire.RequestPermissionRequest, params)
        session, call = it.session_id, it.tool_call
        self._requests.admit(request, requests.PERMISSION, session)
        patch = self._tell(session, *self._patched(self._session(session), call))
        turn = self._turn(session, updates.TurnChanged("requires_action"))
        title = call.title if isinstance(call.title, str) else None
        choices = lift.choosables(it.options)
        about = AboutToolCall(call.tool_call_id)
        question = QuestionAsked(self._agent, request, session, title, choices, None, about)
        return Asked((*patch, *turn, question))

    def answer(self, request: RequestId, answer: Answer | TerminalAnswer) -> Response:
        """The response to an open request. Raises ``KeyError`` for any other."""
        opened = self._requests.take(request)
        if (result := serve.result(answer)) is not None:
            return Response(result)
        response = requests.response(opened, answer)
        if opened.method != requests.PERMISSION or opened.session is None:
            return response
        return replace(response, events=self._resumed(opened.session))

    # --- the session's state, made up ------------------------------------------------

    def _session(self, session: str) -> SessionState:
        state = self._sessions.get(session)
        if state is None:
            state = self._sessions[session] = SessionState()
        return state

    def _folder(self, session: str) -> str | None:
        return self._session(session).cwd

    def _tell(self, session: str, *told: Update) -> tuple[AgentEvent, ...]:
        return tuple(SessionTold(self._agent, session, x) for x in told)

    def _turn(self, session: str, change: updates.TurnChanged) -> tuple[AgentEvent, ...]:
        self._session(session).turn = change.state
        return self._tell(session, change)

    def _ended(self, session: str, change: updates.TurnChanged) -> tuple[AgentEvent, ...]:
        state = self._session(session)
        state.prompting = state.awaiting = False
        state.break_message()
        return self._turn(session, change)

    def _resumed(self, session: str) -> tuple[AgentEvent, ...]:
        state = self._session(session)
        waiting = self._requests.waiting(requests.PERMISSION, session)
        if waiting or state.turn != "requires_action":
            return ()
        # A question from outside of a turn leaves the session as it was: idle.
        return self._turn(session, updates.TurnChanged("running" if state.prompting else "idle"))
