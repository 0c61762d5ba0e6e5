"""The steps about pages that the user is to visit, and forms that are to be filled in."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Final

from acpls.testing.asks import call_off
from acpls.testing.turns import TurnEnd

if TYPE_CHECKING:
    from collections.abc import Callable

    from acpls.testing.lines import Sent
    from acpls.testing.shapes import Json
    from acpls.testing.turns import Turn

# What is played for each answer of the client.
_BRANCHES: Final = {"accept": "accepted", "decline": "declined", "cancel": "cancelled"}


def _visit(turn: Turn, step: Json) -> None:
    params = {"url": step["visit"], "elicitationId": step.get("link", "visit")}
    _elicit(turn, step, "url", "Visit this page", params)


def _form(turn: Turn, step: Json) -> None:
    params = {"requestedSchema": step["form"]}
    if "call" in step:
        params["toolCallId"] = step["call"]
    _elicit(turn, step, "form", "Fill this in", params)


def _elicit(turn: Turn, step: Json, mode: str, message: str, params: Json) -> None:
    scope = {"sessionId": turn.session.key} if turn.session.key else {"requestId": turn.request}
    message = step.get("message", message)
    params = {**scope, "mode": mode, "message": message, **params}
    sent = turn.agent.wire.request("elicitation/create", params)
    if turn.session.key and turn.agent.version != 1 and turn.agent.heeds_cancel:
        turn.on_cancel(lambda: call_off(turn, sent))
    if step.get("wait", True):
        _answered(turn, step, sent)
        return
    branch = threading.Thread(target=_branch, args=(turn, step, sent), daemon=True)
    turn.branches.append(branch)
    branch.start()


def _branch(turn: Turn, step: Json, sent: Sent) -> None:
    try:
        _answered(turn, step, sent)
    except TurnEnd as end:
        turn.branch_ends.append(end)


def _answered(turn: Turn, step: Json, sent: Sent) -> None:
    result = sent.wait()
    action = result.get("action") if isinstance(result, dict) else None
    if isinstance(result, dict) and "content" in result:
        turn.keep(step, json.dumps(result["content"]))
    branch = _BRANCHES.get(action, "failed") if isinstance(action, str) else "failed"
    turn.steps(step.get(branch, []), heed=branch == "accepted")


def _complete(turn: Turn, step: Json) -> None:
    turn.agent.wire.notify("elicitation/complete", {"elicitationId": step["complete"]})


VISITING: Final[dict[str, Callable[[Turn, Json], None]]] = {
    "visit": _visit,
    "form": _form,
    "complete": _complete,
}
