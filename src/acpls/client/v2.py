"""The dialect of ACP 2, which the neutral model has its words from.

Invariant: nothing is made up; what the agent does not say does not happen. (The end of a
replay is told for agents that are older than its marker.)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from acpls.client import lift, lift_elicitation, requests, v2_asks, v2_facts
from acpls.client import v2_content as pieces
from acpls.client.dialect import Asked, Call, Misfit
from acpls.client.v2_state import AgentState
from acpls.client.v2_updates import CONTENT, READERS
from acpls.events import QuestionAsked, SessionTold
from acpls.session import updates
from acpls.session.content import AboutCommand, AboutToolCall, OtherContent
from acpls.wire import v2 as wire
from acpls.wire.v2_initialize import InitializeResponse

if TYPE_CHECKING:
    from acpls.client.dialect import ClientInfo, Response, TerminalAnswer
    from acpls.events import AgentEvent, RequestId
    from acpls.session.asks import AgentFacts, Answer, Ask, Failure
    from acpls.session.content import Json, Subject
    from acpls.session.updates import ToolCallPatched

# Files and terminals are no concern of a client here.
CAPABILITIES: Final[Json] = {"auth": {"terminal": {}}, "elicitation": {"url": {}}}


class DialectV2:
    """ACP 2 for the agent that the bridge calls ``agent``."""

    version: int = v2_facts.VERSION

    def __init__(self, agent: str) -> None:
        self._state = AgentState(agent)
        self._requests = requests.OpenRequests(agent)

    # --- initialize ------------------------------------------------------------------

    def initialize(self, client: ClientInfo) -> Call:
        """The ``initialize`` request."""
        info = {"name": client.name, "title": client.title, "version": client.version}
        params = {"protocolVersion": self.version, "info": info, "capabilities": CAPABILITIES}
        return Call("initialize", params)

    def facts(self, result: object) -> AgentFacts:
        """What the agent is and can do. Raises ``Misfit``, also for another version.

        An agent of version 1 that only repeats the number is another version as well.
        """
        it = lift.read(InitializeResponse, result, "initialize")
        if it.protocol_version != self.version:
            raise Misfit(f"initialize: the agent answered with version {it.protocol_version}")
        if it.info is None and it.capabilities is None:
            raise Misfit("initialize: the agent says version 2, but neither info nor capabilities")
        self._state.facts = v2_facts.facts(self._state.name, it)
        return self._state.facts

    # --- asks ------------------------------------------------------------------------

    def say(self, ask: Ask) -> Call | Failure:
        """The message for an ask."""
        return v2_asks.call(self._state, ask)

    def replied(self, number: int, ask: Ask, result: object) -> tuple[AgentEvent, ...]:
        """The events of a result. Raises ``Misfit``; the ask has ``failed`` then."""
        return v2_asks.replied(self._state, number, ask, result)

    def failed(self, number: int, ask: Ask, failure: Failure) -> tuple[AgentEvent, ...]:
        """The event of an error reply."""
        return v2_asks.failed(self._state, number, ask, failure)

    # --- notifications ---------------------------------------------------------------

    def told(self, method: str, params: object) -> tuple[AgentEvent, ...]:
        """The events of a notification. Raises ``Misfit``."""
        if method == "session/update":
            session, kind, update = lift.envelope(params)
            reader = READERS.get(kind)
            if reader is None:
                return self._state.tell(session, updates.Other(update), raw=update)
            state = self._state.session(session)
            if state.muted and kind in CONTENT:
                return ()
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
        return requests.unknown(method)

    def _permission(self, request: RequestId, params: object) -> Asked:
        it = lift.read(wire.RequestPermissionRequest, params)
        session = it.session_id
        self._requests.admit(request, requests.PERMISSION, session)
        before: tuple[AgentEvent, ...] = ()
        about: Subject = None
        own: ToolCallPatched | None = None
        match it.subject:
            case None:
                pass
            case wire.ToolCallPermissionSubject(tool_call=call):
                assert isinstance(params, dict)
                raw = params["subject"]["toolCall"]
                own = pieces.patched(call, raw, self._state.session(session).cwd)
                before = self._state.tell(session, own, raw=raw)
                about = AboutToolCall(call.tool_call_id)
            case wire.CommandPermissionSubject() as run:
                about = AboutCommand(run.command, run.cwd, run.tool_call_id, run.terminal_id)
            case other:
                about = OtherContent(other)
        choices = lift.choosables(it.options)
        question = QuestionAsked(
            self._state.name,
            request,
            session,
            it.title,
            choices,
            it.description,
            about,
            call=own,
        )
        return Asked((*before, question))

    def answer(self, request: RequestId, answer: Answer | TerminalAnswer) -> Response:
        """The response to an open request. Raises ``KeyError`` for any other."""
        return requests.response(self._requests.take(request), answer)
