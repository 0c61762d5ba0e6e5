"""From wire shapes to the neutral model, for the shapes that both versions have.

Invariant: values in, values out; only ``read`` and what calls it raise, and only ``Misfit``.
"""

from __future__ import annotations

import ntpath
import posixpath
import re
from typing import TYPE_CHECKING, Any, Final, TypeVar, assert_never

from pydantic import ValidationError

from acpls.client.dialect import Misfit
from acpls.session.content import (
    UNSET,
    Choice,
    Choosable,
    Command,
    Exit,
    Location,
    Media,
    Option,
    OtherBlock,
    PlanEntry,
    Resource,
    ResourceLink,
    Text,
    Unset,
    Usage,
)
from acpls.session.updates import InfoPatched, NoticeGiven, PlanSet, ToolCallPatched
from acpls.wire import model as wire

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from acpls.session.content import Block, Json, ToolContent

    AnyOption = wire.SelectFields | wire.BooleanFields | wire.OtherFields

M = TypeVar("M", bound=wire.Model)
T = TypeVar("T")

WINDOWS_PATH: Final = re.compile(r"[A-Za-z]:[\\/]|\\\\")


# --- reading -------------------------------------------------------------------------


def read(shape: type[M], value: object, where: str = "") -> M:
    """The value as a model. ``where`` comes before the text of the ``Misfit``."""
    try:
        return shape.model_validate(value)
    except ValidationError as error:
        problem = wire.problem(error)
        raise Misfit(f"{where}: {problem}" if where else problem) from None


def envelope(params: object) -> tuple[str, str, Json]:
    """The session, the kind and the payload of a ``session/update``."""
    if isinstance(params, dict):
        session = params.get("sessionId")
        update = params.get("update")
        if isinstance(session, str) and session and isinstance(update, dict):
            kind = update.get("sessionUpdate")
            if isinstance(kind, str):
                return session, kind, update
    raise Misfit("there must be a sessionId, and an update with a sessionUpdate")


def is_absolute(path: str) -> bool:
    """Whether a path of the agent's machine, of whatever kind, is absolute."""
    return path.startswith("/") or WINDOWS_PATH.match(path) is not None


def resolved(path: str, cwd: str | None) -> str:
    """The path without detours; a relative one is completed by ``cwd``, where there is one."""
    if path.startswith("/"):
        return posixpath.normpath(path)
    if cwd is None or is_absolute(path):
        return path
    if cwd.startswith("/"):
        return posixpath.normpath(posixpath.join(cwd, path))
    return ntpath.normpath(ntpath.join(cwd, path))


def patched(value: T | None | wire.Missing, null: Unset | None) -> T | None | Unset:
    """A field of a patch; ``null`` is what the version means by JSON's ``null``."""
    if value is wire.MISSING:
        return UNSET
    return null if value is None else value


# --- content -------------------------------------------------------------------------


def block(content: wire.Model | Json) -> Block:
    """A content block; one of an unknown kind as it came."""
    match content:
        case wire.TextContent():
            return Text(content.text)
        case wire.ImageContent():
            return Media("image", content.data, content.mime_type, content.uri)
        case wire.AudioContent():
            return Media("audio", content.data, content.mime_type)
        case wire.ResourceLink():
            return ResourceLink(content.uri, content.name, content.title, content.mime_type)
        case wire.EmbeddedResource():
            it = content.resource
            if isinstance(it, wire.TextResourceContents):
                return Resource(it.uri, text=it.text, mime_type=it.mime_type)
            return Resource(it.uri, blob=it.blob, mime_type=it.mime_type)
        case other:
            assert isinstance(other, dict)
            return OtherBlock(other)


def lowered(content: Block) -> Json:
    """A block as both versions write it; fields that are ``None`` are left out."""
    match content:
        case Text(text):
            return {"type": "text", "text": text}
        case Media(kind, data, mime_type, uri):
            return _filled(type=kind, data=data, mimeType=mime_type, uri=uri)
        case ResourceLink(uri, name, title, mime_type):
            return _filled(
                type="resource_link", uri=uri, name=name, title=title, mimeType=mime_type
            )
        case Resource(uri, text, blob, mime_type):
            inner = _filled(uri=uri, text=text, blob=blob, mimeType=mime_type)
            return {"type": "resource", "resource": inner}
        case OtherBlock(payload):
            return dict(payload)
    assert_never(content)


def _filled(**fields: str | None) -> Json:
    return {name: value for name, value in fields.items() if value is not None}


# --- tool calls ----------------------------------------------------------------------


def tool_call(
    update: wire.ToolCallFields,
    content: list[Any] | None | wire.Missing,
    lift: Callable[[Any, str | None], ToolContent],
    cwd: str | None,
    null: Unset | None,
) -> ToolCallPatched:
    """A tool call or a change of one; ``lift`` makes the items of its ``content``."""
    items = tuple(lift(x, cwd) for x in content) if isinstance(content, list) else content
    at = update.locations
    places = tuple(_location(x, cwd) for x in at) if isinstance(at, list) else at
    return ToolCallPatched(
        update.tool_call_id,
        title=patched(update.title, null),
        name=patched(update.name, null),
        kind=patched(update.kind, null),
        status=patched(update.status, null),
        content=patched(items, null),
        locations=patched(places, null),
        raw_input=patched(update.raw_input, null),
        raw_output=patched(update.raw_output, null),
    )


def _location(it: wire.ToolCallLocation, cwd: str | None) -> Location:
    return Location(resolved(it.path, cwd), it.line)


def ended(status: wire.TerminalExitStatus) -> Exit:
    """How a terminal's command ended."""
    return Exit(status.exit_code, status.signal)


def choosables(options: Iterable[wire.PermissionOption]) -> tuple[Choosable, ...]:
    """The answers that a permission request offers."""
    return tuple(Choosable(x.option_id, x.name, x.kind) for x in options)


# --- plan, options, commands, and the rest --------------------------------------------


def plan(name: str, entries: Iterable[wire.PlanEntry]) -> PlanSet:
    """A plan as a whole."""
    return PlanSet(name, tuple(PlanEntry(x.content, x.priority, x.status) for x in entries))


def options(given: Iterable[AnyOption]) -> tuple[Option, ...]:
    """The options of a session. One of an unknown kind has no choices."""
    return tuple(map(_option, given))


def _option(it: AnyOption) -> Option:
    match it:
        case wire.SelectFields():
            choices = tuple(_choices(it.options))
            return _as_option(it, "select", value=it.current_value, choices=choices)
        case wire.BooleanFields():
            return _as_option(it, "boolean", value=it.current_value)
        case wire.OtherFields():
            value = it.current_value if isinstance(it.current_value, str | bool) else None
            return _as_option(it, it.type, value=value)
    assert_never(it)


def _as_option(
    it: AnyOption, kind: str, *, value: str | bool | None, choices: tuple[Choice, ...] = ()
) -> Option:
    return Option(it.option, it.name, kind, value, choices, it.category, it.description)


def _choices(
    given: Iterable[wire.SessionConfigSelectOption | wire.SessionConfigSelectGroup],
) -> Iterable[Choice]:
    for it in given:
        if isinstance(it, wire.SessionConfigSelectGroup):
            for one in it.options:
                yield Choice(one.value, one.name, one.description, it.name)
        else:
            yield Choice(it.value, it.name, it.description)


def commands(given: Iterable[wire.Command | Json]) -> tuple[Command, ...]:
    """The slash commands; what is offered beside them is no command and left out."""
    return tuple(
        Command(x.name, x.description, None if x.input is None else x.input.hint)
        for x in given
        if isinstance(x, wire.Command)
    )


def usage(update: wire.UsageUpdate, cost: tuple[float, str] | None) -> Usage:
    """Context and cost; ``cost`` is the last one known, which stays unless it is given."""
    match update.cost:
        case wire.Cost(amount=amount, currency=currency):
            cost = (amount, currency)
        case None:
            cost = None
    return Usage(update.used, update.size, cost)


def info(update: wire.SessionInfoUpdate) -> InfoPatched:
    """Title and time of the session."""
    return InfoPatched(patched(update.title, None), patched(update.updated_at, None))


def notice(given: wire.Notice) -> NoticeGiven:
    """Something the user should see."""
    return NoticeGiven(given.severity, given.title, given.description)
