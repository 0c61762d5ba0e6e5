"""What stands in the margin of a document: hunks that wait, questions that are open.

Pushed diagnostics reach every editor; they carry no version, since some editors drop those
of an older one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from acpls.hub import review_shapes, shapes
from acpls.text import uris
from acpls.text.lines import split_lines

if TYPE_CHECKING:
    from acpls.hub.state import State

INFORMATION = 3
WARNING = 2
SOURCE = "acpls"


def diagnostics_of(state: State, uri: str) -> list[dict[str, Any]]:
    """The diagnostics of an open document, in LSP's shape; none for any other."""
    if state.buffers.get(uri) is None:
        return []
    found = [
        _diagnostic(hunk["range"], _about(hunk), INFORMATION, hunk["hunk"])
        for hunk in hunks_of(state, uri)
    ]
    for conversation in state.conversations.values():
        if conversation.uri == uri and conversation.rendering is not None:
            for key, line in conversation.rendering.questions.items():
                question = state.questions.all[key]
                if question.open:
                    span = shapes.lines(line, line + 1)
                    found.append(_diagnostic(span, question.title, WARNING, key))
    return found


def hunks_of(state: State, uri: str) -> list[dict[str, Any]]:
    """The pending hunks of a document, in the shape of the review commands."""
    path = uris.to_path(uri)
    file = None if path is None else state.ledger.files.get(path)
    return [] if file is None else [review_shapes.hunk(state, file, hunk) for hunk in file.hunks]


def _about(hunk: dict[str, Any]) -> str:
    if hunk["state"] == "conflict":
        return f"A change by the agent cannot be placed: {hunk['reason']}"
    old, new = (len(split_lines(hunk[text])) for text in ("baseText", "newText"))
    done = "made" if hunk["applied"] else "proposed"
    return f"Change {done} by the agent (-{old} +{new} lines): keep or reject?"


def _diagnostic(span: dict[str, Any], message: str, severity: int, code: str) -> dict[str, Any]:
    return {
        "range": span,
        "message": message,
        "severity": severity,
        "source": SOURCE,
        "code": code,
    }
