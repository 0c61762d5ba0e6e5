"""Code actions: what the user can do here.

Every action is a command, so that it works in editors that apply no edits from actions.

Invariant: a query; it reads the state and changes nothing.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from lsprotocol import types

from acpls.hub import form_documents
from acpls.lsp import answers, hunks
from acpls.lsp.offers import Offer
from acpls.lsp.wording import distinct, short
from acpls.review import placing

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from acpls.hub.state import State

ASK: Final = f"{types.CodeActionKind.Refactor.value}.acpls"
# With everything selected a menu must not have an entry for each of hundreds of hunks.
HUNKS_LIMIT: Final = 10
SESSIONS_LIMIT: Final = 5

_SESSION_TITLE_LIMIT: Final = 40
_MODES: Final = {
    "after": (("Hold changes until I decide", "before"),),
    "before": (("Apply changes at once", "after"),),
    "off": (("Hold changes until I decide", "before"), ("Put changes under review", "after")),
}


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


def _offers(state: State, uri: str, span: types.Range) -> Iterator[Offer]:
    form = form_documents.at(state, uri)
    if form is not None:
        yield from answers.in_form(form[0])
    yield from answers.offers(state, but=None if form is None else form[0])
    here = hunks.shown(state, uri)
    yield from _verdicts(state, here, uri, span)
    if any(conversation.uri == uri for conversation in state.conversations.values()):
        yield Offer(
            "Send what is written under the last heading", "acpls.session.send", {"uri": uri}
        )
    yield from _stops(state)
    yield from _verdicts_elsewhere(state, len(here))
    yield from _modes(state)
    yield _ask(uri, span)


# --- verdicts ----------------------------------------------------------------------------


def _verdicts(
    state: State, here: list[hunks.Shown], uri: str, span: types.Range
) -> Iterator[Offer]:
    at_cursor = [hunk for hunk in here if hunk.touches(span.start.line, span.end.line)]
    for hunk in at_cursor[:HUNKS_LIMIT]:
        for each in hunk.offers(alone=len(at_cursor) == 1):
            yield Offer(each.title, each.command, each.argument)
    for each in hunks.of_file(state, here, uri):
        yield Offer(each.title, each.command, each.argument)


def _verdicts_elsewhere(state: State, here: int) -> Iterator[Offer]:
    waiting = state.ledger.hunks()
    counts: dict[str, list[int]] = {}
    for change, pending in waiting:
        count = counts.setdefault(pending.author.session, [0, 0])
        count[0] += 1
        count[1] += placing.kept_only(change, pending) is None
    if len(counts) > 1:
        own = (key for key in counts if key in state.sessions)
        for key in islice(own, SESSIONS_LIMIT):
            session = state.sessions[key]
            title = short(session.title or state.agent(session.agent).title, _SESSION_TITLE_LIMIT)
            total, rejected = counts[key]
            yield from _all_of(total, rejected, f"of {title}", {"session": key})
    if len(waiting) > here:
        total, rejected = map(sum, zip(*counts.values(), strict=True))
        yield from _all_of(total, rejected, "in all files", {"all": True})


def _all_of(total: int, rejected: int, where: str, argument: dict[str, Any]) -> Iterator[Offer]:
    """Both verdicts on many hunks, of which so many can be rejected."""
    for (verb, command), count in zip(hunks.VERDICTS, (total, rejected), strict=True):
        if count:
            which = "the change" if total == 1 else f"{hunks.some(count, total)} changes"
            yield Offer(f"{verb} {which} {where}", command, argument)


def _modes(state: State) -> Iterator[Offer]:
    if state.ledger.hunks() or any(session.busy for session in state.sessions.values()):
        for title, mode in _MODES[state.review_mode]:
            yield Offer(title, "acpls.review.setMode", {"mode": mode}, ASK)


# --- turns, prompts ------------------------------------------------------------------------


def _stops(state: State) -> Iterator[Offer]:
    busy = [session for session in state.sessions.values() if session.busy]
    for session in busy:
        title, argument = state.agent(session.agent).title, {"session": session.key}
        if len(busy) > 1:
            title += f", {short(session.title or session.key, _SESSION_TITLE_LIMIT)}"
        yield Offer(f"Stop {title}", "acpls.session.cancel", argument)
        if session.stopping:
            yield Offer(f"Wait no longer for {title} to stop", "acpls.session.endTurn", argument)


def _ask(uri: str, span: types.Range) -> Offer:
    argument: dict[str, Any] = {"uri": uri}
    if span.start != span.end:
        argument["range"] = {
            "start": {"line": span.start.line, "character": span.start.character},
            "end": {"line": span.end.line, "character": span.end.character},
        }
    return Offer("Ask the agent about this", "acpls.session.ask", argument, ASK)
