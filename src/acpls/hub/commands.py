"""What each command of the editor's user does. Arguments come checked by the rim.

Invariant: each command that somebody waits for is answered once, now or later.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from acpls import __version__
from acpls.effects import ReplyCommand, ShowSession, TellUser
from acpls.hub import (
    agents,
    asking,
    attachments,
    conversing,
    follow_commands,
    form_documents,
    forms,
    meant,
    outputs,
    question_shapes,
    sessions,
    shapes,
    telling,
)
from acpls.hub.agent_commands import AGENT_COMMANDS
from acpls.hub.permission_commands import PERMISSION_COMMANDS
from acpls.hub.review_commands import REVIEW_COMMANDS
from acpls.hub.state import CannotDo
from acpls.session import asks
from acpls.text import uris

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from acpls.hub.state import Effects, State
    from acpls.session.state import Session

    Arguments: TypeAlias = Mapping[str, Any]
    Run: TypeAlias = Callable[[State, Arguments, object], Effects]

OUTPUT_LIMIT = 100_000


# --- sessions --------------------------------------------------------------------------------


def session_new(state: State, arguments: Arguments, ticket: object) -> Effects:
    """Open a session; answered when the agent has opened it."""
    name = meant.agent(state, arguments)
    cwd, title = meant.folder(state, arguments), arguments.get("title")
    yield from sessions.new(state, name, cwd, ticket, title)


def session_list(state: State, arguments: Arguments, ticket: object) -> Effects:
    """The sessions opened here, or a page of those that an agent has."""
    if "agent" in arguments:
        name = meant.agent(state, arguments)
        yield from agents.start(state, name)
        what = asks.ListSessions(arguments.get("cwd"), arguments.get("cursor"))
        yield from agents.ask(state, name, what, "", ticket)
        return
    entries = [shapes.session_entry(state, session) for session in state.sessions.values()]
    yield ReplyCommand(ticket, {"sessions": entries})


def session_get(state: State, arguments: Arguments, ticket: object) -> Effects:
    """A session as a whole."""
    yield ReplyCommand(ticket, shapes.snapshot(state, meant.session(state, arguments)))


def session_close(state: State, arguments: Arguments, ticket: object) -> Effects:
    """Close a session."""
    yield from sessions.close(state, meant.session(state, arguments), ticket)


def session_resume(state: State, arguments: Arguments, ticket: object) -> Effects:
    """Open a session again that was lost with its agent."""
    session = meant.session(state, arguments)
    state.current = session.key
    yield from sessions.reopen(state, session, ticket)


def session_fork(state: State, arguments: Arguments, ticket: object) -> Effects:
    """Open a copy of a session."""
    yield from sessions.fork(state, meant.session(state, arguments), ticket)


def session_rename(state: State, arguments: Arguments, ticket: object) -> Effects:
    """Give a session another title, at the agent's too where it can keep one."""
    session, title = meant.session(state, arguments), arguments["title"]
    facts = state.agent(session.agent).facts
    if session.open and facts is not None and facts.can_set_title:
        assert session.native is not None
        what = asks.SetTitle(session.native, title)
        yield from agents.ask(state, session.agent, what, session.key, ticket)
        return
    session.title = title
    yield ShowSession(session.key, "title")
    yield ReplyCommand(ticket, {})


def tool_call_cancel(state: State, arguments: Arguments, ticket: object) -> Effects:
    """Stop one tool call, while the agent offers that."""
    session = meant.session(state, arguments)
    call = session.tool_call(arguments["toolCall"])
    if call is None or call.finished or not call.can_cancel or not session.open:
        raise CannotDo("This tool call cannot be stopped by itself", field="toolCall")
    assert session.native is not None
    what = asks.CancelToolCall(session.native, call.id)
    yield from agents.ask(state, session.agent, what, session.key, ticket)


def terminal_cancel(state: State, arguments: Arguments, ticket: object) -> Effects:
    """Stop the command in one terminal, while the agent offers that."""
    session = meant.session(state, arguments)
    terminal = session.terminals.get(arguments["terminal"])
    live = terminal is not None and terminal.exit is None and terminal.can_cancel
    if not live or not session.open:
        raise CannotDo("This terminal cannot be stopped by itself", field="terminal")
    assert session.native is not None
    what = asks.CancelTerminal(session.native, arguments["terminal"])
    yield from agents.ask(state, session.agent, what, session.key, ticket)


def session_prompt(state: State, arguments: Arguments, ticket: object) -> Effects:
    """Prompt; without a text the conversation document is opened to write one."""
    blocks = attachments.prompt_blocks(state, arguments)
    yield from meant.session_or_new(state, arguments)
    session = meant.session(state, arguments)
    if not blocks:
        yield from conversing.open_document(state, session, ticket)
        return
    yield from sessions.prompt(state, session, blocks, ticket)


def session_send(state: State, arguments: Arguments, ticket: object) -> Effects:
    """Send what stands under the last heading of a conversation document."""
    uri = arguments.get("uri")
    if uri is None:
        yield from conversing.send(state, meant.session(state, arguments), ticket)
        return
    for conversation in state.conversations.values():
        if uris.same(conversation.uri, uri):
            yield from conversing.send(state, state.sessions[conversation.session], ticket)
            return
    message = "This document is no conversation of an open session"
    raise CannotDo(message, field="uri")


def session_fetch(state: State, arguments: Arguments, ticket: object) -> Effects:
    """Bring the conversation document up to date now."""
    yield from conversing.fetch(state, meant.session(state, arguments))
    yield ReplyCommand(ticket, {})


def session_open_conversation(state: State, arguments: Arguments, ticket: object) -> Effects:
    """Show the conversation document."""
    yield from meant.session_or_new(state, arguments)
    yield from conversing.open_document(state, meant.session(state, arguments), ticket)


def session_ask(state: State, arguments: Arguments, ticket: object) -> Effects:
    """Open the conversation with a selection quoted under its last heading."""
    quote = attachments.quote(state, arguments)
    yield from meant.session_or_new(state, arguments)
    yield from conversing.open_document(state, meant.session(state, arguments), ticket, quote)


def session_cancel(state: State, arguments: Arguments, ticket: object) -> Effects:
    """Stop the session's turn."""
    yield from sessions.cancel(state, meant.session(state, arguments))
    yield ReplyCommand(ticket, {})


def session_end_turn(state: State, arguments: Arguments, ticket: object) -> Effects:
    """Take the turn for ended without the agent's word."""
    yield from sessions.end_turn(state, meant.session(state, arguments))
    yield ReplyCommand(ticket, {})


def session_set_option(state: State, arguments: Arguments, ticket: object) -> Effects:
    """Set an option; answered when the agent has."""
    session = meant.session(state, arguments)
    known = next((o for o in session.options if o.option == arguments["option"]), None)
    if known is None:
        offered = ", ".join(o.option for o in session.options) or "none"
        message = f"The session has no option {arguments['option']!r}; it has: {offered}"
        raise CannotDo(message, field="option")
    if not session.open:
        raise CannotDo("The session is not open", field="session")
    assert session.native is not None
    wrong = sessions.wrong_value(known, arguments["value"])
    if wrong is not None:
        raise CannotDo(wrong, field="value")
    what = asks.SetOption(session.native, known.option, arguments["value"])
    yield from agents.ask(state, session.agent, what, session.key, ticket)


def output_read(state: State, arguments: Arguments, ticket: object) -> Effects:
    """A part of a terminal's or a tool call's output, counted in code points."""
    session = meant.session(state, arguments)
    text = _output(session, arguments)
    offset, limit = arguments.get("offset", 0), arguments.get("limit", OUTPUT_LIMIT)
    part = text[offset : offset + limit]
    yield ReplyCommand(ticket, {"text": part, "offset": offset, "total": len(text)})


def _output(session: Session, arguments: Arguments) -> str:
    terminal = session.terminals.get(arguments.get("terminal", ""))
    if terminal is not None:
        return terminal.text()
    call = session.tool_call(arguments.get("toolCall", ""))
    if call is None:
        message = "The session has no such terminal or tool call"
        named = "toolCall" if "toolCall" in arguments else "terminal"
        raise CannotDo(message, field=named)
    return outputs.of_call(call)


# --- questions -------------------------------------------------------------------------------


def question_list(state: State, arguments: Arguments, ticket: object) -> Effects:
    """The open questions, oldest first."""
    pending = state.questions.pending(meant.session_or_all(state, arguments))
    yield ReplyCommand(ticket, [question_shapes.question(state, question) for question in pending])


def question_show(state: State, arguments: Arguments, ticket: object) -> Effects:
    """Open the conversation where a question stands."""
    question = meant.question(state, arguments)
    session = question.session
    if session not in state.sessions:
        # It is about the agent, and stands in all of its conversations.
        own = [s.key for s in state.sessions.values() if s.agent == question.agent]
        session = state.current if state.current in own else next(iter(own), "")
    if session in state.sessions:
        of = state.sessions[session]
        yield from conversing.open_document(state, of, ticket, question=question.key)
        return
    told = telling.told(state, question)
    yield TellUser("info", told.title, "\n".join(told.whole()))
    yield ReplyCommand(ticket, question_shapes.question(state, question))


def question_answer(state: State, arguments: Arguments, ticket: object) -> Effects:
    """Answer a question with one of its options, or a form or page with an action."""
    question = meant.question(state, arguments)
    if "action" in arguments and "option" in arguments:
        raise CannotDo("Either an option or an action", field="action")
    if "scope" in arguments and "option" not in arguments:
        raise CannotDo("Only an option can have a scope", field="scope")
    filled = question.form is not None and arguments.get("action") == "accept"
    if "content" in arguments and not filled:
        raise CannotDo("Only a form that is accepted has values", field="content")
    if "action" in arguments:
        if arguments["action"] == "dismiss":
            yield from asking.dismiss(state, question)
        else:
            yield from forms.act(state, question, arguments["action"], arguments.get("content"))
    else:
        yield from asking.answer(state, question, arguments.get("option"), arguments.get("scope"))
    yield ReplyCommand(ticket, {})


def form_open(state: State, arguments: Arguments, ticket: object) -> Effects:
    """Show the document in which a form is filled in."""
    yield from form_documents.open_document(state, meant.form(state, arguments), ticket)


def form_send(state: State, arguments: Arguments, ticket: object) -> Effects:
    """Send what the document of a form says."""
    yield from form_documents.send(state, meant.form(state, arguments), ticket)


# --- status ------------------------------------------------------------------------------------


def status(state: State, _: Arguments, ticket: object) -> Effects:
    """All that is going on, in brief."""
    pending = state.ledger.hunks()
    answer = {
        "version": __version__,
        "agents": [shapes.agent(state.agent(name)) for name in state.settings.agents],
        "sessions": [shapes.session_entry(state, session) for session in state.sessions.values()],
        "currentSession": state.current,
        "questions": len(state.questions.pending()),
        "hunks": len(pending),
        "reviewMode": state.review_mode,
        "follow": follow_commands.word(state),
        "problems": list(state.problems),
    }
    yield ReplyCommand(ticket, answer)


COMMANDS: dict[str, Run] = {
    **AGENT_COMMANDS,
    "acpls.session.new": session_new,
    "acpls.session.list": session_list,
    "acpls.session.get": session_get,
    "acpls.session.close": session_close,
    "acpls.session.resume": session_resume,
    "acpls.session.fork": session_fork,
    "acpls.session.rename": session_rename,
    "acpls.session.prompt": session_prompt,
    "acpls.session.send": session_send,
    "acpls.session.fetch": session_fetch,
    "acpls.session.openConversation": session_open_conversation,
    "acpls.session.ask": session_ask,
    "acpls.session.cancel": session_cancel,
    "acpls.session.endTurn": session_end_turn,
    "acpls.session.setOption": session_set_option,
    "acpls.toolCall.cancel": tool_call_cancel,
    "acpls.terminal.cancel": terminal_cancel,
    "acpls.output.read": output_read,
    "acpls.question.list": question_list,
    "acpls.question.show": question_show,
    "acpls.question.answer": question_answer,
    "acpls.form.open": form_open,
    "acpls.form.send": form_send,
    **PERMISSION_COMMANDS,
    **REVIEW_COMMANDS,
    "acpls.follow.set": follow_commands.set_follow,
    "acpls.follow.pause": follow_commands.pause,
    "acpls.follow.trail": follow_commands.trail,
    "acpls.follow.goTo": follow_commands.go_to,
    "acpls.follow.previous": follow_commands.previous,
    "acpls.follow.next": follow_commands.following,
    "acpls.status": status,
}
