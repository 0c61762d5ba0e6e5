"""Tells a played recording as text, for people to read and to compare."""

from __future__ import annotations

import json
import zlib
from collections import Counter
from dataclasses import fields, is_dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

from recorded import Line, Remark

from acpls import events as ev
from acpls.session import asks, entries
from acpls.session import content as of
from acpls.session import updates as up

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from player import Process, Step
    from sessions import Sessions

    from acpls.events import AgentEvent
    from acpls.session.content import Block, ToolContent
    from acpls.session.state import Session

_SHORT = 160
_HEAD = 100


def account(name: str, processes: list[Process]) -> str:
    """The account of a recording."""
    lines = [name]
    for number, process in enumerate(processes, 1):
        if len(processes) > 1:
            lines += ["", f"===== process {number} ====="]
        lines += ["", *_facts(process), "", "what happened", *_story(process)]
        for session in process.sessions.all:
            lines += ["", *_session(session)]
        for native, early in process.sessions.early.items():
            told = ", ".join(_counted(early))
            lines += ["", f"told of {native}, which was not opened here: {told}"]
        lines += _trouble(process)
    return "\n".join(lines) + "\n"


# --- the agent and the story -----------------------------------------------------------


def _facts(process: Process) -> list[str]:
    facts = process.facts
    if facts is None:
        return ["no version was agreed on"]
    told = [f"agent {facts.name} {facts.version}, {facts.title!r}, ACP {facts.protocol}"]
    able = []
    for field in fields(facts):
        value = getattr(facts, field.name)
        if value is True:
            able.append(field.name)
        elif isinstance(value, frozenset) and value:
            able.append(f"{field.name}: {' '.join(sorted(value))}")
    told.append("  " + ("; ".join(able) or "nothing besides"))
    told += [f"  log in: {_plain(method)}" for method in facts.auth_methods]
    return told


def _story(process: Process) -> Iterator[str]:
    for said, group in groupby(process.steps, key=lambda x: _says(x) is not None):
        steps = list(group)
        if said:
            for step in steps:
                yield from _says(step) or ()
                yield from _told(process.sessions, step.events)
        else:
            yield from _told(process.sessions, [x for step in steps for x in step.events])


def _says(step: Step) -> list[str] | None:
    """What the client did, or a remark; ``None`` for a line of the agent's."""
    match step.line:
        case Remark(text):
            return [f"  -- {text}"]
        case Line("out", None):
            return [f"  > {step.deed}"]
        case Line("in") if step.deed:
            return [f"  < {step.deed}"]
        case Line("out", dict(message)):
            return [f"  > {_asked(message)}: {step.deed}", *_differs(step, message)]
    return None


def _asked(message: dict[str, Any]) -> str:
    if "method" not in message:
        what = message.get("error") or message["result"]
        return f"answer to request {message['id']!r} {_short(what)}"
    method: str = message["method"]
    params: dict[str, Any] = message.get("params") or {}
    if method == "session/prompt":
        return f"session/prompt {_short(params.get('prompt'))}"
    if method == "initialize":
        return f"initialize {params.get('protocolVersion')}"
    rest = {k: v for k, v in params.items() if k not in {"sessionId", "mcpServers"}}
    return method + (f" {_short(rest)}" if rest else "")


def _differs(step: Step, message: dict[str, Any]) -> Iterator[str]:
    """Where acpls says it in other words than the recording client did."""
    sent = [x for x in step.sent if "method" in x]
    method = message.get("method")
    if method is not None and step.deed.startswith("ask "):
        for call in sent:
            theirs, ours = message.get("params") or {}, call["params"]
            if call["method"] != method:
                yield f"      acpls says {call['method']} {_short(_without_id(ours))}"
            elif theirs != ours:
                changed = {k for k in {*theirs, *ours} if theirs.get(k) != ours.get(k)}
                for key in sorted(changed):
                    yield f"      acpls says {key} {_short(ours.get(key))}"
    elif method is None:
        for call in (x for x in step.sent if "method" not in x):
            for key in ("result", "error"):
                if call.get(key) != message.get(key):
                    yield f"      acpls answers {_short(call.get(key))} as {key}"


def _without_id(params: dict[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in params.items() if k != "sessionId"}


def _told(sessions: Sessions, events: list[AgentEvent]) -> Iterator[str]:
    """Events, of which updates of a session are only counted."""
    for session, group in groupby(events, key=lambda x: _key(sessions, x) if _quiet(x) else None):
        if session is not None:
            told = [x.update for x in group if isinstance(x, ev.SessionTold)]
            yield f"  < {session} told {', '.join(_counted(told))}"
            continue
        for event in group:
            turn = sessions.ended.get(id(event))
            ends = "" if turn is None else f", which ends the turn {turn}"
            yield f"  < {_event(event, _key(sessions, event))}{ends}"


def _key(sessions: Sessions, event: AgentEvent) -> str:
    """The session that an event is of: our key, or the agent's id where it is not open."""
    native = getattr(event, "session", None)
    later = (x.key for x in sessions.all if x.native == native)
    return sessions.keys.get(id(event)) or next(later, str(native))


def _quiet(event: AgentEvent) -> bool:
    return isinstance(event, ev.SessionTold) and not isinstance(event.update, up.TurnChanged)


def _counted(told: list[up.Update]) -> list[str]:
    kinds = Counter(map(_kind, told))
    return [name if n == 1 else f"{name} x{n}" for name, n in kinds.items()]


def _kind(update: up.Update) -> str:
    match update:
        case up.MessageGrew(message, role) | up.MessageSet(message, role):
            return f"{role} message {message}"
        case up.ToolCallPatched(call) | up.ToolCallGrew(call):
            return f"tool call {call}"
        case up.TerminalPatched(terminal) | up.TerminalGrew(terminal):
            return f"terminal {terminal}"
        case up.Other(payload):
            return f"other {payload.get('sessionUpdate')}"
        case _:
            return type(update).__name__


def _event(event: AgentEvent, session: str) -> str:
    match event:
        case ev.SessionTold(update=up.TurnChanged() as turn):
            return f"{session} is {_plain(turn)}"
        case ev.Replied(ask=number, reply=reply):
            match reply:
                case asks.SessionOpened():
                    return f"reply to ask {number}: session {session} is open"
                case asks.SessionsListed(listed, cursor):
                    ids = " ".join(x.session for x in listed)
                    found = f"{len(listed)} sessions {_cut(ids)}"
                    return f"reply to ask {number}: {found}, cursor {cursor!r}"
                case asks.OptionsReplied(options):
                    given = None if options is None else _options(options)
                    return f"reply to ask {number}: options {given}"
                case _:
                    return f"reply to ask {number}: {_plain(reply)}"
        case ev.AskFailed(ask=number, failure=failure):
            return f"ask {number} failed: {failure.code} {_short(failure.message)}"
        case ev.QuestionAsked():
            choices = ", ".join(f"{x.option} ({x.kind})" for x in event.options)
            about = "nothing" if event.subject is None else _plain(event.subject)
            return (
                f"request {event.request!r} of {session}: "
                f"question {_short(event.title)} about {about}: {choices}"
            )
        case ev.FileReadAsked(request=request, path=path):
            return f"request {request!r}: read {path}, from {event.line}, {event.limit} lines"
        case ev.FileWriteAsked(request=request, path=path, text=text):
            return f"request {request!r}: write {path}: {_short(text)}"
        case _:
            return _plain(event)


# --- a session as it stands at the end --------------------------------------------------


def _session(session: Session) -> Iterator[str]:
    yield f"session {session.key}, {session.native}, in {session.cwd}"
    ended = [x for x in (session.stop_reason, session.error) if x is not None]
    state = session.state + (f" ({', '.join(ended)})" if ended else "")
    yield f"  {state}, title {_short(session.title)}, changed {session.updated_at}"
    if session.usage is not None:
        yield f"  usage: {session.usage.used} of {session.usage.size}, {session.usage.cost}"
    for option in session.options:
        offered = " | ".join(x.value for x in option.choices)
        yield f"  option {option.option} = {option.value!r} ({option.type}): {_cut(offered)}"
    if session.commands:
        commands = " ".join(x.name for x in session.commands)
        yield f"  {len(session.commands)} commands: {_cut(commands)}"
    for plan, steps in session.plans.items():
        yield f"  plan {plan}"
        for step in steps:
            yield f"    {step.status}, {step.priority}: {_short(step.content)}"
    for entry in session.entries.values():
        yield from _entry(entry)
    for terminal in session.terminals.values():
        ran = f"{_short(terminal.command)} in {terminal.cwd}"
        yield f"  terminal {terminal.id}: {ran}, {_plain(terminal.exit)}"
        yield f"    {_short(terminal.text())}"
    for field in fields(session):
        if not field.name.startswith("_") and field.name not in _TOLD:
            value = getattr(session, field.name)
            if value not in (None, False, (), [], {}):
                yield f"  {field.name}: {_plain(value)}"


_TOLD = {
    *("key", "agent", "cwd", "native", "title", "updated_at", "state", "stop_reason", "error"),
    *("seq", "entries", "plans", "options", "commands", "usage", "terminals"),
}


def _entry(entry: entries.Entry) -> Iterator[str]:
    match entry:
        case entries.Message():
            sent = ", as it was sent" if entry.unconfirmed else ""
            replaced = f", replaced {entry.revision} times" if entry.revision else ""
            yield f"  {entry.role} {entry.id}{sent}{replaced}"
            for text, block in groupby(entry.blocks, key=lambda x: isinstance(x, of.Text)):
                if text:
                    yield f"    {_short(''.join(x.text for x in block if isinstance(x, of.Text)))}"
                else:
                    yield from (f"    {_block(x)}" for x in block)
        case entries.ToolCall():
            named = "" if entry.name is None else f" ({entry.name})"
            yield f"  tool call {entry.id}{named}: {_short(entry.title)}"
            yield f"    {entry.kind}, {entry.status}"
            for at in entry.locations:
                yield f"    at {at.path}" + ("" if at.line is None else f":{at.line}")
            for name in ("raw_input", "raw_output"):
                if (raw := getattr(entry, name)) is not None:
                    yield f"    {name}: {_short(raw)}"
            for item in entry.content:
                yield from (f"    {x}" for x in _item(item))
        case entries.Notice():
            yield f"  notice, {entry.severity}: {_short(entry.title)} {_short(entry.description)}"
        case entries.OtherEntry():
            yield f"  other: {_short(entry.payload)}"
        case _:
            yield f"  {_plain(entry)}"


def _item(item: ToolContent) -> Iterator[str]:
    match item:
        case of.Fragment(path, old, new):
            yield f"fragment of {path}"
            yield f"  - {_short(old)}"
            yield f"  + {_short(new)}"
        case of.Patch():
            yield f"patch, problems: {list(item.problems)}"
            for change in item.changes:
                yield f"  {_plain(change)}"
            for file in item.files:
                yield f"  {file.old_path} to {file.new_path}"
                for hunk in file.hunks:
                    yield f"    after line {hunk.start}"
                    yield from (f"      {sign}{_short(text)}" for sign, text in hunk.lines)
        case of.TerminalRef(terminal):
            yield f"terminal {terminal}"
        case of.OtherContent(payload):
            yield f"other {_short(payload)}"
        case of.Text() | of.Media() | of.ResourceLink() | of.Resource() | of.OtherBlock():
            yield _block(item)
        case _:
            yield _plain(item)


def _block(block: Block) -> str:
    match block:
        case of.Text(text):
            return _short(text)
        case of.OtherBlock(payload):
            return f"other {_short(payload)}"
        case _:
            return _plain(block)


def _options(options: Iterable[of.Option]) -> str:
    return " ".join(f"{x.option}={x.value}" for x in options)


# --- what went wrong, and what came to nothing -------------------------------------------


def _trouble(process: Process) -> list[str]:
    logs = [x for step in process.steps for x in step.logs]
    faults = [x.problem for s in process.steps for x in s.events if isinstance(x, ev.AgentMisspoke)]
    silent: Counter[str] = Counter()
    for step in process.steps:
        if isinstance(step.line, Line) and step.line.direction == "in" and not step.events:
            silent[f"{_name(step.line)}: {step.alibi or 'LOST'}"] += 1
    told: list[str] = []
    for title, found in (
        ("misspoken", Counter(map(_cut, faults))),
        ("the agent's log", Counter(map(_cut, logs))),
        ("lines that led to no event", silent),
        ("never replied to", Counter(type(x).__name__ for x in process.unanswered)),
    ):
        if found:
            told += ["", title]
            told += [f"  {x}" if n == 1 else f"  {x} (x{n})" for x, n in found.items()]
    return told


def _name(line: Line) -> str:
    message = line.message
    if message is None:
        return f"not JSON ({_short(line.text)})"
    if "method" not in message:
        return "error" if "error" in message else "result"
    if message["method"] != "session/update":
        return str(message["method"])
    return str(message["params"]["update"]["sessionUpdate"])


# --- values as one line ------------------------------------------------------------------


def _plain(value: Any) -> str:
    """Any value of the model on one line, without what is left at its default."""
    if is_dataclass(value) and not isinstance(value, type):
        told = []
        for field in fields(value):
            it = getattr(value, field.name)
            left = it is field.default or it in (of.UNSET, None, ())
            if field.name != "agent" and not left:
                told.append(f"{field.name}={_plain(it)}")
        return f"{type(value).__name__}({', '.join(told)})"
    if isinstance(value, tuple | list):
        return "[" + ", ".join(map(_plain, value)) + "]"
    return _short(value)


def _short(value: Any) -> str:
    """A value as JSON; a long one as its beginning, its length and a sum over all of it."""
    if isinstance(value, str):
        written = json.dumps(value, ensure_ascii=False)
        if len(value) <= _SHORT:
            return written
        head = json.dumps(value[:_HEAD], ensure_ascii=False)
        ends = value.count("\n")
        return f"{head} … {len(value)} characters, {ends} line ends, {_sum(value)}"
    return _cut(json.dumps(value, ensure_ascii=False, default=repr))


def _cut(text: str) -> str:
    if len(text) <= _SHORT:
        return text
    return f"{text[:_HEAD]} … {len(text)} characters, {_sum(text)}"


def _sum(text: str) -> str:
    return f"{zlib.crc32(text.encode(errors='surrogatepass')):08x}"
