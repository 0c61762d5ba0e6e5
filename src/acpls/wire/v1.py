"""The messages of ACP 1 that a client reads.

Invariant: names are those of the published schema, apart from ``models`` (an older
extension that agents still send) and the terminals inside ``_meta``.
"""

from __future__ import annotations

from typing import Annotated, TypeAlias

from pydantic import AliasChoices, ConfigDict, Discriminator, Field, Tag

from acpls.wire.model import (
    MISSING,
    OTHER,
    BooleanFields,
    Command,
    Content,
    ContentBlock,
    Count,
    Filled,
    Implementation,
    Items,
    Lenient,
    Model,
    OrEmpty,
    OtherFields,
    Patched,
    PermissionOption,
    PlanEntry,
    Raw,
    SelectFields,
    Terminal,
    ToolCallFields,
    kind_of,
)

# --- initialize ----------------------------------------------------------------------


class PromptCapabilities(Model):
    """What a prompt may hold besides text and links."""

    embedded_context: Lenient[bool] = False


class SessionCapabilities(Model):
    """An object stands for a thing that the agent can do."""

    close: Lenient[Raw | None] = None
    additional_directories: Lenient[Raw | None] = None


class AgentCapabilities(Model):
    """What the agent can do."""

    prompt_capabilities: Lenient[PromptCapabilities] = PromptCapabilities()
    session_capabilities: Lenient[SessionCapabilities] = SessionCapabilities()


class AuthMethod(Model):
    """A way to log in, of any type."""

    id: Filled
    name: str


class InitializeResponse(Model):
    """The result of ``initialize``."""

    protocol_version: int
    agent_capabilities: Lenient[AgentCapabilities] = AgentCapabilities()
    agent_info: Lenient[Implementation | None] = None
    auth_methods: Lenient[Items[AuthMethod]] = Field(default_factory=list)


# --- options and modes ---------------------------------------------------------------


class SelectOption(SelectFields):
    """An option with a list of values."""

    option: Filled = Field(alias="id")


class BooleanOption(BooleanFields):
    """An option that is on or off."""

    option: Filled = Field(alias="id")


class OtherOption(OtherFields):
    """An option of an unknown kind."""

    option: Filled = Field(alias="id")


SessionConfigOption: TypeAlias = Annotated[
    Annotated[SelectOption, Tag("select")]
    | Annotated[BooleanOption, Tag("boolean")]
    | Annotated[OtherOption, Tag(OTHER)],
    Discriminator(kind_of("type", "select", "boolean")),
]


class SessionMode(Model):
    """One mode."""

    id: Filled
    name: str
    description: Lenient[str | None] = None


class SessionModeState(Model):
    """The modes of a session."""

    current_mode_id: Filled
    available_modes: OrEmpty[Items[SessionMode]]


class SessionModel(Model):
    """One language model (outside the schema)."""

    model_id: Filled
    name: str
    description: Lenient[str | None] = None


class SessionModelState(Model):
    """The language models of a session (outside the schema)."""

    current_model_id: Filled
    available_models: OrEmpty[Items[SessionModel]]


# --- results -------------------------------------------------------------------------


class NewSessionResponse(Model):
    """The result of ``session/new``."""

    session_id: Filled
    modes: Lenient[SessionModeState | None] = None
    models: Lenient[SessionModelState | None] = None
    config_options: Lenient[Items[SessionConfigOption] | None] = None


class SetSessionConfigOptionResponse(Model):
    """The result of ``session/set_config_option``."""

    config_options: OrEmpty[Items[SessionConfigOption]]


class PromptResponse(Model):
    """The result of ``session/prompt``: the turn is over."""

    stop_reason: str


# --- session/update ------------------------------------------------------------------


class ContentChunk(Model):
    """``user_message_chunk``, ``agent_message_chunk``, ``agent_thought_chunk``."""

    content: ContentBlock
    message_id: Lenient[Filled | None] = None


class Diff(Model):
    """Tool-call content ``{"type": "diff"}``."""

    path: Filled
    old_text: Lenient[str | None] = None
    new_text: str


ToolCallContent: TypeAlias = Annotated[
    Annotated[Content, Tag("content")]
    | Annotated[Diff, Tag("diff")]
    | Annotated[Terminal, Tag("terminal")]
    | Annotated[Raw, Tag(OTHER)],
    Discriminator(kind_of("type", "content", "diff", "terminal")),
]


class MetaModel(Model):
    """Objects inside ``_meta``, where names have underscores."""

    model_config = ConfigDict(alias_generator=None)


class TerminalMade(MetaModel):
    """A terminal that the agent runs itself."""

    terminal_id: Filled
    cwd: Lenient[str | None] = None


class TerminalPrinted(MetaModel):
    """More output of it, as text."""

    terminal_id: Filled
    data: str


class TerminalEnded(MetaModel):
    """How its command ended."""

    terminal_id: Filled
    exit_code: Lenient[int | None] = None
    signal: Lenient[str | None] = None


class ToolCallMeta(MetaModel):
    """The convention by which agents show terminals of their own (not in the schema)."""

    terminal_info: Lenient[TerminalMade | None] = None
    terminal_output: Lenient[TerminalPrinted | None] = Field(
        default=None,
        validation_alias=AliasChoices("terminal_output", "terminal_output_delta"),
    )
    terminal_exit: Lenient[TerminalEnded | None] = None


class ToolCallUpdate(ToolCallFields):
    """``tool_call_update``, and the tool call that a permission request is about."""

    content: Patched[Items[ToolCallContent]] = MISSING
    meta: Lenient[ToolCallMeta | None] = Field(default=None, alias="_meta")


class ToolCall(ToolCallUpdate):
    """``tool_call``."""

    title: str


class Plan(Model):
    """``plan``."""

    entries: OrEmpty[Items[PlanEntry]]


class AvailableCommandsUpdate(Model):
    """``available_commands_update``."""

    available_commands: OrEmpty[Items[Command]]


class CurrentModeUpdate(Model):
    """``current_mode_update``."""

    current_mode_id: Filled


class ConfigOptionUpdate(Model):
    """``config_option_update``."""

    config_options: OrEmpty[Items[SessionConfigOption]]


# --- requests of the agent -----------------------------------------------------------


class RequestPermissionRequest(Model):
    """``session/request_permission``."""

    session_id: Filled
    tool_call: ToolCallUpdate
    options: list[PermissionOption]


class ReadTextFileRequest(Model):
    """``fs/read_text_file``; ``line`` is one-based."""

    session_id: Filled
    path: Filled
    line: Count | None = None
    limit: Count | None = None


class WriteTextFileRequest(Model):
    """``fs/write_text_file``."""

    session_id: Filled
    path: Filled
    content: str


class EnvVariable(Model):
    """A variable of the environment."""

    name: Filled
    value: str


class CreateTerminalRequest(Model):
    """``terminal/create``."""

    session_id: Filled
    command: Filled
    args: list[str] | None = None
    env: list[EnvVariable] | None = None
    cwd: str | None = None
    output_byte_limit: Count | None = None


class TerminalRequest(Model):
    """``terminal/output``, ``wait_for_exit``, ``kill`` and ``release``."""

    session_id: Filled
    terminal_id: Filled
