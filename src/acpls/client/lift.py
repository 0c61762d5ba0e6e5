"""From wire shapes to the neutral model, for the shapes that both versions have.

Invariant: values in, values out; only ``read`` and what calls it raise, and only ``Misfit``.
"""

from __future__ import annotations

import ntpath
import posixpath
import re
from typing import TYPE_CHECKING, Any, Final, TypeVar, assert_never, cast

from pydantic import ValidationError

from acpls.client import quirks
from acpls.client.dialect import Misfit
from acpls.session.content import (
    UNSET,
    Choosable,
    Exit,
    Location,
    Media,
    OtherBlock,
    Resource,
    ResourceLink,
    Text,
    Unset,
)
from acpls.session.updates import ToolCallPatched
from acpls.wire import model as wire
from acpls.wire.fields import MISSING, Missing, Model, problem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from acpls.session.content import Block, Json, ToolContent
    from acpls.session.updates import Meta

M = TypeVar("M", bound=Model)
T = TypeVar("T")

WINDOWS_PATH: Final = re.compile(r"[A-Za-z]:[\\/]|\\\\")


# --- reading -------------------------------------------------------------------------


def read(shape: type[M], value: object, where: str = "") -> M:
    """The value as a model. ``where`` comes before the text of the ``Misfit``."""
    try:
        # What ``model_validate`` comes down to; its arguments alone take half as long again.
        return cast("M", shape.__pydantic_validator__.validate_python(value))
    except ValidationError as error:
        wrong = problem(error)
        raise Misfit(f"{where}: {wrong}" if where else wrong) from None


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
        # Nearly all are without detours, and to see that is quicker than to take them out.
        whole = "/." not in path and "//" not in path and not path.endswith("/")
        return path if whole else posixpath.normpath(path)
    if cwd is None or is_absolute(path):
        return path
    if cwd.startswith("/"):
        return posixpath.normpath(posixpath.join(cwd, path))
    return ntpath.normpath(ntpath.join(cwd, path))


def patched(value: T | None | Missing, null: Unset | None) -> T | None | Unset:
    """A field of a patch; ``null`` is what the version means by JSON's ``null``."""
    if value is MISSING:
        return UNSET
    return null if value is None else value


def meta(update: Json, null: Unset | None) -> Meta:
    """What an update says of metadata; ``null`` as in ``patched``."""
    if "_meta" not in update:
        return UNSET
    it = update["_meta"]
    if it is None:
        return null
    return it if isinstance(it, dict) else UNSET


# --- content -------------------------------------------------------------------------


def bare_text(content: object) -> Text | None:
    """The block where the content is text and nothing more, as nearly every piece of an
    answer is. To see that takes a fraction of what its model takes, with the same outcome.
    """
    if isinstance(content, dict) and len(content) == 2 and content.get("type") == "text":
        text = content.get("text")
        if isinstance(text, str):
            return Text(text)
    return None


def block(content: Model | Json) -> Block:
    """A content block; one of an unknown kind as it came."""
    match content:
        case wire.TextContent():
            return Text(content.text)
        case wire.ImageContent():
            return Media("image", content.data, content.mime_type, content.uri)
        case wire.AudioContent():
            return Media("audio", content.data, content.mime_type)
        case wire.ResourceLink():
            return ResourceLink(
                content.uri,
                content.name,
                content.title,
                content.mime_type,
                content.description,
                content.size,
            )
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
            return filled(type=kind, data=data, mimeType=mime_type, uri=uri)
        case ResourceLink(uri, name, title, mime_type, description, size):
            return filled(
                type="resource_link",
                uri=uri,
                name=name,
                title=title,
                mimeType=mime_type,
                description=description,
                size=size,
            )
        case Resource(uri, text, blob, mime_type):
            inner = filled(uri=uri, text=text, blob=blob, mimeType=mime_type)
            return {"type": "resource", "resource": inner}
        case OtherBlock(payload):
            return dict(payload)
    assert_never(content)


def filled(**fields: str | int | None) -> Json:
    """An object without the fields that are ``None``."""
    return {name: value for name, value in fields.items() if value is not None}


# --- tool calls ----------------------------------------------------------------------


def tool_call(
    update: wire.ToolCallFields,
    content: list[Any] | None | Missing,
    lift: Callable[[Any, str | None], ToolContent],
    cwd: str | None,
    null: Unset | None,
    *,
    can_cancel: bool | Unset = UNSET,
    meta: Meta = UNSET,
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
        can_cancel=can_cancel,
        of_subagent=True if quirks.is_of_subagent(meta) else UNSET,
        meta=meta,
    )


def _location(it: wire.ToolCallLocation, cwd: str | None) -> Location:
    return Location(resolved(it.path, cwd), it.line)


def ended(status: wire.TerminalExitStatus) -> Exit:
    """How a terminal's command ended."""
    return Exit(status.exit_code, status.signal)


def choosables(options: Iterable[wire.PermissionOption]) -> tuple[Choosable, ...]:
    """The answers that a permission request offers."""
    return tuple(Choosable(x.option_id, x.name, x.kind) for x in options)
