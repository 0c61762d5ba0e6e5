"""The requests of an agent that wait for our answer.

Invariant: a request is open from when it was let through until it is answered, once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from acpls.client.dialect import Asked, Misfit, OpenRequest, Response
from acpls.client.lift import read
from acpls.events import Notified, RequestWithdrawn
from acpls.session.asks import Accepted, Cancelled, Declined, Failure, Selected
from acpls.wire.fields import one_line
from acpls.wire.model import CancelRequestNotification

if TYPE_CHECKING:
    from acpls.client.dialect import TerminalAnswer
    from acpls.events import AgentEvent, RequestId
    from acpls.session.asks import Answer

METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
RESOURCE_NOT_FOUND: Final = -32002
REQUEST_CANCELLED: Final = -32800

PERMISSION: Final = "session/request_permission"
ELICITATION: Final = "elicitation/create"


class OpenRequests:
    """The open requests of one agent, by their ids, which may be 0 or any string."""

    def __init__(self, agent: str) -> None:
        self.agent = agent
        self._open: dict[RequestId, OpenRequest] = {}

    def admit(self, request: RequestId, method: str, session: str | None) -> None:
        """Let a request through. Raises ``Misfit`` when its id is still in use."""
        if request in self._open:
            raise Misfit(f"request id {one_line(repr(request))} is still in use")
        self._open[request] = OpenRequest(request, method, session)

    def take(self, request: RequestId) -> OpenRequest:
        """Close a request. Raises ``KeyError`` when it is not open."""
        return self._open.pop(request)

    def waiting(self, method: str, session: str) -> bool:
        """Whether a request of this kind is open in the session."""
        return any(x.method == method and x.session == session for x in self._open.values())

    def withdrawn(self, params: object) -> tuple[AgentEvent, ...]:
        """The events of a ``$/cancel_request``: none, unless it names an open request.

        The request stays open, since it is still to be answered.
        """
        request = read(CancelRequestNotification, params).request_id
        if request not in self._open:
            return ()
        return (RequestWithdrawn(self.agent, request),)


def unknown(method: str) -> Asked:
    """The answer to a request that we do not know."""
    return Asked(failure=Failure(METHOD_NOT_FOUND, f"Method not found: {one_line(method)}"))


def notified(agent: str, method: str, params: object) -> tuple[AgentEvent, ...]:
    """The event of a notification that we do not know."""
    session = params.get("sessionId") if isinstance(params, dict) else None
    of = session if isinstance(session, str) and session else None
    return (Notified(agent, method, params, of),)


def cannot(what: str) -> Failure:
    """The agent did not say that it can do this."""
    return Failure(METHOD_NOT_FOUND, f"The agent cannot {what}")


def response(opened: OpenRequest, answer: Answer | TerminalAnswer) -> Response:
    """The answer to a question, or a refusal of any request.

    Raises ``TypeError`` for an answer that does not belong here.
    """
    match answer:
        case Failure():
            return Response(failure=answer)
        case Selected(option) if opened.method == PERMISSION:
            return Response({"outcome": {"outcome": "selected", "optionId": option}})
        case Cancelled() | Declined() if opened.method == PERMISSION:
            return Response({"outcome": {"outcome": "cancelled"}})
        case Accepted(content) if opened.method == ELICITATION:
            given = {} if content is None else {"content": content}
            return Response({"action": "accept", **given})
        case Declined() if opened.method == ELICITATION:
            return Response({"action": "decline"})
        case Cancelled() if opened.method == ELICITATION:
            return Response({"action": "cancel"})
        case Cancelled():
            return Response(failure=Failure(REQUEST_CANCELLED, "Request cancelled"))
        case _:
            raise TypeError(f"{type(answer).__name__} does not answer {opened.method}")
