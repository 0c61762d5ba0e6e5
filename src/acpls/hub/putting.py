"""Questions are put to the user: by the editor's own means, by a dialog, or by a message.

Code actions, diagnostics, progress and commands have every open question at once, in any
editor; what is done here comes besides.

Invariant: the questions of a session are put in the order in which they came, and one dialog
at a time. Waiting never answers a question.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from acpls.effects import After, PutQuestion, TellUser
from acpls.hub import telling
from acpls.hub.tokens import NotShown
from acpls.review.composing import Author
from acpls.session.content import AboutToolCall

if TYPE_CHECKING:
    from acpls.hub.state import Effects, State
    from acpls.questions import Question

SHOWN_LIMIT_S: Final = 3.0
"""Within so many seconds an editor that shows questions itself is to say that it did."""

_MESSAGE_LIMIT: Final = 60


def put_next(state: State) -> Effects:
    """Put questions to the user: all at once to an editor that queues them itself, else one
    dialog at a time; and see to it that each can be seen somewhere.

    A question about changes waits until these have been looked at, so that it can show them.
    """
    yield from _put(state)
    if state.editor.questions:
        yield from _expect_shown(state)
    yield from _next_dialog(state)
    yield from _tell_next(state)


def _put(state: State) -> Effects:
    pending = state.questions.pending()
    # One that had to wait may be older than the one whose dialog is open.
    in_dialog = any(_is_in_dialog(state, q) for q in pending)
    blocked: set[tuple[str, str]] = set()
    for question in pending:
        drawn = _draws(state, question)
        if not drawn and (in_dialog or not state.may_use_dialogs):
            continue
        if question.put:
            continue
        queue = (question.agent, question.session)
        if queue in blocked or _unread(state, question):
            blocked.add(queue)
            continue
        question.put = True
        in_dialog = in_dialog or not drawn
        yield PutQuestion(question.key)


def _is_in_dialog(state: State, question: Question) -> bool:
    plain = question.put and not (question.dismissed or _draws(state, question))
    return plain or question.dialog == "open"


def _is_put(state: State, question: Question) -> bool:
    return _draws(state, question) or state.may_use_dialogs


def _draws(state: State, question: Question) -> bool:
    """Whether the editor draws the question itself, beside others."""
    return state.editor.questions or (state.editor.forms and question.kind in {"form", "link"})


def _unread(state: State, question: Question) -> bool:
    if _is_judged(state, question):
        return True
    if not isinstance(question.subject, AboutToolCall) or question.subagent is not None:
        return False
    return state.claims_awaited[Author(question.session, question.subject.tool_call)] > 0


def _is_judged(state: State, question: Question) -> bool:
    """Whether a rule may still answer it."""
    return question.kind == "permission" and state.permissions.is_awaited(question.key)


# --- whether it is seen ----------------------------------------------------------------


def _expect_shown(state: State) -> Effects:
    """See after a while whether the oldest question is on the screen. While another one is,
    those behind it wait in the editor's own queue.
    """
    if _on_screen(state):
        return
    oldest = next(iter(_expected(state)), None)
    if oldest is not None and not oldest.expected:
        oldest.expected = True
        yield After(SHOWN_LIMIT_S, NotShown(oldest.key))


def not_shown(state: State, token: NotShown) -> Effects:
    """An editor has had its time to show a question: what it does not show, others do."""
    question = state.questions.all[token.question]
    question.expected = False
    if question in _expected(state) and not _on_screen(state):
        for each in _expected(state):
            each.unseen = True
    yield from put_next(state)


def not_put(state: State, question: Question) -> Effects:
    """The editor could not show a question, or says so."""
    question.unseen = question.unseen or not question.shown
    yield from put_next(state)


def _on_screen(state: State) -> bool:
    return any(q.shown and not q.dismissed for q in state.questions.pending())


def _expected(state: State) -> list[Question]:
    """The questions that the editor was given and has not said anything about."""
    pending = state.questions.pending()
    return [q for q in pending if q.put and not (q.shown or q.unseen or q.dismissed)]


# --- other ways ------------------------------------------------------------------------


def _next_dialog(state: State) -> Effects:
    """A dialog for what an editor was to show by its own means, and does not."""
    pending = state.questions.pending()
    if not state.may_use_dialogs or any(_is_in_dialog(state, q) for q in pending):
        return
    unseen = (q for q in pending if q.unseen and q.dialog == "none" and _draws(state, q))
    question = next(unseen, None)
    if question is not None:
        question.dialog = "open"
        yield PutQuestion(question.key, dialog=True)


def _tell_next(state: State) -> Effects:
    """Tell by a message of the oldest question that the editor does not show itself; of the
    next one when that is settled, so that many of them are no nuisance.
    """
    if _is_told(state):
        return
    for question in state.questions.pending():
        seen = _is_shown(state, question) or _is_judged(state, question)
        if not seen and not _is_stopped(state, question):
            yield _message(state, question)
            return


def _is_stopped(state: State, question: Question) -> bool:
    """Whether it goes with its turn, which is being stopped."""
    session = state.sessions.get(question.session)
    return session is not None and session.stopping and question.foreground


def tell_plainly(state: State, question: Question) -> Effects:
    """Tell of a question that stands in no conversation, where the editor shows none itself.

    The log then has all of it, a page's address too, and code actions have the answers.
    """
    if not _is_shown(state, question):
        urgent = not _is_told(state)
        yield _message(state, question) if urgent else _logged(state, question)


def _is_told(state: State) -> bool:
    return any(q.told for q in state.questions.pending())


def _is_shown(state: State, question: Question) -> bool:
    return question.told or (_is_put(state, question) and not question.unseen)


def _message(state: State, question: Question) -> TellUser:
    question.told = True
    line = telling.line(state, question, _MESSAGE_LIMIT)
    return TellUser("error", f"Waiting for you: {line}", _detail(state, question))


def _logged(state: State, question: Question) -> TellUser:
    line = telling.line(state, question, _MESSAGE_LIMIT)
    return TellUser("info", f"Waiting for you: {line}", _detail(state, question))


def _detail(state: State, question: Question) -> str:
    told = telling.told(state, question)
    options = (f"- {name}" for _, name in told.options)
    return "\n".join([told.title, *told.whole(), *options, "A code action answers it."])
