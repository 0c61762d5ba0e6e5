"""The hub: an event comes in, effects go out, and all state is in between.

Invariant: ``handle`` never waits and never nests. It changes state by plain functions, in
the order of the events; what takes time is an effect, and what comes of it an event.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, assert_never

from acpls import events as ev
from acpls.effects import FailCommand, QuestionSettled, ShowQuestions, ShowSession, TellUser
from acpls.hub import (
    agents,
    asking,
    changes,
    checkpoints,
    claims,
    commits,
    conversing,
    documents,
    editing,
    files,
    forms,
    holding,
    in_step,
    links,
    login,
    permission_commands,
    permissions,
    putting,
    replies,
    sessions,
    stored,
    tokens,
    turns,
    verdicts,
    write_questions,
)
from acpls.hub.commands import COMMANDS
from acpls.hub.putting import put_next
from acpls.hub.state import CannotDo, State
from acpls.settings import AgentSpec, parse

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from acpls.effects import Effect
    from acpls.hub.state import Effects

INVALID_PARAMS = -32602
REQUEST_FAILED = -32803


class Hub:
    """All decisions of the bridge. ``default_agent`` is used where none is configured;
    ``launch`` is a word that no other run of the server has. ``below`` is a layer of raw
    settings below those that come; ``lent_to`` gives, for such layers, the known agents that
    complete entries without a command.
    """

    def __init__(
        self,
        default_agent: AgentSpec,
        launch: str = "0",
        *,
        below: object = None,
        lent_to: Callable[[Sequence[object]], Mapping[str, AgentSpec]] = lambda _: {},
    ) -> None:
        self._default_agent = default_agent
        self._below = below
        self._lent_to = lent_to
        settings, _ = parse((below,), default_agent, lent_to((below,)))
        self.state = State(settings, launch, shared_agents=frozenset(settings.agents))

    def handle(self, event: ev.Event, now_s: float) -> list[Effect]:
        """Take an event in at the monotonic time ``now_s`` (seconds); the effects come back
        in the order in which they are to be performed.
        """
        self.state.now_s = now_s
        effects: list[Effect] = []
        try:
            # One by one, so that what was decided before a refusal is still done.
            for effect in self._handle(event):
                effects.append(effect)  # noqa: PERF402 -- not all at once
        except CannotDo as cannot:
            effects.append(_failed(event, cannot))
        news = effects
        while news := list(self._touched(news)):
            effects = [*effects, *news]
        return [*effects, *stored.touched(self.state, event, effects)]

    def _handle(self, event: ev.Event) -> Effects:  # noqa: PLR0915 -- a table
        state = self.state
        match event:
            case (
                ev.AgentStarting()
                | ev.AgentReady()
                | ev.SessionTold()
                | ev.Notified()
                | ev.QuestionAsked()
                | ev.FormAsked()
                | ev.LinkAsked()
                | ev.LinkDone()
                | ev.RequestWithdrawn()
                | ev.AnswerLost()
                | ev.FileReadAsked()
                | ev.FileWriteAsked()
                | ev.AgentMisspoke()
            ) if state.agent(event.agent).ending:
                # It is of a process that was ended, and the session may be open in the next.
                pass
            case ev.SessionTold():
                yield from sessions.told(state, event)
            case ev.Replied():
                yield from replies.replied(state, event)
            case ev.Notified():
                yield from sessions.notified(state, event)
            case ev.LeftOut():
                yield from agents.left_out(state, event)
            case ev.AskFailed(ask=ask, failure=failure):
                yield from replies.failed(state, ask, failure)
            case ev.QuestionAsked():
                yield from asking.asked(state, event)
            case ev.FormAsked():
                yield from forms.asked(state, event)
            case ev.LinkAsked():
                yield from links.asked(state, event)
            case ev.LinkDone():
                yield from links.done(state, event)
            case ev.RequestWithdrawn():
                yield from asking.withdrawn(state, event)
            case ev.AnswerLost():
                yield from asking.answer_lost(state, event)
            case ev.FileReadAsked():
                yield from files.read_asked(state, event)
            case ev.FileWriteAsked():
                yield from files.write_asked(state, event)
            case ev.AgentStarting():
                yield from agents.starting(state, event)
            case ev.AgentReady():
                yield from agents.ready(state, event)
                if state.agent(event.agent).wants_login:
                    state.agent(event.agent).wants_login = False
                    yield from login.offer(state, event.agent)
            case ev.AgentMisspoke():
                yield from agents.misspoke(event)
            case ev.AgentEnded():
                yield from agents.ended(state, event)
            case ev.EditorReady():
                state.editor = event
                yield from stored.ready(state, event)
                yield from put_next(state)
            case ev.SettingsChanged(layers):
                yield from self._settings(layers)
            case ev.BufferOpened():
                yield from documents.opened(state, event)
            case ev.BufferChanged():
                yield from documents.changed(state, event)
            case ev.BufferSaved():
                yield from documents.saved(state, event)
            case ev.BufferClosed():
                yield from documents.closed(state, event)
            case ev.FocusChanged(typing=typing):
                state.follow.typing = typing
            case ev.CommandGiven(name, arguments, ticket):
                yield from COMMANDS[name](state, arguments, ticket)
            case ev.CommandAbandoned():
                # The work goes on; its answer finds nobody and is dropped at the rim.
                pass
            case ev.QuestionPut():
                yield from asking.was_put(state, event)
            case ev.QuestionShown():
                asking.was_shown(state, event)
            case ev.ProgramRan(token):
                yield from _RAN[type(token)](state, token, event)
            case ev.EditApplied(edit) | ev.EditRefused(edit) if edit in state.file_edits:
                yield from verdicts.file_changed(state, state.file_edits.pop(edit))
            case ev.EditApplied(edit):
                yield from editing.applied(state, edit)
            case ev.EditRefused(edit, reason):
                reason = f"the editor refused the edit: {reason}"
                yield from _came_to_nothing(state, edit, reason, doubtful=False)
            case ev.DocumentSaved(token):
                yield from _SAVED[type(token)](state, token, event)
            case ev.FileRead(token, disk, earlier):
                match token:
                    case tokens.ForClaim():
                        pass
                    case tokens.ForWrite() | tokens.SavedWrite():
                        yield from changes.settle(state, disk.place)
                        yield from changes.noticed(state, disk, earlier)
                    case _:
                        yield from changes.heard(state, disk, earlier)
                yield from _READ[type(token)](state, token, event)
                # A question about changes waits until they have been looked at.
                yield from put_next(state)
            case ev.FileWritten(token, before=before, earlier=earlier):
                yield from changes.settle(state, before.place)
                yield from changes.noticed(state, before, earlier)
                yield from _WRITTEN[type(token)](state, token, event)
            case ev.FileNoticed(disk, earlier):
                yield from changes.heard(state, disk, earlier)
            case ev.FilesSynced():
                yield from turns.synced(state, event)
            case ev.HeadMoved():
                yield from commits.moved(state)
            case ev.HeadCompared(token, same):
                assert isinstance(token, tokens.AtHead)
                yield from commits.compared(state, token, same)
            case ev.StoredRead(token):
                yield from _STORED[type(token)](state, token, event)
            case ev.ReviewLoaded():
                yield from stored.loaded(state, event)
            case ev.PermissionsRead(token):
                yield from _PERMISSIONS[type(token)](state, token, event)
                # A question that no rule answers is put.
                yield from put_next(state)
            case ev.PermissionKept(token):
                assert isinstance(token, tokens.RuleKept)
                yield from permissions.kept(state, token, event)
            case ev.TimePassed(token):
                yield from _TIME[type(token)](state, token)
            case _:
                assert_never(event)

    def _settings(self, layers: tuple[object, ...]) -> Effects:
        state = self.state
        whole = (self._below, *layers)
        lent = self._lent_to(whole)
        rules = state.settings.rules
        state.settings, state.problems = parse(whole, self._default_agent, lent)
        # What the editor sets itself, in the layers after the file, nobody else can see.
        shared, _ = parse(whole[:2], self._default_agent, lent)
        own = state.settings.agents
        state.shared_agents = frozenset(
            n for n, spec in shared.agents.items() if spec == own.get(n)
        )
        state.follow.on = state.settings.follow_on
        state.follow.idle_s = state.settings.idle_seconds
        for problem in state.problems:
            yield TellUser("warning", problem)
        if state.settings.rules != rules:
            yield from permissions.judge_all(state)
        yield from put_next(state)

    def _touched(self, effects: list[Effect]) -> Effects:
        """Whatever changed in a session changes its conversation document too."""
        keys = [e.session for e in effects if isinstance(e, ShowSession)]
        if any(isinstance(e, ShowQuestions) for e in effects):
            keys += self.state.conversations
        for key in dict.fromkeys(keys):
            yield from conversing.touch(self.state, key)
        for effect in effects:
            if isinstance(effect, QuestionSettled):
                question = self.state.questions.all[effect.question]
                if question.session in self.state.sessions:
                    yield ShowSession(question.session, "state")
                if question.kind == "write":
                    yield from write_questions.settled(self.state, question)


def _failed(event: ev.Event, cannot: CannotDo) -> Effect:
    ticket = event.ticket if isinstance(event, ev.CommandGiven) else None
    if ticket is None:
        return TellUser("error", cannot.message)
    code = REQUEST_FAILED if cannot.field is None else INVALID_PARAMS
    return FailCommand(ticket, code, cannot.message, field=cannot.field)


def _edit_due(state: State, token: tokens.EditDue) -> Effects:
    reason = "the editor said that it made the edit, but did not"
    doubtful = editing.is_doubtful(state, token.edit)
    yield from _came_to_nothing(state, token.edit, reason, doubtful=doubtful)


def _came_to_nothing(state: State, edit: int, reason: str, *, doubtful: bool) -> Effects:
    """An edit was not made; ``doubtful``: or perhaps it was, elsewhere in the document."""
    own = state.edits.pop(edit, None)
    if own is not None:
        yield from _NOTHING[type(own.token)](state, own.token, reason, doubtful=doubtful)


def _ignored(*_: object) -> Effects:
    return iter(())


# --- to whom a token belongs -----------------------------------------------------------

_READ: Mapping[type, Callable[[State, Any, ev.FileRead], Effects]] = {
    tokens.ForAgent: files.read,
    tokens.ForWrite: files.look,
    tokens.SavedWrite: files.seen_saved,
    tokens.ForClaim: claims.read,
    tokens.Look: _ignored,
    tokens.Opened: in_step.opened_read,
    tokens.InStep: in_step.read,
    tokens.ForVerdict: verdicts.read,
    tokens.ForConversation: conversing.read,
    tokens.ForStored: stored.read,
}
_WRITTEN: Mapping[type, Callable[[State, Any, ev.FileWritten], Effects]] = {
    tokens.ForAgent: files.written,
    tokens.ForVerdict: verdicts.written,
    tokens.ForConversation: conversing.written,
    tokens.IgnoreFile: _ignored,
}
_STORED: Mapping[type, Callable[[State, Any, ev.StoredRead], Effects]] = {
    tokens.ForRestore: checkpoints.texts_read,
    tokens.LoadedReview: stored.texts_read,
}
_PERMISSIONS: Mapping[type, Callable[[State, Any, ev.PermissionsRead], Effects]] = {
    tokens.ToJudge: permissions.read,
    tokens.ToRemember: permissions.to_remember,
    tokens.RulesWanted: permission_commands.read,
}
_SAVED: Mapping[type, Callable[[State, Any, ev.DocumentSaved], Effects]] = {
    tokens.ForWrite: files.document_saved,
    tokens.SavedFirst: write_questions.saved_first,
    tokens.ForVerdict: verdicts.document_saved,
}
_RAN: Mapping[type, Callable[[State, Any, ev.ProgramRan], Effects]] = {
    tokens.ForLogin: login.program_ran,
}
_TIME: Mapping[type, Callable[[State, Any], Effects]] = {
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
}
_NOTHING: Mapping[type, Callable[..., Effects]] = {
    tokens.InStep: in_step.came_to_nothing,
    tokens.ForWrite: files.came_to_nothing,
    tokens.ForVerdict: verdicts.came_to_nothing,
    tokens.ForConversation: conversing.came_to_nothing,
}
