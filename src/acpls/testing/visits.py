"""The steps about pages that the user is to visit, often to log in."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Final

from acpls.testing.turns import TurnEnd

if TYPE_CHECKING:
    from collections.abc import Callable

    from acpls.testing.lines import Sent
    from acpls.testing.shapes import Json
    from acpls.testing.turns import Turn

# What is played for each answer of the client.
_BRANCHES: Final = {"accept": "accepted", "decline": "declined", "cancel": "cancelled"}


def _visit(turn: Turn, step: Json) -> None:
    scope = {"sessionId": turn.session.key} if turn.session.key else {"requestId": turn.request}
    params: Json = {
        **scope,
        "mode": "url",
        "message": step.get("message", "Visit this page"),
        "url": step["visit"],
        "elicitationId": step.get("link", "visit"),
    }
    sent = turn.agent.wire.request("elicitation/create", params)
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
    branch = _BRANCHES.get(action, "failed") if isinstance(action, str) else "failed"
    turn.steps(step.get(branch, []), heed=branch == "accepted")


def _complete(turn: Turn, step: Json) -> None:
    turn.agent.wire.notify("elicitation/complete", {"elicitationId": step["complete"]})


VISITING: Final[dict[str, Callable[[Turn, Json], None]]] = {
    "visit": _visit,
    "complete": _complete,
}
