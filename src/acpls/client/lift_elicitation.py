"""Questions of an agent that are more than a choice (``elicitation/*``, in both versions).

Invariant: a question of an unknown kind is declined, never taken for one that we know.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from acpls.client import lift
from acpls.client.dialect import Asked, Misfit
from acpls.client.requests import ELICITATION
from acpls.events import FormAsked, LinkAsked, LinkDone
from acpls.wire import model as wire
from acpls.wire.fields import MISSING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from acpls.client.requests import OpenRequests
    from acpls.events import AgentEvent, RequestId

COMPLETE: Final = "elicitation/complete"

_SHAPES: Final[Mapping[str, type[wire.ElicitationScope]]] = {
    "form": wire.ElicitationForm,
    "url": wire.ElicitationUrl,
}


def asked(open_requests: OpenRequests, request: RequestId, params: object) -> Asked:
    """What an ``elicitation/create`` means. Raises ``Misfit``."""
    mode = params.get("mode") if isinstance(params, dict) else None
    shape = _SHAPES.get(mode) if isinstance(mode, str) else None
    it = lift.read(shape or wire.OtherElicitation, params)
    session, call, message = it.session_id, it.tool_call_id, it.message
    if session is None and it.request_id is MISSING:
        raise Misfit("there must be a sessionId or a requestId")
    agent = open_requests.agent
    event: AgentEvent
    if isinstance(it, wire.ElicitationForm):
        event = FormAsked(agent, request, session, message, it.requested_schema, call)
    elif isinstance(it, wire.ElicitationUrl):
        event = LinkAsked(agent, request, session, message, it.url, it.elicitation_id, call)
    else:
        return Asked(result={"action": "decline"})
    open_requests.admit(request, ELICITATION, session)
    return Asked((event,))


def completed(agent: str, params: object) -> tuple[AgentEvent, ...]:
    """The event of an ``elicitation/complete``. Raises ``Misfit``."""
    it = lift.read(wire.CompleteElicitationNotification, params)
    return (LinkDone(agent, it.elicitation_id),)
