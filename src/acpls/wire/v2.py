"""The messages of ACP 2 that a client reads.

Invariant: names are those of the published schema.
"""

from __future__ import annotations

from typing import Annotated, TypeAlias

from pydantic import Discriminator, Field, Tag

from acpls.wire.fields import (
    MISSING,
    OTHER,
    Filled,
    Items,
    Lenient,
    Missing,
    Model,
    OrEmpty,
    Patched,
    Raw,
    kind_of,
)
from acpls.wire.model import (
    BooleanFields,
    Command,
    Content,
    ContentBlock,
    OtherFields,
    PermissionOption,
    PlanEntry,
    SelectFields,
    SessionInfo,
    Terminal,
    TerminalExitStatus,
    ToolCallFields,
)

# --- options and commands ------------------------------------------------------------


class SelectOption(SelectFields):
    """An option with a list of values."""

    option: Filled = Field(alias="configId")


class BooleanOption(BooleanFields):
    """An option that is on or off."""

    option: Filled = Field(alias="configId")


class OtherOption(OtherFields):
    """An option of an unknown kind."""

    option: Filled = Field(alias="configId")


SessionConfigOption: TypeAlias = Annotated[
    Annotated[SelectOption, Tag("select")]
    | Annotated[BooleanOption, Tag("boolean")]
    | Annotated[OtherOption, Tag(OTHER)],
    Discriminator(kind_of("type", "select", "boolean")),
]

AvailableCommand: TypeAlias = Annotated[
    Annotated[Command, Tag("command")] | Annotated[Raw, Tag(OTHER)],
    Discriminator(kind_of("type", "command")),
]


# --- results -------------------------------------------------------------------------


class ResumeSessionResponse(Model):
    """The result of ``session/resume``."""

    config_options: Lenient[Items[SessionConfigOption] | None] = None
    available_commands: Lenient[Items[AvailableCommand] | None] = None


class NewSessionResponse(ResumeSessionResponse):
    """The result of ``session/new`` and ``session/fork``."""

    session_id: Filled


class KnownSession(SessionInfo):
    """A session that the agent has."""

    additional_directories: list[str] | None = None


class ListSessionsResponse(Model):
    """The result of ``session/list``."""

    sessions: OrEmpty[Items[KnownSession]]
    next_cursor: str | None = None


class SetSessionConfigOptionResponse(Model):
    """The result of ``session/set_config_option``."""

    config_options: Items[SessionConfigOption]


class PromptResponse(Model):
    """The result of ``session/prompt``: the prompt was taken as this message."""

    message_id: Filled


# --- session/update: messages and state ------------------------------------------------


class ContentChunk(Model):
    """``user_message_chunk``, ``agent_message_chunk``, ``agent_thought_chunk``."""

    message_id: Filled
    content: ContentBlock


class Message(Model):
    """``user_message``, ``agent_message``, ``agent_thought``."""

    message_id: Filled
    content: Patched[Items[ContentBlock]] = MISSING


class BackgroundTerminal(Model):
    """A terminal runs."""

    terminal_id: Filled


class BackgroundToolCall(Model):
    """A tool call runs."""

    tool_call_id: Filled


class BackgroundSubagent(Model):
    """A session of the same agent works for this one."""

    session_id: Filled


class BackgroundOther(Model):
    """Something of an unknown kind runs."""

    type: str


BackgroundWork: TypeAlias = Annotated[
    Annotated[BackgroundTerminal, Tag("terminal")]
    | Annotated[BackgroundToolCall, Tag("tool_call")]
    | Annotated[BackgroundSubagent, Tag("subagent")]
    | Annotated[BackgroundOther, Tag(OTHER)],
    Discriminator(kind_of("type", "terminal", "tool_call", "subagent")),
]


class StateError(Model):
    """Why a turn ended with ``error``."""

    code: int
    message: str


class StateUpdate(Model):
    """``state_update``; the last two only matter when idle."""

    state: Filled
    background: Lenient[list[BackgroundWork] | None] = None
    stop_reason: Lenient[str | None] = None
    error: Lenient[StateError | None] = None


# --- session/update: tool calls --------------------------------------------------------


class PathChange(Model):
    """A change of one path: ``add``, ``delete``, ``modify``."""

    operation: str
    path: Filled
    file_type: Lenient[str | None] = None


class PathPairChange(Model):
    """A change from one path to another: ``move``, ``copy``."""

    operation: str
    old_path: Filled
    path: Filled
    file_type: Lenient[str | None] = None


class OtherChange(Model):
    """A change of an unknown kind, with the paths it may have."""

    operation: str
    old_path: Lenient[Filled | None] = None
    path: Lenient[Filled | None] = None
    file_type: Lenient[str | None] = None


DiffChange: TypeAlias = Annotated[
    Annotated[PathChange, Tag("add")]
    | Annotated[PathChange, Tag("delete")]
    | Annotated[PathChange, Tag("modify")]
    | Annotated[PathPairChange, Tag("move")]
    | Annotated[PathPairChange, Tag("copy")]
    | Annotated[OtherChange, Tag(OTHER)],
    Discriminator(kind_of("operation", "add", "delete", "modify", "move", "copy")),
]


class DiffPatch(Model):
    """A patch in a format such as ``git_patch``."""

    format: str
    text: str


class Diff(Model):
    """Tool-call content ``{"type": "diff"}``."""

    changes: Items[DiffChange]
    patch: Lenient[DiffPatch | None] = None


class SessionReference(Model):
    """Tool-call content ``{"type": "session"}``: another session."""

    session_id: Filled


ToolCallContent: TypeAlias = Annotated[
    Annotated[Content, Tag("content")]
    | Annotated[Diff, Tag("diff")]
    | Annotated[Terminal, Tag("terminal")]
    | Annotated[SessionReference, Tag("session")]
    | Annotated[Raw, Tag(OTHER)],
    Discriminator(kind_of("type", "content", "diff", "terminal", "session")),
]


class CancelCapability(Model):
    """What may be done to a tool call, a terminal or a subagent while it runs."""

    cancel: Lenient[Raw | None] = None


class ToolCallUpdate(ToolCallFields):
    """``tool_call_update``, and the tool call that a permission request is about."""

    content: Patched[Items[ToolCallContent]] = MISSING
    capabilities: Patched[CancelCapability] = MISSING


class ToolCallContentChunk(Model):
    """``tool_call_content_chunk``."""

    tool_call_id: Filled
    content: ToolCallContent


# --- session/update: the rest ----------------------------------------------------------


class TerminalOutput(Model):
    """All the output of a terminal, as base64."""

    data: str


class TerminalSize(Model):
    """How large a terminal is, in characters."""

    cols: Annotated[int, Field(ge=1, le=65535)]
    rows: Annotated[int, Field(ge=1, le=65535)]


class TerminalUpdate(Model):
    """``terminal_update``."""

    terminal_id: Filled
    command: Patched[str] = MISSING
    cwd: Patched[str] = MISSING
    output: Patched[TerminalOutput] = MISSING
    exit_status: Patched[TerminalExitStatus] = MISSING
    size: Patched[TerminalSize] = MISSING
    capabilities: Patched[CancelCapability] = MISSING


class TerminalOutputChunk(Model):
    """``terminal_output_chunk``; ``data`` is base64 by itself."""

    terminal_id: Filled
    data: str


class SubagentUpdate(Model):
    """``subagent_update``."""

    session_id: Filled
    title: Patched[str] = MISSING
    description: Patched[str] = MISSING
    state: Patched[StateUpdate] = MISSING
    cwd: str | Missing | None = MISSING
    capabilities: Patched[CancelCapability] = MISSING


class SessionMessage(Model):
    """``session_message``; a message between two sessions."""

    message_id: Filled
    sender_session_id: Patched[Filled] = MISSING
    recipient_session_id: Patched[Filled] = MISSING
    content: Patched[Items[ContentBlock]] = MISSING


class PlanItems(Model):
    """A plan ``{"type": "items"}``."""

    plan_id: Filled
    entries: Items[PlanEntry]


class PlanUpdate(Model):
    """``plan_update``."""

    plan: Annotated[
        Annotated[PlanItems, Tag("items")] | Annotated[Raw, Tag(OTHER)],
        Discriminator(kind_of("type", "items")),
    ]


class AvailableCommandsUpdate(Model):
    """``available_commands_update``."""

    available_commands: Items[AvailableCommand]


class ConfigOptionUpdate(Model):
    """``config_option_update``."""

    config_options: Items[SessionConfigOption]


# --- requests of the agent -----------------------------------------------------------


class ToolCallPermissionSubject(Model):
    """A question about a tool call, which the question may create."""

    tool_call: ToolCallUpdate


class CommandPermissionSubject(Model):
    """A question about running a command."""

    command: str
    cwd: str
    tool_call_id: Lenient[Filled | None] = None
    terminal_id: Lenient[Filled | None] = None


RequestPermissionSubject: TypeAlias = Annotated[
    Annotated[ToolCallPermissionSubject, Tag("tool_call")]
    | Annotated[CommandPermissionSubject, Tag("command")]
    | Annotated[Raw, Tag(OTHER)],
    Discriminator(kind_of("type", "tool_call", "command")),
]


class RequestPermissionRequest(Model):
    """``session/request_permission``."""

    session_id: Filled
    title: str
    description: Lenient[str | None] = None
    subject: RequestPermissionSubject | None = None
    options: list[PermissionOption]
