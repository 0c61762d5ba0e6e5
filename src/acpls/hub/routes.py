"""To whom an outcome goes, by the token of the effect that it is the outcome of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from acpls.hub import (
    asking,
    changes,
    checkpoints,
    claims,
    conversing,
    documents,
    editing,
    files,
    form_documents,
    holding,
    in_step,
    login,
    mentions,
    permission_commands,
    permissions,
    places,
    putting,
    replies,
    sessions,
    stored,
    tokens,
    turns,
    verdicts,
    write_questions,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from acpls import events as ev
    from acpls.hub.state import Effects, State


def _edit_due(state: State, token: tokens.EditDue) -> Effects:
    reason = "the editor said that it made the edit, but did not"
    doubtful = editing.is_doubtful(state, token.edit)
    yield from came_to_nothing(state, token.edit, reason, doubtful=doubtful)


def came_to_nothing(state: State, edit: int, reason: str, *, doubtful: bool) -> Effects:
    """An edit was not made; ``doubtful``: or perhaps it was, elsewhere in the document."""
    own = state.edits.pop(edit, None)
    if own is not None:
        yield from NOTHING[type(own.token)](state, own.token, reason, doubtful=doubtful)


def _ignored(*_: object) -> Effects:
    return iter(())


READ: Mapping[type, Callable[[State, Any, ev.FileRead], Effects]] = {
    tokens.ForAgent: files.read,
    tokens.ForWrite: files.look,
    tokens.SavedWrite: files.seen_saved,
    tokens.ForClaim: claims.read,
    tokens.Look: _ignored,
    tokens.Opened: in_step.opened_read,
    tokens.InStep: in_step.read,
    tokens.ForVerdict: verdicts.read,
    tokens.ForConversation: conversing.read,
    tokens.ForForm: form_documents.read,
    tokens.ForStored: stored.read,
}
WRITTEN: Mapping[type, Callable[[State, Any, ev.FileWritten], Effects]] = {
    tokens.ForAgent: files.written,
    tokens.ForVerdict: verdicts.written,
    tokens.ForConversation: conversing.written,
    tokens.ForForm: form_documents.written,
    tokens.IgnoreFile: _ignored,
}
FILE_CHANGED: Mapping[type, Callable[[State, Any], Effects]] = {
    tokens.ForForm: form_documents.remove,
    tokens.ForVerdict: verdicts.file_changed,
}
LOOKED: Mapping[type, Callable[[State, Any, ev.LookedAt], Effects]] = {
    tokens.ForPlace: places.looked,
    tokens.ForLinks: mentions.links_found,
    tokens.ForMention: mentions.place_found,
}
STORED: Mapping[type, Callable[[State, Any, ev.StoredRead], Effects]] = {
    tokens.ForRestore: checkpoints.texts_read,
    tokens.LoadedReview: stored.texts_read,
}
PERMISSIONS: Mapping[type, Callable[[State, Any, ev.PermissionsRead], Effects]] = {
    tokens.ToJudge: permissions.read,
    tokens.ToRemember: permissions.to_remember,
    tokens.RulesWanted: permission_commands.read,
}
SAVED: Mapping[type, Callable[[State, Any, ev.DocumentSaved], Effects]] = {
    tokens.ForWrite: files.document_saved,
    tokens.SavedFirst: write_questions.saved_first,
    tokens.ForVerdict: verdicts.document_saved,
}
RAN: Mapping[type, Callable[[State, Any, ev.ProgramRan], Effects]] = {
    tokens.ForLogin: login.program_ran,
}
TIME: Mapping[type, Callable[[State, Any], Effects]] = {
    tokens.AskDue: replies.ask_due,
    tokens.CancelDue: sessions.cancel_due,
    tokens.CrossedCancel: asking.crossed_cancel,
    tokens.NotShown: putting.not_shown,
    tokens.NotReopened: replies.not_reopened,
    tokens.NextPrompt: sessions.prompt_due,
    tokens.Failed: replies.tell_failure,
    tokens.HeldChanges: documents.release,
    tokens.EditDue: _edit_due,
    tokens.InStep: in_step.due,
    tokens.ForVerdict: verdicts.time_passed,
    tokens.ForConversation: conversing.time_passed,
    tokens.HoldDue: holding.due,
    tokens.Foregone: verdicts.foregone,
    tokens.NotSaved: changes.not_saved,
    tokens.TurnEnds: turns.ends_late,
    tokens.StoreDue: stored.due,
    tokens.FollowDue: places.due,
}
NOTHING: Mapping[type, Callable[..., Effects]] = {
    tokens.InStep: in_step.came_to_nothing,
    tokens.ForWrite: files.came_to_nothing,
    tokens.ForVerdict: verdicts.came_to_nothing,
    tokens.ForConversation: conversing.came_to_nothing,
    tokens.ForForm: form_documents.not_emptied,
}
