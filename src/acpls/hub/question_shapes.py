"""The JSON for questions (docs/protocol.md).

Invariant: pure; reads the state and changes nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, assert_never

from acpls.hub import previews, review_shapes, telling
from acpls.hub.shapes import lean
from acpls.session import content as c
from acpls.text.visible import middle, one_line

if TYPE_CHECKING:
    from acpls.hub.state import State
    from acpls.questions import About, Question

    Shape = dict[str, Any]

TITLE_LIMIT = 500
"""Characters of a title; what it was before it was cut stands in ``text``."""


def question(state: State, of: Question) -> Shape:
    """A question, with what it is about."""
    told = telling.told(state, of)
    cut = len(told.title) > TITLE_LIMIT
    text = "\n".join([*([told.title] if cut else []), *told.whole()])
    return lean(
        question=of.key,
        session=of.session or None,
        subagent=of.subagent,
        agent=of.agent,
        title=middle(told.title, TITLE_LIMIT),
        description=of.description,
        source=told.source,
        text=text or None,
        subject=_subject(of.subject),
        about=None if of.about is None else _about(state, of, of.about),
        options=[
            {"option": option.option, "name": name, "kind": option.kind}
            for option, (_, name) in zip(of.options, told.options, strict=True)
        ],
        dismiss=of.can_dismiss or None,
        state="open" if of.open else "settled",
        by=of.by,
        url=of.url,
        preview=previews.of(state, of) or None,
    )


def _about(state: State, of: Question, what: About) -> Shape | None:
    uris = [review_shapes.uri(state, previews.whole(state, of, path)) for path in what.paths]
    told = lean(
        kind=what.kind,
        tool=None if what.tool is None else one_line(what.tool),
        command=what.command,
        cwd=what.cwd,
        uris=uris or None,
        input=what.input,
        guessed=what.guessed or None,
    )
    return told or None


def _subject(subject: c.Subject) -> Shape | None:
    match subject:
        case None:
            return None
        case c.AboutToolCall(call):
            return {"type": "toolCall", "toolCall": call}
        case c.AboutCommand(command, cwd, call, terminal):
            return lean(type="command", command=command, cwd=cwd, toolCall=call, terminal=terminal)
        case c.OtherContent(payload):
            return {"type": "other", "payload": payload}
        case _:
            assert_never(subject)
