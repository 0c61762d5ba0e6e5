"""Questions are held against the rules of the settings, and those that the user's answers made.

Where the paths of a question really are is looked up first, and what is remembered is read anew,
since another server may have changed it. Until then the question is listed, and not put.

Invariant: a rule only chooses among the options that the agent offers, and settles a question as
any answer does; where it is not sure what to choose the user is asked.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, Literal

from acpls.effects import KeepPermission, ReadPermissions, TellUser
from acpls.hub import claims, sessions, telling
from acpls.hub.state import CannotDo
from acpls.hub.tokens import RuleKept, ToJudge, ToRemember
from acpls.permissions import (
    CHANGING,
    SCOPES,
    Places,
    Request,
    dump,
    remember,
    request_of,
    wanted,
)
from acpls.permissions import (
    judge as judged,
)
from acpls.review.composing import Author
from acpls.session import updates as up
from acpls.session.content import AboutCommand, AboutToolCall
from acpls.session.entries import ToolCall
from acpls.text.visible import middle

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from acpls.events import PermissionKept, PermissionsRead
    from acpls.hub.state import Effects, State
    from acpls.permissions import Remembered, Scope, Verdict
    from acpls.questions import Question
    from acpls.session.state import Session

WHERE: Final = {
    "session": "for the session",
    "workspace": "in this workspace",
    "user": "everywhere",
}

_TITLE_LIMIT: Final = 500

TRIES: Final = 3
"""How often a question is looked into anew, whose tool call names other files meanwhile."""


def asked(state: State, question: Question) -> Effects:
    """Take down what a question is about, as the user will read it, and let the rules answer."""
    question.asked = _request(state, state.sessions[question.session], question)
    yield from judge(state, question)


def judge(state: State, *questions: Question, tries: int = 0) -> Effects:
    """Let the rules answer questions, when it is known where their files are."""
    pending = [q for q in questions if q.open and q.kind == "permission"]
    if not pending:
        return
    paths = tuple(dict.fromkeys(p for q in pending for p in _paths(state, q)))
    keys = tuple(q.key for q in pending)
    state.permissions.awaits(keys)
    yield ReadPermissions(ToJudge(keys, frozenset(paths), tries), paths)


def judge_all(state: State) -> Effects:
    """Judge all open questions anew, since there are other rules."""
    yield from judge(state, *state.questions.pending())


def read(state: State, token: ToJudge, event: PermissionsRead) -> Effects:
    """What the rules have to know is known."""
    state.permissions.read(event.stored, event.stamp)
    state.permissions.judged(token.questions)
    for key in token.questions:
        question = state.questions.all[key]
        missing = {*_paths(state, question)} - token.paths if question.open else ()
        if missing and token.tries < TRIES:
            yield from judge(state, question, tries=token.tries + 1)
        elif question.open and not state.permissions.remembering:
            yield from _decide(state, question, event.places)


def _decide(state: State, question: Question, real: Mapping[str, str]) -> Effects:
    session, rules = state.sessions[question.session], state.settings.rules
    remembered = tuple(state.permissions.rules({session.key}, state.editor.roots))
    requests, places = _requests(state, question), Places(real, state.roots_of(session))
    verdicts = [judged(rules, remembered, request, places) for request in requests]
    refused = (x for x in verdicts if x is not None and x.decision == "deny")
    verdict = next(refused, None) or (None if None in verdicts else verdicts[0])
    if verdict is None:
        return
    if verdict.decision == "allow" and not _may_be_allowed(state, session, question, requests):
        return
    option = _option(question, verdict.decision)
    if option is not None:
        yield from _settle(state, session, question, verdict, option)


def _may_be_allowed(
    state: State, session: Session, question: Question, requests: Iterable[Request]
) -> bool:
    """Whether the user wants anything to be allowed now without a word of his."""
    if session.stopping and question.foreground and question.turn == session.turn:
        return False
    # He wants to see each change before it is made.
    changes = any(request.changed or request.kinds & CHANGING for request in requests)
    about = question.about
    shown = about is not None and (about.claims or about.diff)
    return not ((changes or shown) and state.review_mode == "before")


def _settle(
    state: State, session: Session, question: Question, verdict: Verdict, option: str
) -> Effects:
    yield from state.questions.settle(question, "rule", option)
    word = "Allowed" if verdict.decision == "allow" else "Refused"
    title = middle(question.title, _TITLE_LIMIT)
    said, by = f"{word} by rule: {title}", "; ".join(verdict.by)
    yield TellUser("info", f"{state.agent(session.agent).title}: {said} ({by})")
    yield from sessions.apply(state, session, up.NoticeGiven("info", said, by))
    subject = None if question.subagent is not None else question.subject
    if verdict.decision == "deny" and isinstance(subject, AboutToolCall):
        # As after the user's own refusal: some agents tell no more of such a tool call.
        yield from claims.drop(state, Author(session.key, subject.tool_call))


def _option(question: Question, decision: str) -> str | None:
    """The option that says so once; a rule binds the agent to nothing for ever."""
    by_kind: dict[str, list[str]] = {}
    for offered in question.options:
        by_kind.setdefault(offered.kind, []).append(offered.option)
    if decision == "allow":
        # Of several ways to allow something the user has to choose.
        once = by_kind.get("allow_once", [])
        return once[0] if len(once) == 1 else None
    refusing = (*by_kind.get("reject_once", ()), *by_kind.get("reject_always", ()))
    return next(iter(refusing), None)


# --- what is remembered ------------------------------------------------------------------


def check(state: State, question: Question, option: str, scope: str | None) -> None:
    """Raise ``CannotDo`` where an answer cannot be remembered in that scope."""
    if scope is None:
        return
    if question.kind != "permission" or _always(question, option) is None:
        message = "Only an answer that holds always is remembered, in a scope"
        raise CannotDo(message, field="scope")
    if scope == "workspace" and not state.editor.roots:
        message = "No folder is open, so nothing can be remembered for the workspace"
        raise CannotDo(message, field="scope")


def scopes(state: State, question: Question, option: str) -> tuple[Scope, ...]:
    """The scopes in which an answer can be remembered; the first one goes without saying."""
    if question.kind != "permission" or _always(question, option) is None:
        return ()
    return tuple(x for x in SCOPES if x != "workspace" or state.editor.roots)


def answered(state: State, question: Question, option: str, scope: Scope | None = None) -> Effects:
    """The user answered: an answer that holds always is remembered, and answers all others
    that are open and like it.
    """
    decision = _always(question, option)
    if question.kind != "permission" or decision is None or question.session not in state.sessions:
        return
    state.permissions.remembering += 1
    token = ToRemember(question.key, decision, scope or "session")
    yield ReadPermissions(token, tuple(_paths(state, question)))


def to_remember(state: State, token: ToRemember, event: PermissionsRead) -> Effects:
    """All that is needed to remember an answer is known."""
    book, question = state.permissions, state.questions.all[token.question]
    book.read(event.stored, event.stamp)
    book.remembering -= 1
    session = state.sessions[question.session]
    rule = remember(
        token.decision,
        token.scope,
        question.asked,
        Places(event.places, state.roots_of(session)),
        session=session.key,
        roots=state.editor.roots,
    )
    if rule is None:
        title = middle(question.title, _TITLE_LIMIT)
        why = "Answered, but not remembered, since it cannot be told where its files are"
        yield TellUser("warning", f"{why}: {title}")
    else:
        book.add(rule)
        if rule.scope != "session":
            yield KeepPermission(RuleKept(rule.text), rule.key, dump(rule))
        said = f"Remembered {WHERE[rule.scope]}: {rule.text}"
        yield TellUser("info", said)
        back = "acpls.permission.revoke takes it back"
        yield from sessions.apply(state, session, up.NoticeGiven("info", said, back))
    yield from judge_all(state)


def revoke(state: State, rule: Remembered) -> Effects:
    """Forget a rule. What it has answered stays answered."""
    state.permissions.drop(rule)
    said = f"Revoked {WHERE[rule.scope]}: {rule.text}"
    yield TellUser("info", said)
    session = state.sessions.get(state.current or "")
    if session is not None:
        may = "an agent that was told so goes by it until its session ends"
        yield from sessions.apply(state, session, up.NoticeGiven("info", said, may))
    if rule.scope != "session":
        yield KeepPermission(RuleKept(rule.text, revoked=True), rule.key, None)


def kept(state: State, token: RuleKept, event: PermissionKept) -> Effects:
    """The store has the rule, or has it no more, or could not be written."""
    if event.problem is None:
        state.permissions.is_stored(event.key, event.stamp)
        return
    what = "revoked" if token.revoked else "remembered"
    message = f"It is {what} only until the server ends: {event.problem}"
    yield TellUser("error" if token.revoked else "warning", message, token.text)


# --- what is asked -----------------------------------------------------------------------


def _always(question: Question, option: str) -> Literal["allow", "deny"] | None:
    kind = next((o.kind for o in question.options if o.option == option), "")
    match kind:
        case "allow_always":
            return "allow"
        case "reject_always":
            return "deny"
        case _:
            return None


def _request(state: State, session: Session, question: Question) -> Request:
    spec = state.settings.agents.get(session.agent)
    path_map = () if spec is None else spec.path_map
    match question.subject:
        case AboutToolCall(key) | AboutCommand(tool_call=str(key)):
            call = session.tool_call(key) if question.subagent is None else _own_call(question)
        case _:
            call = None
    said: tuple[str | None, ...] = (question.title, question.description)
    about = question.about
    if about is not None and (about.guessed or question.title.endswith(telling.UNSAID)):
        # Of two requests that say nothing nobody can tell whether they are alike.
        said = (question.key,)
    request = request_of(session, question.subject, call, said, path_map)
    # What a subagent told before of its tool call is not known here.
    return request if question.subagent is None else replace(request, whole=False)


def _requests(state: State, question: Question) -> tuple[Request, ...]:
    """What was asked, and what is told of it since: each has to pass by itself."""
    now = _request(state, state.sessions[question.session], question)
    return tuple(dict.fromkeys((question.asked, now)))


def _own_call(question: Question) -> ToolCall | None:
    """The tool call of another session, whose ids may be those of this one."""
    if question.call is None:
        return None
    call = ToolCall(question.call.tool_call)
    call.patch(question.call)
    return call


def _paths(state: State, question: Question) -> Iterable[str]:
    paths = tuple(path for request in _requests(state, question) for path in request.paths)
    return wanted(state.settings.rules, paths, state.roots_of(state.sessions[question.session]))
