"""What is told of a question: what it is about, where it comes from, what it would change.

Invariant: a query, but for what is taken down when a question arrives (``draw``, ``belongs``).
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from acpls.hub import previews
from acpls.questions.about import About, about, title_of
from acpls.questions.told import NO_OPTIONS, NOTHING, Part, Told, names
from acpls.session.content import AboutToolCall, SessionRef
from acpls.session.entries import ToolCall
from acpls.session.updates import SubagentPatched
from acpls.text.visible import middle, one_line

if TYPE_CHECKING:
    from acpls.events import QuestionAsked
    from acpls.hub.state import State
    from acpls.questions import Question
    from acpls.session.state import Session

UNSAID: Final = "asks for permission and says nothing more"
"""The end of the title of a question that says nothing."""

# A subagent may have subagents; a ring of them must have an end.
_DEPTH: Final = 8
_PATHS_LIMIT: Final = 20
_SOURCE_LIMIT: Final = 80
_HEAD: Final = re.compile(r"--- (.*)\n\+\+\+ (.*)\n(?=.)")
_NO_FILE: Final = "/dev/null"


# --- whose question it is --------------------------------------------------------------


def session_of(state: State, agent: str, native: str) -> Session | None:
    """The session that an agent asks for: the one that it names, or the one for which that
    one works.
    """
    for _ in range(_DEPTH):
        session = state.session_of(agent, native)
        if session is not None:
            return session
        parent = next((p for p in _parents(state, agent, native)), None)
        if isinstance(parent, str):
            native = parent
        else:
            return parent
    return None


def belongs(question: Question, session: Session | None, native: str | None) -> None:
    """Take down whose work a question is asked for: that of a turn, and perhaps a subagent's.

    ``native``: the agent's id of the session that asks for ours.
    """
    if session is None:
        question.foreground = False
        return
    question.subagent = native if session.native != native else None
    asking = {question.subagent}
    if isinstance(question.subject, AboutToolCall):
        asking.add(question.subject.tool_call)
    # It may be asked for something that runs besides the turn, as the agent says.
    aside = any(item.id is not None and item.id in asking for item in session.background)
    question.foreground = session.busy and not aside
    question.turn = session.turn if question.foreground else None


def _parents(state: State, agent: str, native: str) -> list[Session | str]:
    """Who told of a session that works for it: a session of ours, or the id of another."""
    ours = [s for s in state.sessions.values() if s.agent == agent and s.state != "lost"]
    own: list[Session | str] = [s for s in ours if native in s.subagents or _shows(s, native)]
    return own + [
        told
        for (of, told), updates in state.early.items()
        if of == agent
        and told != native
        and any(isinstance(x, SubagentPatched) and x.session == native for x in updates)
    ]


def _shows(session: Session, native: str) -> bool:
    """Whether a tool call of the session shows the other one."""
    calls = (e for e in session.entries.values() if isinstance(e, ToolCall))
    return any(SessionRef(native) in call.content for call in calls)


# --- what it is about ------------------------------------------------------------------


def draw(state: State, event: QuestionAsked, session: Session) -> tuple[str, About]:
    """The title of an arriving question, and what it is about."""
    known = None
    if isinstance(event.subject, AboutToolCall):
        known = session.tool_call(event.subject.tool_call)
        if _is_stale(state, event, session):
            known = None
    what = about(event.subject, event.call, known, event.title)
    if what.is_nothing and event.subject is not None:
        last = _last_waiting(session, known)
        if last is not None:
            guess = about(None, None, last, None)
            what = replace(guess, guessed=True)
            known = known if event.title else last
    title = title_of(event.title, known, what, session.cwd)
    agent = state.agent(event.agent).title
    return title or f"{agent} {UNSAID}", what


def _is_stale(state: State, event: QuestionAsked, session: Session) -> bool:
    """Whether what is known of the tool call may be of an earlier question: some agents ask
    under one id again and again. What the request itself says is enough then.
    """
    if event.call is None or about(None, event.call, None, event.title).is_nothing:
        return False
    native = event.session if session.native != event.session else None
    return any(
        q.session == session.key and q.subject == event.subject and q.subagent == native
        for q in state.questions.all.values()
    )


def _last_waiting(session: Session, but: ToolCall | None) -> ToolCall | None:
    """The tool call told of last that is not over."""
    for entry in reversed(session.entries.values()):
        if isinstance(entry, ToolCall) and entry is not but and not entry.finished:
            return entry
    return None


# --- how it is told --------------------------------------------------------------------


def told(state: State, question: Question) -> Told:
    """A question in words."""
    return Told(
        question.key,
        one_line(question.title),
        source(state, question),
        tuple(_parts(state, question)),
        names(question),
        question.can_dismiss,
    )


def line(state: State, question: Question, limit: int) -> str:
    """A question in one line."""
    brief = Told(question.key, one_line(question.title), source(state, question), (), ())
    return brief.line(limit)


def source(state: State, question: Question) -> str | None:
    """Who asks, where that may be one of several."""
    named: list[str] = []
    living = [s for s in state.sessions.values() if s.state != "lost"]
    own = state.sessions.get(question.session)
    if len({s.agent for s in living} | {question.agent}) > 1:
        named.append(state.agent(question.agent).title)
    if own is not None and sum(s.agent == question.agent for s in living) > 1:
        named.append(own.title or f"session {own.key}")
    if question.subagent is not None:
        known = None if own is None else own.subagents.get(question.subagent)
        title = None if known is None else known.title
        named.append(f"subagent {title or question.subagent}")
    return middle(one_line(", ".join(named)), _SOURCE_LIMIT) or None


def _parts(state: State, question: Question) -> list[Part]:
    parts: list[Part] = []
    if question.description:
        page = question.kind in {"link", "login"}
        parts.append(Part("", question.description, "page" if page else "words"))
    what = question.about
    if what is not None:
        parts += _about(what)
        shown = previews.of(state, question)
        session = state.sessions.get(question.session)
        cwd = "" if session is None else session.cwd
        parts += [_change(each["patch"], cwd) for each in shown]
        if what.is_nothing and not question.description:
            parts.append(Part("", NOTHING))
    if not question.options:
        stop = "" if question.can_dismiss else "; it waits until its turn is stopped"
        parts.append(Part("", f"{NO_OPTIONS.removesuffix('.')}{stop}."))
    return parts


def _change(patch: str, cwd: str) -> Part:
    """A difference under the name of its file: windows are too small for long paths."""
    head = _HEAD.match(patch)
    if head is None or patch.count("\n+++ ") > 1:
        return Part("Change", patch, "diff")
    old, new = head[1], head[2]
    kind = "New file" if old == _NO_FILE else "Deletion of" if new == _NO_FILE else "Change in"
    path = one_line(old if new == _NO_FILE else new)
    folder = f"{cwd.rstrip('/')}/"
    return Part(f"{kind} {path.removeprefix(folder)}", patch[head.end() :], "diff")


def _about(what: About) -> list[Part]:
    parts = []
    if what.guessed:
        parts.append(Part("", "The agent does not say what it is about. It may be this:"))
    if what.command is not None:
        parts.append(Part("Command", what.command, "code"))
    if what.cwd is not None:
        parts.append(Part("In", what.cwd, "code"))
    if what.paths and not what.claims:
        rest = len(what.paths) - _PATHS_LIMIT
        more = [f"and {rest} more"] if rest > 0 else []
        label = "Files" if len(what.paths) > 1 else "File"
        parts.append(Part(label, "\n".join([*what.paths[:_PATHS_LIMIT], *more]), "code"))
    if what.text is not None:
        parts.append(Part("", what.text))
    if what.input is not None:
        parts.append(Part("Input", what.input, "code"))
    return parts
