"""The values a session is made of: content blocks, tool-call content, options, plans.

Shapes and words are those of ACP 2; version 1 is lifted into them by its dialect.

Invariant: values only. Nothing here knows a wire format, a file or an editor.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

    from acpls.text.patch import FilePatch


class Unset(Enum):
    """The mark of a patch field that was left out, as opposed to one set to ``None``."""

    UNSET = "unset"


UNSET: Final = Unset.UNSET

Json: TypeAlias = "Mapping[str, Any]"


# --- content blocks ------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Text:
    """Markdown text."""

    text: str


@dataclass(frozen=True, slots=True)
class Media:
    """An image or a sound; ``data`` is base64, as it came."""

    type: Literal["image", "audio"]
    data: str
    mime_type: str
    uri: str | None = None


@dataclass(frozen=True, slots=True)
class ResourceLink:
    """A resource that is named, not contained; ``size`` in bytes."""

    uri: str
    name: str
    title: str | None = None
    mime_type: str | None = None
    description: str | None = None
    size: int | None = None


@dataclass(frozen=True, slots=True)
class Resource:
    """A resource with its contents: ``text``, or ``blob`` as base64."""

    uri: str
    text: str | None = None
    blob: str | None = None
    mime_type: str | None = None


@dataclass(frozen=True, slots=True)
class OtherBlock:
    """A block of a kind this version does not know, kept as it came."""

    payload: Json


Block: TypeAlias = Text | Media | ResourceLink | Resource | OtherBlock


# --- what a tool call contains -------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Fragment:
    """A claim of ACP 1: ``old`` became ``new`` somewhere in ``path``.

    ``old`` is a piece of the file or all of it; ``None`` or ``""`` when the agent says
    that the file is new, which is not always true.
    """

    path: str
    old: str | None
    new: str


@dataclass(frozen=True, slots=True)
class FileChange:
    """One entry of a structured diff's ``changes`` (ACP 2). Paths are absolute."""

    operation: str
    path: str | None
    old_path: str | None = None
    file_type: str | None = None


@dataclass(frozen=True, slots=True)
class Patch:
    """A claim of ACP 2: files that change, and the Git patch that shows how.

    ``changes`` decides which files and operations; ``files`` is the parsed patch, empty
    when there was none; ``problems`` says what could not be read of it.
    """

    changes: tuple[FileChange, ...]
    files: tuple[FilePatch, ...] = ()
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TerminalRef:
    """The output of a terminal, shown inside a tool call."""

    terminal: str


@dataclass(frozen=True, slots=True)
class SessionRef:
    """Another session, shown inside a tool call."""

    session: str


@dataclass(frozen=True, slots=True)
class OtherContent:
    """Tool-call content of an unknown kind, kept as it came."""

    payload: Json


ToolContent: TypeAlias = Block | Fragment | Patch | TerminalRef | SessionRef | OtherContent


@dataclass(frozen=True, slots=True)
class Location:
    """A file location as agents give it: an absolute path and a one-based line."""

    path: str
    line: int | None = None


# --- plan, options, commands, usage --------------------------------------------------


@dataclass(frozen=True, slots=True)
class PlanEntry:
    """One step of a plan. ``status``: ``pending``, ``in_progress``, ``completed``, or other."""

    content: str
    priority: str = "medium"
    status: str = "pending"


@dataclass(frozen=True, slots=True)
class Choice:
    """One value an option of type ``select`` can take."""

    value: str
    name: str
    description: str | None = None
    group: str | None = None


@dataclass(frozen=True, slots=True)
class Option:
    """A setting of the session that the user can change; modes and models are options."""

    option: str
    name: str
    type: str
    value: str | bool | None
    choices: tuple[Choice, ...] = ()
    category: str | None = None
    description: str | None = None


@dataclass(frozen=True, slots=True)
class Command:
    """A slash command the agent offers; ``hint`` describes its argument, if it takes one."""

    name: str
    description: str
    hint: str | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """Context used and available, in tokens; ``cost`` as ``(amount, currency)``."""

    used: int
    size: int
    cost: tuple[float, str] | None = None


@dataclass(frozen=True, slots=True)
class Exit:
    """How a terminal's command ended. Both are ``None`` when the agent does not say."""

    code: int | None = None
    signal: str | None = None


# --- questions -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Choosable:
    """An answer that a permission request offers.

    ``kind``: ``allow_once``, ``allow_always``, ``reject_once``, ``reject_always``, or a
    word we do not know, which is never taken for permission.
    """

    option: str
    name: str
    kind: str


@dataclass(frozen=True, slots=True)
class AboutToolCall:
    """The question is about this tool call."""

    tool_call: str


@dataclass(frozen=True, slots=True)
class AboutCommand:
    """The question is about running this command in this folder."""

    command: str
    cwd: str
    tool_call: str | None = None
    terminal: str | None = None


Subject: TypeAlias = AboutToolCall | AboutCommand | OtherContent | None
