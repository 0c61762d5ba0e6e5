"""Questions are put to the user, where the editor shows them itself.

Invariant: a question about changes waits until these have been looked at.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from acpls.effects import PutQuestion, TellUser
from acpls.review.composing import Author
from acpls.session.content import AboutToolCall

if TYPE_CHECKING:
    from acpls.hub.state import Effects, State
    from acpls.questions import Question


def put_next(state: State) -> Effects:
    """Put questions to the user: all at once to an editor that queues them itself, else one
    dialog at a time.

    A question about changes waits until these have been looked at, so that it can show them.
    """
    pending = state.questions.pending()
    # One that had to wait may be older than the one whose dialog is open.
    in_dialog = any(q.put and not (q.dismissed or _draws(state, q)) for q in pending)
    for question in pending:
        drawn = _draws(state, question)
        if not drawn and (in_dialog or not state.may_use_dialogs):
            continue
        if question.put or _unread(state, question):
            continue
        question.put = True
        in_dialog = in_dialog or not drawn
        yield PutQuestion(question.key)


def tell_plainly(state: State, question: Question) -> Effects:
    """Tell of a question that stands in no conversation, where the editor shows none itself.

    The log then has all of it, a page's address too, and code actions have the answers.
    """
    if not _draws(state, question) and not state.may_use_dialogs:
        message = f"{question.title}: a code action answers"
        yield TellUser("error", message, question.description or "")


def _draws(state: State, question: Question) -> bool:
    """Whether the editor draws the question itself, beside others."""
    return state.editor.questions or (state.editor.forms and question.kind in {"form", "link"})


def _unread(state: State, question: Question) -> bool:
    if question.kind == "permission" and state.permissions.is_awaited(question.key):
        # A rule may answer it.
        return True
    if not isinstance(question.subject, AboutToolCall):
        return False
    return state.claims_awaited[Author(question.session, question.subject.tool_call)] > 0
