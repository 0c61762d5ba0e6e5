"""The dialect of ACP 1, lifted to the shape of version 2.

Version 1 does not tell a session's state, leaves out message ids, and has modes and models
beside options; all of that is made up here (reference of ACP 1; migration guide to 2).

Invariant: what is remembered changes only with messages, in their order.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from acpls.client import lift, lift_elicitation, quirks, requests, v1_asks, v1_facts
from acpls.client import v1_serve as serve
from acpls.client.dialect import Asked, Call, Misfit, Response
from acpls.client.v1_state import AgentState
from acpls.client.v1_updates import CONTENT, READERS, tool_call
from acpls.events import QuestionAsked, SessionTold
from acpls.session import updates
from acpls.session.asks import Failure
from acpls.session.content import AboutToolCall
from acpls.wire import v1 as wire
from acpls.wire.v1_initialize import InitializeResponse

if TYPE_CHECKING:
    from acpls.client.dialect import ClientInfo, TerminalAnswer
    from acpls.client.v1_state import SessionState
    from acpls.events import AgentEvent, RequestId
    from acpls.session.asks import AgentFacts, Answer, Ask
    from acpls.session.content import Json
    from acpls.session.updates import Update

CAPABILITIES: Final[Json] = {
    "fs": {"readTextFile": True, "writeTextFile": True},
    "terminal": True,
    "session": {"configOptions": {"boolean": {}}, "notices": {}, "compaction": {}},
    "auth": {"terminal": True},
    "elicitation": {"url": {}},
    # By these agents show the terminals that they run themselves, and name the program
    # that logs the user in.
    "_meta": {"terminal_output": True, "terminal-auth": True},
}


class DialectV1:
    """ACP 1 for the agent that the bridge calls ``agent``."""

    version: int = v1_facts.VERSION

    def __init__(self, agent: str, capabilities: Json = CAPABILITIES) -> None:
        self._capabilities = capabilities
        self._state = AgentState(agent)
        self._requests = requests.OpenRequests(agent)
        self._readers = READERS

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
        it = lift.read(InitializeResponse, result, "initialize")
        if it.protocol_version != self.version:
            raise Misfit(f"initialize: the agent answered with version {it.protocol_version}")
        self._state.facts = v1_facts.facts(self._state.name, it)
        self._state.resumes = v1_facts.resumes(it)
        if quirks.tells_mode_in_words(self._state.facts):
            self._readers = {**READERS, "agent_message_chunk": _mode_or_words}
        return self._state.facts

    # --- asks ------------------------------------------------------------------------

    def say(self, ask: Ask) -> Call | Failure:
        """The message for an ask. A prompt sent means that the session runs."""
        return v1_asks.call(self._state, ask)

    def replied(self, number: int, ask: Ask, result: object) -> tuple[AgentEvent, ...]:
        """The events of a result. Raises ``Misfit``; the ask has ``failed`` then."""
        return v1_asks.replied(self._state, number, ask, result)

    def failed(self, number: int, ask: Ask, failure: Failure) -> tuple[AgentEvent, ...]:
        """The events of an error reply; that of a prompt ends its turn."""
        return v1_asks.failed(self._state, number, ask, failure)

    # --- notifications ---------------------------------------------------------------

    def told(self, method: str, params: object) -> tuple[AgentEvent, ...]:
        """The events of a notification. Raises ``Misfit``."""
        if method == "session/update":
            session, kind, update = lift.envelope(params)
            state = self._state.session(session)
            if state.muted and kind in CONTENT:
                return ()
            reader = self._readers.get(kind)
            if reader is None:
                return self._state.tell(session, updates.Other(update), raw=update)
            agent = self._state.name
            return tuple([SessionTold(agent, session, x, update) for x in reader(state, update)])
        if method == "$/cancel_request":
            return self._requests.withdrawn(params)
        if method == lift_elicitation.COMPLETE:
            return lift_elicitation.completed(self._state.name, params)
        return requests.notified(self._state.name, method, params)

    # --- requests of the agent -------------------------------------------------------

    def asked(self, request: RequestId, method: str, params: object) -> Asked:
        """What a request means. Raises ``Misfit``."""
        if method == requests.PERMISSION:
            return self._permission(request, params)
        if method == requests.ELICITATION:
            return lift_elicitation.asked(self._requests, request, params)
        reader = serve.READERS.get(method)
        if reader is None:
            return requests.unknown(method)
        session, asked = reader(self._state.name, request, method, params, self._state.folder)
        self._requests.admit(request, method, session)
        return asked

    def _permission(self, request: RequestId, params: object) -> Asked:
        it = lift.read(wire.RequestPermissionRequest, params)
        session, call = it.session_id, it.tool_call
        self._requests.admit(request, requests.PERMISSION, session)
        assert isinstance(params, dict)
        raw = params["toolCall"]
        of = self._state.session(session)
        patched = tool_call(of, call, raw)
        patch = self._state.tell(session, *patched, raw=raw)
        turn = self._state.turn(session, updates.TurnChanged("requires_action"))
        title = call.title if isinstance(call.title, str) else None
        choices = lift.choosables(it.options)
        about = AboutToolCall(call.tool_call_id)
        agent = self._state.name
        own = next((x for x in patched if isinstance(x, updates.ToolCallPatched)), None)
        question = QuestionAsked(agent, request, session, title, choices, None, about, call=own)
        return Asked((*patch, *turn, question))

    def answer(self, request: RequestId, answer: Answer | TerminalAnswer) -> Response:
        """The response to an open request. Raises ``KeyError`` for any other."""
        opened = self._requests.take(request)
        if (result := serve.result(answer)) is not None:
            return Response(result)
        if (
            opened.method == serve.READ_FILE
            and isinstance(answer, Failure)
            and answer.code == requests.RESOURCE_NOT_FOUND
            and quirks.missing_file_is_empty(self._state.facts)
        ):
            return Response({"content": ""})
        response = requests.response(opened, answer)
        if opened.method != requests.PERMISSION or opened.session is None:
            return response
        return replace(response, events=self._resumed(opened.session))

    def _resumed(self, session: str) -> tuple[AgentEvent, ...]:
        state = self._state.session(session)
        waiting = self._requests.waiting(requests.PERMISSION, session)
        if waiting or state.turn != "requires_action":
            return ()
        # A question from outside of a turn leaves the session as it was: idle.
        change = updates.TurnChanged("running" if state.prompting else "idle")
        return self._state.turn(session, change)


def _mode_or_words(state: SessionState, update: Json) -> tuple[Update, ...]:
    mode = quirks.mode_in(update)
    if mode is None:
        return READERS["agent_message_chunk"](state, update)
    return READERS["current_mode_update"](state, {"currentModeId": mode})
