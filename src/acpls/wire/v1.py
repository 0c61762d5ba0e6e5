"""The messages of ACP 1 that a client reads.

Invariant: names are those of the published schema, apart from ``models`` (an older
extension that agents still send) and the terminals inside ``_meta``.
"""

from __future__ import annotations

from typing import Annotated, TypeAlias

from pydantic import AliasChoices, ConfigDict, Discriminator, Field, Tag

from acpls.wire.fields import (
    MISSING,
    OTHER,
    Count,
    Filled,
    Items,
    Lenient,
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
    EnvVariable,
    OtherFields,
    PermissionOption,
    PlanEntry,
    SelectFields,
    SessionInfo,
    Terminal,
    ToolCallFields,
)

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


class LoadSessionResponse(Model):
    """The result of ``session/load`` and ``session/resume``."""

    modes: Lenient[SessionModeState | None] = None
    models: Lenient[SessionModelState | None] = None
    config_options: Lenient[Items[SessionConfigOption] | None] = None


class NewSessionResponse(LoadSessionResponse):
    """The result of ``session/new`` and ``session/fork``."""

    session_id: Filled


class KnownSession(SessionInfo):
    """A session that the agent has."""

    additional_directories: Lenient[Items[str] | None] = None


class ListSessionsResponse(Model):
    """The result of ``session/list``."""

    sessions: OrEmpty[Items[KnownSession]]
    next_cursor: Lenient[str | None] = None


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
