"""The dialect of ACP 2, which the neutral model has its words from.

Invariant: nothing is made up; what the agent does not say does not happen.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final, assert_never

from acpls.client import lift, requests
from acpls.client.dialect import Asked, Call, Misfit
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
    AboutCommand,
    AboutToolCall,
    FileChange,
    OtherContent,
    Patch,
    TerminalRef,
)
from acpls.text import patch as git
from acpls.wire import model as common
from acpls.wire import v2 as wire

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from acpls.client.dialect import ClientInfo, Response, TerminalAnswer
    from acpls.events import AgentEvent, RequestId
    from acpls.session.asks import Answer, Ask, Reply
    from acpls.session.content import Json, Subject, ToolContent
    from acpls.session.updates import Role, Update

    Reader = Callable[["DialectV2", "SessionState", Json], tuple[Update, ...]]

GIT_PATCH: Final = "git_patch"

ROLES: Final[dict[str, Role]] = {
    "user_message": "user",
    "user_message_chunk": "user",
    "agent_message": "agent",
    "agent_message_chunk": "agent",
    "agent_thought": "thought",
    "agent_thought_chunk": "thought",
}


@dataclass(slots=True)
class SessionState:
    """What has to be kept in mind of a session: its folder, and the cost told last."""

    cwd: str | None = None
    cost: tuple[float, str] | None = None


class DialectV2:
    """ACP 2 for the agent that the bridge calls ``agent``.

    Additional directories are left out for agents that do not know them.
    """

    version: int = 2

    def __init__(self, agent: str) -> None:
        self._agent = agent
        self._takes_directories = False
        self._sessions: dict[str, SessionState] = {}
        self._requests = requests.OpenRequests(agent)

    # --- initialize ------------------------------------------------------------------

    def initialize(self, client: ClientInfo) -> Call:
        """The ``initialize`` request. Files and terminals are no concern of a client here."""
        info = {"name": client.name, "title": client.title, "version": client.version}
        params = {"protocolVersion": self.version, "info": info, "capabilities": {}}
        return Call("initialize", params)

    def facts(self, result: object) -> AgentFacts:
        """What the agent is and can do. Raises ``Misfit``, also for another version.

        An agent of version 1 that only repeats the number is another version as well.
        """
        it = lift.read(wire.InitializeResponse, result, "initialize")
        if it.protocol_version != self.version:
            raise Misfit(f"initialize: the agent answered with version {it.protocol_version}")
        if it.info is None and it.capabilities is None:
            raise Misfit("initialize: the agent says version 2, but neither info nor capabilities")
        session = None if it.capabilities is None else it.capabilities.session
        prompt = None if session is None else session.prompt
        self._takes_directories = session is not None and session.additional_directories is not None
        return AgentFacts(
            self._agent if it.info is None else it.info.name,
            "" if it.info is None else it.info.version,
            self.version,
            embedded_context=prompt is not None and prompt.embedded_context is not None,
            # Who has sessions can close them.
            can_close=session is not None,
            withdraws_questions=True,
            auth_methods=tuple((x.method_id, x.name) for x in it.auth_methods),
            title=None if it.info is None else it.info.title,
        )

    # --- asks ------------------------------------------------------------------------

    def say(self, ask: Ask) -> Call | Failure:
        """The message for an ask."""
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
                prompt = [lift.lowered(x) for x in blocks]
                return Call("session/prompt", {"sessionId": session, "prompt": prompt})
            case Cancel(session):
                return Call("session/cancel", {"sessionId": session}, expects_reply=False)
            case SetOption(session, option, value):
                kind = "boolean" if isinstance(value, bool) else "id"
                of = {"sessionId": session, "configId": option}
                return Call("session/set_config_option", {**of, "type": kind, "value": value})
            case CloseSession(session):
                return Call("session/close", {"sessionId": session})
        assert_never(ask)

    def replied(self, number: int, ask: Ask, result: object) -> tuple[AgentEvent, ...]:
        """The events of a result. Raises ``Misfit``."""
        match ask:
            case NewSession(cwd):
                return self._reply(number, self._opened(cwd, result))
            case Prompt():
                it = lift.read(wire.PromptResponse, result, "session/prompt")
                return self._reply(number, PromptTaken(it.message_id))
            case SetOption():
                where = "session/set_config_option"
                answer = lift.read(wire.SetSessionConfigOptionResponse, result, where)
                return self._reply(number, OptionsReplied(lift.options(answer.config_options)))
            case CloseSession(session):
                self._sessions.pop(session, None)
                return self._reply(number, Done())
            case Cancel():
                return ()
        assert_never(ask)

    def failed(
        self,
        number: int,
        ask: Ask,  # noqa: ARG002  no turn depends on it here
        failure: Failure,
    ) -> tuple[AgentEvent, ...]:
        """The event of an error reply."""
        return (AskFailed(self._agent, number, failure),)

    def _reply(self, number: int, reply: Reply) -> tuple[AgentEvent, ...]:
        return (Replied(self._agent, number, reply),)

    def _opened(self, cwd: str, result: object) -> SessionOpened:
        it = lift.read(wire.NewSessionResponse, result, "session/new")
        self._session(it.session_id).cwd = cwd
        options, commands = it.config_options, it.available_commands
        return SessionOpened(
            it.session_id,
            None if options is None else lift.options(options),
            None if commands is None else lift.commands(commands),
        )

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

    def _chunk(self, _: SessionState, update: Json) -> tuple[Update, ...]:
        kind = update["sessionUpdate"]
        it = lift.read(wire.ContentChunk, update, kind)
        return (updates.MessageGrew(it.message_id, ROLES[kind], lift.block(it.content)),)

    def _message(self, _: SessionState, update: Json) -> tuple[Update, ...]:
        kind = update["sessionUpdate"]
        it = lift.read(wire.Message, update, kind)
        given = it.content
        blocks = tuple(map(lift.block, given)) if isinstance(given, list) else given
        return (updates.MessageSet(it.message_id, ROLES[kind], lift.patched(blocks, None)),)

    def _state(self, _: SessionState, update: Json) -> tuple[Update, ...]:
        it = lift.read(wire.StateUpdate, update, "state_update")
        if it.state != "idle":
            return (updates.TurnChanged(it.state),)
        error = None if it.error is None else common.one_line(it.error.message)
        return (updates.TurnChanged(it.state, it.stop_reason, error),)

    def _tool_call(self, state: SessionState, update: Json) -> tuple[Update, ...]:
        it = lift.read(wire.ToolCallUpdate, update, "tool_call_update")
        return (_patched(it, state.cwd),)

    def _tool_call_item(self, state: SessionState, update: Json) -> tuple[Update, ...]:
        it = lift.read(wire.ToolCallContentChunk, update, "tool_call_content_chunk")
        return (updates.ToolCallGrew(it.tool_call_id, _content(it.content, state.cwd)),)

    def _terminal(self, _: SessionState, update: Json) -> tuple[Update, ...]:
        it = lift.read(wire.TerminalUpdate, update, "terminal_update")
        output, how = it.output, it.exit_status
        if isinstance(output, wire.TerminalOutput):
            data: bytes | None | common.Missing = _decoded(output.data, "terminal_update")
        else:
            data = output
        ended = lift.ended(how) if isinstance(how, common.TerminalExitStatus) else how
        patch = updates.TerminalPatched(
            it.terminal_id,
            command=lift.patched(it.command, None),
            cwd=lift.patched(it.cwd, None),
            output=lift.patched(data, None),
            exit=lift.patched(ended, None),
        )
        return (patch,)

    def _terminal_output(self, _: SessionState, update: Json) -> tuple[Update, ...]:
        kind = "terminal_output_chunk"
        it = lift.read(wire.TerminalOutputChunk, update, kind)
        return (updates.TerminalGrew(it.terminal_id, _decoded(it.data, kind)),)

    def _plan(self, _: SessionState, update: Json) -> tuple[Update, ...]:
        plan = lift.read(wire.PlanUpdate, update, "plan_update").plan
        if isinstance(plan, wire.PlanItems):
            return (lift.plan(plan.plan_id, plan.entries),)
        return (updates.Other(update),)

    def _commands(self, _: SessionState, update: Json) -> tuple[Update, ...]:
        it = lift.read(wire.AvailableCommandsUpdate, update, "available_commands_update")
        return (updates.CommandsSet(lift.commands(it.available_commands)),)

    def _config(self, _: SessionState, update: Json) -> tuple[Update, ...]:
        it = lift.read(wire.ConfigOptionUpdate, update, "config_option_update")
        return (updates.OptionsSet(lift.options(it.config_options)),)

    def _info(self, _: SessionState, update: Json) -> tuple[Update, ...]:
        return (lift.info(lift.read(common.SessionInfoUpdate, update, "session_info_update")),)

    def _usage(self, state: SessionState, update: Json) -> tuple[Update, ...]:
        it = lift.usage(lift.read(common.UsageUpdate, update, "usage_update"), state.cost)
        state.cost = it.cost
        return (updates.UsageSet(it),)

    def _notice(self, _: SessionState, update: Json) -> tuple[Update, ...]:
        return (lift.notice(lift.read(common.Notice, update, "notice")),)

    def _replayed(self, _: SessionState, __: Json) -> tuple[Update, ...]:
        return (updates.ReplayEnded(),)

    _UPDATES: ClassVar[Mapping[str, Reader]] = {
        "user_message_chunk": _chunk,
        "agent_message_chunk": _chunk,
        "agent_thought_chunk": _chunk,
        "user_message": _message,
        "agent_message": _message,
        "agent_thought": _message,
        "state_update": _state,
        "tool_call_update": _tool_call,
        "tool_call_content_chunk": _tool_call_item,
        "terminal_update": _terminal,
        "terminal_output_chunk": _terminal_output,
        "plan_update": _plan,
        "available_commands_update": _commands,
        "config_option_update": _config,
        "session_info_update": _info,
        "usage_update": _usage,
        "notice": _notice,
        "replay_complete": _replayed,
    }

    # --- requests of the agent -------------------------------------------------------

    def asked(self, request: RequestId, method: str, params: object) -> Asked:
        """What a request means. Raises ``Misfit``."""
        if method != requests.PERMISSION:
            return requests.unknown(method)
        it = lift.read(wire.RequestPermissionRequest, params)
        session = it.session_id
        self._requests.admit(request, method, session)
        before: tuple[AgentEvent, ...] = ()
        about: Subject = None
        match it.subject:
            case None:
                pass
            case wire.ToolCallPermissionSubject(tool_call=call):
                before = self._tell(session, _patched(call, self._session(session).cwd))
                about = AboutToolCall(call.tool_call_id)
            case wire.CommandPermissionSubject() as subject:
                about = AboutCommand(subject.command, subject.cwd, subject.tool_call_id)
            case other:
                about = OtherContent(other)
        choices = lift.choosables(it.options)
        question = QuestionAsked(
            self._agent, request, session, it.title, choices, it.description, about
        )
        return Asked((*before, question))

    def answer(self, request: RequestId, answer: Answer | TerminalAnswer) -> Response:
        """The response to an open request. Raises ``KeyError`` for any other."""
        return requests.response(self._requests.take(request), answer)

    def _session(self, session: str) -> SessionState:
        state = self._sessions.get(session)
        if state is None:
            state = self._sessions[session] = SessionState()
        return state

    def _tell(self, session: str, *told: Update) -> tuple[AgentEvent, ...]:
        return tuple(SessionTold(self._agent, session, x) for x in told)


# --- pieces ------------------------------------------------------------------------------


def _patched(it: wire.ToolCallUpdate, cwd: str | None) -> updates.ToolCallPatched:
    return lift.tool_call(it, it.content, _content, cwd, None)


def _content(
    it: common.Content | wire.Diff | common.Terminal | Json, cwd: str | None
) -> ToolContent:
    match it:
        case common.Content():
            return lift.block(it.content)
        case wire.Diff():
            return _diff(it, cwd)
        case common.Terminal():
            return TerminalRef(it.terminal_id)
        case other:
            return OtherContent(other)


def _diff(it: wire.Diff, cwd: str | None) -> Patch:
    changes = tuple(_change(x, cwd) for x in it.changes)
    if it.patch is None:
        return Patch(changes)
    if it.patch.format != GIT_PATCH:
        problem = common.one_line(f"cannot read patches of the format {it.patch.format}")
        return Patch(changes, problems=(problem,))
    files, problems = git.parse(it.patch.text)
    return Patch(changes, tuple(files), tuple(problems))


def _change(
    it: wire.PathChange | wire.PathPairChange | wire.OtherChange, cwd: str | None
) -> FileChange:
    old = None if isinstance(it, wire.PathChange) else it.old_path
    return FileChange(
        it.operation,
        None if it.path is None else lift.resolved(it.path, cwd),
        None if old is None else lift.resolved(old, cwd),
        it.file_type,
    )


def _decoded(data: str, where: str) -> bytes:
    try:
        return base64.b64decode(data, validate=True)
    except ValueError:
        raise Misfit(f"{where}: data: is not base64") from None
