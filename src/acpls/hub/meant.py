"""What a command is about: what its arguments name, and what they leave out.

A left-out session is the current one, a left-out agent the default one, a left-out
question the oldest open one. For what is not there ``CannotDo`` is raised, with the field.
"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Any, TypeAlias

from acpls.hub import agents, form_documents, sessions
from acpls.hub.state import CannotDo
from acpls.text import uris

if TYPE_CHECKING:
    from collections.abc import Mapping

    from acpls.hub.state import Effects, State
    from acpls.questions import Question
    from acpls.review.change import Change
    from acpls.review.composing import ReviewHunk
    from acpls.session.state import Session

    Arguments: TypeAlias = Mapping[str, Any]


def agent(state: State, arguments: Arguments) -> str:
    """The agent named, or the default one."""
    return agents.meant(state, arguments.get("agent", state.chosen_agent()))


def session(state: State, arguments: Arguments) -> Session:
    """The session named, or the current one."""
    key = arguments.get("session", state.current)
    if key is None:
        message = "No session is open; acpls.session.new opens one"
        raise CannotDo(message, field="session")
    if key not in state.sessions:
        message = f"No session has the key {key!r}"
        raise CannotDo(message, field="session")
    return state.sessions[key]


def session_or_all(state: State, arguments: Arguments) -> str | None:
    """The key of the session named, be it one of an earlier run; ``None``: all are meant."""
    if arguments.get("session") in state.shelf.sessions:
        return str(arguments["session"])
    return session(state, arguments).key if "session" in arguments else None


def session_or_new(state: State, arguments: Arguments) -> Effects:
    """See to it that the session meant exists and is not over; it is the current one
    afterwards. One that was lost with its agent is opened again when it is prompted.
    """
    if "session" in arguments:
        named = session(state, arguments)
        if named.over:
            message = "The session is over; acpls.session.new starts another"
            raise CannotDo(message, field="session")
        state.current = named.key
        return
    current = state.sessions.get(state.current or "")
    if current is None or current.over:
        yield from sessions.new(state, state.chosen_agent(), folder(state, arguments))


def folder(state: State, arguments: Arguments) -> str:
    """The folder named, or the main one of the editor."""
    if "cwd" in arguments:
        cwd = str(arguments["cwd"])
        return posixpath.normpath(cwd) if cwd.startswith("/") else cwd
    if not state.editor.roots:
        message = "The editor has not said yet in which folder it works"
        raise CannotDo(message)
    return state.editor.roots[0]


def question(state: State, arguments: Arguments) -> Question:
    """The question named, or the oldest open one."""
    oldest = next((q.key for q in state.questions.pending()), None)
    key = arguments.get("question", oldest)
    if key is None:
        message = "No question is open"
        raise CannotDo(message)
    if key not in state.questions.all:
        message = f"No question has the key {key!r}"
        raise CannotDo(message, field="question")
    return state.questions.all[key]


def form(state: State, arguments: Arguments) -> Question:
    """The form named, by its question or its document, or the oldest open one."""
    if "question" in arguments:
        named = question(state, arguments)
        if named.kind != "form":
            raise CannotDo("This question is no form", field="question")
        return named
    if "uri" in arguments:
        found = form_documents.at(state, arguments["uri"])
        if found is None:
            raise CannotDo("This document is no form that is waited for", field="uri")
        return found[0]
    oldest = next((q for q in state.questions.pending() if q.kind == "form"), None)
    if oldest is None:
        raise CannotDo("No form waits for you")
    return oldest


def changes(state: State, arguments: Arguments) -> list[Change]:
    """The changes that wait for a verdict: the one named, those of a session, or all."""
    uri = arguments.get("uri")
    pending = state.ledger.changes(session_or_all(state, arguments))
    return [c for c in pending if uri is None or _is_at(state, c, uri)]


def hunks(state: State, arguments: Arguments) -> list[tuple[Change, ReviewHunk]]:
    """The hunk named, or those of a file, of a session, or all; else the current session's."""
    if "hunk" in arguments:
        named = state.ledger.find(arguments["hunk"])
        if named is None:
            message = f"No pending hunk has the key {arguments['hunk']!r}"
            raise CannotDo(message, field="hunk")
        return [named]
    uri, key = arguments.get("uri"), session_or_all(state, arguments)
    if key is None and uri is None and not arguments.get("all"):
        key = state.current
    # What was decided on one by one is not decided anew with all the others.
    found = [one for one in state.ledger.hunks(key) if one[1].key not in state.decided]
    return [one for one in found if uri is None or _is_at(state, one[0], uri)]


def _is_at(state: State, change: Change, uri: str) -> bool:
    """Whether a change is of the file that a URI names, by any of its paths."""
    path = uris.to_path(uri)
    if path is not None and state.paths.place(path) == change.path:
        return True
    return uris.same(uris.from_path(change.path), uri)
