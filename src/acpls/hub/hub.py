"""The hub: an event comes in, effects go out, and all state is in between.

Invariant: ``handle`` never waits and never nests. It changes state by plain functions, in
the order of the events; what takes time is an effect, and what comes of it an event.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from acpls import events as ev
from acpls.effects import (
    FailCommand,
    LoadChoices,
    PutQuestion,
    QuestionSettled,
    ShowDocument,
    ShowFollow,
    ShowQuestions,
    ShowSession,
    TellUser,
)
from acpls.hub import (
    agents,
    asking,
    changes,
    commits,
    conversing,
    documents,
    editing,
    files,
    follow_commands,
    form_documents,
    forms,
    links,
    login,
    mentions,
    permissions,
    places,
    replies,
    routes,
    sessions,
    stored,
    tokens,
    turns,
    write_questions,
)
from acpls.hub.commands import COMMANDS
from acpls.hub.putting import put_next
from acpls.hub.state import CannotDo, State
from acpls.settings import AgentSpec, parse
from acpls.settings.rules import NOT_STOPPED

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
        stood = follow_commands.standing(self.state)
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
        if follow_commands.standing(self.state) != stood:
            effects.append(ShowFollow())
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
                if not state.choices_asked:
                    state.choices_asked = True
                    yield LoadChoices()
                yield from stored.ready(state, event)
                yield from put_next(state)
            case ev.EditorLeft():
                yield from stored.store(state)
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
            case ev.FocusChanged():
                yield from places.focused(state, event)
            case ev.LinksAsked():
                yield from mentions.links_asked(state, event)
            case ev.PlaceAsked():
                yield from mentions.place_asked(state, event)
            case ev.TrailAsked():
                yield from mentions.trail_asked(state, event)
            case ev.CommandGiven(name, arguments, ticket):
                yield from COMMANDS[name](state, arguments, ticket)
            case ev.CommandAbandoned():
                # The work goes on; its answer finds nobody and is dropped at the rim.
                pass
            case ev.QuestionPut():
                yield from asking.was_put(state, event)
                yield from places.go(state)
            case ev.QuestionShown():
                asking.was_shown(state, event)
            case ev.ProgramRan(token):
                yield from routes.RAN[type(token)](state, token, event)
            case ev.EditApplied(edit) | ev.EditRefused(edit) if edit in state.file_edits:
                file_token = state.file_edits.pop(edit)
                yield from routes.FILE_CHANGED[type(file_token)](state, file_token)
            case ev.EditApplied(edit):
                yield from editing.applied(state, edit)
            case ev.EditRefused(edit, reason):
                reason = f"the editor refused the edit: {reason}"
                yield from routes.came_to_nothing(state, edit, reason, doubtful=False)
            case ev.DocumentSaved(token):
                yield from routes.SAVED[type(token)](state, token, event)
            case ev.FileRead(token, disk, earlier):
                match token:
                    case tokens.ForClaim():
                        pass
                    case tokens.ForWrite() | tokens.SavedWrite():
                        yield from changes.settle(state, disk.place)
                        yield from changes.noticed(state, disk, earlier)
                    case _:
                        yield from changes.heard(state, disk, earlier)
                yield from routes.READ[type(token)](state, token, event)
                # A question about changes waits until they have been looked at.
                yield from put_next(state)
            case ev.FileWritten(token, before=before, earlier=earlier):
                yield from changes.settle(state, before.place)
                yield from changes.noticed(state, before, earlier)
                yield from routes.WRITTEN[type(token)](state, token, event)
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
                yield from routes.STORED[type(token)](state, token, event)
            case ev.ReviewLoaded():
                yield from stored.loaded(state, event)
            case ev.LookedAt(token):
                yield from routes.LOOKED[type(token)](state, token, event)
            case ev.ChoicesLoaded():
                follow_commands.choices_loaded(state, event)
            case ev.PermissionsRead(token):
                yield from routes.PERMISSIONS[type(token)](state, token, event)
                # A question that no rule answers is put.
                yield from put_next(state)
            case ev.PermissionKept(token):
                assert isinstance(token, tokens.RuleKept)
                yield from permissions.kept(state, token, event)
            case ev.TimePassed(token):
                yield from routes.TIME[type(token)](state, token)
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
        state.follow.idle_s = state.settings.idle_seconds
        state.follow.set(state.settings.follow_on)
        for problem in state.problems:
            yield TellUser("warning", problem)
        open_to = tuple(problem for problem in state.problems if NOT_STOPPED in problem)
        if open_to and open_to != state.not_stopped:
            some = "A rule does" if len(open_to) == 1 else f"{len(open_to)} rules do"
            yield TellUser("error", f"{some} not hold, and nothing is stopped by it", open_to[0])
        state.not_stopped = open_to
        if state.settings.rules != rules:
            yield from permissions.judge_all(state)
        yield from put_next(state)
        yield from places.go(state)

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
                elif question.kind == "form":
                    yield from form_documents.settled(self.state, question)
                yield from places.go(self.state)
            elif isinstance(effect, PutQuestion):
                places.interrupted(self.state)
            elif isinstance(effect, ShowDocument):
                places.expects(self.state, effect.uri)


def _failed(event: ev.Event, cannot: CannotDo) -> Effect:
    ticket = event.ticket if isinstance(event, ev.CommandGiven) else None
    if ticket is None:
        return TellUser("error", cannot.message)
    code = REQUEST_FAILED if cannot.field is None else INVALID_PARAMS
    return FailCommand(ticket, code, cannot.message, field=cannot.field)
