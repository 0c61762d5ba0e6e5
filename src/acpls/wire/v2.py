"""The messages of ACP 2 that a client reads.

Invariant: names are those of the published schema.
"""

from __future__ import annotations

from typing import Annotated, TypeAlias

from pydantic import Discriminator, Field, Tag

from acpls.wire.model import (
    MISSING,
    OTHER,
    BooleanFields,
    Command,
    Content,
    ContentBlock,
    Filled,
    Implementation,
    Items,
    Lenient,
    Model,
    OtherFields,
    Patched,
    PermissionOption,
    PlanEntry,
    Raw,
    SelectFields,
    Terminal,
    TerminalExitStatus,
    ToolCallFields,
    kind_of,
)

# --- initialize ----------------------------------------------------------------------


class PromptCapabilities(Model):
    """What a prompt may hold besides text and links."""

    embedded_context: Lenient[Raw | None] = None


class SessionCapabilities(Model):
    """An object, even an empty one, stands for a thing that the agent can do."""

    prompt: Lenient[PromptCapabilities | None] = None
    additional_directories: Lenient[Raw | None] = None


class AgentCapabilities(Model):
    """What the agent can do; without ``session`` it has no sessions at all."""

    session: Lenient[SessionCapabilities | None] = None


class AuthMethod(Model):
    """A way to log in, of any type."""

    method_id: Filled
    name: str


class InitializeResponse(Model):
    """The result of ``initialize``. ``info`` is demanded where it is read."""

    protocol_version: int
    info: Lenient[Implementation | None] = None
    capabilities: Lenient[AgentCapabilities | None] = None
    auth_methods: Lenient[Items[AuthMethod]] = Field(default_factory=list)


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


class NewSessionResponse(Model):
    """The result of ``session/new``."""

    session_id: Filled
    config_options: Lenient[Items[SessionConfigOption] | None] = None
    available_commands: Lenient[Items[AvailableCommand] | None] = None


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


class StateError(Model):
    """Why a turn ended with ``error``."""

    message: str


class StateUpdate(Model):
    """``state_update``; the last two only matter when idle."""

    state: Filled
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


ToolCallContent: TypeAlias = Annotated[
    Annotated[Content, Tag("content")]
    | Annotated[Diff, Tag("diff")]
    | Annotated[Terminal, Tag("terminal")]
    | Annotated[Raw, Tag(OTHER)],
    Discriminator(kind_of("type", "content", "diff", "terminal")),
]


class ToolCallUpdate(ToolCallFields):
    """``tool_call_update``, and the tool call that a permission request is about."""

    content: Patched[Items[ToolCallContent]] = MISSING


class ToolCallContentChunk(Model):
    """``tool_call_content_chunk``."""

    tool_call_id: Filled
    content: ToolCallContent


# --- session/update: the rest ----------------------------------------------------------


class TerminalOutput(Model):
    """All the output of a terminal, as base64."""

    data: str


class TerminalUpdate(Model):
    """``terminal_update``."""

    terminal_id: Filled
    command: Patched[str] = MISSING
    cwd: Patched[str] = MISSING
    output: Patched[TerminalOutput] = MISSING
    exit_status: Patched[TerminalExitStatus] = MISSING


class TerminalOutputChunk(Model):
    """``terminal_output_chunk``; ``data`` is base64 by itself."""

    terminal_id: Filled
    data: str


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
