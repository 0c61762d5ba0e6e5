"""What stands in the margin of a document: hunks that wait, questions that are open.

Pushed diagnostics reach every editor; they carry no version, since some editors drop those
of an older one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from acpls.hub import shapes, telling
from acpls.lsp import hunks

if TYPE_CHECKING:
    from acpls.hub.state import State

INFORMATION = 3
WARNING = 2
SOURCE = "acpls"
LINE_LIMIT = 160


def diagnostics_of(state: State, uri: str) -> list[dict[str, Any]]:
    """The diagnostics of an open document, in LSP's shape; none for any other."""
    if state.buffers.get(uri) is None:
        return []
    found = [
        _diagnostic(hunk.span, _about(hunk), INFORMATION, hunk.shape["hunk"])
        for hunk in hunks.shown(state, uri)
    ]
    away = hunks.departed(state, uri)
    if away is not None:
        what, change = away
        found.append(
            _diagnostic(
                shapes.lines(0, 0), f"{_by_agent(what)}: keep or reject?", INFORMATION, change.key
            )
        )
    for conversation in state.conversations.values():
        if conversation.uri == uri and conversation.rendering is not None:
            for key, line in conversation.rendering.questions.items():
                question = state.questions.all[key]
                if question.open:
                    span = shapes.lines(line, line + 1)
                    line_of = telling.line(state, question, LINE_LIMIT)
                    message = f"Waiting for you: {line_of}"
                    found.append(_diagnostic(span, message, WARNING, key))
    return found


def _about(hunk: hunks.Shown) -> str:
    # Margins are narrow: what to do comes before why.
    shape, what = hunk.shape, _what(hunk)
    if hunk.waits and "decided" in shape:
        done = "kept" if shape["decided"] == "keep" else "rejected"
        return f"{what}: {done}; the agent waits for your word on the others"
    if hunk.waits:
        return f"{what}: keep or reject? The agent waits for you"
    if hunk.is_lost:
        return f"{what} cannot be told from yours: save, then decide ({shape['reason']})"
    if hunk.clashes:
        sides = f"these lines are yours, {_theirs(hunk)}"
        return f"{what} clashes with yours: {sides} ({shape['reason']})"
    if "keepOnly" in shape:
        return f"{what}: keep only ({shape['reason']})"
    if hunk.is_whole or shape["applied"]:
        return f"{what}: keep or reject?"
    where = "proposed" if hunk.change.proposed else "in the file, not here"
    return f"{what}, {where}: keep or reject?"


def _theirs(hunk: hunks.Shown) -> str:
    """Where the agent's side of a clash is."""
    if hunk.change.proposed:
        return "the agent's are not written yet"
    return "the file is gone" if hunk.change.target.is_missing else "the file has the agent's"


def _what(hunk: hunks.Shown) -> str:
    if hunk.is_whole:
        return _by_agent(hunk.what())
    return f"Agent's change ({hunk.size})"


def _by_agent(what: str) -> str:
    return f"{what[0].upper()}{what[1:]} by the agent"


def _diagnostic(span: dict[str, Any], message: str, severity: int, code: str) -> dict[str, Any]:
    return {
        "range": span,
        "message": message,
        "severity": severity,
        "source": SOURCE,
        "code": code,
    }
