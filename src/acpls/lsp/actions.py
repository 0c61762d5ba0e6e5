"""Code actions and hovers: what the user can do here, and what a hunk replaces.

Both are queries: they read the state and change nothing. Every action is a command, so
that it works in editors that apply no edits from actions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from lsprotocol import types

from acpls.lsp.diagnostics import hunks_of
from acpls.lsp.wording import distinct
from acpls.text.lines import body, split_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from acpls.hub.state import State
    from acpls.questions import Question

QUICKFIX: Final = types.CodeActionKind.QuickFix.value
ASK: Final = f"{types.CodeActionKind.Refactor.value}.acpls"
SHOW_REQUEST: Final = "Show what is asked"
# With everything selected a menu must not have an entry for each of hundreds of hunks.
HUNKS_LIMIT: Final = 10
HOVER_LINES: Final = 100

_VERBS: Final = (("Keep", "acpls.review.keep"), ("Reject", "acpls.review.reject"))


@dataclass(frozen=True, slots=True)
class _Offer:
    title: str
    command: str
    argument: dict[str, Any]
    kind: str = QUICKFIX


def offer(state: State, params: types.CodeActionParams) -> list[types.CodeAction]:
    """The code actions at a range; what waits for the user comes first."""
    offers = list(_offers(state, params.text_document.uri, params.range))
    titles = distinct(each.title for each in offers)
    wanted = params.context.only
    return [
        types.CodeAction(
            title=title,
            kind=each.kind,
            command=types.Command(title=title, command=each.command, arguments=[each.argument]),
        )
        for title, each in zip(titles, offers, strict=True)
        if wanted is None or _is_wanted(each.kind, wanted)
    ]


def _is_wanted(kind: str, wanted: Sequence[types.CodeActionKind | str]) -> bool:
    # Of a kind that lsprotocol knows, ``str`` would give its name in Python.
    words = (each.value if isinstance(each, types.CodeActionKind) else each for each in wanted)
    return any(word in ("", kind) or kind.startswith(f"{word}.") for word in words)


def _offers(state: State, uri: str, span: types.Range) -> Iterator[_Offer]:
    for question in state.questions.pending():
        yield from _answers(question)
    yield from _verdicts(state, uri, span)
    if any(conversation.uri == uri for conversation in state.conversations.values()):
        yield _Offer(
            "Send what is written under the last heading", "acpls.session.send", {"uri": uri}
        )
    yield from _stops(state)
    yield from _verdicts_elsewhere(state, uri)
    yield _ask(uri, span)


def _answers(question: Question) -> Iterator[_Offer]:
    # Editors may preselect the first action, so the first one decides nothing.
    if question.session:
        show: tuple[str, dict[str, Any]] = (
            "acpls.session.openConversation",
            {"session": question.session},
        )
    else:
        show = "acpls.question.list", {}
    yield _Offer(f"{SHOW_REQUEST}: {question.title}", *show)
    for option in question.options:
        yield _Offer(
            f"{option.name or option.option}: {question.title}",
            "acpls.question.answer",
            {"question": question.key, "option": option.option},
        )


def _verdicts(state: State, uri: str, span: types.Range) -> Iterator[_Offer]:
    hunks = hunks_of(state, uri)
    here = [hunk for hunk in hunks if _touches(hunk["range"], span)]
    for hunk in here[:HUNKS_LIMIT]:
        line = hunk["range"]["start"]["line"] + 1
        which = "this change" if len(here) == 1 else f"the change in line {line}"
        for verb, command in _VERBS:
            yield _Offer(f"{verb} {which}", command, {"hunk": hunk["hunk"]})
    if len(hunks) > 1:
        for verb, command in _VERBS:
            yield _Offer(f"{verb} all {len(hunks)} changes in this file", command, {"uri": uri})


def _verdicts_elsewhere(state: State, uri: str) -> Iterator[_Offer]:
    waiting = sum(len(file.hunks) for file in state.ledger.pending())
    if waiting > len(hunks_of(state, uri)):
        which = "the change" if waiting == 1 else f"all {waiting} changes"
        for verb, command in _VERBS:
            yield _Offer(f"{verb} {which} in all files", command, {"all": True})


def _touches(hunk: dict[str, Any], span: types.Range) -> bool:
    start, end = hunk["start"]["line"], max(hunk["end"]["line"] - 1, hunk["start"]["line"])
    return bool(start <= span.end.line and span.start.line <= end)


def _stops(state: State) -> Iterator[_Offer]:
    for session in state.sessions.values():
        if session.busy:
            title, argument = state.agent(session.agent).title, {"session": session.key}
            yield _Offer(f"Stop {title}", "acpls.session.cancel", argument)
            if session.stopping:
                yield _Offer(
                    f"Wait no longer for {title} to stop", "acpls.session.endTurn", argument
                )


def _ask(uri: str, span: types.Range) -> _Offer:
    argument: dict[str, Any] = {"uri": uri}
    if span.start != span.end:
        argument["range"] = {
            "start": {"line": span.start.line, "character": span.start.character},
            "end": {"line": span.end.line, "character": span.end.character},
        }
    return _Offer("Ask the agent about this", "acpls.session.ask", argument, ASK)


def hover(state: State, params: types.HoverParams, *, markdown: bool = True) -> types.Hover | None:
    """What the hunk under the cursor replaces, as a diff."""
    at = types.Range(params.position, params.position)
    for hunk in hunks_of(state, params.text_document.uri):
        if _touches(hunk["range"], at):
            kind, text = types.MarkupKind.PlainText, _diff(hunk)
            if markdown:
                fence = "```"
                while fence in text:
                    fence += "`"
                kind, text = types.MarkupKind.Markdown, f"{fence}diff\n{text}{fence}"
            return types.Hover(types.MarkupContent(kind, text))
    return None


def _diff(hunk: dict[str, Any]) -> str:
    lines = [f"-{body(line)}\n" for line in split_lines(hunk["baseText"])]
    lines += [f"+{body(line)}\n" for line in split_lines(hunk["newText"])]
    if len(lines) > HOVER_LINES:
        left_out = len(lines) - HOVER_LINES
        lines[HOVER_LINES:] = [f"... and {left_out} lines more\n"]
    return "".join(lines)
